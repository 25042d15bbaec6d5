/* C: other processes: their entries in /proc, their memory, signals to them. */
#define _GNU_SOURCE
#include "battery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct ways {
  int processes, opened;
  char found[160];
};

static void look_through(int pid, void *state) {
  struct ways *ways = state;
  ways->processes++;
  if (*ways->found) return;
  char path[4096];
  static const char *const doors[] = {"root", "cwd/../../../../../../../../../../.."};
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "/proc/%d/%s%s", pid, doors[i], stage("canary"));
    if (holds_token(AT_FDCWD, path)) snprintf(ways->found, sizeof ways->found, "/proc/%d/%.40s", pid, doors[i]);
  }
  for (int kind = 0; kind < 2; kind++) {
    snprintf(path, sizeof path, "/proc/%d/%s", pid, kind == 0 ? "fd" : "map_files");
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
      if (entry->d_name[0] == '.') continue;
      ways->opened++;
      /* Reading from another program's pipe or terminal would take its contents. */
      struct stat status;
      if (fstatat(dirfd(folder), entry->d_name, &status, 0) == -1 || !S_ISREG(status.st_mode)) continue;
      if (holds_token(dirfd(folder), entry->d_name)) snprintf(ways->found, sizeof ways->found, "%.100s/%.40s", path, entry->d_name);
    }
    if (folder) closedir(folder);
  }
}

/* Another process's root, folder and open files, which /proc has as links that lead anywhere. */
static void c1(void) {
  struct ways ways = {0};
  each_stranger(look_through, &ways);
  if (*ways.found) {
    reached("proc", "the canary was read through %s", ways.found);
  } else {
    refused("proc", 0, "%d other processes, %d descriptors seen; none leads out", ways.processes, ways.opened);
  }
}

static int trace_me(void *state) {
  (void)state;
  return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1 ? errno : 0;
}

static void judge_status(const char *attempt, int status, const char *what) {
  errno = status;
  judge(attempt, status == 0 ? 0 : -1, what);
}

/* ptrace gives a process the power over another one. */
static void c2(void) {
  judge_status("traceme", in_child(trace_me, NULL), "PTRACE_TRACEME");
  pid_t sibling = fork();
  if (sibling == 0) {
    pause();
    _exit(0);
  }
  judge("seize", ptrace(PTRACE_SEIZE, sibling, NULL, NULL), "PTRACE_SEIZE of a process of its own");
  kill(sibling, SIGKILL);
  waitpid(sibling, NULL, 0);
  if (reaper() == -1) return unable("init", "no process of the launcher's can be seen");
  /* Not ATTACH, which would stop it. */
  judge("init", ptrace(PTRACE_SEIZE, reaper(), NULL, NULL), "PTRACE_SEIZE of the process that waits for the app");
}

/* The memory of the process that waits for the app: it may hold the launcher's secrets. */
static void c3(void) {
  int pid = reaper();
  if (pid == -1) return unable("readv", "no process of the launcher's can be seen");
  char path[64], byte, maps[4096];
  unsigned long address = (unsigned long)&byte;
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  if (read_file(path, maps, sizeof maps) > 0) sscanf(maps, "%lx-", &address);
  struct iovec own = {&byte, 1}, other = {(void *)address, 1};
  judge_permission("readv", process_vm_readv(pid, &own, 1, &other, 1, 0), "process_vm_readv");
  /* To an address where nothing is, so that nothing is written: the permission is looked at first. */
  struct iovec nowhere = {(void *)1, 1};
  judge_permission("writev", process_vm_writev(pid, &own, 1, &nowhere, 1, 0), "process_vm_writev");
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  int memory = open(path, O_RDONLY | O_CLOEXEC);
  if (memory == -1) return refused("mem", errno, "%s", path);
  judge("mem", pread(memory, &byte, 1, (off_t)address), "reading its memory through /proc");
}

