/* Views become view, expand, permute, squeeze.dims, unsqueeze, slice, select, flip and cat, with
 * all sizes and axes written out. */
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/scatter.h"
#include "graph/messages.h"

static const ValueType *node_type(Build *b) { return &b->in.n->type; }

/* ---- the same elements in the same order ---- */

Node *decompose_view(Build *b) {
  Node *x = build_self(b);
  Arg sizes = arg_dims(b->in.g, node_type(b)->rank, node_type(b)->shape);
  return build_become(b, OP_aten_view_default, ARGS(arg_node(x), sizes));
}

Node *decompose_unsqueeze(Build *b) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x) + 1);
  return build_become(b, OP_aten_unsqueeze_default, ARGS(arg_node(x), build_int(b, axis)));
}

/* The axes of size 1 among those named: those that are gone from the type. */
Node *decompose_squeeze(Build *b) {
  Node *x = build_self(b);
  bool named = infer_takes(&b->in, "dim");
  Arg dims = named ? build_arg(b, "dim") : arg_none();
  uint32_t set = dims.kind == ARG_LIST && !dims.n ? 0 : all_axes(x);
  if (set && named && rank_of(x)) set = infer_axes_arg(&b->in, "dim", rank_of(x));
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (!dim_is(x->type.shape[i], 1)) set &= ~(1u << i);
  if (!set) return x;
  return build_become(b, OP_aten_squeeze_dims, ARGS(arg_node(x), arg_axes(b->in.g, set)));
}

/* ---- expanding ---- */

Node *decompose_expand(Build *b) {
  Arg sizes = arg_dims(b->in.g, node_type(b)->rank, node_type(b)->shape);
  return build_become(b, OP_aten_expand_default, ARGS(arg_node(build_self(b)), sizes));
}

static void set_items(Build *b, uint32_t n) {
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, n);
  b->nitems = n;
}

Node *decompose_broadcast_tensors(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  set_items(b, n);
  for (uint32_t i = 0; i < n; i++)
    b->items[i] = build_expand(b, x[i], node_type(b)->items[i].rank, node_type(b)->items[i].shape);
  return NULL;
}

/* Tensor i runs along axis i, or with "xy" the first two the other way round. */
Node *decompose_meshgrid(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  bool swap = !strcmp(infer_string(&b->in, "indexing"), "xy") && n > 1;
  set_items(b, n);
  for (uint32_t i = 0; i < n; i++) {
    Dim shape[GRAPH_RANK_MAX];
    for (uint32_t k = 0; k < n; k++) shape[k] = build_const(b, 1);
    uint32_t axis = swap && i < 2 ? 1 - i : i;
    shape[axis] = node_type(b)->items[i].shape[axis];
    b->items[i] = build_expand(b, build_view(b, x[i], n, shape), n, node_type(b)->items[i].shape);
  }
  return NULL;
}

/* Along each axis that is repeated: an axis of the number of times before it, then one of both. */
Node *decompose_repeat(Build *b) {
  Node *x = build_lead(b, build_self(b), node_type(b)->rank);
  Dim split[2 * GRAPH_RANK_MAX], wide[2 * GRAPH_RANK_MAX], times[GRAPH_RANK_MAX];
  const char *param = infer_takes(&b->in, "dims") ? "dims" : "repeats";
  uint32_t given = infer_sizes(&b->in, param, times), n = 0, less = node_type(b)->rank - given;
  for (uint32_t i = 0; i < node_type(b)->rank; i++) {
    if (i >= less && !dim_is(times[i - less], 1)) {
      split[n] = build_const(b, 1);
      wide[n++] = times[i - less];
    }
    split[n] = wide[n] = x->type.shape[i];
    n++;
  }
  if (n > GRAPH_RANK_MAX) infer_fail(&b->in, E_GRAPH_RANK, (int)GRAPH_RANK_MAX);
  Node *y = build_expand(b, build_view(b, x, n, split), n, wide);
  return build_view(b, y, node_type(b)->rank, node_type(b)->shape);
}

/* A new axis, whose size is the number of repeats, after the one that is repeated. */
Node *decompose_repeat_interleave(Build *b) {
  Node *x = build_self(b);
  uint32_t axis = 0;
  Dim shape[GRAPH_RANK_MAX + 1];
  if (infer_has(&b->in, "dim")) {
    axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  } else {
    Dim all = value_numel(b->in.g, &x->type);
    x = build_view(b, x, 1, &all);
  }
  x = build_unsqueeze(b, x, axis + 1);
  memcpy(shape, x->type.shape, rank_of(x) * sizeof *shape);
  shape[axis + 1] = infer_size(&b->in, "repeats");
  return build_view(b, build_expand(b, x, rank_of(x), shape), node_type(b)->rank,
                    node_type(b)->shape);
}

