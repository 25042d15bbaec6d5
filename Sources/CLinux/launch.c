#define _GNU_SOURCE
#include "launch_internal.h"
#include "clinux.h"
#include "csockets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Not by sendmsg: another author's profile may refuse that, and then the reason why the program cannot be started
   would be lost. */
static int say(int control, struct ambit_message message) {
  ssize_t written;
  do {
    written = write(control, &message, sizeof message);
  } while (written == -1 && errno == EINTR);
  return written == -1 ? -errno : 0;
}

static int hand_over(int control, struct ambit_message message, const int *fds, size_t fd_count) {
  struct iovec part = {.iov_base = &message, .iov_len = sizeof message};
  union {
    char bytes[CMSG_SPACE(6 * sizeof(int))];
    struct cmsghdr align;
  } ancillary;
  memset(&ancillary, 0, sizeof ancillary);
  struct msghdr header = {.msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = ancillary.bytes,
                          .msg_controllen = CMSG_SPACE(fd_count * sizeof(int))};
  struct cmsghdr *first = CMSG_FIRSTHDR(&header);
  first->cmsg_level = SOL_SOCKET;
  first->cmsg_type = SCM_RIGHTS;
  first->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
  memcpy(CMSG_DATA(first), fds, fd_count * sizeof(int));
  ssize_t sent;
  do {
    sent = sendmsg(control, &header, MSG_NOSIGNAL);
  } while (sent == -1 && errno == EINTR);
  return sent == -1 ? -errno : 0;
}

static int receive_message(int control, struct ambit_message *message) {
  ssize_t got;
  do {
    got = recv(control, message, sizeof *message, 0);
  } while (got == -1 && errno == EINTR);
  if (got == -1) return -errno;
  return got == sizeof *message ? 0 : -EPIPE;
}

void ambit_launch_fail(const struct ambit_launch *launch, int stage, int step) {
  struct ambit_message message = {.kind = AMBIT_FAILED, .first = stage, .second = errno, .third = step};
  say(launch->control, message);
  _exit(125);
}

/* ---- identity ---- */

static int write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd == -1) return -1;
  ssize_t written = write(fd, text, strlen(text));
  int saved = errno;
  close(fd);
  errno = saved;
  return written == (ssize_t)strlen(text) ? 0 : -1;
}

/* By number: libc's setgroups, setresgid and setresuid first ask every thread of the process to do the same. This process
   has the launcher's list of threads and none of the threads, and waits for ever for one that was just being started. */
static void become_inside_identity(const struct ambit_launch *launch) {
  if (launch->parent_maps) {
    struct ambit_message message;
    int result = receive_message(launch->control, &message);
    if (result < 0 || message.kind != AMBIT_MAPPED) {
      errno = result < 0 ? -result : EPROTO;
      ambit_launch_fail(launch, AMBIT_STAGE_IDS, 0);
    }
    /* The privileged launcher's groups must not come along. An unprivileged one cannot drop its own. */
    if (syscall(SYS_setgroups, 0, NULL) == -1) ambit_launch_fail(launch, AMBIT_STAGE_IDS, 1);
  } else {
    char line[64];
    /* Without this the kernel refuses the group map of an unprivileged writer. */
    if (write_file("/proc/self/setgroups", "deny") == -1 && errno != ENOENT) ambit_launch_fail(launch, AMBIT_STAGE_IDS, 2);
    snprintf(line, sizeof line, "%u %u 1\n", launch->inside_id, launch->outside_id);
    if (write_file("/proc/self/uid_map", line) == -1) ambit_launch_fail(launch, AMBIT_STAGE_IDS, 3);
    if (write_file("/proc/self/gid_map", line) == -1) ambit_launch_fail(launch, AMBIT_STAGE_IDS, 4);
  }
  /* Keep the namespace's capabilities while changing identity: the root is built after it, so that every file
     in it belongs to the app's own identity. */
  if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP | SECBIT_KEEP_CAPS, 0, 0, 0) == -1)
    ambit_launch_fail(launch, AMBIT_STAGE_IDS, 5);
  uint32_t id = launch->inside_id;
  if (syscall(SYS_setresgid, id, id, id) == -1) ambit_launch_fail(launch, AMBIT_STAGE_IDS, 6);
  if (syscall(SYS_setresuid, id, id, id) == -1) ambit_launch_fail(launch, AMBIT_STAGE_IDS, 7);
}

/* ---- the init's other duties ---- */

