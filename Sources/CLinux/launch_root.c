#define _GNU_SOURCE
#include "launch_internal.h"
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int new_filesystem(const char *type, const char *const *options, uint64_t attributes) {
  int context = syscall(SYS_fsopen, type, 1 /* FSOPEN_CLOEXEC */);
  if (context == -1) return -1;
  for (; options && options[0]; options += 2) {
    if (syscall(SYS_fsconfig, context, 1 /* FSCONFIG_SET_STRING */, options[0], options[1], 0) == -1) goto failed;
  }
  if (syscall(SYS_fsconfig, context, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0) == -1) goto failed;
  int mount = syscall(SYS_fsmount, context, 1 /* FSMOUNT_CLOEXEC */, (unsigned)attributes);
  if (mount == -1) goto failed;
  close(context);
  return mount;
failed : {
  int saved = errno;
  close(context);
  errno = saved;
  return -1;
}
}

/* Never follows a symlink, never leaves the root: with any content of a mounted tree, a step lands where it was meant to. */
static int open_below(int root, const char *path) {
  return ambit_openat2_raw(root, path, O_PATH | O_CLOEXEC | O_NOFOLLOW, 0,
                           0x04 /* NO_SYMLINKS */ | 0x02 /* NO_MAGICLINKS */ | 0x10 /* IN_ROOT */);
}

/* Closes without touching errno. */
static int finish(int descriptor, int result) {
  int saved = errno;
  close(descriptor);
  errno = saved;
  return result;
}

/* The new root, and the folder in it that the last entry went to: entries come folder by folder. */
struct place {
  int root, folder;
  /* The folder's path in the root; without one there is no folder. */
  char path[PATH_MAX];
};

static void forget_folder(struct place *place) {
  if (place->folder != -1) close(place->folder);
  place->folder = -1;
  place->path[0] = 0;
}

/* The folder that a step's entry is to lie in, not for the caller to close, and the entry's name. The calls that make an
   entry never follow the last component; those before it are followed, by everything but openat2. */
static int open_parent(struct place *place, const char *path, const char **name) {
  const char *slash = strrchr(path, '/');
  *name = slash ? slash + 1 : path;
  if (!slash) return place->root;
  size_t length = (size_t)(slash - path);
  if (length >= sizeof place->path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  if (place->folder != -1 && strlen(place->path) == length && memcmp(place->path, path, length) == 0) return place->folder;
  forget_folder(place);
  memcpy(place->path, path, length);
  place->path[length] = 0;
  place->folder = open_below(place->root, place->path);
  return place->folder;
}

/* Mounts a tree on an existing entry; only on one that is found by its name in this very folder, and is no link. */
static int attach_tree(struct place *place, int tree, const char *path) {
  const char *name;
  int parent = open_parent(place, path, &name);
  if (parent == -1) return -1;
  if (syscall(SYS_move_mount, tree, "", parent, name, 0x04 /* F_EMPTY_PATH */) == -1) return -1;
  /* Files of the place that are open by now lie below the mount. */
  size_t length = strlen(path);
  if (strncmp(place->path, path, length) == 0 && (place->path[length] == 0 || place->path[length] == '/'))
    forget_folder(place);
  return 0;
}

static int make_directory(struct place *place, const char *path, uint32_t mode) {
  const char *name;
  int parent = open_parent(place, path, &name);
  return parent == -1 ? -1 : mkdirat(parent, name, mode);
}

/* A new file, opened for writing. */
static int make_file(struct place *place, const char *path, uint32_t mode) {
  const char *name;
  int parent = open_parent(place, path, &name);
  return parent == -1 ? -1 : openat(parent, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mode);
}

static int make_symlink(struct place *place, const char *path, const char *text) {
  const char *name;
  int parent = open_parent(place, path, &name);
  return parent == -1 ? -1 : symlinkat(text, parent, name);
}

static int make_mount_point(struct place *place, const char *path, int directory) {
  const char *name;
  int parent = open_parent(place, path, &name);
  if (parent == -1) return -1;
  int result = directory ? mkdirat(parent, name, 0755) : mknodat(parent, name, S_IFREG | 0444, 0);
  return result == -1 && errno != EEXIST ? -1 : 0;
}

static int attach_new(struct place *place, const struct ambit_step *step, const char *type, const char *const *options,
                      uint64_t attributes) {
  int mount = new_filesystem(type, options, attributes);
  if (mount == -1) return -1;
  return finish(mount, make_mount_point(place, step->path, 1) == -1 ? -1 : attach_tree(place, mount, step->path));
}

static int open_listener(struct place *place, const struct ambit_step *step) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *name;
  int parent = open_parent(place, step->path, &name);
  if (parent == -1) return -1;
  /* Through a descriptor: the path that the app will use does not exist yet on this side of the pivot. */
  int length = snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", parent, name);
  if (length < 0 || (size_t)length >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener == -1) return -1;
  if (bind(listener, (struct sockaddr *)&address, sizeof address) == -1 || listen(listener, 64) == -1)
    return finish(listener, -1);
  return listener;
}

