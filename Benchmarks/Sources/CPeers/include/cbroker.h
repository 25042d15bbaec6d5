#ifndef CBROKER_H
#define CBROKER_H
#include <stddef.h>

/* Just enough Varlink to ask Ambit's broker for a grant, beside cportal.h: one connection, one call at a time. All return
 * -errno, or -EPROTO when the broker answered with an error, which is then in OUT. */

/* Connects to the user's socket of a broker. Returns the connection's descriptor. */
int cbroker_connect(const char *socket_path);

/* io.ambit.Grants.Add: lets APP read and write the file at PATH, for good. The descriptor is opened with O_PATH, sent and
 * closed. OUT gets the answer. */
int cbroker_grant(int broker, const char *path, const char *app, char *out, size_t room);
#endif
