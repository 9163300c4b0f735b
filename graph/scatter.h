/* What writing at places is decomposed into (graph/decompose_scatter.c). */
#ifndef NEREID_GRAPH_SCATTER_H
#define NEREID_GRAPH_SCATTER_H

#include "graph/build.h"

/* x as one axis. */
Node *scatter_flat(Build *b, Node *x);
/* Is it known to have no elements? */
bool scatter_empty(Build *b, const Node *x);
/* x * y; x itself for 1. */
Node *scatter_times(Build *b, Node *x, Dim y);

/* For each of n places the number of the last of `places` that is it; -1: none is. */
Node *scatter_writers(Build *b, Dim n, Node *places);
/* x, with the rows (first axis) of `values` that its writers say. */
Node *scatter_take(Build *b, Node *x, Node *writer, Node *values);
/* `to` with src added where `places` (in row-major order) say. */
Node *scatter_add_up(Build *b, Node *to, Node *places, Node *src);
/* How many of a mask of one axis hold before each place. */
Node *scatter_number(Build *b, Node *mask);

#endif