/* ---- the order of axes ---- */

static Node *become_permute(Build *b, Node *x, const uint32_t *axes) {
  Arg list = arg_list(b->in.g, rank_of(x));
  for (uint32_t i = 0; i < list.n; i++) list.items[i] = build_int(b, axes[i]);
  return build_become(b, OP_aten_permute_default, ARGS(arg_node(x), list));
}

Node *decompose_permute(Build *b) {
  Node *x = build_self(b);
  int64_t dims[GRAPH_RANK_MAX];
  uint32_t axes[GRAPH_RANK_MAX], n = infer_ints(&b->in, "dims", dims);
  for (uint32_t i = 0; i < n; i++) axes[i] = infer_axis(&b->in, dims[i], n);
  return become_permute(b, x, axes);
}

static Node *swap_two_axes(Build *b, uint32_t p, uint32_t q) {
  Node *x = build_self(b);
  uint32_t axes[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank_of(x); i++) axes[i] = i == p ? q : i == q ? p : i;
  return p == q ? x : become_permute(b, x, axes);
}

Node *decompose_transpose(Build *b) {
  Node *x = build_self(b);
  const OpParam *params = b->in.schema->params;
  return swap_two_axes(b, infer_axis_arg(&b->in, params[1].name, rank_of(x)),
                       infer_axis_arg(&b->in, params[2].name, rank_of(x)));
}

Node *decompose_t(Build *b) { return swap_two_axes(b, 0, rank_of(build_self(b)) == 2); }

Node *decompose_swap_last(Build *b) {
  uint32_t rank = rank_of(build_self(b));
  return swap_two_axes(b, rank - 2, rank - 1);
}

Node *decompose_reverse(Build *b) {
  Node *x = build_self(b);
  uint32_t axes[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank_of(x); i++) axes[i] = rank_of(x) - 1 - i;
  return become_permute(b, x, axes);
}

/* Axes that are not moved keep their order in the positions that are left. */
Node *decompose_movedim(Build *b) {
  Node *x = build_self(b);
  int64_t from[GRAPH_RANK_MAX], to[GRAPH_RANK_MAX];
  bool one = build_arg(b, "source").kind != ARG_LIST;
  if (one) from[0] = infer_int(&b->in, "source"), to[0] = infer_int(&b->in, "destination");
  uint32_t n = one ? 1 : infer_ints(&b->in, "source", from), taken = 0, used = 0;
  uint32_t axes[GRAPH_RANK_MAX];
  if (!one) infer_ints(&b->in, "destination", to);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t p = infer_axis(&b->in, from[i], rank_of(x)), q = infer_axis(&b->in, to[i], rank_of(x));
    axes[q] = p;
    used |= 1u << p;
    taken |= 1u << q;
  }
  for (uint32_t i = 0, next = 0; i < rank_of(x); i++) {
    if (taken >> i & 1) continue;
    while (used >> next & 1) next++;
    axes[i] = next++;
  }
  return become_permute(b, x, axes);
}

Node *decompose_flip(Build *b) {
  Node *x = build_self(b);
  Arg dims = build_arg(b, "dims");
  uint32_t set = dims.n ? infer_axes_arg(&b->in, "dims", rank_of(x)) : 0;
  return set ? build_become(b, OP_aten_flip_default, ARGS(arg_node(x), arg_axes(b->in.g, set))) : x;
}

/* ---- parts ---- */

/* start or end of a slice, between 0 and size. */
static Dim clamped_argument(Build *b, const char *param, Dim size, Dim otherwise) {
  Dims *d = b->in.g->dims;
  if (!infer_has(&b->in, param)) return otherwise;
  Dim i = infer_size(&b->in, param);
  if (dim_is(i, INT64_MAX)) return size;
  if (dim_range(d, i).hi < 0) i = dim_add(d, i, size);
  return dim_min(d, dim_max(d, i, build_const(b, 0)), size);
}

