#define _GNU_SOURCE
#include "cprobe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Numbers that are the same on every architecture since 5.0, for headers that are older than the kernel. */
#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#define PROBE_OPEN_TREE_CLONE 1
#define PROBE_MOUNT_ATTR_IDMAP 0x00100000
#define PROBE_NOTIF_SET_FLAGS _IOW('!', 4, uint64_t)
#define PROBE_SYNC_WAKE_UP 1UL

struct probe_mount_attr {
  uint64_t attr_set, attr_clr, propagation, userns_fd;
};

static int answer(long result) { return result == -1 ? -errno : (int)result; }

/* A descriptor that was only wanted as proof. */
static int drop(long fd) {
  if (fd == -1) return -errno;
  close((int)fd);
  return 0;
}

/* The errno is the answer: anything but ENOSYS shows that the call is there. A call that policy forbids (EPERM from a
 * container's filter) looks the same as one that refuses bad arguments only where EPERM is not its own answer. */
static int present(long result, int expected) {
  if (result != -1 || errno == expected) return 0;
  return -errno;
}

/* After a raw fork of a process with threads only async-signal-safe calls are allowed, in the child. */
static pid_t raw_fork(uint64_t flags) { return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL); }

static int reap(pid_t child) {
  int status;
  while (waitpid(child, &status, __WALL) == -1)
    if (errno != EINTR) return -errno;
  return 0;
}

static int put(const char *path, const char *text, size_t length) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t done = write(fd, text, length);
  int result = done == (ssize_t)length ? 0 : -errno;
  close(fd);
  return result;
}

/* "0 ID 1": decimal by hand, for snprintf is not async-signal-safe. */
static size_t identity_map(char *out, unsigned id) {
  char digits[12];
  size_t count = 0, length = 0;
  do digits[count++] = (char)('0' + id % 10);
  while ((id /= 10) != 0);
  memcpy(out, "0 ", 2), length = 2;
  while (count) out[length++] = digits[--count];
  memcpy(out + length, " 1", 2);
  return length + 2;
}

static int map_self(unsigned uid, unsigned gid) {
  char map[24];
  /* Kernels since 3.19 want this before an ordinary user may write gid_map. */
  int result = put("/proc/self/setgroups", "deny", 4);
  if (result < 0 && result != -ENOENT) return result;
  if ((result = put("/proc/self/uid_map", map, identity_map(map, uid))) < 0) return result;
  return put("/proc/self/gid_map", map, identity_map(map, gid));
}

static int begin_sandbox(uint64_t flags, unsigned uid, unsigned gid, int *stage) {
  int result;
  *stage = CPROBE_MAP;
  if ((flags & CLONE_NEWUSER) && (result = map_self(uid, gid)) < 0) return result;
  if (flags & CLONE_NEWNS) {
    *stage = CPROBE_PRIVATE;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1) return -errno;
    *stage = CPROBE_TMPFS;
    if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, NULL) == -1) return -errno;
    if (flags & CLONE_NEWPID) {
      *stage = CPROBE_PROC;
      if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == -1) return -errno;
    }
  }
  *stage = CPROBE_DONE;
  return 0;
}

int cprobe_sandbox(uint64_t flags, int *stage) {
  int report[2], message[2] = {-EIO, CPROBE_CLONE};
  unsigned uid = geteuid(), gid = getegid();
  *stage = CPROBE_CLONE;
  if (pipe2(report, O_CLOEXEC) == -1) return -errno;
  pid_t child = raw_fork(flags);
  if (child == 0) {
    message[0] = begin_sandbox(flags, uid, gid, &message[1]);
    _exit(write(report[1], message, sizeof message) == sizeof message ? 0 : 1);
  }
  int error = errno;
  close(report[1]);
  if (child < 0) {
    close(report[0]);
    return -error;
  }
  while (read(report[0], message, sizeof message) == -1 && errno == EINTR) {}
  close(report[0]);
  reap(child);
  *stage = message[1];
  return message[0];
}

uint64_t cprobe_namespace_flag(const char *name) {
  static const struct {
    const char *name;
    uint64_t flag;
  } known[] = {
      {"user", CLONE_NEWUSER}, {"mnt", CLONE_NEWNS},        {"pid", CLONE_NEWPID},
      {"ipc", CLONE_NEWIPC},   {"uts", CLONE_NEWUTS},       {"net", CLONE_NEWNET},
      {"cgroup", CLONE_NEWCGROUP},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, name) == 0) return known[i].flag;
  return 0;
}

int cprobe_clone3(void) { return present(syscall(SYS_clone3, NULL, 0), EINVAL); }

int cprobe_clone_pidfd(void) {
  int pidfd = -1;
  pid_t child = (pid_t)syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, &pidfd, NULL, NULL);
  if (child == 0) _exit(0);
  if (child < 0) return -errno;
  reap(child);
  /* A kernel that does not know the flag ignores it. */
  if (pidfd < 0) return -ENOSYS;
  close(pidfd);
  return 0;
}

int cprobe_pidfd_open(void) { return drop(syscall(SYS_pidfd_open, getpid(), 0)); }

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

