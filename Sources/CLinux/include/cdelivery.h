#ifndef AMBIT_CDELIVERY_H
#define AMBIT_CDELIVERY_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Handing bytes to another program, and how far it has got. Every function answers a value, or -errno; every descriptor is
   close-on-exec. */

/* Connects to the datagram socket at a path of any length. */
int ambit_datagram_connect_path(const char *path);

/* Sends one datagram with no bytes and one descriptor: how systemd's journal takes an entry that is too long for a
   datagram. Never raises SIGPIPE. */
int ambit_datagram_send_file(int socket, int file);

/* Connects over TCP to a port of this machine's own, 127.0.0.1 or with `six` ::1. */
int ambit_loopback_connect(int six, uint16_t port);

/* How many of the written bytes the other end has not read: of a pipe bytes (FIONREAD), of a Unix socket the kernel's own
   count (SIOCOUTQ); 0 is nothing in both. -ENOTTY: the file is neither. */
int64_t ambit_unread(int file);

/* No more will be written; the other end reads an end. */
int ambit_shut_down_writing(int socket);
#endif