Node *decompose_slice(Build *b) {
  Node *x = build_self(b);
  Dims *d = b->in.g->dims;
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim size = x->type.shape[axis];
  Dim start = clamped_argument(b, "start", size, build_const(b, 0));
  int64_t step = infer_int(&b->in, "step");
  Node *counted = step == 1 && dim_is(start, 0) ? scatter_counted_slice(b, x, axis, "end") : NULL;
  if (counted) return counted;
  Dim end = step == 1 ? dim_add(d, start, node_type(b)->shape[axis])
                      : dim_max(d, start, clamped_argument(b, "end", size, size));
  Arg args[] = {arg_node(x), build_int(b, axis), arg_dim(start), arg_dim(end), build_int(b, step)};
  return build_become(b, OP_aten_slice_Tensor, step == 1 ? 4 : 5, args);
}

/* An index that counts from the end if it is negative. */
static Dim index_argument(Build *b, const char *param, Dim size) {
  Dim i = infer_size(&b->in, param);
  return dim_range(b->in.g->dims, i).hi < 0 ? dim_add(b->in.g->dims, i, size) : i;
}

Node *decompose_narrow(Build *b) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim start = index_argument(b, "start", x->type.shape[axis]);
  Node *counted = dim_is(start, 0) ? scatter_counted_slice(b, x, axis, "length") : NULL;
  if (counted) return counted;
  Dim end = dim_add(b->in.g->dims, start, node_type(b)->shape[axis]);
  return build_become(b, OP_aten_slice_Tensor,
                      ARGS(arg_node(x), build_int(b, axis), arg_dim(start), arg_dim(end)));
}

Node *decompose_select(Build *b) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim i = index_argument(b, "index", x->type.shape[axis]);
  return build_become(b, OP_aten_select_int, ARGS(arg_node(x), build_int(b, axis), arg_dim(i)));
}

/* chunk, split: the parts have the sizes that their types say. */
Node *decompose_split(Build *b) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim start = build_const(b, 0);
  set_items(b, node_type(b)->nitems);
  for (uint32_t i = 0; i < b->nitems; i++) {
    Dim end = dim_add(b->in.g->dims, start, node_type(b)->items[i].shape[axis]);
    b->items[i] = build_slice(b, x, axis, start, end, 1);
    start = end;
  }
  return NULL;
}

Node *decompose_unbind(Build *b) {
  Node *x = build_self(b);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  set_items(b, node_type(b)->nitems);
  for (uint32_t i = 0; i < b->nitems; i++)
    b->items[i] = build_select(b, x, axis, build_const(b, i));
  return NULL;
}

/* ---- joining ---- */

/* Empty vectors are left out, whatever the others' rank. */
Node *decompose_cat(Build *b) {
  uint32_t n, rank = node_type(b)->rank, kept = 0;
  Node **x = build_inputs(b, "tensors", &n);
  for (uint32_t i = 0; i < n; i++)
    if (rank_of(x[i]) == rank && !(rank == 1 && dim_is(x[i]->type.shape[0], 0)))
      x[kept++] = build_to(b, x[i], node_type(b)->dtype);
  if (kept <= 1) return kept ? x[0] : x[n - 1];
  Arg list = arg_list(b->in.g, kept);
  for (uint32_t i = 0; i < kept; i++) list.items[i] = arg_node(x[i]);
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank);
  return build_become(b, OP_aten_cat_default, ARGS(list, build_int(b, axis)));
}

Node *decompose_stack(Build *b) {
  uint32_t n, axis = infer_axis_arg(&b->in, "dim", node_type(b)->rank);
  Node **x = build_inputs(b, "tensors", &n);
  for (uint32_t i = 0; i < n; i++) x[i] = build_unsqueeze(b, x[i], axis);
  return build_cat(b, n, x, axis);
}

/* hstack: along the second axis, of vectors along the first. */
Node *decompose_hstack(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  for (uint32_t i = 0; i < n; i++) x[i] = build_lead(b, x[i], 1);
  return build_cat(b, n, x, rank_of(x[0]) > 1);
}

Node *decompose_vstack(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  for (uint32_t i = 0; i < n; i++) x[i] = build_lead(b, x[i], 2);
  return build_cat(b, n, x, 0);
}

static Node *roll_axis(Build *b, Node *x, uint32_t axis, Dim shift) {
  Dims *d = b->in.g->dims;
  if (!rank_of(x)) return x;
  Dim size = x->type.shape[axis];
  if (dim_is(size, 0)) return x;
  Dim at = dim_mod(d, dim_sub(d, build_const(b, 0), shift), dim_max(d, size, build_const(b, 1)));
  if (dim_is(at, 0)) return x;
  Node *parts[2] = {build_slice(b, x, axis, at, size, 1)};
  parts[1] = build_slice(b, x, axis, build_const(b, 0), at, 1);
  return build_cat(b, 2, parts, axis);
}

