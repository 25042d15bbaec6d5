#ifndef CPROBE_H
#define CPROBE_H
#include <stdint.h>

/* Probes: each tries one thing that the kernel may or may not offer, harmlessly, and undoes it. All return a value that
 * is zero or more when the kernel did it, and -errno when it did not. A call that takes effect on the calling process
 * is tried in a child that lives for that alone. */

/* How far cprobe_sandbox got. */
enum cprobe_stage {
  CPROBE_CLONE = 0,   /* make the namespaces */
  CPROBE_MAP = 1,     /* map the user's own identity into the user namespace */
  CPROBE_PRIVATE = 2, /* cut mount propagation */
  CPROBE_TMPFS = 3,   /* mount something of one's own */
  CPROBE_PROC = 4,    /* mount /proc afresh (in a pid namespace) */
  CPROBE_DONE = 5,
};

/* Makes namespaces (CLONE_NEW* flags) in a child and takes there the first steps of a sandbox. A kernel can allow the
 * namespaces and then refuse everything in them (Ubuntu's AppArmor does), so making them proves nothing. */
int cprobe_sandbox(uint64_t flags, int *stage);

/* The CLONE_NEW* flag of a namespace by its name in /proc/self/ns ("user", "mnt", …), or 0. */
uint64_t cprobe_namespace_flag(const char *name);

int cprobe_clone3(void);
int cprobe_clone_pidfd(void);
int cprobe_pidfd_open(void);
/* Takes a descriptor of a child's. */
int cprobe_pidfd_getfd(void);
int cprobe_close_range(void);
int cprobe_openat2(void);
int cprobe_open_tree(void);
int cprobe_move_mount(void);
int cprobe_mount_setattr(void);

/* Makes a detached id-mapped copy of the mount that PATH is on, and drops it. */
int cprobe_idmapped_mount(const char *path);

/* Is a filter action (SECCOMP_RET_*) known? */
int cprobe_seccomp_action(uint32_t action);
/* Makes a notification listener, and asks it for synchronous wake-ups when SYNC is not 0. */
int cprobe_seccomp_listener(int sync);
uint32_t cprobe_seccomp_ret_errno(void);
uint32_t cprobe_seccomp_ret_user_notif(void);
uint32_t cprobe_seccomp_ret_kill_process(void);

/* The version of Landlock's interface; 0 is never returned. */
int cprobe_landlock_abi(void);

/* The type of PATH's file handle; with OPEN not 0, after opening the file again by it. */
int cprobe_file_handle(const char *path, int open);
/* 1 when the file system keeps a birth time for PATH, 0 when it does not. */
int cprobe_birth_time(const char *path);

int cprobe_open(const char *path);
/* A new pseudo-terminal and its other end. */
int cprobe_pty(void);
/* The file system's magic number (statfs(2)), or -errno. */
int64_t cprobe_filesystem(const char *path);
#endif
