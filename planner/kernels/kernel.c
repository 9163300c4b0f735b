#include "planner/kernels/kernel.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/analysis/element_value.h"
#include "graph/analysis/gather.h"
#include "graph/analysis/index_range.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/graph_text.h"
#include "lang/tile/scalar.h"
#include "planner/fuse/fuse.h"
#include "planner/messages.h"

Kernel *kernel_new(const Fusion *f, const Group *group, Arena *a) {
  Kernel *k = ARENA_NEW(a, Kernel);
  *k = (Kernel){.f = f, .graph = f->graph, .arena = a, .group = group, .nparts = 1, .indent = 4};
  k->body = text_new(a);
  kernel_reserve_names(k);
  return k;
}

/* ---- strips ---- */

void kernel_begin_strips(Kernel *k) {
  const Group *g = k->group;
  k->nparts = g->strip;
  for (uint32_t i = 0; i < k->nparts; i++) k->parts[i] = group_part(k->f, g, i);
  k->group = k->parts[0];
}

void kernel_use_part(Kernel *k, uint32_t part) {
  if (k->nparts > 1) k->group = k->parts[part];
}

/* ---- lines ---- */

void kernel_line(Kernel *k, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *line = arena_vprintf(k->arena, fmt, ap);
  va_end(ap);
  text_printf(&k->body, "%*s%s\n", k->indent, "", line);
}

const char *kernel_carried(Kernel *k, const Node *n, const char *suffix) {
  for (size_t i = 0; i < k->carried.len; i++)
    if (k->carried.data[i].node == n) return k->carried.data[i].name;
  const char *op = ops_short_name(k->arena, n->op->target);
  const char *name = kernel_fresh(k, arena_printf(k->arena, "%s_%s", op, suffix));
  vec_push(k->arena, &k->carried, ((Carried){n, name}));
  return name;
}

/* Does a scatter of the kernel update the memory of n in place? */
static bool is_updated(const Kernel *k, const Node *n) {
  for (size_t i = 0; i < k->group->nodes.len; i++) {
    const Node *s = k->group->nodes.data[i];
    if (prim_kind(s->op) == PRIM_SCATTER && s->args[0].node == n) return true;
  }
  return false;
}

static KernelBuffer *kernel_add_buffer(Kernel *k, Node *n) {
  bool empty = n->kind == NODE_CALL && prim_kind(n->op) == PRIM_EMPTY;
  bool out = empty || kernel_owns(k, n), updated = !out && is_updated(k, n);
  uint32_t number = updated ? k->inouts++ : out ? k->outputs++ : k->inputs++;
  const char *part = updated ? "inout" : out ? "out" : "in";
  Name name = arena_printf(k->arena, "%s%u", part, number);
  vec_push(k->arena, &k->buffers, ((KernelBuffer){.node = n, .name = name}));
  return &vec_last(&k->buffers);
}

static KernelBuffer *buffer_for(Kernel *k, Node *n) {
  for (size_t i = 0; i < k->buffers.len; i++)
    if (k->buffers.data[i].node == n) return &k->buffers.data[i];
  return kernel_add_buffer(k, n);
}

const char *kernel_buffer(Kernel *k, Node *n) {
  KernelBuffer *b = buffer_for(k, n);
  b->uses++;
  return arena_printf(k->arena, "%s_ptr", b->name);
}

/* The buffer for an access to an element of n for each of the tile. */
static const char *element_buffer(Kernel *k, Node *n, const char *index) {
  KernelBuffer *b = buffer_for(k, n);
  b->index = index;
  b->order = k->accesses++;
  return kernel_buffer(k, n);
}

/* ---- index expressions ---- */

void kernel_bind(Kernel *k, Dim symbol, const char *text, unsigned axes) {
  if (!dim_is_int(symbol)) vec_push(k->arena, &k->bindings, ((Binding){symbol, text, axes}));
}

static void print_index(Kernel *k, Text *out, Dim x, unsigned *axes);

/* A symbol that is bound to nothing is one of the graph's: a parameter. */
static void print_symbol(Kernel *k, Text *out, Dim x, unsigned *axes) {
  for (size_t i = 0; i < k->bindings.len; i++) {
    const Binding *b = &k->bindings.data[i];
    if (b->symbol != x) continue;
    *axes |= b->axes;
    text_puts(out, b->text);
    return;
  }
  size_t i = 0;
  while (i < k->symbols.len && k->symbols.data[i] != x) i++;
  if (i == k->symbols.len) vec_push(k->arena, &k->symbols, x);
  text_puts(out, kernel_symbol_name(k, x));
}

static void print_index_operand(Kernel *k, Text *out, Dim x, unsigned *axes) {
  bool bare = x->kind == DIM_SYMBOL || (x->kind == DIM_INT && x->value >= 0);
  if (!bare) text_puts(out, "(");
  print_index(k, out, x, axes);
  if (!bare) text_puts(out, ")");
}

static void print_terms(Kernel *k, Text *out, Dim x, unsigned *axes) {
  for (uint32_t i = 0; i < x->n; i++) {
    if (i) text_puts(out, " + ");
    if (x->args[i]->kind == DIM_PRODUCT) print_index(k, out, x->args[i], axes);
    else print_index_operand(k, out, x->args[i], axes);
  }
  if (x->value)
    text_printf(out, " %c %llu", x->value < 0 ? '-' : '+',
                (unsigned long long)(x->value < 0 ? 0 - (uint64_t)x->value : (uint64_t)x->value));
}

static void print_factors(Kernel *k, Text *out, Dim x, unsigned *axes) {
  for (uint32_t i = 0; i < x->n; i++) {
    if (i) text_puts(out, " * ");
    print_index_operand(k, out, x->args[i], axes);
  }
  if (x->value != 1) text_printf(out, " * %lld", (long long)x->value);
}

/* Divides two numbers that are not negative. */
static void print_index_division(Kernel *k, Text *out, Dim x, unsigned *axes) {
  print_index_operand(k, out, x->args[0], axes);
  text_puts(out, x->kind == DIM_MOD ? " % " : " // ");
  print_index_operand(k, out, x->args[1], axes);
}

/* The kernel language's // and % round towards zero, these down: so a multiple of the divisor is
 * added that makes a number from `lo` on positive, or the remainder's sign is looked at. */
