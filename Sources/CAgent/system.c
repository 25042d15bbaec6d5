#define _GNU_SOURCE
#include "agent.h"
#include "cagent.h"

/* Acts for which WASI has no system calls. */

#ifdef __wasi__

void act_attribute(struct act *act) { answer_unsupported(act, "WASI has no extended attributes"); }
void act_connect(struct act *act) { answer_unsupported(act, "WASI has no Unix sockets"); }
void act_lock(struct act *act) { answer_unsupported(act, "WASI has no locks"); }
void act_map_write(struct act *act) { answer_unsupported(act, "WASI has no shared mappings"); }
void act_mode(struct act *act) { answer_unsupported(act, "WASI has no modes"); }
void act_pid(struct act *act) { answer_unsupported(act, "WASI has no processes"); }
void act_run(struct act *act) { answer_unsupported(act, "WASI has no processes"); }
void act_truncate(struct act *act) { answer_unsupported(act, "WASI truncates open files only"); }
void act_unnamed(struct act *act) { answer_unsupported(act, "WASI has no files without a name"); }
void act_watch(struct act *act) { answer_unsupported(act, "WASI has no inotify"); }
void act_watched(struct act *act) { answer_unsupported(act, "WASI has no inotify"); }

#else

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const char *text_of(const struct act *act) { return string_of(act, KEY_TEXT); }

static size_t text_length(const struct act *act) {
  return act->request->values[KEY_TEXT].kind == STRING ? act->request->values[KEY_TEXT].length : 0;
}

/* `close` for the way out of a failure: it leaves errno as it was. */
static void close_quietly(int fd) {
  int reason = errno;
  close(fd);
  errno = reason;
}

void act_truncate(struct act *act) { answer_result(act, truncate(string_of(act, KEY_PATH), 0)); }
void act_pid(struct act *act) { text_format(&act->answer, "{\"done\": true, \"pid\": %ld}", (long)getpid()); }

void act_mode(struct act *act) {
  const char *text = string_of(act, KEY_MODE);
  char *end;
  unsigned long mode = strtoul(text, &end, 8);
  errno = EINVAL;
  bool octal = *text && !*end && mode <= 07777;
  answer_result(act, octal ? chmod(string_of(act, KEY_PATH), (mode_t)mode) : -1);
}

void act_attribute(struct act *act) {
  const char *path = string_of(act, KEY_PATH), *name = string_of(act, KEY_NAME);
  if (setxattr(path, name, text_of(act), text_length(act), 0) == -1) return answer_errno(act);
  /* The kernel's own limit for one value. */
  static char value[65536];
  ssize_t length = getxattr(path, name, value, sizeof value);
  if (length == -1) answer_errno(act);
  else answer_text(act, value, (size_t)length);
}

void act_unnamed(struct act *act) {
  int fd = open(string_of(act, KEY_PATH), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd == -1) return answer_errno(act);
  struct text text = {0};
  int result = write_all(fd, text_of(act), text_length(act));
  if (result != -1) result = lseek(fd, 0, SEEK_SET) == -1 ? -1 : read_all(fd, &text);
  if (result == -1) answer_errno(act);
  else answer_text(act, text.bytes, text.length);
  free(text.bytes);
  close(fd);
}

/* A page that the file system no longer gives ends in a signal, not in an errno. The act answers EIO for it. */
static sigjmp_buf after_fault;
static void leave_fault(int number) { (void)number, siglongjmp(after_fault, 1); }

static int copy_to_mapping(void *mapping, const char *bytes, size_t length) {
  struct sigaction ours = {.sa_handler = leave_fault}, before;
  sigaction(SIGBUS, &ours, &before);
  int result = 0;
  if (sigsetjmp(after_fault, 1) == 0) {
    memcpy(mapping, bytes, length);
    result = msync(mapping, length, MS_SYNC);
  } else {
    result = -1;
    errno = EIO;
  }
  int reason = errno;
  sigaction(SIGBUS, &before, NULL);
  errno = reason;
  return result;
}

