#include "cfilter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

int cfilter_allow_everything(void) {
  struct sock_filter allow[] = {{.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW}};
  struct sock_fprog program = {.len = 1, .filter = allow};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) return -errno;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == -1 ? -errno : 0;
}