static void print_floor(Kernel *k, Text *out, Dim x, int64_t lo, unsigned *axes) {
  Text a = text_new(k->arena), b = text_new(k->arena);
  print_index_operand(k, &a, x->args[0], axes);
  print_index_operand(k, &b, x->args[1], axes);
  bool mod = x->kind == DIM_MOD;
  if (lo > -INT32_MAX && dim_is_int(x->args[1]) && x->args[1]->value < INT32_MAX) {
    long long c = (long long)x->args[1]->value, times = (-(long long)lo + c - 1) / c;
    text_printf(out, mod ? "(%s + %lld) %% %lld" : "(%s + %lld) // %lld", a.data, times * c, c);
    if (!mod) text_printf(out, " - %lld", times);
  } else if (mod) {
    text_printf(out, "(%s %% %s + %s) %% %s", a.data, b.data, b.data, b.data);
  } else {
    text_printf(out, "%s // %s - tl.where(%s %% %s < 0, 1, 0)", a.data, b.data, a.data, b.data);
  }
}

static void print_pair(Kernel *k, Text *out, Dim x, unsigned *axes) {
  if (x->kind == DIM_MAX || x->kind == DIM_MIN) {
    text_puts(out, x->kind == DIM_MAX ? "tl.maximum(" : "tl.minimum(");
    print_index_operand(k, out, x->args[0], axes);
    text_puts(out, ", ");
    print_index_operand(k, out, x->args[1], axes);
    text_puts(out, ")");
    return;
  }
  int64_t lo = dim_range(k->graph->dims, x->args[0]).lo;
  if (lo >= 0) print_index_division(k, out, x, axes);
  else print_floor(k, out, x, lo, axes);
}

/* Reports an index that overflows, once a kernel. */
static void print_huge(Kernel *k, Text *out) {
  const Node *n = k->group->nodes.data[0];
  if (!k->huge) diag_error(k->graph->diags, n->location, E_GRAPH_INDEX_SIZE, n->name);
  k->huge = true;
  text_puts(out, "0");
}

static void print_index(Kernel *k, Text *out, Dim x, unsigned *axes) {
  switch (x->kind) {
    case DIM_INT: text_printf(out, "%lld", (long long)x->value); return;
    case DIM_SYMBOL: print_symbol(k, out, x, axes); return;
    case DIM_SUM: print_terms(k, out, x, axes); return;
    case DIM_PRODUCT: print_factors(k, out, x, axes); return;
    case DIM_HUGE: print_huge(k, out); return;
    default: print_pair(k, out, x, axes); return;
  }
}

const char *kernel_index(Kernel *k, Dim x, unsigned *axes) {
  Text t = text_new(k->arena);
  unsigned found = 0;
  print_index(k, &t, x, &found);
  if (axes) *axes |= found;
  return t.data;
}

const char *kernel_operand(Kernel *k, Dim x) {
  Text t = text_new(k->arena);
  unsigned axes = 0;
  print_index_operand(k, &t, x, &axes);
  return t.data;
}

const char *kernel_extent(Kernel *k, Dim size) {
  return dim_is(size, 0) ? "1" : kernel_index(k, size, NULL);
}

unsigned kernel_axes(Kernel *k, const Dim *index, uint32_t rank) {
  unsigned axes = 0;
  for (uint32_t i = 0; i < rank; i++) kernel_index(k, index[i], &axes);
  return axes;
}

/* ---- values ---- */

DType kernel_held(DType t) { return dtype_is_float(t) && dtype_bits(t) < 32 ? DT_F32 : t; }

/* The kernel language's own casts to 8-bit floats saturate. */
static const char *cast_to_float8(Kernel *k, Value v, DType t) {
  const char *x = kernel_cast(k, v, DT_F32);
  return arena_printf(k->arena, "to_%s(%s)", dtype_lang_name(t), x);
}

static const KernelRounded *rounded_as(const Kernel *k, const char *held) {
  for (size_t i = k->rounded.len; i-- > 0;)
    if (!strcmp(k->rounded.data[i].held, held)) return &k->rounded.data[i];
  return NULL;
}

static bool is_float8(DType t) { return t == DT_F8E5 || t == DT_F8E4NV; }

static void note_rounded(Kernel *k, const char *held, const char *rounded, DType t) {
  vec_push(k->arena, &k->rounded, ((KernelRounded){held, rounded, t, k->taken.len}));
}

const char *kernel_cast(Kernel *k, Value v, DType t) {
  if (v.dtype == t) return v.text;
  const KernelRounded *r = is_float8(t) ? rounded_as(k, v.text) : NULL;
  if (r && r->dtype == t) return r->rounded;
  if (is_float8(t)) return cast_to_float8(k, v, t);
  return arena_printf(k->arena, "%s.to(tl.%s)", v.text, dtype_lang_name(t));
}

void kernel_remember(Kernel *k, const Node *n, const Dim *index, Value v) {
  Dim *copy = ARENA_ARRAY(k->arena, Dim, n->type.rank + 1);
  if (n->type.rank) memcpy(copy, index, n->type.rank * sizeof *copy);
  vec_push(k->arena, &k->memo, ((Memo){n, copy, v}));
}

/* Along axes of one element all indices are one. */
static bool same_element_index(const Node *n, const Dim *a, const Dim *b) {
  for (uint32_t i = 0; i < n->type.rank; i++)
    if (a[i] != b[i] && !dim_is(n->type.shape[i], 1)) return false;
  return true;
}

static const Memo *find_memo(const Kernel *k, const Node *n, const Dim *index) {
  for (size_t i = k->memo.len; i-- > 0;) {
    const Memo *m = &k->memo.data[i];
    if (m->node == n && same_element_index(n, m->index, index)) return m;
  }
  return NULL;
}

bool kernel_remembers(const Kernel *k, const Node *n, const Dim *index) {
  return find_memo(k, n, index) != NULL;
}

/* A statement that names an element's value, in dtype `dtype`. */
static Value kernel_define(Kernel *k, const Node *n, const Dim *index, DType dtype,
                           const char *expression) {
  const KernelRounded *r = rounded_as(k, expression);
  Value v = {kernel_fresh_for(k, n), dtype};
  kernel_line(k, "%s = %s", v.text, expression);
  if (r) note_rounded(k, v.text, r->rounded, r->dtype);
  kernel_remember(k, n, index, v);
  return v;
}

