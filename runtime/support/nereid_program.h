/* The program `nereid`, for work that wants a process of its own. */
#ifndef NEREID_RUNTIME_SUPPORT_NEREID_PROGRAM_H
#define NEREID_RUNTIME_SUPPORT_NEREID_PROGRAM_H

#include <sys/types.h>

#include "runtime/support/tool.h"

/* $NEREID_PROGRAM; this process, if it is nereid; beside the library, or in ../bin from there; the
 * path.  False, and "", if there is none. */
bool program_find(char out[TOOL_PATH]);
/* Starts `nereid worker` with the socket; what it prints goes nowhere. */
int program_start(pid_t *pid, const char *program, int fd);

enum { PROGRAM_SOCKET = 3 }; /* its descriptor in the new process */

#endif
