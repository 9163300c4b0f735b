/* Arguments, axes and sizes, as rules ask for them, and results, as rules set them. */
#include <float.h>
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

_Noreturn void infer_fail(Infer *in, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(in->g->arena, fmt, ap);
  va_end(ap);
  const char *name = in->n->name ? in->n->name : "?";
  const char *op = in->foreign ? in->foreign : in->n->op ? in->n->op->target : "getitem";
  diag_error(in->g->diags, in->n->location, E_GRAPH_INFER, name, op, text);
  diag_format(in->g->diags, fmt);
  longjmp(in->failed, 1);
}

/* ---- arguments ---- */

bool infer_takes(const Infer *in, const char *param) { return ops_param(in->schema, param) >= 0; }

bool infer_has(Infer *in, const char *param) {
  return infer_takes(in, param) && graph_arg(in->g, in->n, param).kind != ARG_NONE;
}

static const ValueType *tensor_of(Infer *in, const Arg *a, const char *param) {
  if (a->kind != ARG_NODE || a->node->type.kind != VALUE_TENSOR)
    infer_fail(in, E_GRAPH_NO_TENSOR, param);
  return &a->node->type;
}

const ValueType *infer_tensor(Infer *in, const char *param) {
  Arg a = graph_arg(in->g, in->n, param);
  return tensor_of(in, &a, param);
}

const ValueType *infer_optional_tensor(Infer *in, const char *param) {
  return infer_has(in, param) ? infer_tensor(in, param) : NULL;
}

const ValueType *infer_self(Infer *in) { return infer_tensor(in, in->schema->params[0].name); }

static const ValueType **list_item_types(Infer *in, const ValueType *list, uint32_t *n) {
  *n = list->nitems;
  const ValueType **items = ARENA_ARRAY(in->g->arena, const ValueType *, list->nitems);
  for (uint32_t i = 0; i < list->nitems; i++) items[i] = &list->items[i];
  return items;
}

const ValueType **infer_tensors(Infer *in, const char *param, uint32_t *n) {
  Arg a = graph_arg(in->g, in->n, param);
  if (a.kind == ARG_NODE) return list_item_types(in, &a.node->type, n);
  *n = a.n;
  const ValueType **items = ARENA_ARRAY(in->g->arena, const ValueType *, a.n);
  for (uint32_t i = 0; i < a.n; i++)
    if (a.items[i].kind != ARG_NONE) items[i] = tensor_of(in, &a.items[i], param);
  return items;
}

Dim infer_dim_of(Infer *in, const Arg *a) {
  switch (a->kind) {
    case ARG_INT: return a->dim;
    case ARG_BOOL: return infer_const(in, a->flag);
    case ARG_NODE: break;
    default: return infer_unknown(in);
  }
  Dim value = a->node->type.kind == VALUE_INT ? a->node->type.value : NULL;
  return value ? value : infer_unknown(in);
}

Dim infer_size(Infer *in, const char *param) {
  Arg a = graph_arg(in->g, in->n, param);
  return infer_dim_of(in, &a);
}

uint32_t infer_sizes(Infer *in, const char *param, Dim *out) {
  Arg a = graph_arg(in->g, in->n, param);
  uint32_t repeat = in->schema->params[ops_param(in->schema, param)].repeat;
  if (a.kind == ARG_NONE) return 0;
  if (a.kind != ARG_LIST) {
    for (uint32_t i = 0; i < repeat; i++) out[i] = infer_dim_of(in, &a);
    return repeat;
  }
  if (a.n > GRAPH_RANK_MAX) infer_fail(in, E_GRAPH_RANK, (int)GRAPH_RANK_MAX);
  for (uint32_t i = 0; i < a.n; i++) out[i] = infer_dim_of(in, &a.items[i]);
  return a.n;
}

static int64_t literal_size(Infer *in, Dim d, const char *param) {
  if (!dim_is_int(d)) infer_fail(in, E_GRAPH_LITERAL, param, infer_dim_text(in, d));
  return d->value;
}

int64_t infer_int(Infer *in, const char *param) {
  return literal_size(in, infer_size(in, param), param);
}

uint32_t infer_ints(Infer *in, const char *param, int64_t *out) {
  Dim sizes[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, param, sizes);
  for (uint32_t i = 0; i < n; i++) out[i] = literal_size(in, sizes[i], param);
  return n;
}

bool infer_bool(Infer *in, const char *param) {
  if (!infer_has(in, param)) return false;
  Arg a = graph_arg(in->g, in->n, param);
  return a.kind == ARG_BOOL ? a.flag : a.kind == ARG_INT && !dim_is(a.dim, 0);
}

double infer_number_of(Infer *in, const Arg *a, const char *param) {
  if (a->kind == ARG_FLOAT) return a->number;
  return (double)literal_size(in, infer_dim_of(in, a), param);
}

