/* B, continued: files that are shown and must not be written, and programs that must not be run. */
#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- B12 ---- */

static int effective_user(int pid, char *name, size_t size) {
  char path[64], text[2048];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  if (read_file(path, text, sizeof text) <= 0) return -1;
  int real, effective = -1;
  char *line = strstr(text, "\nUid:");
  if (line) sscanf(line, "\nUid: %d %d", &real, &effective);
  snprintf(name, size, "%.*s", (int)strcspn(text + 6, "\n"), text + 6);
  return effective;
}

/* Starts su, which waits for a password, and looks as whom it waits. */
static void su_changes_user(const char *program) {
  int input[2], identity[2];
  if (pipe2(input, O_CLOEXEC) == -1 || pipe2(identity, O_CLOEXEC) == -1) return unable("setuid", "no pipe");
  pid_t child = fork();
  if (child == 0) {
    /* Root gains nothing by it; the question has a meaning under another id. If there is no other id, root stays. */
    if (geteuid() == 0 && setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == -1) _exit(9);
    int own = (int)geteuid(), nowhere = open("/dev/null", O_RDWR);
    if (write(identity[1], &own, sizeof own) != sizeof own) _exit(9);
    dup2(input[0], 0);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    setsid();
    execl(program, "su", "-c", "true", "root", NULL);
    _exit(127);
  }
  int before = 0, after = -1;
  close(identity[1]);
  if (read(identity[0], &before, sizeof before) != sizeof before) before = 0;
  close(identity[0]);
  char name[32] = "";
  bool ran = false;
  for (int i = 0; i < 200 && !ran; i++) {
    usleep(2000);
    after = effective_user(child, name, sizeof name);
    ran = strstr(name, "su") != NULL;
    if (waitpid(child, NULL, WNOHANG) == child) {
      child = 0;
      break;
    }
  }
  if (ran && after == 0 && before != 0) {
    reached("setuid", "%s runs as user 0, started by user %d", program, before);
  } else if (ran) {
    refused("setuid", 0, "%s runs as user %d, as whoever started it", program, after);
  } else {
    unable("setuid", "%s ended before it could be looked at", program);
  }
  close(input[1]);
  close(input[0]);
  if (child > 0) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
}

/* A set-uid program is the way to become root on any Unix; no_new_privs takes its power away. */
static void b12(void) {
  static const char *const programs[] = {"/usr/bin/su", "/bin/su"};
  struct stat status;
  size_t i = 0;
  while (i < 2 && !(stat(programs[i], &status) == 0 && (status.st_mode & S_ISUID))) i++;
  if (i < 2) {
    su_changes_user(programs[i]);
  } else {
    unable("setuid", "there is no set-uid su here");
  }
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
    refused("no_new_privs", 0, "no_new_privs is set");
  } else {
    reached("no_new_privs", "no_new_privs is not set");
  }
}

/* ---- B14 ---- */

/* Every call that changes a file, on a document that was handed out for reading. Outside it is looked at afterwards. */
static void b14(void) {
  char path[4096];
  if (!stage_path(path, sizeof path, "write", "readonly", "")) return;
  int file = open(path, O_WRONLY | O_CLOEXEC);
  judge("write", file, "opening a read-only document for writing");
  judge("truncating open", open(path, O_RDONLY | O_TRUNC | O_CLOEXEC), "O_RDONLY|O_TRUNC");
  judge("truncate", truncate(path, 1), "truncate");
  judge("utimensat", utimensat(AT_FDCWD, path, NULL, 0), "utimensat");
  judge("chmod", chmod(path, 0666), "chmod");
  judge("chown", chown(path, geteuid(), getegid()), "chown");
  if (setxattr(path, "user.ambit", "x", 1, 0) == -1 && errno == EOPNOTSUPP) {
    unable("setxattr", "the file system has no attributes");
  } else {
    judge("setxattr", setxattr(path, "user.ambit", "x", 1, 0), "setxattr");
  }
  int reading = open(path, O_RDONLY | O_CLOEXEC);
  if (reading != -1) {
    char again[64];
    snprintf(again, sizeof again, "/proc/self/fd/%d", reading);
    judge("reopen", open(again, O_WRONLY | O_CLOEXEC), "opening it again for writing through /proc/self/fd");
    judge("fchmod", fchmod(reading, 0666), "fchmod");
  }
  judge("unlink", unlink(path), "unlink");
  /* Of the system, only whether it could be written: an unnamed file leaves nothing behind. */
  judge("usr", open("/usr", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), "a new file in /usr");
  judge("etc", open("/etc", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), "a new file in /etc");
}

