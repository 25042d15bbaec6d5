#define _GNU_SOURCE
#include "battery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *current = "?";
static int harness;

/* ---- reporting ---- */

const char *error_name(int error) {
  static const struct {
    int number;
    const char *name;
  } names[] = {
#define NAME(e) {e, #e}
      NAME(EPERM),        NAME(ENOENT),       NAME(ESRCH),       NAME(EINTR),        NAME(EIO),
      NAME(ENXIO),        NAME(EBADF),        NAME(ECHILD),      NAME(EAGAIN),       NAME(ENOMEM),
      NAME(EACCES),       NAME(EFAULT),       NAME(EBUSY),       NAME(EEXIST),       NAME(EXDEV),
      NAME(ENODEV),       NAME(ENOTDIR),      NAME(EISDIR),      NAME(EINVAL),       NAME(ENFILE),
      NAME(EMFILE),       NAME(ENOTTY),       NAME(ETXTBSY),     NAME(EFBIG),        NAME(ENOSPC),
      NAME(EROFS),        NAME(ELOOP),        NAME(ENOSYS),      NAME(EUSERS),       NAME(EOPNOTSUPP),
      NAME(EAFNOSUPPORT), NAME(ENETUNREACH),  NAME(ECONNREFUSED), NAME(ETIMEDOUT),   NAME(EHOSTUNREACH),
      NAME(ESTALE),       NAME(EDQUOT),       NAME(ENOKEY),      NAME(EKEYEXPIRED),  NAME(ENOEXEC),
      NAME(EPROTONOSUPPORT), NAME(ESOCKTNOSUPPORT), NAME(EADDRNOTAVAIL), NAME(ENAMETOOLONG), NAME(EPIPE),
#undef NAME
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (names[i].number == error) return names[i].name;
  }
  return "EOTHER";
}

static void say(const char *attempt, const char *outcome, const char *error, const char *format, va_list list) {
  char text[400], line[600];
  vsnprintf(text, sizeof text, format, list);
  for (char *c = text; *c; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  }
  int length = snprintf(line, sizeof line, "::\t%s\t%s\t%s\t%s\t%s\n", current, attempt, outcome, error, text);
  if (length > (int)sizeof line - 1) {
    length = sizeof line - 1;
    line[length - 1] = '\n';
  }
  /* In one piece, so that lines of different processes do not mix. */
  if (write(1, line, (size_t)length) != length) _exit(3);
}

#define SAY(outcome, error)                                                                                            \
  va_list list;                                                                                                        \
  va_start(list, format);                                                                                              \
  say(attempt, outcome, error, format, list);                                                                          \
  va_end(list)

void reached(const char *attempt, const char *format, ...) { SAY("reached", "-"); }
void refused(const char *attempt, int error, const char *format, ...) {
  SAY("refused", error == 0 ? "-" : error_name(error));
}
void unable(const char *attempt, const char *format, ...) { SAY("unable", "-"); }
void control_holds(const char *attempt, const char *format, ...) { SAY("control", "-"); }

bool judge(const char *attempt, long result, const char *what) {
  if (result == -1) {
    refused(attempt, errno, "%s", what);
  } else {
    reached(attempt, "%s", what);
  }
  return result != -1;
}

bool judge_permission(const char *attempt, long result, const char *what) {
  bool denied = result == -1 && (errno == EPERM || errno == EACCES || errno == ENOSYS || errno == EROFS);
  if (denied) {
    refused(attempt, errno, "%s", what);
  } else {
    reached(attempt, "%s: permitted%s%s", what, result == -1 ? ", answered " : "", result == -1 ? error_name(errno) : "");
  }
  return !denied;
}

/* ---- the stage ---- */

static struct {
  const char *key, *value;
} settings[64];
static size_t setting_count;

void set_stage(const char *key, const char *value) {
  for (size_t i = 0; i < setting_count; i++) {
    if (strcmp(settings[i].key, key) == 0) {
      settings[i].value = strdup(value);
      return;
    }
  }
  if (setting_count == sizeof settings / sizeof *settings) return;
  settings[setting_count].key = strdup(key);
  settings[setting_count++].value = strdup(value);
}

const char *stage(const char *key) {
  for (size_t i = 0; i < setting_count; i++) {
    if (strcmp(settings[i].key, key) == 0) return settings[i].value;
  }
  return "";
}

long stage_number(const char *key) { return *stage(key) ? strtol(stage(key), NULL, 10) : -1; }

bool stage_path(char *path, size_t size, const char *attempt, const char *key, const char *name) {
  if (!*stage(key)) {
    unable(attempt, "there is no %s here", key);
    return false;
  }
  snprintf(path, size, "%s%s%s", stage(key), *name ? "/" : "", name);
  return true;
}

bool contains_token(const void *bytes, size_t length) {
  const char *token = stage("token");
  return *token && memmem(bytes, length, token, strlen(token)) != NULL;
}

bool holds_token(int folder, const char *path) {
  char buffer[512];
  int file = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file == -1) return false;
  ssize_t length = read(file, buffer, sizeof buffer);
  int error = errno;
  close(file);
  errno = length == -1 ? error : ENOENT; /* there is something of that name, and it is not what was looked for */
  return length > 0 && contains_token(buffer, (size_t)length);
}

long read_file(const char *path, char *buffer, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file == -1) return -1;
  size_t length = 0;
  ssize_t got = 0;
  while (length < size - 1 && (got = read(file, buffer + length, size - 1 - length)) > 0) length += (size_t)got;
  int error = errno;
  close(file);
  errno = error;
  buffer[length] = 0;
  return length == 0 && got == -1 ? -1 : (long)length;
}

