#define _GNU_SOURCE
#include "agent.h"
#include "cagent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Answers. */

const char *string_of(const struct act *act, enum key key) {
  const struct value *value = &act->request->values[key];
  return value->kind == STRING ? value->bytes : "";
}

static size_t length_of(const struct act *act, enum key key) {
  const struct value *value = &act->request->values[key];
  return value->kind == STRING ? value->length : 0;
}

void answer_done(struct act *act) { text_format(&act->answer, "{\"done\": true}"); }

void answer_text(struct act *act, const char *bytes, size_t length) {
  text_format(&act->answer, "{\"done\": true, \"text\": ");
  text_add_string(&act->answer, bytes, length);
  text_format(&act->answer, "}");
}

void answer_errno(struct act *act) {
  text_format(&act->answer, "{\"done\": false, \"errno\": \"%s\"}", errno_name(errno));
}

void answer_unsupported(struct act *act, const char *reason) {
  text_format(&act->answer, "{\"unsupported\": ");
  text_add_string(&act->answer, reason, strlen(reason));
  text_format(&act->answer, "}");
}

void answer_result(struct act *act, int result) {
  if (result == -1) answer_errno(act);
  else answer_done(act);
}

/* Files. */

int read_all(int fd, struct text *text) {
  char block[16384];
  text_add(text, "", 0);
  for (;;) {
    ssize_t got = read(fd, block, sizeof block);
    if (got == -1 && errno == EINTR) continue;
    if (got <= 0) return (int)got;
    text_add(text, block, (size_t)got);
    if (text->failed || text->length > MOST_TEXT) {
      errno = EFBIG;
      return -1;
    }
  }
}

int write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t put = write(fd, bytes, length);
    if (put == -1 && errno == EINTR) continue;
    if (put == -1) return -1;
    bytes += put;
    length -= (size_t)put;
  }
  return 0;
}

/* Some systems report a refusal not before the file is closed. */
static int close_after(int fd, int result) {
  int reason = errno;
  int closed = close(fd);
  if (result != -1) return closed;
  errno = reason;
  return -1;
}

static void act_read(struct act *act) {
  int fd = open(string_of(act, KEY_PATH), O_RDONLY | O_CLOEXEC);
  if (fd == -1) return answer_errno(act);
  struct text text = {0};
  if (close_after(fd, read_all(fd, &text)) == -1) answer_errno(act);
  else answer_text(act, text.bytes, text.length);
  free(text.bytes);
}

static int put_text(const struct act *act, int flags) {
  int fd = open(string_of(act, KEY_PATH), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (fd == -1) return -1;
  return close_after(fd, write_all(fd, string_of(act, KEY_TEXT), length_of(act, KEY_TEXT)));
}

static void act_write(struct act *act) { answer_result(act, put_text(act, O_TRUNC)); }
static void act_append(struct act *act) { answer_result(act, put_text(act, O_APPEND)); }
static void act_create(struct act *act) { answer_result(act, put_text(act, O_CREAT | O_EXCL)); }

/* A file that nobody has, beside the document: its name begins with a dot and ends with a number. */
static int open_beside(const char *path, char *name, size_t room) {
  const char *slash = strrchr(path, '/');
  const char *last = slash ? slash + 1 : path;
  for (int number = 0; number < 100; number++) {
    int length = snprintf(name, room, "%.*s.%s.saving-%d", (int)(last - path), path, last, number);
    if (length < 0 || (size_t)length >= room) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd != -1 || errno != EEXIST) return fd;
  }
  return -1;
}

static void act_save(struct act *act) {
  const char *path = string_of(act, KEY_PATH);
  char name[4096 + 32];
  int fd = open_beside(path, name, sizeof name);
  if (fd == -1) return answer_errno(act);
  int result = write_all(fd, string_of(act, KEY_TEXT), length_of(act, KEY_TEXT));
  if (result != -1) result = fsync(fd);
  result = close_after(fd, result);
  if (result != -1) result = rename(name, path);
  if (result == -1) {
    int reason = errno;
    unlink(name);
    errno = reason;
  }
  answer_result(act, result);
}

