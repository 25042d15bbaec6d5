#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

struct held {
  int terminal;
  const struct termios *before, *raw;
  const char *farewell;
  size_t farewell_length;
};

/* Waits for the end of the process that it is a copy of, and nothing else: a process that is killed outright
   restores nothing. */
static void keep(const struct held *held, int process) __attribute__((noreturn));

static void keep(const struct held *held, int process) {
  /* A session of its own: signals to the job, and to its group, do not reach it; and a terminal that is not its own it may
     set without being stopped for that (SIGTTOU). */
  setsid();
  prctl(PR_SET_NAME, "ambit-terminal", 0, 0, 0);
  int low = held->terminal < process ? held->terminal : process;
  int high = held->terminal < process ? process : held->terminal;
  if (low > 0) syscall(SYS_close_range, 0, (unsigned)low - 1, 0);
  if (high - low > 1) syscall(SYS_close_range, (unsigned)low + 1, (unsigned)high - 1, 0);
  syscall(SYS_close_range, (unsigned)high + 1, ~0U, 0);

  struct pollfd ended = {.fd = process, .events = POLLIN};
  while (poll(&ended, 1, -1) == -1 && errno == EINTR) {}

  /* A terminal that is held back (Ctrl-S) takes nothing; this process does not wait for that. */
  struct pollfd ready = {.fd = held->terminal, .events = POLLOUT};
  if (held->farewell_length > 0 && poll(&ready, 1, 200) == 1 && (ready.revents & POLLOUT)) {
    ssize_t ignored = write(held->terminal, held->farewell, held->farewell_length);
    (void)ignored;
  }
  /* Shells give their terminal their own settings when a job has died. Theirs stay. */
  struct termios now;
  if (tcgetattr(held->terminal, &now) == 0 && now.c_iflag == held->raw->c_iflag && now.c_oflag == held->raw->c_oflag &&
      now.c_lflag == held->raw->c_lflag)
    tcsetattr(held->terminal, TCSANOW, held->before);
  _exit(0);
}

pid_t ambit_keep_terminal(int terminal, const void *before, const void *raw, const char *farewell, size_t length) {
  struct held held = {
      .terminal = terminal, .before = before, .raw = raw, .farewell = farewell, .farewell_length = length};
  int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (process == -1) return -errno;
  sigset_t all, previous;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &previous);
  /* Not libc's fork, which runs handlers for a program that has threads; and its end sends no SIGCHLD. */
  long pid = syscall(SYS_clone, 0, 0, 0, 0, 0);
  if (pid == 0) keep(&held, process);
  int error = errno;
  sigprocmask(SIG_SETMASK, &previous, NULL);
  close(process);
  return pid == -1 ? -error : (pid_t)pid;
}

void ambit_dismiss_keeper(pid_t keeper) {
  kill(keeper, SIGKILL);
  while (waitpid(keeper, NULL, __WALL) == -1 && errno == EINTR) {}
}
