/* Pass channels_last: images keep the layout of convolutions, with the channels last.
 *
 * Decomposition puts a permutation before each convolution and one after it.  This pass sinks those
 * after a convolution through pointwise ops, windows, reductions and slices: an op of permuted
 * operands is the permuted op of the operands themselves.  Where one meets the permutation before
 * the next convolution, they are each other's inverse, and both are removed.  Other ops read the
 * permuted tensor, at the cost of an index expression.
 *
 * The pass moves permutations of channels-last images only: [N, sizes, C] read as [N, C, sizes],
 * where C may be several axes, in any order.  A graph without convolutions stays as it is, unless
 * it is given images with their channels last, whose results then are so as well. */
#include <setjmp.h>
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"

typedef struct {
  Graph *g;
  ReplacementMap replacements;
  Node **list; /* by id: a list of parts of an operand that was not permuted; NULL: none */
  bool *meets; /* by id: would a permutation that sinks from there meet another? */
  uint32_t nlists;
  jmp_buf failed;
} ChannelsLast;

/* A permuted tensor: axis i is axis axes[i] of `of`. */
typedef struct {
  Node *of;
  uint32_t rank;
  uint32_t axes[GRAPH_RANK_MAX];
} Permuted;

/* ---- permutations ---- */

static bool read_axis_arg(const Arg *a, uint32_t rank, uint32_t *out) {
  if (a->kind != ARG_INT || !dim_is_int(a->dim)) return false;
  int64_t i = a->dim->value < 0 ? a->dim->value + rank : a->dim->value;
  *out = (uint32_t)i;
  return i >= 0 && i < rank;
}

/* Is n a permutation of its operand? */
static bool permuted_of(Graph *g, const Node *n, Permuted *out) {
  bool swap = graph_is(n, OP_aten_transpose_int);
  if (!swap && !graph_is(n, OP_aten_permute_default)) return false;
  out->of = graph_arg(g, n, "self").node;
  out->rank = n->type.rank;
  if (swap) {
    Arg first = graph_arg(g, n, "dim0"), second = graph_arg(g, n, "dim1");
    uint32_t a, b;
    if (!read_axis_arg(&first, out->rank, &a) || !read_axis_arg(&second, out->rank, &b))
      return false;
    for (uint32_t i = 0; i < out->rank; i++) out->axes[i] = i == a ? b : i == b ? a : i;
    return true;
  }
  Arg dims = graph_arg(g, n, "dims");
  for (uint32_t i = 0; i < out->rank; i++)
    if (!read_axis_arg(&dims.items[i], out->rank, &out->axes[i])) return false;
  return true;
}

/* The spatial axes: last in the permuted tensor, after the batch in the tensor itself; 0: it is no
 * image with its channels last. */
static uint32_t spatial_axes(const Permuted *p) {
  if (p->rank < 3 || p->axes[0] != 0) return 0;
  for (uint32_t n = p->rank - 2; n > 0; n--) {
    bool all = true;
    for (uint32_t i = 0; i < n; i++) all &= p->axes[p->rank - n + i] == i + 1;
    if (all) return n;
  }
  return 0;
}

/* Channels are last in memory too, or moving the permutation would gain nothing. */
static bool is_image(Graph *g, const Node *n, Permuted *p) {
  return permuted_of(g, n, p) && spatial_axes(p) > 0 && view_stride(g, p->of, p->rank - 1) == 1;
}

/* x, which is as the permuted tensor, as the tensor itself. */
static Node *unpermuted(Build *b, Node *x, const Permuted *p) {
  uint32_t inverse[GRAPH_RANK_MAX];
  Permuted own;
  if (permuted_of(b->in.g, x, &own) && own.rank == p->rank &&
      !memcmp(own.axes, p->axes, p->rank * sizeof *p->axes))
    return own.of;
  for (uint32_t i = 0; i < p->rank; i++) inverse[p->axes[i]] = i;
  return build_permute(b, x, inverse);
}