static int by_bytes(const void *left, const void *right) { return strcmp(*(char *const *)left, *(char *const *)right); }

struct names {
  char **items;
  size_t count, room, bytes;
};

static int add_name(struct names *names, const char *name) {
  names->bytes += strlen(name);
  if (names->bytes > MOST_TEXT) {
    errno = EFBIG;
    return -1;
  }
  if (names->count == names->room) {
    size_t room = names->room ? names->room * 2 : 64;
    char **items = realloc(names->items, room * sizeof *items);
    if (!items) return -1;
    names->items = items;
    names->room = room;
  }
  char *copy = strdup(name);
  if (!copy) return -1;
  names->items[names->count++] = copy;
  return 0;
}

static int read_names(DIR *folder, struct names *names) {
  for (;;) {
    errno = 0;
    struct dirent *entry = readdir(folder);
    if (!entry) return errno ? -1 : 0;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (add_name(names, entry->d_name) == -1) return -1;
  }
}

static void answer_names(struct act *act, const struct names *names) {
  text_format(&act->answer, "{\"done\": true, \"names\": [");
  for (size_t i = 0; i < names->count; i++) {
    if (i > 0) text_format(&act->answer, ", ");
    text_add_string(&act->answer, names->items[i], strlen(names->items[i]));
  }
  text_format(&act->answer, "]}");
}

static void act_list(struct act *act) {
  DIR *folder = opendir(string_of(act, KEY_PATH));
  if (!folder) return answer_errno(act);
  struct names names = {0};
  if (read_names(folder, &names) == -1) {
    answer_errno(act);
  } else {
    if (names.count > 0) qsort(names.items, names.count, sizeof *names.items, by_bytes);
    answer_names(act, &names);
  }
  closedir(folder);
  for (size_t i = 0; i < names.count; i++) free(names.items[i]);
  free(names.items);
}

static void act_stat(struct act *act) {
  struct stat status;
  if (lstat(string_of(act, KEY_PATH), &status) == -1) return answer_errno(act);
  const char *kind = S_ISREG(status.st_mode)   ? "file"
                     : S_ISDIR(status.st_mode) ? "folder"
                     : S_ISLNK(status.st_mode) ? "link"
                                               : "other";
  text_format(&act->answer, "{\"done\": true, \"kind\": \"%s\", \"size\": %lld, \"inode\": %llu", kind,
              (long long)status.st_size, (unsigned long long)status.st_ino);
  text_format(&act->answer, ", \"modified\": %lld", (long long)status.st_mtime);
  /* WASI has no modes, and zero would look like one. */
#ifndef __wasi__
  text_format(&act->answer, ", \"mode\": \"%o\"", (unsigned)status.st_mode & 07777);
#endif
  text_format(&act->answer, "}");
}

static void act_make_folder(struct act *act) { answer_result(act, mkdir(string_of(act, KEY_PATH), 0777)); }

static void act_remove(struct act *act) {
  const char *path = string_of(act, KEY_PATH);
  struct stat status;
  bool folder = lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
  answer_result(act, folder ? rmdir(path) : unlink(path));
}

static void act_rename(struct act *act) { answer_result(act, rename(string_of(act, KEY_PATH), string_of(act, KEY_TO))); }
static void act_hard_link(struct act *act) { answer_result(act, link(string_of(act, KEY_PATH), string_of(act, KEY_TO))); }
static void act_link(struct act *act) { answer_result(act, symlink(string_of(act, KEY_TEXT), string_of(act, KEY_PATH))); }

static void answer_link(struct act *act, const char *path) {
  char target[4096];
  ssize_t length = readlink(path, target, sizeof target);
  if (length == -1) answer_errno(act);
  else answer_text(act, target, (size_t)length);
}

static void act_read_link(struct act *act) { answer_link(act, string_of(act, KEY_PATH)); }

/* Midnight that began the year 2001, in UTC. */
static void act_times(struct act *act) {
  const struct timespec times[2] = {{.tv_sec = 978307200}, {.tv_sec = 978307200}};
  answer_result(act, utimensat(AT_FDCWD, string_of(act, KEY_PATH), times, 0));
}

/* Held descriptors. */

