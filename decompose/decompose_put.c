/* Writing whole slices: index_put and what it means along one axis; writing back through views.
 * The axes that are indexed come first, as rows; so an index names a row, and a row is written at
 * once (decompose/scatter.h). */
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/scatter.h"
#include "graph/builders/mask_builder.h"

/* ---- elements chosen by a mask ----
 *
 * index_put by a mask, masked_scatter, masked_fill: each is a choice between two values of each
 * element, so nothing is scattered. */

bool scatter_is_mask(const Node *index) {
  return index && (index->type.dtype == DT_I1 || index->type.dtype == DT_U8);
}

/* The numbers of the elements where a mask of one axis holds; each needs one of `count` values. */
static Node *number_values(Build *b, Node *mask, Dim count) {
  Node *number = build_mask_number(b, mask);
  Arg none = build_int(b, -1); /* before the first */
  if (!b->in.g->unchecked) build_check_index(b, number, count, false, none, b->in.n->name);
  return number;
}

static Node *select_values(Build *b, Node *values, uint32_t axis, Node *mask) {
  Node *number = number_values(b, mask, values->type.shape[axis]);
  return build(b, OP_aten_index_select_default,
               ARGS(arg_node(values), build_int(b, axis), arg_node(number)));
}

/* ---- index_put ---- */

/* The axes `first` ... of the operand, which a mask covers; the values have one axis for them. */
typedef struct {
  Node *x, *mask, *values;
  uint32_t first;
} Covered;

/* How many values there are for the elements of the mask; 1: one for all of them. */
static Dim count_values(Build *b, const Covered *c) {
  uint32_t after = rank_of(c->x) - rank_of(c->mask) - c->first;
  const Node *v = c->values;
  return rank_of(v) > after ? v->type.shape[rank_of(v) - 1 - after] : build_const(b, 1);
}

/* `of`, which has one axis for those of the mask, of that size. */
static Node *expand_values(Build *b, const Covered *c, Node *of, Dim size) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(c->x) - rank_of(c->mask) + 1;
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = c->x->type.shape[i < c->first ? i : i + rank_of(c->mask) - 1];
  shape[c->first] = size;
  return build_expand(b, of, rank, shape);
}

/* An axis of the values becomes those of the mask, all of size 1 if that is the axis's. */
static Node *split_covered_axes(Build *b, const Covered *c, Node *values) {
  Dim shape[GRAPH_RANK_MAX];
  bool one = dim_is(values->type.shape[c->first], 1);
  memcpy(shape, c->x->type.shape, rank_of(c->x) * sizeof *shape);
  for (uint32_t i = 0; one && i < rank_of(c->mask); i++) shape[c->first + i] = build_const(b, 1);
  return build_view(b, values, rank_of(c->x), shape);
}

static bool find_covered(Build *b, Covered *c) {
  uint32_t n;
  Node **index = build_inputs(b, "indices", &n);
  *c = (Covered){.x = build_input(b, "self"), .values = build_input(b, "values")};
  for (uint32_t i = 0; i < n; i++) {
    if (!index[i]) continue;
    if (c->mask || !scatter_is_mask(index[i]) || !rank_of(index[i])) return false;
    c->mask = index[i];
    c->first = i;
  }
  return c->mask;
}

/* The mask in the shape of the operand. */
static Node *expand_mask(Build *b, const Covered *c) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(c->x) - c->first, covered = rank_of(c->mask);
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = i < covered ? c->mask->type.shape[i] : build_const(b, 1);
  Node *mask = build_view(b, build_to(b, c->mask, DT_I1), rank, shape);
  return build_expand(b, mask, rank_of(c->x), c->x->type.shape);
}

static bool put_by_mask(Build *b, MaskedPut *out) {
  Covered c;
  if (!find_covered(b, &c)) return false;
  Dim count = count_values(b, &c);
  Node *chosen = build_flat(b, build_to(b, c.mask, DT_I1));
  out->mask = expand_mask(b, &c);
  out->values = c.x;
  if (dim_is(count, 0)) {
    number_values(b, chosen, count); /* which must choose nothing */
    return true;
  }
  Node *values = expand_values(b, &c, c.values, count);
  if (!dim_is(count, 1)) values = select_values(b, values, c.first, chosen);
  values = split_covered_axes(b, &c, values);
  out->values = build_expand(b, values, rank_of(c.x), c.x->type.shape);
  return true;
}