/* The init is a copy of the launcher, and /proc/1/{cmdline,environ} would show the launcher's to the app. The kernel
   reads both from the stack region that exec laid out, which argv[0] and the environment's strings lie in. */
static int wipe_launcher_strings(const char *title) {
  char line[4096];
  int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd == -1) return -1;
  ssize_t length = read(fd, line, sizeof line - 1);
  close(fd);
  if (length < 0) return -1;
  line[length] = 0;
  /* Fields are counted from behind the last ')', since the name may hold anything. The state is field 3. */
  char *cursor = strrchr(line, ')');
  if (!cursor) cursor = line + length;
  if (!*cursor) {
    errno = EPROTO;
    return -1;
  }
  unsigned long long values[4] = {0};
  int field = 2;
  for (cursor++; *cursor && field < 52; ) {
    while (*cursor == ' ') cursor++;
    field++;
    if (field >= 48 && field <= 51) values[field - 48] = strtoull(cursor, NULL, 10);
    while (*cursor && *cursor != ' ') cursor++;
  }
  /* arg_start, arg_end, env_start, env_end. Where the kernel does not say, the app's view cannot be known. */
  if (!values[0] || !values[2]) {
    errno = ENODATA;
    return -1;
  }
  for (int i = 0; i < 4; i += 2) {
    if (values[i + 1] > values[i]) memset((void *)(uintptr_t)values[i], 0, values[i + 1] - values[i]);
  }
  if (values[1] > values[0] + strlen(title)) memcpy((void *)(uintptr_t)values[0], title, strlen(title));
  return prctl(PR_SET_NAME, title, 0, 0, 0);
}

/* Empties the bounding set, for this process and its children: no executed program brings a capability back. */
static int empty_bounding_set(void) {
  for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++) {}
  /* The first that the kernel does not know ends it. */
  return errno == EINVAL ? 0 : -1;
}

static int drop_privileges(void) {
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == -1 && errno != EINVAL) return -1;
  /* Locked, so that no identity change inside can ever bring a capability back. */
  if (prctl(PR_SET_SECUREBITS,
            SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NOROOT |
                SECBIT_NOROOT_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
            0, 0, 0) == -1)
    return -1;
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2];
  memset(none, 0, sizeof none);
  if (syscall(SYS_capset, &header, none) == -1) return -1;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int open_terminal(int *slave) {
  int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master == -1) return -1;
  int unlocked = 0;
  if (ioctl(master, TIOCSPTLCK, &unlocked) == -1) return -1;
  *slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  return *slave == -1 ? -1 : master;
}

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* Returns the listener of the filter's notifications; -1 where there is none. */
static int install_filter(const struct ambit_launch *launch, struct sock_fprog *program) {
  if (!launch->listen) {
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program) == -1) ambit_launch_fail(launch, AMBIT_STAGE_FILTER, 0);
    return -1;
  }
  /* A call that has been taken up is not broken off by a signal, where the kernel can do that (5.19): a program whose
     timers tick would otherwise see its calls begin again and again. */
  unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);
  if (listener == -1 && errno == EINVAL)
    listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, program);
  if (listener == -1) ambit_launch_fail(launch, AMBIT_STAGE_FILTER, 1);
  return listener;
}

/* Whether the program is still the file that the user's side has looked at. 1, 0, or -errno. */
static int is_expected(const struct ambit_launch *launch) {
  const struct ambit_expected *expected = &launch->expected;
  if (!expected->is_set) return 1;
  struct statx found;
  if (syscall(SYS_statx, AT_FDCWD, launch->program, AT_STATX_SYNC_AS_STAT, STATX_BASIC_STATS, &found) == -1) return -errno;
  uint64_t device = ((uint64_t)found.stx_dev_major << 32) | found.stx_dev_minor;
  int64_t modified = found.stx_mtime.tv_sec * (int64_t)1000000000 + found.stx_mtime.tv_nsec;
  return device == expected->device && found.stx_ino == expected->inode && found.stx_size == expected->size &&
         modified == expected->modified;
}

static void run_app(const struct ambit_launch *launch, int slave) __attribute__((noreturn));