static int documents_mount(struct place *place, const struct ambit_step *step) {
  const char *options[] = {"mode", "0755", "size", step->size, "nr_inodes", step->inodes, NULL};
  /* MOUNT_ATTR_NOSUID | NODEV | NOEXEC */
  if (attach_new(place, step, "tmpfs", options, 0x02 | 0x04 | 0x08) == -1) return -1;
  int shown = open_below(place->root, step->path);
  if (shown == -1) return -1;
  int writable = syscall(SYS_open_tree, shown, "", 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC | AT_EMPTY_PATH);
  if (writable == -1) return finish(shown, -1);
  /* The app's own mount of it becomes read-only: it can neither make placeholders nor change their modes. */
  uint64_t attributes[4] = {0x01 /* RDONLY */, 0, 0, 0};
  if (syscall(SYS_mount_setattr, shown, "", AT_EMPTY_PATH, attributes, sizeof attributes) == -1)
    writable = finish(writable, -1);
  return finish(shown, writable);
}

/* A fresh /proc. Below it, where no path leads any more, lie a file and a folder without permissions, for ambit_cover. */
static int proc_mount(struct place *place, const struct ambit_step *step, struct handover *handover) {
  if (make_mount_point(place, step->path, 1) == -1) return -1;
  int point = open_below(place->root, step->path);
  if (point == -1) return -1;
  int made = mknodat(point, "file", S_IFREG, 0) == -1 || mkdirat(point, "directory", 0) == -1 ? -1 : 0;
  if (made == 0) {
    handover->empty_file = openat(point, "file", O_PATH | O_CLOEXEC | O_NOFOLLOW);
    handover->empty_directory = openat(point, "directory", O_PATH | O_CLOEXEC | O_NOFOLLOW);
    if (handover->empty_file == -1 || handover->empty_directory == -1) made = -1;
  }
  if (finish(point, made) == -1) return -1;
  /* MOUNT_ATTR_NOSUID | NODEV | NOEXEC */
  return attach_new(place, step, "proc", NULL, 0x02 | 0x04 | 0x08);
}

static int carry_out(struct place *place, const struct ambit_step *step, struct handover *handover) {
  switch (step->kind) {
  case AMBIT_STEP_DIRECTORY:
    return make_directory(place, step->path, step->mode);
  case AMBIT_STEP_SYMLINK:
    return make_symlink(place, step->path, step->text);
  case AMBIT_STEP_FILE: {
    int fd = make_file(place, step->path, step->mode);
    if (fd == -1) return -1;
    return finish(fd, write(fd, step->text, step->text_length) == (ssize_t)step->text_length ? 0 : -1);
  }
  case AMBIT_STEP_TREE:
    if (make_mount_point(place, step->path, step->directory) == -1) return -1;
    return attach_tree(place, step->tree, step->path);
  case AMBIT_STEP_TMPFS: {
    char mode[16];
    snprintf(mode, sizeof mode, "%o", step->mode);
    const char *options[] = {"mode", mode, "size", step->size, "nr_inodes", step->inodes, NULL};
    return attach_new(place, step, "tmpfs", options, step->attributes);
  }
  case AMBIT_STEP_DOCUMENTS:
    handover->documents = documents_mount(place, step);
    return handover->documents == -1 ? -1 : 0;
  case AMBIT_STEP_PROC:
    return proc_mount(place, step, handover);
  case AMBIT_STEP_MASK:
  case AMBIT_STEP_READ_ONLY:
    return 0; /* ambit_cover */
  case AMBIT_STEP_DEVPTS: {
    const char *options[] = {"ptmxmode", "0666", "mode", "0620", NULL};
    return attach_new(place, step, "devpts", options, 0x02 | 0x08);
  }
  case AMBIT_STEP_SOCKET:
    handover->listener = open_listener(place, step);
    return handover->listener == -1 ? -1 : 0;
  }
  errno = EINVAL;
  return -1;
}

