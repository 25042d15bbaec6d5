/* F: sockets, shared memory, keys, and the kernel's more dangerous services. */
#define _GNU_SOURCE
#include "battery.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

static void connect_unix(const char *attempt, const char *name, bool abstract) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(name);
  if (length + 2 > sizeof address.sun_path) return unable(attempt, "the path is too long for a socket");
  memcpy(address.sun_path + abstract, name, length);
  int place = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (place == -1) return refused(attempt, errno, "no socket");
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract + length);
  if (connect(place, (struct sockaddr *)&address, size) == 0) {
    reached(attempt, "connected to %s%s", abstract ? "@" : "", name);
  } else {
    refused(attempt, errno, "%s%s", abstract ? "@" : "", name);
  }
  close(place);
}

/* An abstract socket is nowhere in the file system: only a network namespace, or Landlock, keeps it away. */
static void f1(void) {
  if (!*stage("abstract")) return unable("connect", "there is no listener");
  connect_unix("connect", stage("abstract"), true);
}

/* Services of the host at their paths: the bus, docker, the user's agents. A read-only mount does not stop connect. */
static void f2(void) {
  char path[4096];
  if (stage_path(path, sizeof path, "stage", "folder", "socket")) connect_unix("stage", path, false);
  static const char *const known[] = {"/run/dbus/system_bus_socket", "/run/systemd/private", "/run/docker.sock"};
  for (size_t i = 0; i < 3; i++) {
    if (access(known[i], F_OK) == 0) connect_unix(strrchr(known[i], '/') + 1, known[i], false);
  }
}

/* A socket that lies in a folder which was granted for its documents. */
static void f3(void) {
  char path[4096];
  if (!stage_path(path, sizeof path, "connect", "granted", "socket")) return;
  connect_unix("connect", path, false);
  /* The same from the folder itself: no part of the address says where that is. */
  int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  *strrchr(path, '/') = 0;
  if (chdir(path) == -1) {
    refused("relative", errno, "chdir %s", path);
  } else {
    connect_unix("relative", "socket", false);
  }
  if (here != -1 && fchdir(here) == 0) close(here);
}

static void try_family(const char *attempt, int family, int type, int protocol) {
  int place = socket(family, type | SOCK_CLOEXEC, protocol);
  judge(attempt, place, "a socket of that family");
  if (place != -1) close(place);
}

/* Sends nothing: connecting a datagram socket only asks whether there is a way. */
static void try_route(const char *attempt, const char *address) {
  int place = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (place == -1) return refused(attempt, errno, "%s", address);
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(80)};
  inet_pton(AF_INET, address, &name.sin_addr);
  judge(attempt, connect(place, (struct sockaddr *)&name, sizeof name), address);
  close(place);
}

/* The host's own services, the cloud's metadata, raw packets, and families that reach other machines or the kernel. */
static void f5(void) {
  long port = stage_number("port");
  int place = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (port <= 0) {
    unable("inet tcp", "there is no listener");
  } else if (place == -1) {
    refused("inet tcp", errno, "127.0.0.1:%ld", port);
  } else {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    judge("inet tcp", connect(place, (struct sockaddr *)&name, sizeof name), "a service on the host's 127.0.0.1");
  }
  if (place != -1) close(place);
  try_route("inet route", "169.254.169.254");
  try_family("inet6", AF_INET6, SOCK_DGRAM, 0);
  try_family("packet", AF_PACKET, SOCK_RAW, 0);
  try_family("raw", AF_INET, SOCK_RAW, IPPROTO_ICMP);
  try_family("vsock", AF_VSOCK, SOCK_STREAM, 0);
  try_family("alg", AF_ALG, SOCK_SEQPACKET, 0);
  try_family("netlink", AF_NETLINK, SOCK_RAW, 0);
  try_family("bluetooth", AF_BLUETOOTH, SOCK_RAW, 0);
}

