/* Programs for an observer of calls (E9, E10): which calls it understands, and the effects of its death. */
#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

static const char *target;

/* `spelling<TAB>what it should lead to<TAB>ok or the errno` */
static void tell(const char *spelling, int place) {
  printf("%s\t%s-%s\t%s\n", spelling, target, spelling, place == -1 ? error_name(errno) : "ok");
  if (place != -1) close(place);
}

static const char *text(const char *format, const char *first, const char *second) {
  static char room[4][4096];
  static int next;
  char *result = room[next++ % 4];
  snprintf(result, sizeof room[0], format, first, second);
  return result;
}

/* Opens files that it must not have, TARGET-SPELLING each, and never calls one by its name. `folder` may be written. */
int spell(const char *folder, const char *wanted) {
  target = wanted;
  if (chdir(folder) == -1) return 1;
  static const char up[] = "../../../../../../../../../..";
  int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

  tell("descriptor", openat(here, text("%s%s-descriptor", up, target), O_RDONLY | O_CLOEXEC));
  tell("relative", open(text("%s%s-relative", up, target), O_RDONLY | O_CLOEXEC));
  tell("slashes", open(text("//.//%s%s-slashes", "./..", target), O_RDONLY | O_CLOEXEC));

  /* Links to a file, to a folder on the way, and to another link. */
  unlink("link");
  if (symlink(text("%s-link", target, ""), "link") == 0) tell("link", open("link", O_RDONLY | O_CLOEXEC));
  unlink("way");
  if (symlink("/", "way") == 0) tell("folder", openat(here, text("way%s-folder", target, ""), O_RDONLY | O_CLOEXEC));
  unlink("first");
  unlink("second");
  if (symlink(text("%s%s-links", up, target), "second") == 0 && symlink("second", "first") == 0)
    tell("links", openat(here, "first", O_RDONLY | O_CLOEXEC));

  /* A folder that is called something else by now. */
  rmdir("new");
  if (mkdir("old", 0700) == 0 || errno == EEXIST) {
    int moved = open("old", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (rename("old", "new") == 0) tell("renamed", openat(moved, text("%s%s-renamed", up, target), O_RDONLY | O_CLOEXEC));
    close(moved);
  }

  tell("path", openat(here, text("%s%s-path", up, target), O_PATH | O_CLOEXEC));
  tell("create", openat(here, text("%s%s-create", up, target), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  /* A call with its arguments in a structure; a program that is told that the call does not exist uses the old one. */
  struct open_how how = {.flags = O_RDONLY | O_CLOEXEC};
  const char *path = text("%s%s-structure", up, target);
  int place = (int)syscall(SYS_openat2, here, path, &how, sizeof how);
  if (place == -1 && errno == ENOSYS) place = openat(here, path, O_RDONLY | O_CLOEXEC);
  tell("structure", place);
  printf("done\n");
  return 0;
}

/* Asks without end for a file that it must not have, in several processes, so that some of them wait for an answer at any
 * moment. */
int ask(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  signal(SIGHUP, SIG_IGN);
  for (int i = 0; i < 4; i++) {
    if (fork() != 0) continue;
    if (i % 2) setsid();
    alarm(30);
    int place = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    for (;;) {
      int file = open(path, O_RDONLY | O_CLOEXEC);
      if (file != -1 || connect(place, (struct sockaddr *)&address, sizeof address) == 0) {
        static const char line[] = "through\n";
        if (write(1, line, sizeof line - 1) < 0) _exit(3);
        _exit(4);
      }
    }
  }
  printf("ready\n");
  fflush(stdout);
  alarm(30);
  for (;;) pause();
}