/* index_put by a mask: the operand's elements, or the new values where the mask holds; NULL if it
 * is none that scatter_masked_put takes. */
static Node *decompose_masked_put(Build *b) {
  MaskedPut p;
  if (!put_by_mask(b, &p)) return NULL;
  Node *x = build_input(b, "self");
  if (infer_bool(&b->in, "accumulate")) p.values = build_add(b, x, p.values);
  return build_where(b, p.mask, arg_node(p.values), arg_node(x));
}

/* ---- masked_scatter, masked_fill ---- */

/* Elements of source, in their order, where the mask is true; x, of the result's shape, is what
 * they replace. */
static MaskedPut scatter_by_mask(Build *b, Node *x) {
  Node *source = build_flat(b, build_input(b, "source"));
  Node *mask = build_expand(b, build_input(b, "mask"), rank_of(x), x->type.shape);
  Node *chosen = build_flat(b, mask);
  if (dim_is(source->type.shape[0], 0)) {
    number_values(b, chosen, source->type.shape[0]);
    return (MaskedPut){mask, x};
  }
  Node *values = select_values(b, source, 0, chosen);
  return (MaskedPut){mask, build_view(b, values, rank_of(x), x->type.shape)};
}

Node *decompose_masked_scatter(Build *b) {
  const ValueType *t = &b->in.n->type;
  Node *x = build_expand(b, build_input(b, "self"), t->rank, t->shape);
  MaskedPut p = scatter_by_mask(b, x);
  return build_where(b, p.mask, arg_node(p.values), arg_node(x));
}

/* Is the result, of which elements of self are replaced, of self's shape? */
static bool keeps_shape(Build *b, const Node *x) {
  const ValueType *t = &b->in.n->type;
  return t->rank == rank_of(x) && !memcmp(t->shape, x->type.shape, t->rank * sizeof *t->shape);
}

static void fill_by_mask(Build *b, Node *x, MaskedPut *out) {
  out->mask = build_expand(b, build_input(b, "mask"), rank_of(x), x->type.shape);
  Node *value = build_scalar_arg(b, "value", x->type.dtype);
  out->values = build_expand(b, value, rank_of(x), x->type.shape);
}

bool scatter_masked_put(Build *b, MaskedPut *out) {
  if (infer_takes(&b->in, "indices")) return put_by_mask(b, out);
  Node *x = build_input(b, "self");
  if (!keeps_shape(b, x)) return false;
  if (infer_takes(&b->in, "source")) *out = scatter_by_mask(b, x);
  else fill_by_mask(b, x, out);
  return true;
}

/* ---- rows: slices along some axes ---- */

/* x with the axes of `set` in front, as two: rows, and the elements of one. */
typedef struct {
  Node *x; /* [rows, elements] */
  uint32_t axes[GRAPH_RANK_MAX], rank;
  Dim permuted[GRAPH_RANK_MAX];
} Rows;

static Rows indexed_rows(Build *b, Node *x, uint32_t set) {
  Rows r = {.rank = rank_of(x)};
  uint32_t n = 0;
  for (int inside = 1; inside >= 0; inside--)
    for (uint32_t i = 0; i < r.rank; i++)
      if ((int)(set >> i & 1) == inside) r.axes[n++] = i;
  for (uint32_t i = 0; i < r.rank; i++) r.permuted[i] = x->type.shape[r.axes[i]];
  Dim shape[] = {build_count(b, x, set), build_count(b, x, all_axes(x) & ~set)};
  r.x = build_view(b, build_permute(b, x, r.axes), 2, shape);
  return r;
}

static Node *from_rows(Build *b, const Rows *r, Node *x) {
  uint32_t back[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < r->rank; i++) back[r->axes[i]] = i;
  return build_permute(b, build_view(b, x, r->rank, r->permuted), back);
}

/* Rows of floats that are worth sorting, so that sums do not depend on the order of a run. */
static bool has_long_rows(const Rows *r) {
  enum { LONG = 16 };
  Dim elements = r->x->type.shape[1];
  return dtype_is_float(r->x->type.dtype) && dim_is_int(elements) && elements->value >= LONG;
}

