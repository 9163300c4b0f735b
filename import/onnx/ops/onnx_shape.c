/* Operators that change a tensor's shape, or repeat, cut and join tensors. */
#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

static Arg dims_arg(OnnxCall *c, uint32_t n, const Dim *dims) {
  return arg_dims(c->b.in.g, n, dims);
}

/* ---- views ---- */

/* A size 0 means that of the input, unless `allowzero`; -1 the remaining elements. */
void onnx_op_reshape(OnnxCall *c) {
  if (onnx_set_split(c)) return;
  Node *x = onnx_in(c, 0);
  Dim shape[GRAPH_RANK_MAX];
  int64_t ints[GRAPH_RANK_MAX];
  uint32_t rank;
  bool zero = onnx_flag(c, "allowzero", false);
  if (c->opset < 5) {
    onnx_ignore(c, "consumed_inputs");
    const int64_t *list = onnx_ints(c, "shape", &rank);
    if (!list || rank > GRAPH_RANK_MAX) onnx_fail(c, E_ONNX_ATTR_MISSING, "shape");
    memcpy(ints, list, rank * sizeof *ints);
    for (uint32_t i = 0; i < rank; i++) shape[i] = build_const(&c->b, ints[i]);
  } else {
    rank = onnx_need_dims(c, 1, shape);
  }
  for (uint32_t i = 0; i < rank; i++) {
    bool copied = !zero && (i >= rank_of(x) || shape[i] != x->type.shape[i]);
    if (!copied || infer_differs(&c->b.in, shape[i], build_const(&c->b, 0))) continue;
    if (i >= rank_of(x)) onnx_fail(c, E_GRAPH_AXIS, (long long)i, rank_of(x));
    shape[i] = x->type.shape[i];
  }
  onnx_set(c, 0, build_with(&c->b, OP_aten_reshape_default, x, dims_arg(c, rank, shape)));
}

