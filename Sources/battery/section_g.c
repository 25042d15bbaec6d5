/* G: granted documents: the uses to which a grant must not be stretched. */
#define _GNU_SOURCE
#include "battery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool with_scope(const char *method, const char *scope) {
  char parameters[1000];
  snprintf(parameters, sizeof parameters, "{\"scope\":\"%s\"}", scope);
  const char *reply = broker_call(method, parameters);
  return reply && !is_error(reply);
}

/* Scopes started before any probe belong to the first process; a probe is a child of it. */
bool with_first(const char *method, const char *scope) {
  char parameters[1000];
  snprintf(parameters, sizeof parameters, "{\"scope\":\"%s\",\"process\":\"parent\"}", scope);
  const char *reply = broker_call(method, parameters);
  return reply && !is_error(reply);
}

static bool pick(const char *parameters, const char *key) {
  char path[4096], scope[512], name[64];
  const char *reply = broker_call("io.ambit.Picker.Pick", parameters);
  if (!reply || is_error(reply) || !reply_string(reply, "path", path, sizeof path) ||
      !reply_string(reply, "scope", scope, sizeof scope)) {
    unable("before", "no document: %.300s", reply ? reply : "the broker hung up");
    return false;
  }
  set_stage(key, path);
  snprintf(name, sizeof name, "%sscope", key);
  set_stage(name, scope);
  return true;
}

static void try_notes(const char *attempt) {
  char path[4096];
  snprintf(path, sizeof path, "%s/notes", stage("granted"));
  if (holds_token(AT_FDCWD, path)) {
    reached(attempt, "the document was read, and its scope is not active");
  } else {
    refused(attempt, errno, "%s", path);
  }
}

void take_documents(void) {
  if (!pick("{\"mode\":\"open\",\"kind\":\"folder\"}", "granted")) return;
  try_notes("before");
  char path[4096];
  snprintf(path, sizeof path, "%s/notes", stage("granted"));
  if (!with_scope("io.ambit.Access.Start", stage("grantedscope"))) {
    unable("before", "the scope cannot be started");
  } else if (holds_token(AT_FDCWD, path)) {
    control_holds("before", "started, it can be read");
    control_holds("after", "started, it can be read");
  }
  if (pick("{\"mode\":\"open\",\"access\":\"readOnly\"}", "readonly"))
    with_scope("io.ambit.Access.Start", stage("readonlyscope"));
}

/* A document before its scope is started and after its last stop. */
static void g1(void) {
  if (!*stage("grantedscope")) return unable("after", "there is no grant here");
  with_first("io.ambit.Access.Stop", stage("grantedscope"));
  try_notes("after");
  with_first("io.ambit.Access.Start", stage("grantedscope"));
}

static void try_below(const char *attempt, int folder, const char *path) {
  if (holds_token(folder, path)) {
    reached(attempt, "the canary was read through %s", path);
  } else {
    refused(attempt, errno, "%s", path);
  }
}

