#ifndef CFLOOR_H
#define CFLOOR_H

/* What the kernel takes for the start and the stop of a scope, whoever asks for it: two exchanges with another process, which
 * mounts a document in a mount namespace of its own and unmounts it again. All return -errno. */

/* Forks the other process; MOUNTPOINT is a file's path. Returns the connection's descriptor; *PROCESS is whom to wait for. */
int cfloor_start(const char *document, const char *mountpoint, int *process);

/* One pair. */
int cfloor_turn(int connection);

/* How long open(2) of a file takes in microseconds, TURNS times, while another process has a lease on it that it gives back at once. */
int cfloor_lease(const char *path, double *microseconds, int turns);
#endif
