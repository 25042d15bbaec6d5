#define _GNU_SOURCE
#include <string.h>
#include "clinux.h"
#include "claunch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

static int answer(long result) { return result == -1 ? -errno : (int)result; }

uint64_t ambit_open_flag_path(void) { return O_PATH; }
uint64_t ambit_open_flag_directory(void) { return O_DIRECTORY; }
uint64_t ambit_open_flag_nofollow(void) { return O_NOFOLLOW; }

int ambit_openat2_raw(int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve) {
  struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};
  return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int ambit_openat2(int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve) {
  int result;
  /* A rename anywhere on the machine, while a path goes up by "..", and the kernel would rather not say where that led. */
  int attempts = 1000;
  do {
    result = ambit_openat2_raw(directory, path, flags | O_CLOEXEC, mode, resolve);
  } while (result == -1 && errno == EAGAIN && resolve != 0 && --attempts > 0);
  return answer(result);
}

int ambit_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) == -1) return -errno;
  /* As large as one may be without privilege; beyond the user's quota of pipes it stays as it is. */
  fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
  return 0;
}

long ambit_pipe_content(int pipe) {
  int count = 0;
  return ioctl(pipe, FIONREAD, &count) == -1 ? -errno : count;
}

int ambit_is_same_opening(int one, int other) {
  pid_t self = getpid();
  return answer(syscall(SYS_kcmp, self, self, 0 /* KCMP_FILE */, (unsigned long)one, (unsigned long)other));
}

int ambit_clone_tree(int directory, const char *path, int recursive) {
  unsigned flags = 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC | AT_EMPTY_PATH;
  return answer(syscall(SYS_open_tree, directory, path, flags | (recursive ? 0x8000 /* AT_RECURSIVE */ : 0)));
}

int ambit_clone_path(const char *path, int follow) {
  unsigned flags = 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC | 0x8000 /* AT_RECURSIVE */;
  return answer(syscall(SYS_open_tree, AT_FDCWD, path, flags | (follow ? 0 : AT_SYMLINK_NOFOLLOW)));
}

int ambit_move_mount(int tree, int target) {
  return answer(syscall(SYS_move_mount, tree, "", target, "", 0x04 /* F_EMPTY_PATH */ | 0x40 /* T_EMPTY_PATH */));
}

int ambit_move_mount_to(int tree, const char *place) {
  return answer(syscall(SYS_move_mount, tree, "", AT_FDCWD, place, 0x04 /* F_EMPTY_PATH */));
}

int ambit_move_mount_into(int tree, int folder, const char *name) {
  return answer(syscall(SYS_move_mount, tree, "", folder, name, 0x04 /* F_EMPTY_PATH */));
}

int ambit_move_mount_at(const char *path, const char *place) {
  return answer(syscall(SYS_move_mount, AT_FDCWD, path, AT_FDCWD, place, 0));
}

int ambit_set_attributes(int tree, int recursive, uint64_t set, uint64_t clear, int userns) {
  /* A clone would stay with its origin, where that is shared, as everything is under systemd: a mount on the one would be
     on the other. */
  uint64_t attributes[4] = {set, clear, MS_PRIVATE, 0};
  if (userns != -1) {
    attributes[0] |= 0x00100000; /* MOUNT_ATTR_IDMAP */
    attributes[3] = (uint64_t)userns;
  }
  return answer(syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | (recursive ? 0x8000 : 0), attributes,
                        sizeof attributes));
}

int ambit_unmount(const char *path) { return answer(umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW)); }

int ambit_unmount_idle(const char *path) { return answer(umount2(path, UMOUNT_NOFOLLOW)); }

int ambit_mount_in_use(const char *path) {
  /* The first time nothing but a mark is made, and the next use takes it away. */
  if (umount2(path, MNT_EXPIRE | UMOUNT_NOFOLLOW) == 0) return 0;
  return errno == EBUSY ? 1 : errno == EAGAIN ? 0 : -errno;
}