static void run_app(const struct ambit_launch *launch, int slave) {
  /* A process group of its own, in the init's session: with its parent in the same session the group is not
     orphaned, so Ctrl-Z stops it as it would under a shell. */
  if (setpgid(0, 0) == -1) ambit_launch_fail(launch, AMBIT_STAGE_STDIO, 0);
  if (slave != -1) {
    pid_t group = getpid();
    /* From a background group this raises SIGTTOU, which is still blocked here. */
    if (ioctl(slave, TIOCSPGRP, &group) == -1) ambit_launch_fail(launch, AMBIT_STAGE_STDIO, 1);
  }
  /* Above all descriptors that the next lines write to, so that none of the sources is overwritten. */
  int sources[3];
  for (int i = 0; i < 3; i++) {
    sources[i] = fcntl(launch->stdio[i] == -1 ? slave : launch->stdio[i], F_DUPFD_CLOEXEC, 10);
    if (sources[i] == -1) ambit_launch_fail(launch, AMBIT_STAGE_STDIO, 2);
  }
  for (int i = 0; i < 3; i++) {
    if (dup2(sources[i], i) == -1) ambit_launch_fail(launch, AMBIT_STAGE_STDIO, 3);
  }
  /* The control socket is close-on-exec and above 2; everything else that the launcher had open goes now. */
  unsigned control = (unsigned)launch->control;
  if (control > 3 && syscall(SYS_close_range, 3, control - 1, 0) == -1) ambit_launch_fail(launch, AMBIT_STAGE_STDIO, 4);
  if (syscall(SYS_close_range, control + 1, ~0U, 0) == -1) ambit_launch_fail(launch, AMBIT_STAGE_STDIO, 5);

  for (size_t i = 0; i < launch->limit_count; i++) {
    struct rlimit limit = {.rlim_cur = launch->limits[i].soft, .rlim_max = launch->limits[i].hard};
    if (setrlimit(launch->limits[i].resource, &limit) == -1) ambit_launch_fail(launch, AMBIT_STAGE_LIMITS, (int)i);
  }
  if (chdir(launch->directory) == -1) ambit_launch_fail(launch, AMBIT_STAGE_DIRECTORY, 0);

  /* Dispositions are as the user's shell left them (nohup works inside too); the mask is not: the init blocks all. */
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);

  /* Before the filters, one of which may be another's and refuse the call. A missing program is execve's to tell. */
  if (is_expected(launch) == 0) {
    errno = ESTALE;
    ambit_launch_fail(launch, AMBIT_STAGE_EXEC, 1);
  }

  /* no_new_privs stands before the filter: without capabilities the kernel demands it. The filter comes last,
     because it denies several of the calls above. */
  if (drop_privileges() == -1) ambit_launch_fail(launch, AMBIT_STAGE_PRIVILEGES, 0);
  ambit_restrict_by_landlock(launch);
  int listener = -1;
  if (launch->filter_count > 0) {
    struct sock_fprog program = {.len = (unsigned short)launch->filter_count,
                                 .filter = (struct sock_filter *)launch->filter};
    listener = install_filter(launch, &program);
  }
  /* Sending is no notified call. From here until the launcher listens, any that is made waits. Without a holder of the listener
     they would fail for ever, so a message that does not arrive is the end. */
  struct ambit_message started = {.kind = AMBIT_STARTED, .first = getpid()};
  if ((listener == -1 ? say(launch->control, started) : hand_over(launch->control, started, &listener, 1)) < 0)
    ambit_launch_fail(launch, AMBIT_STAGE_FILTER, 2);
  if (listener != -1) syscall(SYS_close, listener);
  /* All of this while the launcher speaks with the broker. The program itself waits for their word. */
  struct ambit_message go;
  if (receive_message(launch->control, &go) < 0 || go.kind != AMBIT_GO) _exit(125);
  /* Ambit's own filter is known to let seccomp(2) through, and the listener has been sent by now. It is unknown which calls
     others let through, so they come behind: the last one need not allow more than the program that is to run wants. The maker
     of the plan has put one that refuses seccomp(2) there; of two the second is not loaded, and that ends the launch. */
  for (size_t i = 0; i < launch->profile_count; i++) {
    struct sock_fprog program = {.len = (unsigned short)launch->profiles[i].count,
                                 .filter = (struct sock_filter *)launch->profiles[i].instructions};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == -1)
      ambit_launch_fail(launch, AMBIT_STAGE_FILTER, 3 + (int)i);
  }
  /* Once more, since the broker may have taken its time. Another author's filter may kill for this call. */
  if (launch->profile_count == 0 && is_expected(launch) == 0) {
    errno = ESTALE;
    ambit_launch_fail(launch, AMBIT_STAGE_EXEC, 1);
  }
  execve(launch->program, launch->arguments, launch->environment);
  ambit_launch_fail(launch, AMBIT_STAGE_EXEC, 0);
}

