#include "agent.h"

#include <errno.h>
#include <stdio.h>

/* Not by strerrorname_np: only glibc has it, and only newer ones. */
static const struct {
  int number;
  const char *name;
} names[] = {
#define NAME(name) {name, #name}
    NAME(E2BIG), NAME(EACCES), NAME(EADDRINUSE), NAME(EADDRNOTAVAIL), NAME(EAFNOSUPPORT), NAME(EAGAIN), NAME(EALREADY),
    NAME(EBADF), NAME(EBADMSG), NAME(EBUSY), NAME(ECANCELED), NAME(ECHILD), NAME(ECONNABORTED), NAME(ECONNREFUSED),
    NAME(ECONNRESET), NAME(EDEADLK), NAME(EDESTADDRREQ), NAME(EDOM), NAME(EDQUOT), NAME(EEXIST), NAME(EFAULT),
    NAME(EFBIG), NAME(EHOSTUNREACH), NAME(EIDRM), NAME(EILSEQ), NAME(EINPROGRESS), NAME(EINTR), NAME(EINVAL), NAME(EIO),
    NAME(EISCONN), NAME(EISDIR), NAME(ELOOP), NAME(EMFILE), NAME(EMLINK), NAME(EMSGSIZE), NAME(ENAMETOOLONG),
    NAME(ENETDOWN), NAME(ENETUNREACH), NAME(ENFILE), NAME(ENOBUFS), NAME(ENODEV), NAME(ENOENT), NAME(ENOEXEC),
    NAME(ENOLCK), NAME(ENOMEM), NAME(ENOPROTOOPT), NAME(ENOSPC), NAME(ENOSYS), NAME(ENOTCONN), NAME(ENOTDIR),
    NAME(ENOTEMPTY), NAME(ENOTSOCK), NAME(ENOTSUP), NAME(ENOTTY), NAME(ENXIO), NAME(EOVERFLOW), NAME(EPERM),
    NAME(EPIPE), NAME(EPROTO), NAME(EPROTONOSUPPORT), NAME(EPROTOTYPE), NAME(ERANGE), NAME(EROFS), NAME(ESPIPE),
    NAME(ESRCH), NAME(ESTALE), NAME(ETIMEDOUT), NAME(ETXTBSY), NAME(EXDEV),
#ifdef __wasi__
    /* What WASI says of a path outside of every folder that it was given. */
    {ENOTCAPABLE, "EACCES"},
#else
    NAME(ENODATA), NAME(ENOTBLK), NAME(EHOSTDOWN), NAME(EREMOTEIO), NAME(EUSERS), NAME(ENOKEY), NAME(EKEYREJECTED),
    NAME(ESHUTDOWN), NAME(EUCLEAN), NAME(EMEDIUMTYPE), NAME(ENOMEDIUM),
#endif
#undef NAME
};

const char *errno_name(int number) {
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (names[i].number == number) return names[i].name;
  }
  static char other[16];
  snprintf(other, sizeof other, "E%d", number);
  return other;
}
