// The first process of the virtual machine that kernel-test.sh starts: it makes the host's files the root, with a disk
// over them for what is written, runs the job, passes on what it prints, and says how it ended.
//
// The initial file system has this program at /init, a kernel module a file in /modules, in the order in which they
// load, and in /job the path of what to run.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int console = -1;

// The machine ends; whoever started it finds no status, and shows this.
static void fail(const char *what) {
  dprintf(console, "\nkernel-test: %s: %s\n", what, strerror(errno));
  reboot(RB_POWER_OFF);
  _exit(1);
}

static void attach(const char *source, const char *target, const char *type, unsigned long flags, const char *options) {
  mkdir(target, 0755);
  if (mount(source, target, type, flags, options) == -1) fail(target);
}

static void load_modules(void) {
  struct dirent **names;
  int count = scandir("/modules", &names, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    if (names[i]->d_name[0] == '.') continue;
    char path[512];
    snprintf(path, sizeof path, "/modules/%s", names[i]->d_name);
    int module = open(path, O_RDONLY | O_CLOEXEC);
    // What the machine cannot do without, the next step misses.
    if (syscall(SYS_finit_module, module, "", 0) == -1 && errno != EEXIST)
      dprintf(console, "kernel-test: %s: %s\n", path, strerror(errno));
    close(module);
  }
}

// The device of a port that the host has given a name.
static int open_port(const char *wanted) {
  struct dirent **names;
  int count = scandir("/sys/class/virtio-ports", &names, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    char path[512], name[64] = "";
    snprintf(path, sizeof path, "/sys/class/virtio-ports/%s/name", names[i]->d_name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file == -1) continue;
    if (read(file, name, sizeof name - 1) < 0) name[0] = 0;
    close(file);
    name[strcspn(name, "\n")] = 0;
    if (strcmp(name, wanted) != 0) continue;
    snprintf(path, sizeof path, "/dev/%s", names[i]->d_name);
    return open(path, O_WRONLY | O_CLOEXEC);
  }
  errno = ENODEV;
  return -1;
}

static void make_root(void) {
  attach("host", "/host", "9p", MS_RDONLY, "trans=virtio,version=9p2000.L,msize=512000,cache=loose");
  attach("/dev/vda", "/disk", "ext4", 0, NULL);
  mkdir("/disk/upper", 0755);
  mkdir("/disk/work", 0755);
  mkdir("/disk/tmp", 01777);
  chmod("/disk/tmp", 01777);
  attach("overlay", "/root", "overlay", 0, "lowerdir=/host,upperdir=/disk/upper,workdir=/disk/work");
  attach("proc", "/root/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  attach("sysfs", "/root/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  attach("devtmpfs", "/root/dev", "devtmpfs", MS_NOSUID, "mode=0755");
  attach("devpts", "/root/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "mode=0620,ptmxmode=0666");
  attach("tmpfs", "/root/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
  attach("tmpfs", "/root/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
  // A disk's file system: those in memory have no id-mapped mounts before Linux 6.3, and an overlay has no file handles.
  attach("/disk/tmp", "/root/run/tmp", NULL, MS_BIND, NULL);
  symlink("/proc/self/fd", "/root/dev/fd");
  symlink("/proc/self/fd/0", "/root/dev/stdin");
  symlink("/proc/self/fd/1", "/root/dev/stdout");
  symlink("/proc/self/fd/2", "/root/dev/stderr");
}

// The new root comes to lie over the initial one, as in any machine that starts this way.
static void enter_root(void) {
  if (chdir("/root") == -1 || mount(".", "/", NULL, MS_MOVE, NULL) == -1 || chroot(".") == -1 || chdir("/") == -1)
    fail("entering the root");
  // As systemd has it.
  mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL);
}

// Everything whose parent has ended becomes this process's child. Returns whether the job has ended.
static int reap(pid_t job, int *status) {
  int ended = 0, found;
  for (pid_t child; (child = waitpid(-1, &found, WNOHANG)) > 0;)
    if (child == job) ended = 1, *status = found;
  return ended;
}

static void pass_on(int from, int to) {
  char bytes[16384];
  for (ssize_t count; (count = read(from, bytes, sizeof bytes)) > 0;)
    for (ssize_t done = 0, more; done < count; done += more)
      if ((more = write(to, bytes + done, count - done)) <= 0) return;
}

int main(void) {
  mkdir("/dev", 0755);
  mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
  console = open("/dev/console", O_WRONLY | O_CLOEXEC);
  attach("sysfs", "/sys", "sysfs", 0, NULL);
  char job[4096] = "";
  int file = open("/job", O_RDONLY | O_CLOEXEC);
  if (file == -1 || read(file, job, sizeof job - 1) <= 0) fail("/job");
  close(file);

  load_modules();
  int output = open_port("output"), answer = open_port("status");
  if (output == -1 || answer == -1) fail("the ports to the host");
  make_root();
  enter_root();

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) == -1) fail("pipe");
  pid_t child = fork();
  if (child == -1) fail("fork");
  if (child == 0) {
    setsid();
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    execl("/bin/sh", "sh", job, NULL);
    _exit(127);
  }
  close(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);

  int status = 0, ended = 0;
  while (!ended) {
    struct pollfd entry = {.fd = ends[0], .events = POLLIN};
    poll(&entry, 1, 20);
    // Nobody holds the other end any more: only the job's end is left to wait for.
    if (entry.revents == POLLHUP) usleep(20000);
    ended = reap(child, &status);
    pass_on(ends[0], output);
  }
  kill(-1, SIGKILL);
  dprintf(answer, "%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  reboot(RB_POWER_OFF);
}
