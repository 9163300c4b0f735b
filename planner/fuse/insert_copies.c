/* Copies of values that need their own buffer, inserted before nodes are fused: an output that is a
 * view or is returned twice, the operands of scatters and searches, and the middle of chains of
 * views that are too long to be evaluated for each element. */
#include "planner/passes.h"

#include <string.h>

#include "graph/analysis/loops.h"
#include "graph/analysis/strided.h"
#include "graph/ops/graph_text.h"
#include "graph/ops/prims.h"

enum { VIEWS_MAX = 64 };

static bool is_computed(const Node *n) {
  if (n->kind != NODE_CALL) return false;
  PrimKind k = prim_kind(n->op);
  return k != PRIM_VIEW && k != PRIM_CREATE;
}

static bool is_empty_memory(const Node *n) {
  return n->kind == NODE_CALL && prim_kind(n->op) == PRIM_EMPTY;
}

static Node *copy_of(Graph *g, Node *n, Node *before) {
  Node *copy = graph_node(g, NODE_CALL, before, 1, 0);
  copy->op = ops_at(OP_aten_clone_default);
  copy->args[0] = arg_node(n);
  copy->type = n->type;
  copy->location = n->location;
  copy->origin = n->origin;
  graph_fresh_name(g, copy, "clone");
  return copy;
}

/* ---- outputs: each is a tensor of its own in memory ---- */

/* A tensor of a number, for a copy of it. */
static Node *tensor_of_number(Graph *g, Arg number, DType t) {
  Node *full = graph_node(g, NODE_CALL, g->last, 2, 1);
  full->op = ops_at(OP_aten_full_default);
  full->args[0] = arg_list(g, 0);
  full->args[1] = number;
  Arg dtype = {.kind = ARG_DTYPE, .dtype = t, .name = dtype_torch_name(t)};
  full->named[0] = (NamedArg){pool_name(g->names, "dtype"), dtype};
  full->type = value_tensor(g, t, 0, NULL);
  full->location = g->last->location;
  full->origin = number.kind == ARG_NODE ? number.node->origin : g->last->origin;
  graph_fresh_name(g, full, "full");
  return full;
}

/* The dtype of a number of Python's; DT_NONE: it is none. */
static DType python_number_dtype(const Arg *a) {
  switch (a->kind) {
    case ARG_NODE: return a->node->type.kind == VALUE_INT && a->node->type.value ? DT_I64 : DT_NONE;
    case ARG_INT: return DT_I64;
    case ARG_FLOAT: return DT_F64;
    case ARG_BOOL: return DT_I1;
    default: return DT_NONE;
  }
}

/* Sizes and numbers that are returned. */
static void make_tensors(Graph *g) {
  Arg *list = &g->last->args[0];
  for (uint32_t i = 0; i < list->n; i++) {
    Arg *a = &list->items[i];
    DType t = python_number_dtype(a);
    if (!t) continue;
    *a = arg_node(tensor_of_number(g, *a, t));
    a->node->is_number = t == DT_I64;
  }
}

/* Is its value where an input was?  Scatters but puts write to copies (separate_memory). */
static bool is_in_input(Node *n) {
  const Node *memory = prim_memory(n);
  for (const Node *m = n; m != memory; m = m->args[0].node)
    if (prim_kind(m->op) == PRIM_SCATTER && !prim_puts(m)) return false;
  return n != memory && memory->kind == NODE_INPUT;
}

/* The node of which views show all elements at their places, as axes do that are exchanged twice;
 * n itself if there is none. */
static Node *without_views(Graph *g, Node *n) {
  Dim own[GRAPH_RANK_MAX], at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  Node *whole = n;
  uint32_t rank = n->type.rank;
  for (uint32_t i = 0; i < rank; i++) own[i] = dim_index(g->dims, "i", n->type.shape[i]);
  memcpy(at, own, sizeof at);
  for (uint32_t i = 0; prim_is_view(n) && !prim_reads_size(n) && i < VIEWS_MAX; i++) {
    view_index(g, n, at, from);
    n = view_operand(n);
    memcpy(at, from, sizeof at);
    bool same = n->type.rank == rank && n->type.dtype == whole->type.dtype;
    for (uint32_t k = 0; k < rank && same; k++)
      same = at[k] == own[k] && n->type.shape[k] == whole->type.shape[k];
    if (same) whole = n;
  }
  return whole;
}

/* Does a view have its operand's elements in the same order of memory? */
static bool is_reshape(Graph *g, Node *n) {
  if (!prim_is_view(n) || prim_reads_size(n) || n->kind != NODE_CALL) return false;
  Dim at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  Node *x = view_operand(n);
  if (x->type.dtype != n->type.dtype || value_numel(g, &x->type) != value_numel(g, &n->type))
    return false;
  for (uint32_t i = 0; i < n->type.rank; i++) at[i] = dim_index(g->dims, "i", n->type.shape[i]);
  view_index(g, n, at, from);
  return linear_of_index(g->dims, from, x->type.shape, x->type.rank) ==
         linear_of_index(g->dims, at, n->type.shape, n->type.rank);
}

