#include "decompose/windows/library_conv.h"

#include <string.h>

#include "decompose/decompose.h"

static const LibraryFunction *function_for(const Graph *g, LibraryWork work, DType t) {
  const LibraryFunction *f;
  for (int i = 0; (f = library_of_kind(g->libraries->kind, i)); i++)
    if (library_work(f) == work && library_convolves(f, t)) return f;
  return NULL;
}

typedef struct {
  const Node *of;
  bool found;
} Reads;

static void note_read(Node **use, void *ctx) {
  Reads *r = ctx;
  r->found |= *use == r->of;
}

static const Node *first_user(const Node *n) {
  Reads r = {n, false};
  for (Node *user = n->next; user; user = user->next) {
    graph_each_use(user, note_read, &r);
    if (r.found) return user;
  }
  return NULL;
}

/* Is what reads a convolution first computed for each of its elements?  A kernel of ours has that
 * on its tiles; casts are computed again by each kernel that reads them. */
static bool is_followed(Graph *g, const Node *conv) {
  bool bias = graph_arg(g, conv, "bias").kind == ARG_NODE;
  const Node *user = first_user(conv);
  bool same = user && user->kind == NODE_CALL && value_type_eq(&user->type, &conv->type);
  return bias || (same && !graph_is(user, OP_aten_convolution_default));
}

/* The node is made before it is known whether it is wanted, since a problem is that of a node; one
 * that is not has no users. */
Node *library_conv(Build *b, LibraryWork work, Node *x, Node *y, const Dim size[4],
                   const LibraryWindows *w) {
  Graph *g = b->in.g;
  DType t = x->type.dtype;
  const LibraryFunction *f = g->libraries && y->type.dtype == t ? function_for(g, work, t) : NULL;
  if (!f) return NULL;
  Arg name = {.kind = ARG_STRING, .name = pool_name(g->names, library_name(f))};
  Node *n =
      build(b, OP_nereid_library_conv_default,
            ARGS(arg_node(decompose_channels_last(b, x)), arg_node(decompose_channels_last(b, y)),
                 arg_dims(g, 4, size), name, arg_dims(g, 2, w->stride), arg_dims(g, 2, w->padding),
                 arg_dims(g, 2, w->dilation), arg_dim(w->groups)));
  LibraryProblem p = library_problem(g, n);
  if (work == LIBRARY_CONVOLUTION && is_followed(g, b->in.n))
    p.copied = 2 * library_bytes(g, &n->type);
  if (!library_is_wanted(g, &p)) return NULL;
  return build_permute(b, n, (uint32_t[]){0, 3, 1, 2});
}

Node *decompose_channels_last(Build *b, Node *x) {
  uint32_t axes[GRAPH_RANK_MAX], rank = rank_of(x);
  for (uint32_t i = 0; i < rank; i++) axes[i] = i == 0 ? 0 : i + 1 < rank ? i + 1 : 1;
  return build_permute(b, x, axes);
}