/* The same for what is rounded to 8-bit floats. */
static Value kernel_define_rounded(Kernel *k, const Node *n, const Dim *index, Value of, DType t) {
  const char *rounded = kernel_fresh(k, "rounded");
  kernel_line(k, "%s = %s", rounded, kernel_cast(k, of, t));
  DType held = kernel_held(t);
  Value v = kernel_define(k, n, index, held, kernel_cast(k, (Value){rounded, t}, held));
  note_rounded(k, v.text, rounded, t);
  return v;
}

static const char *mask_argument(Kernel *k, unsigned axes) {
  const char *mask = k->masks[axes], *c = k->condition;
  if (mask && c) return arena_printf(k->arena, ", mask=%s & %s, other=0", mask, c);
  return mask || c ? arena_printf(k->arena, ", mask=%s%s", mask ? mask : c, c ? ", other=0" : "")
                   : "";
}

/* Is it one element of n, the same for all of a tile?  Then it exists, whatever the condition. */
static bool is_element(const Node *n, Dim offset) {
  if (!dim_is(offset, 0)) return false;
  for (uint32_t i = 0; i < n->type.rank; i++)
    if (!dim_is_int(n->type.shape[i]) || n->type.shape[i]->value < 1) return false;
  return true;
}

static const char *tile_of(Kernel *k, const char *text, DType t);

static bool is_empty_tensor(const Node *n) {
  for (uint32_t i = 0; i < n->type.rank; i++)
    if (dim_is(n->type.shape[i], 0)) return true;
  return false;
}

/* A placeholder for an element of an empty tensor; no result depends on it. */
static Value no_element(Kernel *k, const Node *n, const Dim *index) {
  DType t = kernel_held(n->type.dtype);
  Value v = {tile_of(k, t == DT_I1 ? "False" : "0", t), t};
  kernel_remember(k, n, index, v);
  return v;
}

/* Elements of much memory that a written-out sum reads once, as a matrix is by a vector, leave a
 * GPU's cache first: what other kernels read stays there.  A decoding step reads its weights so.  A
 * CPU asks for them ahead (pass prefetch). */
static bool leaves_cache_first(const Kernel *k, const Node *n, unsigned axes) {
  enum { BYTES_MIN = 1 << 24, BYTES_STREAMED = 1 << 19 };
  const Graph *g = k->graph;
  Dim all = value_numel(k->graph, &n->type);
  if (k->streams)
    return axes == AXIS_N && dim_is_int(all) &&
           all->value >= BYTES_STREAMED / dtype_bytes(n->type.dtype);
  bool once = k->unrolls && axes == (AXIS_X | AXIS_R) && dim_is_int(all) &&
              all == dim_mul(g->dims, k->group->x, k->group->r);
  return once && all->value >= BYTES_MIN / dtype_bytes(n->type.dtype);
}

const char *kernel_hint(const Kernel *k, const Node *n, unsigned axes) {
  return leaves_cache_first(k, n, axes) ? ", eviction_policy=\"evict_first\"" : "";
}

static bool is_offset(const Kernel *k, const char *name) {
  size_t i = 0;
  while (i < k->offsets.len && strcmp(k->offsets.data[i].name, name)) i++;
  return i < k->offsets.len;
}

/* The parameter for the elements of a memory before a kernel's first access to a slice of it.  A
 * loop's end gives its names free (kernel_forget), but not that of a parameter. */
static const KernelOffset *offset_of(Kernel *k, const Node *memory, Dim first) {
  for (size_t i = 0; i < k->offsets.len; i++)
    if (k->offsets.data[i].memory == memory) return &k->offsets.data[i];
  KernelOffset o = {memory, kernel_fresh(k, "offset"), first};
  while (is_offset(k, o.name)) o.name = kernel_fresh(k, "offset");
  vec_push(k->arena, &k->offsets, o);
  return &vec_last(&k->offsets);
}

const char *kernel_load_index(Kernel *k, const Node *n, Dim offset, bool viewed, unsigned *axes) {
  enum { SLICES_LEAST = 8 };
  Dims *d = k->graph->dims;
  bool sliced = k->graph->host && viewed && k->f->slices[n->id] >= SLICES_LEAST;
  if (!sliced || offset->kind != DIM_SUM) return kernel_index(k, offset, axes);
  const KernelOffset *o = offset_of(k, n, dim_int(d, offset->value));
  const char *rest = kernel_index(k, dim_sub(d, offset, o->value), axes);
  return arena_printf(k->arena, "%s + %s", o->name, rest);
}

static Value load_node_element(Kernel *k, Node *n, const Dim *element) {
  unsigned axes = 0;
  if (is_empty_tensor(n)) return no_element(k, n, element);
  Dim offset = linear_of_index(k->graph->dims, element, n->type.shape, n->type.rank);
  const char *index = kernel_load_index(k, n, offset, k->view != NULL, &axes);
  Value v = {kernel_fresh(k, buffer_for(k, n)->name), n->type.dtype};
  bool always = is_element(n, offset), ahead = k->loads_ahead && !k->condition;
  const char *mask = always ? "" : mask_argument(k, axes);
  /* A condition may be a tile, and then the pointer is one; a batch is a number. */
  if (!(axes & ~(unsigned)AXIS_B) && k->condition && !always)
    index = arena_printf(k->arena, "%s + (%s).to(tl.int32) * 0", index, k->condition);
  const char *otherwise = k->fills && *mask ? ", other=0" : "";
  const char *hint = kernel_hint(k, n, axes);
  const char *load = arena_printf(k->arena, "tl.load(%s + %s%s%s%s)", element_buffer(k, n, index),
                                  index, mask, otherwise, hint);
  if (ahead) vec_push(k->arena, &k->ahead, ((KernelLoad){v.text, load}));
  else kernel_line(k, "%s = %s", v.text, load);
  if (kernel_held(v.dtype) != v.dtype && !k->keeps_halves) {
    const char *wide = kernel_cast(k, v, kernel_held(v.dtype));
    const char *loaded = v.text;
    if (ahead || is_float8(v.dtype)) v.text = kernel_fresh(k, buffer_for(k, n)->name);
    kernel_line(k, "%s = %s", v.text, wide);
    if (is_float8(v.dtype)) note_rounded(k, v.text, loaded, v.dtype);
    v.dtype = kernel_held(v.dtype);
  }
  kernel_remember(k, n, element, v);
  return v;
}

