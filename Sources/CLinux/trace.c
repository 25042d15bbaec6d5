#define _GNU_SOURCE
#include "ctrace.h"

#include "cobserve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* <linux/ptrace.h> and <sys/ptrace.h> cannot be had together. */
#define GET_SYSCALL_INFO 0x420e
#define CLONE_FILE 0x40049409
#define CLONE_RANGE 0x4020940d
#define SHARED_MAPPING 0x3 /* MAP_SHARED and MAP_SHARED_VALIDATE have the first bit, MAP_PRIVATE has the second */

struct call_info {
  uint8_t op, pad[3];
  uint32_t arch;
  uint64_t instruction, stack;
  union {
    struct {
      uint64_t number, arguments[6];
    } entry;
    struct {
      int64_t value;
      uint8_t is_error;
    } exit;
  };
};

static int answer(long result) { return result == -1 ? -errno : (int)result; }

#ifdef __x86_64__
int ambit_trace_is_possible(void) { return 1; }
#else
int ambit_trace_is_possible(void) { return 0; }
#endif

ssize_t ambit_read_text(pid_t thread, uint64_t address, char *text, size_t room) {
  size_t done = 0;
  while (done < room) {
    /* Up to the page's end: the next one may not be there. */
    size_t part = 4096 - (address + done) % 4096;
    if (part > room - done) part = room - done;
    ssize_t got = ambit_read_memory(thread, address + done, text + done, part);
    if (got <= 0) return got == 0 ? -EFAULT : got;
    char *end = memchr(text + done, 0, (size_t)got);
    if (end) return end - text;
    done += (size_t)got;
  }
  return -ENAMETOOLONG;
}

