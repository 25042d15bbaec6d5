#pragma once

#include "json.h"

/* What the files of this target share. */

/* Takes part in one act: its request, its answer. */
struct act {
  const struct request *request;
  struct text answer;
};

/* The errno by its name, as the answer says it. */
const char *errno_name(int number);

/* The string under a key, or "" without one. */
const char *string_of(const struct act *act, enum key key);

void answer_done(struct act *act);
void answer_text(struct act *act, const char *bytes, size_t length);

/* A refusal: `errno` is what the kernel said. */
void answer_errno(struct act *act);
void answer_unsupported(struct act *act, const char *reason);

/* A system call's result: anything but -1 is success. */
void answer_result(struct act *act, int result);

/* -1 with an errno if not all could be read or written, or if it is more than an answer can carry. */
int read_all(int fd, struct text *text);
int write_all(int fd, const char *bytes, size_t length);

/* Acts that WASI has not. */
void act_attribute(struct act *act);
void act_connect(struct act *act);
void act_lock(struct act *act);
void act_map_write(struct act *act);
void act_mode(struct act *act);
void act_pid(struct act *act);
void act_run(struct act *act);
void act_truncate(struct act *act);
void act_unnamed(struct act *act);
void act_watch(struct act *act);
void act_watched(struct act *act);