static ValueType unpermuted_type(Graph *g, const ValueType *t, const Permuted *p) {
  Dim *shape = ARENA_ARRAY(g->arena, Dim, p->rank);
  ValueType out = *t;
  for (uint32_t i = 0; i < p->rank; i++) shape[p->axes[i]] = t->shape[i];
  out.shape = shape;
  return out;
}

/* ---- moving a permutation after a node ---- */

static Build build_before_node(const ChannelsLast *l, Node *n) {
  Build b = build_at(l->g, n);
  memcpy(b.in.failed, l->failed, sizeof l->failed);
  return b;
}

/* A node before n with n's arguments, to be changed, and its name. */
static Node *copy_call(Graph *g, Node *n) {
  Node *c = graph_node(g, n->kind, n, n->nargs, n->nnamed);
  c->op = n->op;
  c->location = n->location;
  c->origin = n->origin;
  c->type = n->type;
  if (n->nargs) memcpy(c->args, n->args, n->nargs * sizeof *c->args);
  if (n->nnamed) memcpy(c->named, n->named, n->nnamed * sizeof *c->named);
  Name name = n->name;
  graph_forget_name(g, n);
  graph_set_name(g, c, name);
  return c;
}

static void set_arg(Graph *g, Node *n, const char *param, Arg value) {
  uint32_t i = (uint32_t)ops_param(ops_schema(g, n->op), param);
  if (i < n->nargs) n->args[i] = value;
  for (uint32_t k = 0; k < n->nnamed; k++)
    if (!strcmp(n->named[k].name, param)) n->named[k].value = value;
}

/* n is `by`, permuted. */
static Node *permuted(ChannelsLast *l, Node *n, Node *by, const Permuted *p) {
  by->type = unpermuted_type(l->g, &n->type, p);
  Build b = build_before_node(l, n);
  b.in.n = by; /* whose name the permutation is called after */
  Node *result = build_permute(&b, by, p->axes);
  result->type = n->type;
  replacement_of(&l->replacements, n)->node = result;
  return result;
}

/* ---- pointwise ---- */

typedef struct {
  Graph *g;
  const Node *user;
  Permuted found;
  bool any;
} Operands;

static bool has_shape_of(const Node *x, const Node *n) {
  return x->type.kind == VALUE_TENSOR && x->type.rank == n->type.rank &&
         !memcmp(x->type.shape, n->type.shape, n->type.rank * sizeof *n->type.shape);
}

static void find_image(Node **use, void *ctx) {
  Operands *o = ctx;
  if (!o->any && has_shape_of(*use, o->user)) o->any = is_image(o->g, *use, &o->found);
}

static bool image_operand(Graph *g, Node *n, Permuted *p) {
  Operands o = {.g = g, .user = n};
  graph_each_use(n, find_image, &o);
  *p = o.found;
  return o.any;
}

typedef struct {
  Build *b;
  const Permuted *p;
} Unpermute;

static void unpermute_use(Node **use, void *ctx) {
  const Unpermute *u = ctx;
  if ((*use)->type.kind == VALUE_TENSOR && rank_of(*use))
    *use = unpermuted(u->b, build_lead(u->b, *use, u->p->rank), u->p);
}

/* A copy of n before it, of operands that are not permuted. */
static Node *of_unpermuted(ChannelsLast *l, Node *n, const Permuted *p) {
  Build b = build_before_node(l, n);
  Node *c = copy_call(l->g, n);
  /* Lists are shared with n, which goes. */
  b.before = c;
  b.in.n = c;
  graph_each_use(c, unpermute_use, &(Unpermute){&b, p});
  return c;
}

static void move_pointwise(ChannelsLast *l, Node *n) {
  Permuted p;
  if (image_operand(l->g, n, &p)) permuted(l, n, of_unpermuted(l, n, &p), &p);
}

/* ---- windows, parts ---- */

