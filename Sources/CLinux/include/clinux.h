#ifndef CLINUX_H
#define CLINUX_H
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/*
 * System calls that glibc does not wrap, and structures that Swift cannot import. One function an operation;
 * each returns a value or a descriptor, or -errno. Descriptors are close-on-exec.
 */

/* glibc has it behind _GNU_SOURCE, which a Swift import does not set. */
const char *strerrorname_np(int errnum);

/* O_* that differ between architectures and that a Swift import does not see. */
uint64_t ambit_open_flag_path(void);
uint64_t ambit_open_flag_directory(void);
uint64_t ambit_open_flag_nofollow(void);

/* openat2(2). RESOLVE_* in resolve. _raw answers -1 and errno, for code between clone and exec. */
int ambit_openat2_raw(int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve);
int ambit_openat2(int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve);

/* pipe2(2): the end to read from first, both close-on-exec. And how many bytes are in it. */
int ambit_pipe(int ends[2]);
long ambit_pipe_content(int pipe);
/* syncfs(2): waits until everything on the file system of the descriptor is on the disk. Behind _GNU_SOURCE. */
int ambit_sync_file_system(int descriptor);
/* kcmp(2): 0 if two descriptors are of one opening, with one offset; above 0 if not. */
int ambit_is_same_opening(int one, int other);

/* open_tree(2): a detached clone of the mount below the path; recursive takes the mounts below it along. */
int ambit_clone_tree(int directory, const char *path, int recursive);
int ambit_clone_path(const char *path, int follow);
/* move_mount(2) of a detached tree onto an opened mount point. */
int ambit_move_mount(int tree, int target);
/* The same onto a path, and of the mount at a path. A link at the end of one is not followed. */
int ambit_move_mount_to(int tree, const char *place);
int ambit_move_mount_at(const char *path, const char *place);
/* Moves a detached tree over a name in a folder. No link is followed. */
int ambit_move_mount_into(int tree, int folder, const char *name);
/* mount_setattr(2) on a detached tree or mount. userns: descriptor for MOUNT_ATTR_IDMAP, or -1. */
int ambit_set_attributes(int tree, int recursive, uint64_t set, uint64_t clear, int userns);
/* umount2(2) with MNT_DETACH | UMOUNT_NOFOLLOW. */
int ambit_unmount(const char *path);
/* The same only if no process has anything of the mount open or mapped, nor stands in it; else -EBUSY. */
int ambit_unmount_idle(const char *path);
/* Whether a process has something of a mount open or mapped, or stands in it (umount2(2), MNT_EXPIRE): 1 or 0. For a mount that
   stays where it is; asked twice, an unused one is taken away. */
int ambit_mount_in_use(const char *path);

/* Takes the loopback interface of this network namespace into service, if that is possible. For code after clone too. */
void ambit_bring_up_loopback(void);
/* A new network namespace with nothing but a loopback interface. The calling thread is in it for a moment. */
int ambit_new_network(void);

/* setns(2), unshare(2) and pidfd_send_signal(2), pidfd_open(2). */
int ambit_setns(int descriptor, int type);
int ambit_unshare(int flags);
int ambit_pidfd_open(pid_t pid);
int ambit_pidfd_signal(int pidfd, int signal_number);
/* Whether the process of a pidfd has ended. For any other descriptor it has. */
int ambit_pidfd_ended(int pidfd);

/* A user namespace in which the on-disk ids are shown as the others, for id-mapped mounts (mount_setattr(2)). */
int ambit_idmap_namespace(uint32_t disk_uid, uint32_t shown_uid, uint32_t disk_gid, uint32_t shown_gid);

/* In the type of a handle that can be compared and not opened. The kernel's own types have 16 bits and a few flags above. */
#define AMBIT_HANDLE_COMPARABLE 0x40000000

/* name_to_handle_at(2) with AT_EMPTY_PATH on a descriptor. bytes: at least 128. Returns the handle's length. */
int ambit_file_handle(int descriptor, int32_t *type, uint8_t *bytes, int32_t *mount_id);
/* open_by_handle_at(2). mount: any descriptor on the same file system. */
int ambit_open_handle(int mount, int32_t type, const uint8_t *bytes, uint32_t length, int flags);