int ambit_setns(int descriptor, int type) { return answer(setns(descriptor, type)); }
int ambit_unshare(int flags) { return answer(unshare(flags)); }
int ambit_pidfd_open(pid_t pid) { return answer(syscall(SYS_pidfd_open, pid, 0)); }
int ambit_pidfd_signal(int pidfd, int signal_number) {
  return answer(syscall(SYS_pidfd_send_signal, pidfd, signal_number, NULL, 0));
}
int ambit_pidfd_ended(int pidfd) {
  struct pollfd entry = {.fd = pidfd, .events = POLLIN};
  int ready;
  do {
    ready = poll(&entry, 1, 0);
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

static int wait_to_be_killed(void *parent) {
  /* Shares its parent's memory, errno included, so it may not make a call that can fail. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  /* A parent that is killed in this moment leaves nothing: no process, and no socket or lock that this one has a copy of. */
  syscall(SYS_close_range, 0U, ~0U, 0U);
  if (getppid() != (pid_t)(intptr_t)parent) _exit(0);
  for (;;) pause();
  return 0;
}

static int write_map(pid_t pid, const char *name, uint32_t disk, uint32_t shown) {
  char path[64], line[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  int length = snprintf(line, sizeof line, "%u %u 1\n", disk, shown);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd == -1) return -errno;
  ssize_t written = write(fd, line, (size_t)length);
  int result = written == length ? 0 : -errno;
  close(fd);
  return result;
}

int ambit_idmap_namespace(uint32_t disk_uid, uint32_t shown_uid, uint32_t disk_gid, uint32_t shown_gid) {
  size_t stack_size = 64 * 1024;
  char *stack = mmap(NULL, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return -errno;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited: nothing wakes the helper but SIGKILL */
  pid_t pid = clone(wait_to_be_killed, stack + stack_size, CLONE_NEWUSER | CLONE_VM | SIGCHLD, (void *)(intptr_t)getpid());
  int result = pid == -1 ? -errno : 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (pid > 0) {
    char path[64];
    result = write_map(pid, "uid_map", disk_uid, shown_uid);
    if (result == 0) result = write_map(pid, "gid_map", disk_gid, shown_gid);
    if (result == 0) {
      snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
      result = answer(open(path, O_RDONLY | O_CLOEXEC));
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) == -1 && errno == EINTR) {}
  }
  munmap(stack, stack_size);
  return result;
}

int ambit_file_handle(int descriptor, int32_t *type, uint8_t *bytes, int32_t *mount_id) {
  union {
    struct file_handle handle;
    char room[sizeof(struct file_handle) + 128];
  } buffer;
  buffer.handle.handle_bytes = 128;
  int mount = 0;
  if (name_to_handle_at(descriptor, "", &buffer.handle, &mount, AT_EMPTY_PATH) == -1) {
    if (errno != EOPNOTSUPP) return -errno;
    /* AT_HANDLE_FID (Linux 6.5): one that can be compared and not opened, where there is no other, as on overlayfs. */
    buffer.handle.handle_bytes = 128;
    if (name_to_handle_at(descriptor, "", &buffer.handle, &mount, AT_EMPTY_PATH | 0x200) == -1) return -errno;
    buffer.handle.handle_type |= AMBIT_HANDLE_COMPARABLE;
  }
  *type = buffer.handle.handle_type;
  *mount_id = mount;
  memcpy(bytes, buffer.handle.f_handle, buffer.handle.handle_bytes);
  return (int)buffer.handle.handle_bytes;
}

int ambit_open_handle(int mount, int32_t type, const uint8_t *bytes, uint32_t length, int flags) {
  union {
    struct file_handle handle;
    char room[sizeof(struct file_handle) + 128];
  } buffer;
  if (length > 128) return -EINVAL;
  buffer.handle.handle_bytes = length;
  buffer.handle.handle_type = type;
  memcpy(buffer.handle.f_handle, bytes, length);
  return answer(open_by_handle_at(mount, &buffer.handle, flags | O_CLOEXEC));
}

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000
#endif
static int stat_at(int folder, const char *name, int flags, struct ambit_stat *result) {
  struct statx found;
  unsigned wanted = STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID_UNIQUE;
  if (statx(folder, name, flags | AT_STATX_SYNC_AS_STAT, wanted, &found) == -1) return -errno;
  memset(result, 0, sizeof *result);
  result->inode = found.stx_ino;
  result->size = found.stx_size;
  result->device = ((uint64_t)found.stx_dev_major << 32) | found.stx_dev_minor;
  result->represents = ((uint64_t)found.stx_rdev_major << 32) | found.stx_rdev_minor;
  result->links = found.stx_nlink;
  result->mode = found.stx_mode;
  result->uid = found.stx_uid;
  result->gid = found.stx_gid;
  /* Without this bit the number, if there is one, is one that is given out again. */
  if (found.stx_mask & STATX_MNT_ID_UNIQUE) result->mount = found.stx_mnt_id;
  if (found.stx_mask & STATX_BTIME) {
    result->birth_seconds = found.stx_btime.tv_sec;
    result->birth_nanoseconds = found.stx_btime.tv_nsec;
  }
  result->modified_seconds = found.stx_mtime.tv_sec;
  result->modified_nanoseconds = found.stx_mtime.tv_nsec;
  result->changed_seconds = found.stx_ctime.tv_sec;
  result->changed_nanoseconds = found.stx_ctime.tv_nsec;
  return 0;
}

int ambit_stat_descriptor(int descriptor, struct ambit_stat *result) {
  return stat_at(descriptor, "", AT_EMPTY_PATH, result);
}

int ambit_stat_entry(int folder, const char *name, struct ambit_stat *result) {
  return stat_at(folder, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH), result);
}

int ambit_is_regular(int folder, const char *name) {
  struct statx found;
  int flags = AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
  return statx(folder, name, flags, STATX_TYPE, &found) == 0 && S_ISREG(found.stx_mode);
}

int ambit_is_locked(int file, off_t start, off_t length) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  return fcntl(file, F_OFD_GETLK, &lock) == -1 ? -errno : lock.l_type != F_UNLCK;
}

