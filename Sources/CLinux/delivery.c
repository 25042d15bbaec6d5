#define _GNU_SOURCE
#include "cdelivery.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int fail_closing(int descriptor) {
  int error = errno;
  close(descriptor);
  return -error;
}

int ambit_datagram_connect_path(const char *path) {
  /* Through an open place, so that the path may be longer than an address has room for. */
  int place = open(path, O_PATH | O_CLOEXEC);
  if (place < 0)
    return -errno;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", place);
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0)
    return fail_closing(place);
  int result = connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
  close(place);
  if (result == 0)
    return descriptor;
  close(descriptor);
  return result;
}

int ambit_datagram_send_file(int socket, int file) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  memset(&control, 0, sizeof control);
  struct msghdr message = {.msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &file, sizeof file);
  return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int ambit_loopback_connect(int six, uint16_t port) {
  int descriptor = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0)
    return -errno;
  struct sockaddr_in address4 = {
    .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in6 address6 = {
    .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int result = six ? connect(descriptor, (struct sockaddr *)&address6, sizeof address6)
                   : connect(descriptor, (struct sockaddr *)&address4, sizeof address4);
  return result < 0 ? fail_closing(descriptor) : descriptor;
}

int64_t ambit_unread(int file) {
  int type;
  socklen_t size = sizeof type;
  int count = 0;
  unsigned long question = getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &size) == 0 ? SIOCOUTQ : FIONREAD;
  return ioctl(file, question, &count) < 0 ? -(int64_t)errno : count;
}

int ambit_shut_down_writing(int socket) { return shutdown(socket, SHUT_WR) < 0 ? -errno : 0; }