/* Everything before `axis` is one axis, and everything from it on. */
void onnx_op_flatten(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  uint32_t rank = rank_of(x);
  int64_t axis = onnx_int(c, "axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) onnx_fail(c, E_GRAPH_AXIS, (long long)axis, rank);
  Dim shape[2];
  shape[0] = infer_product(&c->b.in, x->type.shape, (uint32_t)axis);
  shape[1] = infer_product(&c->b.in, x->type.shape + axis, rank - (uint32_t)axis);
  onnx_set(c, 0, build_with(&c->b, OP_aten_reshape_default, x, dims_arg(c, 2, shape)));
}

void onnx_op_transpose(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  uint32_t axes[GRAPH_RANK_MAX], rank = rank_of(x), n;
  const int64_t *perm = onnx_ints(c, "perm", &n);
  if (perm && n != rank) onnx_fail(c, E_ONNX_ATTR_COUNT, "perm", n, rank);
  if (perm) onnx_axis_set(c, perm, n, rank);
  for (uint32_t i = 0; i < rank; i++) axes[i] = perm ? onnx_axis(c, perm[i], rank) : rank - 1 - i;
  onnx_set(c, 0, build_permute(&c->b, x, axes));
}

/* A bit for each of the axes that an attribute names before opset 13, input 1 from then on. */
static bool read_axes_set(OnnxCall *c, uint32_t rank, uint32_t *set, uint32_t *count) {
  int64_t list[GRAPH_RANK_MAX];
  const int64_t *axes = list;
  if (c->opset < 13) {
    axes = onnx_ints(c, "axes", count);
    if (!axes) return false;
  } else {
    if (!onnx_has(c, 1)) return false;
    *count = onnx_need_ints(c, 1, list);
  }
  if (rank) *set = onnx_axis_set(c, axes, *count, rank);
  return true;
}

/* Axes that are named are 1 in every run; without names, those that a run has as 1 go. */
void onnx_op_squeeze(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  Infer *in = &c->b.in;
  uint32_t set = 0, n, kept = 0;
  Dim shape[GRAPH_RANK_MAX], one = infer_const(in, 1);
  bool named = read_axes_set(c, rank_of(x), &set, &n);
  if (named && n && !rank_of(x)) onnx_fail(c, E_GRAPH_AXIS, 0LL, 0u);
  for (uint32_t i = 0; i < rank_of(x); i++) {
    Dim size = x->type.shape[i];
    bool stays = named ? !(set >> i & 1) : infer_differs(in, size, one);
    if (stays) shape[kept++] = size;
    else infer_same_size(in, size, one, "the axes that are squeezed and 1");
  }
  onnx_set(c, 0, build_view(&c->b, x, kept, shape));
}

/* Axes are those of the result. */
void onnx_op_unsqueeze(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  Dim shape[GRAPH_RANK_MAX];
  uint32_t set = 0, n;
  if (!read_axes_set(c, 0, &set, &n)) onnx_fail(c, E_ONNX_ATTR_MISSING, "axes");
  uint32_t rank = rank_of(x) + n;
  if (rank > GRAPH_RANK_MAX) onnx_fail(c, E_ONNX_RANK, (size_t)rank, GRAPH_RANK_MAX);
  read_axes_set(c, rank, &set, &n);
  for (uint32_t i = 0, from = 0; i < rank; i++)
    shape[i] = set >> i & 1 ? build_const(&c->b, 1) : x->type.shape[from++];
  onnx_set(c, 0, build_view(&c->b, x, rank, shape));
}

static void check_block_size(OnnxCall *c, int64_t size) {
  if (size < 1) onnx_fail(c, E_GRAPH_STEP, (long long)size);
  if (size > INT32_MAX) onnx_lack(c, "blocksize %lld", (long long)size);
}

/* Mode CRD: channels of the smaller blocks are the outer ones; DCR: the inner ones. */
static bool is_crd(OnnxCall *c) {
  Name mode = onnx_string(c, "mode", "DCR");
  bool crd = !strcmp(mode, "CRD");
  if (!crd && strcmp(mode, "DCR")) onnx_fail(c, E_ONNX_ATTR_VALUE, "mode", mode);
  return crd;
}

/* [n, (c, b, b), h, w] in mode CRD, [n, (b, b, c), h, w] in mode DCR, becomes [n, c, hb, wb]. */
void onnx_op_depth_to_space(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  int64_t size = onnx_int(c, "blocksize", 0);
  bool crd = is_crd(c);
  infer_rank(&b->in, &x->type, 4, 4);
  check_block_size(c, size);
  const Dim *s = x->type.shape;
  Dim k = build_const(b, size), channels = infer_exact_div(&b->in, s[1], size * size);
  Dim split[6] = {s[0], crd ? channels : k, k, crd ? k : channels, s[2], s[3]};
  x = build_view(b, x, 6, split);
  uint32_t to_crd[] = {0, 1, 4, 2, 5, 3}, to_dcr[] = {0, 3, 4, 1, 5, 2};
  x = build_permute(b, x, crd ? to_crd : to_dcr);
  Dims *d = onnx_dims(c);
  Dim joined[4] = {s[0], channels, dim_mul(d, s[2], k), dim_mul(d, s[3], k)};
  onnx_set(c, 0, build_view(b, x, 4, joined));
}

void onnx_op_space_to_depth(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  int64_t size = onnx_int(c, "blocksize", 0);
  infer_rank(&b->in, &x->type, 4, 4);
  check_block_size(c, size);
  const Dim *s = x->type.shape;
  Dim k = build_const(b, size);
  Dim h = infer_exact_div(&b->in, s[2], size), w = infer_exact_div(&b->in, s[3], size);
  x = build_view(b, x, 6, (Dim[]){s[0], s[1], h, k, w, k});
  uint32_t to_crd[] = {0, 1, 3, 5, 2, 4}, to_dcr[] = {0, 3, 5, 1, 2, 4};
  x = build_permute(b, x, is_crd(c) ? to_crd : to_dcr);
  Dim channels = dim_mul(onnx_dims(c), s[1], build_const(b, size * size));
  onnx_set(c, 0, build_view(b, x, 4, (Dim[]){s[0], channels, h, w}));
}

/* ---- repetition ---- */

/* Both shapes broadcast with each other. */
void onnx_op_expand(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  Dim shape[GRAPH_RANK_MAX], out[GRAPH_RANK_MAX];
  uint32_t rank = onnx_need_dims(c, 1, shape);
  Operand both[] = {infer_tensor_operand(&x->type), {.rank = rank, .shape = shape}};
  rank = infer_broadcast(&c->b.in, both, 2, out);
  onnx_set(c, 0, build_expand(&c->b, x, rank, out));
}

/* Before opset 6 one axis was repeated; that is not supported. */
void onnx_op_tile(OnnxCall *c) {
  Dim repeats[GRAPH_RANK_MAX];
  Node *x = onnx_in(c, 0);
  uint32_t n = onnx_need_dims(c, 1, repeats);
  if (n != rank_of(x)) onnx_fail(c, E_GRAPH_REPEAT, n, infer_type_text(&c->b.in, &x->type));
  onnx_set(c, 0, build_with(&c->b, OP_aten_repeat_default, x, dims_arg(c, n, repeats)));
}

/* ---- joining and splitting ---- */

/* Without inputs that add nothing along the axis: ONNX Runtime takes any other sizes of these where
 * one has elements. */
static uint32_t drop_empty(Node **x, uint32_t n, uint32_t axis) {
  uint32_t kept = 0;
  bool any = false;
  for (uint32_t i = 0; i < n; i++) any |= !onnx_is_empty(x[i]);
  for (uint32_t i = 0; any && i < n; i++)
    if (axis >= rank_of(x[i]) || !dim_is(x[i]->type.shape[axis], 0)) x[kept++] = x[i];
  return any ? kept : n;
}

void onnx_op_concat(OnnxCall *c) {
  Node **x = ARENA_ARRAY(c->b.in.g->arena, Node *, c->nin);
  for (uint32_t i = 0; i < c->nin; i++) x[i] = onnx_in(c, i);
  if (!c->nin) onnx_fail(c, E_GRAPH_EMPTY_LIST);
  uint32_t axis = onnx_axis_attr(c, "axis", 1, rank_of(x[0]));
  uint32_t n = drop_empty(x, c->nin, axis), rank = rank_of(x[0]);
  /* ATen takes [0] beside any others. */
  for (uint32_t i = 0; i < n; i++) infer_rank(&c->b.in, &x[i]->type, rank, rank);
  onnx_set(c, 0, build_cat(&c->b, n, x, axis));
}

/* Sizes of parts: an attribute before opset 13, an input from then on; else equal ones, of which
 * the last may be smaller. */
static void part_sizes(OnnxCall *c, Dim size, Dim *parts) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  const int64_t *ints = NULL;
  uint32_t n = 0;
  if (c->opset < 13) ints = onnx_ints(c, "split", &n);
  if (ints && n != c->nout) onnx_fail(c, E_ONNX_ATTR_COUNT, "split", n, c->nout);
  if (c->opset >= 13 && onnx_has(c, 1)) {
    const OnnxKnown *k = onnx_need_list(c, 1);
    if (k->n != c->nout) onnx_fail(c, E_ONNX_ATTR_COUNT, "split", k->n, c->nout);
    for (uint32_t i = 0; i < c->nout; i++) parts[i] = k->at[i].dim;
    return;
  }
  onnx_ignore(c, "num_outputs");
  Dim part = infer_ceil_div(&b->in, size, build_const(b, c->nout));
  for (uint32_t i = 0; i < c->nout; i++)
    parts[i] = ints              ? build_const(b, ints[i])
               : i + 1 < c->nout ? part
                                 : dim_sub(d, size, dim_mul(d, part, build_const(b, i)));
}

