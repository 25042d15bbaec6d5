/* H: resources. Each attempt takes a bounded amount that a sandbox with limits would not give; `reached` means that there was no
 * limit before that amount. Attempts that may end the whole sandbox have launches of their own: see take.c. */
#define _GNU_SOURCE
#include "battery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { many = 2000, many_files = 20000 };

/* Processes without end. */
static void h1(void) {
  int made = 0, error = 0;
  for (; made < many; made++) {
    pid_t child = fork();
    if (child == 0) {
      for (;;) pause();
    }
    if (child == -1) {
      error = errno;
      break;
    }
  }
  if (made == many) {
    reached("fork", "%d processes at a time, and there was no end", many);
  } else {
    refused("fork", error, "after %d processes", made);
  }
}

/* Open files without end. */
static void h3(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  int opened = 0, error = 0, file = open("/dev/null", O_RDONLY);
  for (; opened < many_files; opened++) {
    if (dup(file) == -1) {
      error = errno;
      break;
    }
  }
  if (opened == many_files) {
    reached("descriptors", "%d in one process, and there was no end", many_files);
  } else {
    refused("descriptors", error, "after %d", opened);
  }
}

/* A limit that was set must not be raised again, and its signal ignored changes nothing. */
static void h4(void) {
  char path[4096];
  static char bytes[65536];
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = {4096, 4096}, large = {RLIM_INFINITY, RLIM_INFINITY};
  /* A broken pipe is no file: reports still get out under this limit. */
  if (!stage_path(path, sizeof path, "write", "container", "h4")) return;
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ssize_t before = write(file, bytes, sizeof bytes);
  if (setrlimit(RLIMIT_FSIZE, &small) == -1) return unable("write", "no limit can be set");
  if (before == (ssize_t)sizeof bytes) control_holds("write", "without the limit it is written");
  ssize_t written = pwrite(file, bytes, sizeof bytes, 0), over = pwrite(file, bytes, 1, 8192);
  int error = errno;
  if (over == 1) {
    reached("write", "SIGXFSZ was ignored and the limit with it");
  } else {
    refused("write", error, "with SIGXFSZ ignored, after %zd bytes", written);
  }
  judge("raise", setrlimit(RLIMIT_FSIZE, &large), "raising the limit again");
  unlink(path);
  close(file);
}

/* The same for processor time. */
static void h5(void) {
  struct rlimit small = {3000, 3000}, large = {RLIM_INFINITY, RLIM_INFINITY};
  signal(SIGXCPU, SIG_IGN);
  if (setrlimit(RLIMIT_CPU, &small) == -1) return unable("raise", "no limit can be set");
  judge("raise", setrlimit(RLIMIT_CPU, &large), "raising the limit on processor time again");
}

static void *wait_for_ever(void *argument) {
  for (;;) pause();
  return argument;
}

/* Threads without end. */
static void h6(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  pthread_t thread;
  int made = 0, error = 0;
  while (made < many && (error = pthread_create(&thread, &attributes, wait_for_ever, NULL)) == 0) made++;
  if (made == many) {
    reached("threads", "%d at a time, and there was no end", many);
  } else {
    refused("threads", error, "after %d", made);
  }
}

static int count_dead(void) {
  int count = 0;
  DIR *folder = opendir("/proc");
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    char path[300], line[512];
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    snprintf(path, sizeof path, "/proc/%.200s/stat", entry->d_name);
    if (read_file(path, line, sizeof line) <= 0) continue;
    char *end = strrchr(line, ')');
    count += end && end[1] == ' ' && end[2] == 'Z';
  }
  if (folder) closedir(folder);
  return count;
}

static int leave_dead(void *state) {
  int *ready = state;
  for (int i = 0; i < 500; i++) {
    if (fork() == 0) _exit(0);
  }
  usleep(100000);
  int count = count_dead();
  return write(ready[1], &count, sizeof count) == sizeof count ? 0 : 1;
}

/* Dead children of a dead parent: process 1 has to reap them. */
static void h8(void) {
  int ready[2], seen = 0;
  if (pipe2(ready, O_CLOEXEC) == -1) return unable("zombies", "no pipe");
  in_child(leave_dead, ready);
  if (read(ready[0], &seen, sizeof seen) == sizeof seen && seen >= 500)
    control_holds("zombies", "%d are seen while their parent lives", seen);
  int left = 500;
  for (int i = 0; i < 100 && left > 100; i++) {
    usleep(10000);
    left = count_dead();
  }
  if (left > 100) {
    reached("zombies", "%d dead processes are never buried", left);
  } else {
    refused("zombies", 0, "500 made, %d left", left);
  }
}

const struct probe section_h[] = {{"H1", h1}, {"H3", h3}, {"H4", h4}, {"H5", h5},
                                  {"H6", h6}, {"H8", h8}, {0}};
