#define _GNU_SOURCE
#include "cportal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { METHOD_CALL = 1, METHOD_RETURN = 2, ERROR = 3 };
enum { PATH = 1, INTERFACE = 2, MEMBER = 3, REPLY_SERIAL = 5, DESTINATION = 6, SIGNATURE = 8, UNIX_FDS = 9 };

/* A message being written. Everything is aligned to its own size, counted from the message's first byte. */
struct writer {
  uint8_t bytes[4096];
  size_t length;
};

static void align(struct writer *to, size_t size) {
  while (to->length % size) to->bytes[to->length++] = 0;
}

static void put_u8(struct writer *to, uint8_t value) { to->bytes[to->length++] = value; }

static void put_u32(struct writer *to, uint32_t value) {
  align(to, 4);
  memcpy(to->bytes + to->length, &value, 4);
  to->length += 4;
}

static void put_string(struct writer *to, const char *text) {
  size_t length = strlen(text);
  put_u32(to, (uint32_t)length);
  memcpy(to->bytes + to->length, text, length + 1);
  to->length += length + 1;
}

static void put_signature(struct writer *to, const char *text) {
  size_t length = strlen(text);
  put_u8(to, (uint8_t)length);
  memcpy(to->bytes + to->length, text, length + 1);
  to->length += length + 1;
}

static void put_field(struct writer *to, uint8_t field, const char *type, const char *text) {
  align(to, 8);
  put_u8(to, field);
  put_signature(to, type);
  if (*type == 'g')
    put_signature(to, text);
  else
    put_string(to, text);
}

static uint32_t serial = 0;

/* A call's header; the body follows. Its length is filled in by send_call. */
static void begin(struct writer *to, const char *destination, const char *path, const char *interface,
                  const char *member, const char *signature, int with_descriptor) {
  to->length = 0;
  put_u8(to, 'l'), put_u8(to, METHOD_CALL), put_u8(to, 0), put_u8(to, 1);
  put_u32(to, 0);
  put_u32(to, ++serial);
  size_t array = to->length;
  put_u32(to, 0);
  put_field(to, PATH, "o", path);
  put_field(to, INTERFACE, "s", interface);
  put_field(to, MEMBER, "s", member);
  put_field(to, DESTINATION, "s", destination);
  if (*signature) put_field(to, SIGNATURE, "g", signature);
  if (with_descriptor) {
    align(to, 8);
    put_u8(to, UNIX_FDS);
    put_signature(to, "u");
    put_u32(to, 1);
  }
  uint32_t length = (uint32_t)(to->length - array - 4);
  memcpy(to->bytes + array, &length, 4);
  align(to, 8);
}

static int send_call(int bus, struct writer *call, size_t body, int descriptor) {
  uint32_t length = (uint32_t)(call->length - body);
  memcpy(call->bytes + 4, &length, 4);
  struct iovec part = {call->bytes, call->length};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control.room;
    control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
  }
  /* A message this small is taken whole by a stream socket whose buffer is empty. */
  ssize_t sent = sendmsg(bus, &message, MSG_NOSIGNAL);
  return sent == (ssize_t)call->length ? 0 : sent < 0 ? -errno : -EIO;
}

static int read_all(int bus, uint8_t *out, size_t length) {
  while (length) {
    ssize_t count = read(bus, out, length);
    if (count == 0) return -ECONNRESET;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -errno;
    out += count, length -= (size_t)count;
  }
  return 0;
}

static uint32_t get_u32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, 4);
  return value;
}

/* Waits for the answer to the last call, past signals that the bus sends meanwhile. OUT gets the string or array
 * of bytes that stands SKIP bytes into the body, or an error's text. */
static int receive_reply(int bus, size_t skip, char *out, size_t room) {
  static uint8_t fields[65536], body[65536];
  for (;;) {
    uint8_t header[16];
    int result = read_all(bus, header, sizeof header);
    if (result < 0) return result;
    size_t body_length = get_u32(header + 4), fields_length = get_u32(header + 12);
    size_t padded = (fields_length + 7) / 8 * 8;
    if (header[0] != 'l' || padded > sizeof fields || body_length > sizeof body) return -EBADMSG;
    if ((result = read_all(bus, fields, padded)) < 0) return result;
    if ((result = read_all(bus, body, body_length)) < 0) return result;
    if (header[1] != METHOD_RETURN && header[1] != ERROR) continue;
    size_t start = header[1] == ERROR ? 4 : skip + 4;
    size_t length = body_length >= start ? get_u32(body + start - 4) : 0;
    if (length + start > body_length) length = 0;
    if (length >= room) length = room - 1;
    memcpy(out, body + start, length);
    out[length] = 0;
    return header[1] == ERROR ? -EPROTO : 0;
  }
}