void onnx_op_split(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  Dims *d = onnx_dims(c);
  uint32_t axis = onnx_axis_attr(c, "axis", 0, rank_of(x));
  Dim *parts = ARENA_ARRAY(c->b.in.g->arena, Dim, c->nout), at = build_const(&c->b, 0);
  part_sizes(c, x->type.shape[axis], parts);
  for (uint32_t i = 0; i < c->nout; i++) {
    Dim end = dim_add(d, at, parts[i]);
    onnx_set(c, i, build_slice(&c->b, x, axis, at, end, 1));
    at = end;
  }
}

/* ---- parts ---- */

typedef struct {
  const int64_t *starts, *ends, *axes, *steps;
  uint32_t n;
} Slices;

/* Starts, ends, axes and steps: attributes before opset 10, but of DynamicSlice, else inputs. */
static const int64_t *slice_list(OnnxCall *c, uint32_t i, const char *name, uint32_t *n) {
  if (onnx_slices_by_attributes(c)) return onnx_ints(c, name, n);
  if (!onnx_has(c, i)) return NULL;
  int64_t *list = ARENA_ARRAY(c->b.in.g->arena, int64_t, GRAPH_RANK_MAX);
  *n = onnx_need_ints(c, i, list);
  return list;
}

static Node *reversed(OnnxCall *c, Node *x, uint32_t axis) {
  Arg axes = arg_axes(c->b.in.g, 1u << axis);
  return build_with(&c->b, OP_aten_flip_default, x, axes);
}

