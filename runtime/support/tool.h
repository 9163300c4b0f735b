/* Running other programs: the C compiler, ptxas. */
#ifndef NEREID_RUNTIME_SUPPORT_TOOL_H
#define NEREID_RUNTIME_SUPPORT_TOOL_H

#include <stdbool.h>
#include <sys/types.h>

#include "runtime/support/error.h"
#include "runtime/support/temp.h"
#include "runtime/support/tool.h"

enum { TOOL_PATH = 4096 };

/* The full path of a program; a name with a slash is taken as it is. */
bool tool_find(char out[TOOL_PATH], const char *name);
/* The C compiler: $CC (whose further words are options), cc, gcc, clang. */
bool tool_find_cc(char out[TOOL_PATH], char options[TOOL_PATH]);
/* ptxas: $NEREID_PTXAS, the path, $CUDA_HOME, /usr/local/cuda. */
bool tool_find_ptxas(char out[TOOL_PATH]);
/* Runs argv[0] and waits.  Returns its status (128 + n after signal n), or -1 if it can't be run.
 * Its output is in `output`, cut to size. */
int tool_run(const char *const *argv, char *output, size_t size);
/* Runs a tool, and ends it as soon as *stop (atomic; may be NULL) is true: then 128 + SIGKILL. */
int tool_run_until(const char *const *argv, char *output, size_t size, const bool *stop);

/* ---- the program `nereid`, for work in a process of its own ---- */

/* $NEREID_PROGRAM; this process, if it is nereid; beside the library, or in bin or ../bin from
 * there; the path.  False, and "", if there is none. */
bool program_find(char out[TOOL_PATH]);
/* Starts `nereid worker` with the socket; what it prints goes nowhere. */
int program_start(pid_t *pid, const char *program, int fd);

enum { PROGRAM_SOCKET = 3 }; /* its descriptor in the new process */

#endif