/* Signals to a process of the host: by number, by thread, and by the kernel on one's behalf. */
static void c5(void) {
  int target = (int)stage_number("target");
  if (target <= 0) return unable("kill", "there is no process to signal");
  judge("kill", kill(target, 0), "kill(host process)");
  judge("tgkill", syscall(SYS_tgkill, target, target, 0), "tgkill(host process)");
  judge("tkill", syscall(SYS_tkill, target, 0), "tkill(host process)");
  siginfo_t info = {.si_code = SI_QUEUE};
  judge("sigqueue", syscall(SYS_rt_sigqueueinfo, target, 0, &info), "rt_sigqueueinfo(host process)");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) == -1) return;
  judge("owner", fcntl(ends[0], F_SETOWN, target), "F_SETOWN: SIGIO to a host process");
}

static void find_target(int pid, void *state) {
  char path[64], line[4096];
  snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
  long length = read_file(path, line, sizeof line);
  if (length > 0 && memmem(line, (size_t)length, "stagehand", 9) && contains_token(line, (size_t)length)) *(int *)state = pid;
}

/* A table of the kernel's, read to its first byte: some can be opened by all users and say nothing. */
static void judge_table(const char *path) {
  const char *name = strrchr(path, '/') + 1;
  char byte;
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file == -1 && errno == ENOENT) return;
  if (file == -1) return refused(name, errno, "%s", path);
  long length = read(file, &byte, 1);
  if (length == 0) {
    refused(name, 0, "%s is empty", path);
  } else {
    judge(name, length, path);
  }
  close(file);
}

/* The other processes here, with their arguments; tables that name processes of the whole machine, or show the activity of them
 * and their user: interrupts come with every key that is pressed (Diao et al., “No Pardon for the Interruption”, 2016). */
static void c6(void) {
  int found = 0;
  each_stranger(find_target, &found);
  if (found) {
    reached("processes", "a host process is listed as %d", found);
  } else {
    refused("processes", ENOENT, "host processes are not listed");
  }
  static const char *const tables[] = {"/proc/sched_debug", "/proc/timer_list", "/proc/latency_stats",
                                       "/proc/interrupts",  "/proc/softirqs",   "/proc/schedstat"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) judge_table(tables[i]);
}

/* The settings that all users of the machine share, and those of this app's namespaces: opened for writing, nothing written. */
static void judge_settings(void) {
  static const char *const settings[][2] = {
      {"core_pattern", "/proc/sys/kernel/core_pattern"}, {"modprobe", "/proc/sys/kernel/modprobe"},
      {"drop_caches", "/proc/sys/vm/drop_caches"},       {"hostname", "/proc/sys/kernel/hostname"},
      {"shmmax", "/proc/sys/kernel/shmmax"},             {"ip_forward", "/proc/sys/net/ipv4/ip_forward"},
      {"sysrq", "/proc/sysrq-trigger"},                  {"irq", "/proc/irq/default_smp_affinity"},
  };
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    int file = open(settings[i][1], O_WRONLY | O_CLOEXEC);
    if (file == -1 && errno == ENOENT) continue;
    judge(settings[i][0], file, settings[i][1]);
    if (file != -1) close(file);
  }
}

/* The kernel's memory, addresses and messages; its keys and its hardware; its settings. */
static void c8(void) {
  char line[256];
  int file = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
  if (file == -1) {
    refused("kcore", errno, "/proc/kcore");
  } else {
    judge("kcore", read(file, line, 64), "reading /proc/kcore");
  }
  unsigned long address = 0;
  if (read_file("/proc/kallsyms", line, sizeof line) <= 0) {
    refused("kallsyms", errno, "/proc/kallsyms");
  } else if (sscanf(line, "%lx", &address) == 1 && address != 0) {
    reached("kallsyms", "addresses of the kernel are shown");
  } else {
    refused("kallsyms", 0, "all addresses are zero");
  }
  int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  judge("kmsg", log == -1 ? open("/proc/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC) : log, "/dev/kmsg and /proc/kmsg");
  judge("syslog", klogctl(3 /* read all */, line, sizeof line), "syslog(2)");
  static const char *const tables[] = {"/proc/keys",    "/proc/key-users",   "/proc/modules",    "/proc/iomem",
                                       "/proc/cmdline", "/proc/vmallocinfo", "/proc/kpagecount", "/proc/bus/pci/devices"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) judge_table(tables[i]);
  judge_settings();
}

const struct probe section_c[] = {{"C1", c1}, {"C2", c2}, {"C3", c3}, {"C5", c5}, {"C6", c6}, {"C8", c8}, {0}};
