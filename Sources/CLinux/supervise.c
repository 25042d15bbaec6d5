#define _GNU_SOURCE
#include "csupervise.h"
#include "cobserve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* By number and value: the headers of many systems are older than the kernels that they run. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#define PIDFD_OF_THREAD O_EXCL
#define RESTART_SYSTEM_CALL 512 /* ERESTARTSYS, which programs never see */

static int answer(long result) { return result == -1 ? -errno : (int)result; }

/* The part of /proc/PID/status that concerns a thread's signals. */
struct signal_state {
  unsigned long long thread, process, blocked, caught;
  long threads, group;
};

static int read_state(pid_t thread, struct signal_state *state) {
  char path[64], text[8192];
  snprintf(path, sizeof path, "/proc/%d/status", thread);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file == -1) return -errno;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return -ESRCH;
  text[length] = 0;
  memset(state, 0, sizeof *state);
  /* From the second line on: the first has the name, which may hold anything but a line's end. */
  for (char *line = strchr(text, '\n'); line; line = strchr(line, '\n')) {
    line++;
    if (strncmp(line, "Tgid:", 5) == 0) state->group = strtol(line + 5, NULL, 10);
    else if (strncmp(line, "Threads:", 8) == 0) state->threads = strtol(line + 8, NULL, 10);
    else if (strncmp(line, "SigPnd:", 7) == 0) state->thread = strtoull(line + 7, NULL, 16);
    else if (strncmp(line, "ShdPnd:", 7) == 0) state->process = strtoull(line + 7, NULL, 16);
    else if (strncmp(line, "SigBlk:", 7) == 0) state->blocked = strtoull(line + 7, NULL, 16);
    else if (strncmp(line, "SigCgt:", 7) == 0) state->caught = strtoull(line + 7, NULL, 16);
  }
  return 0;
}

int ambit_pidfd_thread(pid_t thread) {
  int result = answer(syscall(SYS_pidfd_open, thread, PIDFD_OF_THREAD));
  if (result != -EINVAL) return result;
  struct signal_state state;
  int found = read_state(thread, &state);
  return found < 0 ? found : answer(syscall(SYS_pidfd_open, (pid_t)state.group, 0));
}

int ambit_pidfd_getfd(int pidfd, int number) { return answer(syscall(SYS_pidfd_getfd, pidfd, number, 0)); }

int ambit_socket_family(int descriptor, int32_t *family, int32_t *type) {
  socklen_t size = sizeof *family;
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, family, &size) == -1) return -errno;
  size = sizeof *type;
  return answer(getsockopt(descriptor, SOL_SOCKET, SO_TYPE, type, &size));
}

int ambit_is_nonblocking(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  return flags == -1 ? -errno : (flags & O_NONBLOCK) != 0;
}

ssize_t ambit_link_bytes(const char *path, uint8_t *bytes, size_t room) {
  ssize_t length = readlink(path, (char *)bytes, room);
  return length == -1 ? -errno : length;
}

int64_t ambit_mount_id(int descriptor) {
  struct statx found;
  if (statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0x1000 /* STATX_MNT_ID */, &found) == -1) return -errno;
  /* Of an older kernel's answer the field is not there to be believed. */
  return found.stx_mask & 0x1000 ? (int64_t)found.stx_mnt_id : -ENOTSUP;
}

int ambit_is_read_only(int descriptor) {
  struct statfs found;
  return fstatfs(descriptor, &found) == -1 ? -errno : (found.f_flags & 1 /* ST_RDONLY */) != 0;
}

int ambit_may_change(int folder) {
  /* The call itself: glibc's goes another way where the kernel lacks it. */
  return syscall(SYS_faccessat2, folder, "", W_OK | X_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

static int set_effective(int all) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) == -1) return -errno;
  for (int i = 0; i < 2; i++) data[i].effective = all ? data[i].permitted : 0;
  return answer(syscall(SYS_capset, &header, data));
}

int ambit_act_as(uint32_t id) {
  if (id == AMBIT_SAME_ID) return set_effective(0);
  /* The group first, while this thread may. Leaving user 0 takes the effective capabilities along. */
  if (syscall(SYS_setresgid, -1, id, -1) == -1) return -errno;
  if (syscall(SYS_setresuid, -1, id, -1) == 0) return 0;
  int code = errno;
  syscall(SYS_setresgid, -1, getgid(), -1);
  return -code;
}

int ambit_act_as_oneself(uint32_t id) {
  if (id == AMBIT_SAME_ID) return set_effective(1);
  if (syscall(SYS_setresuid, -1, getuid(), -1) == -1) return -errno;
  return answer(syscall(SYS_setresgid, -1, getgid(), -1));
}

void ambit_drop_thread_groups(void) { syscall(SYS_setgroups, 0, NULL); }

/* ---- connecting ---- */

static int wake_signal(void) { return SIGRTMIN + 1; }

static void wake(int number) { (void)number; }

void ambit_prepare_connects(void) {
  /* Without SA_RESTART: its one purpose is to end a wait. */
  struct sigaction action = {.sa_handler = wake};
  sigemptyset(&action.sa_mask);
  sigaction(wake_signal(), &action, NULL);
}