static void move_window(ChannelsLast *l, Node *n) {
  Permuted p;
  if (ops_param(ops_schema(l->g, n->op), "first") < 0) return;
  if (!is_image(l->g, graph_arg(l->g, n, "input").node, &p)) return;
  Arg first = graph_arg(l->g, n, "first");
  uint32_t axis, count = graph_arg(l->g, n, "stride").n;
  if (!read_axis_arg(&first, p.rank, &axis) || axis != p.rank - count || count != spatial_axes(&p))
    return;
  bool pools = ops_param(ops_schema(l->g, n->op), "kernel") >= 0;
  Node *c = pools ? of_unpermuted(l, n, &p) : copy_call(l->g, n);
  if (!pools) set_arg(l->g, c, "input", arg_node(p.of)); /* weights have no such axes */
  set_arg(l->g, c, "first", arg_int(l->g, 1));
  permuted(l, n, c, &p);
}

/* Can axis `dim` be named otherwise?  The default cannot. */
static bool names_axis(Graph *g, const Node *n) {
  bool found = ops_param(ops_schema(g, n->op), "dim") < (int)n->nargs;
  for (uint32_t i = 0; i < n->nnamed; i++) found |= !strcmp(n->named[i].name, "dim");
  return found;
}

static void move_slice(ChannelsLast *l, Node *n) {
  Permuted p;
  uint32_t axis;
  Arg dim = graph_arg(l->g, n, "dim");
  if (!names_axis(l->g, n) || !is_image(l->g, graph_arg(l->g, n, "self").node, &p)) return;
  if (!read_axis_arg(&dim, p.rank, &axis)) return;
  Node *c = of_unpermuted(l, n, &p);
  set_arg(l->g, c, "dim", arg_int(l->g, p.axes[axis]));
  permuted(l, n, c, &p);
}

/* Is the result larger than the tensor, and permuted at last?  The smaller one is permuted then, on
 * a CPU. */
static bool grows_in_vain(const ChannelsLast *l, const Node *n, const Node *of) {
  bool larger = false;
  if (!l->g->host || n->id >= l->nlists || l->meets[n->id]) return false;
  if (n->type.rank != of->type.rank) return false;
  for (uint32_t i = 0; i < n->type.rank; i++) {
    Dim from = of->type.shape[i], to = n->type.shape[i];
    if (from == to) continue;
    if (!dim_is_int(from) || !dim_is_int(to) || to->value < from->value) return false;
    larger = true;
  }
  return larger;
}

/* n reads the permuted tensor from memory that has its order: elements that are far apart would
 * each be read by a line of their own. */
static void read_turned(ChannelsLast *l, Node *n, Node *self) {
  Node *copy = self->next;
  if (!copy || !graph_is(copy, OP_nereid_dense_default) || copy->args[0].node != self) {
    Build b = build_before_node(l, copy);
    copy = build_op1(&b, OP_nereid_dense_default, self);
  }
  set_arg(l->g, n, "self", arg_node(copy));
}

/* Rows and columns that an index chooses, as resizing does. */
static void move_select(ChannelsLast *l, Node *n) {
  Permuted p;
  uint32_t axis;
  Arg dim = graph_arg(l->g, n, "dim");
  Node *self = graph_arg(l->g, n, "self").node;
  if (!is_image(l->g, self, &p) || !read_axis_arg(&dim, p.rank, &axis)) return;
  if (grows_in_vain(l, n, self)) {
    read_turned(l, n, self);
    return;
  }
  Node *c = copy_call(l->g, n);
  set_arg(l->g, c, "self", arg_node(p.of));
  set_arg(l->g, c, "dim", arg_int(l->g, p.axes[axis]));
  permuted(l, n, c, &p);
}

/* The axes that a list of indices chooses from, all behind one another in the permuted tensor and
 * in the tensor itself, in whose places the axes of the result are; 0: they are not, or the list
 * has others. */
