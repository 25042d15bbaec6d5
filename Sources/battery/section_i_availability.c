/* I13: an app's endless acts at the cost of other apps. Here the log: the entries that it writes in a loop push out the entries
 * of the others. */
#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One call on an open connection; whether it was answered, and with no error. */
static bool answered(int place, const char *method, const char *scope) {
  char request[1000], reply[4096];
  int length =
      snprintf(request, sizeof request, "{\"method\":\"io.ambit.Access.%s\",\"parameters\":{\"scope\":\"%s\"}}", method, scope);
  if (length < 0 || (size_t)length >= sizeof request || !broker_send(place, request, (size_t)length + 1)) return false;
  size_t got = 0;
  while (got < sizeof reply) {
    ssize_t more = recv(place, reply + got, sizeof reply - got, 0);
    if (more <= 0) return false;
    got += (size_t)more;
    if (reply[got - 1] == 0) return !is_error(reply);
  }
  return false;
}

/* Starts and stops a document that is started all the time. How much of it the log has, `ambit verify` counts from outside. */
static void nested_starts(void) {
  const char *scope = stage("grantedscope");
  long pairs = stage_number("pairs");
  if (!*scope || pairs <= 0) return unable("nested starts", "there is no grant here");
  int place = broker_connect();
  if (place == -1) return unable("nested starts", "%s", error_name(errno));
  long done = 0;
  if (answered(place, "Start", scope)) {
    while (done < pairs && answered(place, "Start", scope) && answered(place, "Stop", scope)) done++;
    answered(place, "Stop", scope);
  }
  close(place);
  if (done == pairs) {
    control_holds("nested starts", "%ld starts and stops of a started document were answered", done);
  } else {
    unable("nested starts", "only %ld starts and stops were answered", done);
  }
}

const struct probe section_i_availability[] = {{"I13", nested_starts}, {NULL, NULL}};