/* Out of a granted folder: upwards, through a link in it, and after the host has moved an open part of it elsewhere. */
static void g3(void) {
  char path[4096];
  if (!stage_path(path, sizeof path, "dots", "granted", "")) return;
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder == -1) return unable("dots", "%s", error_name(errno));
  try_below("dots", folder, "../canary");
  try_below("link", folder, "out");
  int part = openat(folder, "part", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int request = openat(folder, "move", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (part == -1 || request == -1) return unable("moved", "%s", error_name(errno));
  close(request);
  bool moved = false;
  for (int i = 0; i < 400 && !moved; i++) {
    usleep(5000);
    moved = faccessat(folder, "moved", F_OK, 0) == 0;
  }
  if (moved) {
    try_below("moved", part, "../canary");
    if (holds_token(part, "inside")) control_holds("moved", "the open folder itself can still be read");
  } else {
    unable("moved", "the host did not move it");
  }
  unlinkat(folder, "move", 0);
}

/* ---- G4, G6, G9: a run of their own ---- */

/* Asks for documents and starts them all; how many it could, and the error that ended it. */
static long start_all(char first[512], char error[300]) {
  const char *reply = broker_call("io.ambit.Picker.Pick", "{\"mode\":\"open\",\"multiple\":true}");
  if (!reply || is_error(reply)) {
    snprintf(error, 300, "%.299s", reply ? reply : "the broker hung up");
    return 0;
  }
  char *all = strdup(reply), scope[512], parameters[1000];
  long started = 0;
  for (char *at = all; (at = strstr(at, "\"scope\":\"")) && reply_string(at, "scope", scope, sizeof scope); at++) {
    snprintf(parameters, sizeof parameters, "{\"scope\":\"%s\"}", scope);
    reply = broker_call("io.ambit.Access.Start", parameters);
    if (!reply || is_error(reply)) {
      if (reply) reply_string(reply, "error", error, 300);
      break;
    }
    if (!*first) snprintf(first, 512, "%s", scope);
    started++;
  }
  free(all);
  return started;
}

static void g4(void) {
  const char *step = stage("step");
  bool again = strcmp(step, "use") == 0;
  if (!again && strcmp(step, "make") != 0) return unable("limit", "there is no broker here");
  char first[512] = "", error[300] = "";
  long limit = stage_number("limit"), started = 0;
  for (long picks = stage_number("picks"); picks > 0; picks--) started += start_all(first, error);
  if (again) {
    if (started == limit) {
      refused("reclaimed", 0, "the last launch ended without a stop; all %ld slots can be used", limit);
    } else if (strstr(error, "LimitReached")) {
      reached("reclaimed", "slots of a launch that has ended are still taken: only %ld can be used", started);
    } else {
      unable("reclaimed", "only %ld could be started: %s", started, error);
    }
    return;
  }
  if (started > limit) {
    reached("limit", "%ld scopes at a time, and the limit is %ld", started, limit);
  } else if (started == limit && strstr(error, "LimitReached")) {
    control_holds("limit", "%ld at a time can be started", limit);
    refused("limit", 0, "number %ld: %s", limit + 1, error);
  } else {
    unable("limit", "only %ld could be started: %s", started, error);
  }
  /* They stay active: this launch ends without a stop. But one is given back for the next probes. */
  with_scope("io.ambit.Access.Stop", first);
}

/* The folders that Ambit refuses to hand out whole, even if the user chooses them: the root, the home folder, its own state. */
static void g9(void) {
  if (strcmp(stage("step"), "make") != 0) return unable("root", "there is no broker here");
  static const char *const names[] = {"root", "home", "state"};
  for (int i = 0; i < 3; i++) forge(names[i], "io.ambit.Picker.Pick", "{\"mode\":\"open\",\"kind\":\"folder\"}");
  const char *reply = broker_call("io.ambit.Picker.Pick", "{\"mode\":\"open\",\"kind\":\"folder\"}");
  for (int i = 0; i < 3 && reply && !is_error(reply); i++) control_holds(names[i], "another folder is granted");
}

static void keep_bookmark(const char *name) {
  char path[4096];
  static char bookmark[8192];
  const char *reply = broker_call("io.ambit.Picker.Pick", "{\"mode\":\"open\"}");
  char scope[512], parameters[1000];
  if (!reply || is_error(reply) || !reply_string(reply, "scope", scope, sizeof scope)) return;
  with_scope("io.ambit.Access.Start", scope);
  snprintf(parameters, sizeof parameters, "{\"scope\":\"%s\"}", scope);
  reply = broker_call("io.ambit.Bookmarks.Create", parameters);
  if (reply && reply_string(reply, "bookmark", bookmark, sizeof bookmark)) {
    snprintf(path, sizeof path, "%s/Library/%s", stage("container"), name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file != -1 && write(file, bookmark, strlen(bookmark)) < 0) unlink(path);
    if (file != -1) close(file);
  }
  with_scope("io.ambit.Access.Stop", scope);
}

/* Whether a kept bookmark leads to a file with the token in it. */
static bool follow_bookmark(const char *name, char *answer, size_t size) {
  char path[4096], scope[512];
  static char bookmark[8192], parameters[9000];
  snprintf(path, sizeof path, "%s/Library/%s", stage("container"), name);
  snprintf(answer, size, "there is no bookmark");
  if (read_file(path, bookmark, sizeof bookmark) <= 0) return false;
  snprintf(parameters, sizeof parameters, "{\"bookmark\":\"%s\"}", bookmark);
  const char *reply = broker_call("io.ambit.Bookmarks.Resolve", parameters);
  snprintf(answer, size, "the broker hung up");
  if (!reply) return false;
  if (is_error(reply)) {
    reply_string(reply, "error", answer, size);
    return false;
  }
  reply_string(reply, "scope", scope, sizeof scope);
  reply_string(reply, "path", path, sizeof path);
  bool started = with_scope("io.ambit.Access.Start", scope);
  bool found = holds_token(AT_FDCWD, path);
  snprintf(answer, size, "%s, %s", started ? "started" : "not started", found ? "read" : error_name(errno));
  if (started) with_scope("io.ambit.Access.Stop", scope);
  return found;
}

/* A bookmark to a document that another file has replaced; and, as its control, one to a document that was moved. */
static void g6(void) {
  if (strcmp(stage("step"), "make") == 0) {
    keep_bookmark("replaced");
    keep_bookmark("moved");
    return;
  }
  if (strcmp(stage("step"), "use") != 0) return unable("impostor", "there is no broker here");
  char answer[200];
  if (follow_bookmark("moved", answer, sizeof answer)) control_holds("impostor", "a moved document is found");
  if (follow_bookmark("replaced", answer, sizeof answer)) {
    reached("impostor", "the bookmark leads to a file that nobody chose");
  } else if (strstr(answer, "NotFound")) {
    refused("impostor", 0, "%s", answer);
  } else {
    unable("impostor", "%s", answer);
  }
}

/* A single document is saved by renaming another file over it. The app must not use that for three things: to put anything but a
 * file of its own in the document's place, where the user's programs would follow it; to take the document itself along; and to
 * see or make another file beside it on the host. */
static void g11(void) {
  if (strcmp(stage("step"), "make") != 0) return unable("symlink", "there is no broker here");
  static const char *const attempts[] = {"symlink", "fifo", "folder", "link", "rename", "exchange", "unlink", "sibling"};
  char path[4096], other[4200], own[4200], scope[512];
  const char *reply = broker_call("io.ambit.Picker.Pick", "{\"mode\":\"open\"}");
  if (!reply || is_error(reply) || !reply_string(reply, "scope", scope, sizeof scope) ||
      !reply_string(reply, "path", path, sizeof path) || !with_scope("io.ambit.Access.Start", scope))
    return unable("symlink", "no document: %.300s", reply ? reply : "the broker hung up");
  /* A question that was lost before this one leaves another answer for it. */
  if (strcmp(strrchr(path, '/'), "/saved") != 0) return unable("symlink", "another document was handed over: %.300s", path);
  snprintf(other, sizeof other, "%.*s/t", (int)(strrchr(path, '/') - path), path);
  snprintf(own, sizeof own, "%s/Library/taken", stage("container"));

  int file = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file != -1 && write(file, "saved\n", 6) == 6 && close(file) == 0 && rename(other, path) == 0)
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) control_holds(attempts[i], "a file of its own is saved");
  if (symlink("/etc/passwd", other) == 0) judge("symlink", rename(other, path), "a link in the document's place");
  unlink(other);
  if (mkfifo(other, 0600) == 0) judge("fifo", rename(other, path), "a pipe in the document's place");
  unlink(other);
  if (mkdir(other, 0700) == 0) judge("folder", rename(other, path), "a folder in the document's place");
  rmdir(other);
  judge("link", link(path, own), "the document linked into the container");
  judge("rename", rename(path, own), "the document moved into the container");
  file = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file != -1) close(file);
  judge("exchange", renameat2(AT_FDCWD, other, AT_FDCWD, path, RENAME_EXCHANGE), "the document itself for a file of its own");
  judge("unlink", unlink(path), "the document removed");
  snprintf(own, sizeof own, "%.*s/moved", (int)(strrchr(path, '/') - path), path);
  judge("sibling", access(own, F_OK), "what lies beside the document on the host");
  with_scope("io.ambit.Access.Stop", scope);
}