/* Reaps until the app itself has ended; passes signals on; tells the launcher of stops. */
static void reap(const struct ambit_launch *launch, pid_t app, int signals) __attribute__((noreturn));

static void reap(const struct ambit_launch *launch, pid_t app, int signals) {
  struct pollfd polled[2] = {{.fd = signals, .events = POLLIN}, {.fd = launch->control, .events = POLLIN}};
  for (;;) {
    if (poll(polled, 2, -1) == -1 && errno != EINTR) _exit(125);
    if (polled[0].revents) {
      struct signalfd_siginfo info;
      while (read(signals, &info, sizeof info) == sizeof info) {}
      int status;
      pid_t pid;
      struct ambit_message exited = {.kind = 0};
      while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid != app) continue;
        if (WIFSTOPPED(status)) {
          struct ambit_message stopped = {.kind = AMBIT_STOPPED, .first = WSTOPSIG(status)};
          say(launch->control, stopped);
        } else {
          exited.kind = AMBIT_EXITED;
          exited.first = WIFSIGNALED(status) ? -1 : WEXITSTATUS(status);
          exited.second = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        }
      }
      if (exited.kind == AMBIT_EXITED) {
        /* Every process that the app has left behind is this process's child by now. */
        exited.third = pid == -1 && errno == ECHILD;
        struct rusage used;
        if (getrusage(RUSAGE_CHILDREN, &used) == 0)
          exited.fourth = (int32_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec +
                                    (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000000);
        say(launch->control, exited);
        /* Leaving as pid 1 makes the kernel end everything that is still running in the namespace. */
        _exit(0);
      }
    }
    if (polled[1].revents) {
      struct ambit_message message;
      if (receive_message(launch->control, &message) < 0) _exit(125); /* the launcher is gone */
      if (message.kind == AMBIT_SIGNAL && message.first > 0 && message.first < NSIG)
        kill(message.second ? -app : app, message.first);
    }
  }
}

/* A session key ring of its own, so that neither a program inside nor the kernel on its behalf (file systems ask for keys)
   finds the launcher's. Returns 0 or errno: where the kernel has no key rings, where something forbids the call, or where the
   user's quota of keys is used up, the launcher decides the meaning for the launch. */
static int join_session_keyring(void) {
  return syscall(SYS_keyctl, 1L /* KEYCTL_JOIN_SESSION_KEYRING */, NULL) == -1 ? errno : 0;
}

/* Closes all other descriptors. Of the kept ones those that are -1 are none. */
static void keep_only(int *kept, size_t count) {
  for (size_t i = 1; i < count; i++) {
    for (size_t j = i; j > 0 && kept[j - 1] > kept[j]; j--) {
      int higher = kept[j - 1];
      kept[j - 1] = kept[j];
      kept[j] = higher;
    }
  }
  unsigned next = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept[i] < 0) continue;
    unsigned here = (unsigned)kept[i];
    if (here > next) syscall(SYS_close_range, next, here - 1, 0);
    next = here + 1;
  }
  syscall(SYS_close_range, next, ~0U, 0);
}

static void init_main(const struct ambit_launch *launch) __attribute__((noreturn));