static uint32_t chosen_axes(const Node *n, Arg list, const Permuted *p, uint32_t *first) {
  uint32_t count = 0;
  if (list.kind != ARG_LIST || list.n > p->rank || n->type.rank != p->rank) return 0;
  for (uint32_t i = 0; i < list.n; i++) {
    if (list.items[i].kind == ARG_NONE) continue;
    if (list.items[i].kind != ARG_NODE || !dtype_is_int(list.items[i].node->type.dtype) ||
        list.items[i].node->type.dtype == DT_I1)
      return 0;
    if (!count) *first = i;
    else if (i != *first + count || p->axes[i] != p->axes[*first] + count) return 0;
    count++;
  }
  return count;
}

/* Rows and columns that lists of indices choose, as PyTorch's own form of resizing does. */
static void move_index(ChannelsLast *l, Node *n) {
  Permuted p;
  uint32_t first = 0;
  Node *self = graph_arg(l->g, n, "self").node;
  if (!is_image(l->g, self, &p)) return;
  if (grows_in_vain(l, n, self)) {
    read_turned(l, n, self);
    return;
  }
  Arg indices = graph_arg(l->g, n, "indices");
  uint32_t count = chosen_axes(n, indices, &p, &first);
  if (!count) return;
  Arg list = arg_list(l->g, p.rank);
  for (uint32_t i = 0; i < p.rank; i++) list.items[i] = (Arg){.kind = ARG_NONE};
  for (uint32_t i = 0; i < count; i++) list.items[p.axes[first] + i] = indices.items[first + i];
  Node *c = copy_call(l->g, n);
  set_arg(l->g, c, "self", arg_node(p.of));
  set_arg(l->g, c, "indices", list);
  permuted(l, n, c, &p);
}

static void move_cat(ChannelsLast *l, Node *n) {
  Permuted p;
  uint32_t axis;
  Arg list = graph_arg(l->g, n, "tensors"), dim = graph_arg(l->g, n, "dim");
  bool image = false;
  if (list.kind != ARG_LIST || !names_axis(l->g, n)) return;
  for (uint32_t i = 0; i < list.n; i++)
    if (list.items[i].node->type.rank != n->type.rank) return;
  for (uint32_t i = 0; i < list.n && !image; i++) image = is_image(l->g, list.items[i].node, &p);
  if (!image || !read_axis_arg(&dim, p.rank, &axis)) return;
  Node *c = of_unpermuted(l, n, &p);
  set_arg(l->g, c, "dim", arg_int(l->g, p.axes[axis]));
  permuted(l, n, c, &p);
}

/* Amounts from the last axis on: all that the ranks allow, in the order of the tensor itself. */
static void move_pad(ChannelsLast *l, Node *n) {
  Permuted p;
  Arg pad = graph_arg(l->g, n, "pad");
  if (!is_image(l->g, graph_arg(l->g, n, "self").node, &p) || pad.n > 2 * p.rank) return;
  Arg all = arg_list(l->g, 2 * p.rank);
  for (uint32_t i = 0; i < p.rank; i++) {
    uint32_t from = 2 * (p.rank - 1 - i), to = 2 * (p.rank - 1 - p.axes[i]);
    for (uint32_t k = 0; k < 2; k++)
      all.items[to + k] = from + k < pad.n ? pad.items[from + k] : arg_int(l->g, 0);
  }
  Node *c = of_unpermuted(l, n, &p);
  set_arg(l->g, c, "pad", all);
  permuted(l, n, c, &p);
}

/* ---- lists of parts ---- */

static bool splits(const Node *n) {
  return graph_is_any(n, OP_aten_chunk_default, OP_aten_split_Tensor, OP_aten_split_sizes,
                      OP_aten_split_with_sizes_default);
}