/* A size as it may stand beside any operator. */
static const char *size_operand(Kernel *k, Dim x) {
  const char *text = kernel_index(k, x, NULL);
  return dim_is_int(x) ? text : arena_printf(k->arena, "(%s)", text);
}

/* The replacement of an integer that the dtype does not have; NULL if it has it.  Unsigned dtypes
 * take negative integers as large ones, as PyTorch does. */
static const char *foreign(Kernel *k, const Arg *a, DType t) {
  const Node *n = k->group->nodes.data[0];
  if (a->kind != ARG_INT || !dim_is_int(a->dim) || !dtype_is_int(t) || t == DT_I1) return NULL;
  int64_t value = a->dim->value, most = (int64_t)(UINT64_MAX >> (64 - dtype_bits(t)));
  if (dtype_bits(t) == 64) return NULL;
  if (dtype_is_signed(t) && value >= -(most / 2) - 1 && value <= most / 2) return NULL;
  if (!dtype_is_signed(t) && value >= 0 && value <= most) return NULL;
  if (!dtype_is_signed(t) && value < 0 && value >= -most)
    return arena_printf(k->arena, "%lld", (long long)(value + most + 1));
  diag_error(k->graph->diags, n->location, E_GRAPH_OUT_OF_DTYPE, n->name, (long long)value,
             dtype_name(t));
  return "0";
}

static const char *computed_number(Kernel *k, Node *n, DType t) {
  const ValueType *of = &n->type;
  return of->value ? size_operand(k, of->value) : kernel_cast(k, kernel_value(k, n, NULL), t);
}

const char *kernel_literal(Kernel *k, const Arg *a, DType t) {
  bool number = a->kind == ARG_FLOAT, whole = dtype_is_int(t) && t != DT_I1;
  if (a->kind == ARG_NODE) return computed_number(k, a->node, t);
  if (a->kind == ARG_INT && dim_is_int(a->dim) && dtype_is_float(t))
    return arena_printf(k->arena, "%lld.0", (long long)a->dim->value);
  const char *text = foreign(k, a, t);
  if (text) return text;
  if (a->kind == ARG_INT) return size_operand(k, a->dim);
  if (a->kind == ARG_BOOL && t != DT_I1) return a->flag ? "1" : "0";
  if (number && !isfinite(a->number))
    return isnan(a->number) ? "float(\"nan\")"
           : a->number < 0  ? "float(\"-inf\")"
                            : "float(\"inf\")";
  if (number && whole) return arena_printf(k->arena, "%lld", (long long)a->number);
  Text out = text_new(k->arena);
  arg_print(&out, a);
  return out.data;
}

/* A literal as a tile of one element, which has a dtype. */
static const char *tile_of(Kernel *k, const char *text, DType t) {
  bool flat = k->slide || (k->group->kind == GROUP_LOOPS && dim_is(k->group->r, 1));
  return arena_printf(k->arena, "tl.full(%s, %s, tl.%s)", flat ? "[1]" : "[1, 1]", text,
                      dtype_lang_name(t));
}

/* The kernel language's comparisons and functions take a literal as f32: one that f32 doesn't have
 * is a tile beside doubles. */
static const char *number_text(Kernel *k, const Arg *a, DType t) {
  const char *text = kernel_literal(k, a, t);
  double v = a->kind == ARG_FLOAT                       ? a->number
             : a->kind == ARG_INT && dim_is_int(a->dim) ? (double)a->dim->value
                                                        : 0;
  bool exact = t != DT_F64 || !isfinite(v) || (double)(float)v == v;
  return exact ? text : tile_of(k, text, t);
}

/* PyTorch's 8-bit floats overflow, where the kernel language's take the largest number. */
static double round_to_dtype(DType t, float x) {
  if (t == DT_F8E4NV && fabsf(x) > 464) return NAN;
  if (t == DT_F8E5 && fabsf(x) >= 61440) return copysign(INFINITY, x);
  return isfinite(x) ? scalar_round(t, x) : x;
}

/* The number that a narrow float dtype, or bool, has for a number, as PyTorch rounds it; other
 * arguments, and those of other dtypes, as they are. */
static Arg narrow_number(const Arg *a, DType t) {
  if (t == DT_I1 && a->kind == ARG_FLOAT) return arg_bool(a->number != 0);
  if (t == DT_I1 && a->kind == ARG_INT && dim_is_int(a->dim)) return arg_bool(a->dim->value != 0);
  bool narrow = dtype_is_float(t) && dtype_bits(t) < 32;
  if (narrow && a->kind == ARG_FLOAT) return arg_float(round_to_dtype(t, (float)a->number));
  if (narrow && a->kind == ARG_INT && dim_is_int(a->dim))
    return arg_float(round_to_dtype(t, (float)a->dim->value));
  return *a;
}

/* A narrowing cast to `to` of a value that is held in dtype `from`, as such values are held.
 * Integers keep their low bits, as PyTorch's do, and floats are rounded. */
static const char *narrow(Kernel *k, const char *text, DType from, DType to) {
  bool wraps = dtype_is_float(from) && dtype_is_int(to) && dtype_bits(to) < 32;
  DType held = kernel_held(to), by = wraps ? DT_I32 : held;
  const char *x = arena_printf(k->arena, "(%s)", text);
  x = kernel_cast(k, (Value){x, from}, by);
  if (by == to) return x;
  x = kernel_cast(k, (Value){x, by}, to);
  return kernel_cast(k, (Value){x, to}, held);
}

static const char *operand_text(Kernel *k, const Node *n, const Dim *index, const Pointwise *p,
                                uint32_t i) {
  const Arg *a = &p->operands[i];
  DType to = n->type.dtype, t = p->dtypes[i];
  bool selected = p->selects && t == p->compute && kernel_held(to) != to;
  if (a->kind != ARG_NODE || a->node->type.kind != VALUE_TENSOR) {
    Arg number = selected ? narrow_number(a, to) : *a;
    return number_text(k, &number, t);
  }
  Dim at[GRAPH_RANK_MAX];
  broadcast_index(k->graph, n, index, a->node, at);
  Value v = kernel_value(k, a->node, at);
  selected = selected && !dtype_represents(to, a->node->type.dtype);
  return selected ? narrow(k, v.text, v.dtype, to) : kernel_cast(k, v, t);
}

