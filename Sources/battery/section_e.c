/* E: the filter: ways round it, under it, or to make it give way. */
#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

static void *do_nothing(void *argument) { return argument; }

/* A filter cannot look into clone3's structure, so it must be answered ENOSYS: libc then falls back (moby#42680). */
static void e1(void) {
  long result = syscall(SYS_clone3, (void *)1, 64UL);
  if (result == -1 && errno == ENOSYS) {
    refused("clone3", ENOSYS, "libc falls back to clone");
  } else if (result == -1 && errno == EPERM) {
    reached("clone3", "EPERM, for which libc has no other way; it has to be ENOSYS");
  } else {
    reached("clone3", "%s: the call got through to its arguments", result == -1 ? error_name(errno) : "done");
  }
  pthread_t thread;
  int error = pthread_create(&thread, NULL, do_nothing, NULL);
  if (error == 0) {
    pthread_join(thread, NULL);
    control_holds("clone3", "threads start");
  } else {
    reached("threads", "no thread can be started: %s", error_name(error));
  }
}

/* A second table of system calls with other numbers (x32, int 0x80), which a filter by number does not know. */
#if defined(__x86_64__)
static int foreign_32(void *state) {
  (void)state;
  long result;
  /* getpid, as number 20 of the 32-bit table. */
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
  return result > 0 ? 0 : 1;
}

static int foreign_x32(void *state) {
  (void)state;
  return syscall(0x40000000L | SYS_getpid) > 0 ? 0 : 1;
}
#endif

static void e3(void) {
#if defined(__x86_64__)
  static const struct {
    const char *name;
    int (*run)(void *);
  } tables[] = {{"int 0x80", foreign_32}, {"x32", foreign_x32}};
  for (int i = 0; i < 2; i++) {
    int status = in_child(tables[i].run, NULL);
    if (status == 0) {
      reached(tables[i].name, "getpid by another table");
    } else if (status == 128 + SIGSYS) {
      refused(tables[i].name, 0, "SIGSYS");
    } else if (status == 128 + SIGSEGV) {
      unable(tables[i].name, "this kernel has no such table (SIGSEGV)");
    } else {
      refused(tables[i].name, ENOSYS, "getpid by another table");
    }
  }
#else
  unable("table", "this architecture has one table");
#endif
}

/* io_uring does calls that no filter sees (nsjail#341, moby#46762). */
static void e5(void) {
  char parameters[120] = {0};
  judge("io_uring", syscall(SYS_io_uring_setup, 1U, parameters), "io_uring_setup");
}

static bool stack_filter(bool listener) {
  struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {.len = 1, .filter = &allow};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, listener ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &program) != -1;
}

static int loosened(void *state) {
  if (!stack_filter(state != NULL)) return 200;
  return unshare(CLONE_NEWUSER) == -1 ? errno : 0;
}

/* A filter of one's own that allows everything, alone and with a listener: the strictest answer must stay. */
static void e6(void) {
  static const char *const names[] = {"allowing filter", "listener"};
  for (int i = 0; i < 2; i++) {
    int status = in_child(loosened, i == 0 ? NULL : (void *)names);
    if (status == 200) {
      refused(names[i], 0, "such a filter cannot be installed");
    } else {
      errno = status;
      judge(names[i], status == 0 ? 0 : -1, "unshare(CLONE_NEWUSER) under it");
    }
  }
}

/* A call changed by a tracer after it was checked (before Linux 4.8). Today the check comes after the tracer. */
static void e7(void) { unable("tracer", "Linux 4.8 and later check a call after its tracer has changed it; see C2"); }

static volatile sig_atomic_t in_handler;

static void handler(int number) {
  (void)number;
  in_handler = unshare(CLONE_NEWUSER) == -1 ? errno : -1;
}

static int interrupted(void *state) {
  (void)state;
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval soon = {.it_value = {.tv_usec = 20000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  /* Interrupted in its middle, it is restarted by restart_syscall after the handler has returned by sigreturn. */
  struct timespec rest = {.tv_nsec = 60000000};
  while (nanosleep(&rest, &rest) == -1 && errno == EINTR) {}
  return in_handler == -1 ? 0 : in_handler == 0 ? 201 : in_handler;
}

/* Signals, sigreturn and restarted calls under a filter: no way round it, and no hang. */
static void e11(void) {
  int status = in_child(interrupted, NULL);
  if (status == 201) return unable("handler", "the signal did not come");
  errno = status;
  judge("handler", status == 0 ? 0 : -1, "unshare(CLONE_NEWUSER) in a signal's handler, during a restarted call");
}

static int change_personality(void *state) { return personality(*(unsigned long *)state) == -1 ? errno : 0; }

/* Address-space tricks: everything readable executable, and no random addresses. */
static void e12(void) {
  unsigned long values[] = {READ_IMPLIES_EXEC, ADDR_NO_RANDOMIZE};
  static const char *const names[] = {"READ_IMPLIES_EXEC", "ADDR_NO_RANDOMIZE"};
  for (int i = 0; i < 2; i++) {
    errno = in_child(change_personality, &values[i]);
    judge(names[i], errno == 0 ? 0 : -1, "personality");
  }
}

const struct probe section_e[] = {{"E1", e1}, {"E3", e3}, {"E5", e5},   {"E6", e6},   {"E7", e7},
                                  {"E11", e11}, {"E12", e12}, {0}};
