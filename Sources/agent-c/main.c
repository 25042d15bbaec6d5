#define _GNU_SOURCE
#include "cagent.h"

#ifndef __wasi__
#include <signal.h>
#endif
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plain agent: an app that does what its input says, a line at a time, and knows of no sandbox. */

/* A longer line is nobody's request. */
enum { LONGEST_LINE = 4 << 20 };

/* Reads a line without its newline. False at the end of the input, and without memory. */
static bool read_line(char **line, size_t *room) {
  size_t length = 0;
  for (int next; (next = getchar()) != '\n';) {
    if (next == EOF || length == LONGEST_LINE) return false;
    if (length + 2 > *room) {
      size_t larger = *room ? *room * 2 : 4096;
      char *bytes = realloc(*line, larger);
      if (!bytes) return false;
      *line = bytes;
      *room = larger;
    }
    /* A zero would hide the rest of the line; a space in its place leaves the line as wrong as it was. */
    (*line)[length++] = next ? (char)next : ' ';
  }
  if (!*line) return (*line = calloc(1, *room = 16)) != NULL;
  (*line)[length] = 0;
  return true;
}

int main(void) {
#ifndef __wasi__
  signal(SIGPIPE, SIG_IGN);
#endif
  char *line = NULL;
  size_t room = 0;
  while (read_line(&line, &room)) {
    char *answer;
    if (!agent_answer(line, &answer)) answer = agent_unknown(line);
    if (!answer || puts(answer) == EOF || fflush(stdout) == EOF) return 1;
    free(answer);
  }
  free(line);
  return 0;
}
