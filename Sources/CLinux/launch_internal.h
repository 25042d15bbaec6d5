#ifndef LAUNCH_INTERNAL_H
#define LAUNCH_INTERNAL_H
#include "claunch.h"

/* Between the two halves of a launch: the processes (launch.c) and the root that they see (launch_root.c). */

/* Handed to the launcher with AMBIT_READY, in this order. */
struct handover {
  int mount_namespace, documents, listener, terminal;
};

/* Tells the launcher where it ended, with errno, and ends. */
void ambit_launch_fail(const struct ambit_launch *launch, int stage, int step) __attribute__((noreturn));

/* Restricts this process by Landlock, for good. */
void ambit_restrict_by_landlock(const struct ambit_launch *launch);

/* Builds the sandbox's root in this mount namespace and moves into it. */
void ambit_build_root(const struct ambit_launch *launch, struct handover *handover);

#endif