ssize_t ambit_descriptor_path(int descriptor, char *path, size_t size) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  return readlink(link, path, size);
}

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000
#endif
int ambit_stat_mount(int folder, const char *name, struct ambit_place *result) {
  struct statx found;
  int flags = AT_STATX_DONT_SYNC | (*name ? 0 : AT_EMPTY_PATH);
  if (statx(folder, name, flags, STATX_TYPE | STATX_INO | STATX_MNT_ID, &found) == -1) return -errno;
  if (!(found.stx_mask & STATX_MNT_ID)) return -ENOSYS;
  result->mount = found.stx_mnt_id;
  result->inode = found.stx_ino;
  result->device = ((uint64_t)found.stx_dev_major << 32) | found.stx_dev_minor;
  result->is_folder = S_ISDIR(found.stx_mode);
  result->is_socket = S_ISSOCK(found.stx_mode);
  return 0;
}

int ambit_unnamed_file_of(int table, const char *name, struct ambit_open_file *result) {
  static const char kind[] = "socket:[", gone[] = " (deleted)";
  const size_t mark = sizeof gone - 1;
  char text[4096];
  ssize_t length = readlinkat(table, name, text, sizeof text - 1);
  if (length == -1 && errno != ENAMETOOLONG) return -errno;
  memset(result, 0, sizeof *result);
  if (length >= 0) {
    text[length] = 0;
    if (strncmp(text, kind, sizeof kind - 1) == 0) {
      result->is_socket = 1;
      result->inode = strtoull(text + sizeof kind - 1, NULL, 10);
      return 1;
    }
    if ((size_t)length < mark || memcmp(text + length - mark, gone, mark) != 0) return 0;
  }
  struct statx found;
  const unsigned facts = STATX_TYPE | STATX_INO | STATX_NLINK | STATX_BLOCKS;
  if (statx(table, name, AT_STATX_DONT_SYNC, facts, &found) == -1) return -errno;
  result->device = ((uint64_t)found.stx_dev_major << 32) | found.stx_dev_minor;
  result->inode = found.stx_ino;
  result->blocks = found.stx_blocks;
  result->links = found.stx_nlink;
  return 1;
}