/* The number of an index before which a slice of the reversed axis begins or ends. */
static Dim place_from_end(OnnxCall *c, int64_t i, Dim size) {
  Dims *d = onnx_dims(c);
  Dim zero = build_const(&c->b, 0);
  if (i < 0) return dim_min(d, size, build_const(&c->b, i > -INT32_MAX ? -1 - i : INT32_MAX));
  Dim past = build_const(&c->b, i < INT32_MAX ? i + 1 : INT32_MAX);
  return dim_max(d, zero, dim_sub(d, size, past));
}

/* A slice with a negative step is a slice of the reversed axis, whose index i is n-1-i.  Unlike in
 * NumPy, a begin before the axis is its first element. */
static Node *slice_back(OnnxCall *c, Node *x, uint32_t axis, int64_t start, int64_t end,
                        int64_t step) {
  Dim size = x->type.shape[axis];
  if (!dim_is_int(size)) {
    Dims *d = onnx_dims(c);
    Dim most = dim_max(d, build_const(&c->b, 0), dim_sub(d, size, build_const(&c->b, 1)));
    Dim first = dim_min(d, place_from_end(c, start, size), most);
    Dim last = dim_max(d, first, place_from_end(c, end, size));
    if (step < -INT32_MAX) step = -INT32_MAX;
    return build_slice(&c->b, reversed(c, x, axis), axis, first, last, -step);
  }
  int64_t n = size->value;
  start = start < 0 ? (start < -n ? 0 : start + n) : start;
  if (start >= n) start = n - 1;
  end = end < 0 ? (end < -n ? -1 : end + n) : end >= n ? n - 1 : end;
  if (end > start) end = start;
  Dim from = build_const(&c->b, n - 1 - start), to = build_const(&c->b, n - 1 - end);
  if (step < -n) step = n ? -n : -1;
  return build_slice(&c->b, reversed(c, x, axis), axis, from, to, -step);
}

/* ATen's slices count and clamp as ONNX's do; only ends past all sizes are too large for sizes. */
static Node *slice_axis(OnnxCall *c, Node *x, uint32_t axis, Dim start, Dim end, int64_t step) {
  Dim size = x->type.shape[axis];
  if (dim_is_int(end) && end->value > INT32_MAX) end = size;
  if (dim_is_int(start) && dim_is_int(size)) {
    if (start->value > size->value) start = size;
    if (start->value < -size->value) start = build_const(&c->b, 0);
  }
  if (dim_is_int(end) && dim_is_int(size) && end->value < -size->value) end = build_const(&c->b, 0);
  return build_slice(&c->b, x, axis, start, end, step);
}

