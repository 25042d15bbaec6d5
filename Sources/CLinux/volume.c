#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TYPE_EXT4 0xEF53u
#define TYPE_XFS 0x58465342u
#define TYPE_BTRFS 0x9123683Eu
#define TYPE_TMPFS 0x01021994u

/* Newer than this machine's headers may be. */
struct uuid_answer {
  uint8_t length;
  uint8_t uuid[16];
};
#define AMBIT_GETFSUUID _IOR(0x15, 0, struct uuid_answer)

/* XFS_IOC_FSGEOMETRY_V1, whose header comes with the programs of XFS. */
struct xfs_geometry {
  uint32_t sizes[8];
  uint64_t counts[4];
  uint8_t uuid[16];
  uint32_t rest[7];
};
#define AMBIT_XFS_GEOMETRY _IOR('X', 100, struct xfs_geometry)

/* A file system that was made without one has zeros there, which name nothing. */
static int is_name(const uint8_t bytes[16]) {
  static const uint8_t none[16];
  return memcmp(bytes, none, 16) != 0;
}

static int general_uuid(int file, uint8_t bytes[16]) {
  struct uuid_answer found;
  memset(&found, 0, sizeof found);
  if (ioctl(file, AMBIT_GETFSUUID, &found) == -1 || found.length != 16) return 0;
  memcpy(bytes, found.uuid, 16);
  return is_name(bytes);
}

int ambit_volume_own_uuid(int file, uint8_t bytes[16]) {
  struct statfs kind;
  if (fstatfs(file, &kind) == -1) return 0;
  if ((uint64_t)kind.f_type == TYPE_XFS) {
    struct xfs_geometry found;
    memset(&found, 0, sizeof found);
    if (ioctl(file, AMBIT_XFS_GEOMETRY, &found) == -1) return 0;
    memcpy(bytes, found.uuid, 16);
  } else if ((uint64_t)kind.f_type == TYPE_BTRFS) {
    struct btrfs_ioctl_fs_info_args found;
    memset(&found, 0, sizeof found);
    if (ioctl(file, BTRFS_IOC_FS_INFO, &found) == -1) return 0;
    memcpy(bytes, found.fsid, 16);
  } else {
    return 0;
  }
  return is_name(bytes);
}

int ambit_volume_identity(int descriptor, uint8_t bytes[16]) {
  memset(bytes, 0, 16);
  struct statfs found;
  if (fstatfs(descriptor, &found) == -1) return -errno;
  uint64_t type = (uint64_t)found.f_type;
  /* Fails on a descriptor opened with O_PATH; both ways of opening have to answer the same, so reopen to ask. */
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  int is_asked = 0;
  struct stat kind;
  if (fstat(descriptor, &kind) == 0 && (S_ISDIR(kind.st_mode) || S_ISREG(kind.st_mode))) {
    int readable = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (readable != -1) {
      /* btrfs has no answer to the call of all file systems, and before Linux 6.9 there is none; f_fsid is then no name for a
         volume: XFS makes it of the device's number, btrfs another one for each subvolume. */
      int is_named = general_uuid(readable, bytes) || ambit_volume_own_uuid(readable, bytes);
      close(readable);
      is_asked = 1;
      if (is_named) return 1;
    }
  }
  memset(bytes, 0, 16);
  memcpy(bytes, &found.f_fsid, sizeof found.f_fsid);
  memcpy(bytes + 8, &type, sizeof type);
  /* These have one for all of their files; others may have one for each part of a mount. */
  int is_one = type == TYPE_EXT4 || type == TYPE_XFS || type == TYPE_TMPFS;
  return is_asked && is_one ? 2 : 0;
}

int ambit_is_readable(int descriptor) {
  /* The call itself: glibc's goes another way where the kernel lacks it. */
  if (syscall(SYS_faccessat2, descriptor, "", R_OK, AT_EMPTY_PATH | AT_EACCESS) == 0) return 1;
  return errno == EACCES ? 0 : -errno;
}

int ambit_user_may(int descriptor, int mode) {
  /* Without AT_EACCESS: the kernel then takes the capabilities of all users but root away for the question, and so those that this
     process has in its own user namespace, where it could open the user's own files with any modes. */
  if (syscall(SYS_faccessat2, descriptor, "", mode, AT_EMPTY_PATH) == 0) return 0;
  if (errno != ENOSYS) return -errno;
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  return syscall(SYS_faccessat, AT_FDCWD, path, mode) == 0 ? 0 : -errno;
}

int ambit_admits(int descriptor, uint32_t identity, int access) {
  /* Groups are the thread's own in this call, and not the process's as in glibc's: the rights of root's groups do not count. */
  gid_t groups[65536 / sizeof(gid_t)];
  int count = getgroups(sizeof groups / sizeof *groups, groups);
  if (count < 0 || syscall(SYS_setgroups, 0, NULL) == -1) return -errno;
  setfsgid(identity);
  setfsuid(identity);
  int result = syscall(SYS_faccessat2, descriptor, "", access, AT_EMPTY_PATH | AT_EACCESS) == 0 ? 1 : -errno;
  setfsgid(getegid());
  setfsuid(geteuid());
  if (syscall(SYS_setgroups, count, groups) == -1 && result >= 0) result = -errno;
  return result == -EACCES || result == -EPERM || result == -EROFS ? 0 : result;
}

int ambit_has_subvolumes(int directory) {
  struct btrfs_ioctl_get_subvol_rootref_args found;
  memset(&found, 0, sizeof found);
  if (ioctl(directory, BTRFS_IOC_GET_SUBVOL_ROOTREF, &found) == 0) return found.num_items > 0;
  /* More than fit into one answer. */
  return errno == EOVERFLOW ? 1 : -errno;
}
