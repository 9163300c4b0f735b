/* A model in another floating dtype: as if `model.to(dtype)` had been called before its export.
 *
 * The model's own dtype is that of most elements of its parameters.  Inputs, weights and tensors
 * that the graph makes from numbers become `dtype`; integers and booleans stay.  Casts follow these
 * rules:
 *
 *   - a cast to the own dtype becomes one to `dtype`;
 *   - but a model in f32 says `x.to(float32)` where it means "precisely", which changes nothing
 *     there: such a cast stays, as one of integers does, and the next on its way goes back;
 *   - there the exporter takes x and x.to(float32) for one value: after the cast back, x is
 *     meant;
 *   - a cast to any other dtype stays (RMS norm in f32, in a model that is in bf16).
 *
 * Where an operator takes tensors of one dtype only, and now gets some that stayed, these are
 * cast back.  Numbers that are the limits of the own dtype (masks have them) become those of
 * `dtype`.
 *
 * Comes before the passes, on a graph whose nodes have types. */
#ifndef NEREID_PLANNER_PASSES_RETYPE_H
#define NEREID_PLANNER_PASSES_RETYPE_H

#include "graph/ir/graph.h"

/* `dtype`: f32, bf16 or f16.  False after errors, which are in g->diags. */
bool graph_retype(Graph *g, DType dtype);

#endif
