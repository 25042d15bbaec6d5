/* The battery's other parts: the host's side of the stage, and programs that are launched to be looked at from outside. */
#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Standard input ends when the process that started this is done, or dead: nothing that is started here outlives it. */
static bool input_ended(int milliseconds) {
  struct pollfd entry = {.fd = 0, .events = POLLIN};
  char byte;
  return poll(&entry, 1, milliseconds) > 0 && read(0, &byte, 1) <= 0;
}

static int wait_for_end(void) {
  alarm(60);
  while (!input_ended(1000)) {}
  return 0;
}

static int listen_unix(const char *name, bool abstract) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(name);
  if (length + 2 > sizeof address.sun_path) return -1;
  memcpy(address.sun_path + abstract, name, length);
  int place = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract + length + !abstract);
  if (bind(place, (struct sockaddr *)&address, size) == -1 || listen(place, 64) == -1) return -1;
  if (!abstract) chmod(name, 0666);
  return place;
}

static int listen_tcp(void) {
  int place = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof name;
  if (place == -1 || bind(place, (struct sockaddr *)&name, sizeof name) == -1 || listen(place, 64) == -1) return 0;
  return getsockname(place, (struct sockaddr *)&name, &size) == 0 ? ntohs(name.sin_port) : 0;
}

/* Moves a part of the granted folder out while an app has it open, when the app asks by making a file; and back. */
static void move_on_request(void) {
  char request[4096], answer[4096], part[4096], elsewhere[4096];
  snprintf(request, sizeof request, "%s/move", stage("granted"));
  snprintf(answer, sizeof answer, "%s/moved", stage("granted"));
  snprintf(part, sizeof part, "%s/part", stage("granted"));
  snprintf(elsewhere, sizeof elsewhere, "%s/part", stage("folder"));
  bool asked = access(request, F_OK) == 0, is_moved = access(answer, F_OK) == 0;
  if (asked && !is_moved && rename(part, elsewhere) == 0) {
    int file = open(answer, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file != -1) close(file);
  } else if (!asked && is_moved) {
    rename(elsewhere, part);
    unlink(answer);
  }
}

/* The host's side: listeners, shared memory, queues, a process to signal. Ends, and takes all of it away, with its input. */
int stagehand(void) {
  char name[128], path[4096], file[256];
  umask(0);
  signal(SIGPIPE, SIG_IGN);
  snprintf(name, sizeof name, "ambit-%s", stage("token"));
  bool ready = listen_unix(name, true) != -1;
  snprintf(path, sizeof path, "%s/socket", stage("folder"));
  ready &= listen_unix(path, false) != -1;
  snprintf(path, sizeof path, "%s/socket", stage("granted"));
  ready &= listen_unix(path, false) != -1;
  int port = listen_tcp();
  char digits[8];
  snprintf(digits, sizeof digits, "%.7s", stage("token"));
  key_t key = (key_t)strtoul(digits, NULL, 16) | 1;
  int memory = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666), semaphore = semget(key, 1, IPC_CREAT | IPC_EXCL | 0666);
  int messages = msgget(key, IPC_CREAT | IPC_EXCL | 0666);
  void *bytes = memory == -1 ? (void *)-1 : shmat(memory, NULL, 0);
  if (bytes != (void *)-1) strcpy(bytes, stage("token"));
  snprintf(name, sizeof name, "/ambit-%s", stage("token"));
  mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666, NULL);
  snprintf(file, sizeof file, "/dev/shm%s", name);
  int shared = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (shared != -1 && write(shared, stage("token"), strlen(stage("token"))) < 0) unlink(file);
  printf("target=%d\tport=%d\tkey=%d\tabstract=%s%s\n", getpid(), port, key, name + 1, ready ? "" : "\tincomplete=1");
  fflush(stdout);
  while (!input_ended(10)) move_on_request();
  shmctl(memory, IPC_RMID, NULL);
  semctl(semaphore, 0, IPC_RMID);
  msgctl(messages, IPC_RMID, NULL);
  if (queue != (mqd_t)-1) mq_unlink(name);
  if (shared != -1) unlink(file);
  return 0;
}

/* Exchanges two names as fast as it can (CVE-2021-30465): a program that looks at one and then uses it gets the other. */
int swap_names(const char *one, const char *other) {
  printf("ready\n");
  fflush(stdout);
  long count = 0;
  alarm(3600);
  for (;; count++) {
    if (renameat2(AT_FDCWD, one, AT_FDCWD, other, 2 /* RENAME_EXCHANGE */) == -1) {
      printf("failed %s\n", error_name(errno));
      return 1;
    }
    if (count % 64 == 63 && input_ended(0)) break;
  }
  if (count % 2 == 0) renameat2(AT_FDCWD, one, AT_FDCWD, other, 2);
  printf("swapped %ld\n", count + 1);
  return 0;
}

/* Whether something is there that only the wrong folder has. */
int look(const char *path) { return access(path, F_OK) == 0 ? 43 : 42; }

/* Leaves a process behind that has cut all ties but its standard output. */
int leave_daemon(void) {
  pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() == 0) {
      signal(SIGHUP, SIG_IGN);
      _exit(wait_for_end());
    }
    _exit(0);
  }
  printf("ready\n");
  return child > 0 ? 0 : 1;
}

/* Some processes of different ties, all with this standard output. */
int hold(void) {
  for (int i = 0; i < 4; i++) {
    if (fork() == 0) {
      if (i % 2) setsid();
      signal(SIGHUP, SIG_IGN);
      signal(SIGTERM, SIG_IGN);
      _exit(wait_for_end());
    }
  }
  printf("ready\n");
  fflush(stdout);
  return wait_for_end();
}

/* Takes a document, shows that it can use it, and tells its token and its bookmark to any listener. */
int lend(void) {
  char scope[512], parameters[1000];
  static char bookmark[8192];
  const char *reply = broker_call("io.ambit.Picker.Pick", "{\"mode\":\"open\"}");
  if (!reply || !reply_string(reply, "scope", scope, sizeof scope)) return 1;
  snprintf(parameters, sizeof parameters, "{\"scope\":\"%s\"}", scope);
  reply = broker_call("io.ambit.Access.Start", parameters);
  if (!reply || is_error(reply)) return 2;
  reply = broker_call("io.ambit.Bookmarks.Create", parameters);
  if (!reply || !reply_string(reply, "bookmark", bookmark, sizeof bookmark)) return 3;
  printf("foreignscope=%s\tforeignbookmark=%s\n", scope, bookmark);
  fflush(stdout);
  return wait_for_end();
}
