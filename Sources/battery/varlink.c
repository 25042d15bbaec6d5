/* As much of Varlink as the probes need: JSON that ends with a zero byte, over a Unix stream socket. */
#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Seconds. */
static int most_patience = 5;

int broker_connect(void) {
  const char *address = getenv("AMBIT_ADDRESS");
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  if (!address || strncmp(address, "unix:", 5) != 0 || strlen(address + 5) >= sizeof name.sun_path) {
    errno = ENOENT;
    return -1;
  }
  strcpy(name.sun_path, address + 5);
  int place = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (place == -1) return -1;
  struct timeval patience = {.tv_sec = most_patience};
  setsockopt(place, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(place, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(place, (struct sockaddr *)&name, sizeof name) == 0) return place;
  int error = errno;
  close(place);
  errno = error;
  return -1;
}

bool broker_send(int place, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t sent = send(place, bytes, length, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    length -= (size_t)sent;
  }
  return true;
}

const char *broker_call(const char *method, const char *parameters) {
  enum { most = 1 << 20 };
  static char reply[most];
  static char request[10000];
  int place = broker_connect();
  if (place == -1) return NULL;
  int length = snprintf(request, sizeof request, "{\"method\":\"%s\",\"parameters\":%s}", method, parameters);
  size_t got = 0;
  if (length > 0 && (size_t)length < sizeof request && broker_send(place, request, (size_t)length + 1)) {
    while (got < most) {
      ssize_t more = recv(place, reply + got, most - got, 0);
      if (more <= 0) {
        got = 0;
        break;
      }
      got += (size_t)more;
      if (reply[got - 1] == 0) break;
    }
  }
  close(place);
  return got > 0 && got < most ? reply : NULL;
}

const char *broker_call_patiently(const char *method, const char *parameters) {
  most_patience = 120;
  const char *reply = broker_call(method, parameters);
  most_patience = 5;
  return reply;
}

bool reply_string(const char *from, const char *name, char *value, size_t size) {
  char key[64];
  snprintf(key, sizeof key, "\"%s\":\"", name);
  const char *at = strstr(from, key);
  if (!at) return false;
  at += strlen(key);
  size_t length = 0;
  /* Paths, tokens and names of the stage hold nothing that JSON escapes but the slash, which some writers do. */
  for (; *at && *at != '"' && length + 1 < size; at++) {
    if (*at == '\\' && at[1]) at++;
    value[length++] = *at;
  }
  value[length] = 0;
  return true;
}

bool is_error(const char *reply) { return strstr(reply, "\"error\":\"") != NULL; }

void forge(const char *attempt, const char *method, const char *parameters) {
  const char *reply = broker_call(method, parameters);
  char error[128] = "it hung up";
  if (reply) reply_string(reply, "error", error, sizeof error);
  if (reply && !is_error(reply)) {
    reached(attempt, "%s was answered", method);
  } else {
    refused(attempt, 0, "%s", error);
  }
}
