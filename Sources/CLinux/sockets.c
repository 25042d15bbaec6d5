#define _GNU_SOURCE
#include "csockets.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Fills in the address of `name` in `directory`. The name is one component: the socket of a listener or a connection is in
   that directory and nowhere else. */
static int address_of(struct sockaddr_un *address, int directory, const char *name) {
  if (name[0] == '\0' || strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
    return -EINVAL;
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  int length = snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", directory, name);
  return length < 0 || (size_t)length >= sizeof address->sun_path ? -ENAMETOOLONG : 0;
}

static int fail_closing(int descriptor) {
  int error = errno;
  close(descriptor);
  return -error;
}

int ambit_socket_listen(int directory, const char *name, mode_t mode, int backlog) {
  struct sockaddr_un address;
  int result = address_of(&address, directory, name);
  if (result < 0)
    return result;
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0)
    return -errno;
  /* Before bind: the file that bind makes takes the socket's mode, so it is never open wider than asked for. */
  if (fchmod(descriptor, mode) < 0)
    return fail_closing(descriptor);
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0)
    return fail_closing(descriptor);
  if (listen(descriptor, backlog) < 0)
    return fail_closing(descriptor);
  return descriptor;
}

static int connect_to(const struct sockaddr_un *address, time_t seconds) {
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0)
    return -errno;
  struct timeval limit = {.tv_sec = seconds}, none = {0};
  if (seconds > 0 && setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0)
    return fail_closing(descriptor);
  if (connect(descriptor, (const struct sockaddr *)address, sizeof *address) < 0)
    return fail_closing(descriptor);
  /* Sending may take as long as it likes. */
  if (seconds > 0 && setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none) < 0)
    return fail_closing(descriptor);
  return descriptor;
}

int ambit_socket_connect(int directory, const char *name) {
  struct sockaddr_un address;
  int result = address_of(&address, directory, name);
  return result < 0 ? result : connect_to(&address, 10);
}

int ambit_socket_connect_path(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(path);
  if (length == 0)
    return -EINVAL;
  if (length >= PATH_MAX)
    return -ENAMETOOLONG;
  if (length < sizeof address.sun_path) {
    memcpy(address.sun_path, path, length + 1);
    return connect_to(&address, 0);
  }
  /* Too long for an address, so it holds a slash or the name is too long anyway. */
  const char *slash = strrchr(path, '/');
  if (slash == NULL)
    return -ENAMETOOLONG;
  char folder[PATH_MAX];
  size_t size = slash == path ? 1 : (size_t)(slash - path);
  memcpy(folder, path, size);
  folder[size] = '\0';
  int directory = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return -errno;
  int descriptor = ambit_socket_connect(directory, slash + 1);
  close(directory);
  return descriptor;
}

int ambit_socket_accept(int listener) {
  int descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}

int ambit_socket_pair(int sockets[2]) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0 ? -errno : 0;
}

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif
#ifndef SCM_PIDFD
#define SCM_PIDFD 0x04
#endif

int ambit_socket_name_senders(int socket) {
  int on = 1;
  return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ? -errno : 0;
}

int ambit_socket_pass_processes(int socket, int wanted) {
  return setsockopt(socket, SOL_SOCKET, SO_PASSPIDFD, &wanted, sizeof wanted) < 0 ? -errno : 0;
}

/* The union gives the buffer the alignment that the control header needs. */
union control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(AMBIT_MAX_DESCRIPTORS * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
};

ssize_t ambit_socket_send(int socket, const void *bytes, size_t size, const int *descriptors, int count, int wait) {
  if (count < 0 || count > AMBIT_MAX_DESCRIPTORS || size == 0)
    return -EINVAL;
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  union control control;
  if (count > 0) {
    /* Padding between the last descriptor and the end of the space goes to the kernel: let it be zero. */
    memset(&control, 0, CMSG_SPACE(count * sizeof(int)));
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
  }
  ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
  return sent < 0 ? -errno : sent;
}

/* Notes the kernel's word on the sender; 0: this is something else. */
static int note_sender(struct cmsghdr *header, struct ambit_sender *sender) {
  if (header->cmsg_type == SCM_CREDENTIALS && header->cmsg_len == CMSG_LEN(sizeof(struct ucred))) {
    struct ucred credentials;
    memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
    sender->pid = credentials.pid;
    return 1;
  }
  if (header->cmsg_type == SCM_PIDFD && header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int process;
    memcpy(&process, CMSG_DATA(header), sizeof process);
    /* An error in place of a descriptor: the process is gone, or no more can be opened. */
    if (process >= 0) {
      if (sender->process >= 0)
        close(sender->process);
      sender->process = process;
    }
    return 1;
  }
  return 0;
}

ssize_t ambit_socket_receive(
  int socket, void *bytes, size_t size, int *descriptors, int *count, struct ambit_sender *sender, int wait) {
  *count = 0;
  sender->pid = 0;
  sender->process = -1;
  if (size == 0)
    return -EINVAL;
  struct iovec part = {.iov_base = bytes, .iov_len = size};
  union control control;
  struct msghdr message = {
    .msg_iov = &part,
    .msg_iovlen = 1,
    .msg_control = control.bytes,
    .msg_controllen = sizeof control.bytes,
  };
  ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  if (received < 0)
    return -errno;
  int foreign = 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == SOL_SOCKET && note_sender(header, sender))
      continue;
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
      foreign = 1;
      continue;
    }
    size_t arrived = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < arrived; index++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof descriptor);
      if (*count < AMBIT_MAX_DESCRIPTORS)
        descriptors[(*count)++] = descriptor;
      else
        close(descriptor);
    }
  }
  /* Truncated: the kernel dropped some. A message that has lost descriptors must not pass for a whole one. */
  if ((message.msg_flags & MSG_CTRUNC) || foreign) {
    for (int index = 0; index < *count; index++)
      close(descriptors[index]);
    *count = 0;
    if (sender->process >= 0)
      close(sender->process);
    sender->process = -1;
    return -EMSGSIZE;
  }
  return received;
}

int ambit_socket_peer(int socket, pid_t *pid, uid_t *uid, gid_t *gid) {
  struct ucred credentials;
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
    return -errno;
  *pid = credentials.pid;
  *uid = credentials.uid;
  *gid = credentials.gid;
  return 0;
}

int ambit_poll(struct pollfd *entries, size_t count, int milliseconds) {
  int ready = poll(entries, count, milliseconds);
  return ready < 0 ? -errno : ready;
}
