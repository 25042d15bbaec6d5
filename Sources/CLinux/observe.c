#define _GNU_SOURCE
#include "cobserve.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

static int retried(int listener, unsigned long request, void *argument) {
  int result;
  do {
    result = ioctl(listener, request, argument);
  } while (result == -1 && errno == EINTR);
  return result == -1 ? -errno : result;
}

int ambit_notify_sync(int listener) {
  /* By value: this one request takes its argument so. */
  int result = ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
  return result == -1 ? -errno : 0;
}

static int32_t kind_of(int number) {
  switch (number) {
#ifdef SYS_open
  case SYS_open: return AMBIT_CALL_OPEN;
#endif
#ifdef SYS_creat
  case SYS_creat: return AMBIT_CALL_CREAT;
#endif
#ifdef SYS_rename
  case SYS_rename: return AMBIT_CALL_RENAME;
#endif
#ifdef SYS_renameat
  case SYS_renameat: return AMBIT_CALL_RENAMEAT;
#endif
  case SYS_renameat2: return AMBIT_CALL_RENAMEAT2;
#ifdef SYS_inotify_init
  case SYS_inotify_init:
#endif
  case SYS_inotify_init1: return AMBIT_CALL_WATCH;
  case SYS_openat: return AMBIT_CALL_OPENAT;
  case SYS_sendfile: return AMBIT_CALL_SENDFILE;
  case SYS_connect: return AMBIT_CALL_CONNECT;
  case SYS_socket:
  case SYS_socketpair: return AMBIT_CALL_SOCKET;
  default: return AMBIT_CALL_OTHER;
  }
}

int ambit_notify_receive(int listener, struct ambit_notification *notification) {
  /* The kernel writes as much as its own structure is long, which may be more than the one of these headers. */
  union {
    struct seccomp_notif notification;
    char room[512];
  } received;
  memset(&received, 0, sizeof received);
  int result = retried(listener, SECCOMP_IOCTL_NOTIF_RECV, &received);
  if (result < 0) return result;
  memset(notification, 0, sizeof *notification);
  notification->id = received.notification.id;
  notification->pid = (int32_t)received.notification.pid;
  notification->number = received.notification.data.nr;
  notification->kind = kind_of(received.notification.data.nr);
  for (int i = 0; i < 6; i++) notification->arguments[i] = received.notification.data.args[i];
  return 0;
}

int ambit_notify_answer(int listener, uint64_t id, int error) {
  union {
    struct seccomp_notif_resp response;
    char room[512];
  } answer;
  memset(&answer, 0, sizeof answer);
  answer.response.id = id;
  if (error == 0) answer.response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  else answer.response.error = -error;
  return retried(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

int ambit_notify_valid(int listener, uint64_t id) { return retried(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id); }

ssize_t ambit_read_memory(pid_t pid, uint64_t address, void *bytes, size_t count) {
  struct iovec here = {.iov_base = bytes, .iov_len = count};
  struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = count};
  ssize_t copied = process_vm_readv(pid, &here, 1, &there, 1, 0);
  return copied == -1 ? -errno : copied;
}
