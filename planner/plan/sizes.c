#include "planner/plan/sizes.h"

#include <stdio.h>
#include <string.h>

#include "planner/messages.h"
#include "runtime/support/array.h"
#include "runtime/support/error.h"

/* ---- what is known ---- */

static uint32_t count_inputs(const Plan *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nbuffers; i++)
    if (p->buffers[i].kind == BUFFER_INPUT && p->buffers[i].number >= n)
      n = p->buffers[i].number + 1;
  return n;
}

Sizes *sizes_new(Arena *a, const Plan *p) {
  Sizes *s = ARENA_NEW(a, Sizes);
  s->arena = a;
  s->plan = p;
  s->ninputs = count_inputs(p);
  s->inputs = ARENA_ARRAY(a, const PlanBuffer *, s->ninputs);
  for (uint32_t i = 0; i < p->nbuffers; i++)
    if (p->buffers[i].kind == BUFFER_INPUT) s->inputs[p->buffers[i].number] = &p->buffers[i];
  s->nsymbols = dims_symbols(p->graph->dims);
  s->values = ARENA_ARRAY(a, int64_t, s->nsymbols);
  s->known = ARENA_ARRAY(a, bool, s->nsymbols);
  s->unread = ARENA_ARRAY(a, bool, s->nsymbols);
  s->ranges = ARENA_ARRAY(a, DimRange, s->nsymbols);
  s->from = ARENA_ARRAY(a, SizeSource, s->nsymbols);
  return s;
}

static bool dim_uses_symbol(Dim x, Dim symbol) {
  bool found = x == symbol;
  for (uint32_t i = 0; i < x->n && !found; i++) found = dim_uses_symbol(x->args[i], symbol);
  return found;
}

/* How many symbols of x are not known, at most 2; *which: one of them. */
static uint32_t unknown_in(const Sizes *s, Dim x, Dim *which) {
  if (x->kind == DIM_SYMBOL) {
    if (x->symbol < s->nsymbols && s->known[x->symbol]) return 0;
    uint32_t n = *which == x ? 0 : 1;
    *which = x;
    return n;
  }
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->n && n < 2; i++) n += unknown_in(s, x->args[i], which);
  return n;
}

static bool are_symbols_known(const Sizes *s, Dim x) {
  Dim open = NULL;
  return x->kind != DIM_HUGE && !unknown_in(s, x, &open);
}

bool sizes_eval(const Sizes *s, Dim x, int64_t *out) {
  *out = 0;
  return are_symbols_known(s, x) && dim_eval(x, s->values, out);
}

static const char *dim_text(const Sizes *s, char *out, size_t size, Dim x) {
  Arena *scratch = arena_child(s->arena);
  Text t = text_new(scratch);
  dim_print(&t, x);
  snprintf(out, size, "%s", t.data);
  arena_free(scratch);
  return out;
}

int sizes_shape(const Sizes *s, const PlanBuffer *b, int64_t *shape) {
  char text[128];
  for (uint32_t i = 0; i < b->rank; i++)
    if (!sizes_eval(s, b->shape[i], &shape[i]) || shape[i] < 0)
      return error_set(NEREID_E_USAGE, E_GRAPH_NO_SIZE, b->name, i,
                       dim_text(s, text, sizeof text, b->shape[i]));
  return 0;
}

/* ---- what inputs say ---- */

static bool is_tensor_given(const nereid_tensor *t) { return t->dtype.bits != 0; }

static int64_t given_at(const PlanBuffer *b, const nereid_tensor *t, uint32_t axis) {
  int64_t number;
  if (!b->value) return t->shape[axis];
  memcpy(&number, (const char *)t->data + t->byte_offset, sizeof number);
  return number;
}

/* A size in a message.  Exporters call symbols as they like, so those that are an axis of an input
 * are named by it, "x[0] (s77)". */