void onnx_op_slice(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  Dim starts[GRAPH_RANK_MAX], ends[GRAPH_RANK_MAX];
  uint32_t n = 0, nends = 0, naxes = 0, nsteps = 0;
  bool fixed = onnx_slices_by_attributes(c);
  if (fixed) {
    const int64_t *from = onnx_ints(c, "starts", &n), *to = onnx_ints(c, "ends", &nends);
    if (!from || !to || n > GRAPH_RANK_MAX || n != nends)
      onnx_fail(c, E_ONNX_ATTR_MISSING, "starts");
    for (uint32_t i = 0; i < n; i++) starts[i] = build_const(&c->b, from[i]);
    for (uint32_t i = 0; i < n; i++) ends[i] = build_const(&c->b, to[i]);
  } else {
    n = onnx_need_dims(c, 1, starts);
    nends = onnx_need_dims(c, 2, ends);
  }
  const int64_t *axes = slice_list(c, 3, "axes", &naxes);
  const int64_t *steps = fixed ? NULL : slice_list(c, 4, "steps", &nsteps);
  if (nends != n || (axes && naxes != n) || (steps && nsteps != n))
    onnx_fail(c, E_ONNX_ATTR_COUNT, "ends, axes or steps", nends, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t axis = onnx_axis(c, axes ? axes[i] : i, rank_of(x));
    int64_t step = steps ? steps[i] : 1;
    if (step == 0 || step == INT64_MIN) onnx_fail(c, E_GRAPH_STEP, (long long)step);
    if (step > 0) x = slice_axis(c, x, axis, starts[i], ends[i], step);
    else if (!dim_is_int(starts[i]) || !dim_is_int(ends[i]))
      onnx_lack(c, "steps backwards between symbolic places");
    else x = slice_back(c, x, axis, starts[i]->value, ends[i]->value, step);
  }
  onnx_set(c, 0, x);
}

/* ---- padding ---- */

/* ONNX gives all begins, then all ends; ATen pairs from the last axis on. */
static Arg build_padding(OnnxCall *c, const Dim *before, const Dim *after, uint32_t rank) {
  Dim dims[2 * GRAPH_RANK_MAX];
  uint32_t n = rank;
  while (n && dim_is(before[rank - n], 0) && dim_is(after[rank - n], 0)) n--;
  for (uint32_t i = 0; i < n; i++) {
    dims[2 * i] = before[rank - 1 - i];
    dims[2 * i + 1] = after[rank - 1 - i];
  }
  return dims_arg(c, 2 * n, dims);
}

/* Pads are an input from opset 11 on, and in com.microsoft. */
static bool pads_by_input(const OnnxCall *c) { return c->op->domain || c->opset >= 11; }

static void pads_of(OnnxCall *c, uint32_t rank, Dim *before, Dim *after) {
  Dim zero = build_const(&c->b, 0);
  uint32_t n;
  for (uint32_t i = 0; i < rank; i++) before[i] = after[i] = zero;
  if (!pads_by_input(c)) {
    const int64_t *pads = onnx_ints(c, "pads", &n);
    if (!pads) pads = onnx_ints(c, "paddings", &n);
    if (!pads || n != 2 * rank) onnx_fail(c, E_ONNX_ATTR_COUNT, "pads", n, 2 * rank);
    for (uint32_t i = 0; i < rank; i++) before[i] = build_const(&c->b, pads[i]);
    for (uint32_t i = 0; i < rank; i++) after[i] = build_const(&c->b, pads[rank + i]);
    return;
  }
  const OnnxKnown *k = onnx_need(c, 1);
  int64_t axes[GRAPH_RANK_MAX];
  uint32_t naxes = rank;
  for (uint32_t i = 0; i < rank; i++) axes[i] = i;
  if (c->opset >= 18 && onnx_has(c, 3)) naxes = onnx_need_ints(c, 3, axes);
  onnx_axis_set(c, axes, naxes, rank);
  if (k->n != 2 * naxes || dtype_is_float(k->dtype))
    onnx_fail(c, E_ONNX_ATTR_COUNT, "pads", k->n, 2 * naxes);
  for (uint32_t i = 0; i < naxes; i++) {
    before[onnx_axis(c, axes[i], rank)] = k->at[i].dim;
    after[onnx_axis(c, axes[i], rank)] = k->at[naxes + i].dim;
  }
}

