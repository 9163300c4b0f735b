#include <string.h>

#include "graph/ops/graph_text.h"
#include "import/messages.h"
#include "import/pt2/pt2_read.h"
#include "import/pt2/sympy.h"

/* ---- dtypes ---- */

/* The schema's ScalarType. */
static const struct {
  int number;
  const char *name;
} dtypes[] = {{1, "uint8"},
              {2, "int8"},
              {3, "int16"},
              {4, "int32"},
              {5, "int64"},
              {6, "float16"},
              {7, "float32"},
              {8, "float64"},
              {9, "complex32"},
              {10, "complex64"},
              {11, "complex128"},
              {12, "bool"},
              {13, "bfloat16"},
              {28, "uint16"},
              {29, "float8_e4m3fn"},
              {30, "float8_e5m2"},
              {31, "float8_e4m3fnuz"},
              {32, "float8_e5m2fnuz"}};

const char *pt2_dtype_name(int64_t number) {
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (dtypes[i].number == number) return dtypes[i].name;
  return NULL;
}

/* Ours, of complex numbers that of their parts; DT_NONE if we lack it. */
static DType find_dtype(Pt2 *r, int64_t number, bool *is_complex) {
  const char *name = pt2_dtype_name(number);
  DType t = name ? dtype_from_torch(name, strlen(name)) : DT_NONE;
  DType part = name ? complex_from_torch(name, strlen(name)) : DT_NONE;
  *is_complex = part != DT_NONE;
  if (*is_complex) t = part;
  if (!name) name = arena_printf(r->arena, "number %lld", (long long)number);
  if (!t) pt2_lack(r, E_GRAPH_PT2_DTYPE, name);
  return t;
}

/* ---- sizes ---- */

/* The size that it had when the program was exported. */
static void note_likely(Pt2 *r, const Json *expr, Dim size) {
  const Json *hint = json_get(expr, "hint");
  const Json *n = json_is(hint, JSON_OBJECT) ? json_get(hint, "as_int") : NULL;
  if (size->kind == DIM_SYMBOL && json_is(n, JSON_INTEGER) && n->integer > 0)
    dim_set_likely(r->graph->dims, size, n->integer);
}

/* A SymInt: {"as_int": 3} or {"as_expr": {"expr_str": ..., "hint": {"as_int": 3}}}.  *why: there is
 * no such expression among ours, *text. */
static bool read_sym_int(Pt2 *r, const Json *in, Dim *out, const char **text, const char **why) {
  const Json *value;
  const char *kind = pt2_union(r, in, &value);
  *why = NULL;
  if (!kind) return false;
  if (!strcmp(kind, "as_int")) {
    int64_t n;
    if (!pt2_int(r, in, "as_int", &n)) return false;
    *out = dim_int(r->graph->dims, n);
    return true;
  }
  if (strcmp(kind, "as_expr")) return pt2_fail(r, E_GRAPH_PT2_SIZE_KIND, kind);
  *text = pt2_string(r, value, "expr_str");
  if (!*text) return false;
  *out = sympy_read(r->graph->dims, r->arena, *text, why);
  if (*out && (*out)->kind == DIM_HUGE) *why = "it overflows";
  if (!*why) note_likely(r, value, *out);
  return true;
}

static bool read_tensor_size(Pt2 *r, const Json *in, Dim *out) {
  const char *text, *why;
  bool ok = read_sym_int(r, in, out, &text, &why);
  return ok && (!why || pt2_fail(r, E_GRAPH_PT2_SIZE, text, why));
}

/* The value of an integer, which the graph may compute from sizes as no size of ours is. */
static bool read_number_value(Pt2 *r, const Json *in, Dim *out) {
  const char *text, *why;
  bool ok = read_sym_int(r, in, out, &text, &why);
  if (why) *out = NULL;
  return ok;
}

bool pt2_tensor_type(Pt2 *r, const Json *meta, ValueType *out) {
  int64_t dtype, layout;
  *out = (ValueType){.kind = VALUE_UNKNOWN};
  if (!pt2_int(r, meta, "dtype", &dtype) || !pt2_int(r, meta, "layout", &layout)) return false;
  bool is_complex;
  DType type = find_dtype(r, dtype, &is_complex);
  if (!type) return true;
  if (layout != PT2_STRIDED) return pt2_lack(r, E_GRAPH_PT2_LAYOUT);
  const Json *sizes = pt2_array(r, meta, "sizes");
  if (!sizes) return false;
  size_t rank = json_length(sizes);
  if (rank > GRAPH_RANK_MAX) return pt2_fail(r, E_GRAPH_PT2_RANK, rank, GRAPH_RANK_MAX);
  Dim shape[GRAPH_RANK_MAX];
  for (size_t i = 0; i < rank; i++) {
    if (!read_tensor_size(r, json_item(sizes, i), &shape[i])) return false;
    if (dim_range(r->graph->dims, shape[i]).hi < 0) return pt2_fail(r, E_GRAPH_PT2_NEGATIVE);
  }
  *out = value_tensor(r->graph, type, (uint32_t)rank, shape);
  out->is_complex = is_complex;
  return true;
}

