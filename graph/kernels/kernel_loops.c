/* Kernels of GROUP_LOOPS: pointwise nodes and reductions over one domain.
 *
 * Without columns a tile is a run of elements.  With them it is rows by columns, and a row is
 * gone through in *stages*: stage s is what needs the results of reductions of stages before s.
 * A row that fits a tile (persistent) is loaded once, and what was computed for one stage is there
 * for the next.  A longer one is gone through in a loop for each stage, which computes anew what
 * it needs. */
#include <string.h>

#include "graph/kernels/kernel.h"

typedef struct {
  Kernel *k;
  uint32_t *stage; /* by position in the group's nodes */
} Loops;

/* ---- stages ---- */

typedef struct {
  const Loops *l;
  uint32_t stage;
} StageOf;

static uint32_t position(const Group *g, const Node *n) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (g->nodes.data[i] == n) return (uint32_t)i;
  return UINT32_MAX;
}

static bool is_reduction(const Kernel *k, const Node *n) {
  PrimKind p = prim_kind(n->op);
  return p == PRIM_REDUCE && !dim_is(k->group->r, 1);
}

static bool is_scan(const Kernel *k, const Node *n) {
  return prim_kind(n->op) == PRIM_SCAN && !dim_is(k->group->r, 1);
}

/* What a reduction gives is there one stage later than what it reads. */
static void note_stage(Node *operand, const Dim *place, void *ctx) {
  (void)place;
  StageOf *s = ctx;
  const Kernel *k = s->l->k;
  uint32_t i = position(k->group, operand);
  if (i == UINT32_MAX) return;
  uint32_t stage = s->l->stage[i] + is_reduction(k, operand);
  if (stage > s->stage) s->stage = stage;
}

static uint32_t find_stages(Loops *l) {
  const Kernel *k = l->k;
  const Group *g = k->group;
  uint32_t last = 0;
  l->stage = ARENA_ARRAY(k->arena, uint32_t, g->nodes.len);
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    Dim place[GRAPH_RANK_MAX];
    StageOf s = {l, 0};
    Node *n = g->nodes.data[i];
    group_read_place(k->f, g, n, place);
    each_use_at(k->f, n, place, note_stage, &s);
    l->stage[i] = s.stage;
    if (s.stage > last) last = s.stage;
  }
  return last;
}

/* ---- reductions ---- */

typedef struct {
  const char *neutral;
  const char *combine; /* two accumulators */
  const char *whole;   /* a tile along its columns */
} Reduction;

static const Reduction reductions[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define REDUCE(neutral, combine, whole) neutral, combine, whole
#include "graph/ops/op_table.def"
};

static const Reduction *reduction_of(const Node *n) {
  const Reduction *r = &reductions[n->op->id];
  if (!r->whole) BUG("no reduction: %s", n->op->target);
  return r;
}

const char *kernel_neutral(Kernel *k, const char *rule, DType t) {
  bool least = !strcmp(rule, "least"), most = !strcmp(rule, "most");
  if (!least && !most) return rule;
  if (dtype_is_float(t)) return least ? "float(\"-inf\")" : "float(\"inf\")";
  if (t == DT_I1) return least ? "False" : "True";
  unsigned bits = dtype_bits(t);
  if (!dtype_is_signed(t))
    return least ? "0" : arena_printf(k->arena, "%llu", ~0ull >> (64 - bits));
  long long max = (long long)(~0ull >> (65 - bits));
  return least ? arena_printf(k->arena, "(-%lld - 1)", max) : arena_printf(k->arena, "%lld", max);
}

static const char *neutral(Kernel *k, const Node *n, DType t) {
  return kernel_neutral(k, reduction_of(n)->neutral, t);
}

static const char *with(Kernel *k, const char *text, const char *a, const char *b) {
  const char *operands[] = {a, b};
  return kernel_fill(k, text, operands);
}

