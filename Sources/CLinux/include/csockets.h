#ifndef AMBIT_CSOCKETS_H
#define AMBIT_CSOCKETS_H
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Unix stream sockets. Every function answers a value, or -errno. Every descriptor is close-on-exec. */

/* The most descriptors that the kernel takes in one message (SCM_MAX_FD). */
#define AMBIT_MAX_DESCRIPTORS 253

/* Listens at `name` in the directory `directory`, through /proc/self/fd, so that the length of the directory's path
   does not matter. The socket's file gets `mode` from the start (less the umask). Accepting never blocks. */
int ambit_socket_listen(int directory, const char *name, mode_t mode, int backlog);

/* Connects to the socket `name` in `directory`. -EAGAIN: for ten seconds others have been waiting to be accepted, as many as
   may. */
int ambit_socket_connect(int directory, const char *name);

/* Connects to the socket at a path of any length (PATH_MAX). */
int ambit_socket_connect_path(const char *path);

/* The next waiting connection; -EAGAIN when there is none. */
int ambit_socket_accept(int listener);

int ambit_socket_pair(int sockets[2]);

/* Sends bytes, and descriptors with their first byte; answers how many bytes went. Never raises SIGPIPE. */
ssize_t ambit_socket_send(int socket, const void *bytes, size_t size, const int *descriptors, int count, int wait);

/* The sender of the received bytes, by the kernel's word: a process, not a thread. pid: as the receiver numbers processes; 0: the
   kernel does not say, or the process has no number there. process: its pidfd, or -1. */
struct ambit_sender {
  pid_t pid;
  int process;
};

/* Receives bytes and the descriptors that came with them (`*count` of them, room for AMBIT_MAX_DESCRIPTORS).
   -EMSGSIZE: there were more descriptors than the process can hold, or other control data; those that arrived are
   closed. 0: the peer will send no more. */
ssize_t ambit_socket_receive(
  int socket, void *bytes, size_t size, int *descriptors, int *count, struct ambit_sender *sender, int wait);

/* From now on the kernel names the sender of each message on this socket (SO_PASSCRED), also on connections that a listening
   socket accepts; with `processes` it sends a pidfd along, where it can (SO_PASSPIDFD, Linux 6.5). */
int ambit_socket_name_senders(int socket);
int ambit_socket_pass_processes(int socket, int wanted);

/* The process that connected, as the kernel saw it then (SO_PEERCRED). */
int ambit_socket_peer(int socket, pid_t *pid, uid_t *uid, gid_t *gid);

/* Kernel memory in buffers of sockets (sock_diag(7)). The descriptor tells of the network namespace that it was made in. */
struct ambit_socket_use {
  uint64_t inode; /* 0: no descriptor has it any more */
  uint64_t bytes;
};

int ambit_socket_diagnosis(void);

/* Sockets of a family, and a protocol for AF_INET and AF_INET6, that have buffers in use. Their number is answered, and the bytes
   of all of them are added to `*total`; at most `capacity` are described. */
ssize_t ambit_socket_uses(
  int diagnosis, int family, int protocol, struct ambit_socket_use *uses, size_t capacity, uint64_t *total);

/* poll(2), for a count of milliseconds; -1: for ever. */
int ambit_poll(struct pollfd *entries, size_t count, int milliseconds);

#endif