/* Rows are added in their order, along the axes `set` of x, next to each other, to those that `row`
 * ([M]) names. */
static Node *add_along(Build *b, Node *x, uint32_t set, Node *row, Node *source) {
  uint32_t before = (set & -set) - 1, after = all_axes(x) & ~(set | before);
  DType t = x->type.dtype;
  Node *sum = scatter_rows(b, &(ScatteredRows){.to = build_to(b, x, scatter_sum_dtype(t)),
                                               .index = row,
                                               .src = source,
                                               .outer = build_count(b, x, before),
                                               .rows = build_count(b, x, set),
                                               .columns = build_count(b, x, after),
                                               .count = row->type.shape[0],
                                               .reduce = "sum"});
  return build_to(b, sum, t);
}

/* `values` ([M, elements]) go to the rows that `row` ([M]) names. */
static Node *put_rows(Build *b, const Rows *r, Node *row, Node *values, bool accumulate) {
  if (scatter_empty(b, values)) return from_rows(b, r, r->x);
  if (!accumulate) {
    Node *writer = scatter_writers(b, r->x->type.shape[0], row);
    return from_rows(b, r, scatter_take(b, r->x, writer, values));
  }
  Dim elements = r->x->type.shape[1];
  if (b->in.g->host) return from_rows(b, r, add_along(b, r->x, 1, row, values));
  if (has_long_rows(r)) {
    Node *sum = scatter_sum_rows(b, r->x->type.shape[0], row, values);
    Node *wide = build_to(b, r->x, build_wide(r->x->type.dtype));
    return from_rows(b, r, build_to(b, build_add(b, wide, sum), r->x->type.dtype));
  }
  Node *indices = build_add(b, build_mul_dim(b, build_unsqueeze(b, row, 1), elements),
                            build_arange(b, elements));
  return from_rows(b, r, scatter_add_up(b, r->x, indices, values));
}

/* The only value goes to all rows that `row` names: a choice between it and x. */
static Node *fill_rows(Build *b, const Rows *r, Node *row, Node *value) {
  Node *on = scatter_written(b, scatter_writers(b, r->x->type.shape[0], row));
  Node *one = build_view(b, value, 0, value->type.shape);
  return from_rows(b, r, build_where(b, build_unsqueeze(b, on, 1), arg_node(one), arg_node(r->x)));
}

static Node *put_slices(Build *b, Node *source, bool accumulate) {
  Node *x = build_self(b), *index = build_flat(b, build_input(b, "index"));
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim one = build_const(b, 1);
  if (!rank_of(x)) x = build_view(b, x, 1, &one), source = build_view(b, source, 1, &one);
  Node *row = scatter_from_start(b, index, x->type.shape[axis]);
  if (b->in.g->host && accumulate && !scatter_empty(b, source))
    return build_finished(b, add_along(b, x, 1u << axis, row, source));
  Rows r = indexed_rows(b, x, 1u << axis), s = indexed_rows(b, source, 1u << axis);
  return build_finished(b, put_rows(b, &r, row, s.x, accumulate));
}

Node *scatter_scaled(Build *b, Node *source) {
  Arg alpha = build_arg(b, "alpha");
  bool one = (alpha.kind == ARG_INT && dim_is(alpha.dim, 1)) ||
             (alpha.kind == ARG_FLOAT && alpha.number == 1);
  return one ? source : build_with(b, OP_aten_mul_Tensor, source, alpha);
}

Node *decompose_index_add(Build *b) {
  return put_slices(b, scatter_scaled(b, build_input(b, "source")), true);
}

/* A few rows, as a cache of keys and values gets one: each is chosen where its index says so. */
static Node *copy_few(Build *b, Node *x, Node *index, Node *source, uint32_t axis, int64_t count) {
  Node *position = build_along(b, build_arange(b, x->type.shape[axis]), axis, rank_of(x));
  for (int64_t i = 0; i < count; i++) {
    Dim at = build_const(b, i);
    Node *which = rank_of(index) ? build_select(b, index, 0, at) : index;
    Node *row = build_slice(b, source, axis, at, build_const(b, i + 1), 1);
    Node *here = build_op2(b, OP_aten_eq_Tensor, position, which);
    x = build_where(b, here, arg_node(row), arg_node(x));
  }
  return x;
}

