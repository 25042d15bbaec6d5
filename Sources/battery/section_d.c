/* D: namespaces and privileges. */
#define _GNU_SOURCE
#include "battery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

static int unshare_user(void *state) {
  (void)state;
  return unshare(CLONE_NEWUSER) == -1 ? errno : 0;
}

static void judge_status(const char *attempt, int status, const char *what) {
  errno = status;
  judge(attempt, status == 0 ? 0 : -1, what);
}

/* The child of a raw clone ends at once; the parent says whether there was one. */
static void judge_clone(const char *attempt, long pid, const char *what) {
  if (pid == 0) _exit(0);
  judge(attempt, pid, what);
  if (pid > 0) waitpid((pid_t)pid, NULL, 0);
}

/* A user namespace of one's own brings back every capability, and with them most of the kernel's attack surface. */
static void d1(void) {
  judge_status("unshare", in_child(unshare_user, NULL), "unshare(CLONE_NEWUSER)");
  judge_clone("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), "clone(CLONE_NEWUSER)");
  struct clone_args arguments = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  judge_clone("clone3", syscall(SYS_clone3, &arguments, sizeof arguments), "clone3(CLONE_NEWUSER)");
}

static int nested_mount(void *state) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1) return errno;
  return mount("none", state, "tmpfs", 0, NULL) == -1 ? errno : 0;
}

/* The use of such a namespace: mounting. */
static void d2(void) {
  char place[4096];
  if (!stage_path(place, sizeof place, "mount", "container", "d2")) return;
  mkdir(place, 0700);
  judge_status("mount", in_child(nested_mount, place), "a mount in a user namespace of one's own");
  rmdir(place);
}

/* Into the namespaces of another process, or into one of the host's by a descriptor that was left open. */
static void d3(void) {
  static const char *const names[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
  char path[64];
  int pid = reaper();
  for (size_t i = 0; pid != -1 && i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, names[i]);
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    if (opened == -1) {
      refused(names[i], errno, "%s", path);
      continue;
    }
    /* Into the one that it is in already leads nowhere; that answer alone is EINVAL. */
    judge(names[i], syscall(SYS_setns, opened, 0), path);
    close(opened);
  }
  judge("descriptor 9", syscall(SYS_setns, 9, 0), "setns to a mount namespace that the caller had open");
}

/* Capabilities: those that are held, those that can be taken, and the settings that would let them come back. */
static void d5(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {{0}};
  syscall(SYS_capget, &header, data);
  if (data[0].effective | data[1].effective | data[0].permitted | data[1].permitted) {
    reached("held", "capabilities %08x%08x", data[1].permitted, data[0].permitted);
  } else {
    refused("held", 0, "no capabilities");
  }
  int bounding = 0;
  for (int i = 0; i < 64; i++) bounding += prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1;
  if (bounding > 0) {
    reached("bounding", "%d capabilities in the bounding set", bounding);
  } else {
    refused("bounding", 0, "the bounding set is empty");
  }
  struct __user_cap_data_struct admin[2] = {{0}};
  admin[0].effective = admin[0].permitted = admin[0].inheritable = 1u << CAP_SYS_ADMIN;
  judge("capset", syscall(SYS_capset, &header, admin), "capset(CAP_SYS_ADMIN)");
  judge("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0), "raising an ambient capability");
  judge("securebits", prctl(PR_SET_SECUREBITS, SECBIT_KEEP_CAPS, 0, 0, 0), "changing the secure bits");
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0) {
    reached("no_new_privs", "is not set");
  } else {
    judge("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0), "taking no_new_privs back");
  }
}

/* Control groups: version 1 runs a program of one's choice as root when a group gets empty (CVE-2022-0492). */
static void d6(void) {
  char place[4096], path[4400];
  if (stage_path(place, sizeof place, "mount", "container", "d6")) {
    mkdir(place, 0700);
    if (judge("mount", mount("none", place, "cgroup2", 0, NULL), "mounting the control groups")) umount2(place, MNT_DETACH);
    rmdir(place);
  }
  judge("procs", open("/sys/fs/cgroup/cgroup.procs", O_WRONLY | O_CLOEXEC), "opening cgroup.procs for writing");
  DIR *folder = opendir("/sys/fs/cgroup");
  if (!folder) return refused("release_agent", errno, "/sys/fs/cgroup");
  bool found = false;
  for (struct dirent *entry; (entry = readdir(folder));) {
    snprintf(path, sizeof path, "/sys/fs/cgroup/%s/release_agent", entry->d_name);
    if (access(path, F_OK) == -1) continue;
    found = true;
    judge("release_agent", open(path, O_WRONLY | O_CLOEXEC), path);
  }
  closedir(folder);
  if (!found) refused("release_agent", ENOENT, "there is none");
}

/* The machine's own settings. Each call has an argument that is refused after the question of permission. */
static void d7(void) {
  judge_permission("sethostname", syscall(SYS_sethostname, "x", -1L), "sethostname");
  struct timezone nowhere = {.tz_minuteswest = 100000};
  judge_permission("settimeofday", syscall(SYS_settimeofday, NULL, &nowhere), "settimeofday");
  struct timex tick = {.modes = ADJ_TICK, .tick = 1};
  judge_permission("adjtimex", syscall(SYS_adjtimex, &tick), "adjtimex");
  judge_permission("reboot", syscall(SYS_reboot, 0, 0, 0, NULL), "reboot");
  judge_permission("swapon", swapon("/nonexistent", 0), "swapon");
  judge_permission("init_module", syscall(SYS_init_module, NULL, 0UL, ""), "init_module");
#ifdef SYS_kexec_load
  judge_permission("kexec_load", syscall(SYS_kexec_load, 0UL, 0UL, NULL, ~0UL), "kexec_load");
#endif
}

const struct probe section_d[] = {{"D1", d1}, {"D2", d2}, {"D3", d3}, {"D5", d5}, {"D6", d6}, {"D7", d7}, {0}};