static int map_and_copy(int fd, const char *bytes, size_t length) {
  struct stat status;
  if (fstat(fd, &status) == -1) return -1;
  if (status.st_size < (off_t)length && ftruncate(fd, (off_t)length) == -1) return -1;
  void *mapping = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED) return -1;
  int result = copy_to_mapping(mapping, bytes, length);
  int reason = errno;
  munmap(mapping, length);
  errno = reason;
  return result;
}

void act_map_write(struct act *act) {
  int fd = open(string_of(act, KEY_PATH), O_RDWR | O_CLOEXEC);
  if (fd == -1) return answer_errno(act);
  int result = map_and_copy(fd, text_of(act), text_length(act));
  close_quietly(fd);
  answer_result(act, result);
}

/* The descriptor stays open until the app ends, because the lock goes with it. A lock by `fcntl` goes already when the
   process closes any descriptor of the file, so a later act on the same document ends it: that is how these locks are. */
void act_lock(struct act *act) {
  bool whole = strcmp(string_of(act, KEY_HOW), "flock") == 0;
  if (!whole && strcmp(string_of(act, KEY_HOW), "fcntl") != 0) {
    return answer_unsupported(act, "locks are flock and fcntl");
  }
  int fd = open(string_of(act, KEY_PATH), (whole ? O_RDONLY : O_RDWR) | O_CLOEXEC);
  if (fd == -1) return answer_errno(act);
  struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int result = whole ? flock(fd, LOCK_EX | LOCK_NB) : fcntl(fd, F_SETLK, &range);
  if (result == -1) close_quietly(fd);
  answer_result(act, result);
}

/* Not by a blocking connect: a server that accepts nobody must not stop the app. */
void act_connect(struct act *act) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *path = string_of(act, KEY_PATH);
  static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM};
  int result = -1;
  errno = ENAMETOOLONG;
  if (strlen(path) >= sizeof address.sun_path) return answer_errno(act);
  strcpy(address.sun_path, path);
  errno = EPROTOTYPE;
  for (size_t i = 0; i < 3 && result == -1 && errno == EPROTOTYPE; i++) {
    int fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd == -1) break;
    result = connect(fd, (struct sockaddr *)&address, sizeof address);
    close_quietly(fd);
  }
  answer_result(act, result);
}

/* Running programs. */

/* As long as an act may wait. */
static const int most_seconds = 60;

/* A clock of the monotonic kind, in milliseconds. */
static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

/* False with ETIMEDOUT if nothing comes until then. */
static bool wait_readable(int fd, long long until) {
  for (;;) {
    long long left = until - now();
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    int ready = poll(&polled, 1, left > 0 ? (int)left : 0);
    if (ready > 0) return true;
    if (ready == -1 && errno == EINTR) continue;
    if (ready == 0) errno = ETIMEDOUT;
    return false;
  }
}

static int read_until(int fd, struct text *text, long long until) {
  char block[4096];
  text_add(text, "", 0);
  while (wait_readable(fd, until)) {
    ssize_t got = read(fd, block, sizeof block);
    if (got == 0) return 0;
    if (got == -1 && errno == EINTR) continue;
    if (got == -1) return -1;
    text_add(text, block, (size_t)got);
    if (text->failed || text->length > MOST_TEXT) {
      errno = EFBIG;
      return -1;
    }
  }
  return -1;
}

