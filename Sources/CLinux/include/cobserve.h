#ifndef COBSERVE_H
#define COBSERVE_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The listening side of seccomp user notifications (seccomp_unotify(2)). All functions return 0 or more, or -errno.
 */

/* The act of a call that a listener of Ambit's looks at. */
enum ambit_call_kind {
  AMBIT_CALL_OTHER = 0,
  AMBIT_CALL_OPEN,    /* path: argument 0, flags: 1 */
  AMBIT_CALL_OPENAT,  /* folder: argument 0, path: 1, flags: 2 */
  AMBIT_CALL_CREAT,   /* path: argument 0 */
  AMBIT_CALL_CONNECT, /* address: argument 1, its length: 2 */
  AMBIT_CALL_SOCKET,  /* family: argument 0 */
  AMBIT_CALL_RENAME,  /* paths: arguments 0 and 1 */
  AMBIT_CALL_RENAMEAT, /* folders: arguments 0 and 2, paths: 1 and 3 */
  AMBIT_CALL_RENAMEAT2, /* the same, and flags: 4 */
  AMBIT_CALL_WATCH,     /* inotify_init(2) */
  AMBIT_CALL_SENDFILE,  /* descriptors: arguments 0 (to) and 1 (from), address of the offset: 2, bytes: 3 */
};

struct ambit_notification {
  uint64_t id;
  uint64_t arguments[6];
  int32_t pid; /* of the calling thread, in the listener's pid namespace; 0 if it has none there */
  int32_t number;
  int32_t kind;
  int32_t reserved;
};

/* Lets a notified call be handed over without waking up another processor. -errno where the kernel is older. */
int ambit_notify_sync(int listener);

/* The next notification, once the listener is readable. -ENOENT: the caller is gone. */
int ambit_notify_receive(int listener, struct ambit_notification *notification);

/* Answers: 0 lets the kernel go on with the call, which reads its arguments again; an errno makes it fail. */
int ambit_notify_answer(int listener, uint64_t id, int error);

/* 0 while the call is waiting: the bytes that were read of its process since it was received were that process's. */
int ambit_notify_valid(int listener, uint64_t id);

/* Copies bytes of another process's memory (process_vm_readv(2)); the number that could be copied. */
ssize_t ambit_read_memory(pid_t pid, uint64_t address, void *bytes, size_t count);

#endif