void ambit_build_root(const struct ambit_launch *launch, struct handover *handover) {
  /* Nothing that is mounted from here on may travel back to the host, under any propagation of the host's. */
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1) ambit_launch_fail(launch, AMBIT_STAGE_PRIVATE, 0);

  const char *options[] = {"mode", "0755", "size", "4m", "nr_inodes", "1k", NULL};
  int root = new_filesystem("tmpfs", options, 0x02 | 0x04);
  if (root == -1) ambit_launch_fail(launch, AMBIT_STAGE_ROOT, 0);
  if (syscall(SYS_move_mount, root, "", AT_FDCWD, "/", 0x04) == -1) ambit_launch_fail(launch, AMBIT_STAGE_ROOT, 1);

  /* Masks would take rights away from mount points that other identities must be able to pass through. */
  umask(0);
  struct place place = {.root = root, .folder = -1};
  for (size_t i = 0; i < launch->step_count; i++) {
    if (carry_out(&place, &launch->steps[i], handover) == -1) ambit_launch_fail(launch, AMBIT_STAGE_STEPS, (int)i);
  }
  umask(022);
  forget_folder(&place);

  if (fchdir(root) == -1) ambit_launch_fail(launch, AMBIT_STAGE_PIVOT, 0);
  if (syscall(SYS_pivot_root, ".", ".") == -1) ambit_launch_fail(launch, AMBIT_STAGE_PIVOT, 1);
  /* The old root now lies over the new one; take it away before anything is opened by path again. */
  if (umount2(".", MNT_DETACH) == -1) ambit_launch_fail(launch, AMBIT_STAGE_PIVOT, 2);
  if (chdir("/") == -1) ambit_launch_fail(launch, AMBIT_STAGE_PIVOT, 3);
  /* Last, because every step above had to write into it. */
  uint64_t attributes[4] = {0x01 /* RDONLY */, 0, 0, 0};
  if (syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, attributes, sizeof attributes) == -1)
    ambit_launch_fail(launch, AMBIT_STAGE_PIVOT, 4);
  close(root);
}

static int cover(const struct ambit_launch *launch, int root, const struct ambit_step *step,
                 const struct handover *handover) {
  int target = open_below(root, step->path);
  /* Each kernel has another choice of these. */
  if (target == -1) return errno == ENOENT ? 0 : -1;
  struct stat status;
  if (fstat(target, &status) == -1) return finish(target, -1);
  int source = target;
  /* Each cover costs each launch five microseconds. A file for its owner alone, which is not the app, is closed to the app
     anyhow: it has no capability to get past mode bits. The owner is the host's root; to the kernel the app can be that where
     root of a user namespace launches it. */
  if (step->kind == AMBIT_STEP_MASK && (status.st_mode & 077) == 0 && status.st_uid != launch->inside_id)
    return finish(target, 0);
  if (step->kind == AMBIT_STEP_MASK) source = S_ISDIR(status.st_mode) ? handover->empty_directory : handover->empty_file;
  /* A clone of the root is read-only, as the root is by now. */
  int tree = (int)syscall(SYS_open_tree, source, "", 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC | AT_EMPTY_PATH);
  if (tree == -1) return finish(target, -1);
  int result = 0;
  if (step->kind == AMBIT_STEP_READ_ONLY) {
    uint64_t attributes[4] = {0x01 /* RDONLY */, 0, 0, 0};
    result = (int)syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, attributes, sizeof attributes);
  }
  if (result == 0)
    result = (int)syscall(SYS_move_mount, tree, "", target, "", 0x04 /* F_EMPTY_PATH */ | 0x40 /* T_EMPTY_PATH */);
  return finish(target, finish(tree, result));
}

void ambit_cover(const struct ambit_launch *launch, struct handover *handover) {
  int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root == -1) ambit_launch_fail(launch, AMBIT_STAGE_ROOT, 2);
  for (size_t i = 0; i < launch->step_count; i++) {
    const struct ambit_step *step = &launch->steps[i];
    if (step->kind != AMBIT_STEP_MASK && step->kind != AMBIT_STEP_READ_ONLY) continue;
    if (cover(launch, root, step, handover) == -1) ambit_launch_fail(launch, AMBIT_STAGE_STEPS, (int)i);
  }
  close(root);
  close(handover->empty_file);
  close(handover->empty_directory);
}