/* posix_spawn, because it says with which errno the kernel refused to start the program. */
static int start_program(const struct act *act, int output, pid_t *child) {
  const char *path = string_of(act, KEY_PATH);
  char *arguments[MOST_ARGUMENTS + 2] = {(char *)path};
  memcpy(arguments + 1, act->request->arguments, act->request->argument_count * sizeof *arguments);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  /* The app's own input has its next requests. Where there is no /dev/null, the program has no input. */
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing == -1) posix_spawn_file_actions_addclose(&actions, STDIN_FILENO);
  else posix_spawn_file_actions_adddup2(&actions, nothing, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  errno = posix_spawn(child, path, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (nothing != -1) close_quietly(nothing);
  return errno ? -1 : 0;
}

static void answer_program(struct act *act, int status, const struct text *text) {
  int number = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  text_format(&act->answer, "{\"done\": true, \"status\": %d, \"text\": ", number);
  text_add_string(&act->answer, text->bytes, text->length);
  text_format(&act->answer, "}");
}

void act_run(struct act *act) {
  int ends[2];
  pid_t child;
  if (pipe2(ends, O_CLOEXEC) == -1) return answer_errno(act);
  int started = start_program(act, ends[1], &child);
  close_quietly(ends[1]);
  if (started == -1) {
    answer_errno(act);
  } else {
    struct text text = {0};
    int status = 0, result = read_until(ends[0], &text, now() + most_seconds * 1000LL);
    int reason = errno;
    if (result == -1) kill(child, SIGKILL);
    while (waitpid(child, &status, 0) == -1 && errno == EINTR) {}
    errno = reason;
    if (result == -1) answer_errno(act);
    else answer_program(act, status, &text);
    free(text.bytes);
  }
  close(ends[0]);
}

/* Watching. */

static int watcher = -1;

static const struct {
  uint32_t bit;
  const char *name;
} event_names[] = {
    {IN_ACCESS, "access"},           {IN_MODIFY, "modify"},       {IN_ATTRIB, "attrib"},
    {IN_CLOSE_WRITE, "close_write"}, {IN_CLOSE_NOWRITE, "close_nowrite"}, {IN_OPEN, "open"},
    {IN_MOVED_FROM, "moved_from"},   {IN_MOVED_TO, "moved_to"},   {IN_CREATE, "create"},
    {IN_DELETE, "delete"},           {IN_DELETE_SELF, "delete_self"}, {IN_MOVE_SELF, "move_self"},
    {IN_UNMOUNT, "unmount"},         {IN_Q_OVERFLOW, "overflow"}, {IN_IGNORED, "ignored"},
};

void act_watch(struct act *act) {
  if (watcher == -1) watcher = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (watcher == -1) return answer_errno(act);
  answer_result(act, inotify_add_watch(watcher, string_of(act, KEY_PATH), IN_ALL_EVENTS));
}

static void add_event(struct text *names, const struct inotify_event *event) {
  for (size_t i = 0; i < sizeof event_names / sizeof event_names[0]; i++) {
    if (!(event->mask & event_names[i].bit)) continue;
    struct text name = {0};
    text_format(&name, "%s", event_names[i].name);
    if (event->len > 0) text_add(&name, " ", 1);
    if (event->len > 0) text_add(&name, event->name, strnlen(event->name, event->len));
    if (names->length > 0) text_add(names, ", ", 2);
    if (!name.failed) text_add_string(names, name.bytes, name.length);
    free(name.bytes);
  }
}

/* The events that have come, as the items of a JSON list. */
static int take_events(struct text *names) {
  char block[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
  ssize_t got = read(watcher, block, sizeof block);
  if (got == -1) return errno == EAGAIN ? 0 : -1;
  for (ssize_t at = 0; at < got;) {
    const struct inotify_event *event = (const struct inotify_event *)(block + at);
    add_event(names, event);
    at += (ssize_t)(sizeof *event + event->len);
  }
  return 0;
}

static double seconds_of(const struct act *act) {
  const struct value *value = &act->request->values[KEY_SECONDS];
  double seconds = value->kind == NUMBER ? value->number : value->kind == STRING ? strtod(value->bytes, NULL) : 1;
  return seconds > 0 ? (seconds < most_seconds ? seconds : most_seconds) : 0;
}

void act_watched(struct act *act) {
  errno = EBADF;
  if (watcher == -1) return answer_errno(act);
  struct text names = {0};
  if (wait_readable(watcher, now() + (long long)(seconds_of(act) * 1000)) && take_events(&names) == -1) {
    answer_errno(act);
  } else {
    text_format(&act->answer, "{\"done\": true, \"names\": [");
    if (names.length > 0) text_add(&act->answer, names.bytes, names.length);
    text_format(&act->answer, "]}");
  }
  free(names.bytes);
}

#endif