/* The parts of the tensor itself: a part of the permuted one is one of those, permuted. */
static void move_split(ChannelsLast *l, Node *n) {
  Permuted p;
  uint32_t axis;
  Arg dim = graph_arg(l->g, n, "dim");
  if (!names_axis(l->g, n) || n->id >= l->nlists) return;
  if (!is_image(l->g, graph_arg(l->g, n, "self").node, &p) || !read_axis_arg(&dim, p.rank, &axis))
    return;
  Node *c = of_unpermuted(l, n, &p);
  set_arg(l->g, c, "dim", arg_int(l->g, p.axes[axis]));
  ValueType *items = ARENA_ARRAY(l->g->arena, ValueType, n->type.nitems);
  for (uint32_t i = 0; i < n->type.nitems; i++)
    items[i] = unpermuted_type(l->g, &n->type.items[i], &p);
  c->type.items = items;
  l->list[n->id] = c;
}

static void move_item(ChannelsLast *l, Node *n) {
  Node *list = n->args[0].node;
  Permuted p;
  if (list->id >= l->nlists || !l->list[list->id]) return;
  Node *c = copy_call(l->g, n);
  c->args[0] = arg_node(l->list[list->id]);
  if (is_image(l->g, graph_arg(l->g, list, "self").node, &p)) permuted(l, n, c, &p);
}

/* ---- reductions ---- */

static uint32_t reduced_axes(Graph *g, const Node *n, uint32_t rank) {
  Arg dim = graph_arg(g, n, "dim");
  uint32_t axis, set = 0;
  if (dim.kind == ARG_NONE || (dim.kind == ARG_LIST && !dim.n)) return (1u << rank) - 1;
  for (uint32_t i = 0; i < (dim.kind == ARG_LIST ? dim.n : 1); i++) {
    if (!read_axis_arg(dim.kind == ARG_LIST ? &dim.items[i] : &dim, rank, &axis)) return 0;
    set |= 1u << axis;
  }
  return set;
}

/* The permutation of the axes that are not in `set`. */
static Permuted permutation_without(const Permuted *p, uint32_t set) {
  Permuted out = {.of = p->of};
  uint32_t number[GRAPH_RANK_MAX], gone = 0, n = 0;
  for (uint32_t i = 0; i < p->rank; i++)
    if (set >> i & 1) gone |= 1u << p->axes[i];
  for (uint32_t i = 0; i < p->rank; i++) number[i] = gone >> i & 1 ? 0 : n++;
  for (uint32_t i = 0; i < p->rank; i++)
    if (!(set >> i & 1)) out.axes[out.rank++] = number[p->axes[i]];
  return out;
}

static void move_reduction(ChannelsLast *l, Node *n) {
  Permuted p;
  if (!is_image(l->g, n->args[0].node, &p)) return;
  uint32_t set = reduced_axes(l->g, n, p.rank), own = 0;
  Arg dim = graph_arg(l->g, n, "dim");
  if (!set || dim.kind == ARG_NONE || (dim.kind == ARG_LIST && !dim.n)) return;
  for (uint32_t i = 0; i < p.rank; i++)
    if (set >> i & 1) own |= 1u << p.axes[i];
  Node *c = of_unpermuted(l, n, &p);
  set_arg(l->g, c, "dim",
          dim.kind == ARG_LIST ? arg_axes(l->g, own) : arg_int(l->g, __builtin_ctz(own)));
  Permuted rest = n->type.rank == p.rank ? p : permutation_without(&p, set);
  permuted(l, n, c, &rest);
}

/* ---- views that regroup channels ---- */

/* [N, c1, c2, .., sizes] as [N, d1, .., sizes]: the same of [N, sizes, c1, c2, ..]. */
static void move_view(ChannelsLast *l, Node *n) {
  Permuted p, back = {.rank = n->type.rank};
  Arg self = graph_arg(l->g, n, "self");
  if (!is_image(l->g, self.node, &p)) return;
  uint32_t sizes = spatial_axes(&p), order[GRAPH_RANK_MAX];
  const ValueType *from = &self.node->type, *to = &n->type;
  if (to->rank < sizes + 2 || from->shape[0] != to->shape[0]) return;
  for (uint32_t i = 1; i <= sizes; i++)
    if (from->shape[from->rank - i] != to->shape[to->rank - i]) return;
  for (uint32_t i = 0; i < p.rank; i++) order[i] = i <= sizes ? i : p.axes[i - sizes];
  for (uint32_t i = 0; i < to->rank; i++)
    back.axes[i] = i == 0 ? 0 : i < to->rank - sizes ? i + sizes : i - (to->rank - sizes) + 1;
  Build b = build_before_node(l, n);
  Node *x = build_permute(&b, p.of, order);
  ValueType t = unpermuted_type(l->g, to, &back);
  Node *v = build_with(&b, OP_aten_view_default, x, arg_dims(l->g, t.rank, t.shape));
  permuted(l, n, v, &back);
}

