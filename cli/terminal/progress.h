/* A line on a terminal that is written over, and taken away at the end.  Where standard error is no
 * terminal, nothing is written. */
#ifndef NEREID_CLI_TERMINAL_PROGRESS_H
#define NEREID_CLI_TERMINAL_PROGRESS_H

#include "runtime/nereid_tune.h"

/* The line is cut where the terminal ends. */
void progress_show(const char *line);
void progress_end(void);

/* While something runs that may last: after a second, "WHAT OF (3 s)" on the terminal, each second
 * anew.  NULL, which the other functions take, where nobody would see it. */
typedef struct Progress Progress;
Progress *progress_start(const char *what, const char *of);
/* From now on "WHAT DONE of TOTAL kernels (3 s)"; a nereid_compile_progress_fn, for any thread. */
void progress_kernels(void *progress, int done, int total);
void progress_stop(Progress *p);

/* How far a tuner is, likewise; a nereid_tune_progress_fn. */
void progress_tuner(void *progress, const nereid_tune_progress *t);

#endif
