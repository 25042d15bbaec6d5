#ifndef BATTERY_H
#define BATTERY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The escape battery's program. It runs inside a sandbox and tries acts that must be impossible for an app. The same
 * program runs unconfined to show that each attempt does something where nothing stops it. `ambit verify` compares the two.
 *
 * One probe is one function and one entry of the catalogue (`A1` … `H8`). A probe makes one or more attempts and
 * reports each as one line on standard output, fields separated by tabs:
 *
 *     ::  ID  attempt  reached|refused|unable|control  ERRNO or -  text
 *
 * `reached`: the bad thing could be done. `refused`: it could not. `unable`: it could not be tried here.
 * `control`: something beside the attempt that must work, worked (so a refusal means something).
 *
 * Probes are careful, because they also run unconfined and as root: they touch the stage that they are given and
 * nothing else, and calls that would harm the machine are made with arguments that the kernel looks at only after it
 * has looked at permissions.
 */

struct probe {
  const char *id;
  void (*run)(void);
};

/* Reporting, for the probe that runs. The text is a format. */
void reached(const char *attempt, const char *format, ...) __attribute__((format(printf, 2, 3)));
void refused(const char *attempt, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
void unable(const char *attempt, const char *format, ...) __attribute__((format(printf, 2, 3)));
void control_holds(const char *attempt, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A call's answer, errno still set: anything but -1 has reached its aim. */
bool judge(const char *attempt, long result, const char *what);
/* The same for a call made with arguments that are wrong: any error but one of permission means that it was permitted. */
bool judge_permission(const char *attempt, long result, const char *what);

const char *error_name(int error);

/* The facts about the stage that this program was given, by key; "" and -1 for facts that it was not given. */
const char *stage(const char *key);
long stage_number(const char *key);
/* A path in a folder of the stage; false, and an `unable` line, when the stage has no such folder. */
bool stage_path(char *path, size_t size, const char *attempt, const char *key, const char *name);
void set_stage(const char *key, const char *value);

/* Whether a file can be opened and holds the token; errno says why not. */
bool holds_token(int folder, const char *path);
bool contains_token(const void *bytes, size_t length);
/* Reads a small file whole; -1 and errno. */
long read_file(const char *path, char *buffer, size_t size);

/* Calls a function with each process number in /proc, but for this program's own processes. */
void each_stranger(void (*visit)(int pid, void *state), void *state);
/* The process that has started this program: in a sandbox its init, if it has one. */
int reaper(void);

/* Runs a function in a child and answers its exit status, 128 + signal, or -1 if there was no child. */
int in_child(int (*run)(void *state), void *state);
/* Starts a program in a child, with nowhere to write to; its exit status as above. */
int run_program(const char *const *arguments);
/* Copies this program's file to a path, executable. */
bool copy_self(const char *path);

/* Answers the status of the whole. */
int run_probes(void);

/* The broker's protocol, as small as it can be: one call on a connection of its own. The reply stays valid until the
   next call; NULL when the broker hung up. */
const char *broker_call(const char *method, const char *parameters);
/* The same for a method that waits for a user's answer. */
const char *broker_call_patiently(const char *method, const char *parameters);
int broker_connect(void);
bool broker_send(int socket, const char *bytes, size_t length);
/* The value of the first string member of that name after `from`; false if there is none. */
bool reply_string(const char *from, const char *name, char *value, size_t size);
bool is_error(const char *reply);
/* A call that must be refused, as an attempt. */
void forge(const char *attempt, const char *method, const char *parameters);
/* Calls a method of `Access` for the process that has started the sections' documents; a probe is its child. */
bool with_first(const char *method, const char *scope);
/* Asks for the documents that the other sections use. */
void take_documents(void);

/* Other roles of this program. Each answers an exit status. */
int stagehand(void);
int swap_names(const char *one, const char *other);
int look(const char *path);
int leave_daemon(void);
int hold(void);
int lend(void);
int spell(const char *folder, const char *target);
int ask(const char *target);
int take(void);
int watch(void);
int keep(void);
int pass(void);
int lure(void);

extern const struct probe section_a[], section_b[], section_b_files[], section_c[], section_d[], section_e[],
    section_f[], section_g[], section_h[], section_i_availability[], section_i_filter[], section_i_scopes[];

#endif