static const char *whole_tile(Kernel *k, const char *v, const char *mask, const char *otherwise) {
  v = arena_printf(k->arena, "tl.broadcast_to(%s, [XBLOCK, RBLOCK])", v);
  return mask ? arena_printf(k->arena, "tl.where(%s, %s, %s)", mask, v, otherwise) : v;
}

/* The elements that n reduces, in the dtype in which it does, with the neutral number behind the
 * row's end. */
static const char *reduced_tile(Kernel *k, Node *n, DType t) {
  Dim place[GRAPH_RANK_MAX];
  group_read_place(k->f, k->group, n, place);
  const char *v = kernel_cast(k, kernel_value(k, n->args[0].node, place), t);
  return whole_tile(k, v, k->masks[AXIS_R], neutral(k, n, t));
}

static void remember_row(Kernel *k, Node *n, const char *name, DType t) {
  Dim place[GRAPH_RANK_MAX];
  Value v = {name, t};
  group_place(k->f, k->group, n, place);
  DType held = kernel_held(n->type.dtype);
  if (held != t) {
    kernel_line(k, "%s = %s", name, kernel_cast(k, v, held));
    v.dtype = held;
  }
  kernel_remember(k, n, place, v);
}

static DType accumulator(const Node *n) {
  DType t = n->type.dtype;
  const DType from = n->args[0].node->type.dtype;
  bool sums = n->op->id == OP_aten_sum_dim_IntList || n->op->id == OP_aten_prod_dim_int;
  return kernel_held(sums || t == DT_I1 ? t : from);
}

static void reduce_tile(Kernel *k, Node *n) {
  DType t = accumulator(n);
  const char *tile = reduced_tile(k, n, t), *name = kernel_fresh_for(k, n);
  kernel_line(k, "%s = %s", name, with(k, reduction_of(n)->whole, tile, NULL));
  remember_row(k, n, name, t);
}

/* ---- statements ---- */

static Value own_value(Kernel *k, Node *n) {
  Dim place[GRAPH_RANK_MAX];
  group_place(k->f, k->group, n, place);
  return kernel_value(k, n, place);
}

static void compute(Kernel *k, Node *n) {
  if (prim_kind(n->op) == PRIM_SCATTER) {
    kernel_scatter(k, n);
    return;
  }
  if (prim_checks(n)) {
    kernel_check(k, n);
    return;
  }
  if (is_reduction(k, n)) reduce_tile(k, n);
  if (is_scan(k, n)) kernel_scan(k, n, false);
  Value v = own_value(k, n);
  if (k->f->stored[n->id]) kernel_store(k, n, v);
}

static void open_columns(Kernel *k, bool looped) {
  const char *r = kernel_index(k, k->group->r, NULL), *wide = kernel_wide(k);
  if (looped) {
    kernel_line(k, "for start in range(0, %s, RBLOCK):", r);
    k->indent += 4;
    kernel_line(k, "rindex = start + tl.arange(0, RBLOCK)[None, :]%s", wide);
  } else {
    kernel_line(k, "rindex = tl.arange(0, RBLOCK)[None, :]%s", wide);
  }
  kernel_line(k, "rmask = rindex < %s", r);
}

/* ---- rows in loops ---- */

static void begin_accumulator(Kernel *k, Node *n) {
  DType t = accumulator(n);
  kernel_line(k, "%s = tl.full([XBLOCK, RBLOCK], %s, tl.%s)", kernel_carried(k, n, "acc"),
              neutral(k, n, t), dtype_lang_name(t));
}

static void accumulate(Kernel *k, Node *n) {
  const char *tile = reduced_tile(k, n, accumulator(n));
  const char *acc = kernel_carried(k, n, "acc");
  kernel_line(k, "%s = %s", acc, with(k, reduction_of(n)->combine, acc, tile));
}

static void end_accumulator(Kernel *k, Node *n) {
  const char *name = kernel_fresh_for(k, n), *acc = kernel_carried(k, n, "acc");
  kernel_line(k, "%s = %s", name, with(k, reduction_of(n)->whole, acc, NULL));
  remember_row(k, n, name, accumulator(n));
}

