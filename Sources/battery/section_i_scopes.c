/* I: the remains of a document after the end of its scope. Each entry has runs of its own, since a policy may end the app for
 * it. */
#define _GNU_SOURCE
#include "battery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct {
  char path[4096], folder[4096], scope[512];
  const char *name;
} document;

static bool with_document(const char *method) {
  char parameters[1000];
  snprintf(parameters, sizeof parameters, "{\"scope\":\"%s\"}", document.scope);
  const char *reply = broker_call(method, parameters);
  return reply && !is_error(reply);
}

static bool start_document(void) { return with_document("io.ambit.Access.Start"); }
static bool stop_document(void) { return with_document("io.ambit.Access.Stop"); }

static bool take_document(void) {
  const char *reply = broker_call("io.ambit.Picker.Pick", "{\"mode\":\"open\"}");
  if (!reply || is_error(reply) || !reply_string(reply, "scope", document.scope, sizeof document.scope) ||
      !reply_string(reply, "path", document.path, sizeof document.path))
    return false;
  document.name = strrchr(document.path, '/') + 1;
  snprintf(document.folder, sizeof document.folder, "%.*s", (int)(document.name - 1 - document.path), document.path);
  return start_document();
}

static void say(const char *text) {
  printf("%s\n", text);
  fflush(stdout);
}

/* Waits until the process that started this has done its part. */
static void await_host(void) {
  char byte;
  alarm(60);
  while (read(0, &byte, 1) > 0) {}
}

/* ---- I4 ---- */

static bool is_document(int folder, const char *name, const struct stat *of) {
  struct stat found;
  return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_ino == of->st_ino && found.st_dev == of->st_dev;
}

static int give_name(int file, int folder, const char *name, bool by_descriptor) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (by_descriptor) return linkat(file, "", folder, name, AT_EMPTY_PATH);
  return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW);
}

static struct {
  int file, folder;
} race_of;

/* When the file has left the folder, it is on its way to the document's place. */
static void *name_again(void *argument) {
  while (faccessat(race_of.folder, "new", F_OK, 0) == 0) {}
  give_name(race_of.file, race_of.folder, "race", false);
  return argument;
}