/* A descriptor that was opened while the scope was active goes on (the manual says so); nothing new can be opened. */
static void g5(void) {
  if (!*stage("grantedscope")) return unable("open", "there is no grant here");
  char path[4096], byte;
  snprintf(path, sizeof path, "%s/notes", stage("granted"));
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file == -1) return unable("open", "%s", error_name(errno));
  control_holds("open", "the document was open before the stop");
  with_first("io.ambit.Access.Stop", stage("grantedscope"));
  bool survives = pread(file, &byte, 1, 0) == 1;
  int again = open(path, O_RDONLY | O_CLOEXEC);
  if (again != -1) {
    reached("open", "it could be opened anew after the last stop");
  } else {
    refused("open", errno, "anew; the descriptor from before %s", survives ? "goes on, as documented" : "is dead");
  }
  with_first("io.ambit.Access.Start", stage("grantedscope"));
}

/* Another app's token and bookmark, which a helper has given to this one. */
static void g8(void) {
  static char parameters[9000];
  if (!*stage("foreignscope")) return unable("token", "there is no other app here");
  /* That they work for whom they belong to was seen when they were lent. */
  snprintf(parameters, sizeof parameters, "{\"scope\":\"%s\"}", stage("foreignscope"));
  forge("token", "io.ambit.Access.Start", parameters);
  control_holds("token", "it works for its own app");
  snprintf(parameters, sizeof parameters, "{\"bookmark\":\"%s\"}", stage("foreignbookmark"));
  forge("bookmark", "io.ambit.Bookmarks.Resolve", parameters);
  control_holds("bookmark", "it works for its own app");
}

/* Programs and devices in a granted folder. */
static void g10(void) {
  char path[4096];
  static const char *const names[] = {"tool", "tool-setuid"};
  for (int i = 0; i < 2; i++) {
    if (!stage_path(path, sizeof path, names[i], "granted", names[i])) return;
    if (access(path, F_OK) == -1) continue;
    const char *arguments[] = {path, "hello", NULL};
    int status = run_program(arguments);
    if (status == 42) {
      reached(names[i], "a program in the granted folder runs");
    } else {
      refused(names[i], status == 126 ? EACCES : 0, "%s", path);
    }
  }
  if (stage_path(path, sizeof path, "device", "granted", "device") && access(path, F_OK) == 0)
    judge("device", open(path, O_RDONLY | O_CLOEXEC), "a device node in the granted folder");
}

const struct probe section_g[] = {{"G1", g1}, {"G3", g3}, {"G4", g4}, {"G9", g9},   {"G6", g6}, {"G11", g11},
                                  {"G5", g5}, {"G8", g8}, {"G10", g10}, {0}};