double infer_number(Infer *in, const char *param) {
  Arg a = graph_arg(in->g, in->n, param);
  return infer_number_of(in, &a, param);
}

Name infer_string(Infer *in, const char *param) {
  return infer_has(in, param) ? graph_arg(in->g, in->n, param).name : "";
}

double dtype_largest_finite(DType t) {
  switch (t) {
    case DT_F16: return 65504;
    case DT_BF16: return 0x1.FEp127;
    case DT_F64: return DBL_MAX;
    default: return FLT_MAX;
  }
}

DType infer_dtype(Infer *in, const char *param, DType otherwise) {
  if (!infer_has(in, param)) return otherwise;
  Arg a = graph_arg(in->g, in->n, param);
  if (a.dtype == DT_NONE) infer_fail(in, E_GRAPH_NO_DTYPE, a.name ? a.name : "?");
  return a.dtype;
}

/* ---- axes ---- */

uint32_t infer_axis(Infer *in, int64_t dim, uint32_t rank) {
  int64_t n = rank ? rank : 1;
  if (dim < -n || dim >= n) infer_fail(in, E_GRAPH_AXIS, (long long)dim, rank);
  return (uint32_t)(dim < 0 ? dim + n : dim);
}

uint32_t infer_axis_arg(Infer *in, const char *param, uint32_t rank) {
  return infer_axis(in, infer_int(in, param), rank);
}

uint32_t infer_axes_arg(Infer *in, const char *param, uint32_t rank) {
  uint32_t all = (1u << rank) - 1, set = 0;
  if (!infer_has(in, param)) return all;
  Arg a = graph_arg(in->g, in->n, param);
  if (a.kind != ARG_LIST) return 1u << infer_axis_arg(in, param, rank);
  int64_t dims[GRAPH_RANK_MAX];
  uint32_t n = infer_ints(in, param, dims);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t bit = 1u << infer_axis(in, dims[i], rank);
    if (set & bit) infer_fail(in, E_GRAPH_AXIS_TWICE, (long long)dims[i]);
    set |= bit;
  }
  return n ? set : all;
}

bool infer_reduces(Infer *in) {
  enum { NONE, MEAN, SUM };
  int64_t reduction = infer_int(in, "reduction");
  if (reduction < NONE || reduction > SUM) infer_fail(in, E_GRAPH_REDUCTION, (long long)reduction);
  return reduction != NONE;
}

void infer_rank(Infer *in, const ValueType *x, uint32_t least, uint32_t most) {
  if (x->rank >= least && x->rank <= most) return;
  if (least == most) infer_fail(in, E_GRAPH_AXES_EXACT, least, infer_type_text(in, x));
  infer_fail(in, E_GRAPH_AXES, least, most, infer_type_text(in, x));
}

/* ---- sizes ---- */

Dim infer_new_symbol(Graph *g) {
  Dims *d = g->dims;
  for (uint32_t i = dims_symbols(d);; i++) {
    Name name = pool_name(g->names, arena_printf(g->arena, "u%u", i));
    if (!dims_symbol_named(d, name) && !graph_find(g, name)) return dim_symbol(d, name);
  }
}

Dim infer_unknown(Infer *in) { return infer_new_symbol(in->g); }

bool infer_may_equal(Graph *g, Dim a, Dim b) {
  if (a == b) return true;
  DimRange r = dim_range(g->dims, dim_sub(g->dims, a, b));
  return r.lo <= 0 && r.hi >= 0;
}

static void note_relation(Graph *g, SizeRelation new) {
  enum { COMPARED = 1024 }; /* models have a few; a hostile one may have doubles */
  if (!g->notes_relations) return;
  for (size_t i = 0; i < g->relations.len && i < COMPARED; i++) {
    const SizeRelation *r = &g->relations.data[i];
    if (r->a == new.a && r->b == new.b && r->kind == new.kind) return;
  }
  vec_push(g->arena, &g->relations, new);
}

void infer_note_equal(Graph *g, Dim a, Dim b, Name node) {
  if (a != b) note_relation(g, (SizeRelation){a, b, node ? node : "?", SIZES_EQUAL});
}

static Name name_of(const Infer *in) { return in->n && in->n->name ? in->n->name : "?"; }

bool infer_at_least(Infer *in, Dim a, Dim b) {
  DimRange rest = dim_range(in->g->dims, dim_sub(in->g->dims, a, b));
  if (rest.hi < 0) return false;
  if (rest.lo < 0) note_relation(in->g, (SizeRelation){a, b, name_of(in), SIZE_AT_LEAST});
  return true;
}

bool infer_differs(Infer *in, Dim a, Dim b) {
  if (a == b) return false;
  if (infer_may_equal(in->g, a, b))
    note_relation(in->g, (SizeRelation){a, b, name_of(in), SIZES_DIFFER});
  return true;
}