int64_t ambit_mount_of(int folder, const char *name) {
  struct statx found;
  int flags = AT_STATX_DONT_SYNC | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
  if (statx(folder, name, flags, STATX_MNT_ID, &found) == -1) return -errno;
  return found.stx_mask & STATX_MNT_ID ? (int64_t)found.stx_mnt_id : -ENOSYS;
}

ssize_t ambit_read_folder(int directory, void *buffer, size_t size) {
  long count = syscall(SYS_getdents64, directory, buffer, size);
  return count == -1 ? -errno : count;
}

int ambit_processors(void) {
  cpu_set_t all;
  return sched_getaffinity(0, sizeof all, &all) == -1 ? 1 : CPU_COUNT(&all);
}

int ambit_wakeup_make(void) { return answer(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void ambit_wakeup_signal(int wakeup) {
  uint64_t one = 1;
  while (write(wakeup, &one, sizeof one) == -1 && errno == EINTR) {
  }
}

void ambit_wakeup_clear(int wakeup) {
  uint64_t all;
  while (read(wakeup, &all, sizeof all) == -1 && errno == EINTR) {
  }
}

int ambit_sync_file_system(int descriptor) { return answer(syncfs(descriptor)); }

int ambit_epoll_make(void) { return answer(epoll_create1(EPOLL_CLOEXEC)); }

int ambit_epoll_add(int epoll, int descriptor, uint64_t tag) {
  struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = tag}};
  return answer(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event));
}

void ambit_epoll_remove(int epoll, int descriptor) { epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL); }

int ambit_epoll_wait(int epoll, uint64_t *tag) {
  struct epoll_event event;
  int count = epoll_wait(epoll, &event, 1, -1);
  if (count == 1) *tag = event.data.u64;
  return answer(count);
}

void ambit_step_back(void) { setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10); }

int ambit_find(const void *text, size_t length, const void *part, size_t part_length) {
  return memmem(text, length, part, part_length) != NULL;
}

int ambit_file_system_space(int descriptor, struct ambit_space *result) {
  struct statfs found;
  if (fstatfs(descriptor, &found) == -1) return -errno;
  result->block = (uint64_t)found.f_bsize;
  result->blocks = found.f_blocks;
  result->free_blocks = found.f_bfree;
  result->available_blocks = found.f_bavail;
  result->files = found.f_files;
  result->free_files = found.f_ffree;
  return 0;
}

int ambit_machine_memory(struct ambit_memory *result) {
  struct sysinfo found;
  if (sysinfo(&found) == -1) return -errno;
  result->total = (uint64_t)found.totalram * found.mem_unit;
  result->shared = (uint64_t)found.sharedram * found.mem_unit;
  result->swap_used = (uint64_t)(found.totalswap - found.freeswap) * found.mem_unit;
  return 0;
}

int ambit_memory_file(const char *name) { return answer(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)); }

char **ambit_environment(void) { return environ; }

int ambit_seal(int file) {
  return answer(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
}

void ambit_set_fs_identity(uint32_t uid, uint32_t gid) {
  setfsgid(gid);
  setfsuid(uid);
}

int ambit_session_keyring(void) {
  /* A serial number is positive, and wider than it need be; its value does not matter. */
  return syscall(SYS_keyctl, 0L /* KEYCTL_GET_KEYRING_ID */, -3L /* KEY_SPEC_SESSION_KEYRING */, 0L) == -1 ? -errno : 0;
}

int ambit_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

void ambit_settle_processors(void) {
  cpu_set_t all, one;
  syscall(SYS_membarrier, 1 /* MEMBARRIER_CMD_GLOBAL */, 0, 0);
  if (sched_getaffinity(0, sizeof all, &all) == -1) return;
  for (int processor = 0; processor < CPU_SETSIZE; processor++) {
    if (!CPU_ISSET(processor, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  sched_setaffinity(0, sizeof all, &all);
}

int ambit_adopt_orphans(void) { return answer(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)); }

int ambit_make_dumpable(void) { return answer(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); }

int ambit_wait(pid_t pid, int32_t *status) {
  int found = 0;
  pid_t result;
  do {
    result = waitpid(pid, &found, WNOHANG);
  } while (result == -1 && errno == EINTR);
  *status = found;
  return answer(result);
}

int ambit_signal_descriptor(const int32_t *signals, size_t count) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < count; i++) sigaddset(&set, signals[i]);
  int result = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (result != 0) return -result;
  return answer(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int ambit_next_signal(int descriptor) {
  struct signalfd_siginfo info;
  ssize_t got = read(descriptor, &info, sizeof info);
  if (got == -1) return errno == EAGAIN ? 0 : -errno;
  return got == sizeof info ? (int)info.ssi_signo : 0;
}

int ambit_pass_capabilities_on(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) == -1) return -errno;
  for (int i = 0; i < 2; i++) data[i].inheritable = data[i].permitted;
  if (syscall(SYS_capset, &header, data) == -1) return -errno;
  for (int capability = 0; capability < 64; capability++) {
    if (!(data[capability / 32].permitted & (1u << (capability % 32)))) continue;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) == -1) return -errno;
  }
  return 0;
}