#ifdef __x86_64__
static void describe(pid_t thread, uint64_t number, const uint64_t *a, struct ambit_traced_call *call) {
#define FOLDER(n) ((int32_t)a[n])
  switch (number) {
  case SYS_open:
    call->kind = AMBIT_TRACED_OPEN;
    call->first_path = a[0];
    call->flags = (uint32_t)a[1];
    return;
  case SYS_creat:
    call->kind = AMBIT_TRACED_OPEN;
    call->first_path = a[0];
    call->flags = O_CREAT | O_WRONLY | O_TRUNC;
    return;
  case SYS_openat:
    call->kind = AMBIT_TRACED_OPEN;
    call->first_folder = FOLDER(0);
    call->first_path = a[1];
    call->flags = (uint32_t)a[2];
    return;
  case 437 /* openat2 */:
    call->kind = AMBIT_TRACED_OPEN;
    call->first_folder = FOLDER(0);
    call->first_path = a[1];
    /* The flags are the first field of its structure. */
    if (ambit_read_memory(thread, a[2], &call->flags, sizeof call->flags) != sizeof call->flags) call->kind = AMBIT_TRACED_NONE;
    return;
  case SYS_open_by_handle_at:
    call->kind = AMBIT_TRACED_OPEN;
    call->flags = (uint32_t)a[2];
    return;
  case SYS_write:
  case SYS_pwrite64:
    call->kind = AMBIT_TRACED_WRITE;
    call->file = FOLDER(0);
    call->buffer = a[1];
    call->count = a[2];
    call->offset = number == SYS_write ? -1 : (int64_t)a[3];
    return;
  case SYS_writev:
  case SYS_pwritev:
  case 328 /* pwritev2 */:
    call->kind = AMBIT_TRACED_WRITE_VECTOR;
    call->file = FOLDER(0);
    call->buffer = a[1];
    call->count = a[2];
    call->offset = number == SYS_writev ? -1 : (int64_t)a[3];
    call->flags = number == 328 ? a[5] : 0;
    return;
  case SYS_truncate:
    call->kind = AMBIT_TRACED_RESIZE;
    call->first_path = a[0];
    call->offset = (int64_t)a[1];
    return;
  case SYS_ftruncate:
    call->kind = AMBIT_TRACED_RESIZE;
    call->file = FOLDER(0);
    call->offset = (int64_t)a[1];
    return;
  case SYS_rename:
  case SYS_link:
    call->kind = number == SYS_rename ? AMBIT_TRACED_RENAME : AMBIT_TRACED_LINK;
    call->first_path = a[0];
    call->second_path = a[1];
    return;
  case SYS_renameat:
  case SYS_renameat2:
  case SYS_linkat:
    call->kind = number == SYS_linkat ? AMBIT_TRACED_LINK : AMBIT_TRACED_RENAME;
    call->first_folder = FOLDER(0);
    call->first_path = a[1];
    call->second_folder = FOLDER(2);
    call->second_path = a[3];
    call->flags = number == SYS_renameat ? 0 : (uint32_t)a[4];
    return;
  case SYS_symlink:
    call->kind = AMBIT_TRACED_SYMLINK;
    call->first_path = a[0];
    call->second_path = a[1];
    return;
  case SYS_symlinkat:
    call->kind = AMBIT_TRACED_SYMLINK;
    call->first_path = a[0];
    call->second_folder = FOLDER(1);
    call->second_path = a[2];
    return;
  case SYS_unlink:
  case SYS_rmdir:
    call->kind = AMBIT_TRACED_UNLINK;
    call->first_path = a[0];
    call->flags = number == SYS_rmdir ? AT_REMOVEDIR : 0;
    return;
  case SYS_unlinkat:
    call->kind = AMBIT_TRACED_UNLINK;
    call->first_folder = FOLDER(0);
    call->first_path = a[1];
    call->flags = (uint32_t)a[2];
    return;
  case SYS_mkdir:
    call->kind = AMBIT_TRACED_MAKE_FOLDER;
    call->first_path = a[0];
    return;
  case SYS_mkdirat:
    call->kind = AMBIT_TRACED_MAKE_FOLDER;
    call->first_folder = FOLDER(0);
    call->first_path = a[1];
    return;
  case SYS_mknod:
    call->kind = AMBIT_TRACED_MAKE_NODE;
    call->first_path = a[0];
    call->flags = (uint32_t)a[1];
    return;
  case SYS_mknodat:
    call->kind = AMBIT_TRACED_MAKE_NODE;
    call->first_folder = FOLDER(0);
    call->first_path = a[1];
    call->flags = (uint32_t)a[2];
    return;
  case SYS_fallocate:
    call->kind = AMBIT_TRACED_ALLOCATE;
    call->file = FOLDER(0);
    call->flags = (uint32_t)a[1];
    call->offset = (int64_t)a[2];
    call->count = a[3];
    return;
  case SYS_copy_file_range:
  case SYS_splice:
    call->kind = AMBIT_TRACED_COPY;
    call->second_file = FOLDER(0);
    call->second_path = a[1];
    call->file = FOLDER(2);
    call->first_path = a[3];
    call->count = a[4];
    return;
  case SYS_sendfile:
    call->kind = AMBIT_TRACED_COPY;
    call->file = FOLDER(0);
    call->second_file = FOLDER(1);
    call->second_path = a[2];
    call->count = a[3];
    return;
  case SYS_ioctl:
    if ((uint32_t)a[1] != CLONE_FILE && (uint32_t)a[1] != CLONE_RANGE) return;
    call->kind = AMBIT_TRACED_CLONE;
    call->file = FOLDER(0);
    return;
  case SYS_fsync:
  case SYS_fdatasync:
    call->kind = AMBIT_TRACED_SYNC;
    call->file = FOLDER(0);
    return;
  case SYS_sync:
    call->kind = AMBIT_TRACED_SYNC_ALL;
    return;
  case SYS_syncfs:
    call->kind = AMBIT_TRACED_SYNC_ALL;
    call->file = FOLDER(0);
    return;
  case SYS_mmap:
    if ((a[3] & SHARED_MAPPING) == MAP_PRIVATE || (a[3] & MAP_ANONYMOUS)) return;
    call->kind = AMBIT_TRACED_MAP;
    call->file = FOLDER(4);
    call->flags = (a[2] & PROT_WRITE) != 0;
    return;
  case SYS_msync:
    if (!(a[2] & MS_SYNC)) return;
    call->kind = AMBIT_TRACED_SYNC_MAP;
    return;
  case 425 /* io_uring_setup */:
  case SYS_io_submit: call->kind = AMBIT_TRACED_RING; return;
  default: return;
  }
#undef FOLDER
}
#else
static void describe(pid_t thread, uint64_t number, const uint64_t *a, struct ambit_traced_call *call) {
  (void)thread, (void)number, (void)a, (void)call;
}
#endif