static struct {
  char name[64];
  int fd;
  bool used;
} held[64];

enum { MOST_HELD = sizeof held / sizeof held[0] };

static int held_index(const char *name) {
  for (int i = 0; i < MOST_HELD; i++) {
    if (held[i].used && strcmp(held[i].name, name) == 0) return i;
  }
  return -1;
}

int agent_held(const char *name) {
  int index = held_index(name);
  return index == -1 ? -1 : held[index].fd;
}

static void forget(const char *name) {
  int index = held_index(name);
  if (index == -1) return;
  held[index].used = false;
  close(held[index].fd);
}

void agent_keep(const char *name, int fd) {
  forget(name);
  if (fd == -1) return;
  for (int i = 0; i < MOST_HELD && strlen(name) < sizeof held[i].name; i++) {
    if (held[i].used) continue;
    strcpy(held[i].name, name);
    held[i].fd = fd;
    held[i].used = true;
    return;
  }
  close(fd);
}

/* The name under which a descriptor is held: by `as` when it begins, by `held` later. */
static const char *held_name(const struct act *act, enum key key) {
  const char *name = string_of(act, key);
  return *name ? name : "held";
}

/* -1 with EBADF, as the kernel would say it. */
static int held_fd(const struct act *act) {
  int fd = agent_held(held_name(act, KEY_HELD));
  if (fd == -1) errno = EBADF;
  return fd;
}