/* ---- permutations of permutations ---- */

static void merge_permutations(ChannelsLast *l, Node *n) {
  Permuted outer, inner;
  if (!permuted_of(l->g, n, &outer) || !permuted_of(l->g, outer.of, &inner)) return;
  uint32_t axes[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < outer.rank; i++) axes[i] = inner.axes[outer.axes[i]];
  Build b = build_before_node(l, n);
  Node *by = build_permute(&b, inner.of, axes);
  replacement_of(&l->replacements, n)->node = by;
}

/* ---- the walk ---- */

static void visit_view(ChannelsLast *l, Node *n) {
  if (graph_is(n, OP_aten_slice_Tensor)) move_slice(l, n);
  else if (graph_is(n, OP_aten_view_default)) move_view(l, n);
  else merge_permutations(l, n);
}

static void permute_node(ChannelsLast *l, Node *n) {
  if (n->kind == NODE_GETITEM) move_item(l, n);
  /* A loop's value has the order of axes that it has after an iteration. */
  if (n->kind != NODE_CALL || graph_is(n, OP_nereid_carried_default)) return;
  if (splits(n)) move_split(l, n);
  else if (graph_is(n, OP_aten_cat_default)) move_cat(l, n);
  else if (graph_is(n, OP_aten_constant_pad_nd_default)) move_pad(l, n);
  else if (graph_is(n, OP_aten_index_select_default)) move_select(l, n);
  else if (graph_is_any(n, OP_aten_index_Tensor, OP_aten__unsafe_index_Tensor)) move_index(l, n);
  else switch (prim_kind(n->op)) {
      case PRIM_POINTWISE: move_pointwise(l, n); return;
      case PRIM_WINDOW: move_window(l, n); return;
      case PRIM_REDUCE: move_reduction(l, n); return;
      case PRIM_VIEW: visit_view(l, n); return;
      default: return;
    }
}

/* Notes that a permutation meets another after the user, or is it. */
static void note_meeting(Node **use, void *ctx) {
  bool *meets = ctx;
  meets[(*use)->id] = true;
}

/* Permutations sink through all but nodes of other kinds and results. */
static bool lets_sink(const Node *n) {
  if (n->kind == NODE_GETITEM) return true;
  if (n->kind != NODE_CALL || graph_is(n, OP_nereid_carried_default)) return false;
  PrimKind k = prim_kind(n->op);
  return splits(n) || k == PRIM_POINTWISE || k == PRIM_WINDOW || k == PRIM_REDUCE ||
         k == PRIM_VIEW ||
         graph_is_any(n, OP_aten_cat_default, OP_aten_constant_pad_nd_default,
                      OP_aten_index_select_default, OP_aten_index_Tensor,
                      OP_aten__unsafe_index_Tensor);
}

static void find_meetings(ChannelsLast *l) {
  for (Node *n = l->g->last; n; n = n->prev) {
    Permuted p;
    bool permutes = n->kind == NODE_CALL && permuted_of(l->g, n, &p);
    if (permutes || (lets_sink(n) && l->meets[n->id])) graph_each_use(n, note_meeting, l->meets);
  }
}

static void sink_permutations(ChannelsLast *l) {
  for (Node *n = l->g->first, *next; n; n = next) {
    next = n->next;
    replacements_apply(&l->replacements, n);
    permute_node(l, n);
  }
}

