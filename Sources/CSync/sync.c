#define _GNU_SOURCE
#include "csync.h"

#include <errno.h>
#include <unistd.h>

int ambit_sync_file_system(int descriptor) { return syncfs(descriptor) == 0 ? 0 : -errno; }
