/* I: gaps that the filter once had: set-id bits, pages in pipes, leases; and the contents of the mount table. */
#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SO_ZEROCOPY
#define SO_ZEROCOPY 60
#endif

static void judge_mode(const char *attempt, const char *path, long result, mode_t bits) {
  struct stat status;
  int error = errno;
  if (result == -1) {
    refused(attempt, error, "mode %04o", bits);
  } else if (stat(path, &status) == 0 && (status.st_mode & bits & 06000) != 0) {
    reached(attempt, "the file has mode %04o on the host", status.st_mode & 07777);
  } else {
    refused(attempt, 0, "the call is made, and the file has not the bits of %04o", bits);
  }
  if (unlink(path) == -1) rmdir(path);
}

/* A program with the set-user-ID or set-group-ID bit in a granted folder runs on the host with its owner's rights. */
static void i3(void) {
  char path[4096];
  if (!stage_path(path, sizeof path, "chmod", "granted", "set-id")) return;
  umask(0);
  static const struct {
    const char *name;
    mode_t bits;
  } changes[] = {{"chmod", 04755}, {"chmod group", 02755}};
  for (int i = 0; i < 2; i++) {
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    if (file == -1) return unable(changes[i].name, "no file can be made: %s", error_name(errno));
    close(file);
    control_holds(changes[i].name, "a file without the bits is made");
    judge_mode(changes[i].name, path, chmod(path, changes[i].bits), changes[i].bits);
  }
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  judge_mode("fchmod", path, fchmod(file, 06755), 06755);
  close(file);
  file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 04755);
  judge_mode("open", path, file, 04755);
  close(file);
  file = creat(path, 04755);
  judge_mode("creat", path, file, 04755);
  close(file);
  judge_mode("mknod", path, mknod(path, S_IFREG | 04755, 0), 04755);
  judge_mode("mkdir", path, mkdir(path, 02755), 02755);
  /* Its mode lies in memory, where no filter looks. */
  struct {
    uint64_t flags, mode, resolve;
  } how = {O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 04755, 0};
  file = (int)syscall(437 /* openat2 */, AT_FDCWD, path, &how, sizeof how);
  judge_mode("openat2", path, file, 04755);
}

/* Whether a pipe or socket that was filled before returns the bytes that are written to the file now. */
static void judge_pages(const char *attempt, long moved, int file, int reading) {
  char bytes[8];
  if (moved <= 0) return refused(attempt, moved == 0 ? ENOENT : errno, "no page of the document goes in");
  if (pwrite(file, "changed", 7, 0) != 7 || read(reading, bytes, 7) != 7) return unable(attempt, "%s", error_name(errno));
  if (memcmp(bytes, "changed", 7) == 0) {
    reached(attempt, "what is written to the document later is read from there");
  } else {
    refused(attempt, 0, "what is in there is a copy");
  }
}

/* Pages of a document in a pipe or a socket show the host's writes to it after the document was taken away. */
static void i5(void) {
  char path[4096];
  if (!stage_path(path, sizeof path, "splice", "granted", "pages")) return;
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), ends[2], sockets[2];
  static char page[4096];
  if (file == -1 || pipe2(ends, O_CLOEXEC) == -1 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == -1)
    return unable("splice", "%s", error_name(errno));
  for (int i = 0; i < 3; i++) {
    memset(page, 'p', sizeof page);
    if (pwrite(file, page, sizeof page, 0) != sizeof page) return unable("splice", "%s", error_name(errno));
    fsync(file);
    off_t from = 0;
    if (i == 0) judge_pages("splice", splice(file, &from, ends[1], NULL, 7, 0), file, ends[0]);
    if (i == 1) judge_pages("sendfile", sendfile(sockets[1], file, &from, 7), file, sockets[0]);
    if (i == 2) {
      void *bytes = mmap(NULL, sizeof page, PROT_READ, MAP_SHARED, file, 0);
      if (bytes == MAP_FAILED) break;
      struct iovec vector = {bytes, 7};
      /* The page must be there before it is taken. */
      if (*(volatile char *)bytes != 'p') break;
      judge_pages("vmsplice", vmsplice(ends[1], &vector, 1, 0), file, ends[0]);
      munmap(bytes, sizeof page);
    }
  }
  unlink(path);
  int internet = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
  if (internet == -1) return unable("zerocopy", "no internet socket: %s", error_name(errno));
  judge("zerocopy", setsockopt(internet, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one), "pages are sent without a copy");
}

