#define _GNU_SOURCE
#include "clease.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static int answer(long result) { return result == -1 ? -errno : (int)result; }

/* Queued, so that each break is told; the first ones after SIGRTMIN are left to others. */
static int break_signal(void) { return SIGRTMIN + 6; }

int ambit_set_lease(int file, int kind) {
  return answer(fcntl(file, F_SETLEASE, kind == AMBIT_LEASE_WRITE ? F_WRLCK : kind == AMBIT_LEASE_READ ? F_RDLCK : F_UNLCK));
}

int ambit_get_lease(int file) {
  int kind = fcntl(file, F_GETLEASE);
  if (kind == -1) return -errno;
  return kind == F_WRLCK ? AMBIT_LEASE_WRITE : kind == F_RDLCK ? AMBIT_LEASE_READ : AMBIT_LEASE_NONE;
}

int ambit_lease_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, break_signal());
  /* In place of a signal that finds the queue full. */
  sigaddset(&set, SIGIO);
  int result = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (result != 0) return -result;
  return answer(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int ambit_tell_breaks(int file) {
  struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = gettid()};
  if (fcntl(file, F_SETSIG, break_signal()) == -1) return -errno;
  return answer(fcntl(file, F_SETOWN_EX, &owner));
}

int ambit_next_break(int signals, int *file) {
  struct signalfd_siginfo info;
  ssize_t got = read(signals, &info, sizeof info);
  if (got == -1 && errno != EAGAIN) return -errno;
  *file = got != sizeof info ? -1 : (int)info.ssi_signo == break_signal() ? info.ssi_fd : -2;
  return 0;
}

int ambit_try_lease(void) {
  char path[32];
  int memory = memfd_create("lease", MFD_CLOEXEC);
  if (memory == -1) return -errno;
  /* The first one is not counted among the writers, and so would be none of the holder's. */
  snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
  int file = open(path, O_RDWR | O_CLOEXEC);
  int result = file == -1 ? -errno : ambit_set_lease(file, AMBIT_LEASE_WRITE);
  if (file != -1) close(file);
  close(memory);
  return result;
}

int ambit_leases_all(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) == -1) return -errno;
  return (data[CAP_TO_INDEX(CAP_LEASE)].effective & CAP_TO_MASK(CAP_LEASE)) != 0;
}

ssize_t ambit_copy_over(int from, int to, off_t at, size_t most) {
  off_t source = at, target = at;
  ssize_t count = copy_file_range(from, &source, to, &target, most, 0);
  if (count > 0) return count;
  /* Older kernels copy within one file system only, some file systems do not at all, and some say that there is nothing. */
  char buffer[65536];
  do { count = pread(from, buffer, most < sizeof buffer ? most : sizeof buffer, at); } while (count == -1 && errno == EINTR);
  if (count <= 0) return count == -1 ? -errno : 0;
  for (ssize_t done = 0; done < count;) {
    ssize_t written = pwrite(to, buffer + done, (size_t)(count - done), at + done);
    if (written == -1 && errno != EINTR) return -errno;
    if (written > 0) done += written;
  }
  return count;
}

int ambit_is_dense(int file, off_t from, off_t to) {
  off_t hole = lseek(file, from, SEEK_HOLE);
  return hole == -1 ? errno == EINVAL : hole >= to;
}

int ambit_reserve(int file, off_t size) { return size > 0 ? answer(fallocate(file, FALLOC_FL_KEEP_SIZE, 0, size)) : 0; }

void ambit_begin_writing(int file) { (void)sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE); }
