#define _GNU_SOURCE
#include "creplace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static int answer(long result) { return result == -1 ? -errno : (int)result; }

int ambit_rename(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
  return answer(renameat2(from_directory, from, to_directory, to, flags));
}

int ambit_share_content(int from, int to) { return answer(ioctl(to, FICLONE, from)); }

/* Goes over the hole that both stand before, so that no zeros are written for it. A positive answer is how many bytes may be
   copied next, 0 says that there is no more. */
static ssize_t skip_hole(int from, int to, size_t most) {
  struct stat status;
  off_t at = lseek(from, 0, SEEK_CUR), data, end;
  /* Some file systems make up their files' content, and tell no size. */
  if (at == -1 || fstat(from, &status) == -1 || status.st_size <= at) return (ssize_t)most;
  data = lseek(from, at, SEEK_DATA);
  if (data == -1 && errno == ENXIO) {
    off_t there = lseek(to, status.st_size - at, SEEK_CUR);
    return there == -1 || ftruncate(to, there) == -1 ? -errno : 0;
  }
  end = data == -1 ? -1 : lseek(from, data, SEEK_HOLE);
  if (data == -1) data = at;
  if (lseek(from, data, SEEK_SET) == -1 || lseek(to, data - at, SEEK_CUR) == -1) return -errno;
  return end > data && (size_t)(end - data) < most ? (ssize_t)(end - data) : (ssize_t)most;
}

ssize_t ambit_copy_part(int from, int to) {
  ssize_t room = skip_hole(from, to, 4 << 20);
  if (room <= 0) return room;
  ssize_t count = copy_file_range(from, NULL, to, NULL, (size_t)room, 0);
  if (count > 0) return count;
  /* Older kernels copy within one file system only, some file systems do not at all, and some say that there is nothing. */
  char buffer[65536];
  count = read(from, buffer, (size_t)room < sizeof buffer ? (size_t)room : sizeof buffer);
  if (count <= 0) return count == -1 ? -errno : 0;
  for (ssize_t done = 0; done < count;) {
    ssize_t written = write(to, buffer + done, (size_t)(count - done));
    if (written == -1 && errno != EINTR) return -errno;
    if (written > 0) done += written;
  }
  return count;
}

static void path_of(int file, char path[32]) { snprintf(path, 32, "/proc/self/fd/%d", file); }

/* By path: the calls that take a descriptor refuse a place. */
static int copy_attribute(const char *from, const char *to, const char *name) {
  char value[65536];
  ssize_t length = getxattr(from, name, value, sizeof value);
  if (length == -1) return errno == ENODATA || errno == EOPNOTSUPP ? 0 : -errno;
  return setxattr(to, name, value, (size_t)length, 0) == -1 ? -errno : 1;
}

ssize_t ambit_attribute(int file, const char *name, void *value, size_t size) {
  char path[32];
  path_of(file, path);
  ssize_t length = getxattr(path, name, value, size);
  return length == -1 ? -errno : length;
}

int ambit_set_attribute(int file, const char *name, const void *value, size_t size) {
  char path[32];
  path_of(file, path);
  return (value ? setxattr(path, name, value, size, 0) : removexattr(path, name)) == -1 ? -errno : 0;
}

ssize_t ambit_attribute_of(int directory, const char *entry, const char *name, void *value, size_t size) {
  char path[32 + 1 + 256];
  if (snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, entry) >= (int)sizeof path) return -ENAMETOOLONG;
  ssize_t length = getxattr(path, name, value, size);
  return length == -1 ? -errno : length;
}

static const char access_list[] = "system.posix_acl_access";