static const char *dim_size_text(const Sizes *s, char *out, size_t size, Dim x) {
  bool bound = x->kind == DIM_SYMBOL && are_symbols_known(s, x) && s->ninputs;
  SizeSource at = bound ? s->from[x->symbol] : (SizeSource){0};
  const PlanBuffer *b = bound ? s->inputs[at.input] : NULL;
  if (!b || at.axis >= plan_axes(b) || plan_axis_size(b, at.axis) != x)
    return dim_text(s, out, size, x);
  if (b->value) snprintf(out, size, "%s (%s)", plan_passed_name(b), x->name);
  else snprintf(out, size, "%s[%u] (%s)", plan_passed_name(b), at.axis, x->name);
  return out;
}

enum { AXIS_TEXT_MAX = 192 };

/* "input 0 (x): axis 1", or for a number "input 0 (n)". */
static const char *axis_text(const Sizes *s, char out[AXIS_TEXT_MAX], SizeSource at) {
  const PlanBuffer *b = s->inputs[at.input];
  Name name = plan_passed_name(b);
  if (b->value) snprintf(out, AXIS_TEXT_MAX, "input %u (%.128s)", at.input, name);
  else snprintf(out, AXIS_TEXT_MAX, "input %u (%.128s): axis %u", at.input, name, at.axis);
  return out;
}

static const char *source_text(const Sizes *s, char out[AXIS_TEXT_MAX], SizeSource at) {
  const PlanBuffer *b = s->inputs[at.input];
  if (b->value) return axis_text(s, out, at);
  Name name = plan_passed_name(b);
  snprintf(out, AXIS_TEXT_MAX, "axis %u of input %u (%.128s)", at.axis, at.input, name);
  return out;
}

/* ---- binding ---- */

static int bind_symbol(Sizes *s, Dim symbol, int64_t value, SizeSource at) {
  DimRange r = dim_range(s->plan->graph->dims, symbol);
  char where[AXIS_TEXT_MAX];
  if (value < r.lo || value > r.hi)
    return error_set(NEREID_E_USAGE, r.hi == INT64_MAX ? E_GRAPH_INPUT_LEAST : E_GRAPH_INPUT_RANGE,
                     axis_text(s, where, at), (long long)value, symbol->name, (long long)r.lo,
                     (long long)r.hi);
  s->values[symbol->symbol] = value;
  s->known[symbol->symbol] = true;
  s->from[symbol->symbol] = at;
  return 0;
}

/* x, which is linear in its one unknown symbol, shall be `value`: *out is what the symbol must be
 * then.  The evaluation of x verifies that it is linear. */
static bool solve_for_symbol(Sizes *s, Dim x, Dim symbol, int64_t value, int64_t *out) {
  int64_t *guess = &s->values[symbol->symbol], at0, at1, slope, rest;
  *guess = 0;
  if (!dim_eval(x, s->values, &at0)) return false;
  *guess = 1;
  if (!dim_eval(x, s->values, &at1)) return false;
  if (__builtin_sub_overflow(at1, at0, &slope) || slope == 0) return false;
  if (__builtin_sub_overflow(value, at0, &rest) || (slope == -1 && rest == INT64_MIN)) return false;
  *out = rest / slope;
  return true;
}

static int bind_axis_size(Sizes *s, Dim x, int64_t value, SizeSource at, bool *progress) {
  Dim symbol = NULL;
  if (unknown_in(s, x, &symbol) != 1) return 0;
  if (x->kind != DIM_SYMBOL && !solve_for_symbol(s, x, symbol, value, &value)) return 0;
  *progress = true;
  return bind_symbol(s, symbol, value, at);
}

