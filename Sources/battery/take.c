/* H2, B21 and I13: takes more of something than the sandbox may have, and holds it for a while. A sandbox that ends an excess
 * ends all of its processes, so each attempt is a launch of its own; its result is seen from outside. */
#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

enum { chunk = 1 << 20 };

/* Tells the obstacle, and ends. */
static int stopped(const char *what) {
  printf("refused\t%s\t%s\n", error_name(errno), what);
  return 3;
}

static void touch(volatile char *bytes, size_t size) {
  for (size_t i = 0; i < size; i += 4096) bytes[i] = 1;
}

static bool take_privately(size_t size) {
  char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) return false;
  touch(bytes, size);
  return true;
}

/* Bytes that are written and never read stay in the kernel's buffers. */
static bool take_in_sockets(size_t size) {
  static char bytes[65536];
  for (size_t done = 0; done < size;) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == -1) return false;
    for (int i = 0; i < 2; i++) {
      ssize_t written;
      while ((written = write(pair[i], bytes, sizeof bytes)) > 0) done += (size_t)written;
      if (errno != EAGAIN) return false;
    }
  }
  return true;
}

/* Each takes less than one process may have. */
static int take_by_many(size_t size, bool (*take)(size_t size)) {
  enum { processes = 8 };
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) == -1) return stopped("pipe");
  for (int i = 0; i < processes; i++) {
    pid_t child = fork();
    if (child == -1) return stopped("fork");
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      int error = take(size / processes) ? 0 : errno;
      if (write(ready[1], &error, sizeof error) != sizeof error) _exit(1);
      for (;;) pause();
    }
  }
  close(ready[1]);
  for (int i = 0; i < processes; i++) {
    int error = EPIPE;
    if (read(ready[0], &error, sizeof error) != sizeof error || error) {
      errno = error;
      return stopped("one of the processes");
    }
  }
  return 0;
}

/* A file in memory that no process has mapped. */
static int take_in_file(size_t size) {
  static char bytes[chunk];
  int file = memfd_create("battery", MFD_NOEXEC_SEAL | MFD_CLOEXEC);
  if (file == -1) file = memfd_create("battery", MFD_CLOEXEC);
  if (file == -1) return stopped("memfd_create");
  for (size_t done = 0; done < size; done += chunk) {
    if (write(file, bytes, chunk) != chunk) return stopped("write");
  }
  return 0;
}

/* Shared memory that stays when no process has it attached. */
static int segments[4] = {-1, -1, -1, -1};

static int take_in_segments(size_t size) {
  for (int i = 0; i < 4; i++) {
    segments[i] = shmget(IPC_PRIVATE, size / 4, IPC_CREAT | 0600);
    char *bytes = segments[i] == -1 ? (void *)-1 : shmat(segments[i], NULL, 0);
    if (bytes == (void *)-1) return stopped("shmget");
    touch(bytes, size / 4);
    shmdt(bytes);
  }
  return 0;
}

/* Under a launcher without an IPC namespace they would outlive this program. */
static void remove_segments(void) {
  for (int i = 0; i < 4; i++) {
    if (segments[i] != -1) shmctl(segments[i], IPC_RMID, NULL);
  }
}

static int take_space(size_t size, bool is_deleted) {
  char path[4096];
  static char bytes[chunk];
  if (snprintf(path, sizeof path, "%s/b21", stage("container")) >= (int)sizeof path) return 1;
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file == -1) return stopped("open");
  if (is_deleted) unlink(path);
  for (size_t done = 0; done < size; done += chunk) {
    if (fallocate(file, 0, (off_t)done, chunk) == 0) continue;
    if (errno != EOPNOTSUPP || pwrite(file, bytes, chunk, (off_t)done) != chunk) return stopped("write");
  }
  return 0;
}

static int take_files(long count) {
  char path[4096];
  for (long i = 0; i < count; i++) {
    if (i % 1000 == 0) {
      snprintf(path, sizeof path, "%s/b21-%ld", stage("container"), i / 1000);
      if (mkdir(path, 0700) == -1) return stopped("mkdir");
    }
    snprintf(path, sizeof path, "%s/b21-%ld/%ld", stage("container"), i / 1000, i);
    if (symlink("x", path) == -1) return stopped("symlink");
  }
  return 0;
}

int take(void) {
  const char *what = stage("what");
  long amount = stage_number("amount");
  int hold = (int)stage_number("hold"), status = 1;
  if (amount <= 0 || hold < 0) return 64;
  if (strcmp(what, "one process") == 0) {
    status = take_privately((size_t)amount) ? 0 : stopped("mmap");
  } else if (strcmp(what, "many processes") == 0) {
    status = take_by_many((size_t)amount, take_privately);
  } else if (strcmp(what, "sockets") == 0) {
    status = take_by_many((size_t)amount, take_in_sockets);
  } else if (strcmp(what, "memfd") == 0) {
    status = take_in_file((size_t)amount);
  } else if (strcmp(what, "segments") == 0) {
    status = take_in_segments((size_t)amount);
  } else if (strcmp(what, "container") == 0) {
    status = take_space((size_t)amount, false);
  } else if (strcmp(what, "deleted file") == 0) {
    status = take_space((size_t)amount, true);
  } else if (strcmp(what, "files") == 0) {
    status = take_files(amount);
  }
  if (status == 0) {
    sleep((unsigned)hold);
    printf("taken\n");
  }
  remove_segments();
  return status;
}