/* Descriptors below this are left to the program. */
#define MARK_NUMBER 100

int ambit_mark_file(void) {
  int file = memfd_create("crashcheck", MFD_CLOEXEC);
  if (file == -1) return -errno;
  int high = fcntl(file, F_DUPFD_CLOEXEC, MARK_NUMBER);
  int code = errno;
  close(file);
  return high == -1 ? -code : high;
}

pid_t ambit_trace_start(char *const *arguments, char *const *environment, int kept, int ends_with_tracer, int quiet,
                        int *failure) {
  int go[2], result[2];
  if (pipe2(go, O_CLOEXEC) == -1) return -errno;
  if (pipe2(result, O_CLOEXEC | O_NONBLOCK) == -1) {
    int code = errno;
    close(go[0]), close(go[1]);
    return -code;
  }
  pid_t child = fork();
  if (child == 0) {
    char byte;
    close(go[1]);
    /* A tracer that dies before it says so leaves nothing behind. */
    ssize_t got;
    do { got = read(go[0], &byte, 1); } while (got == -1 && errno == EINTR);
    if (got != 1) _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int signals[] = {SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
    if (kept >= 0) fcntl(kept, F_SETFD, 0);
    if (quiet) {
      int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
      for (int stream = 0; nothing >= 0 && stream < 3; stream++) dup2(nothing, stream);
    }
    execvpe(arguments[0], arguments, environment);
    int code = errno;
    ssize_t written = write(result[1], &code, sizeof code);
    (void)written;
    _exit(127);
  }
  int code = errno;
  close(go[0]), close(result[1]);
  if (child == -1) {
    close(go[1]), close(result[0]);
    return -code;
  }
  long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
  if (ends_with_tracer) options |= PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SEIZE, child, NULL, (void *)options) == -1 || ptrace(PTRACE_INTERRUPT, child, NULL, NULL) == -1) {
    code = errno;
    close(go[1]), close(result[0]);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return -code;
  }
  char byte = 1;
  ssize_t written = write(go[1], &byte, 1);
  (void)written;
  close(go[1]);
  *failure = result[0];
  return child;
}