const char *kernel_fill(Kernel *k, const char *text, const char *const *operands) {
  Text out = text_new(k->arena);
  for (const char *s = text; *s; s++) {
    if (*s == '{' && s[1] >= '0' && s[1] <= '9' && s[2] == '}') {
      text_puts(&out, operands[s[1] - '0']);
      s += 2;
    } else {
      text_putn(&out, s, 1);
    }
  }
  return out.data;
}

/* The operand of an expression with branches: 0 where no value is wanted. */
static const char *wanted_only(Kernel *k, const Node *n, const Dim *index, DType t,
                               const char *operand) {
  const char *mask = k->masks[kernel_axes(k, index, n->type.rank)], *c = k->condition;
  if (mask && c) mask = arena_printf(k->arena, "%s & %s", mask, c);
  else if (c) mask = c;
  const char *zero = dtype_is_float(t) ? "0.0" : "0";
  return mask ? arena_printf(k->arena, "tl.where(%s, %s, %s)", mask, operand, zero) : operand;
}

/* Are n's elements integers of 64 bits that the kernel computes in 32?  Tiles have elements past
 * the ends of axes, too. */
static bool is_narrowed(Kernel *k, const Node *n) {
  enum { MOST = 1 << 30 };
  Dims *d = k->graph->dims;
  return k->narrows && n->type.kind == VALUE_TENSOR && n->type.dtype == DT_I64 &&
         index_is_inside(k->graph, n, dim_int(d, -MOST), dim_int(d, MOST));
}

static DType held_in(Kernel *k, const Node *n) {
  return is_narrowed(k, n) ? DT_I32 : kernel_held(n->type.dtype);
}

/* Computes in 32 bits, if the operands and the result fit. */
static void narrow_pointwise(Kernel *k, const Node *n, Pointwise *p) {
  bool fits = n->type.dtype == DT_I1 || is_narrowed(k, n);
  bool wide = strstr(p->text, "int64") || strstr(p->text, ">>") || strstr(p->text, "<<");
  if (!k->narrows || p->compute != DT_I64 || p->narrow || !fits || wide) return;
  for (uint32_t i = 0; i < p->noperands; i++) {
    const Arg *a = &p->operands[i];
    bool fits_too = a->kind == ARG_NODE ? is_narrowed(k, a->node)
                                        : a->kind == ARG_INT && dim_is_int(a->dim) &&
                                              a->dim->value == (int32_t)a->dim->value;
    if (p->dtypes[i] == DT_I64 && !fits_too) return;
  }
  for (uint32_t i = 0; i < p->noperands; i++)
    if (p->dtypes[i] == DT_I64) p->dtypes[i] = DT_I32;
  p->compute = DT_I32;
}

static bool is_short(DType t) { return dtype_is_int(t) && t != DT_I1 && dtype_bits(t) <= 16; }

/* Computes in 32 bits instead of 8 or 16, and casts from there; false: it does not. */
static bool widen_pointwise(Kernel *k, const Node *n, Pointwise *p) {
  bool wide = !is_short(p->compute) && p->compute != DT_I32;
  if (!k->widens || wide || strstr(p->text, "int")) return false;
  bool narrows = p->narrow && p->narrow != n->type.dtype;
  bool fits = is_short(n->type.dtype) ? !narrows && index_never_wraps(k->graph, n)
                                      : !p->narrow && !strcmp(p->text, "{0}");
  for (uint32_t i = 0; i < p->noperands; i++)
    fits &= is_short(p->dtypes[i]) || p->dtypes[i] == DT_I32;
  if (!fits) return false;
  for (uint32_t i = 0; i < p->noperands; i++) p->dtypes[i] = DT_I32;
  p->compute = DT_I32;
  p->narrow = DT_NONE;
  return true;
}

static Value pointwise(Kernel *k, Node *n, const Dim *index) {
  Pointwise p = pointwise_of(k->graph, n);
  narrow_pointwise(k, n, &p);
  bool widened = widen_pointwise(k, n, &p);
  const char *operands[8] = {0};
  bool branches = prim_branches(n);
  for (uint32_t i = 0; i < p.noperands; i++) {
    operands[i] = operand_text(k, n, index, &p, i);
    if (branches && p.operands[i].kind == ARG_NODE)
      operands[i] = wanted_only(k, n, index, p.dtypes[i], operands[i]);
  }
  const char *text = kernel_fill(k, p.text, operands);
  DType held = kernel_held(n->type.dtype);
  if (held == DT_I64 && p.compute == DT_I32 && k->narrows) held = DT_I32;
  if (is_short(held) && widened) held = DT_I32;
  bool cast = held != p.compute && n->type.dtype != DT_I1;
  if (is_float8(p.narrow) && n->type.dtype == p.narrow && kernel_held(p.compute) == p.compute) {
    text = arena_printf(k->arena, "(%s)", text);
    return kernel_define_rounded(k, n, index, (Value){text, p.compute}, p.narrow);
  }
  if (p.narrow) text = narrow(k, text, p.compute, p.narrow);
  else if (cast) text = arena_printf(k->arena, "(%s).to(tl.%s)", text, dtype_lang_name(held));
  return kernel_define(k, n, index, held, text);
}

/* A value that is computed under the condition (NULL: none) is valid there only. */
static Value value_under(Kernel *k, const char *condition, Node *n, const Dim *index) {
  const char *outer = k->condition;
  size_t memo = k->memo.len;
  if (condition && outer) k->condition = arena_printf(k->arena, "%s & %s", outer, condition);
  else if (condition) k->condition = condition;
  Value v = kernel_value(k, n, index);
  if (condition) k->memo.len = memo;
  k->condition = outer;
  return v;
}

/* The index as an expression, if it is one of 0 ... size - 1 whatever the data is; else NULL. */
static Dim sure_index(Kernel *k, Node *index, const Dim *element, Dim size) {
  Dims *d = k->graph->dims;
  Dim known = element_value(k->graph, index, element);
  bool inside =
      known && dim_range(d, known).lo >= 0 && dim_range(d, dim_sub(d, size, known)).lo > 0;
  return inside ? known : NULL;
}