/* A copy of an output, next to where it is computed, which all later nodes read: so the kernel that
 * computes it writes it once. */
static Node *copy_for_all(Graph *g, Node *n) {
  Node *copy = copy_of(g, n, n->next);
  graph_replace_later(n, copy, g->last);
  return copy;
}

static void separate_outputs(Graph *g) {
  Arg *list = &g->last->args[0];
  Arena *scratch = arena_child(g->arena);
  bool *seen = ARENA_ARRAY(scratch, bool, g->nids);
  for (uint32_t i = 0; i < list->n; i++) {
    Arg *a = &list->items[i];
    if (a->kind != ARG_NODE || a->node->type.kind != VALUE_TENSOR) continue;
    bool returned = !g->outputs || g->outputs[i].kind != OUTPUT_MUTATION;
    a->node = without_views(g, a->node);
    bool passes = returned && is_in_input(a->node); /* the next write may end it */
    bool good = is_computed(a->node) && !seen[a->node->id] && !passes;
    bool shared = !seen[a->node->id] && !passes && is_reshape(g, a->node) &&
                  is_computed(view_operand(a->node));
    if (!passes) seen[a->node->id] = true;
    if (shared) a->node = copy_for_all(g, a->node);
    else if (!good) a->node = copy_of(g, a->node, passes ? a->node->next : g->last);
  }
  arena_free(scratch);
}

/* ---- what is written in place ---- */

typedef struct {
  uint32_t *position; /* by id: in the graph's order */
  uint32_t *last;     /* by id: the position of the last node that reads it, through views */
  bool *updated;      /* by id: an input to which the graph writes */
  uint32_t reader;    /* the position of the node that reads what is looked at */
} Readers;

static void note_node_reader(Node **use, void *ctx) {
  Readers *r = ctx;
  uint32_t *last = &r->last[(*use)->id];
  if (r->reader > *last) *last = r->reader;
}

/* A loop reads a value that is made before it until it ends. */
static void note_loop_readers(const Graph *g, Arena *a, Readers *r) {
  Loops loops = loops_find(g, a);
  for (uint32_t i = 0; i < loops.n; i++) {
    uint32_t begin = r->position[loops.list[i].begin->id], end = r->position[loops.list[i].end->id];
    for (const Node *n = g->first; n != loops.list[i].begin->next; n = n->next)
      if (r->last[n->id] > begin && r->last[n->id] < end) r->last[n->id] = end;
  }
}

static Readers find_node_readers(Graph *g, Arena *a) {
  Readers r = {ARENA_ARRAY(a, uint32_t, g->nids), ARENA_ARRAY(a, uint32_t, g->nids),
               ARENA_ARRAY(a, bool, g->nids), 0};
  uint32_t count = 0;
  for (Node *n = g->first; n; n = n->next) r.position[n->id] = ++count;
  for (Node *n = g->last; n; n = n->prev) {
    bool view = prim_is_view(n) && !prim_reads_size(n);
    r.reader = view ? r.last[n->id] : r.position[n->id];
    graph_each_use(n, note_node_reader, &r);
  }
  note_loop_readers(g, a, &r);
  for (uint32_t i = 0; g->outputs && i < g->last->args[0].n; i++)
    if (g->outputs[i].kind == OUTPUT_MUTATION) r.updated[g->outputs[i].target->id] = true;
  return r;
}

/* May n, a put, write to the memory of the tensor that it replaces elements of?  It must be one
 * that the graph writes to, or that was written to so, or memory without values, and nothing may
 * read its old value later. */
static bool writes_in_place(const Readers *r, const Node *n) {
  Node *x = n->args[0].node;
  if (!prim_puts(n) || r->last[x->id] > r->position[n->id]) return false;
  if (x->kind == NODE_INPUT) return r->updated[x->id];
  return prim_memory(x) != x || is_empty_memory(x);
}

/* Other operands of n must not alias the one that it writes to. */
static void separate_operands(Graph *g, Node *n) {
  for (uint32_t i = 1; i < n->nargs; i++) {
    if (n->args[i].kind != ARG_NODE) continue;
    Node *x = n->args[i].node;
    while (prim_is_view(x) && x->kind == NODE_CALL) x = view_operand(x);
    if (prim_memory(x) == prim_memory(n)) n->args[i].node = copy_of(g, n->args[i].node, n);
  }
}

/* ---- searched and scattered tensors are in memory ---- */