struct ambit_stat {
  /* mount: a number that no other mount has before the next boot (Linux 6.8); else 0. */
  uint64_t inode, size, device, links, mount;
  /* Of a device's own node: which device it is. */
  uint64_t represents;
  uint32_t mode, uid, gid;
  int64_t birth_seconds;
  uint32_t birth_nanoseconds;
  int64_t modified_seconds;
  uint32_t modified_nanoseconds;
  int64_t changed_seconds;
  uint32_t changed_nanoseconds;
};
/* statx(2) on a descriptor. birth_seconds is 0 where the file system has no birth time. */
int ambit_stat_descriptor(int descriptor, struct ambit_stat *result);
/* The same of an entry of a folder, or, with "", of the folder itself. No link at the end is followed, and nothing is mounted. */
int ambit_stat_entry(int folder, const char *name, struct ambit_stat *result);
/* Whether a regular file stands in a folder under a name. No link at the end is followed. */
int ambit_is_regular(int folder, const char *name);
/* Whether another open file description holds a lock in a range of bytes (`F_OFD_GETLK`). -errno if the kernel does not say. */
int ambit_is_locked(int file, off_t start, off_t length);
/* readlink(2): the path that the kernel has for a descriptor. Its length, or -1. */
ssize_t ambit_descriptor_path(int descriptor, char *path, size_t size);
/* statx(2): the mount that a file was opened on (Linux 5.8), and which file. name: "" for the descriptor itself; links are
   followed. */
struct ambit_place {
  uint64_t mount, inode, device;
  int is_folder, is_socket;
};
int ambit_stat_mount(int folder, const char *name, struct ambit_place *result);
/* An entry of a process's table of descriptors (/proc/PID/fd) that is a socket, or that its text says to have no name: 1; 0: anything
   else. No server is asked for it (AT_STATX_DONT_SYNC). Of a socket only the inode is told. */
struct ambit_open_file {
  uint64_t device, inode, blocks, links;
  int is_socket;
};
int ambit_unnamed_file_of(int table, const char *name, struct ambit_open_file *result);
/* The number of the mount that a name leads to, without following a link at its end. */
int64_t ambit_mount_of(int folder, const char *name);
/* getdents64(2): some more entries of a folder, as the kernel lays them out; 0 at the end. */
ssize_t ambit_read_folder(int directory, void *buffer, size_t size);
/* sched_getaffinity(2): how many processors this process may use; 1 if the kernel does not say. */
int ambit_processors(void);
/* eventfd(2), which never blocks; adding to it, and taking everything out. */
int ambit_wakeup_make(void);
void ambit_wakeup_signal(int wakeup);
void ambit_wakeup_clear(int wakeup);
/* epoll(7): descriptors that one thread waits for, while others add and remove some. ambit_epoll_wait answers 1, and the tag of one
   that can be read. */
int ambit_epoll_make(void);
int ambit_epoll_add(int epoll, int descriptor, uint64_t tag);
void ambit_epoll_remove(int epoll, int descriptor);
int ambit_epoll_wait(int epoll, uint64_t *tag);
/* The work of all others goes before this thread's (setpriority(2), which is a thread's on Linux). */
void ambit_step_back(void);
/* memmem(3): whether a text has a part. */
int ambit_find(const void *text, size_t length, const void *part, size_t part_length);
/* The identity of the volume after a reboot: FS_IOC_GETFSUUID where there is one, the substitutes of XFS and btrfs, else
   statfs's f_fsid. 16 bytes. 1 if it is a UUID: then it is the same for all files of the mount that can be opened for reading.
   2: for all of them. */
int ambit_volume_identity(int descriptor, uint8_t bytes[16]);
/* The same UUID by an open file, as XFS and btrfs alone are asked for it. 0 if there is none. */
int ambit_volume_own_uuid(int file, uint8_t bytes[16]);
/* BTRFS_IOC_GET_SUBVOL_ROOTREF: whether the subvolume that an open folder is in has others in it. 1, 0, or -errno. */
int ambit_has_subvolumes(int directory);
/* faccessat2(2): whether the file of a descriptor could be opened for reading. 1, 0, or -errno. */
int ambit_is_readable(int descriptor);
/* access(2) of an open file, which may be O_PATH: whether the user may read it, or write it, or (a folder) reach its entries. By
   the real ids: the rights of an ordinary user's process in a namespace of its own do not count, and root's do. mode: R_OK, W_OK,
   X_OK. 0, or -errno: EACCES, EROFS, EPERM (immutable). */