/* The number beside a tensor, if n is `op` of both; else NULL. */
static const Arg *number_of(const Node *n, OpId op) {
  bool both = graph_is(n, op) && n->args[0].kind == ARG_NODE && n->args[1].kind == ARG_INT;
  return both ? &n->args[1] : NULL;
}

/* Is the index clamped to 0 ... size - 1 by operators after which it is no NaN?  Floats have all
 * integers up to 2^24. */
static bool is_clamped(const Kernel *k, const Node *index, Dim size) {
  enum { EXACT_MAX = 1 << 24 };
  Dims *d = k->graph->dims;
  if (!graph_is(index, OP_aten_to_dtype) || dtype_bits(index->type.dtype) < 32) return false;
  const Node *upper = index->args[0].node;
  const Arg *most = number_of(upper, OP_aten_fmin_default);
  const Arg *least = most ? number_of(upper->args[0].node, OP_aten_fmax_default) : NULL;
  if (!least || dim_range(d, least->dim).lo < 0 || dim_range(d, most->dim).hi > EXACT_MAX)
    return false;
  Dim past = dim_sub(d, size, most->dim);
  return dim_range(d, past).lo > 0 && dim_range(d, most->dim).lo >= 0 &&
         dtype_bits(upper->type.dtype) >= 32;
}

enum { TABLE_MOST = 1 << 16 }; /* elements that an index of 32 bits is known to choose from */

/* Negative indices count from the end.  What is outside nonetheless reads the element next to it: a
 * wrong index in the data of an input is no access to the memory of others. */
static const char *gather_index(Kernel *k, Node *index, const Dim *element, Dim size) {
  Dims *d = k->graph->dims;
  Value at = kernel_value(k, index, element);
  if (is_clamped(k, index, size)) return at.text;
  const char *name = kernel_fresh(k, "at"), *last;
  if (dim_is_int(size) && size->value <= TABLE_MOST &&
      index_is_inside(k->graph, index, dim_int(d, 0), size)) {
    kernel_line(k, "%s = %s", name, kernel_cast(k, at, DT_I32));
    return name;
  }
  at.text = kernel_cast(k, at, index->type.dtype); /* offsets may be large */
  kernel_line(k, "%s = tl.where(%s < 0, %s + %s, %s)", name, at.text, at.text,
              kernel_index(k, size, NULL), at.text);
  last = kernel_index(k, dim_sub(d, size, dim_int(d, 1)), NULL);
  kernel_line(k, "%s = tl.maximum(tl.minimum(%s, %s), 0)", name, name, last);
  return name;
}

/* The condition that axes from which indices choose have elements, where that depends on sizes;
 * else NULL. */
static const char *chooses_of_some(Kernel *k, const Gather *x) {
  Text t = text_new(k->arena);
  for (uint32_t i = 0; i < x->n; i++)
    if (dim_range(k->graph->dims, x->by[i].size).lo < 1)
      text_printf(&t, "%s(%s > 0)", t.len ? " & " : "", kernel_index(k, x->by[i].size, NULL));
  return t.len ? t.data : NULL;
}

/* Is it one element, seen along any axes?  In a kernel that is a scalar. */
static bool is_single_element(const Node *n) {
  while (prim_is_view(n)) n = n->args[0].node;
  for (uint32_t i = 0; i < n->type.rank; i++)
    if (!dim_is(n->type.shape[i], 1)) return false;
  return true;
}

/* The axes of an element's value: an index along an axis of one element is left out. */
static unsigned axes_of_element(Kernel *k, const Node *n, const Dim *element) {
  unsigned axes = 0;
  for (uint32_t i = 0; i < n->type.rank && !is_single_element(n); i++)
    if (!dim_is(n->type.shape[i], 1)) axes |= kernel_axes(k, element + i, 1);
  return axes;
}

static void find_gathered(Kernel *k, const Node *n, const Dim *index, Gather *x) {
  gather_of(k->graph, n, index, x);
  for (uint32_t i = 0; i < x->n; i++) {
    Dim sure = sure_index(k, x->by[i].index, x->by[i].element, x->by[i].size);
    for (uint32_t a = 0; a < x->data->type.rank && sure; a++)
      if (x->element[a] == x->by[i].symbol) x->element[a] = sure;
    if (sure) continue;
    const char *at = gather_index(k, x->by[i].index, x->by[i].element, x->by[i].size);
    kernel_bind(k, x->by[i].symbol, at, axes_of_element(k, x->by[i].index, x->by[i].element));
  }
}

void kernel_gathered(Kernel *k, ConcatSource *p) {
  Gather x;
  find_gathered(k, p->operand, p->index, &x);
  p->operand = x.data;
  memcpy(p->index, x.element, x.data->type.rank * sizeof *x.element);
}

static Value gather_element(Kernel *k, Node *n, const Dim *index) {
  Gather x;
  find_gathered(k, n, index, &x);
  bool ahead = k->loads_ahead;
  k->loads_ahead &= x.n == 0;
  Value v = value_under(k, chooses_of_some(k, &x), x.data, x.element);
  k->loads_ahead = ahead;
  kernel_remember(k, n, index, v);
  return v;
}

/* start + step * index. */
static const char *arange(Kernel *k, const Node *n, const Dim *element, DType t) {
  Arg start = graph_arg(k->graph, n, "start"), step = graph_arg(k->graph, n, "step");
  const char *at = kernel_index(k, element[0], NULL);
  const char *index = dim_is_int(element[0])
                          ? tile_of(k, at, t)
                          : arena_printf(k->arena, "(%s).to(tl.%s)", at, dtype_lang_name(t));
  const char *text = arena_printf(k->arena, "%s * %s + %s", index, kernel_literal(k, &step, t),
                                  kernel_literal(k, &start, t));
  return t == n->type.dtype || t == DT_I32 ? text : narrow(k, text, t, n->type.dtype);
}