/* Bare symbols first: what they say is not to be solved for. */
static int bind_inputs_once(Sizes *s, const nereid_tensor *inputs, uint32_t n, bool bare,
                            bool *progress) {
  int code = 0;
  for (uint32_t i = 0; i < n; i++) {
    const PlanBuffer *b = s->inputs[i];
    if (!b || !is_tensor_given(&inputs[i])) continue;
    for (uint32_t j = 0; j < plan_axes(b) && !code; j++) {
      Dim x = plan_axis_size(b, j);
      if (dim_is_int(x) || (x->kind == DIM_SYMBOL) != bare) continue;
      code = bind_axis_size(s, x, given_at(b, &inputs[i], j), (SizeSource){i, j}, progress);
    }
  }
  return code;
}

static int bind_all_inputs(Sizes *s, const nereid_tensor *inputs, uint32_t n) {
  bool progress = true;
  for (uint32_t i = 0; i < s->nsymbols; i++) s->known[i] = false;
  int code = bind_inputs_once(s, inputs, n, true, &progress);
  while (progress && !code) {
    progress = false;
    code = bind_inputs_once(s, inputs, n, false, &progress);
  }
  return code;
}

/* ---- checking ---- */

static bool is_number_tensor(const nereid_tensor *t) {
  enum { DL_CPU = 1, DL_CUDA_HOST = 3 };
  bool on_host = t->device.device_type == DL_CPU || t->device.device_type == DL_CUDA_HOST;
  return array_dtype(t->dtype) == DT_I64 && t->ndim == 0 && t->data && on_host;
}

static const char *given_dtype(const nereid_tensor *t) {
  DType got = array_dtype(t->dtype), part = array_complex_part(t->dtype);
  if (got != DT_NONE) return dtype_name(got);
  return part == DT_F32 ? "c64" : part == DT_F64 ? "c128" : "unknown";
}

static int check_kind(const PlanBuffer *b, uint32_t i, const nereid_tensor *t) {
  Name name = plan_passed_name(b);
  if (b->value)
    return is_number_tensor(t) ? 0 : error_set(NEREID_E_USAGE, E_GRAPH_INPUT_NUMBER, i, name);
  if (!plan_takes_dtype(b, t->dtype))
    return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_DTYPE, i, name, given_dtype(t),
                     plan_dtype_name(b));
  if (t->ndim < 0 || (uint32_t)t->ndim != plan_rank(b))
    return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_RANK, i, name, t->ndim, plan_rank(b));
  return 0;
}

static Dim first_symbol(Dim x) {
  Dim found = x->kind == DIM_SYMBOL ? x : NULL;
  for (uint32_t i = 0; i < x->n && !found; i++) found = first_symbol(x->args[i]);
  return found;
}

static int wrong_size(const Sizes *s, SizeSource at, Dim x, int64_t got, int64_t want) {
  char text[128], where[AXIS_TEXT_MAX], from[AXIS_TEXT_MAX];
  axis_text(s, where, at);
  if (dim_is_int(x))
    return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_FIXED, where, (long long)got, (long long)want);
  dim_text(s, text, sizeof text, x);
  if (x->kind != DIM_SYMBOL) {
    Dim of = first_symbol(x);
    SizeSource by = s->from[of->symbol];
    if (by.input == at.input && by.axis == at.axis)
      return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_DERIVED, where, (long long)got, text,
                       (long long)want);
    return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_FOLLOWS, where, (long long)got, text,
                     (long long)want, of->name, (long long)s->values[of->symbol],
                     source_text(s, from, by));
  }
  return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_SIZE, where, (long long)got, text, (long long)want,
                   source_text(s, from, s->from[x->symbol]));
}

static int check_axis_size(const Sizes *s, SizeSource at, int64_t got) {
  const PlanBuffer *b = s->inputs[at.input];
  Dim x = plan_axis_size(b, at.axis);
  int64_t want;
  char text[128];
  if (!sizes_eval(s, x, &want))
    return error_set(NEREID_E_USAGE, E_GRAPH_NO_SIZE, plan_passed_name(b), at.axis,
                     dim_text(s, text, sizeof text, x));
  return got == want ? 0 : wrong_size(s, at, x, got, want);
}

/* A plan takes axes to be equal that have one name; in a run they may differ, unlike those that the
 * file fixes. */
