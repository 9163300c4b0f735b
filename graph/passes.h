/* Passes on graphs.  Each takes a graph whose nodes have types and leaves one; each can be run
 * alone (`nereid graph MODEL --run-passes P1,P2 --emit graph`), and its input and output print.
 *
 *   functionalize   relu_, index_copy_, copy_ ... become ops that return new values; what they
 *                   wrote to inputs and buffers becomes OUTPUT_MUTATION outputs
 *   simplify        what changes nothing goes (dropout in inference, contiguous, alias, to the
 *                   same dtype, _assert_*, slices of everything ...), equal nodes become one,
 *                   unused ones go, symbolic sizes that are constants become constants
 *   rewrite         what rules match becomes what they say (docs/rewrites.md)
 *   merge           linear layers of one input become one; for GPUs
 *   check_indices   indices of which it is not known that they are in range get a check
 *   reinplace       updates of a part of an input or a buffer write that part alone
 *   decompose       composite ops become calls of primitives (graph/ops/prims.h)
 *   vectors         products with a vector become sums
 *   products        long sums of few products are cut into parts; for GPUs
 *   layout          images stay with their channels last between convolutions
 *   freeze          scales of products go into their weights, which are put into the order in
 *                   which they are read; not in mode eager
 *   pack            weights of products of matrices as CPUs read them
 *
 * Near linear: tens of thousands of nodes in well under a second. */
#ifndef NEREID_GRAPH_PASSES_H
#define NEREID_GRAPH_PASSES_H

#include "graph/ops/ops.h"

typedef enum {
  ALWAYS,
  FUSED,
  FUSED_ON_GPU,
  FROZEN, /* where weights are constants */
  FROZEN_ON_CPU
} PassWhen;

typedef struct {
  const char *name;
  bool (*run)(Graph *g); /* false after errors, which are in g->diags */
  PassWhen when;
} GraphPass;

bool pass_functionalize(Graph *g);
bool pass_freeze(Graph *g);
bool pass_pack(Graph *g);
bool pass_layout(Graph *g);
bool pass_simplify(Graph *g);
bool pass_rewrite(Graph *g);
bool pass_merge(Graph *g);
bool pass_check_indices(Graph *g);
bool pass_reinplace(Graph *g);
bool pass_decompose(Graph *g);
bool pass_vectors(Graph *g);
bool pass_products(Graph *g);
/* The same, but for the ops in `keep` (targets, the last NULL), which have templates. */
bool graph_decompose(Graph *g, const char *const *keep);

/* The passes in the order in which they run. */
extern const GraphPass graph_passes[];
extern const uint32_t graph_passes_count;
/* The pass of that name, or NULL. */
const GraphPass *graph_pass_find(const char *name);

#endif