static bool tells(const char *file, const char *name) {
  static char text[1 << 20];
  if (read_file(file, text, sizeof text) <= 0) return false;
  return strstr(text, name) != NULL;
}

/* The mount table has the host's path of each mount. It must have none of a document that is not started, nor of the user's
 * other files. */
static void i9(void) {
  static const char *const tables[] = {"/proc/self/mountinfo", "/proc/self/mounts", "/proc/self/mountstats"};
  static const char *const others[] = {"canary", "home/", "victim", "inherited"};
  if (!*stage("grantedscope")) return unable("stopped", "there is no grant here");
  const char *folder = strrchr(stage("folder"), '/');
  char name[4096];
  snprintf(name, sizeof name, "%s/granted", folder ? folder : "");
  if (tells(tables[0], name)) control_holds("stopped", "the table has the host's path while the document is started");
  with_first("io.ambit.Access.Stop", stage("grantedscope"));
  bool told = true;
  /* It is unmounted a moment later. */
  for (int i = 0; i < 400 && told; i++) {
    told = false;
    for (int j = 0; j < 3; j++) told |= tells(tables[j], name);
    if (told) usleep(5000);
  }
  if (told) {
    reached("stopped", "the host's path of a document that is not started");
  } else {
    refused("stopped", ENOENT, "the host's path of a document that is not started");
  }
  for (int i = 0; i < 4; i++) {
    snprintf(name, sizeof name, "%s/%s", folder ? folder : "", others[i]);
    for (int j = 0; j < 3; j++) {
      if (tells(tables[j], name)) reached("other files", "%s has the path of what was not granted: %s", tables[j], others[i]);
    }
  }
  with_first("io.ambit.Access.Start", stage("grantedscope"));
}

/* Standard streams of a careless caller: a folder, a place, a file that is open for reading only. A log that is open for
 * appending is looked at from outside. */
static void i6(void) {
  const char *step = stage("step");
  if (strcmp(step, "folder") == 0) {
    if (holds_token(0, "../canary")) reached(step, "a file beside the folder was read");
    else refused(step, errno, "../canary");
  } else if (strcmp(step, "place") == 0) {
    if (holds_token(AT_FDCWD, "/proc/self/fd/0")) reached(step, "the file was opened from its place");
    else refused(step, errno, "/proc/self/fd/0");
  } else if (strcmp(step, "reading") == 0) {
    char text[512];
    ssize_t length = read(0, text, sizeof text);
    if (length > 0 && contains_token(text, (size_t)length) && lseek(0, 0, SEEK_SET) == 0)
      control_holds(step, "it can be read, and read again from its beginning");
    judge(step, open("/proc/self/fd/0", O_WRONLY | O_CLOEXEC), "opened anew for writing");
    judge("mode", fchmod(0, 0600), "its mode changed");
  } else if (strcmp(step, "appending") == 0) {
    dprintf(2, "appended\n");
    int file = open("/proc/self/fd/2", O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file != -1) close(file);
  }
}

/* A lease on a document that may only be read makes every writer on the host wait. */
static void i12(void) {
  char path[4096];
  if (!stage_path(path, sizeof path, "lease", "readonly", "")) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file == -1) return unable("lease", "%s", error_name(errno));
  control_holds("lease", "the document is open for reading");
  if (judge("lease", fcntl(file, F_SETLEASE, F_RDLCK), "fcntl(F_SETLEASE)")) fcntl(file, F_SETLEASE, F_UNLCK);
  close(file);
}

const struct probe section_i_filter[] = {{"I3", i3}, {"I5", i5}, {"I6", i6}, {"I9", i9}, {"I12", i12}, {0}};