int ambit_user_may(int descriptor, int mode);
/* faccessat2(2): whether mode bits and access lists let a user id that is in no group but its own of the same number do this
   (R_OK, W_OK, X_OK) with the file of a descriptor. Needs CAP_SETUID and CAP_SETGID. 1, 0, or -errno. */
int ambit_admits(int descriptor, uint32_t identity, int access);

/* fstatfs(2): the size of a file system and its free space. */
struct ambit_space {
  /* available_blocks: for programs without privilege. */
  uint64_t block, blocks, free_blocks, available_blocks, files, free_files;
};
int ambit_file_system_space(int descriptor, struct ambit_space *result);

/* sysinfo(2), in bytes. */
struct ambit_memory {
  uint64_t total, shared, swap_used;
};
int ambit_machine_memory(struct ambit_memory *result);

/* memfd_create(2), and fcntl(2) F_ADD_SEALS: no process can change the file from then on. */
int ambit_memory_file(const char *name);
int ambit_seal(int file);

/* environ(7). */
char **ambit_environment(void);

/* setfsuid(2), setfsgid(2): for this thread only. */
void ambit_set_fs_identity(uint32_t uid, uint32_t gid);

/* keyctl(2) KEYCTL_GET_KEYRING_ID of the session's key ring, which is not made where there is none. */
int ambit_session_keyring(void);

/* prctl(PR_SET_DUMPABLE, 1): a process that joined a user namespace owns its /proc entries again. */
int ambit_make_dumpable(void);

/* prctl(PR_SET_CHILD_SUBREAPER, 1): processes that this process's descendants leave behind become its children. */
int ambit_adopt_orphans(void);

/* posix_spawn_file_actions_addclosefrom_np(3): the program has no descriptor from that number on. Returns 0 or an error's number. */
int ambit_close_from(posix_spawn_file_actions_t *actions, int first);

/* The kernel lets go of all that it still holds of ended processes: membarrier(2) waits until every processor has left its earlier
   reads, and with sched_setaffinity(2) the calling thread runs for a moment on each that it may use; one that idles holds the
   memory map of the last process it ran until then. Where there are more of them than fit the set it does not run there. */
void ambit_settle_processors(void);

/* wait4(2) without blocking. Returns the pid, 0 if it still runs, -errno. */
int ambit_wait(pid_t pid, int32_t *status);

/* Blocks these signals in the calling thread (and in threads that it starts) and returns a descriptor on which they
   arrive (signalfd(2)). */
int ambit_signal_descriptor(const int32_t *signals, size_t count);
/* The next signal that has arrived; 0 when there is none. */
int ambit_next_signal(int descriptor);

/* Lets a program that this unprivileged user starts keep the capabilities that this process has in its user namespace
   (capabilities(7), the ambient set). For root exec does that by itself. */
int ambit_pass_capabilities_on(void);
/* 1 if this process may mount in its own mount namespace (CAP_SYS_ADMIN is effective), else 0. */
int ambit_may_mount(void);

/* A descriptor that is readable while any of the others is (epoll(7)). */
int ambit_any_readable(const int32_t *descriptors, size_t count);

/* Starts a program in a session of its own with only these descriptors: null as 0 and 1, log as 2, ready as 3.
   Returns its pid. */
pid_t ambit_spawn_service(const char *program, char *const *arguments, char *const *environment, int null, int log,
                          int ready);

/* Starts a process that gives a terminal back should this one be killed: farewell is written to it, and it gets the settings
   before (struct termios) if it still has raw. Returns its pid, -errno. */
pid_t ambit_keep_terminal(int terminal, const void *before, const void *raw, const char *farewell, size_t length);
/* The terminal has been given back. */
void ambit_dismiss_keeper(pid_t keeper);

/* Control socket of a launch; see claunch.h. */
int ambit_control_pair(int32_t *launcher, int32_t *init);
struct ambit_message;
int ambit_control_send(int control, const struct ambit_message *message);
/* fds: room for 6. Returns 0 at the end of the connection, else 1. */
int ambit_control_receive(int control, struct ambit_message *message, int32_t *fds, int32_t *fd_count);

/* The name of an errno, such as "EPERM"; NULL if there is none. */
const char *ambit_errno_name(int number);

#endif
