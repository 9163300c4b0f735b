/* Views: the operand's index for an index of the result. */
#include <stdlib.h>
#include <string.h>

#include "graph/ops/prim_rows.h"

typedef struct {
  Infer in; /* of the node; of a getitem, of the list that it takes apart */
  Dims *d;
  const ValueType *to, *of; /* the view and its operand */
  const Dim *at;            /* an index in `to` ... */
  Dim *from;                /* ... and the one in `of` to find */
  uint32_t item;            /* of a getitem */
} View;

/* ---- linear indices ---- */

void index_of_linear(Dims *d, Dim linear, const Dim *shape, uint32_t rank, Dim *index) {
  uint32_t first = 0; /* the outermost axis: what is left is below its size */
  while (first < rank && dim_is(shape[first], 1)) first++;
  for (uint32_t i = rank; i-- > 0;) {
    bool none = i < first || dim_is(shape[i], 0) || dim_is(shape[i], 1);
    index[i] = none ? dim_int(d, 0) : i == first ? linear : dim_mod(d, linear, shape[i]);
    if (!none && i != first) linear = dim_floordiv(d, linear, shape[i]);
  }
}

Dim linear_of_index(Dims *d, const Dim *index, const Dim *shape, uint32_t rank) {
  Dim linear = dim_int(d, 0);
  for (uint32_t i = 0; i < rank; i++)
    if (!dim_is(shape[i], 1)) linear = dim_add(d, dim_mul(d, linear, shape[i]), index[i]);
  return linear;
}

/* ---- the same elements in the same order ---- */

static void products(Dims *d, const ValueType *t, Dim *out) {
  out[0] = dim_int(d, 1);
  for (uint32_t i = 0; i < t->rank; i++) out[i + 1] = dim_mul(d, out[i], t->shape[i]);
}

/* Axes a..a_end of the view hold the same elements as axes b..b_end of its operand. */
static void map_axis_group(View *v, uint32_t a, uint32_t a_end, uint32_t b, uint32_t b_end) {
  Dim linear = linear_of_index(v->d, v->at + a, v->to->shape + a, a_end - a);
  index_of_linear(v->d, linear, v->of->shape + b, b_end - b, v->from + b);
}

/* The number of axes b, no less than `from`, of which the product is `size`; or UINT32_MAX. */
static uint32_t find_cut(const Dim *product, uint32_t from, uint32_t rank, Dim size) {
  for (uint32_t b = from; b <= rank; b++)
    if (product[b] == size) return b;
  return UINT32_MAX;
}

/* Groups of axes that hold the same elements, each as small as it can be: most sizes of most
 * views stay as they were. */
static void view_view(View *v) {
  Dim ours[GRAPH_RANK_MAX + 1], theirs[GRAPH_RANK_MAX + 1];
  uint32_t a = 0, b = 0;
  products(v->d, v->to, ours);
  products(v->d, v->of, theirs);
  for (uint32_t i = 1; i < v->to->rank; i++) {
    uint32_t k = find_cut(theirs, b, v->of->rank, ours[i]);
    if (k == UINT32_MAX) continue;
    map_axis_group(v, a, i, b, k);
    a = i, b = k;
  }
  map_axis_group(v, a, v->to->rank, b, v->of->rank);
}

static void view_same(View *v) {
  for (uint32_t i = 0; i < v->of->rank; i++) v->from[i] = v->at[i];
}

/* ---- the order and number of axes ---- */

static void view_expand(View *v) {
  uint32_t new = v->to->rank - v->of->rank;
  for (uint32_t i = 0; i < v->of->rank; i++)
    v->from[i] = dim_is(v->of->shape[i], 1) ? dim_int(v->d, 0) : v->at[new + i];
}

static void view_permute(View *v) {
  int64_t dims[GRAPH_RANK_MAX];
  uint32_t n = infer_ints(&v->in, "dims", dims);
  for (uint32_t i = 0; i < n; i++) v->from[infer_axis(&v->in, dims[i], n)] = v->at[i];
}

static void view_swap_axes(View *v, uint32_t a, uint32_t b) {
  view_same(v);
  if (v->of->rank == 0) return;
  v->from[a] = v->at[b];
  v->from[b] = v->at[a];
}

static void view_transpose(View *v) {
  const OpParam *params = v->in.schema->params;
  view_swap_axes(v, infer_axis_arg(&v->in, params[1].name, v->of->rank),
                 infer_axis_arg(&v->in, params[2].name, v->of->rank));
}

static void view_t(View *v) { view_swap_axes(v, 0, v->of->rank == 2); }
static void view_swap_last(View *v) { view_swap_axes(v, v->of->rank - 2, v->of->rank - 1); }

static void view_reverse(View *v) {
  for (uint32_t i = 0; i < v->of->rank; i++) v->from[v->of->rank - 1 - i] = v->at[i];
}