static int check_shapes(Sizes *s, const nereid_tensor *inputs, uint32_t n) {
  int code = 0;
  for (uint32_t i = 0; i < n; i++) {
    const PlanBuffer *b = s->inputs[i];
    if (!b || !is_tensor_given(&inputs[i])) continue;
    for (uint32_t j = 0; j < plan_axes(b) && !code; j++) {
      code = check_axis_size(s, (SizeSource){i, j}, given_at(b, &inputs[i], j));
      s->refused = code && plan_axis_size(b, j)->kind == DIM_SYMBOL;
    }
  }
  return code;
}

static int bind_given(Sizes *s, const nereid_tensor *inputs, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    int code =
        s->inputs[i] && is_tensor_given(&inputs[i]) ? check_kind(s->inputs[i], i, &inputs[i]) : 0;
    if (code) return code;
  }
  return bind_all_inputs(s, inputs, n);
}

static const struct {
  const char *what, *message;
} relations[] = {[SIZES_EQUAL] = {"equal", E_GRAPH_INPUT_EQUAL},
                 [SIZE_AT_LEAST] = {"in order", E_GRAPH_INPUT_SMALL},
                 [SIZES_DIFFER] = {"different", E_GRAPH_INPUT_DIFFER}};

static int check_relation(const Sizes *s, const SizeRelation *r) {
  int64_t a, b;
  char one[128], other[128];
  dim_size_text(s, one, sizeof one, r->a);
  dim_size_text(s, other, sizeof other, r->b);
  if (!sizes_eval(s, r->a, &a) || !sizes_eval(s, r->b, &b))
    return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_UNDEFINED, r->node, one, other,
                     relations[r->kind].what);
  bool holds = r->kind == SIZES_EQUAL ? a == b : r->kind == SIZES_DIFFER ? a != b : a >= b;
  return holds ? 0
               : error_set(NEREID_E_USAGE, relations[r->kind].message, r->node, one, other,
                           (long long)a, (long long)b);
}

static bool has_unread(const Sizes *s, Dim x) {
  bool found = x->kind == DIM_SYMBOL && x->symbol < s->nsymbols && s->unread[x->symbol];
  for (uint32_t i = 0; i < x->n && !found; i++) found = has_unread(s, x->args[i]);
  return found;
}

/* x is *value with unread sizes as large as they can be; it may be larger with smaller ones, as an
 * axis less a size is.  Then *value becomes a bound. */
static void raise_to_bound(const Sizes *s, Dim x, int64_t *value) {
  if (!has_unread(s, x)) return;
  for (uint32_t i = 0; i < s->nsymbols; i++)
    s->ranges[i] = (DimRange){s->unread[i] ? 0 : s->values[i], s->values[i]};
  int64_t most = dim_range_of(s->ranges, x).hi;
  if (most > *value && most < INT64_MAX) *value = most;
}

int sizes_shape_with_room(const Sizes *s, const PlanBuffer *b, int64_t *shape) {
  int code = sizes_shape(s, b, shape);
  for (uint32_t i = 0; i < b->rank && !code; i++) raise_to_bound(s, b->shape[i], &shape[i]);
  return code;
}

static bool is_settled(const Sizes *s, Dim x) {
  return are_symbols_known(s, x) && !has_unread(s, x);
}

/* The relations of sizes that are known by now, of a symbol or of all (NULL). */
static int check_relations(const Sizes *s, Dim of) {
  const Graph *g = s->plan->graph;
  int code = 0;
  for (size_t i = 0; i < g->relations.len && !code; i++) {
    const SizeRelation *r = &g->relations.data[i];
    if (of && !dim_uses_symbol(r->a, of) && !dim_uses_symbol(r->b, of)) continue;
    if (is_settled(s, r->a) && is_settled(s, r->b)) code = check_relation(s, r);
  }
  return code;
}

/* ---- sizes that data decides ---- */