static void act_hold(struct act *act) {
  const char *name = held_name(act, KEY_AS);
  bool writes = act->request->values[KEY_WRITE].kind == TRUE;
  int fd = open(string_of(act, KEY_PATH), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (fd == -1) return answer_errno(act);
  agent_keep(name, fd);
  errno = EMFILE;
  answer_result(act, agent_held(name));
}

static void act_held_read(struct act *act) {
  int fd = held_fd(act);
  if (fd == -1) return answer_errno(act);
  /* A pipe has no beginning; then what is there is read. */
  lseek(fd, 0, SEEK_SET);
  struct text text = {0};
  if (read_all(fd, &text) == -1) answer_errno(act);
  else answer_text(act, text.bytes, text.length);
  free(text.bytes);
}

static void act_held_write(struct act *act) {
  int fd = held_fd(act);
  if (fd == -1) return answer_errno(act);
  answer_result(act, write_all(fd, string_of(act, KEY_TEXT), length_of(act, KEY_TEXT)));
}

static void act_held_path(struct act *act) {
#ifdef __wasi__
  answer_unsupported(act, "WASI has no /proc");
#else
  int fd = held_fd(act);
  if (fd == -1) return answer_errno(act);
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  answer_link(act, link);
#endif
}

static void act_drop(struct act *act) {
  int fd = held_fd(act);
  if (fd != -1) agent_keep(held_name(act, KEY_HELD), -1);
  answer_result(act, fd);
}

static void act_environment(struct act *act) {
  const char *text = getenv(string_of(act, KEY_NAME));
  errno = ENOENT;
  if (text) answer_text(act, text, strlen(text));
  else answer_errno(act);
}

/* Requests. */

enum { MOST_NEEDS = 2 };

static const struct known_act {
  const char *name;
  void (*carry_out)(struct act *act);
  /* Keys without which the act means nothing. KEY_DO is always there and stands for none. */
  enum key needs[MOST_NEEDS];
} known_acts[] = {
    {"read", act_read, {KEY_PATH}},
    {"write", act_write, {KEY_PATH, KEY_TEXT}},
    {"append", act_append, {KEY_PATH, KEY_TEXT}},
    {"create", act_create, {KEY_PATH, KEY_TEXT}},
    {"save", act_save, {KEY_PATH, KEY_TEXT}},
    {"list", act_list, {KEY_PATH}},
    {"stat", act_stat, {KEY_PATH}},
    {"makeFolder", act_make_folder, {KEY_PATH}},
    {"remove", act_remove, {KEY_PATH}},
    {"rename", act_rename, {KEY_PATH, KEY_TO}},
    {"hardLink", act_hard_link, {KEY_PATH, KEY_TO}},
    {"link", act_link, {KEY_PATH, KEY_TEXT}},
    {"readLink", act_read_link, {KEY_PATH}},
    {"truncate", act_truncate, {KEY_PATH}},
    {"mode", act_mode, {KEY_PATH, KEY_MODE}},
    {"times", act_times, {KEY_PATH}},
    {"attribute", act_attribute, {KEY_PATH, KEY_NAME}},
    {"unnamed", act_unnamed, {KEY_PATH, KEY_TEXT}},
    {"hold", act_hold, {KEY_PATH}},
    {"heldRead", act_held_read, {0}},
    {"heldWrite", act_held_write, {KEY_TEXT}},
    {"heldPath", act_held_path, {0}},
    {"drop", act_drop, {0}},
    {"mapWrite", act_map_write, {KEY_PATH, KEY_TEXT}},
    {"lock", act_lock, {KEY_PATH, KEY_HOW}},
    {"run", act_run, {KEY_PATH}},
    {"connect", act_connect, {KEY_PATH}},
    {"watch", act_watch, {KEY_PATH}},
    {"watched", act_watched, {0}},
    {"environment", act_environment, {KEY_NAME}},
    {"pid", act_pid, {0}},
};

static const char *const need_names[KEY_COUNT] = {
    [KEY_PATH] = "path", [KEY_TO] = "to",     [KEY_TEXT] = "text",
    [KEY_NAME] = "name", [KEY_HOW] = "how",   [KEY_MODE] = "mode",
};

static const struct known_act *find_act(const char *name) {
  for (size_t i = 0; i < sizeof known_acts / sizeof known_acts[0]; i++) {
    if (strcmp(known_acts[i].name, name) == 0) return &known_acts[i];
  }
  return NULL;
}

/* A name of the file system cannot have a zero within, so a path that has one names nothing. */
static bool has_zero(const struct value *value) { return value->kind == STRING && strlen(value->bytes) != value->length; }

static void carry_out(struct act *act, const struct known_act *known) {
  for (int i = 0; i < MOST_NEEDS && known->needs[i] != KEY_DO; i++) {
    if (act->request->values[known->needs[i]].kind == STRING) continue;
    text_format(&act->answer, "{\"error\": \"%s needs the key %s\"}", known->name, need_names[known->needs[i]]);
    return;
  }
  for (int key = 0; key < KEY_COUNT; key++) {
    bool text = key == KEY_TEXT && known->carry_out != act_link;
    if (text || !has_zero(&act->request->values[key])) continue;
    errno = EINVAL;
    return answer_errno(act);
  }
  known->carry_out(act);
}

/* Without memory there is no answer at all. */
static char *finish(struct text *answer) {
  if (!answer->failed) return answer->bytes;
  free(answer->bytes);
  return strdup("{\"error\": \"the answer is too long\"}");
}

int agent_answer(const char *request, char **answer) {
  struct request parsed;
  struct act act = {.request = &parsed};
  const struct known_act *known = NULL;
  *answer = NULL;
  if (!request_parse(request, &parsed) || parsed.values[KEY_DO].kind != STRING) {
    text_format(&act.answer, "{\"error\": \"the request is no JSON object with the key do\"}");
  } else if ((known = find_act(parsed.values[KEY_DO].bytes))) {
    carry_out(&act, known);
  }
  request_free(&parsed);
  if (!act.answer.bytes && !act.answer.failed) return 0;
  *answer = finish(&act.answer);
  return 1;
}

char *agent_unknown(const char *request) {
  struct request parsed;
  struct text answer = {0}, reason = {0};
  bool named = request_parse(request, &parsed) && parsed.values[KEY_DO].kind == STRING;
  text_format(&reason, "no act is called “");
  if (named) text_add(&reason, parsed.values[KEY_DO].bytes, parsed.values[KEY_DO].length);
  text_format(&reason, "”");
  text_format(&answer, "{\"unsupported\": ");
  if (!reason.failed) text_add_string(&answer, reason.bytes, reason.length);
  else text_format(&answer, "\"\"");
  text_format(&answer, "}");
  free(reason.bytes);
  request_free(&parsed);
  return finish(&answer);
}