/* The axes that are not moved keep their order in the positions that are left. */
static void view_movedim(View *v) {
  int64_t source[GRAPH_RANK_MAX], target[GRAPH_RANK_MAX];
  uint32_t n = 1, rank = v->of->rank, moved = 0, taken = 0;
  if (graph_arg(v->in.g, v->in.n, "source").kind == ARG_LIST) {
    n = infer_ints(&v->in, "source", source);
    infer_ints(&v->in, "destination", target);
  } else {
    source[0] = infer_int(&v->in, "source");
    target[0] = infer_int(&v->in, "destination");
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t a = infer_axis(&v->in, source[i], rank), b = infer_axis(&v->in, target[i], rank);
    v->from[a] = v->at[b];
    moved |= 1u << a;
    taken |= 1u << b;
  }
  for (uint32_t i = 0, next = 0; i < rank; i++) {
    if (moved >> i & 1) continue;
    while (taken >> next & 1) next++;
    v->from[i] = v->at[next++];
  }
}

static void view_unsqueeze(View *v) {
  uint32_t axis = infer_axis_arg(&v->in, "dim", v->to->rank);
  for (uint32_t i = 0; i < v->of->rank; i++) v->from[i] = v->at[i + (i >= axis)];
}

static uint32_t squeezed_axes(View *v) {
  if (!infer_takes(&v->in, "dim")) return UINT32_MAX;
  Arg dims = graph_arg(v->in.g, v->in.n, "dim");
  return dims.kind == ARG_LIST && !dims.n ? 0 : infer_axes_arg(&v->in, "dim", v->of->rank);
}

static void view_squeeze(View *v) {
  uint32_t set = squeezed_axes(v);
  for (uint32_t i = 0, k = 0; i < v->of->rank; i++) {
    bool gone = set >> i & 1 && dim_is(v->of->shape[i], 1);
    v->from[i] = gone ? dim_int(v->d, 0) : v->at[k++];
  }
}

/* ---- parts ---- */

static uint32_t view_axis(View *v) { return infer_axis_arg(&v->in, "dim", v->of->rank); }

/* An index counts from the end if it is negative. */
static Dim from_end(View *v, Dim i, uint32_t axis) {
  return dim_range(v->d, i).hi < 0 ? dim_add(v->d, i, v->of->shape[axis]) : i;
}

/* A start after the end gives no elements, so that only one before the begin is clamped. */
static void view_slice(View *v) {
  uint32_t axis = view_axis(v);
  view_same(v);
  Dim step = dim_int(v->d, infer_int(&v->in, "step")), start = dim_int(v->d, 0);
  if (infer_has(&v->in, "start"))
    start = dim_max(v->d, from_end(v, infer_size(&v->in, "start"), axis), start);
  v->from[axis] = dim_add(v->d, start, dim_mul(v->d, step, v->at[axis]));
}

static void view_narrow(View *v) {
  uint32_t axis = view_axis(v);
  view_same(v);
  Dim start = from_end(v, infer_size(&v->in, "start"), axis);
  v->from[axis] = dim_add(v->d, start, v->at[axis]);
}

/* The operand has an axis more, at `axis`. */
static void view_insert_axis(View *v, uint32_t axis, Dim index) {
  for (uint32_t i = 0; i < v->of->rank; i++) v->from[i] = i == axis ? index : v->at[i - (i > axis)];
}

static void view_select(View *v) {
  uint32_t axis = view_axis(v);
  view_insert_axis(v, axis, from_end(v, infer_size(&v->in, "index"), axis));
}

static void view_flip(View *v) {
  Arg dims = graph_arg(v->in.g, v->in.n, "dims");
  uint32_t set = dims.n ? infer_axes_arg(&v->in, "dims", v->of->rank) : 0;
  view_same(v);
  for (uint32_t i = 0; i < v->of->rank; i++)
    if (set >> i & 1)
      v->from[i] = dim_sub(v->d, dim_sub(v->d, v->of->shape[i], dim_int(v->d, 1)), v->at[i]);
}

static void view_diagonal(View *v) {
  uint32_t a = infer_axis_arg(&v->in, "dim1", v->of->rank);
  uint32_t b = infer_axis_arg(&v->in, "dim2", v->of->rank);
  int64_t offset = infer_int(&v->in, "offset");
  for (uint32_t i = 0, k = 0; i < v->of->rank; i++)
    if (i != a && i != b) v->from[i] = v->at[k++];
  Dim along = v->at[v->to->rank - 1];
  v->from[a] = offset < 0 ? dim_sub(v->d, along, dim_int(v->d, offset)) : along;
  v->from[b] = offset > 0 ? dim_add(v->d, along, dim_int(v->d, offset)) : along;
}