/* The constant that is put in: an attribute before opset 11, an input from then on. */
static Arg padding_value(OnnxCall *c, DType t) {
  if (!pads_by_input(c)) return arg_float(onnx_float(c, "value", 0));
  if (!onnx_has(c, 2)) return dtype_is_float(t) ? arg_float(0) : build_int(&c->b, 0);
  const OnnxKnown *k = onnx_need(c, 2);
  if (k->n != 1) onnx_fail(c, E_ONNX_SINGLE, c->in[2]->name);
  return dtype_is_float(k->dtype) ? arg_float(k->at[0].number) : arg_dim(k->at[0].dim);
}

/* Zeros around x, where a padded mask says, are the value that is known only at run time. */
static Node *pad_with_tensor(OnnxCall *c, Node *x, Arg pad) {
  Build *b = &c->b;
  Node *value = build_to(b, onnx_in(c, 2), x->type.dtype);
  if (rank_of(value)) value = build_view(b, value, 0, NULL);
  Node *inside = build_full(b, x->type.rank, x->type.shape, arg_bool(true), DT_I1);
  Arg zero = dtype_is_float(x->type.dtype) ? arg_float(0) : build_int(b, 0);
  Node *y = build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(x), pad, zero));
  Node *kept =
      build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(inside), pad, build_int(b, 0)));
  return build_where(b, kept, arg_node(y), arg_node(value));
}

/* Does padding leave no element of x: has it none, or is an axis cut by more than it has?  Only
 * constants fill such an axis. */
static bool leaves_nothing(const Node *x, const Dim *before, const Dim *after, bool constant) {
  for (uint32_t i = 0; i < rank_of(x); i++) {
    Dim n = x->type.shape[i];
    if (!dim_is_int(n)) continue;
    if (dim_is(n, 0) && dim_is(before[i], 0) && dim_is(after[i], 0)) return true;
    bool cut = (dim_is_int(before[i]) && -before[i]->value > n->value) ||
               (dim_is_int(after[i]) && -after[i]->value > n->value);
    if (constant && cut) return true;
  }
  return false;
}

/* The constant alone, in the size of the padded x; of other modes there are no elements. */
static Node *pad_nothing(OnnxCall *c, const Node *x, const Dim *before, const Dim *after) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(x);
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = dim_add(d, dim_add(d, x->type.shape[i], before[i]), after[i]);
  if (!pads_by_input(c) || !onnx_has(c, 2) || onnx_known(c, 2))
    return build_full(b, rank, shape, padding_value(c, x->type.dtype), x->type.dtype);
  Node *value = build_to(b, onnx_in(c, 2), x->type.dtype);
  return build_expand(b, build_view(b, value, 0, NULL), rank, shape);
}

void onnx_op_pad(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  Dim before[GRAPH_RANK_MAX], after[GRAPH_RANK_MAX];
  Name mode = onnx_string(c, "mode", "constant");
  static const char *const modes[][2] = {
      {"reflect", "reflect"}, {"edge", "replicate"}, {"wrap", "circular"}};
  pads_of(c, rank_of(x), before, after);
  if (leaves_nothing(x, before, after, !strcmp(mode, "constant"))) {
    onnx_set(c, 0, pad_nothing(c, x, before, after));
    return;
  }
  Arg pad = build_padding(c, before, after, rank_of(x));
  bool open = pads_by_input(c) && onnx_has(c, 2) && !onnx_known(c, 2);
  if (!strcmp(mode, "constant") && open) {
    onnx_set(c, 0, pad_with_tensor(c, x, pad));
    return;
  }
  if (!strcmp(mode, "constant")) {
    Arg args[] = {arg_node(x), pad, padding_value(c, x->type.dtype)};
    onnx_set(c, 0, build(&c->b, OP_aten_constant_pad_nd_default, 3, args));
    return;
  }
  onnx_ignore(c, "value");
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (strcmp(mode, modes[i][0])) continue;
    Arg how = {.kind = ARG_STRING, .name = pool_name(c->b.in.g->names, modes[i][1])};
    onnx_set(c, 0, build(&c->b, OP_aten_pad_default, ARGS(arg_node(x), pad, how)));
    return;
  }
  onnx_fail(c, E_ONNX_ATTR_VALUE, "mode", mode);
}