Node *decompose_roll(Build *b) {
  Node *x = build_self(b);
  Dim shifts[GRAPH_RANK_MAX];
  int64_t dims[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(&b->in, "shifts", shifts), ndims = infer_ints(&b->in, "dims", dims);
  if (n == 0) return x;
  if (ndims == 0) {
    Dim all = value_numel(b->in.g, &x->type);
    x = roll_axis(b, build_view(b, x, 1, &all), 0, shifts[0]);
    return build_view(b, x, node_type(b)->rank, node_type(b)->shape);
  }
  for (uint32_t i = 0; i < n && i < ndims; i++)
    x = roll_axis(b, x, infer_axis(&b->in, dims[i], rank_of(x)), shifts[i]);
  return x;
}

/* ---- a part replaced ---- */

static Node *replace_between(Build *b, Node *x, uint32_t axis, Dim start, Dim end, Node *part) {
  Node *parts[3];
  uint32_t n = 0;
  if (!dim_is(start, 0)) parts[n++] = build_slice(b, x, axis, build_const(b, 0), start, 1);
  parts[n++] = part;
  if (end != x->type.shape[axis]) parts[n++] = build_slice(b, x, axis, end, x->type.shape[axis], 1);
  return build_cat(b, n, parts, axis);
}

static Node *part_like(Build *b, Node *x, uint32_t axis, Dim size, Node *part) {
  Dim shape[GRAPH_RANK_MAX];
  memcpy(shape, x->type.shape, rank_of(x) * sizeof *shape);
  shape[axis] = size;
  return build_expand(b, build_to(b, part, x->type.dtype), rank_of(x), shape);
}

/* Each step-th element from start on: element i of the part is at index start + i*step. */
static Node *replace_where(Build *b, Node *x, uint32_t axis, Dim start, Dim end, int64_t step,
                           Node *part) {
  Dim last = dim_sub(b->in.g->dims, part->type.shape[axis], build_const(b, 1));
  Node *index = build_arange(b, x->type.shape[axis]);
  Node *from = build_with(b, OP_aten_sub_Tensor, index, arg_dim(start));
  Node *rest = build_with(b, OP_aten_remainder_Tensor, from, build_int(b, step));
  Node *hit = build_with(b, OP_aten_eq_Tensor, rest, build_int(b, 0));
  Node *low = build_with(b, OP_aten_ge_Tensor, from, build_int(b, 0));
  Node *high = build_with(b, OP_aten_lt_Tensor, index, arg_dim(end));
  hit = build_op2(b, OP_aten_logical_and_default, hit, low);
  hit = build_op2(b, OP_aten_logical_and_default, hit, high);
  Node *i = build_with(b, OP_aten_floor_divide_default, from, build_int(b, step));
  i = build(b, OP_aten_clamp_default, ARGS(arg_node(i), build_int(b, 0), arg_dim(last)));
  Node *y =
      build(b, OP_aten_index_select_default, ARGS(arg_node(part), build_int(b, axis), arg_node(i)));
  return build_where(b, build_along(b, hit, axis, rank_of(x)), arg_node(y), arg_node(x));
}

ReplacedPart decompose_replaced_part(Build *b) {
  Node *x = build_self(b);
  Dims *d = b->in.g->dims;
  ReplacedPart p = {.axis = infer_axis_arg(&b->in, "dim", rank_of(x)), .step = 1};
  Dim size = x->type.shape[p.axis];
  p.selects = infer_takes(&b->in, "index");
  if (p.selects) {
    p.start = index_argument(b, "index", size);
    p.count = build_const(b, 1);
    p.end = dim_add(d, p.start, p.count);
    return p;
  }
  p.start = clamped_argument(b, "start", size, build_const(b, 0));
  p.end = dim_max(d, p.start, clamped_argument(b, "end", size, size));
  p.step = infer_int(&b->in, "step");
  p.count = infer_ceil_div(&b->in, dim_sub(d, p.end, p.start), build_const(b, p.step));
  return p;
}

Node *decompose_replacing_part(Build *b, const ReplacedPart *p) {
  Node *part = build_input(b, "src");
  if (p->selects) part = build_unsqueeze(b, part, p->axis);
  return part_like(b, build_self(b), p->axis, p->count, part);
}

Node *decompose_slice_scatter(Build *b) {
  Node *x = build_self(b);
  ReplacedPart p = decompose_replaced_part(b);
  if (dim_is(p.count, 0)) return x;
  Node *part = decompose_replacing_part(b, &p);
  return p.step == 1 ? replace_between(b, x, p.axis, p.start, p.end, part)
                     : replace_where(b, x, p.axis, p.start, p.end, p.step, part);
}

Node *decompose_select_scatter(Build *b) { return decompose_slice_scatter(b); }

/* ---- channels ---- */

/* x with its axis c as [p, q], these two swapped. */
Node *decompose_channel_shuffle(Build *b) {
  Node *x = build_self(b);
  Dim groups = infer_size(&b->in, "groups"), shape[GRAPH_RANK_MAX + 1];
  shape[0] = x->type.shape[0];
  shape[1] = groups;
  shape[2] = dim_floordiv(b->in.g->dims, x->type.shape[1], groups);
  memcpy(shape + 3, x->type.shape + 2, (rank_of(x) - 2) * sizeof *shape);
  Node *y = build_transpose(b, build_view(b, x, rank_of(x) + 1, shape), 1, 2);
  return build_view(b, y, rank_of(x), x->type.shape);
}

/* [.., c*r*r, h, w] to [.., c, h*r, w*r]. */
Node *decompose_pixel_shuffle(Build *b) {
  Node *x = build_self(b);
  uint32_t lead = rank_of(x) - 3, axes[GRAPH_RANK_MAX];
  Dim shape[GRAPH_RANK_MAX], r = infer_size(&b->in, "upscale_factor");
  if (lead + 5 > GRAPH_RANK_MAX) infer_fail(&b->in, E_GRAPH_RANK, (int)GRAPH_RANK_MAX);
  const Dim *from = x->type.shape + lead, *to = node_type(b)->shape + lead;
  for (uint32_t i = 0; i < lead; i++) shape[i] = x->type.shape[i], axes[i] = i;
  memcpy(shape + lead, (Dim[]){to[0], r, r, from[1], from[2]}, 5 * sizeof *shape);
  static const uint32_t order[] = {0, 3, 1, 4, 2}; /* c h r w r */
  for (uint32_t i = 0; i < 5; i++) axes[lead + i] = lead + order[i];
  Node *y = build_permute(b, build_view(b, x, lead + 5, shape), axes);
  return build_view(b, y, node_type(b)->rank, node_type(b)->shape);
}

/* [.., c, h*r, w*r] to [.., c*r*r, h, w]. */
Node *decompose_pixel_unshuffle(Build *b) {
  Node *x = build_self(b);
  uint32_t lead = rank_of(x) - 3, axes[GRAPH_RANK_MAX];
  Dim shape[GRAPH_RANK_MAX], r = infer_size(&b->in, "downscale_factor");
  if (lead + 5 > GRAPH_RANK_MAX) infer_fail(&b->in, E_GRAPH_RANK, (int)GRAPH_RANK_MAX);
  const Dim *from = x->type.shape + lead, *to = node_type(b)->shape + lead;
  for (uint32_t i = 0; i < lead; i++) shape[i] = x->type.shape[i], axes[i] = i;
  memcpy(shape + lead, (Dim[]){from[0], to[1], r, to[2], r}, 5 * sizeof *shape);
  static const uint32_t order[] = {0, 2, 4, 1, 3}; /* c r r h w */
  for (uint32_t i = 0; i < 5; i++) axes[lead + i] = lead + order[i];
  Node *y = build_permute(b, build_view(b, x, lead + 5, shape), axes);
  return build_view(b, y, node_type(b)->rank, node_type(b)->shape);
}

/* ---- the middle of a spectrum ---- */

static Node *rolled_by_half(Build *b, bool up) {
  Node *x = build_self(b);
  uint32_t set = infer_axes_arg(&b->in, "dim", rank_of(x)), n = 0;
  Dim shifts[GRAPH_RANK_MAX], axes[GRAPH_RANK_MAX];
  Dims *d = build_dims(b);
  for (uint32_t i = 0; i < rank_of(x); i++) {
    if (!(set >> i & 1)) continue;
    Dim size = dim_add(d, x->type.shape[i], build_const(b, up));
    shifts[n] = dim_floordiv(d, size, build_const(b, 2));
    axes[n++] = build_const(b, i);
  }
  if (!n) return x;
  return build(b, OP_aten_roll_default,
               ARGS(arg_node(x), arg_dims(b->in.g, n, shifts), arg_dims(b->in.g, n, axes)));
}

/* The first element moves to the middle, and back. */
Node *decompose_fftshift(Build *b) { return rolled_by_half(b, false); }
Node *decompose_ifftshift(Build *b) { return rolled_by_half(b, true); }
