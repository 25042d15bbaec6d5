#ifndef CLEASE_H
#define CLEASE_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * File leases (fcntl(2)). All functions return 0 or more, or -errno; descriptors are close-on-exec.
 */

#define AMBIT_LEASE_NONE 0
#define AMBIT_LEASE_READ 1
#define AMBIT_LEASE_WRITE 2

/* F_SETLEASE and F_GETLEASE, with the numbers above. */
int ambit_set_lease(int file, int kind);
int ambit_get_lease(int file);

/* Blocks the signals of breaks in the calling thread, and returns a descriptor on which they arrive (signalfd(2)). Only this
   thread can read them there. */
int ambit_lease_signals(void);
/* Has the breaks of this file's lease told to the calling thread (F_SETSIG, F_SETOWN_EX). */
int ambit_tell_breaks(int file);
/* The descriptor of the next break that has arrived; -1: there is none; -2: the queue was full, and breaks were lost. */
int ambit_next_break(int signals, int *file);

/* Takes a lease on a file in memory, and gives it back. */
int ambit_try_lease(void);
/* Whether this process may lease files of other owners (CAP_LEASE in its own user namespace). */
int ambit_leases_all(void);

/* Copies some of a file to the same place in another, over the content that is there; answers how much, 0 at the end. Holes
   become zeros. The offsets of both stay. */
ssize_t ambit_copy_over(int from, int to, off_t at, size_t most);
/* Whether there are no holes from one offset to another, as far as the file system tells; beyond the end is one (lseek(2)). */
int ambit_is_dense(int file, off_t from, off_t to);
/* Has the blocks of a file's first bytes ready, without a change of its size (fallocate(2)). */
int ambit_reserve(int file, off_t size);
/* Has the system begin to write to the disk what of a file is not there yet; it does not wait (sync_file_range(2)). */
void ambit_begin_writing(int file);
#endif
