#ifndef LAUNCH_INTERNAL_H
#define LAUNCH_INTERNAL_H
#include "claunch.h"

/* Between the two halves of a launch: the processes (launch.c) and the root that they see (launch_root.c). */

/* Handed to the launcher with AMBIT_READY, in this order. And the init's descriptors for ambit_cover: a file and a folder
   that no process may open. */
struct handover {
  int mount_namespace, documents, listener, processes, sockets, terminal;
  int empty_file, empty_directory;
};

/* Tells the launcher where it ended, with errno, and ends. */
void ambit_launch_fail(const struct ambit_launch *launch, int stage, int step) __attribute__((noreturn));

/* Restricts this process by Landlock, for good. */
void ambit_restrict_by_landlock(const struct ambit_launch *launch);

/* Builds the sandbox's root in this mount namespace and moves into it. */
void ambit_build_root(const struct ambit_launch *launch, struct handover *handover);

/* Covers the plan's hidden parts of /proc, and closes the descriptors that it takes for that. Before the app starts. */
void ambit_cover(const struct ambit_launch *launch, struct handover *handover);

#endif