int cprobe_pidfd_getfd(void) {
  pid_t child = raw_fork(0);
  if (child == 0) {
    /* Gone by itself, should no process be there to end it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  if (child < 0) return -errno;
  int process = (int)syscall(SYS_pidfd_open, child, 0);
  int result = process == -1 ? -errno : drop(syscall(SYS_pidfd_getfd, process, 0, 0));
  /* Without a standard input there is nothing to take, and it was looked for. */
  if (result == -EBADF && process != -1) result = 0;
  if (process != -1) close(process);
  kill(child, SIGKILL);
  reap(child);
  return result;
}

int cprobe_close_range(void) { return answer(syscall(SYS_close_range, ~0U, ~0U, 0)); }
int cprobe_openat2(void) { return present(syscall(SYS_openat2, -1, "", NULL, 0), EINVAL); }
int cprobe_open_tree(void) { return present(syscall(SYS_open_tree, -1, "", AT_EMPTY_PATH), EBADF); }

int cprobe_move_mount(void) {
  /* Without the right to mount the call itself answers EPERM, before it looks at anything. */
  int result = present(syscall(SYS_move_mount, -1, "", -1, "", 0), EBADF);
  return result == -EPERM || result == -ENOENT ? 0 : result;
}

int cprobe_mount_setattr(void) { return present(syscall(SYS_mount_setattr, -1, "", 0, NULL, 0), EINVAL); }

/* A user namespace with a child in it that waits until its end of the pipe is closed. */
static int user_namespace(void) {
  int ready[2], hold[2];
  unsigned uid = geteuid(), gid = getegid();
  if (pipe2(ready, O_CLOEXEC) == -1) return -errno;
  if (pipe2(hold, O_CLOEXEC) == -1) {
    int error = errno;
    close(ready[0]), close(ready[1]);
    return -error;
  }
  pid_t child = raw_fork(CLONE_NEWUSER);
  if (child == 0) {
    int result = map_self(uid, gid);
    close(hold[1]);
    if (write(ready[1], &result, sizeof result) != sizeof result) _exit(1);
    char end;
    _exit(read(hold[0], &end, 1) == 0 ? 0 : 1);
  }
  int result = child < 0 ? -errno : -EIO;
  close(ready[1]), close(hold[0]);
  if (child > 0) {
    if (read(ready[0], &result, sizeof result) == sizeof result && result == 0) {
      char path[40] = "/proc/";
      char map[24];
      size_t length = identity_map(map, (unsigned)child) - 4;
      memcpy(path + 6, map + 2, length);
      strcpy(path + 6 + length, "/ns/user");
      result = answer(open(path, O_RDONLY | O_CLOEXEC));
    }
    close(hold[1]);
    reap(child);
  } else {
    close(hold[1]);
  }
  close(ready[0]);
  return result;
}

int cprobe_idmapped_mount(const char *path) {
  int tree = (int)syscall(SYS_open_tree, AT_FDCWD, path, PROBE_OPEN_TREE_CLONE | O_CLOEXEC);
  if (tree < 0) return -errno;
  int space = user_namespace();
  int result = space;
  if (space >= 0) {
    struct probe_mount_attr attributes = {.attr_set = PROBE_MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)space};
    result = answer(syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes));
    close(space);
  }
  close(tree);
  return result;
}

int cprobe_seccomp_action(uint32_t action) {
  return answer(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action));
}

uint32_t cprobe_seccomp_ret_errno(void) { return SECCOMP_RET_ERRNO; }
uint32_t cprobe_seccomp_ret_user_notif(void) { return SECCOMP_RET_USER_NOTIF; }
uint32_t cprobe_seccomp_ret_kill_process(void) { return SECCOMP_RET_KILL_PROCESS; }

int cprobe_seccomp_listener(int sync) {
  /* A filter cannot be taken off again, so a child puts it on. */
  int report[2], result = -EIO;
  if (pipe2(report, O_CLOEXEC) == -1) return -errno;
  pid_t child = raw_fork(0);
  if (child == 0) {
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = 1, .filter = &allow};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    result = listener < 0 ? -errno : 0;
    if (listener >= 0 && sync) result = answer(ioctl((int)listener, PROBE_NOTIF_SET_FLAGS, PROBE_SYNC_WAKE_UP));
    _exit(write(report[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  int error = errno;
  close(report[1]);
  if (child < 0) {
    close(report[0]);
    return -error;
  }
  while (read(report[0], &result, sizeof result) == -1 && errno == EINTR) {}
  close(report[0]);
  reap(child);
  return result;
}

int cprobe_landlock_abi(void) { return answer(syscall(SYS_landlock_create_ruleset, NULL, 0, 1)); }

int cprobe_file_handle(const char *path, int open) {
  union {
    struct file_handle handle;
    char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } buffer;
  int mount;
  buffer.handle.handle_bytes = MAX_HANDLE_SZ;
  if (name_to_handle_at(AT_FDCWD, path, &buffer.handle, &mount, 0) == -1) return -errno;
  if (!open) return buffer.handle.handle_type;
  int place = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (place < 0) return -errno;
  int result = drop(open_by_handle_at(place, &buffer.handle, O_PATH | O_CLOEXEC));
  close(place);
  return result < 0 ? result : buffer.handle.handle_type;
}

int cprobe_birth_time(const char *path) {
  struct statx status;
  if (statx(AT_FDCWD, path, 0, STATX_BTIME, &status) == -1) return -errno;
  return (status.stx_mask & STATX_BTIME) != 0;
}

int cprobe_open(const char *path) { return drop(open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)); }

int cprobe_pty(void) {
  int leader = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (leader < 0) return -errno;
  int unlock = 0;
  int result = answer(ioctl(leader, TIOCSPTLCK, &unlock));
  /* By the leader and not by name: in a container /dev/pts need not be the one that /dev/ptmx belongs to. */
  if (result == 0) result = drop(ioctl(leader, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  close(leader);
  return result;
}

int64_t cprobe_filesystem(const char *path) {
  struct statfs status;
  if (statfs(path, &status) == -1) return -errno;
  return (int64_t)(uint32_t)status.f_type;
}