/* ---- processes ---- */

static int parent_of(int pid) {
  char path[64], line[512];
  int parent = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  if (read_file(path, line, sizeof line) <= 0) return -1;
  char *end = strrchr(line, ')');
  return end && sscanf(end + 1, " %*c %d", &parent) == 1 && parent > 0 ? parent : -1;
}

/* Some launchers start programs through a shell inside: that one is the app's own as well. Outside the shell stands for
   the launcher. */
static bool is_shell(int pid) {
  char path[64], name[32];
  snprintf(path, sizeof path, "/proc/%d/comm", pid);
  if (*stage("control") || read_file(path, name, sizeof name) <= 0) return false;
  return strcmp(name, "sh\n") == 0 || strcmp(name, "bash\n") == 0 || strcmp(name, "dash\n") == 0;
}

int reaper(void) {
  int parent = parent_of(harness);
  return parent != -1 && is_shell(parent) ? parent_of(parent) : parent;
}

/* Whether a process is this program, one that it started, or the shell that started it. */
static bool is_own(int pid) {
  if (pid == parent_of(harness) && is_shell(pid)) return true;
  for (int steps = 0; pid > 1 && steps < 16; steps++) {
    if (pid == harness) return true;
    pid = parent_of(pid);
  }
  return pid == harness;
}

void each_stranger(void (*visit)(int, void *), void *state) {
  DIR *folder = opendir("/proc");
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    char *end;
    long pid = strtol(entry->d_name, &end, 10);
    if (*end == 0 && pid > 0 && !is_own((int)pid)) visit((int)pid, state);
  }
  closedir(folder);
}

static int wait_status(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) == -1) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int in_child(int (*run)(void *), void *state) {
  pid_t child = fork();
  if (child == 0) _exit(run(state));
  return child == -1 ? -1 : wait_status(child);
}

static int exec_quietly(void *state) {
  char *const *arguments = state;
  int nowhere = open("/dev/null", O_RDWR);
  if (nowhere != -1) {
    for (int i = 0; i < 3; i++) dup2(nowhere, i);
  }
  execv(arguments[0], arguments);
  return errno == EACCES ? 126 : 127;
}

int run_program(const char *const *arguments) { return in_child(exec_quietly, (void *)(uintptr_t)arguments); }

bool copy_self(const char *path) {
  int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (from == -1) return false;
  unlink(path);
  int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
  char buffer[65536];
  ssize_t got = -1;
  while (to != -1 && (got = read(from, buffer, sizeof buffer)) > 0 && write(to, buffer, (size_t)got) == got) {}
  int error = errno;
  close(from);
  if (to != -1) close(to);
  errno = error;
  return to != -1 && got == 0;
}

/* ---- running ---- */

static bool is_wanted(const char *id) {
  size_t length = strlen(id);
  const char *lists[2] = {stage("only"), stage("except")};
  bool listed[2] = {false, false};
  for (int i = 0; i < 2; i++) {
    for (const char *at = lists[i]; (at = strstr(at, id)); at += length) {
      bool begins = at == lists[i] || at[-1] == ',', ends = at[length] == 0 || at[length] == ',';
      if (begins && ends) listed[i] = true;
    }
  }
  return (*lists[0] == 0 || listed[0]) && !listed[1];
}

/* A probe that succeeds unconfined must change nothing there: mounts stay with the child. */
static void keep_mounts_private(void) {
  if (*stage("control") && geteuid() == 0 && unshare(CLONE_NEWNS) == 0) mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static void run_probe(const struct probe *probe) {
  current = probe->id;
  int ended[2];
  if (pipe2(ended, O_CLOEXEC) == -1) return unable("probe", "no pipe: %s", error_name(errno));
  pid_t child = fork();
  if (child == -1) return unable("probe", "no process for it: %s", error_name(errno));
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    keep_mounts_private();
    probe->run();
    _exit(0);
  }
  setpgid(child, child);
  int status = 0;
  pid_t done = 0;
  for (int waited = 0; waited < 10000; waited++) {
    done = waitpid(child, &status, WNOHANG);
    if (done != 0) break;
    usleep(waited < 20 ? 250 : 2000);
    if (waited > 4000) break; /* about eight seconds */
  }
  /* The processes that the probe has started and not ended, and the probe itself if it hangs. */
  kill(-child, SIGKILL);
  if (done == 0) waitpid(child, &status, 0);
  while (waitpid(-1, NULL, WNOHANG) > 0) {}
  close(ended[0]);
  close(ended[1]);
  if (done == 0) {
    unable("probe", "took too long and was ended");
  } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) {
    refused("probe", 0, "ended by SIGSYS");
  } else if (WIFSIGNALED(status)) {
    unable("probe", "ended by signal %d", WTERMSIG(status));
  }
}

int run_probes(void) {
  harness = getpid();
  const struct probe *sections[] = {section_a, section_b, section_b_files, section_c, section_d,
                                    section_e, section_f, section_g,       section_h,       section_i_scopes,
                                    section_i_availability, section_i_filter};
  if (*stage("broker")) {
    current = "G1";
    take_documents();
  }
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    for (const struct probe *probe = sections[i]; probe->id; probe++) {
      if (is_wanted(probe->id)) run_probe(probe);
    }
  }
  return dprintf(1, "::\tdone\n") > 0 ? 0 : 3;
}