/* 0, or the answer to the call because a signal waits for its thread, which sleeps so that only a fatal one wakes it. */
static int interruption(pid_t thread) {
  struct signal_state state;
  if (read_state(thread, &state) < 0) return 0;
  unsigned long long own = state.thread & ~state.blocked, all = (state.thread | state.process) & ~state.blocked;
  /* A signal that no other thread can take in the meantime the kernel finds when the call returns, and then delivers it. */
  if (own || (all && state.threads == 1)) return -RESTART_SYSTEM_CALL;
  return all & state.caught ? -EINTR : 0;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int ambit_connect_for(int listener, uint64_t id, pid_t thread, int socket, const void *address, uint32_t length) {
  /* One that does not wait needs no waking. */
  if (ambit_is_nonblocking(socket) == 1) {
    int result = connect(socket, address, length) == -1 ? -errno : 0;
    return result == -EINTR ? -EAGAIN : result;
  }
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, wake_signal());
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = wake_signal();
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  timer_t timer;
  /* Without it the wait could not be given up, and this thread would be lost: then rather none. */
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) == -1) return -EAGAIN;
  struct itimerspec ticks = {.it_interval = {.tv_nsec = AMBIT_CONNECT_TICK * 1000000L}};
  ticks.it_value = ticks.it_interval;
  timer_settime(timer, 0, &ticks, NULL);

  /* The app's own limit (SO_SNDTIMEO) begins anew with each attempt here, so it is counted. */
  struct timeval limit = {0};
  socklen_t size = sizeof limit;
  getsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, &size);
  int64_t end = limit.tv_sec || limit.tv_usec ? now() + limit.tv_sec * 1000000000LL + limit.tv_usec * 1000LL : 0;
  int result;
  for (;;) {
    result = connect(socket, address, length) == -1 ? -errno : 0;
    if (result != -EINTR) break;
    if (ambit_notify_valid(listener, id) < 0) {
      result = -ECANCELED;
      break;
    }
    result = interruption(thread);
    if (result != 0) break;
    if (end && now() >= end) {
      int32_t family = 0, type = 0;
      ambit_socket_family(socket, &family, &type);
      result = family == AF_UNIX ? -EAGAIN : -EINPROGRESS;
      break;
    }
  }
  timer_delete(timer);
  return result;
}

static int send_reply(int listener, uint64_t id, int64_t value, int error) {
  union {
    struct seccomp_notif_resp response;
    char room[512];
  } reply;
  memset(&reply, 0, sizeof reply);
  reply.response.id = id;
  reply.response.val = value;
  reply.response.error = -error;
  int result;
  do {
    result = ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
  } while (result == -1 && errno == EINTR);
  return result == -1 ? -errno : 0;
}

int ambit_notify_result(int listener, uint64_t id, int error) { return send_reply(listener, id, 0, error); }

int ambit_notify_value(int listener, uint64_t id, int64_t value) { return send_reply(listener, id, value, 0); }

/* Of these file systems a regular file is a question to the kernel, which looks at the process that reads or writes: here
   the launcher. */
static int is_content(int file) {
  static const long without[] = {0x9fa0 /* proc */, 0x62656572 /* sysfs */, 0x27e0eb /* cgroup */, 0x63677270 /* cgroup2 */,
                                 0x64626720 /* debugfs */, 0x74726163 /* tracefs */, 0x73636673 /* securityfs */};
  struct statfs found;
  if (fstatfs(file, &found) == -1) return 0;
  for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
    if ((long)found.f_type == without[i]) return 0;
  }
  return 1;
}

ssize_t ambit_copy_file(int from, int to, int64_t *offset, size_t count, uint64_t ceiling) {
  struct stat source, target;
  if (fstat(from, &source) == -1 || fstat(to, &target) == -1) return -errno;
  int flags = fcntl(to, F_GETFL);
  if (flags == -1) return -errno;
  if (!S_ISREG(source.st_mode) || !S_ISREG(target.st_mode) || (flags & O_APPEND)) return -EINVAL;
  if (!is_content(from) || !is_content(to)) return -EINVAL;
  /* By place and not by position: a process that moves the position meanwhile does not move the offset that is checked
     against the ceiling. */
  if (offset && *offset < 0) return -EINVAL;
  off_t reading = offset ? *offset : lseek(from, 0, SEEK_CUR), writing = lseek(to, 0, SEEK_CUR);
  if (reading == -1 || writing == -1) return -errno;
  if (count > AMBIT_COPY_MOST) count = AMBIT_COPY_MOST;
  size_t done = 0;
  int error = 0;
  while (done < count) {
    char bytes[65536];
    ssize_t got = pread(from, bytes, count - done < sizeof bytes ? count - done : sizeof bytes, reading + (off_t)done);
    if (got == -1 && errno == EINTR) continue;
    if (got == -1) error = errno;
    if (got <= 0) break;
    uint64_t place = (uint64_t)writing + done;
    if (place >= ceiling) {
      error = EFBIG;
      break;
    }
    if ((uint64_t)got > ceiling - place) got = (ssize_t)(ceiling - place);
    ssize_t put = pwrite(to, bytes, (size_t)got, (off_t)place);
    if (put == -1 && errno == EINTR) continue;
    if (put == -1) error = errno;
    if (put <= 0) break;
    done += (size_t)put;
  }
  if (done == 0 && error) return -error;
  lseek(to, writing + (off_t)done, SEEK_SET);
  if (offset) *offset = reading + (off_t)done;
  else lseek(from, reading + (off_t)done, SEEK_SET);
  return (ssize_t)done;
}

int ambit_file_size_limit(pid_t process, uint64_t *limit) {
  struct rlimit found;
  if (prlimit(process, RLIMIT_FSIZE, NULL, &found) == -1) return -errno;
  *limit = found.rlim_cur;
  return 0;
}

int ambit_write_memory(pid_t process, uint64_t address, const void *bytes, size_t count) {
  struct iovec here = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = count};
  struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = count};
  ssize_t written = process_vm_writev(process, &here, 1, &there, 1, 0);
  return written == -1 ? -errno : (size_t)written == count ? 0 : -EFAULT;
}
