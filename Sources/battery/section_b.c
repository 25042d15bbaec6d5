/* B: the view of the file system. Outside files must not be visible, and visible files must not be changed. */
#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

static void try_canary(const char *attempt, const char *path) {
  if (holds_token(AT_FDCWD, path)) {
    reached(attempt, "the canary was read through %.160s", path);
  } else {
    refused(attempt, errno, "%.160s", path);
  }
}

/* A file of the user's, by its name. */
static void b1(void) { try_canary("open", stage("canary")); }

/* The same by names that a check by text, or a wrong root, would let through. */
static void b2(void) {
  const char *canary = stage("canary");
  char path[4096], dots[3 * 40 + 1] = "";
  for (int i = 0; i < 40; i++) strcat(dots, "../");
  const struct {
    const char *name, *front;
  } ways[] = {{"slashes", "//"},           {"dots", dots},          {"root", "/proc/self/root"},
              {"cwd", "/proc/self/cwd"},   {"fd", "/dev/fd"},       {"thread", "/proc/thread-self/root"}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    bool climbs = strcmp(ways[i].name, "cwd") == 0 || strcmp(ways[i].name, "fd") == 0;
    snprintf(path, sizeof path, "%s%s%s%s", ways[i].front, climbs ? "/" : "", climbs ? dots : "", canary + (*canary == '/'));
    if (strcmp(ways[i].name, "root") == 0 || strcmp(ways[i].name, "thread") == 0)
      snprintf(path, sizeof path, "%s%s", ways[i].front, canary);
    try_canary(ways[i].name, path);
  }
}

/* A link that the app makes in its own folder, and follows. */
static void b3(void) {
  char link[4096], target[4096];
  if (!stage_path(link, sizeof link, "absolute", "container", "b3-link")) return;
  const char *fronts[2] = {"", "../../../../../../../../../../../.."};
  const char *names[2] = {"absolute", "relative"};
  for (int i = 0; i < 2; i++) {
    unlink(link);
    snprintf(target, sizeof target, "%s%s", fronts[i], stage("canary"));
    if (symlink(target, link) == -1) {
      unable(names[i], "no link can be made: %s", error_name(errno));
      continue;
    }
    try_canary(names[i], link);
    unlink(link);
  }
}

/* A second name for a file of the host, inside the container: it stays when the first is taken away. */
static void b7(void) {
  char name[4096];
  if (stage_path(name, sizeof name, "link", "container", "b7-hard")) {
    judge("link", link(stage("canary"), name), "linking the canary into the container");
    unlink(name);
  }
  char from[4096];
  if (*stage("broker") && stage_path(from, sizeof from, "granted", "granted", "notes")) {
    judge("granted", link(from, name), "linking a granted file into the container");
    unlink(name);
  }
}

/* Mounts with the old calls: over something, again with other flags, and away. */
static void b8(void) {
  char place[4096];
  if (!stage_path(place, sizeof place, "mount", "container", "b8")) return;
  mkdir(place, 0700);
  if (judge("mount", mount("none", place, "tmpfs", 0, NULL), "mounting a tmpfs")) umount2(place, MNT_DETACH);
  if (judge("bind", mount("/", place, NULL, MS_BIND | MS_REC, NULL), "binding the root")) umount2(place, MNT_DETACH);
  if (*stage("readonly"))
    judge_permission("remount", mount(NULL, stage("readonly"), NULL, MS_REMOUNT | MS_BIND, NULL), "making a read-only mount writable");
  /* Nothing is mounted there any more: a process that may unmount learns that. */
  judge_permission("umount", umount2(place, MNT_DETACH), "unmounting");
  rmdir(place);
}

/* The same with the new calls, which old filters do not know. */
static void b9(void) {
  long tree = syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC);
  judge("open_tree", tree, "cloning the root's mount");
  long context = syscall(SYS_fsopen, "tmpfs", 1);
  if (judge("fsopen", context, "a new file system")) {
    syscall(SYS_fsconfig, context, 6, NULL, NULL, 0);
    judge("fsmount", syscall(SYS_fsmount, context, 1, 0), "a mount of it");
  } else {
    judge_permission("fsmount", syscall(SYS_fsmount, -1, 1, 0), "fsmount");
  }
  uint64_t none[4] = {0, 0, 0, 0};
  judge_permission("mount_setattr", syscall(SYS_mount_setattr, -1, "", 0x1000, none, sizeof none), "mount_setattr");
  judge_permission("move_mount", syscall(SYS_move_mount, -1, "", -1, "", 0x44), "move_mount");
}

/* Devices: made anew, and those that are there. */
static void b11(void) {
  static const struct {
    const char *name;
    mode_t kind;
    int major, minor;
  } made[] = {{"character", S_IFCHR, 1, 1}, {"block", S_IFBLK, 7, 0}};
  char path[4096];
  for (int i = 0; i < 2; i++) {
    if (!stage_path(path, sizeof path, made[i].name, "container", "b11")) break;
    unlink(path);
    if (mknod(path, made[i].kind | 0600, makedev((unsigned)made[i].major, (unsigned)made[i].minor)) == -1) {
      refused(made[i].name, errno, "mknod");
      continue;
    }
    int opened = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    /* A driver that is not there is no refusal: the node was honoured. */
    if (opened == -1 && (errno == EACCES || errno == EPERM)) {
      refused(made[i].name, errno, "the node was made and cannot be opened");
    } else {
      reached(made[i].name, "a device node was made%s", opened == -1 ? "" : " and opened");
    }
    if (opened != -1) close(opened);
    unlink(path);
  }
  static const char *const nodes[] = {"mem",  "port",    "kmsg",      "sda",     "vda",    "nvme0n1", "loop0",
                                      "fuse", "kvm",     "net/tun",   "vhost-net", "uinput", "input/event0"};
  char found[200] = "";
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
    snprintf(path, sizeof path, "/dev/%s", nodes[i]);
    int opened = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (opened == -1) continue;
    close(opened);
    if (strlen(found) + strlen(nodes[i]) + 2 < sizeof found) strcat(strcat(found, " "), nodes[i]);
  }
  if (*found) {
    reached("nodes", "these can be opened:%s", found);
  } else {
    refused("nodes", ENOENT, "none of %zu device nodes can be opened", sizeof nodes / sizeof *nodes);
  }
}