void infer_some(Infer *in, const ValueType *x, uint32_t n, const Dim *sizes) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t axis = x->rank - n + i;
    if (dim_range(in->g->dims, sizes[i]).lo < 1) continue;
    if (!infer_at_least(in, x->shape[axis], infer_const(in, 1)))
      infer_fail(in, E_GRAPH_NOTHING, axis, infer_type_text(in, x));
  }
}

bool infer_equal(Infer *in, Dim a, Dim b) {
  if (!infer_may_equal(in->g, a, b)) return false;
  infer_note_equal(in->g, a, b, in->n->name);
  return true;
}

Dim infer_same_size(Infer *in, Dim a, Dim b, const char *what) {
  if (!infer_equal(in, a, b))
    infer_fail(in, E_GRAPH_SIZES, what, infer_dim_text(in, a), infer_dim_text(in, b));
  return dim_is_int(b) ? b : a;
}

Dim infer_product(Infer *in, const Dim *sizes, uint32_t n) {
  Dim p = infer_const(in, 1);
  for (uint32_t i = 0; i < n; i++) p = dim_mul(in->g->dims, p, sizes[i]);
  return p;
}

Dim infer_exact_div(Infer *in, Dim a, int64_t b) {
  Dim divisor = infer_const(in, b), quotient = dim_floordiv(in->g->dims, a, divisor);
  if (!infer_equal(in, a, dim_mul(in->g->dims, quotient, divisor)))
    infer_fail(in, E_GRAPH_DIVIDE, infer_dim_text(in, a), (long long)b);
  return quotient;
}

Dim infer_ceil_div(Infer *in, Dim a, Dim b) {
  Dims *d = in->g->dims;
  return dim_floordiv(d, dim_add(d, a, dim_sub(d, b, infer_const(in, 1))), b);
}

const char *infer_dim_text(Infer *in, Dim d) {
  Text t = text_new(in->g->arena);
  dim_print(&t, d);
  return t.data;
}

const char *infer_shape_text(Infer *in, const Dim *shape, uint32_t rank) {
  Text t = text_new(in->g->arena);
  text_puts(&t, "[");
  for (uint32_t i = 0; i < rank; i++) {
    if (i) text_puts(&t, ", ");
    dim_print(&t, shape[i]);
  }
  text_puts(&t, "]");
  return t.data;
}

const char *infer_type_text(Infer *in, const ValueType *x) {
  Text t = text_new(in->g->arena);
  value_type_print(&t, x);
  return t.data;
}

/* ---- results ---- */

ValueType infer_type(Infer *in, DType dtype, uint32_t rank, const Dim *shape) {
  if (rank > GRAPH_RANK_MAX) infer_fail(in, E_GRAPH_RANK, (int)GRAPH_RANK_MAX);
  for (uint32_t i = 0; i < rank; i++)
    if (dim_is_int(shape[i]) && shape[i]->value < 0)
      infer_fail(in, E_GRAPH_NEGATIVE, infer_shape_text(in, shape, rank));
  return value_tensor(in->g, dtype, rank, shape);
}

void infer_set(Infer *in, DType dtype, uint32_t rank, const Dim *shape) {
  in->result = infer_type(in, dtype, rank, shape);
}

void infer_set_like(Infer *in, DType dtype, const ValueType *x) {
  in->result = *x;
  in->result.dtype = dtype;
}

void infer_set_list(Infer *in, uint32_t n, const ValueType *items) {
  ValueType *copy = ARENA_ARRAY(in->g->arena, ValueType, n);
  if (n) memcpy(copy, items, n * sizeof *copy);
  in->result = (ValueType){.kind = VALUE_LIST, .items = copy, .nitems = n};
}

void infer_set_pair(Infer *in, ValueType a, ValueType b) {
  infer_set_list(in, 2, (ValueType[]){a, b});
}

/* ---- like x ---- */

uint32_t infer_copy_shape(const ValueType *x, Dim *shape) {
  if (x->rank) memcpy(shape, x->shape, x->rank * sizeof *shape);
  return x->rank;
}

void infer_set_axis(Infer *in, const ValueType *x, uint32_t axis, Dim size) {
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(x, shape);
  if (x->rank) shape[axis] = size;
  infer_set(in, x->dtype, x->rank, shape);
}

void infer_insert_axis(Infer *in, const ValueType *x, uint32_t axis, Dim size) {
  Dim shape[GRAPH_RANK_MAX + 1];
  for (uint32_t i = 0; i < x->rank; i++) shape[i + (i >= axis)] = x->shape[i];
  shape[axis] = size;
  infer_set(in, x->dtype, x->rank + 1, shape);
}

void infer_remove_axes(Infer *in, const ValueType *x, uint32_t set) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!(set >> i & 1)) shape[n++] = x->shape[i];
  infer_set(in, x->dtype, n, shape);
}

Dim infer_axis_size(Infer *in, const ValueType *x, uint32_t axis) {
  return x->rank ? x->shape[axis] : infer_const(in, 1);
}