int ambit_copy_attributes(int from, int to) {
  char source[32], target[32], names[65536];
  path_of(from, source);
  path_of(to, target);
  struct stat old, new;
  if (fstat(from, &old) == -1 || fstat(to, &new) == -1) return -errno;
  mode_t mode = old.st_mode & 0777;
  if (old.st_uid != new.st_uid || old.st_gid != new.st_gid) {
    if (chown(target, old.st_uid, old.st_gid) == -1) {
      /* Another one's file, or the group of others: as it is for every user that may write here and is not root. */
      if (old.st_gid != new.st_gid && chown(target, (uid_t)-1, old.st_gid) == -1) mode &= ~(mode_t)070;
    }
  }
  ssize_t length = listxattr(source, names, sizeof names);
  for (ssize_t at = 0; at < length; at += (ssize_t)strlen(names + at) + 1) {
    if (strncmp(names + at, "user.", 5) == 0) copy_attribute(source, target, names + at);
  }
  copy_attribute(source, target, "security.selinux");
  /* The new file's own attributes would outlive the mode. */
  removexattr(target, access_list);
  if (chmod(target, mode) == -1) return -errno;
  if (copy_attribute(source, target, access_list) < 0 && chmod(target, mode & ~(mode_t)070) == -1) return -errno;
  return 0;
}

int ambit_adopt(int from, int to, int owner) {
  char source[32], target[32], names[65536];
  path_of(from, source);
  path_of(to, target);
  struct stat old, whose;
  if (fstat(from, &old) == -1 || fstat(owner, &whose) == -1) return -errno;
  mode_t mode = old.st_mode & 0777;
  if (chown(target, whose.st_uid, whose.st_gid) == -1 && chown(target, (uid_t)-1, whose.st_gid) == -1) {
    mode &= ~(mode_t)070;
  }
  ssize_t length = listxattr(source, names, sizeof names);
  for (ssize_t at = 0; at < length; at += (ssize_t)strlen(names + at) + 1) {
    if (strncmp(names + at, "user.", 5) == 0) copy_attribute(source, target, names + at);
  }
  return chmod(target, mode) == -1 ? -errno : 0;
}

ssize_t ambit_link_text(int link, char *text, size_t size) {
  ssize_t length = readlinkat(link, "", text, size);
  return length == -1 ? -errno : length;
}

int ambit_make_link(const char *text, int directory, const char *name, int owner) {
  struct stat whose;
  if (fstat(owner, &whose) == -1 || symlinkat(text, directory, name) == -1) return -errno;
  if (fchownat(directory, name, whose.st_uid, whose.st_gid, AT_SYMLINK_NOFOLLOW) == -1) {
    /* The owner of a link does not matter. */
    (void)!fchownat(directory, name, (uid_t)-1, whose.st_gid, AT_SYMLINK_NOFOLLOW);
  }
  return 0;
}

int ambit_sync_data(int file) { return answer(fdatasync(file)); }

int ambit_unnamed_file(int directory) { return answer(openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)); }

int ambit_name_file(int file, int directory, const char *name) {
  char path[32];
  path_of(file, path);
  return answer(linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW));
}

int ambit_move_mount_beneath(int tree, int target) {
  return answer(
    syscall(SYS_move_mount, tree, "", target, "", 0x04 /* F_EMPTY_PATH */ | 0x40 /* T_EMPTY_PATH */ | 0x200 /* BENEATH */));
}

int ambit_watcher(void) { return answer(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)); }

int ambit_watch_folder(int watcher, int directory) {
  char path[32];
  path_of(directory, path);
  return answer(inotify_add_watch(watcher, path, IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ONLYDIR));
}

int ambit_watch_moves(int watcher, int directory) {
  char path[32];
  path_of(directory, path);
  return answer(inotify_add_watch(
    watcher, path, IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK));
}

int ambit_watch_changes(int watcher, int directory) {
  char path[32];
  path_of(directory, path);
  return answer(inotify_add_watch(
    watcher, path,
    IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MODIFY | IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK));
}

int ambit_watch_file(int watcher, int file) {
  char path[32];
  path_of(file, path);
  return answer(inotify_add_watch(watcher, path, IN_DELETE_SELF));
}

int ambit_is_watcher(int table, const char *name) {
  static const char kind[] = "anon_inode:inotify";
  char text[sizeof kind];
  ssize_t length = readlinkat(table, name, text, sizeof text);
  return length == (ssize_t)sizeof kind - 1 && memcmp(text, kind, sizeof kind - 1) == 0;
}

int ambit_unwatch(int watcher, int watch) { return answer(inotify_rm_watch(watcher, watch)); }
