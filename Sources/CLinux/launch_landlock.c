#define _GNU_SOURCE
#include "launch_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* By number: the headers of many systems are older than the kernels that they run. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#define RULE_PATH_BENEATH 1
#define CREATE_RULESET_VERSION 1

int ambit_landlock_abi(void) {
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
  return abi == -1 ? -errno : (int)abi;
}

static int permit(int ruleset, const struct ambit_landlock *landlock, const struct ambit_landlock_rule *rule) {
  int parent = open(rule->path, O_PATH | O_CLOEXEC);
  /* A missing file needs no permission. */
  if (parent == -1) return errno == ENOENT ? 0 : -1;
  struct stat status;
  if (fstat(parent, &status) == -1) return -1;
  struct {
    uint64_t allowed;
    int32_t parent;
  } __attribute__((packed)) beneath = {rule->rights, parent};
  if (!S_ISDIR(status.st_mode)) beneath.allowed &= landlock->file_rights;
  int result = beneath.allowed == 0 ? 0 : (int)syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &beneath, 0);
  int saved = errno;
  close(parent);
  errno = saved;
  return result;
}

void ambit_restrict_by_landlock(const struct ambit_launch *launch) {
  const struct ambit_landlock *landlock = &launch->landlock;
  if (landlock->size == 0) return;
  uint64_t handled[3] = {landlock->files, landlock->network, landlock->scoped};
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, handled, landlock->size, 0);
  if (ruleset == -1) ambit_launch_fail(launch, AMBIT_STAGE_LANDLOCK, 0);
  for (size_t i = 0; i < landlock->rule_count; i++) {
    if (permit(ruleset, landlock, &landlock->rules[i]) == -1) ambit_launch_fail(launch, AMBIT_STAGE_LANDLOCK, (int)i + 1);
  }
  /* Demands no_new_privs, which the caller has set. */
  if (syscall(SYS_landlock_restrict_self, ruleset, 0) == -1) ambit_launch_fail(launch, AMBIT_STAGE_LANDLOCK, -1);
  close(ruleset);
}
