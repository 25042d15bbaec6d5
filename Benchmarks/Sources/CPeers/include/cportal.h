#ifndef CPORTAL_H
#define CPORTAL_H
#include <stddef.h>
#include <stdint.h>

/* Just enough D-Bus to ask xdg-document-portal for a grant: one connection, one call at a time. A client library or a
 * command would be measured along with the portal. All return -errno, or -EPROTO when the bus answered with an error,
 * whose text is then in OUT. */

/* Connects to a bus at a socket's path, introduces itself. Returns the connection's descriptor. */
int cportal_connect(const char *socket_path);

/* Documents.GetMountPoint: where the portal's file system is mounted. */
int cportal_mount_point(int bus, char *out, size_t room);

/* Documents.AddFull: lets APP read and write the file at PATH, for good. The descriptor is opened with O_PATH, sent and
 * closed. OUT gets the document's id. */
int cportal_grant(int bus, const char *path, const char *app, char *out, size_t room);

/* Documents.Delete of a document id. */
int cportal_delete(int bus, const char *id, char *out, size_t room);
#endif
