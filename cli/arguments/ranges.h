/* Ranges of sizes on the command line. */
#ifndef NEREID_CLI_ARGUMENTS_RANGES_H
#define NEREID_CLI_ARGUMENTS_RANGES_H

#include "model/nereid_graph.h"

typedef struct {
  nereid_graph_range *data; /* symbols are copies */
  int n;
} Ranges;

/* Adds what "s0=1..64" says.  Returns a status, after a message if it is not STATUS_OK. */
int ranges_add(Ranges *r, const char *text);
void ranges_free(Ranges *r);

#endif