/* The same while it is saved: under root the file is another's afterwards. */
static bool race(int folder) {
  bool found = false;
  for (int round = 0; round < 20 && !found; round++) {
    struct stat saved;
    pthread_t thread;
    race_of.folder = folder;
    race_of.file = openat(folder, "new", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (race_of.file == -1 || pthread_create(&thread, NULL, name_again, NULL) != 0) return false;
    if (renameat(folder, "new", folder, document.name) == -1) unlinkat(folder, "new", 0);
    pthread_join(thread, NULL);
    found = stat(document.path, &saved) == 0 && is_document(folder, "race", &saved);
    unlinkat(folder, "race", 0);
    close(race_of.file);
  }
  return found;
}

/* A file that the app keeps open and saves by renaming it over the document gets another name afterwards, by which it can be opened
 * when the scope has ended. */
static void i4(void) {
  static const char *const attempts[] = {"link", "empty", "race"};
  if (strcmp(stage("step"), "scopes") != 0) return unable("link", "there is no broker here");
  if (!take_document()) return unable("link", "no document");
  int folder = open(document.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int own = openat(folder, "own", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (own != -1 && give_name(own, folder, "own-again", false) == 0) {
    for (int i = 0; i < 3; i++) control_holds(attempts[i], "a file of its own gets another name by its descriptor");
  }
  int file = openat(folder, "new", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct stat saved;
  if (file == -1 || write(file, "saved\n", 6) != 6 || renameat(folder, "new", folder, document.name) == -1 ||
      stat(document.path, &saved) == -1)
    return unable("link", "the document cannot be saved: %s", error_name(errno));
  int answers[2], errors[2];
  for (int i = 0; i < 2; i++) {
    answers[i] = give_name(file, folder, attempts[i], i == 1);
    errors[i] = errno;
  }
  stop_document();
  close(file);
  for (int i = 0; i < 2; i++) {
    if (is_document(folder, attempts[i], &saved)) {
      reached(attempts[i], "another name of the document, after the last stop");
    } else {
      refused(attempts[i], answers[i] == -1 ? errors[i] : 0, "what was renamed over the document is not the document");
    }
  }
  close(folder);
  if (!start_document()) return unable("race", "the document cannot be started again");
  folder = open(document.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (race(folder)) {
    reached("race", "a name that was given while it was saved is the document's");
  } else {
    refused("race", 0, "no name that was given while it was saved is the document's");
  }
  stop_document();
}

/* ---- I10 ---- */

static int shared_folder = -1;
static atomic_bool renaming = true;
static atomic_int renamed;

/* The folder around the document is the app's own, and stays its own between two starts. */
static void *rename_place(void *argument) {
  while (renaming) {
    if (renameat(shared_folder, document.name, shared_folder, "other") == 0) renamed++;
    renameat(shared_folder, "other", shared_folder, document.name);
  }
  return argument;
}

/* The place that a document is mounted on, renamed while that is done. */
static void i10(void) {
  if (strcmp(stage("step"), "scopes") != 0) return unable("rename", "there is no broker here");
  if (!take_document()) return unable("rename", "no document");
  shared_folder = open(document.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  pthread_t thread;
  stop_document();
  if (shared_folder == -1 || pthread_create(&thread, NULL, rename_place, NULL) != 0) return unable("rename", "no thread");
  int started = 0, refusals = 0;
  bool elsewhere = false;
  for (int round = 0; round < 150 && !elsewhere; round++) {
    if (!start_document()) {
      refusals++;
      continue;
    }
    started++;
    int folder = open(document.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    elsewhere = holds_token(folder, "other");
    stop_document();
    /* It may be another one than before. */
    if (folder != -1) {
      dup2(folder, shared_folder);
      close(folder);
    }
  }
  renaming = false;
  pthread_join(thread, NULL);
  if (renamed > 0) control_holds("rename", "%d times before it was mounted on", renamed);
  if (elsewhere) {
    reached("rename", "the document stands under another name");
  } else {
    refused("rename", 0, "started %d times where it belongs, refused %d times", started, refusals);
  }
}

const struct probe section_i_scopes[] = {{"I4", i4}, {"I10", i10}, {0}};

/* ---- I7 ---- */

static int read_events(int watcher, int patience) {
  char buffer[65536];
  struct pollfd entry = {.fd = watcher, .events = POLLIN};
  return poll(&entry, 1, patience) > 0 && read(watcher, buffer, sizeof buffer) > 0;
}

/* Watches a document, and goes on when its scope has ended. */
int watch(void) {
  if (!take_document()) return 1;
  int watcher = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (watcher == -1 || inotify_add_watch(watcher, document.path, IN_OPEN | IN_MODIFY | IN_ATTRIB) == -1) {
    printf("refused\t%s\n", error_name(errno));
    return 0;
  }
  close(open(document.path, O_RDONLY | O_CLOEXEC));
  say(read_events(watcher, 1000) ? "told" : "not told");
  stop_document();
  say("stopped");
  await_host();
  say(read_events(watcher, 1000) ? "told again" : "silent");
  return 0;
}

/* ---- I8 ---- */

static struct sockaddr_un meeting(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path, sizeof name.sun_path, "%s/Library/meeting", stage("container"));
  return name;
}

/* The place of a document, in a folder that another launch has sent. */
static bool rename_in(int folder) {
  DIR *entries = fdopendir(dup(folder));
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    if (entry->d_name[0] != '.') return renameat(folder, entry->d_name, folder, "other") == 0;
  }
  return false;
}

/* Takes a descriptor from another launch of the same app, and keeps it. If it is the folder around a document, that gets another
 * name. */
int keep(void) {
  struct sockaddr_un name = meeting();
  unlink(name.sun_path);
  int place = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(place, (struct sockaddr *)&name, sizeof name) == -1 || listen(place, 1) == -1) return 1;
  say("listening");
  char byte, text[512];
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } room;
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room};
  int other = accept4(place, NULL, NULL, SOCK_CLOEXEC), file = -1;
  if (recvmsg(other, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message)) return 2;
  memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
  struct stat status;
  if (fstat(file, &status) == 0 && S_ISDIR(status.st_mode) && !rename_in(file)) return 4;
  if (write(other, "x", 1) != 1) return 3;
  await_host();
  ssize_t length = pread(file, text, sizeof text, 0);
  say(length > 0 && contains_token(text, (size_t)length) ? "reads it" : "reads nothing");
  return 0;
}

/* Opens a document, sends it there, and keeps nothing; or sends the folder around it, and keeps the item that stands there under
 * another name then. */
int pass(void) {
  if (!take_document()) return 1;
  bool around = strcmp(stage("step"), "place") == 0;
  int file = open(around ? document.folder : document.path, O_RDONLY | O_CLOEXEC);
  struct sockaddr_un name = meeting();
  int place = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file == -1 || connect(place, (struct sockaddr *)&name, sizeof name) == -1) {
    printf("refused\t%s\n", error_name(errno));
    return 0;
  }
  char byte = 'x';
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } room = {{0}};
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof file);
  memcpy(CMSG_DATA(header), &file, sizeof file);
  if (sendmsg(place, &message, MSG_NOSIGNAL) != 1 || read(place, &byte, 1) != 1) return 2;
  int kept = around ? openat(file, "other", O_RDWR | O_CLOEXEC) : -1;
  close(file);
  say(kept != -1 || !around ? "passed" : "refused");
  stop_document();
  say("stopped");
  await_host();
  char text[512];
  ssize_t length = kept == -1 ? 0 : pread(kept, text, sizeof text, 0);
  say(length > 0 && contains_token(text, (size_t)length) ? "reads it" : "reads nothing");
  return 0;
}
