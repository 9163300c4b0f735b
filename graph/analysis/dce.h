/* Dead-code elimination, and the replacement map of passes that walk a graph in order.
 *
 * graph/analysis owns facts about graphs that several stages need: uses and replacements, ranges
 * and values of elements, masks of attention, dependence on weights.  It takes a graph whose nodes
 * have types, and gives facts; of all its files only this one changes a graph. */
#ifndef NEREID_GRAPH_ANALYSIS_DCE_H
#define NEREID_GRAPH_ANALYSIS_DCE_H

#include "graph/ir/graph.h"

/* The replacements of nodes, for a walk in order: replace all uses, but lazily.  The arguments of a
 * node are changed when the walk reaches it. */
typedef struct {
  Node *node;   /* NULL: it is not replaced */
  Node **items; /* instead of a node whose value is a list */
  uint32_t nitems;
} Replacement;

typedef struct {
  Graph *g;
  Arena *scratch;
  Replacement *of; /* by id */
  uint32_t room;
} ReplacementMap;

ReplacementMap replacements_new(Graph *g, Arena *scratch);
Replacement *replacement_of(ReplacementMap *s, const Node *n);
/* Replaces n's arguments; a list that was decomposed becomes its items. */
void replacements_apply(ReplacementMap *s, Node *n);

/* Removes calls and getitems without uses and without effects.  All ops count as pure, as after
 * pass functionalize nothing writes in place. */
void graph_dce(Graph *g);
/* By id: is the node one that graph_dce removes? */
bool *graph_unused(Graph *g, Arena *scratch);
/* Reports the first node that writes in place; true if there is none. */
bool graph_functional(Graph *g, const char *pass);
/* Reports the first complex value. */
bool graph_real(Graph *g, const char *pass);

#endif
