#ifndef CREPLACE_H
#define CREPLACE_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Putting one file in the place of another. All functions return 0 or more, or -errno; descriptors are close-on-exec.
 */

/* renameat2(2). */
#define AMBIT_RENAME_NOREPLACE 1
#define AMBIT_RENAME_EXCHANGE 2
int ambit_rename(int from_directory, const char *from, int to_directory, const char *to, unsigned flags);

/* Lets the empty file `to` share the content of `from` (FICLONE), where the file system can. */
int ambit_share_content(int from, int to);
/* Copies some more, from where either stands; answers how much, 0 at the end. Holes stay holes. */
ssize_t ambit_copy_part(int from, int to);

/* Gives `to` the owner, group, mode (without set-id bits), access control list and user attributes of `from`; either may be a
   place only (O_PATH). Attributes that cannot be kept are left out so that no user gets more rights than before: without the
   list or the group the group has no rights. */
int ambit_copy_attributes(int from, int to);

/* Gives `to` the mode (without set-id bits) and user attributes of `from`, and the owner and group of `owner`. Without the group
   the group has no rights. */
int ambit_adopt(int from, int to, int owner);

/* The text of a link that is open as a place; answers its length. */
ssize_t ambit_link_text(int link, char *text, size_t size);
/* Makes a link in a folder, of the owner and group of `owner`. */
int ambit_make_link(const char *text, int directory, const char *name, int owner);

/* An extended attribute of an open file, a place as well; answers its length. Without a value it is removed. */
ssize_t ambit_attribute(int file, const char *name, void *value, size_t size);
int ambit_set_attribute(int file, const char *name, const void *value, size_t size);
/* The same of a name in an open folder, with links followed. */
ssize_t ambit_attribute_of(int directory, const char *entry, const char *name, void *value, size_t size);

/* fdatasync(2). */
int ambit_sync_data(int file);

/* An unnamed file in a folder (O_TMPFILE), and the name that it gets there, which must be free. */
int ambit_unnamed_file(int directory);
int ambit_name_file(int file, int directory, const char *name);

/* move_mount(2) beneath the mount at the target (Linux 6.5): this shows when that is taken away. */
int ambit_move_mount_beneath(int tree, int target);

/* inotify(7): never blocks. */
int ambit_watcher(void);
/* Watches an open folder for entries that come to stand in it and for those that leave it; answers the watch's number. */
int ambit_watch_folder(int watcher, int directory);
/* Watches an open folder for entries that are moved into it and out of it, and for its own moves. */
int ambit_watch_moves(int watcher, int directory);
/* Watches an open folder for every change of its entries: names, content and attributes. */
int ambit_watch_changes(int watcher, int directory);
/* Watches an open file or folder for its end. */
int ambit_watch_file(int watcher, int file);
int ambit_unwatch(int watcher, int watch);
/* Whether an entry of a `/proc/PID/fd` is an inotify descriptor. */
int ambit_is_watcher(int table, const char *name);

#endif