Node *decompose_index_copy(Build *b) {
  enum { FEW = 8 };
  Node *x = build_self(b), *index = build_input(b, "index"), *source = build_input(b, "source");
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  Dim count = value_numel(b->in.g, &index->type);
  if (rank_of(x) && dim_is_int(count) && count->value <= FEW)
    return copy_few(b, x, index, source, axis, count->value);
  return put_slices(b, source, false);
}

/* ---- index_put ---- */

/* The elements that x[indices] selects: the axes, and the layout of the values. */
typedef struct {
  Node *x, *values;
  Node *index[GRAPH_RANK_MAX]; /* by axis of x; NULL: all of it */
  uint32_t set;                /* the axes that are indexed */
  uint32_t position;           /* of the indices' axes among those of the values */
  Dim shape[GRAPH_RANK_MAX];   /* of the indices, broadcast */
  uint32_t rank;
} Put;

static Put put_new(Build *b, Node **index, uint32_t n) {
  Put p = {.x = build_self(b), .values = build_input(b, "values")};
  Operand operands[GRAPH_RANK_MAX];
  uint32_t count = 0, first = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!index[i]) continue;
    if (!p.set) first = i;
    p.index[i] = index[i];
    p.set |= 1u << i;
    operands[count++] = infer_tensor_operand(&index[i]->type);
  }
  p.rank = infer_broadcast(&b->in, operands, count, p.shape);
  bool together = p.set >> first == (1u << count) - 1;
  p.position = together ? first : 0;
  return p;
}

/* The number of the row that each of the indices names. */
static Node *rows_named(Build *b, const Put *p) {
  Node *row = NULL;
  Dim stride = build_const(b, 1);
  for (uint32_t i = rank_of(p->x); i-- > 0;) {
    if (!p->index[i]) continue;
    Dim size = p->x->type.shape[i];
    Node *at = build_mul_dim(b, scatter_from_start(b, p->index[i], size), stride);
    row = row ? build_add(b, at, row) : at;
    stride = dim_mul(build_dims(b), stride, size);
  }
  return build_flat(b, build_expand(b, row, p->rank, p->shape));
}

/* The values as [M, elements of a row]; they have the axes of `index` after `position` others. */
static Node *rows_of_values(Build *b, const Put *p, const Dim *index, uint32_t nindex) {
  Dim shape[2 * GRAPH_RANK_MAX];
  uint32_t rank = 0, first = 0;
  for (uint32_t i = 0, kept = 0; i <= rank_of(p->x); i++) {
    if (kept == p->position && (i == 0 || !(p->set >> (i - 1) & 1))) {
      first = rank;
      memcpy(shape + rank, index, nindex * sizeof *shape);
      rank += nindex;
    }
    if (i == rank_of(p->x) || p->set >> i & 1) continue;
    shape[rank++] = p->x->type.shape[i];
    kept++;
  }
  Node *values = build_expand(b, p->values, rank, shape);
  return indexed_rows(b, values, ((1u << nindex) - 1) << first).x;
}

/* Sums on a CPU where axes next to each other are indexed; NULL: others are. */
static Node *add_in_place(Build *b, const Put *p, Node *row) {
  uint32_t first = (uint32_t)__builtin_ctz(p->set), count = (uint32_t)__builtin_popcount(p->set);
  bool together = p->set >> first == (1u << count) - 1;
  Dim shape[2 * GRAPH_RANK_MAX];
  uint32_t rank = 0;
  if (!b->in.g->host || !together || rank_of(p->x) - count + p->rank > GRAPH_RANK_MAX) return NULL;
  for (uint32_t i = 0; i < first; i++) shape[rank++] = p->x->type.shape[i];
  for (uint32_t i = 0; i < p->rank; i++) shape[rank++] = p->shape[i];
  for (uint32_t i = first + count; i < rank_of(p->x); i++) shape[rank++] = p->x->type.shape[i];
  Node *values = build_expand(b, p->values, rank, shape);
  return scatter_empty(b, values) ? p->x : add_along(b, p->x, p->set, row, values);
}

