/* A: terminal, descriptors, environment: things that a launcher forgets to take away. */
#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int terminal(void) {
  int own = open("/dev/tty", O_RDWR | O_CLOEXEC);
  return own != -1 ? own : isatty(0) ? 0 : -1;
}

/* Types into the user's terminal, to be read by their shell after the app has ended (CVE-2017-5226). */
static void a1(void) {
  char key = '#';
  if (isatty(0)) judge("stdin", ioctl(0, TIOCSTI, &key), "TIOCSTI on standard input");
  int own = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (own != -1) {
    judge("tty", ioctl(own, TIOCSTI, &key), "TIOCSTI on /dev/tty");
  } else if (!isatty(0)) {
    refused("tty", errno, "there is no terminal to type into");
  }
}

/* The console's own paste (CVE-2023-28100). Asks for the state of the shift key: the same call, and nothing is pasted. */
static void a3(void) {
  int place = terminal();
  char request = 6;
  if (place == -1) return refused("tioclinux", errno, "there is no terminal");
  if (ioctl(place, TIOCLINUX, &request) == -1 && errno == ENOTTY)
    return unable("tioclinux", "the call got through; this terminal is no virtual console");
  errno = errno == ENOTTY ? ENOTTY : errno;
  judge("tioclinux", ioctl(place, TIOCLINUX, &request), "TIOCLINUX");
}

/* A file that the caller had open. Systemd, shells and test runners leave many. */
static void a4(void) {
  char buffer[512];
  ssize_t length = pread(7, buffer, sizeof buffer, 0);
  if (length == -1) {
    refused("read 7", errno, "descriptor 7");
  } else if (contains_token(buffer, (size_t)length)) {
    reached("read 7", "the caller's file is open as descriptor 7");
    /* The same bytes again: nothing changes, and it is seen whether it could. */
    judge("write 7", pwrite(7, buffer, 1, 0), "writing into the caller's file");
  } else {
    refused("read 7", 0, "descriptor 7 is something else");
  }
}

/* From a folder that the caller had open the whole of the host can be reached (CVE-2024-21626, “leaky vessels”). */
static void a5(void) {
  struct stat status;
  if (fstat(8, &status) == -1) {
    refused("fchdir 8", errno, "descriptor 8");
  } else if (!S_ISDIR(status.st_mode) || fchdir(8) == -1) {
    refused("fchdir 8", errno, "descriptor 8 is no way out");
  } else {
    char path[4096] = "";
    /* Not getcwd(3), which hides the kernel's answer about a folder that cannot be reached from here. */
    if (readlink("/proc/self/cwd", path, sizeof path - 1) < 0) path[0] = 0;
    reached("fchdir 8", "the caller's folder is open as descriptor 8 and now the current one: %s", path);
  }
  bool found = holds_token(8, "../canary") || holds_token(8, "canary");
  if (found) {
    reached("openat 8", "the canary, through ..");
  } else {
    refused("openat 8", errno, "openat(8, \"../canary\")");
  }
}

struct search {
  int seen, readable, found;
  const char *text;
  const char *file;
};

static void search_process(int pid, void *state) {
  struct search *search = state;
  char path[64];
  static char buffer[1 << 17];
  search->seen++;
  snprintf(path, sizeof path, "/proc/%d/%s", pid, search->file);
  long length = read_file(path, buffer, sizeof buffer);
  if (length < 0) return;
  search->readable++;
  if (*search->text && memmem(buffer, (size_t)length, search->text, strlen(search->text)) && !search->found)
    search->found = pid;
}

static void search_processes(const char *attempt, const char *file, const char *text) {
  struct search search = {.text = text, .file = file};
  each_stranger(search_process, &search);
  if (search.found) {
    reached(attempt, "process %d shows it in its %s", search.found, file);
  } else {
    refused(attempt, 0, "%d of %d other processes' %s readable, the secret in none", search.readable, search.seen, file);
  }
}

/* The launcher's environment, through the process that waits for the app (bubblewrap#725). */
static void a7(void) { search_processes("environ", "environ", stage("token")); }

/* The launcher's arguments name folders of the host, and sometimes secrets (bubblewrap#631). */
static void a8(void) { search_processes("cmdline", "cmdline", stage("folder")); }

extern char **environ;

/* The contents of the user's own environment: keys, tokens, agents' addresses. */
static void a9(void) {
  int count = 0;
  for (char **each = environ; *each; each++, count++) {
    if (contains_token(*each, strlen(*each))) return reached("environ", "%.*s was handed on", (int)strcspn(*each, "="), *each);
  }
  refused("environ", 0, "%d variables, none with the secret", count);
}

const struct probe section_a[] = {{"A1", a1}, {"A3", a3}, {"A4", a4}, {"A5", a5},
                                  {"A7", a7}, {"A8", a8}, {"A9", a9}, {0}};