/* ---- B16 ---- */

static const char *const loaders[] = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"};

static void execute(const char *attempt, const char *path) {
  const char *directly[] = {path, "hello", NULL};
  int status = run_program(directly);
  if (status == 42) {
    reached(attempt, "a program that was written to %s runs", path);
  } else {
    refused(attempt, status == 126 ? EACCES : ENOENT, "%s", path);
  }
  for (size_t i = 0; i < 2; i++) {
    if (access(loaders[i], X_OK) == -1) continue;
    char name[64];
    snprintf(name, sizeof name, "%s by loader", attempt);
    const char *loaded[] = {loaders[i], path, "hello", NULL};
    status = run_program(loaded);
    if (status == 42) {
      reached(name, "ld.so runs %s", path);
    } else {
      refused(name, 0, "ld.so ends with %d", status);
    }
  }
}

static int run_descriptor(void *state) {
  char *const arguments[] = {"battery", "hello", NULL}, *const environment[] = {NULL};
  syscall(SYS_execveat, *(int *)state, "", arguments, environment, 0x1000 /* AT_EMPTY_PATH */);
  return errno == EACCES ? 126 : 127;
}

static void execute_memory(const char *attempt, unsigned flags) {
  int memory = memfd_create("b16", flags);
  if (memory == -1) return refused(attempt, errno, "memfd_create(%#x)", flags);
  int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  char buffer[65536];
  ssize_t got;
  while (own != -1 && (got = read(own, buffer, sizeof buffer)) > 0) {
    if (write(memory, buffer, (size_t)got) != got) break;
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
  /* A file that is open for writing cannot be executed. */
  int again = open(path, O_RDONLY);
  close(memory);
  int status = in_child(run_descriptor, &again);
  if (status == 42) {
    reached(attempt, "a program in memory runs (memfd_create and execveat)");
  } else {
    refused(attempt, status == 126 ? EACCES : 0, "execveat ends with %d", status);
  }
}

/* Programs that the app has brought or written, where the policy says that it runs none. */
static void b16(void) {
  static const struct {
    const char *name, *key, *folder;
  } places[] = {{"container", "container", NULL}, {"tmp", NULL, "/tmp"}, {"shm", NULL, "/dev/shm"}};
  char path[4096];
  for (size_t i = 0; i < 3; i++) {
    const char *folder = places[i].key ? stage(places[i].key) : places[i].folder;
    snprintf(path, sizeof path, "%s/b16-%s", folder, stage("token"));
    if (*folder && copy_self(path)) {
      execute(places[i].name, path);
    } else {
      refused(places[i].name, errno, "no program can be written to %s", folder);
    }
    unlink(path);
  }
  execute_memory("memfd", MFD_CLOEXEC);
  execute_memory("memfd asking", 0x11 /* MFD_CLOEXEC | MFD_EXEC */);
}

/* ---- B19 ---- */

static void overwrite(const char *attempt, const char *path) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file != -1) {
    reached(attempt, "%s was opened for writing", path);
    close(file);
    return;
  }
  int error = errno;
  if (error != ETXTBSY) return refused(attempt, error, "%s", path);
  /* Busy is no barrier: it ends when the program does, and a descriptor can wait for that. The barrier behind it counts. */
  if (faccessat(AT_FDCWD, path, W_OK, 0) == 0) {
    reached(attempt, "%s may be written as soon as it does not run", path);
  } else {
    refused(attempt, errno, "%s", path);
  }
}

/* The program that made the sandbox, through the process that waits inside it (CVE-2019-5736, runc). */
static void b19(void) {
  overwrite("own", "/proc/self/exe");
  char path[64];
  if (reaper() == -1) {
    unable("launcher", "no process of the launcher's can be seen");
  } else {
    snprintf(path, sizeof path, "/proc/%d/exe", reaper());
    overwrite("launcher", path);
  }
}

const struct probe section_b_files[] = {{"B12", b12}, {"B14", b14}, {"B16", b16}, {"B19", b19}, {0}};
