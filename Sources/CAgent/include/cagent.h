#pragma once

/* The app under test: carries out the acts of docs/reference/adapters.md with plain system calls.

   One request, one answer, each a line of JSON without the newline. Nothing here is safe for several threads: the
   app is one process with one loop. */

#ifdef __cplusplus
extern "C" {
#endif

/* Carries out one request. Returns 1 and an answer that the caller frees, or 0 when no act has this name: then
   `*answer` is NULL, and a program with more acts goes on with its own. Without memory the answer is NULL too. */
int agent_answer(const char *request, char **answer);

/* The answer to a request that nobody knows. The caller frees it. */
char *agent_unknown(const char *request);

/* The descriptor that is held under a name, or -1. */
int agent_held(const char *name);

/* Holds a descriptor under a name. One that was held under it is closed; -1 closes it and forgets the name. Without room
   for another name the descriptor is closed, and `agent_held` says so. */
void agent_keep(const char *name, int fd);

#ifdef __cplusplus
}
#endif
