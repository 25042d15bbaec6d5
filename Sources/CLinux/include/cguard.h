#ifndef AMBIT_CGUARD_H
#define AMBIT_CGUARD_H

#include <stddef.h>
#include <stdint.h>

/* fanotify(7) for permission events before the content of a file is used (FAN_CLASS_PRE_CONTENT, Linux 6.14). All functions return
   -errno or a number of 0 and more; none allocates. */

/* A group: its descriptor is close-on-exec and never blocks. While any process has a descriptor of it, the openers wait for answers;
   when the last one is closed, the kernel lets all of them go on. -EINVAL: not with this kernel; -EPERM: without CAP_SYS_ADMIN. */
int ambit_guard_open_group(void);

/* Asks the group about opens, and uses of the content, of the files that are directly in a folder. The folder may be open by O_PATH.
   It counts for every mount of the file system, and the kernel asks from the return on. 1: it asks about opens alone, where the kernel
   or the file system (tmpfs, overlayfs) has no more. */
int ambit_guard_watch(int group, int folder);
/* No longer. -ENOENT: it did not. */
int ambit_guard_unwatch(int group, int folder);

/* Asks about one file under each of its names, and when it is opened by its handle. The kernel keeps its inode in memory for that. */
int ambit_guard_watch_file(int group, int file);
/* No longer. -ENOENT: it did not. */
int ambit_guard_unwatch_file(int group, int file);

/* Does not ask about one file, until ambit_guard_ask_again or until the kernel forgets its inode. The file may be open by O_PATH.
   -EEXIST: it is being watched itself. */
int ambit_guard_pass_over(int group, int file);
/* Asks again. -ENOENT: it was not passed over. */
int ambit_guard_ask_again(int group, int file);

/* A program that waits. */
struct ambit_guard_event {
  /* The file, open for reading, to be closed; the answer names it by this number. Opening it again is an event of its own. */
  int32_t file;
  /* The process (thread group) as this process's pid namespace has it; 0: it is in no namespace below. */
  int32_t pid;
};

/* Reads the events that wait, without waiting for any: how many. On an error other than EBADF, EINVAL, EFAULT and EPROTO the kernel
   could not open the file, and has denied the event (EPERM): -EMFILE, and also -EAGAIN, which else means that there is none, where a
   process has a lease for writing (F_SETLEASE in fcntl(2)). */
int ambit_guard_read_events(int group, struct ambit_guard_event *events, size_t room);

/* Lets the program go on. -ENOENT: it waits no longer. */
int ambit_guard_allow(int group, int file);
/* Its call fails with an error: EPERM, EIO, EBUSY, ETXTBSY, EAGAIN, ENOSPC or EDQUOT. With another one, or where the
   kernel has no choice, EPERM. */
int ambit_guard_deny(int group, int file, int error);

struct ambit_guard_file {
  uint64_t device;
  uint64_t inode;
  /* As st_mode of stat(2). */
  uint32_t mode;
};

/* fstat(2), which also works with O_PATH. */
int ambit_guard_status(int file, struct ambit_guard_file *status);

/* One record of the socket between a broker and its guard. */
struct ambit_guard_message {
  uint64_t device;
  uint64_t inode;
  uint32_t kind;
  uint32_t unused;
};

/* A pair of sockets (SOCK_SEQPACKET, close-on-exec, without waiting). */
int ambit_guard_socket_pair(int sockets[2]);
/* Sends one record, and a descriptor with it unless that is -1. -EAGAIN: it does not fit now. */
int ambit_guard_send(int socket, const struct ambit_guard_message *message, int file);
/* Takes one record: 1, or 0 when the other end is closed. file: the descriptor that came with it, or -1. */
int ambit_guard_receive(int socket, struct ambit_guard_message *message, int *file);

/* Waits for a group's events and for a socket's (poll(2)). group or socket: -1 where it does not count. Milliseconds; -1: no end.
   Bits: 1 the group can be read, 2 the socket can be read or has been closed, 4 the socket can be written. */
int ambit_guard_wait(int group, int socket, int for_writing, int milliseconds);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t ambit_guard_clock(void);

#endif