int ambit_may_mount(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) == -1) return 0;
  return (data[CAP_SYS_ADMIN / 32].effective >> (CAP_SYS_ADMIN % 32)) & 1;
}

int ambit_any_readable(const int32_t *descriptors, size_t count) {
  int set = epoll_create1(EPOLL_CLOEXEC);
  if (set == -1) return -errno;
  for (size_t i = 0; i < count; i++) {
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(set, EPOLL_CTL_ADD, descriptors[i], &event) == -1) {
      int code = errno;
      close(set);
      return -code;
    }
  }
  return set;
}

pid_t ambit_spawn_service(const char *program, char *const *arguments, char *const *environment, int null, int log,
                          int ready) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawn_file_actions_adddup2(&actions, null, 0);
  posix_spawn_file_actions_adddup2(&actions, null, 1);
  posix_spawn_file_actions_adddup2(&actions, log, 2);
  posix_spawn_file_actions_adddup2(&actions, ready, 3);
  posix_spawn_file_actions_addclosefrom_np(&actions, 4);
  posix_spawn_file_actions_addchdir_np(&actions, "/");
  pid_t pid = 0;
  int result = posix_spawn(&pid, program, &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return result == 0 ? pid : -result;
}

int ambit_control_pair(int32_t *launcher, int32_t *init) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1) return -errno;
  *launcher = pair[0];
  *init = pair[1];
  return 0;
}

int ambit_control_send(int control, const struct ambit_message *message) {
  ssize_t sent;
  do {
    sent = send(control, message, sizeof *message, MSG_NOSIGNAL);
  } while (sent == -1 && errno == EINTR);
  return sent == -1 ? -errno : 0;
}

int ambit_control_receive(int control, struct ambit_message *message, int32_t *fds, int32_t *fd_count) {
  struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
  union {
    char bytes[CMSG_SPACE(6 * sizeof(int))];
    struct cmsghdr align;
  } ancillary;
  struct msghdr header = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = ancillary.bytes, .msg_controllen = sizeof ancillary};
  *fd_count = 0;
  ssize_t got;
  do {
    got = recvmsg(control, &header, MSG_CMSG_CLOEXEC);
    /* The other end has gone and left something unread; its own bytes come after that news. */
  } while (got == -1 && (errno == EINTR || errno == ECONNRESET));
  if (got == -1) return -errno;
  for (struct cmsghdr *each = CMSG_FIRSTHDR(&header); each; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    int32_t count = (int32_t)((each->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(fds, CMSG_DATA(each), (size_t)count * sizeof(int));
    *fd_count = count;
  }
  if (got == 0) return 0;
  if (got != sizeof *message || (header.msg_flags & (MSG_CTRUNC | MSG_TRUNC))) {
    for (int32_t i = 0; i < *fd_count; i++) close(fds[i]);
    *fd_count = 0;
    return -EPROTO;
  }
  return 1;
}

const char *ambit_errno_name(int number) { return strerrorname_np(number); }
