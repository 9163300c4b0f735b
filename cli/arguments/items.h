/* Numbers of items on the command line, of sequences and optional inputs of a model. */
#ifndef NEREID_CLI_ARGUMENTS_ITEMS_H
#define NEREID_CLI_ARGUMENTS_ITEMS_H

#include "model/nereid_graph.h"

typedef struct {
  nereid_graph_items *data; /* inputs' names are copies */
  int n;
} Items;

/* Adds what "x=3" or "mask=none" says.  Returns a status, after a message if it is not
 * STATUS_OK. */
int items_add(Items *items, const char *text);
void items_free(Items *items);

#endif
