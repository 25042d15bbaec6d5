#define _GNU_SOURCE
#include "cguard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Younger than the headers of some distributions (linux/fanotify.h). */
#ifndef FAN_PRE_ACCESS
#define FAN_PRE_ACCESS 0x00100000
#endif
#ifndef FAN_DENY_ERRNO
#define FAN_DENY_ERRNO(error) (FAN_DENY | (((uint32_t)(error) & 0xff) << 24))
#endif
#ifndef FAN_MARK_IGNORE_SURV
#define FAN_MARK_IGNORE_SURV (0x00000400 | FAN_MARK_IGNORED_SURV_MODIFY)
#endif
#ifndef FAN_MARK_EVICTABLE
#define FAN_MARK_EVICTABLE 0x00000200
#endif

/* FAN_OPEN_PERM too: looking for holes (SEEK_DATA in lseek(2)) is no use of the content. */
#define CONTENT_EVENTS (FAN_OPEN_PERM | FAN_PRE_ACCESS)

static int answer(long result) { return result == -1 ? -errno : (int)result; }

int ambit_guard_open_group(void) {
  /* Without a limit to the queue: the kernel lets programs go on for which it has no room. O_NONBLOCK for the files: else a pipe in a
     folder, whose writer waits for the answer, could wait for that writer. */
  return answer(fanotify_init(
      FAN_CLASS_PRE_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS,
      O_RDONLY | O_LARGEFILE | O_CLOEXEC | O_NONBLOCK | O_NOATIME));
}

/* 1: for opens alone. A descriptor of O_PATH counts only as part of a path. */
static int mark(int group, unsigned flags, uint64_t more, int file) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (fanotify_mark(group, flags, CONTENT_EVENTS | more, AT_FDCWD, path) == 0) return 0;
  if (errno != EOPNOTSUPP && errno != EINVAL) return -errno;
  return fanotify_mark(group, flags, FAN_OPEN_PERM | more, AT_FDCWD, path) == 0 ? 1 : -errno;
}

int ambit_guard_watch(int group, int folder) { return mark(group, FAN_MARK_ADD | FAN_MARK_ONLYDIR, FAN_EVENT_ON_CHILD, folder); }

int ambit_guard_unwatch(int group, int folder) {
  return mark(group, FAN_MARK_REMOVE | FAN_MARK_ONLYDIR, FAN_EVENT_ON_CHILD, folder);
}

int ambit_guard_watch_file(int group, int file) { return mark(group, FAN_MARK_ADD, 0, file); }

int ambit_guard_unwatch_file(int group, int file) { return mark(group, FAN_MARK_REMOVE, 0, file); }

int ambit_guard_pass_over(int group, int file) {
  return mark(group, FAN_MARK_ADD | FAN_MARK_IGNORE_SURV | FAN_MARK_EVICTABLE, 0, file);
}

int ambit_guard_ask_again(int group, int file) { return mark(group, FAN_MARK_REMOVE | FAN_MARK_IGNORE_SURV, 0, file); }

int ambit_guard_read_events(int group, struct ambit_guard_event *events, size_t room) {
  struct fanotify_event_metadata buffer[64];
  if (room > sizeof buffer / sizeof *buffer) room = sizeof buffer / sizeof *buffer;
  ssize_t length = read(group, buffer, room * sizeof *buffer);
  if (length == -1) return -errno;
  int count = 0;
  for (struct fanotify_event_metadata *at = buffer; FAN_EVENT_OK(at, length); at = FAN_EVENT_NEXT(at, length)) {
    if (at->vers != FANOTIFY_METADATA_VERSION) return -EPROTO;
    if (at->fd >= 0) events[count++] = (struct ambit_guard_event){.file = at->fd, .pid = at->pid};
  }
  return count;
}

static int respond(int group, int file, uint32_t response) {
  struct fanotify_response record = {.fd = file, .response = response};
  return write(group, &record, sizeof record) == -1 ? -errno : 0;
}

int ambit_guard_allow(int group, int file) { return respond(group, file, FAN_ALLOW); }

int ambit_guard_deny(int group, int file, int error) {
  int result = respond(group, file, FAN_DENY_ERRNO(error));
  /* Else the program would wait for ever. */
  return result == -EINVAL ? respond(group, file, FAN_DENY) : result;
}

int ambit_guard_status(int file, struct ambit_guard_file *status) {
  struct stat found;
  if (fstat(file, &found) == -1) return -errno;
  *status = (struct ambit_guard_file){.device = found.st_dev, .inode = found.st_ino, .mode = found.st_mode};
  return 0;
}

int ambit_guard_socket_pair(int sockets[2]) {
  return answer(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets));
}

int ambit_guard_send(int socket, const struct ambit_guard_message *message, int file) {
  union { struct cmsghdr header; char bytes[CMSG_SPACE(sizeof(int))]; } control = {0};
  struct iovec part = {.iov_base = (void *)message, .iov_len = sizeof *message};
  struct msghdr record = {.msg_iov = &part, .msg_iovlen = 1};
  if (file >= 0) {
    record.msg_control = &control;
    record.msg_controllen = sizeof control.bytes;
    control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof file)};
    memcpy(CMSG_DATA(&control.header), &file, sizeof file);
  }
  return sendmsg(socket, &record, MSG_NOSIGNAL | MSG_DONTWAIT) == -1 ? -errno : 0;
}

int ambit_guard_receive(int socket, struct ambit_guard_message *message, int *file) {
  union { struct cmsghdr header; char bytes[CMSG_SPACE(sizeof(int))]; } control;
  struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
  struct msghdr record = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes};
  *file = -1;
  ssize_t length = recvmsg(socket, &record, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (length == -1) return errno == ECONNRESET ? 0 : -errno;
  struct cmsghdr *header = CMSG_FIRSTHDR(&record);
  if (header != NULL && header->cmsg_type == SCM_RIGHTS) memcpy(file, CMSG_DATA(header), sizeof *file);
  if (length == 0) return 0;
  return length == sizeof *message ? 1 : -EPROTO;
}

int ambit_guard_wait(int group, int socket, int for_writing, int milliseconds) {
  struct pollfd entries[2] = {
      {.fd = group, .events = POLLIN}, {.fd = socket, .events = POLLIN | (for_writing ? POLLOUT : 0)}};
  int ready = poll(entries, 2, milliseconds);
  if (ready == -1) return errno == EINTR ? 0 : -errno;
  return (entries[0].revents ? 1 : 0) | (entries[1].revents & ~POLLOUT ? 2 : 0) | (entries[1].revents & POLLOUT ? 4 : 0);
}

int64_t ambit_guard_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