/* More memory without values: equal nodes of it have become one. */
static Node *empty_like(Graph *g, const Node *n, Node *before) {
  Node *made = graph_node(g, NODE_CALL, before, n->nargs, n->nnamed);
  made->op = n->op;
  memcpy(made->args, n->args, n->nargs * sizeof *n->args);
  memcpy(made->named, n->named, n->nnamed * sizeof *n->named);
  made->type = n->type;
  made->location = n->location;
  made->origin = n->origin;
  graph_fresh_name(g, made, "empty");
  return made;
}

/* A scatter writes to memory of its own, or in place; what is searched, or read as a size, must be
 * there as it is. */
static void separate_memory(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  Readers readers = find_node_readers(g, scratch);
  for (Node *n = g->first; n; n = n->next) {
    PrimKind k = n->kind == NODE_CALL ? prim_kind(n->op) : PRIM_NONE;
    if (prim_reads_size(n) && !is_computed(n->args[1].node))
      n->args[1].node = copy_of(g, n->args[1].node, n);
    if (k != PRIM_SCATTER && k != PRIM_SEARCH) continue;
    if (k == PRIM_SCATTER && writes_in_place(&readers, n)) {
      separate_operands(g, n);
      continue;
    }
    uint32_t in_memory = prim_in_memory(n);
    for (uint32_t i = 0; i < n->nargs; i++) {
      if (!(in_memory >> i & 1) || n->args[i].kind != ARG_NODE) continue;
      Node *x = n->args[i].node;
      bool written = k == PRIM_SCATTER && i == 0;
      Node *before = prim_of_kernel(n) ? prim_of_kernel(n) : n;
      if (written && is_empty_memory(x)) n->args[i].node = empty_like(g, x, n);
      else if (written || (x->kind != NODE_INPUT && !is_computed(x)))
        n->args[i].node = copy_of(g, x, before);
    }
  }
  arena_free(scratch);
}

/* ---- convolutions of libraries: operands are row-major, without gaps ---- */

static void densify_operands(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  Node **copies = ARENA_ARRAY(scratch, Node *, g->nids);
  uint32_t nids = g->nids;
  for (Node *n = g->first; n; n = n->next)
    for (int i = 0; i < 2 && graph_is(n, OP_nereid_library_conv_default); i++) {
      Node **operand = &n->args[i].node;
      if ((*operand)->id >= nids || strided_is_dense(g, *operand)) continue;
      Node **copy = &copies[(*operand)->id];
      if (!*copy) *copy = copy_of(g, *operand, n);
      *operand = *copy;
    }
  arena_free(scratch);
}

/* ---- loops: the condition and the next values are in memory of their own ---- */

static void copy_for_loop(Graph *g, Arg *a, Node *before, bool copies) {
  if (copies || !is_computed(a->node)) a->node = copy_of(g, a->node, before);
}

/* A next value that is in the memory of a carried one would be overwritten before it is read. */
static void separate_loop(Graph *g, Node *end) {
  const Arg *carried = &end->args[1];
  Arg *next = &end->args[2];
  copy_for_loop(g, &end->args[0].node->args[0], end->args[0].node, false);
  for (uint32_t i = 0; i < next->n; i++) {
    const Node *memory = prim_memory(next->items[i].node);
    bool is_carried = graph_is(memory, OP_nereid_carried_default);
    if (next->items[i].node == carried->items[i].node) continue;
    copy_for_loop(g, &next->items[i], end, is_carried);
  }
}

static void separate_loops(Graph *g) {
  for (Node *n = g->first; n; n = n->next)
    if (graph_is(n, OP_nereid_loop_end_default)) separate_loop(g, n);
}

/* ---- chains of views ---- */

typedef struct {
  uint32_t views; /* of which its value is one, in a row, by weight */
  Node *copy;     /* NULL: none was needed yet */
} Chain;

static void cut_views(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  Chain *chains = ARENA_ARRAY(scratch, Chain, g->nids);
  for (Node *n = g->first; n; n = n->next) {
    if (n->kind != NODE_CALL || prim_kind(n->op) != PRIM_VIEW) continue;
    Node *of = view_operand(n);
    Chain *chain = &chains[of->id];
    uint32_t weight = view_weight(n), views = chain->views + weight;
    chains[n->id].views = views <= VIEWS_MAX ? views : weight;
    if (views <= VIEWS_MAX) continue;
    if (!chain->copy) chain->copy = copy_of(g, of, n);
    n->args[0].node = chain->copy;
  }
  arena_free(scratch);
}

bool pass_insert_copies(Graph *g) {
  cut_views(g);
  densify_operands(g);
  make_tensors(g);
  separate_outputs(g);
  separate_loops(g);
  separate_memory(g);
  return true;
}