static bool has_convolution(const Graph *g) {
  for (const Node *n = g->first; n; n = n->next)
    if (graph_is_any(n, OP_nereid_conv_default, OP_nereid_conv_depthwise_default,
                     OP_nereid_conv_depthwise_weight_default, OP_nereid_conv_weight_default,
                     OP_nereid_library_conv_default))
      return true;
  return false;
}

/* Is it given an image with its channels last, of two sizes or three? */
static bool has_image_input(Graph *g) {
  Permuted p;
  for (const Node *n = g->first; n; n = n->next)
    if (n->kind == NODE_CALL && is_image(g, n, &p) && spatial_axes(&p) > 1 &&
        p.of->kind == NODE_INPUT)
      return true;
  return false;
}

static bool is_inverse(const Permuted *p, const Permuted *q) {
  if (p->rank != q->rank) return false;
  for (uint32_t i = 0; i < p->rank; i++)
    if (q->axes[p->axes[i]] != i) return false;
  return true;
}

/* Are there images, of two sizes or three, that products gave, and others that they read?
 * Convolutions with windows of one element are products. */
static bool has_images_of_products(Graph *g) {
  Permuted p = {.rank = 0}, q;
  for (Node *n = g->first; n; n = n->next) {
    if (n->kind != NODE_CALL) continue;
    if (p.rank && permuted_of(g, n, &q) && is_inverse(&p, &q)) return true;
    if (!p.rank && !(is_image(g, n, &p) && spatial_axes(&p) > 1)) p.rank = 0;
  }
  return false;
}

typedef struct {
  bool *turned; /* by id: images, and nodes that compute their elements one by one */
  const Node *user;
} Turned;

static void inherit_turned(Node **use, void *ctx) {
  const Turned *t = ctx;
  t->turned[t->user->id] |= has_shape_of(*use, t->user) && t->turned[(*use)->id];
}

static bool reduces_last(Graph *g, const Node *n) {
  uint32_t rank = n->args[0].node->type.rank;
  return reduced_axes(g, n, rank) >> (rank - 1) & 1;
}

/* Are positions of images reduced, at once or after pointwise ops?  A CPU goes through them row by
 * row, with channels as vectors, where their axis is the last but one in memory. */
static bool reduces_positions(Graph *g, Arena *scratch) {
  if (!g->host) return false;
  bool *turned = ARENA_ARRAY(scratch, bool, g->nids), found = false;
  for (Node *n = g->first; n && !found; n = n->next) {
    Permuted p;
    if (n->kind != NODE_CALL) continue;
    PrimKind k = prim_kind(n->op);
    if (k == PRIM_REDUCE) found = turned[n->args[0].node->id] && reduces_last(g, n);
    else if (k != PRIM_POINTWISE) turned[n->id] = is_image(g, n, &p);
    else graph_each_use(n, inherit_turned, &(Turned){turned, n});
  }
  return found;
}

/* Would a permutation meet another, or a reduction that it makes slow? */
static bool is_worth_sinking(Graph *g, Arena *scratch) {
  return has_convolution(g) || has_image_input(g) || has_images_of_products(g) ||
         reduces_positions(g, scratch);
}

bool pass_channels_last(Graph *g) {
  if (!graph_functional(g, "channels_last")) return false;
  Arena *scratch = arena_child(g->arena);
  ChannelsLast l = {.g = g, .replacements = replacements_new(g, scratch), .nlists = g->nids};
  l.list = ARENA_ARRAY(scratch, Node *, g->nids);
  l.meets = ARENA_ARRAY(scratch, bool, g->nids);
  bool sinks = is_worth_sinking(g, scratch), ok = !setjmp(l.failed);
  if (ok && sinks) {
    find_meetings(&l);
    sink_permutations(&l);
  }
  if (ok && sinks) graph_dce(g);
  arena_free(scratch);
  return ok;
}
