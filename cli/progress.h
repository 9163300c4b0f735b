/* A line on a terminal that is written over, and taken away at the end.  Where standard error is no
 * terminal, nothing is written. */
#ifndef NEREID_CLI_PROGRESS_H
#define NEREID_CLI_PROGRESS_H

#include "runtime/nereid_tune.h"

/* The line is cut where the terminal ends. */
void progress_show(const char *line);
void progress_end(void);

/* While something runs that may last: after a second, "WHAT  3 s" on the terminal, each second
 * anew.  NULL, which progress_stop() takes, where nobody would see it. */
typedef struct Progress Progress;
Progress *progress_start(const char *what, const char *of);
void progress_stop(Progress *p);

/* What shows how far a tuner is; it takes no context.  NULL: nobody would see it. */
nereid_tune_progress_fn progress_of_tuner(void);

#endif
