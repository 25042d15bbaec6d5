#ifndef CLINUX_H
#define CLINUX_H
#include <stdint.h>
#include <sys/types.h>
#include <string.h>

/* glibc has it behind _GNU_SOURCE, which a Swift import does not set. */
const char *strerrorname_np(int errnum);
#endif
