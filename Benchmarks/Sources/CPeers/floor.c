#define _GNU_SOURCE
#include "cfloor.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* About what a start and its answer are. */
enum { message_size = 200 };

static int mount_document(const char *document, const char *mountpoint) {
  int tree = (int)syscall(SYS_open_tree, AT_FDCWD, document, 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC);
  if (tree == -1) return -errno;
  int result = (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, mountpoint, 4 /* MOVE_MOUNT_F_EMPTY_PATH */);
  int error = errno;
  close(tree);
  return result == -1 ? -error : 0;
}

static void serve(int connection, const char *document, const char *mountpoint) {
  char message[message_size];
  if (unshare(CLONE_NEWNS) == -1 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1) _exit(1);
  for (int is_mounted = 0;; is_mounted = !is_mounted) {
    if (read(connection, message, sizeof message) <= 0) _exit(0);
    int result = is_mounted ? umount2(mountpoint, MNT_DETACH) : mount_document(document, mountpoint);
    if (result < 0 || write(connection, message, sizeof message) != sizeof message) _exit(1);
  }
}

int cfloor_start(const char *document, const char *mountpoint, int *process) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1) return -errno;
  pid_t child = fork();
  if (child == -1) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    return -error;
  }
  if (child == 0) {
    close(ends[0]);
    serve(ends[1], document, mountpoint);
  }
  close(ends[1]);
  *process = child;
  return ends[0];
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Takes the lease again as soon as nobody has the file open, and says so each time. */
static void hold(const char *path, int ready) {
  sigset_t breaks;
  sigemptyset(&breaks);
  sigaddset(&breaks, SIGRTMIN + 1);
  sigprocmask(SIG_BLOCK, &breaks, NULL);
  int signals = signalfd(-1, &breaks, SFD_CLOEXEC);
  for (;;) {
    int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file == -1 || fcntl(file, F_SETSIG, SIGRTMIN + 1) == -1 || fcntl(file, F_SETLEASE, F_WRLCK) == -1) {
      if (file != -1) close(file);
      usleep(100);
      continue;
    }
    struct signalfd_siginfo told;
    if (write(ready, "", 1) != 1 || read(signals, &told, sizeof told) != sizeof told) _exit(1);
    if (fcntl(file, F_SETLEASE, F_UNLCK) == -1) _exit(1);
    close(file);
  }
}

int cfloor_lease(const char *path, double *microseconds, int turns) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) == -1) return -errno;
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    hold(path, ends[1]);
  }
  close(ends[1]);
  int result = child == -1 ? -errno : 0;
  for (int turn = 0; turn < turns && result == 0; turn++) {
    char byte;
    if (read(ends[0], &byte, 1) != 1) result = -EPIPE;
    usleep(2000);
    double start = now();
    int file = open(path, O_RDONLY | O_CLOEXEC);
    microseconds[turn] = now() - start;
    if (file == -1) result = -errno;
    else close(file);
  }
  close(ends[0]);
  if (child > 0) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
  return result;
}

int cfloor_turn(int connection) {
  char message[message_size] = {0};
  for (int half = 0; half < 2; half++) {
    if (send(connection, message, sizeof message, MSG_NOSIGNAL) != sizeof message) return -errno;
    ssize_t count = recv(connection, message, sizeof message, MSG_WAITALL);
    if (count != sizeof message) return count == -1 ? -errno : -EPIPE;
  }
  return 0;
}