static void init_main(const struct ambit_launch *launch) {
  struct handover handover = {-1, -1, -1, -1, -1, -1, -1, -1};

  /* Ignored signals stay so in a child, and the end of an ignored child is not reported. */
  signal(SIGCHLD, SIG_DFL);
  /* First of all: with a copy of the launcher's end here, the end of the conversation would never be seen, and a
     launcher that is killed before its death counts (PR_SET_PDEATHSIG, below) would leave this process for ever. */
  close(launch->launcher_end);
  become_inside_identity(launch);
  /* After that, so that it is the app's. */
  int keyring = join_session_keyring();
  ambit_build_root(launch, &handover);
  if (launch->hostname && sethostname(launch->hostname, strlen(launch->hostname)) == -1)
    ambit_launch_fail(launch, AMBIT_STAGE_HOSTNAME, 0);

  if (setsid() == -1) ambit_launch_fail(launch, AMBIT_STAGE_TERMINAL, 0);
  int slave = -1;
  if (launch->stdio[0] == -1 || launch->stdio[1] == -1 || launch->stdio[2] == -1) {
    handover.terminal = open_terminal(&slave);
    if (handover.terminal == -1) ambit_launch_fail(launch, AMBIT_STAGE_TERMINAL, 1);
    if (ioctl(slave, TIOCSCTTY, 0) == -1) ambit_launch_fail(launch, AMBIT_STAGE_TERMINAL, 2);
  }

  handover.mount_namespace = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (handover.mount_namespace == -1) ambit_launch_fail(launch, AMBIT_STAGE_HANDOVER, 0);
  /* Its processes and no other's, for the launcher that watches their use of resources. */
  handover.processes = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handover.processes == -1) ambit_launch_fail(launch, AMBIT_STAGE_HANDOVER, 5);
  /* Where the kernel cannot tell, the launcher does without. */
  handover.sockets = ambit_socket_diagnosis();
  if (wipe_launcher_strings(launch->title) == -1) ambit_launch_fail(launch, AMBIT_STAGE_HANDOVER, 4);
  /* Not dumpable: the app, although of the same identity, may not look into the init through /proc. This comes after
     the last use of /proc/self by the init itself. */
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1) ambit_launch_fail(launch, AMBIT_STAGE_HANDOVER, 1);

  int fds[6] = {handover.mount_namespace, handover.documents, handover.listener, handover.processes};
  size_t count = 4;
  if (handover.sockets >= 0) fds[count++] = handover.sockets;
  if (handover.terminal != -1) fds[count++] = handover.terminal;
  struct ambit_message ready = {.kind = AMBIT_READY, .first = keyring, .second = handover.sockets >= 0};
  if (hand_over(launch->control, ready, fds, count) < 0) ambit_launch_fail(launch, AMBIT_STAGE_HANDOVER, 2);
  for (size_t i = 0; i < count; i++) {
    if (fds[i] != -1) close(fds[i]);
  }
  /* While the launcher speaks with the broker: the app is not there yet, and no other process has this /proc and
     this network. */
  ambit_cover(launch, &handover);
  if (launch->bring_up_loopback) ambit_bring_up_loopback();

  /* The launcher's death must take the sandbox with it. Only now: identity changes clear this setting. The word that the app
     waits for does not come if the launcher died before it took effect. */
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1) ambit_launch_fail(launch, AMBIT_STAGE_HANDOVER, 3);
  /* Later processes start in the group that this process is in. */
  struct ambit_message entered;
  if (launch->awaits_group && (receive_message(launch->control, &entered) < 0 || entered.kind != AMBIT_ENTERED)) _exit(125);
  if (launch->cgroup_namespace_last && syscall(SYS_unshare, CLONE_NEWCGROUP) == -1)
    ambit_launch_fail(launch, AMBIT_STAGE_HANDOVER, 6);

  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals == -1) ambit_launch_fail(launch, AMBIT_STAGE_FORK, 0);

  /* Here, once, for both of them. */
  if (empty_bounding_set() == -1) ambit_launch_fail(launch, AMBIT_STAGE_PRIVILEGES, 2);

  /* Not libc's fork: it would run the launcher's at-fork handlers in a process whose thread data it copied. This process
     goes on when the program has been started, or could not be: until then the control socket is the child's alone. */
  pid_t app = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_VFORK, 0, 0, 0, 0);
  if (app == -1) ambit_launch_fail(launch, AMBIT_STAGE_FORK, 1);
  if (app == 0) run_app(launch, slave);

  /* The init keeps its control socket and its signals, and nothing of the app's pipes, so that they end when the app's own copies
     do. It keeps the terminal: at the last close the kernel would take it from the session for good, and a program that has
     closed its streams could not open /dev/tty any more. The init never reads or writes it, and it blocks all signals. */
  int kept[] = {launch->control, signals, slave};
  keep_only(kept, sizeof kept / sizeof *kept);
  /* It would go on with the namespace's capabilities beside an app that can reach it; ending takes the app along. */
  if (drop_privileges() == -1) ambit_launch_fail(launch, AMBIT_STAGE_PRIVILEGES, 1);
  reap(launch, app, signals);
}

pid_t ambit_launch_start(const struct ambit_launch *launch, int32_t *pidfd) {
  int fd = -1;
  struct clone_args arguments = {
      .flags = (launch->namespaces & ~(launch->cgroup_namespace_last ? (uint64_t)CLONE_NEWCGROUP : 0)) | CLONE_PIDFD |
               CLONE_CLEAR_SIGHAND | (launch->group != -1 ? CLONE_INTO_CGROUP : 0),
      .pidfd = (uint64_t)(uintptr_t)&fd,
      .exit_signal = SIGCHLD,
      .cgroup = launch->group != -1 ? (uint64_t)launch->group : 0,
  };
  long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == -1) return -errno;
  if (pid == 0) init_main(launch);
  *pidfd = fd;
  return (pid_t)pid;
}
