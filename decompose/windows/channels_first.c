/* Convolutions along one axis whose signal has its channels first, on a CPU.  See decompose.h.
 *
 * With channels last the signal is turned before and the result after, which takes as long as a
 * product of few channels.  Vectors along the signal need neither: the result of an image is
 *
 *   y[O, places]  =  weight[O, C * window]  x[C * window, places]
 *
 * where the right operand has, for each channel and position of the window, the elements that all
 * places meet.  Programs copy their columns of it (tiling/near_columns.h). */
#include "decompose/decompose.h"
#include "graph/analysis/strided.h"
#include "graph/ops/prims.h"

/* The operand whose layout that of x follows; NULL: there is none. */
static Node *layout_operand(const Node *x) {
  if (x->kind != NODE_CALL) return NULL;
  PrimKind k = prim_kind(x->op);
  bool follows = k == PRIM_POINTWISE || k == PRIM_CONCAT || graph_is(x, OP_aten_slice_Tensor);
  for (uint32_t i = 0; follows && i < x->nargs; i++) {
    const Arg *a = &x->args[i];
    if (a->kind == ARG_LIST && a->n && a->items[0].kind == ARG_NODE) a = &a->items[0];
    bool tensor = a->kind == ARG_NODE && a->node->type.kind == VALUE_TENSOR;
    uint32_t last = x->type.rank - 1;
    if (tensor && a->node->type.rank == x->type.rank && !dim_is(a->node->type.shape[last], 1))
      return a->node;
  }
  return NULL;
}

/* Are elements along the signal next to each other in memory, or will they be? */
static bool runs_along(Graph *g, Node *x) {
  enum { STEPS_MOST = 32 };
  for (int i = 0; i < STEPS_MOST; i++) {
    Node *next = layout_operand(x);
    if (!next) break;
    x = next;
  }
  return view_stride(g, x, x->type.rank - 1) == 1;
}

/* Are the elements that programs copy for a place fewer than those that are turned else?  One of
 * strided places is gathered, which takes four times as long. */
static bool copies_less(const Dim *weight, int64_t stride) {
  enum { TURNED = 4, GATHERED = 4 };
  int64_t copied = weight[1]->value * weight[2]->value;
  int64_t turned = weight[0]->value + weight[1]->value;
  return copied * (stride > 1 ? GATHERED : 1) <= TURNED * turned;
}

/* Do a weight's rows and its sums suit programs that copy their columns? */
static bool suits_weight(const Dim *weight, Dim stride) {
  enum { RESULTS_LEAST = 16, DEPTH_LEAST = 8, DEPTH_MOST = 1024 };
  bool known = dim_within(weight[0], RESULTS_LEAST, INT32_MAX) &&
               dim_within(weight[1], 1, DEPTH_MOST) && dim_within(weight[2], 1, DEPTH_MOST) &&
               dim_within(stride, 1, INT32_MAX);
  int64_t depth = known ? weight[1]->value * weight[2]->value : 0;
  return depth >= DEPTH_LEAST && depth <= DEPTH_MOST && copies_less(weight, stride->value);
}

/* Do vectors hold the places? */
static bool suits(Graph *g, const SignalWindows *c, int64_t *places) {
  enum { PLACES_LEAST = 32 };
  const ValueType *x = &c->x->type, *w = &c->weight->type;
  if (!g->host || x->dtype != DT_F32 || w->dtype != DT_F32) return false;
  bool known = dim_within(x->shape[0], 1, INT32_MAX) && dim_within(x->shape[2], 1, INT32_MAX) &&
               dim_within(c->dilation, 1, INT32_MAX) && dim_within(c->before, 0, INT32_MAX) &&
               dim_within(c->after, 0, INT32_MAX) && suits_weight(w->shape, c->stride);
  if (!known || x->shape[1] != w->shape[1]) return false;
  int64_t reach = (w->shape[2]->value - 1) * c->dilation->value + 1;
  int64_t size = x->shape[2]->value + c->before->value + c->after->value;
  if (size < reach) return false;
  *places = (size - reach) / c->stride->value + 1;
  return *places >= PLACES_LEAST;
}

/* Do vectors along the rows of x[N, C, sizes] suit a convolution of each channel?  Strided places
 * at a row's ends are gathered, and with strides of 3 and more all are. */
static bool has_long_rows(const Graph *g, const Node *x, const Dim *weight, Dim stride) {
  enum { ROW_LEAST = 6, STRIDE_MOST = 2, STRIDED_LEAST = 96 };
  const ValueType *t = &x->type;
  Dim row = t->shape[t->rank - 1];
  bool known = dim_within(weight[0], 1, INT32_MAX) && dim_within(stride, 1, STRIDE_MOST);
  for (uint32_t i = 2; i < t->rank; i++) known &= dim_within(weight[i], 1, INT32_MAX);
  int64_t least = dim_is(stride, 1) ? ROW_LEAST : STRIDED_LEAST;
  bool wide = !dim_is_int(row) || row->value >= least;
  return g->host && known && wide && build_wide(t->dtype) == DT_F32;
}

/* Has each channel a weight of its own? */
static bool is_depthwise(Graph *g, const Node *n, const Node *weight) {
  Arg groups = graph_arg(g, n, "groups"), input = graph_arg(g, n, "input");
  uint32_t channel = input.node->type.rank == weight->type.rank;
  return dim_is(weight->type.shape[1], 1) && groups.kind == ARG_INT &&
         groups.dim == input.node->type.shape[channel];
}