/* ---- types of values ---- */

static const Json *find_types(Pt2 *r, const Json *graph, const char *key) {
  return pt2_has(graph, key) ? pt2_object(r, graph, key) : json_get(graph, key);
}

bool pt2_types(Pt2 *r, const Json *graph) {
  r->scope.tensors = pt2_object(r, graph, "tensor_values");
  if (!r->scope.tensors) return false;
  r->scope.ints = find_types(r, graph, "sym_int_values");
  r->scope.floats = find_types(r, graph, "sym_float_values");
  r->scope.bools = find_types(r, graph, "sym_bool_values");
  return true;
}

/* A SymBool that is no constant: sympy's text of it, where we know it. */
static bool read_symbolic_bool(Pt2 *r, const Json *in, ValueType *out) {
  const Json *value;
  const char *kind = pt2_union(r, in, &value);
  if (!kind || strcmp(kind, "as_expr")) return kind;
  const char *text = pt2_string(r, value, "expr_str");
  if (text) out->symbolic = sympy_relation(r->graph->dims, r->arena, text);
  return text;
}

static const Json *find_value_type(Pt2 *r, const Json *types, const char *table, Name name) {
  const Json *t = json_get(types, name);
  if (!json_is(t, JSON_OBJECT)) pt2_fail(r, E_GRAPH_PT2_NO_TYPE, name, table);
  return json_is(t, JSON_OBJECT) ? t : NULL;
}

bool pt2_value_type(Pt2 *r, const char *kind, Name name, ValueType *out) {
  const Json *t;
  *out = (ValueType){.kind = VALUE_UNKNOWN};
  if (!strcmp(kind, "as_tensor"))
    return (t = find_value_type(r, r->scope.tensors, "tensor_values", name)) &&
           pt2_tensor_type(r, t, out);
  if (!strcmp(kind, "as_sym_int")) {
    out->kind = VALUE_INT;
    return (t = find_value_type(r, r->scope.ints, "sym_int_values", name)) &&
           read_number_value(r, t, &out->value);
  }
  if (!strcmp(kind, "as_sym_float")) {
    out->kind = VALUE_FLOAT;
    return find_value_type(r, r->scope.floats, "sym_float_values", name);
  }
  out->kind = VALUE_BOOL; /* as_sym_bool */
  return (t = find_value_type(r, r->scope.bools, "sym_bool_values", name)) &&
         read_symbolic_bool(r, t, out);
}

/* ---- ranges of symbols ---- */

/* A limit that may be null or absent. */
static bool read_limit(Pt2 *r, const Json *range, const char *key, int64_t *out) {
  return !pt2_has(range, key) || pt2_int(r, range, key, out);
}

bool pt2_ranges(Pt2 *r, const Json *program) {
  const Json *ranges = pt2_object(r, program, "range_constraints");
  if (!ranges) return false;
  for (uint32_t i = 0; i < ranges->n; i++) {
    const char *symbol = json_member(ranges, i)->key;
    const Json *range = &json_member(ranges, i)->value;
    /* Ranges of expressions follow from those of their symbols. */
    if (!pt2_identifier(symbol) || strlen(symbol) > PT2_NAME_MAX) continue;
    r->where = arena_printf(r->arena, "range of %s", symbol);
    DimRange limit = {INT64_MIN, INT64_MAX};
    if (!json_is(range, JSON_OBJECT)) return pt2_fail(r, E_GRAPH_PT2_ROOT);
    if (!read_limit(r, range, "min_val", &limit.lo)) return false;
    if (!read_limit(r, range, "max_val", &limit.hi)) return false;
    Dim d = dim_symbol(r->graph->dims, pool_name(r->names, symbol));
    if (!dim_limit(r->graph->dims, d, limit))
      return pt2_fail(r, E_GRAPH_PT2_RANGE, (long long)limit.lo, (long long)limit.hi);
  }
  return true;
}
