/* Spaces of a tuner on the command line: NAME=V1,V2,... and V1,V2,..., where LO..HI are all whole
 * numbers of a range. */
#ifndef NEREID_CLI_ARGUMENTS_AXES_H
#define NEREID_CLI_ARGUMENTS_AXES_H

#include "cli/terminal/args.h"
#include "runtime/nereid_tune.h"

typedef struct {
  nereid_tune_axis *data;
  int len;
} Axes;

/* Each returns a status, after a message if it is not STATUS_OK. */
int axes_add(Axes *a, const char *name, const char *values);
int axes_add_pair(Axes *a, const char *pair);
void axes_free(Axes *a);

#endif