/* A number for the seed and the index, whoever asks for it. */
static const char *random_number(Kernel *k, const Node *n, const Dim *index) {
  Name kind = graph_arg(k->graph, n, "kind").name;
  const char *of = !strcmp(kind, "bits") ? "randint" : *kind == 'n' ? "randn" : "rand";
  Dim linear = linear_of_index(k->graph->dims, index, n->type.shape, n->type.rank);
  const char *at = kernel_index(k, linear, NULL);
  if (dim_is_int(linear)) at = tile_of(k, at, DT_I32);
  long long seed = graph_arg(k->graph, n, "seed").dim->value;
  if (!strcmp(kind, "bits64")) return arena_printf(k->arena, "bits64(%lld, %s)", seed, at);
  return arena_printf(k->arena, "tl.%s(%lld, %s)%s", of, seed, at,
                      *kind == 'b' ? ".to(tl.int32, bitcast=True)" : "");
}

static Value create(Kernel *k, Node *n, const Dim *index) {
  DType t = held_in(k, n);
  if (n->op->id == OP_nereid_random_default)
    return kernel_define(k, n, index, t, random_number(k, n, index));
  if (n->op->id == OP_aten_arange_start_step)
    return kernel_define(k, n, index, t, arange(k, n, index, t));
  Arg fill = graph_arg(k->graph, n, "fill_value");
  fill = narrow_number(&fill, n->type.dtype);
  return kernel_define(k, n, index, t, tile_of(k, kernel_literal(k, &fill, t), t));
}

/* ---- pieces ---- */

/* x // n >= lo is x >= lo * n, and x // n % m >= lo is x % (m * n) >= lo * n: numbers that lanes
 * count, of which vectors know how many are below a limit. */
static void undivided_limit(Dims *d, Dim *x, Dim *lo, Dim *hi) {
  bool rest = (*x)->kind == DIM_MOD && dim_is_int((*x)->args[1]);
  Dim quotient = rest ? (*x)->args[0] : *x;
  if (quotient->kind != DIM_FLOORDIV || !dim_is_int(quotient->args[1])) return;
  Dim by = quotient->args[1];
  *x = rest ? dim_mod(d, quotient->args[0], dim_mul(d, (*x)->args[1], by)) : quotient->args[0];
  if (*lo) *lo = dim_mul(d, *lo, by);
  if (*hi) *hi = dim_mul(d, *hi, by);
}

const char *kernel_limits(Kernel *k, const ConcatSource *p) {
  Text t = text_new(k->arena);
  k->limited |= p->nlimits > 0;
  for (uint32_t i = 0; i < p->nlimits; i++) {
    Dim at = p->limits[i].x, lo = p->limits[i].lo, hi = p->limits[i].hi;
    if (k->graph->host) undivided_limit(k->graph->dims, &at, &lo, &hi);
    const char *x = kernel_index(k, at, NULL);
    if (lo) text_printf(&t, "%s(%s >= %s)", t.len ? " & " : "", x, kernel_index(k, lo, NULL));
    if (hi) text_printf(&t, "%s(%s < %s)", t.len ? " & " : "", x, kernel_index(k, hi, NULL));
  }
  return t.data ? t.data : "";
}

const char *kernel_piece_condition(Kernel *k, const ConcatSource *p) {
  const char *limits = kernel_limits(k, p);
  if (!*limits) return NULL;
  const char *name = kernel_fresh(k, "inside");
  kernel_line(k, "%s = %s", name, limits);
  return name;
}

const char *kernel_piece_value(Kernel *k, const ConcatSource *p, const char *condition, DType t) {
  return kernel_cast(k, value_under(k, condition, p->operand, p->index), t);
}

/* The piece with an index that exists whatever the limits are; false: there is none. */
static bool exists_for_all(Kernel *k, ConcatSource *p) {
  Dims *d = k->graph->dims;
  bool all = k->loads_all && p->operand->type.kind == VALUE_TENSOR;
  for (uint32_t i = 0; i < p->operand->type.rank && all; i++) {
    Dim size = p->operand->type.shape[i];
    if (dim_is(size, 1)) p->index[i] = dim_int(d, 0);
    all = dim_range(d, p->index[i]).lo >= 0 && dim_range(d, dim_sub(d, size, p->index[i])).lo > 0;
  }
  return all;
}

static Value concat_element(Kernel *k, Node *n, const Dim *index) {
  ConcatSources p = concat_sources(k->graph, n, index);
  DType t = kernel_held(n->type.dtype);
  const char *text = NULL;
  Arg otherwise = narrow_number(&p.otherwise, n->type.dtype);
  if (otherwise.kind != ARG_NONE) text = kernel_literal(k, &otherwise, t);
  for (uint32_t i = p.n; i-- > 0;) {
    const char *condition = kernel_piece_condition(k, &p.items[i]);
    const char *under = exists_for_all(k, &p.items[i]) ? NULL : condition;
    const char *value = kernel_piece_value(k, &p.items[i], under, t);
    bool always = !condition || !text;
    text = always ? value : arena_printf(k->arena, "tl.where(%s, %s, %s)", condition, value, text);
  }
  return kernel_define(k, n, index, t, text);
}

/* A scan along an axis of one element. */
static Value scan_of_one(Kernel *k, Node *n, const Dim *index) {
  DType t = kernel_held(n->type.dtype);
  if (kernel_scan_gives_indices(n)) return kernel_define(k, n, index, t, tile_of(k, "0", t));
  return kernel_value(k, n->args[0].node, index);
}

/* A reduction along axes of one element. */
static Value unreduced(Kernel *k, Node *n, const Dim *index) {
  const ValueType *t = &n->args[0].node->type;
  Dim from[GRAPH_RANK_MAX];
  uint32_t next = 0;
  bool kept = n->type.rank == t->rank;
  for (uint32_t i = 0; i < t->rank; i++) {
    bool r = reduction_has_axis(k->graph, n, i);
    from[i] = r ? dim_int(k->graph->dims, 0) : index[kept ? i : next];
    next += !r;
  }
  Value v = kernel_value(k, n->args[0].node, from);
  DType held = kernel_held(n->type.dtype);
  return (Value){kernel_cast(k, v, held), held};
}

/* A kernel has the scores of an attention at the index of its tile alone. */
static Value refuse_moved_tile(Kernel *k, const Node *n) {
  const Node *user = k->view ? k->view : n;
  if (!k->moved_tile)
    diag_error(k->graph->diags, user->location, E_GRAPH_TILE_INDEX, user->name, n->name);
  k->moved_tile = true;
  return (Value){"0.0", DT_F32};
}