/* Values that hang on columns are gone when their loop ends. */
static void forget_columns(Kernel *k, size_t memo, size_t taken) {
  k->memo.len = memo;
  kernel_forget(k, taken);
}

static bool needs_loop(const Loops *l, uint32_t stage) {
  const Group *g = l->k->group;
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    bool effect = l->k->f->stored[n->id] || prim_checks(n);
    bool full = l->k->f->role[n->id] == ROLE_FULL && effect;
    if (l->stage[i] == stage && (full || is_reduction(l->k, n))) return true;
  }
  return false;
}

static void each_of_stage(Loops *l, uint32_t stage, void (*f)(Kernel *k, Node *n), bool reducing,
                          Role role) {
  const Group *g = l->k->group;
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    Node *n = g->nodes.data[i];
    bool wanted =
        reducing ? is_reduction(l->k, n) : !is_reduction(l->k, n) && l->k->f->role[n->id] == role;
    if (l->stage[i] == stage && wanted) f(l->k, n);
  }
}

/* The scans up to a stage: later ones may use those of earlier ones, which are made anew. */
static void each_scan(Loops *l, uint32_t stage, void (*f)(Kernel *k, Node *n)) {
  const Group *g = l->k->group;
  for (uint32_t i = 0; i < g->nodes.len; i++)
    if (l->stage[i] <= stage && is_scan(l->k, g->nodes.data[i])) f(l->k, g->nodes.data[i]);
}

static void scan_part(Kernel *k, Node *n) { kernel_scan(k, n, true); }

static void store_if_wanted(Kernel *k, Node *n) {
  if (prim_checks(n)) kernel_check(k, n);
  if (k->f->stored[n->id]) kernel_store(k, n, own_value(k, n));
}

static void stage_in_loop(Loops *l, uint32_t stage) {
  Kernel *k = l->k;
  each_of_stage(l, stage, compute, false, ROLE_ROW);
  if (!needs_loop(l, stage)) return;
  each_of_stage(l, stage, begin_accumulator, true, ROLE_NONE);
  each_scan(l, stage, kernel_begin_scan);
  size_t memo = k->memo.len, taken = k->taken.len;
  open_columns(k, true);
  each_scan(l, stage, scan_part);
  each_of_stage(l, stage, accumulate, true, ROLE_NONE);
  each_of_stage(l, stage, store_if_wanted, false, ROLE_FULL);
  k->indent -= 4;
  forget_columns(k, memo, taken);
  each_of_stage(l, stage, end_accumulator, true, ROLE_NONE);
  each_of_stage(l, stage, store_if_wanted, true, ROLE_NONE);
}

/* ---- kernels ---- */

static void set_masks(Kernel *k, bool columns) {
  k->masks[AXIS_X] = "xmask";
  k->masks[AXIS_R] = columns ? "rmask" : NULL;
  k->masks[AXIS_X | AXIS_R] = columns ? "xmask & rmask" : "xmask";
}

void kernel_loops(Text *out, Kernel *k, bool looped) {
  const Group *g = k->group;
  bool rows = !dim_is(g->r, 1);
  Loops l = {.k = k};
  uint32_t last = find_stages(&l);
  kernel_bind(k, g->index[0], "xindex", AXIS_X);
  kernel_bind(k, g->index[1], "rindex", AXIS_R);
  set_masks(k, rows);
  if (rows && !looped) open_columns(k, false);
  if (rows && looped)
    for (uint32_t s = 0; s <= last; s++) stage_in_loop(&l, s);
  else
    for (size_t i = 0; i < g->nodes.len; i++) compute(k, g->nodes.data[i]);
  const char *x = kernel_index(k, g->x, NULL);
  kernel_emit(out, k, rows ? "reduction.py" : "pointwise.py", (Slot[]){{"x", x}}, 1);
}
