/* Options of graphs by the rows of nereid_graph_options.h. */
#ifndef NEREID_MODEL_API_GRAPH_OPTIONS_H
#define NEREID_MODEL_API_GRAPH_OPTIONS_H

#include <stdbool.h>

#include "lang/base/arena.h"
#include "model/nereid_graph.h"
#include "runtime/store/cache.h"

/* The name of a list that has a length and is NULL; NULL: there is none. */
const char *graph_options_missing(const nereid_graph_options *o);
/* May an executable be taken from the cache, and left there? */
bool graph_options_are_stored(const nereid_graph_options *o);
/* Adds all rows that decide what is compiled, but for UNSTORED ones. */
void graph_options_key(KeyMaker *k, const nereid_graph_options *o);
/* The rows that decide what is compiled; the others are zeros. */
nereid_graph_options graph_options_of_plan(const nereid_graph_options *o);
/* A copy of them in the arena, for a plan of fixed sizes. */
nereid_graph_options graph_options_of_sizes(Arena *a, const nereid_graph_options *o);

/* The position of a word among `choices`, which have blanks between, 0 of NULL; -1: it is none of
 * them, and `hint` is " (did you mean WORD?)" or "". */
int graph_option_choice(const char *choices, const char *word, char *hint, size_t size);

#endif