/* Shared memory, semaphores and queues of the host's programs, by their keys and names. */
static void f6(void) {
  key_t key = (key_t)stage_number("key");
  if (key <= 0) return unable("shm", "there is none to look for");
  int memory = shmget(key, 0, 0);
  void *bytes = memory == -1 ? (void *)-1 : shmat(memory, NULL, SHM_RDONLY);
  if (bytes != (void *)-1 && contains_token(bytes, 256)) {
    reached("shm", "a host program's shared memory was read");
  } else {
    refused("shm", errno, "shmget");
  }
  judge("sem", semget(key, 0, 0), "semget");
  judge("msg", msgget(key, 0), "msgget");
  char name[128];
  snprintf(name, sizeof name, "/ambit-%s", stage("token"));
  mqd_t queue = mq_open(name, O_RDONLY);
  judge("mq", queue, "a host program's message queue");
  char path[160];
  snprintf(path, sizeof path, "/dev/shm%s", name);
  if (holds_token(AT_FDCWD, path)) {
    reached("dev shm", "%s was read", path);
  } else {
    refused("dev shm", errno, "%s", path);
  }
}

/* Key rings know no namespaces but the user's. A key is made in the process's own ring, which goes with it. */
static void f7(void) {
  static const char description[] = "ambit-battery";
  judge("add_key", syscall(SYS_add_key, "user", description, "x", 1UL, KEY_SPEC_PROCESS_KEYRING), "add_key");
  judge_permission("request_key", syscall(SYS_request_key, "user", "ambit-none", NULL, KEY_SPEC_PROCESS_KEYRING), "request_key");
  judge_permission("session", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0), "the session's keyring");
  judge_permission("user", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 0), "the user's keyring");
}

/* Services of the kernel from which exploits are built. */
static void f8(void) {
  judge("userfaultfd", syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */), "userfaultfd");
  struct perf_event_attr attributes = {
      .type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};
  judge("perf", syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0), "perf_event_open");
  union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
  judge("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map), "bpf(BPF_MAP_CREATE)");
  judge("memfd_secret", syscall(SYS_memfd_secret, 0), "memfd_secret");
}

/* ---- F9: the broker ---- */

static void flood(void) {
  static const char request[] = "{\"method\":\"io.ambit.Access.Status\"}";
  int place = broker_connect();
  if (place == -1) return unable("flood", "no connection: %s", error_name(errno));
  fcntl(place, F_SETFL, O_NONBLOCK);
  int sent = 0;
  while (sent < 65000 && send(place, request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof request) sent++;
  const char *reply = broker_call("io.ambit.Access.Status", "{}");
  if (reply && !is_error(reply)) {
    refused("flood", 0, "held back after %d unread requests; others are answered", sent);
  } else {
    reached("flood", "after %d unread requests the broker answers nobody", sent);
  }
  close(place);
}

static void oversize(void) {
  int place = broker_connect();
  if (place == -1) return unable("oversize", "no connection: %s", error_name(errno));
  size_t length = 8 << 20;
  char *bytes = malloc(length);
  if (!bytes) return unable("oversize", "no memory");
  memset(bytes, 'x', length);
  bool all = broker_send(place, bytes, length);
  free(bytes);
  close(place);
  const char *reply = broker_call("io.ambit.Access.Status", "{}");
  if (!all && reply && !is_error(reply)) {
    refused("oversize", 0, "the broker hung up on a message without end, and answers others");
  } else {
    reached("oversize", all ? "the broker took 8 MiB without an end" : "the broker answers nobody any more");
  }
}

/* The broker's protocol: made-up, borrowed and repeated identities, and messages made to bring it down. */
static void f9(void) {
  if (!*stage("broker")) return unable("broker", "there is no broker here");
  char parameters[9000];
  forge("made-up token", "io.ambit.Access.Start", "{\"scope\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}");
  snprintf(parameters, sizeof parameters, "{\"scope\":\"%s\"}", stage("foreignscope"));
  if (*stage("foreignscope")) forge("other app's token", "io.ambit.Access.Start", parameters);
  forge("launcher's call", "io.ambit.Launcher.Instances", "{}");
  forge("claimed identity", "io.ambit.Launcher.Prepare", "{\"bundleIdentifier\":\"io.ambit.verify.lender\"}");
  oversize();
  flood();
  const char *reply = broker_call("io.ambit.Access.Status", "{}");
  if (reply && !is_error(reply)) {
    static const char *const all[] = {"made-up token", "launcher's call", "claimed identity", "oversize", "flood"};
    for (size_t i = 0; i < 5; i++) control_holds(all[i], "an honest call is answered");
  } else {
    reached("alive", "the broker is gone");
  }
}

const struct probe section_f[] = {{"F1", f1}, {"F2", f2}, {"F3", f3}, {"F5", f5}, {"F6", f6},
                                  {"F7", f7}, {"F8", f8}, {"F9", f9}, {0}};
