/* I: an app that misleads its user about the picked file. The user is played from outside, on a terminal. */
#define _GNU_SOURCE
#include "battery.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A terminal as a hostile app leaves it: origin mode and a scroll region, letters drawn as lines, the mouse reported, and keys in
   the encodings of kitty and xterm. */
static const char spoiled[] = "\033[5;10r\033[?6h\033(0\016\033[?1003;1006h\033[>1u\033[>4;2m";

/* Asks for a document and reports the result, in one line. */
int lure(void) {
  char path[4096], scope[512], parameters[1000];
  if (*stage("spoil") && write(1, spoiled, sizeof spoiled - 1) != (ssize_t)(sizeof spoiled - 1)) return 3;
  const char *reply = broker_call_patiently("io.ambit.Picker.Pick", "{\"mode\":\"open\"}");
  if (!reply || is_error(reply)) {
    printf("\r\npicked: nothing\r\n");
    return 0;
  }
  /* A cancelled pick has no document. */
  if (!reply_string(reply, "path", path, sizeof path) || !reply_string(reply, "scope", scope, sizeof scope)) {
    printf("\r\npicked: cancelled\r\n");
    return 0;
  }
  snprintf(parameters, sizeof parameters, "{\"scope\":\"%s\"}", scope);
  broker_call("io.ambit.Access.Start", parameters);
  printf("\r\npicked: %s\r\n", holds_token(AT_FDCWD, path) ? "the token" : "a document");
  return 0;
}