/* ---- what reads the result ---- */

enum { FOLLOWED_MOST = 16 };

/* Values that have the result's layout. */
typedef struct {
  const Node *list[FOLLOWED_MOST];
  uint32_t n;
  bool met; /* by an operand of the node that is looked at */
} Followed;

static void note_operand(Node **use, void *ctx) {
  Followed *f = ctx;
  for (uint32_t i = 0; i < f->n; i++) f->met |= f->list[i] == *use;
}

/* Has a convolution of such a value its channels first, too? */
static bool stays_first(Graph *g, const Node *n) {
  if (!graph_is_any(n, OP_aten_convolution_default, OP_aten_conv1d_default)) return false;
  Arg weight = graph_arg(g, n, "weight"), stride = graph_arg(g, n, "stride");
  if (stride.kind == ARG_LIST && stride.n) stride = stride.items[stride.n - 1];
  if (weight.kind == ARG_NODE && stride.kind == ARG_INT && is_depthwise(g, n, weight.node))
    return has_long_rows(g, graph_arg(g, n, "input").node, weight.node->type.shape, stride.dim);
  bool known = weight.kind == ARG_NODE && weight.node->type.rank == 3 &&
               stride.kind == ARG_INT && dim_is(graph_arg(g, n, "groups").dim, 1);
  return known && suits_weight(weight.node->type.shape, stride.dim);
}

/* Would the result be turned, since channels are last where it is read?  Whisper's second
 * convolution and the layers behind it have them last. */
static bool is_read_last(Graph *g, const Node *result) {
  enum { NODES_MOST = 128 };
  Followed f = {.list = {result}, .n = 1};
  Node *n = result->next;
  for (int i = 0; n && i < NODES_MOST; i++, n = n->next) {
    if (n->kind != NODE_CALL) continue;
    f.met = false;
    graph_each_use(n, note_operand, &f);
    if (!f.met) continue;
    if (graph_is_any(n, OP_aten_permute_default, OP_aten_transpose_int)) return true;
    bool reads = ops_param(ops_schema(g, n->op), "weight") >= 0 &&
                 ops_param(ops_schema(g, n->op), "groups") >= 0;
    if (reads && !stays_first(g, n)) return true;
    if (!reads && f.n < FOLLOWED_MOST) f.list[f.n++] = n;
  }
  return false;
}

/* The signal with its padding, whose rows are whole vectors: one of two rows would be gathered. */
static Node *padded_signal(Build *b, const SignalWindows *c) {
  enum { VECTOR = 16 };
  int64_t before = c->before->value, after = c->after->value;
  if (!before && !after) return c->x;
  after += -(c->x->type.shape[2]->value + before + after) & (VECTOR - 1);
  Dim pads[] = {c->before, build_const(b, after)};
  return build(b, OP_aten_constant_pad_nd_default,
               ARGS(arg_node(c->x), arg_dims(b->in.g, 2, pads), build_int(b, 0)));
}

/* x[N, C, L] as [N, C * window, places]. */
static Node *windows_of_signal(Build *b, const SignalWindows *c, int64_t places) {
  Node *x = padded_signal(b, c);
  Dim window = c->weight->type.shape[2], zero = build_const(b, 0);
  int64_t reach = (window->value - 1) * c->dilation->value + 1;
  if (reach == 1 && c->stride->value == 1 && x == c->x) return x;
  x = build(b, OP_aten_unfold_default,
            ARGS(arg_node(x), build_int(b, 2), build_int(b, reach), arg_dim(c->stride)));
  x = build_slice(b, x, 2, zero, build_const(b, places), 1);
  x = build_slice(b, x, 3, zero, build_const(b, reach), c->dilation->value);
  x = build_permute(b, x, (uint32_t[]){0, 1, 3, 2});
  Dim depth = build_const(b, c->weight->type.shape[1]->value * window->value);
  return build_view(b, x, 3, (Dim[]){c->x->type.shape[0], depth, build_const(b, places)});
}

/* The weight [O, C, window] as a matrix with dense rows for each image. */
static Node *weight_of_images(Build *b, const SignalWindows *c) {
  Node *w = c->weight;
  if (!strided_is_dense(b->in.g, w)) w = build_op1(b, OP_nereid_dense_default, w);
  Dim depth = build_const(b, w->type.shape[1]->value * w->type.shape[2]->value);
  Dim shape[] = {c->x->type.shape[0], w->type.shape[0], depth};
  w = build_unsqueeze(b, build_view(b, w, 2, shape + 1), 0);
  return build_expand(b, w, 3, shape);
}

bool decompose_keeps_rows(Build *b, const SignalWindows *c) {
  Graph *g = b->in.g;
  return has_long_rows(g, c->x, c->weight->type.shape, c->stride) && runs_along(g, c->x) &&
         !is_read_last(g, b->in.n);
}

Node *decompose_signal(Build *b, const SignalWindows *c) {
  int64_t places;
  Graph *g = b->in.g;
  if (!suits(g, c, &places) || !runs_along(g, c->x) || is_read_last(g, b->in.n)) return NULL;
  Node *x = windows_of_signal(b, c, places);
  return build_product(b, OP_aten_bmm_default, weight_of_images(b, c), x, ROUNDS_AS_CONVOLUTION);
}
