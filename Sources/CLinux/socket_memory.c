#define _GNU_SOURCE
#include "csockets.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int ambit_socket_diagnosis(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd == -1) return -errno;
  /* The kernel answers within the call that asks. */
  struct timeval limit = {.tv_sec = 1};
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == -1) {
    int error = errno;
    close(fd);
    return -error;
  }
  return fd;
}

static int ask(int diagnosis, int family, int protocol) {
  struct {
    struct nlmsghdr header;
    union {
      struct unix_diag_req local;
      struct inet_diag_req_v2 inet;
    } body;
  } request;
  memset(&request, 0, sizeof request);
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  size_t size;
  if (family == AF_UNIX) {
    size = sizeof request.body.local;
    request.body.local.sdiag_family = AF_UNIX;
    request.body.local.udiag_states = ~0U;
    request.body.local.udiag_show = UDIAG_SHOW_MEMINFO | UDIAG_SHOW_RQLEN | UDIAG_SHOW_PEER;
  } else {
    size = sizeof request.body.inet;
    request.body.inet.sdiag_family = (__u8)family;
    request.body.inet.sdiag_protocol = (__u8)protocol;
    request.body.inet.idiag_states = ~0U;
    request.body.inet.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
  }
  request.header.nlmsg_len = (__u32)NLMSG_LENGTH(size);
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  ssize_t sent;
  do {
    sent = sendto(diagnosis, &request, request.header.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof kernel);
  } while (sent == -1 && errno == EINTR);
  return sent == -1 ? -errno : 0;
}

/* The attributes of a message that are looked at. */
struct attributes {
  const __u32 *memory;
  const struct unix_diag_rqlen *queue;
  __u32 peer;
};

static void read_attributes(const struct nlmsghdr *message, size_t fixed, bool local, struct attributes *found) {
  const struct rtattr *each = (const struct rtattr *)((const char *)NLMSG_DATA(message) + NLMSG_ALIGN(fixed));
  size_t left = message->nlmsg_len - NLMSG_LENGTH(NLMSG_ALIGN(fixed));
  for (; RTA_OK(each, left); each = RTA_NEXT(each, left)) {
    size_t size = RTA_PAYLOAD(each);
    const void *data = RTA_DATA(each);
    if (each->rta_type == (local ? UNIX_DIAG_MEMINFO : INET_DIAG_SKMEMINFO)) {
      if (size >= (SK_MEMINFO_OPTMEM + 1) * sizeof(__u32)) found->memory = data;
    } else if (local && each->rta_type == UNIX_DIAG_RQLEN) {
      if (size >= sizeof *found->queue) found->queue = data;
    } else if (local && each->rta_type == UNIX_DIAG_PEER) {
      if (size >= sizeof found->peer) memcpy(&found->peer, data, sizeof found->peer);
    }
  }
}

/* One message of an answer. false: it has no memory to tell of. */
static bool read_use(const struct nlmsghdr *message, int family, struct ambit_socket_use *use) {
  enum { listening = 10 /* TCP_LISTEN */ };
  bool local = family == AF_UNIX;
  size_t fixed = local ? sizeof(struct unix_diag_msg) : sizeof(struct inet_diag_msg);
  if (message->nlmsg_len < NLMSG_LENGTH(NLMSG_ALIGN(fixed))) return false;
  struct attributes found = {0};
  read_attributes(message, fixed, local, &found);
  if (!found.memory) return false;
  use->bytes = (uint64_t)found.memory[SK_MEMINFO_RMEM_ALLOC] + found.memory[SK_MEMINFO_WMEM_ALLOC] +
               found.memory[SK_MEMINFO_OPTMEM];
  if (!local) {
    use->inode = ((const struct inet_diag_msg *)NLMSG_DATA(message))->idiag_inode;
    return use->bytes > 0;
  }
  const struct unix_diag_msg *socket = NLMSG_DATA(message);
  use->inode = socket->udiag_ino;
  /* A Unix socket's message is charged to its sender until it is read. A sender that was closed is in no list any more. The size
     of its messages is unknown: at the most about the size of a buffer. */
  if (socket->udiag_state != listening && found.peer == 0 && found.queue && found.queue->udiag_rqueue > 0) {
    __u32 most = found.memory[SK_MEMINFO_RCVBUF];
    use->bytes += found.queue->udiag_rqueue > most ? found.queue->udiag_rqueue : most;
  }
  return use->bytes > 0;
}

ssize_t ambit_socket_uses(
  int diagnosis, int family, int protocol, struct ambit_socket_use *uses, size_t capacity, uint64_t *total) {
  int result = ask(diagnosis, family, protocol);
  if (result < 0) return result;
  _Alignas(struct nlmsghdr) char buffer[32768];
  size_t count = 0;
  for (;;) {
    ssize_t got = recv(diagnosis, buffer, sizeof buffer, 0);
    if (got == -1 && errno == EINTR) continue;
    if (got <= 0) return got == 0 ? -EPROTO : -errno;
    size_t left = (size_t)got;
    for (struct nlmsghdr *message = (struct nlmsghdr *)buffer; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
      if (message->nlmsg_type == NLMSG_DONE) return (ssize_t)count;
      if (message->nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *error = NLMSG_DATA(message);
        return error->error ? error->error : (ssize_t)count;
      }
      struct ambit_socket_use use;
      if (!read_use(message, family, &use)) continue;
      *total += use.bytes;
      if (count < capacity) uses[count] = use;
      count++;
    }
  }
}
