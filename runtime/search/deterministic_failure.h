/* Failures of single kernels among many: their meaning for a tuner, and how a thread that finds one
 * hands it over. */
#ifndef NEREID_RUNTIME_SEARCH_DETERMINISTIC_FAILURE_H
#define NEREID_RUNTIME_SEARCH_DETERMINISTIC_FAILURE_H

#include "runtime/search/search.h"

/* The status of a candidate that ended with this nereid_code. */
nereid_tune_status failure_tune_status(int code);
/* Is it the kernel's own, and so the same next time?  Others are the machine's: no tool, no memory,
 * a full disk. */
bool failure_is_deterministic(int code);

/* A message as one line: its first line, followed by a tool's error if it ends in a colon, and else
 * by the hint of the first error.  malloc'ed; NULL: out of memory. */
char *failure_first_line(const char *message);

typedef struct {
  int code;      /* 0: none */
  char *message; /* one line, malloc'ed; NULL: out of memory */
} DeterministicFailure;

/* Keeps this thread's last failure, if it lasts. */
void deterministic_failure_keep(DeterministicFailure *r, int code);
/* The candidate has failed, and is known to; frees the message.  Without a failure, nothing. */
void deterministic_failure_apply(DeterministicFailure *r, Arena *a, Candidate *c);

#endif
