#define _GNU_SOURCE
#include "cbroker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int cbroker_connect(const char *socket_path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(socket_path) >= sizeof address.sun_path) return -ENAMETOOLONG;
  strcpy(address.sun_path, socket_path);
  int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection == -1) return -errno;
  if (connect(connection, (struct sockaddr *)&address, sizeof address) == -1) {
    int error = errno;
    close(connection);
    return -error;
  }
  return connection;
}

static int send_with(int connection, const char *message, size_t length, int document) {
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr header;
  } control = {0};
  struct iovec part = {(void *)message, length};
  struct msghdr whole = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  struct cmsghdr *header = CMSG_FIRSTHDR(&whole);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &document, sizeof document);
  ssize_t sent = sendmsg(connection, &whole, MSG_NOSIGNAL);
  if (sent == -1) return -errno;
  return (size_t)sent == length ? 0 : -EMSGSIZE;
}

int cbroker_grant(int broker, const char *path, const char *app, char *out, size_t room) {
  char message[512];
  int length = snprintf(
    message, sizeof message,
    "{\"method\":\"io.ambit.Grants.Add\",\"parameters\":{\"app\":\"%s\",\"access\":\"readWrite\"}}", app);
  if (length < 0 || (size_t)length >= sizeof message) return -EMSGSIZE;
  int document = open(path, O_PATH | O_CLOEXEC);
  if (document == -1) return -errno;
  int result = send_with(broker, message, (size_t)length + 1, document);
  close(document);
  if (result < 0) return result;
  for (size_t filled = 0; filled < room;) {
    ssize_t count = read(broker, out + filled, room - filled);
    if (count <= 0) return count == 0 ? -EPIPE : -errno;
    filled += (size_t)count;
    if (out[filled - 1] == 0) return strstr(out, "\"error\"") ? -EPROTO : 0;
  }
  return -EMSGSIZE;
}
