#ifndef CSUPERVISE_H
#define CSUPERVISE_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Doing a call in place of the process that made it (seccomp_unotify(2)). All functions return 0 or more, or -errno;
 * descriptors are close-on-exec.
 */

/* How often a connect that waits looks whether it is still wanted, milliseconds. */
#define AMBIT_CONNECT_TICK 100

/* pidfd_open(2) of a thread: with PIDFD_THREAD where the kernel has it (6.9), else of the thread's process. */
int ambit_pidfd_thread(pid_t thread);

/* pidfd_getfd(2): the open file that another process has under that number. */
int ambit_pidfd_getfd(int pidfd, int number);

/* Of an open file: the socket's family (SO_DOMAIN) and its type. -ENOTSOCK, -EBADF: no socket. */
int ambit_socket_family(int descriptor, int32_t *family, int32_t *type);

/* 1 if calls on the open file do not wait (O_NONBLOCK), else 0. */
int ambit_is_nonblocking(int descriptor);

/* readlink(2), of which the result may be any bytes. */
ssize_t ambit_link_bytes(const char *path, uint8_t *bytes, size_t room);

/* The mount that an open file was reached by (statx(2), STATX_MNT_ID, Linux 5.8). */
int64_t ambit_mount_id(int descriptor);

/* 1 if the mount that an open file was reached by is read-only, else 0 (fstatfs(2)). */
int ambit_is_read_only(int descriptor);

/* Whether this thread may make and remove names in an open folder (faccessat2(2)). */
int ambit_may_change(int folder);

/* Lets this thread be looked at by the kernel as a process of this id and no other, or, with AMBIT_SAME_ID, as one without
   capabilities; and back. Of this thread alone, so by number: libc would change every thread. */
#define AMBIT_SAME_ID UINT32_MAX
int ambit_act_as(uint32_t id);
int ambit_act_as_oneself(uint32_t id);

/* Gives up the supplementary groups of this thread, where it may. */
void ambit_drop_thread_groups(void);

/* Makes the signal that wakes waiting connects harmless. Once, before the first ambit_connect_for. */
void ambit_prepare_connects(void);

/* connect(2) on `socket` for the thread that the notification is of. While it waits it looks whether the notification is still
   valid and whether the thread has a signal to take. -ECANCELED: no process waits for the answer any more. -512 (ERESTARTSYS,
   for ambit_notify_result): the kernel is to take the signal and, as far as its handler wants that, make the call again. */
int ambit_connect_for(int listener, uint64_t id, pid_t thread, int socket, const void *address, uint32_t length);

/* Answers a call that has been done here: 0, or an errno. */
int ambit_notify_result(int listener, uint64_t id, int error);

/* The same of a call that succeeded with a value. */
int ambit_notify_value(int listener, uint64_t id, int64_t value);

/* Copies bytes from one regular file to another, as sendfile(2) does; at most AMBIT_COPY_MOST. offset: where to read, moved on;
   NULL: at the file's own position, which is moved on. ceiling: the caller's limit on the size of files. The number of bytes, or
   -errno: -EINVAL of anything but regular files, and of one that is open for appending. */
#define AMBIT_COPY_MOST (1 << 20)
ssize_t ambit_copy_file(int from, int to, int64_t *offset, size_t count, uint64_t ceiling);

/* A process's limit on the size of its files (RLIMIT_FSIZE). */
int ambit_file_size_limit(pid_t process, uint64_t *limit);

/* Writes into another process's memory (process_vm_writev(2)): 0, or -errno. */
int ambit_write_memory(pid_t process, uint64_t address, const void *bytes, size_t count);

#endif