static void view_unfold(View *v) {
  if (v->of->rank == 0) return;
  uint32_t axis = infer_axis_arg(&v->in, "dimension", v->of->rank);
  view_same(v);
  Dim step = dim_int(v->d, infer_int(&v->in, "step"));
  v->from[axis] = dim_add(v->d, dim_mul(v->d, v->at[axis], step), v->at[v->to->rank - 1]);
}

/* The base has no gaps, and its axes are in order. */
static void view_as_strided(View *v) {
  Dim strides[GRAPH_RANK_MAX], linear = dim_int(v->d, 0);
  uint32_t n = infer_sizes(&v->in, "stride", strides);
  if (infer_has(&v->in, "storage_offset")) linear = infer_size(&v->in, "storage_offset");
  for (uint32_t i = 0; i < n; i++)
    linear = dim_add(v->d, linear, dim_mul(v->d, v->at[i], strides[i]));
  index_of_linear(v->d, linear, v->of->shape, v->of->rank, v->from);
}

/* ---- items of lists ---- */

static void view_unbound(View *v) { view_insert_axis(v, view_axis(v), dim_int(v->d, v->item)); }

/* An item begins where those before it end. */
static void view_part(View *v) {
  uint32_t axis = view_axis(v);
  view_same(v);
  for (uint32_t i = 0; i < v->item; i++)
    v->from[axis] = dim_add(v->d, v->from[axis], v->in.n->type.items[i].shape[axis]);
}

/* ---- the table ---- */

static const struct {
  void (*view)(View *v); /* NULL: no view */
  void (*part)(View *v); /* of an item of its list */
} rules[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define VIEW(rule) .view = view_##rule,
#define PARTS(rule) .part = view_##rule,
#include "graph/ops/op_table.def"
};

/* ---- the interface ---- */

static Node *first_argument(const Node *n) {
  return n->nargs ? n->args[0].node : n->named[0].value.node;
}

Node *view_operand(const Node *n) {
  return n->kind == NODE_GETITEM ? first_argument(n->args[0].node) : first_argument(n);
}

static bool has_open_step(const Node *n) {
  bool found = false;
  for (uint32_t i = 1; i < n->type.rank; i++) found |= !dim_is_int(n->type.shape[i]);
  return found;
}

uint32_t view_weight(const Node *n) {
  enum { OPEN_RESHAPE = 16 };
  bool reshape = n->kind == NODE_CALL && rules[n->op->id].view == view_view;
  bool open = reshape && (has_open_step(n) || has_open_step(view_operand(n)));
  return open ? OPEN_RESHAPE : 1;
}

static uint32_t item_number(const Node *n) {
  int64_t i = n->args[1].dim->value;
  return (uint32_t)(i < 0 ? i + n->args[0].node->type.nitems : i);
}

static const Node *call_of(const Node *n) {
  return n->kind == NODE_GETITEM ? n->args[0].node : n;
}

static void (*rule_of(const Node *n))(View *) {
  if (call_of(n)->kind != NODE_CALL) return NULL;
  OpId op = call_of(n)->op->id;
  return n->kind == NODE_GETITEM ? rules[op].part : rules[op].view;
}

bool view_has_index(const Node *n) { return rule_of(n) != NULL; }

void view_index(Graph *g, const Node *n, const Dim *at, Dim *from) {
  bool item = n->kind == NODE_GETITEM;
  const Node *call = call_of(n);
  void (*rule)(View *) = rule_of(n);
  BUG_IF(!rule, "no view: %s", call->op->target);
  View v = {.in = prim_arguments(g, call),
            .d = g->dims,
            .to = &n->type,
            .of = &view_operand(n)->type,
            .at = at,
            .from = from};
  if (item) v.item = item_number(n);
  rule(&v);
}

int64_t view_stride(Graph *g, Node *n, uint32_t axis) {
  Dim at[2][GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < n->type.rank; i++) {
    at[0][i] = dim_int(g->dims, 0);
    at[1][i] = dim_int(g->dims, i == axis);
  }
  while (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_VIEW) {
    for (int i = 0; i < 2; i++) {
      view_index(g, n, at[i], from);
      memcpy(at[i], from, sizeof from);
    }
    n = view_operand(n);
  }
  Dim a = linear_of_index(g->dims, at[0], n->type.shape, n->type.rank);
  Dim b = linear_of_index(g->dims, at[1], n->type.shape, n->type.rank);
  Dim stride = dim_sub(g->dims, b, a);
  return dim_is_int(stride) ? stride->value : 0;
}

void broadcast_index(Graph *g, const Node *n, const Dim *index, const Node *operand, Dim *out) {
  const ValueType *t = &operand->type;
  uint32_t skip = n->type.rank - t->rank;
  for (uint32_t i = 0; i < t->rank; i++)
    out[i] = dim_is(t->shape[i], 1) ? dim_int(g->dims, 0) : index[skip + i];
}
