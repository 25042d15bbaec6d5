#ifndef CLAUNCH_H
#define CLAUNCH_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The steps between clone and exec. Swift must not run there (it may allocate, lock and grow its runtime's
 * tables), so everything is prepared beforehand as one flat plan, and the functions here only carry it out.
 * They are async-signal-safe.
 */

/* One entry of the new root, built in order. Paths are relative to the new root and have no symlink in them. */
enum ambit_step_kind {
  AMBIT_STEP_DIRECTORY = 1, /* path, mode */
  AMBIT_STEP_SYMLINK,       /* path, text: where it points */
  AMBIT_STEP_FILE,          /* path, mode, text: content */
  AMBIT_STEP_TREE,          /* path, tree: detached mount; the mount point (a folder if directory) is made */
  AMBIT_STEP_TMPFS,         /* path, mode, size, inodes, attributes */
  AMBIT_STEP_DOCUMENTS,     /* path: tmpfs that is read-only here; its writable side is handed to the launcher */
  AMBIT_STEP_PROC,          /* path */
  AMBIT_STEP_DEVPTS,        /* path */
  AMBIT_STEP_SOCKET,        /* path: listening stream socket, handed to the launcher */
  AMBIT_STEP_MASK,          /* path in /proc: covered by something empty that no process may open; not there: nothing to cover */
  AMBIT_STEP_READ_ONLY,     /* path in /proc: covered by itself, read-only */
};

struct ambit_step {
  int32_t kind;
  int32_t directory;
  int32_t tree;
  uint32_t mode;
  uint64_t attributes; /* MOUNT_ATTR_* */
  const char *path;
  const char *text;
  size_t text_length;
  const char *size;   /* tmpfs: as in mount options */
  const char *inodes;
};

/* One of another author's. */
struct ambit_profile {
  const void *instructions; /* struct sock_filter[] */
  size_t count;
};

struct ambit_limit {
  int32_t resource;
  int32_t unused;
  uint64_t soft, hard;
};

/* Where a launch failed. Reported with errno and, for STEPS, the index of the step. */
enum ambit_stage {
  AMBIT_STAGE_CLONE = 1,
  AMBIT_STAGE_IDS,
  AMBIT_STAGE_PRIVATE,
  AMBIT_STAGE_ROOT,
  AMBIT_STAGE_STEPS,
  AMBIT_STAGE_PIVOT,
  AMBIT_STAGE_HOSTNAME,
  AMBIT_STAGE_TERMINAL,
  AMBIT_STAGE_HANDOVER,
  AMBIT_STAGE_FORK,
  AMBIT_STAGE_STDIO,
  AMBIT_STAGE_LIMITS,
  AMBIT_STAGE_PRIVILEGES,
  AMBIT_STAGE_FILTER,
  AMBIT_STAGE_DIRECTORY,
  AMBIT_STAGE_EXEC,
  AMBIT_STAGE_LANDLOCK,
};

/* Messages on the control socket (SOCK_SEQPACKET), both ways. */
enum ambit_message_kind {
  /* init to launcher */
  AMBIT_READY = 1, /* with descriptors: mount namespace, documents, listener, /proc, the socket diagnosis if there is one, and the
                      pty's master if there is one; first: why the session's key ring is still the launcher's (errno), or 0;
                      second: 1 if there is a socket diagnosis */
  AMBIT_STARTED,   /* first: the app's pid inside; with a descriptor: the listener of its filter's notifications. The process is
                      there, and waits to become the program */
  AMBIT_FAILED,    /* first: stage, second: errno, third: step */
  AMBIT_STOPPED,   /* first: signal */
  AMBIT_EXITED,    /* first: exit status or -1, second: signal or 0, third: 1 if the app has left no process behind,
                      fourth: seconds of processor time of all that was buried */
  /* launcher to init */
  AMBIT_MAPPED = 32, /* the identity maps are written */
  AMBIT_GO,          /* start the app */
  AMBIT_SIGNAL,      /* first: signal, second: 1 for the app's whole process group */
  AMBIT_ENTERED,     /* the init is in its control group */
};

struct ambit_message {
  int32_t kind;
  int32_t first;
  int32_t second;
  int32_t third;
  int32_t fourth;
};

/* The acts that Landlock permits below a path of the sandbox (LANDLOCK_ACCESS_FS_*). */
struct ambit_landlock_rule {
  const char *path;
  uint64_t rights;
};

/* landlock(7). `size` is how much of the kernel's structure this kernel knows; 0: Landlock is not used. */
struct ambit_landlock {
  uint64_t files, network, scoped; /* the acts that are denied unless a rule permits them */
  size_t size;
  uint64_t file_rights; /* those that can be given for something that is no folder */
  const struct ambit_landlock_rule *rules;
  size_t rule_count;
};

/* The file that is to be executed, as it was looked at before. is_set: 0 where any will do. */
struct ambit_expected {
  uint64_t device, inode, size;
  int64_t modified; /* nanoseconds since 1970 */
  int32_t is_set;
};

struct ambit_launch {
  uint64_t namespaces; /* CLONE_NEW* */
  int32_t control;      /* the init's end of the control socket */
  int32_t launcher_end; /* the other end, of which the init must keep no copy */
  int32_t parent_maps; /* the launcher writes the identity maps (it is privileged); else the init does */
  uint32_t inside_id, outside_id;
  const char *hostname;
  const char *title; /* the command line that pid 1 shows */
  const struct ambit_step *steps;
  size_t step_count;
  int32_t stdio[3]; /* descriptor, or -1 for the sandbox's own terminal */
  int32_t bring_up_loopback;
  const struct ambit_limit *limits;
  size_t limit_count;
  const char *directory; /* the app's working directory */
  const char *program;
  struct ambit_expected expected;
  char *const *arguments;
  char *const *environment;
  const void *filter; /* struct sock_filter[] */
  size_t filter_count;
  struct ambit_landlock landlock;
  const struct ambit_profile *profiles; /* further filters, in the order in which they are loaded; the strictest of all wins */
  size_t profile_count;
  int32_t group; /* the control group (version 2) to start in, or -1 */
  int32_t awaits_group; /* the launcher moves the init into its group, and says when it has (AMBIT_ENTERED) */
  int32_t cgroup_namespace_last; /* the control group namespace is made when the app starts: only then is it in its group */
  int32_t listen; /* the filter notifies: its listener is handed to the launcher */
};

/* The Landlock ABI of this kernel, or -errno. */
int ambit_landlock_abi(void);

/* Starts the sandbox's init. Returns its pid and its pidfd, or -errno. */
pid_t ambit_launch_start(const struct ambit_launch *launch, int32_t *pidfd);

#endif
