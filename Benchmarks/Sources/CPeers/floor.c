#define _GNU_SOURCE
#include "cfloor.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

int cfloor_turn(int connection) {
  char message[message_size] = {0};
  for (int half = 0; half < 2; half++) {
    if (send(connection, message, sizeof message, MSG_NOSIGNAL) != sizeof message) return -errno;
    ssize_t count = recv(connection, message, sizeof message, MSG_WAITALL);
    if (count != sizeof message) return count == -1 ? -errno : -EPIPE;
  }
  return 0;
}
