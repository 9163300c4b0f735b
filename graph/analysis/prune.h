/* What passes share: replaced nodes, and nodes that nothing uses. */
#ifndef NEREID_GRAPH_ANALYSIS_PRUNE_H
#define NEREID_GRAPH_ANALYSIS_PRUNE_H

#include "graph/ir/graph.h"

/* What stands for nodes that a walk in order replaces.  Uses behind the walk are not touched: each
 * node's arguments are changed as the walk comes to it. */
typedef struct {
  Node *node;   /* NULL: it stands for itself */
  Node **items; /* instead of a node whose value is a list */
  uint32_t nitems;
} Stand;

typedef struct {
  Graph *g;
  Arena *scratch;
  Stand *of; /* by id */
  uint32_t room;
} Stands;

Stands stands_new(Graph *g, Arena *scratch);
Stand *stands_of(Stands *s, const Node *n);
/* n's arguments name what stands for them; a list that was taken apart becomes its items. */
void stands_apply(Stands *s, Node *n);

/* Removes calls and getitems that nothing uses and that do nothing else.  All ops count as pure:
 * what writes in place has been made a value before. */
void graph_prune(Graph *g);
/* Reports the first node that writes in place; true if there is none. */
bool graph_functional(Graph *g, const char *pass);

#endif