Node *decompose_index_put(Build *b) {
  uint32_t n;
  Node **index = build_inputs(b, "indices", &n);
  bool accumulate = infer_bool(&b->in, "accumulate");
  for (uint32_t i = 0; i < n; i++)
    if (scatter_is_mask(index[i])) return decompose_masked_put(b);
  Put p = put_new(b, index, n);
  Node *row = rows_named(b, &p), *sum = accumulate && p.set ? add_in_place(b, &p, row) : NULL;
  if (sum) return build_finished(b, sum);
  Rows r = indexed_rows(b, p.x, p.set);
  bool one = dim_is(value_numel(b->in.g, &p.values->type), 1);
  if (one && !accumulate && !scatter_empty(b, row)) return fill_rows(b, &r, row, p.values);
  return put_rows(b, &r, row, rows_of_values(b, &p, p.shape, p.rank), accumulate);
}

/* ---- views that are written to ---- */

/* Elements [.., n] of x's axes but two, and along a diagonal of these: along x's axis `kept`, the
 * same in each place along `gone`. */
static Node *along_diagonal(Build *b, Node *elements, const Node *x, uint32_t kept, uint32_t gone) {
  uint32_t rank = rank_of(x), last = rank_of(elements) - 1, axes[GRAPH_RANK_MAX], to = 0;
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0, other = 0; i < rank; i++) {
    shape[i] = i == gone ? build_const(b, 1) : x->type.shape[i];
    uint32_t from = i == kept || i == gone ? last : other++;
    if (i != gone) axes[to++] = from;
  }
  Arg pads = arg_list(b->in.g, 2);
  pads.items[0] = build_int(b, 0);
  pads.items[1] = arg_dim(dim_sub(build_dims(b), shape[kept], elements->type.shape[last]));
  elements = build(b, OP_aten_constant_pad_nd_default,
                   ARGS(arg_node(elements), pads, build_int(b, 0)));
  return build_view(b, build_permute(b, elements, axes), rank, shape);
}

/* An element is the diagonal's where its column less its row is `offset`. */
Node *decompose_diagonal_scatter(Build *b) {
  Node *x = build_self(b), *src = build_input(b, "src");
  uint32_t rank = rank_of(x), row = infer_axis_arg(&b->in, "dim1", rank);
  uint32_t column = infer_axis_arg(&b->in, "dim2", rank);
  int64_t offset = infer_int(&b->in, "offset");
  if (scatter_empty(b, src)) return x;
  uint32_t kept = offset < 0 ? column : row, gone = offset < 0 ? row : column;
  src = along_diagonal(b, build_to(b, src, x->type.dtype), x, kept, gone);
  Node *at = build_sub(b, build_along(b, build_arange(b, x->type.shape[column]), column, rank),
                       build_along(b, build_arange(b, x->type.shape[row]), row, rank));
  Node *inside = build_with(b, OP_aten_eq_Scalar, at, build_int(b, offset));
  return build_finished(b, build_where(b, inside, arg_node(src), arg_node(x)));
}

/* ---- what max pooling took apart ---- */

/* Each element goes to its index in its plane, where all others are 0. */
Node *decompose_max_unpool(Build *b) {
  Node *x = build_self(b), *index = build_input(b, "indices");
  const ValueType *t = &b->in.n->type;
  uint32_t lead = rank_of(x) - (infer_takes(&b->in, "stride") ? 3 : 2);
  uint32_t inner = all_axes(x) & ~((1u << lead) - 1);
  Dim planes = build_count(b, x, all_axes(x) & ~inner), size = build_const(b, 1);
  for (uint32_t i = lead; i < t->rank; i++) size = dim_mul(build_dims(b), size, t->shape[i]);
  Dim shape[] = {planes, build_count(b, x, inner)}, all = dim_mul(build_dims(b), planes, size);
  Node *plane = build_mul_dim(b, build_along(b, build_arange(b, planes), 0, 2), size);
  Node *indices = build_add(b, plane, build_view(b, index, 2, shape));
  Node *none = build_full(b, 1, &all, build_int(b, 0), t->dtype);
  if (scatter_empty(b, x)) return build_finished(b, none);
  Node *writer = scatter_writers(b, all, indices);
  return build_finished(b, scatter_take(b, none, writer, build_flat(b, x)));
}