static Value value_of_view(Kernel *k, Node *n, const Dim *index) {
  Dim from[GRAPH_RANK_MAX];
  const Node *outer = k->view;
  view_index(k->graph, n, index, from);
  k->view = n;
  Value v = kernel_value(k, view_operand(n), from);
  k->view = outer;
  return v;
}

/* Its text is NULL where the kernel has no such element. */
static Value computed_element(Kernel *k, Node *n, const Dim *index) {
  switch (prim_kind(n->op)) {
    case PRIM_POINTWISE: return pointwise(k, n, index);
    case PRIM_GATHER: return gather_element(k, n, index);
    case PRIM_CREATE: return create(k, n, index);
    case PRIM_CONCAT: return concat_element(k, n, index);
    case PRIM_SEARCH: return kernel_define(k, n, index, n->type.dtype, kernel_search(k, n, index));
    case PRIM_SCAN:
      if (dim_is(k->group->r, 1)) return scan_of_one(k, n, index);
      break;
    case PRIM_WINDOW: return kernel_window(k, n, index);
    case PRIM_INSERT: return kernel_value(k, n->args[1].node, index);
    case PRIM_TILE: return refuse_moved_tile(k, n);
    case PRIM_REDUCE:
      if (dim_is(k->group->r, 1)) return unreduced(k, n, index);
      break;
    default: break;
  }
  return (Value){0};
}

Value kernel_value(Kernel *k, Node *n, const Dim *index) {
  const Memo *m = find_memo(k, n, index);
  if (m) return m->value;
  if (n->type.kind != VALUE_TENSOR) return kernel_number(k, n);
  if (kernel_loads(k, n)) return load_node_element(k, n, index);
  if (n->kind == NODE_GETITEM || prim_kind(n->op) == PRIM_VIEW) return value_of_view(k, n, index);
  Value v = computed_element(k, n, index);
  BUG_IF(!v.text, "%s is used at an index that is not its own", n->name);
  return v;
}

/* Pointers have all axes of the values that are written, also those of one element. */
static const char *with_axes(Kernel *k, const char *index, unsigned axes, unsigned wanted) {
  static const char *const names[][2] = {{"xindex", "rindex"}, {"m", "n"}, {"m", "e"}};
  for (unsigned i = 0; i < 2; i++) {
    const char *name = i && k->column ? k->column : names[k->group->kind][i];
    if ((wanted & ~axes) >> i & 1) index = arena_printf(k->arena, "%s + %s * 0", index, name);
  }
  return index;
}

/* The index of n's element in a slice, from the first that the kernel writes. */
static const char *slice_index(Kernel *k, const Node *n, const Dim *index, unsigned *axes) {
  const KernelOffset *o = offset_of(k, n->args[0].node, insert_offset(k->graph, n));
  Dim offset = dim_sub(k->graph->dims, insert_index(k->graph, n, index), o->value);
  return arena_printf(k->arena, "%s + %s", o->name, kernel_index(k, offset, axes));
}

void kernel_store(Kernel *k, Node *n, Value v) {
  Dim element[GRAPH_RANK_MAX];
  group_index(k->f, k->group, n, element);
  unsigned axes = 0, wanted = k->slide ? 0 : AXIS_X;
  bool columns = k->group->kind != GROUP_LOOPS || !dim_is(k->group->r, 1);
  if (columns && !k->row_strips && k->f->role[n->id] == ROLE_FULL) wanted |= AXIS_R;
  bool slice = prim_kind(n->op) == PRIM_INSERT;
  Dim offset = linear_of_index(k->graph->dims, element, n->type.shape, n->type.rank);
  const char *index = slice ? slice_index(k, n, element, &axes) : kernel_index(k, offset, &axes);
  index = with_axes(k, index, axes, wanted);
  axes |= wanted;
  Node *to = slice ? n->args[0].node : n;
  kernel_line(k, "tl.store(%s + %s, %s%s)", element_buffer(k, to, index), index,
              kernel_cast(k, v, n->type.dtype), mask_argument(k, axes));
}

/* ---- functions ---- */

const char *kernel_parameters(Kernel *k) {
  Text t = text_new(k->arena);
  for (size_t i = 0; i < k->buffers.len; i++)
    text_printf(&t, "%s%s_ptr", i ? ", " : "", k->buffers.data[i].name);
  if (k->checks.len) text_printf(&t, "%s%s", k->buffers.len ? ", " : "", KERNEL_RECORDS);
  for (size_t i = 0; i < k->symbols.len; i++)
    text_printf(&t, ", %s", kernel_symbol_name(k, k->symbols.data[i]));
  for (size_t i = 0; i < k->offsets.len; i++) text_printf(&t, ", %s", k->offsets.data[i].name);
  return t.data;
}

typedef struct {
  const Kernel *k;
  bool *seen; /* by node id */
  bool found;
} Large;

/* Elements of a view are as far apart as those of the tensor in memory. */
static void find_large(Node **use, void *ctx) {
  Large *l = ctx;
  Node *n = *use;
  if (n->type.kind != VALUE_TENSOR || l->seen[n->id] || l->found) return;
  l->seen[n->id] = true;
  l->found = fusion_is_large(l->k->graph, n);
  if (!kernel_loads(l->k, n)) graph_each_use(n, find_large, l);
}

const char *kernel_wide(Kernel *k) {
  Large l = {.k = k};
  if (!k->f->large || k->wide) return k->wide ? k->wide : "";
  l.seen = ARENA_ARRAY(k->arena, bool, k->graph->nids);
  for (size_t i = 0; i < k->group->nodes.len; i++) {
    Node *n = k->group->nodes.data[i];
    find_large(&n, &l);
  }
  k->wide = l.found ? ".to(tl.int64)" : "";
  return k->wide;
}

void kernel_emit(Text *out, Kernel *k, const char *template, const Slot *slots, size_t n) {
  Slot *all = ARENA_ARRAY(k->arena, Slot, n + 4);
  memcpy(all, slots, n * sizeof *slots);
  all[n] = (Slot){"name", KERNEL_NAME};
  all[n + 1] = (Slot){"parameters", kernel_parameters(k)};
  all[n + 2] = (Slot){"body", k->body.data};
  all[n + 3] = (Slot){"wide", kernel_wide(k)};
  template_fill(out, template, all, n + 4);
}