/* The whole disk by a handle that one guesses (“shocker”, 2014). Here a handle that is certainly right is used. */
static void b17(void) {
  union {
    struct file_handle handle;
    char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } buffer;
  int mount = 0, place = open("/", O_RDONLY | O_CLOEXEC);
  const char *path = *stage("container") ? stage("container") : "/tmp";
  buffer.handle.handle_bytes = MAX_HANDLE_SZ;
  if (name_to_handle_at(AT_FDCWD, path, &buffer.handle, &mount, 0) == -1) {
    if (errno == EPERM || errno == ENOSYS) return refused("open_by_handle_at", errno, "name_to_handle_at");
    /* A handle that cannot be made can still be made up. */
    buffer.handle.handle_bytes = 8;
    buffer.handle.handle_type = 1;
    memset(buffer.handle.f_handle, 0, 8);
    buffer.handle.f_handle[0] = 2;
    judge_permission("open_by_handle_at", open_by_handle_at(place, &buffer.handle, O_RDONLY), "a made-up handle");
    return;
  }
  int folder = open(path, O_RDONLY | O_CLOEXEC);
  judge_permission("open_by_handle_at", open_by_handle_at(folder, &buffer.handle, O_RDONLY | O_CLOEXEC), "by handle");
}

/* The broker's state and the app's own manifest: an app must not be able to give itself more. */
static void b20(void) {
  char path[4200], own[4096];
  const char *names[] = {"state/grants.sqlite", "state/sealing.key", "state/audit.sqlite", "config/policies/default.toml"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", stage("ambithome"), names[i]);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    judge(names[i], file, "opening it for writing");
    if (file != -1) close(file);
  }
  ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  own[length > 0 ? length : 0] = 0;
  char *slash = strrchr(own, '/');
  if (!slash) return unable("manifest", "/proc/self/exe cannot be read");
  *slash = 0;
  snprintf(path, sizeof path, "%s/Info.plist", own);
  judge("manifest", open(path, O_WRONLY | O_CLOEXEC), "opening the app's own manifest for writing");
}

static void fill(const char *attempt, const char *folder) {
  const long step = 16 << 20, most = 512;
  char path[4096];
  /* A new file and no other: outside, root may run this in a folder that all users share. */
  snprintf(path, sizeof path, "%s/b21-%s", folder, stage("token"));
  int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file == -1) return refused(attempt, errno, "%s cannot be written", folder);
  long taken = 0;
  int error = 0;
  while (taken < most << 20 && fallocate(file, 0, taken, step) == 0) taken += step;
  error = errno;
  unlink(path);
  close(file);
  if (taken >= most << 20) {
    reached(attempt, "%ld MiB were taken in %s, and there was no end", most, folder);
  } else if (error == EOPNOTSUPP) {
    unable(attempt, "the file system of %s cannot be filled quickly", folder);
  } else {
    refused(attempt, error, "%s was full after %ld MiB", folder, taken >> 20);
  }
}

static void fill_inodes(const char *folder) {
  char path[4096];
  const long most = 70000;
  long made = 0;
  struct statfs kind;
  if (statfs(folder, &kind) == -1) return refused("inodes", errno, "%s", folder);
  /* On a disk that many take too long to make; how many there are to be had is known as well. */
  if (kind.f_type != 0x01021994 /* tmpfs */) {
    if ((long)kind.f_ffree > most) return reached("inodes", "%s has %ld to take", folder, (long)kind.f_ffree);
    return refused("inodes", 0, "%s has %ld left", folder, (long)kind.f_ffree);
  }
  for (; made < most; made++) {
    snprintf(path, sizeof path, "%s/b21-%ld", folder, made);
    if (symlink("x", path) == -1) break;
  }
  int error = errno;
  for (long i = 0; i < made; i++) {
    snprintf(path, sizeof path, "%s/b21-%ld", folder, i);
    unlink(path);
  }
  if (made == most) {
    reached("inodes", "%ld files were made in %s, and there was no end", most, folder);
  } else {
    refused("inodes", error, "%s was full after %ld files", folder, made);
  }
}

/* All of the host's memory, in files; all of its inodes. The container has launches of its own: see take.c. */
static void b21(void) {
  fill("tmp", "/tmp");
  fill("shm", "/dev/shm");
  fill_inodes("/tmp");
}

const struct probe section_b[] = {{"B1", b1},   {"B2", b2},   {"B3", b3},   {"B7", b7},   {"B8", b8}, {"B9", b9},
                                  {"B11", b11}, {"B17", b17}, {"B20", b20}, {"B21", b21}, {0}};