static int expect_line(int bus, const char *start, char *line, size_t room) {
  size_t length = 0;
  while (length + 1 < room) {
    int result = read_all(bus, (uint8_t *)line + length, 1);
    if (result < 0) return result;
    if (line[length++] == '\n') break;
  }
  line[length] = 0;
  return strncmp(line, start, strlen(start)) == 0 ? 0 : -EACCES;
}

static int introduce(int bus) {
  char text[128], line[256], digits[16];
  snprintf(digits, sizeof digits, "%u", geteuid());
  /* The user's number, as the hexadecimal of its decimal digits. */
  size_t length = (size_t)snprintf(text, sizeof text, "%cAUTH EXTERNAL ", 0);
  for (char *digit = digits; *digit; digit++)
    length += (size_t)snprintf(text + length, sizeof text - length, "%02x", (unsigned)*digit);
  length += (size_t)snprintf(text + length, sizeof text - length, "\r\n");
  int result;
  if (send(bus, text, length, MSG_NOSIGNAL) < 0) return -errno;
  if ((result = expect_line(bus, "OK ", line, sizeof line)) < 0) return result;
  if (send(bus, "NEGOTIATE_UNIX_FD\r\n", 19, MSG_NOSIGNAL) < 0) return -errno;
  if ((result = expect_line(bus, "AGREE_UNIX_FD", line, sizeof line)) < 0) return result;
  if (send(bus, "BEGIN\r\n", 7, MSG_NOSIGNAL) < 0) return -errno;

  struct writer call;
  begin(&call, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", "", 0);
  if ((result = send_call(bus, &call, call.length, -1)) < 0) return result;
  return receive_reply(bus, 0, line, sizeof line);
}

int cportal_connect(const char *socket_path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(socket_path) >= sizeof address.sun_path) return -ENAMETOOLONG;
  strcpy(address.sun_path, socket_path);
  int bus = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bus < 0) return -errno;
  int result = connect(bus, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : introduce(bus);
  if (result == 0) return bus;
  close(bus);
  return result;
}

#define DOCUMENTS "org.freedesktop.portal.Documents", "/org/freedesktop/portal/documents", "org.freedesktop.portal.Documents"

int cportal_mount_point(int bus, char *out, size_t room) {
  struct writer call;
  begin(&call, DOCUMENTS, "GetMountPoint", "", 0);
  int result = send_call(bus, &call, call.length, -1);
  return result < 0 ? result : receive_reply(bus, 0, out, room);
}

int cportal_grant(int bus, const char *path, const char *app, char *out, size_t room) {
  enum { PERSISTENT = 2 };
  struct writer call;
  int file = open(path, O_PATH | O_CLOEXEC);
  if (file < 0) return -errno;
  begin(&call, DOCUMENTS, "AddFull", "ahusas", 1);
  size_t body = call.length;
  put_u32(&call, 4); /* one descriptor, by its place in the message */
  put_u32(&call, 0);
  put_u32(&call, PERSISTENT);
  put_string(&call, app);
  align(&call, 4);
  size_t array = call.length;
  put_u32(&call, 0);
  put_string(&call, "read");
  put_string(&call, "write");
  uint32_t length = (uint32_t)(call.length - array - 4);
  memcpy(call.bytes + array, &length, 4);
  int result = send_call(bus, &call, body, file);
  close(file);
  /* An array of ids comes back: its length stands before its first string. */
  return result < 0 ? result : receive_reply(bus, 4, out, room);
}

int cportal_delete(int bus, const char *id, char *out, size_t room) {
  struct writer call;
  begin(&call, DOCUMENTS, "Delete", "s", 0);
  size_t body = call.length;
  put_string(&call, id);
  int result = send_call(bus, &call, body, -1);
  return result < 0 ? result : receive_reply(bus, 0, out, room);
}
