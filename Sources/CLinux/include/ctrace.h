#ifndef CTRACE_H
#define CTRACE_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "clinux.h"

/*
 * Following a program and all its children, call by call (ptrace(2)). All functions return 0 or more, or -errno; descriptors are
 * close-on-exec. All calls about one program are made by the thread that has started it.
 */

/* Calls that change files, in one form for all their variants. A call of any other kind is AMBIT_TRACED_NONE. */
enum ambit_traced_kind {
  AMBIT_TRACED_NONE,
  /* first_folder, first_path, flags (O_*). No path: open_by_handle_at(2). */
  AMBIT_TRACED_OPEN,
  /* file, buffer, count; offset, or -1 for the file's own position. */
  AMBIT_TRACED_WRITE,
  /* The same, with count vectors (struct iovec) at buffer. flags: RWF_*. */
  AMBIT_TRACED_WRITE_VECTOR,
  /* file or first_path; offset is the new size. */
  AMBIT_TRACED_RESIZE,
  /* first_*, second_*, flags (RENAME_*). */
  AMBIT_TRACED_RENAME,
  /* first_*, second_*, flags (AT_*). */
  AMBIT_TRACED_LINK,
  /* first_path is the link's text, second_* its place. */
  AMBIT_TRACED_SYMLINK,
  /* first_*, flags (AT_REMOVEDIR). */
  AMBIT_TRACED_UNLINK,
  AMBIT_TRACED_MAKE_FOLDER,
  /* first_*, flags: the mode. */
  AMBIT_TRACED_MAKE_NODE,
  /* file, flags (FALLOC_FL_*), offset, count. */
  AMBIT_TRACED_ALLOCATE,
  /* file, second_file, and for each the address of its offset or 0: first_path, second_path; count. */
  AMBIT_TRACED_COPY,
  /* file shares the content of second_file (FICLONE, FICLONERANGE). */
  AMBIT_TRACED_CLONE,
  /* file. */
  AMBIT_TRACED_SYNC,
  /* file, or -1. */
  AMBIT_TRACED_SYNC_ALL,
  /* file, flags: 1 if changes of the memory are changes of the file. */
  AMBIT_TRACED_MAP,
  /* msync(2) that waits. */
  AMBIT_TRACED_SYNC_MAP,
  /* io_uring(7), io_submit(2): calls that no call is made for. */
  AMBIT_TRACED_RING,
};

struct ambit_traced_call {
  int32_t kind;
  int32_t file, second_file;
  int32_t first_folder, second_folder;
  uint64_t first_path, second_path;
  uint64_t buffer, count;
  int64_t offset;
  uint64_t flags;
};

enum ambit_trace_kind {
  /* A thread is about to make a call, or has made it: value is its result. */
  AMBIT_TRACE_ENTRY,
  AMBIT_TRACE_EXIT,
  /* value: the number of a thread or process that it has made. */
  AMBIT_TRACE_CHILD,
  AMBIT_TRACE_PROGRAM,
  /* value: the signal that it is about to get. */
  AMBIT_TRACE_SIGNAL,
  /* It is stopped as a whole, like by ^Z. */
  AMBIT_TRACE_GROUP,
  /* Any other reason; it only has to be resumed. */
  AMBIT_TRACE_OTHER,
  /* value: the status as in waitpid(2). The thread is no more. */
  AMBIT_TRACE_END,
  /* No thread is left. */
  AMBIT_TRACE_NONE,
};

struct ambit_trace_stop {
  int32_t kind;
  pid_t thread;
  int64_t value;
  struct ambit_traced_call call;
};

/* 1 if calls of this architecture are understood. */
int ambit_trace_is_possible(void);

/* Starts a program that is found in PATH. kept: a descriptor that it gets under that number, or -1. quiet: its streams lead nowhere.
   failure: a pipe that has the errno in it if the program could not be started. */
pid_t ambit_trace_start(char *const *arguments, char *const *environment, int kept, int ends_with_tracer, int quiet,
                        int *failure);
/* Waits until one of the threads stops or ends. */
int ambit_trace_wait(struct ambit_trace_stop *stop);
/* Lets a stopped thread go on to its next call. signal: delivered to it, or 0. */
int ambit_trace_resume(pid_t thread, int signal);
/* Leaves a thread stopped that was stopped with its process. */
int ambit_trace_listen(pid_t thread);
/* Stops a thread wherever it is; ambit_trace_release then lets it go on without being followed. */
int ambit_trace_interrupt(pid_t thread);
int ambit_trace_release(pid_t thread, int signal);

/* Reads text up to its NUL; -ENAMETOOLONG if there is none within the room. The length without NUL. */
ssize_t ambit_read_text(pid_t thread, uint64_t address, char *text, size_t room);

/* The file that another process has open under a number: stat(2) through /proc. */
int ambit_traced_status(pid_t thread, int file, struct ambit_stat *result);
/* 1 if an open file lies in procfs. */
int ambit_is_procfs(int file);
/* Runs a program to its end, in a session of its own: its status as in waitpid(2). A folder to run it in, and files for its output.
   After so many milliseconds, or with more than most bytes of output, it is killed: -ETIMEDOUT, -EFBIG. */
int ambit_run_captured(char *const *arguments, char *const *environment, const char *folder, int output, int errors, int patience,
                       int64_t most);
/* A file of this process's memory to be told things by (memfd_create(2)), at a number above those that shells use. */
int ambit_mark_file(void);
#endif
