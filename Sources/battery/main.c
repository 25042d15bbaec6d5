#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file == -1) return false;
  ssize_t length = (ssize_t)strlen(text), written = write(file, text, (size_t)length);
  close(file);
  return written == length;
}

/* For an ordinary user's second control: root of namespaces of its own, where attempts that need privilege can be seen to work. */
static bool become_root_here(void) {
  char users[64], groups[64];
  snprintf(users, sizeof users, "0 %u 1\n", geteuid());
  snprintf(groups, sizeof groups, "0 %u 1\n", getegid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC) == -1) return false;
  write_text("/proc/self/setgroups", "deny");
  return write_text("/proc/self/uid_map", users) && write_text("/proc/self/gid_map", groups);
}

int main(int count, char **arguments) {
  const char *role = count > 1 ? arguments[1] : "";
  for (int i = 2; i < count; i++) {
    char *equals = strchr(arguments[i], '=');
    if (!equals) continue;
    *equals = 0;
    set_stage(arguments[i], equals + 1);
    *equals = '=';
  }
  if (strcmp(role, "probe") == 0) {
    if (*stage("ownroot") && !become_root_here()) {
      printf("::\tcannot\t%s\n", error_name(errno));
      return 0;
    }
    return run_probes();
  }
  if (strcmp(role, "stagehand") == 0) return stagehand();
  if (strcmp(role, "swap") == 0 && count == 4) return swap_names(arguments[2], arguments[3]);
  if (strcmp(role, "look") == 0 && count == 3) return look(arguments[2]);
  if (strcmp(role, "daemon") == 0) return leave_daemon();
  if (strcmp(role, "hold") == 0) return hold();
  if (strcmp(role, "lend") == 0) return lend();
  if (strcmp(role, "spell") == 0 && count == 4) return spell(arguments[2], arguments[3]);
  if (strcmp(role, "lure") == 0) return lure();
  if (strcmp(role, "ask") == 0 && count == 3) return ask(arguments[2]);
  if (strcmp(role, "take") == 0) return take();
  if (strcmp(role, "watch") == 0) return watch();
  if (strcmp(role, "keep") == 0) return keep();
  if (strcmp(role, "pass") == 0) return pass();
  /* The probes execute this to see whether they may. */
  if (strcmp(role, "hello") == 0) return 42;
  fprintf(stderr, "battery: run by `ambit verify`; it tries to leave the sandbox that it is started in\n");
  return 64;
}