int ambit_trace_wait(struct ambit_trace_stop *stop) {
  memset(stop, 0, sizeof *stop);
  int status;
  /* Of this thread alone: others wait for children of their own. */
  do { stop->thread = waitpid(-1, &status, __WALL | __WNOTHREAD); } while (stop->thread == -1 && errno == EINTR);
  if (stop->thread == -1) {
    if (errno != ECHILD) return -errno;
    stop->kind = AMBIT_TRACE_NONE;
    return 0;
  }
  stop->value = status;
  if (!WIFSTOPPED(status)) {
    stop->kind = AMBIT_TRACE_END;
    return 0;
  }
  int number = WSTOPSIG(status), event = status >> 16;
  if (number == (SIGTRAP | 0x80)) {
    struct call_info info;
    memset(&info, 0, sizeof info);
    stop->kind = AMBIT_TRACE_OTHER;
    if (ptrace(GET_SYSCALL_INFO, stop->thread, (void *)sizeof info, &info) == -1) return errno == ESRCH ? 0 : -errno;
    if (info.op == 1) {
      stop->kind = AMBIT_TRACE_ENTRY;
      stop->call.file = stop->call.second_file = -1;
      stop->call.first_folder = stop->call.second_folder = AT_FDCWD;
#ifdef __x86_64__
      if (info.arch == AUDIT_ARCH_X86_64) describe(stop->thread, info.entry.number, info.entry.arguments, &stop->call);
      /* Of another architecture no call is understood. */
      else stop->call.kind = AMBIT_TRACED_RING;
#endif
    } else if (info.op == 2) {
      stop->kind = AMBIT_TRACE_EXIT;
      stop->value = info.exit.value;
    }
    return 0;
  }
  switch (event) {
  case PTRACE_EVENT_CLONE:
  case PTRACE_EVENT_FORK:
  case PTRACE_EVENT_VFORK: {
    unsigned long child = 0;
    ptrace(PTRACE_GETEVENTMSG, stop->thread, NULL, &child);
    stop->kind = AMBIT_TRACE_CHILD;
    stop->value = (int64_t)child;
    return 0;
  }
  case PTRACE_EVENT_EXEC: stop->kind = AMBIT_TRACE_PROGRAM; return 0;
  case PTRACE_EVENT_STOP:
    stop->kind = number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU ? AMBIT_TRACE_GROUP : AMBIT_TRACE_OTHER;
    stop->value = number;
    return 0;
  case 0:
    stop->kind = AMBIT_TRACE_SIGNAL;
    stop->value = number;
    return 0;
  default: stop->kind = AMBIT_TRACE_OTHER; return 0;
  }
}

int ambit_trace_resume(pid_t thread, int signal) { return answer(ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(long)signal)); }
int ambit_trace_listen(pid_t thread) { return answer(ptrace(PTRACE_LISTEN, thread, NULL, NULL)); }
int ambit_trace_interrupt(pid_t thread) { return answer(ptrace(PTRACE_INTERRUPT, thread, NULL, NULL)); }
int ambit_trace_release(pid_t thread, int signal) { return answer(ptrace(PTRACE_DETACH, thread, NULL, (void *)(long)signal)); }

static void carry(const struct stat *found, struct ambit_stat *result) {
  memset(result, 0, sizeof *result);
  result->inode = found->st_ino;
  result->size = (uint64_t)found->st_size;
  /* As ambit_stat_descriptor has it. */
  result->device = (uint64_t)major(found->st_dev) << 32 | minor(found->st_dev);
  result->links = found->st_nlink;
  result->mode = found->st_mode;
  result->uid = found->st_uid;
  result->gid = found->st_gid;
}

int ambit_traced_status(pid_t thread, int file, struct ambit_stat *result) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", thread, file);
  struct stat found;
  if (stat(path, &found) == -1) return -errno;
  carry(&found, result);
  return 0;
}

int ambit_is_procfs(int file) {
  struct statfs found;
  return fstatfs(file, &found) == 0 && found.f_type == 0x9fa0;
}

int ambit_run_captured(char *const *arguments, char *const *environment, const char *folder, int output, int errors, int patience,
                       int64_t most) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addchdir_np(&actions, folder);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  int signals[] = {SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaddset(&defaults, signals[i]);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child;
  int code = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0) return -code;
  int process = ambit_pidfd_open(child), result = 0;
  for (int waited = 0; result == 0; waited += 50) {
    struct pollfd entry = {.fd = process, .events = POLLIN};
    if (process < 0 || poll(&entry, 1, 50) != 0) break;
    struct stat found;
    if (waited >= patience) result = -ETIMEDOUT;
    else if (fstat(output, &found) == 0 && found.st_size > most) result = -EFBIG;
  }
  if (process >= 0) close(process);
  if (result != 0) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) == -1 && errno == EINTR) {}
  return result != 0 ? result : status;
}