static void set_size(Sizes *s, const PlanRead *r, int64_t value) {
  s->values[r->symbol->symbol] = value;
  s->known[r->symbol->symbol] = true;
}

int sizes_read(Sizes *s, const PlanRead *r, int64_t value) {
  int64_t most = s->values[r->symbol->symbol];
  if (value < 0 || value > most)
    return error_set(NEREID_E_FILE, E_GRAPH_READ, r->symbol->name, (long long)value,
                     (long long)most);
  set_size(s, r, value);
  s->unread[r->symbol->symbol] = false;
  return check_relations(s, r->symbol);
}

/* Sizes have their upper bounds until they are read. */
static int bind_reads(Sizes *s) {
  for (uint32_t i = 0; i < s->plan->nreads; i++) {
    const PlanRead *r = &s->plan->reads[i];
    int64_t most;
    char text[128];
    if (!sizes_eval(s, r->most, &most) || most < 0)
      return error_set(NEREID_E_USAGE, E_GRAPH_NO_SIZE, r->symbol->name, 0u,
                       dim_text(s, text, sizeof text, r->most));
    raise_to_bound(s, r->most, &most);
    set_size(s, r, most);
    s->unread[r->symbol->symbol] = true;
  }
  return 0;
}

int sizes_bind(Sizes *s, const nereid_tensor *inputs, int n) {
  if (n < 0 || (uint32_t)n != s->ninputs)
    return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_COUNT, s->ninputs, n);
  for (uint32_t i = 0; i < s->ninputs; i++)
    if (s->inputs[i] && !is_tensor_given(&inputs[i]))
      return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_DTYPE, i,
                       plan_passed_name(s->inputs[i]), "unknown", plan_dtype_name(s->inputs[i]));
  s->refused = false;
  int code = bind_given(s, inputs, s->ninputs);
  if (code) return code;
  code = check_relations(s, NULL);
  if (!code) code = bind_reads(s);
  s->refused = code != 0;
  return code ? code : check_shapes(s, inputs, s->ninputs);
}

/* Small, but not so small that it is a special case. */
static int64_t chosen(DimRange r) {
  enum { WANTED = 16 };
  return r.lo > WANTED ? r.lo : r.hi < WANTED ? r.hi : WANTED;
}

int sizes_bind_some(Sizes *s, const nereid_tensor *inputs, int n) {
  if (n < 0 || (uint32_t)n > s->ninputs)
    return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_COUNT, s->ninputs, n);
  int code = bind_given(s, inputs, (uint32_t)n);
  for (uint32_t i = 0; i < s->nsymbols && !code; i++) {
    if (s->known[i]) continue;
    s->values[i] = chosen(dim_range(s->plan->graph->dims, dims_symbol_at(s->plan->graph->dims, i)));
    s->known[i] = true;
  }
  return code ? code : check_shapes(s, inputs, (uint32_t)n);
}

int sizes_follows(Sizes *s, const nereid_tensor *inputs, int n, const PlanBuffer *b) {
  int64_t value;
  if (n < 0 || (uint32_t)n > s->ninputs)
    return error_set(NEREID_E_USAGE, E_GRAPH_INPUT_COUNT, s->ninputs, n);
  int code = bind_given(s, inputs, (uint32_t)n);
  return code ? code : b->value && sizes_eval(s, b->value, &value);
}

static int64_t large(DimRange r, int64_t most) {
  int64_t size = r.hi < most ? r.hi : most, whole = size & ~(int64_t)15;
  if (size < r.lo) return r.lo;
  return whole >= r.lo && whole > 0 ? whole : size;
}

int sizes_bind_large(Sizes *s, int64_t most) {
  Dims *d = s->plan->graph->dims;
  int code = bind_given(s, NULL, 0);
  for (uint32_t i = 0; i < s->nsymbols && !code; i++) {
    s->values[i] = large(dim_range(d, dims_symbol_at(d, i)), most);
    s->known[i] = true;
  }
  return code;
}
