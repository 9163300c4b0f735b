/* Kernels of GROUP_LOOPS: pointwise nodes and reductions over one domain.
 *
 * Without columns a tile is a run of elements.  Otherwise it is rows by columns, and a row is
 * processed in *stages*: stage s is what needs the results of reductions of stages before s. A row
 * that fits a tile (persistent) is loaded once, and what was computed for one stage is there for
 * the next.  A longer one is processed by a loop for each stage, which recomputes what it needs.
 *
 * Where the group has strips, the tile is one of strips, and each node is computed for their parts
 * one after the other. */
#include <string.h>

#include "graph/analysis/element_value.h"
#include "graph/analysis/strided.h"
#include "graph/ops/window.h"
#include "lower/target/machine.h"
#include "planner/kernels/kernel.h"
#include "planner/plan/plan.h"

/* ---- scans: each element of a row from those before it and itself ----
 *
 * Rows of one tile are scanned at once.  A longer one is gone through in a loop that carries, in
 * NAME_carry, what came before: the last element that was made. */

typedef struct {
  const char *neutral;
  const char *whole;   /* of a tile along its columns */
  const char *combine; /* of the carried value and a tile; NULL: a row must fit a tile */
  bool indices;        /* of pairs of an element and its index; the indices are what is wanted */
} Scan;

static const Scan scans[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define SCAN(neutral, whole, combine, indices) neutral, whole, combine, indices
#include "graph/ops/op_table.def"
};

static const Scan *scan_of(const Node *n) {
  const Scan *s = &scans[n->op->id];
  BUG_IF(!s->whole, "no scan: %s", n->op->target);
  return s;
}

bool kernel_scan_gives_indices(const Node *n) { return scan_of(n)->indices; }

/* Booleans are compared as numbers. */
static DType scanned_dtype(const Node *n) {
  DType t = scan_of(n)->indices ? n->args[0].node->type.dtype : n->type.dtype;
  return t == DT_I1 ? DT_I32 : kernel_held(t);
}

static const char *carry_of(Kernel *k, const Node *n) { return kernel_carried(k, n, "carry"); }

/* Initializes the value that a loop over a row carries. */
static void kernel_begin_scan(Kernel *k, Node *n) {
  const Scan *s = scan_of(n);
  DType t = scanned_dtype(n);
  const char *carry = carry_of(k, n);
  kernel_line(k, "%s = tl.full([XBLOCK, 1], %s, tl.%s)", carry, kernel_neutral(k, s->neutral, t),
              dtype_lang_name(t));
  if (s->indices) kernel_line(k, "%s_place = tl.full([XBLOCK, 1], 0, tl.int32)", carry);
}

/* The operand as a whole tile; the neutral element after the row's end. */
static const char *scanned_tile(Kernel *k, Node *n, const Dim *index) {
  DType t = scanned_dtype(n);
  const char *v = kernel_cast(k, kernel_value(k, n->args[0].node, index), t);
  return arena_printf(k->arena, "tl.where(%s, %s, %s)", k->masks[AXIS_X | AXIS_R], v,
                      kernel_neutral(k, scan_of(n)->neutral, t));
}

/* Sums of narrow integers are wider than these. */
static void keep_last(Kernel *k, const char *carry, const char *name, DType t) {
  bool narrow = dtype_is_int(t) && dtype_bits(t) < 32;
  const char *cast = narrow ? arena_printf(k->arena, ".to(tl.%s)", dtype_lang_name(t)) : "";
  kernel_line(k, "%s = tl.sum(tl.where(rindex == start + RBLOCK - 1, %s, 0), 1, keep_dims=True)%s",
              carry, name, cast);
}

/* A GPU sorts in registers, by steps of which a C compiler would make a long text. */
static const char *whole_scan(const Kernel *k, const Node *n) {
  bool in_registers = n->op->id == OP_nereid_sort_default && !k->graph->host;
  return in_registers ? "tl.sort({0}, 1)" : scan_of(n)->whole;
}

static const char *scan_elements(Kernel *k, Node *n, const char *tile, bool looped) {
  const char *name = kernel_fresh_for(k, n), *carry = carry_of(k, n);
  const char *operands[] = {tile};
  kernel_line(k, "%s = %s", name, kernel_fill(k, whole_scan(k, n), operands));
  if (!looped) return name;
  const char *pair[] = {carry, name};
  kernel_line(k, "%s = %s", name, kernel_fill(k, scan_of(n)->combine, pair));
  keep_last(k, carry, name, scanned_dtype(n));
  return name;
}

static const char *print_index_scan(Kernel *k, Node *n, const char *tile, bool looped) {
  const char *best = kernel_fresh(k, "best"), *name = kernel_fresh_for(k, n);
  const char *carry = carry_of(k, n);
  const char *operands[] = {tile, "tl.broadcast_to(rindex, [XBLOCK, RBLOCK]).to(tl.int32)"};
  kernel_line(k, "%s, %s = %s", best, name, kernel_fill(k, scan_of(n)->whole, operands));
  if (!looped) return name;
  const char *index = arena_printf(k->arena, "%s_place", carry);
  const char *pairs[] = {carry, index, best, name};
  kernel_line(k, "%s, %s = %s", best, name, kernel_fill(k, scan_of(n)->combine, pairs));
  keep_last(k, carry, best, scanned_dtype(n));
  keep_last(k, index, name, DT_I32);
  return name;
}

/* Computes the elements of n, a PRIM_SCAN, in a tile of whole rows, or of a part (looped). */
static void kernel_scan(Kernel *k, Node *n, bool looped) {
  Dim index[GRAPH_RANK_MAX];
  group_index(k->f, k->group, n, index);
  const char *tile = scanned_tile(k, n, index);
  bool indices = scan_of(n)->indices;
  Value v = {(indices ? print_index_scan : scan_elements)(k, n, tile, looped), scanned_dtype(n)};
  if (indices) v.dtype = DT_I32;
  DType held = kernel_held(n->type.dtype);
  v = (Value){kernel_cast(k, v, held), held};
  kernel_remember(k, n, index, v);
}

/* ---- searching, merging, scattering ----
 *
 * Nodes that read or write memory at indices that data says, many times for an element or in any
 * order.  The tensor that they search or scatter to is in memory. */

/* The mask of a value whose index is this, under the condition that holds now. */
static const char *index_mask(Kernel *k, const Dim *index, uint32_t rank) {
  const char *mask = k->masks[kernel_axes(k, index, rank)], *c = k->condition;
  if (mask && c) return arena_printf(k->arena, "%s & %s", mask, c);
  return mask ? mask : c ? c : "True";
}

/* Halvings after which nothing is left of `n` elements. */
static int halvings(Kernel *k, Dim n) {
  int64_t most = dim_range(k->graph->dims, n).hi;
  int steps = 0;
  while (steps < 31 && (int64_t)1 << steps <= most) steps++;
  return steps;
}

/* The offset of the begin of the index's row. */
static const char *row_offset(Kernel *k, const Node *n, const Dim *index) {
  Dim at[GRAPH_RANK_MAX];
  uint32_t rank = n->type.rank;
  memcpy(at, index, rank * sizeof *at);
  at[rank - 1] = dim_int(k->graph->dims, 0);
  return kernel_index(k, linear_of_index(k->graph->dims, at, n->type.shape, rank), NULL);
}

static const char *merge_scans(Kernel *k, Node *n, const Dim *index) {
  Node *x = n->args[0].node;
  uint32_t last = n->type.rank - 1;
  int64_t run = graph_arg(k->graph, n, "run").dim->value;
  return arena_printf(k->arena, "merged(%s, %s, %s, %s, %s, %lld, %d, %s)", kernel_buffer(k, x),
                      row_offset(k, n, index), kernel_index(k, index[last], NULL),
                      kernel_index(k, n->type.shape[last], NULL), index_mask(k, index, last + 1),
                      (long long)run, halvings(k, dim_int(k->graph->dims, run)),
                      kernel_neutral(k, "most", x->type.dtype));
}

/* A sequence of one axis is searched for all values, else each row for those of its row. */
static const char *search_row(Kernel *k, Node *n, const Dim *index) {
  Node *sequence = n->args[0].node, *values = n->args[1].node;
  uint32_t last = sequence->type.rank - 1;
  Dim size = sequence->type.shape[last];
  Value v = kernel_value(k, values, index);
  const char *offset = last ? row_offset(k, sequence, index) : "0";
  return arena_printf(k->arena, "search(%s, %s, %s, %s, %s, %s, %d)", kernel_buffer(k, sequence),
                      offset, kernel_index(k, size, NULL), v.text,
                      index_mask(k, index, n->type.rank),
                      graph_arg(k->graph, n, "right").flag ? "True" : "False", halvings(k, size));
}

/* A column of the rows that are of one segment. */
static const char *sum_segment(Kernel *k, Node *n, const Dim *index) {
  Node *rows = n->args[0].node;
  const char *inside = k->masks[kernel_axes(k, index, 1)];
  return arena_printf(k->arena, "segment_sum(%s, %s, %s, %s, %s, %s, %s, %s, tl.%s)",
                      kernel_buffer(k, rows), kernel_buffer(k, n->args[1].node),
                      kernel_buffer(k, n->args[2].node), kernel_index(k, index[0], NULL),
                      kernel_index(k, index[1], NULL), kernel_index(k, rows->type.shape[1], NULL),
                      inside ? inside : "True", index_mask(k, index + 1, 1),
                      dtype_lang_name(n->type.dtype));
}

/* The leaf of the tree of the index's last axis. */
static const char *descend_tree(Kernel *k, Node *n, const Dim *index) {
  Node *x = n->args[0].node;
  Arg values = graph_arg(k->graph, n, "values");
  const Dim row[] = {index[0], dim_int(k->graph->dims, 0)};
  Value root = kernel_value(k, n->args[3].node, index + 1);
  return arena_printf(k->arena, "tree_leaf(%s, %s, %s, %s, %s, %s, %s, %lld)", kernel_buffer(k, x),
                      row_offset(k, x, row), index_mask(k, index, 1),
                      kernel_buffer(k, n->args[1].node),
                      values.kind == ARG_NODE ? kernel_buffer(k, values.node) : "None", root.text,
                      index_mask(k, index + 1, 1),
                      (long long)graph_arg(k->graph, n, "bits").dim->value);
}

const char *kernel_search(Kernel *k, Node *n, const Dim *index) {
  if (n->op->id == OP_nereid_tree_leaf_default) return descend_tree(k, n, index);
  if (n->op->id == OP_nereid_segment_sum_default) return sum_segment(k, n, index);
  return (n->op->id != OP_nereid_merge_default ? search_row : merge_scans)(k, n, index);
}

/* ---- scattering ---- */

static const char *whole_tile_of(Kernel *k, Value v, DType t) {
  const char *shape = dim_is(k->group->r, 1) ? "XBLOCK" : "XBLOCK, RBLOCK";
  return arena_printf(k->arena, "tl.broadcast_to(%s, [%s])", kernel_cast(k, v, t), shape);
}

/* A program does the row of its number, of a tile of one element. */
static void suppress(Kernel *k, Node *n) {
  enum { BLOCK_MAX = 1024 };
  Dims *d = k->graph->dims;
  Dim row = n->type.shape[1];
  Node *boxes = n->args[3].node;
  const char *number = kernel_fresh(k, "number");
  kernel_line(k, "%s = tl.sum(%s, 0)", number,
              whole_tile_of(k, kernel_value(k, n->args[1].node, k->group->element), DT_I64));
  Dim which = dim_index(d, "number", boxes->type.shape[0]);
  kernel_bind(k, which, number, 0);
  const char *size = kernel_index(k, row, NULL);
  const char *offset = arena_printf(k->arena, "tl.program_id(0) * (%s)", size);
  const char *from = kernel_index(k, dim_mul(d, which, dim_mul(d, row, dim_int(d, 4))), NULL);
  int64_t block = 1;
  while (block < BLOCK_MAX && block < dim_range(d, row).hi) block *= 2;
  kernel_line(k, "suppress(%s + %s, %s + %s, %s + %s, %s, %s, %s, %lld)",
              kernel_buffer(k, n->args[0].node), offset, kernel_buffer(k, n->args[2].node), offset,
              kernel_buffer(k, boxes), from, kernel_buffer(k, n->args[4].node), size,
              kernel_index(k, graph_arg(k->graph, n, "most").dim, NULL), (long long)block);
}

/* Where a program's row of x begins. */
static const char *own_row(Kernel *k, Node *x) {
  return arena_printf(k->arena, "%s + tl.program_id(0)%s * %s", kernel_buffer(k, x), kernel_wide(k),
                      kernel_operand(k, x->type.shape[1]));
}

/* A program does the matrix of its number, of a tile of one element. */
static void matrix(Kernel *k, Node *n) {
  const Arg sizes = graph_arg(k->graph, n, "sizes");
  Text text = text_new(k->arena);
  for (uint32_t i = 0; i < sizes.n; i++)
    text_printf(&text, ", %s", kernel_index(k, sizes.items[i].dim, NULL));
  kernel_line(k, "matrix_%s(%s, %s, %s%s)", graph_arg(k->graph, n, "function").name,
              own_row(k, n->args[0].node), own_row(k, n->args[2].node), own_row(k, n->args[3].node),
              text.data);
}

/* An index that is chosen under a condition, and is -1 else. */
typedef struct {
  Node *index;
  Node *condition; /* NULL: none */
} Chosen;

static Chosen chosen_index(const Kernel *k, Node *index) {
  const Chosen all = {index, NULL};
  if (k->f->of[index->id] || index->kind != NODE_CALL) return all;
  if (index->op->id != OP_aten_where_self) return all;
  Arg condition = graph_arg(k->graph, index, "condition"),
      other = graph_arg(k->graph, index, "other");
  Arg self = graph_arg(k->graph, index, "self");
  bool nowhere = other.kind == ARG_INT && dim_is(other.dim, -1);
  if (!nowhere || condition.kind != ARG_NODE || self.kind != ARG_NODE) return all;
  return (Chosen){self.node, condition.node};
}

static Dim known_index(Kernel *k, const Node *user, Node *index) {
  Dim at[GRAPH_RANK_MAX];
  broadcast_index(k->graph, user, k->group->element, index, at);
  return element_value(k->graph, index, at);
}

static unsigned whole_axes(const Kernel *k) {
  return dim_is(k->group->r, 1) ? AXIS_X : AXIS_X | AXIS_R;
}

static const char *chosen_mask(Kernel *k, const Node *user, Node *condition) {
  Dim at[GRAPH_RANK_MAX];
  const char *all = k->masks[whole_axes(k)];
  if (!condition) return all;
  broadcast_index(k->graph, user, k->group->element, condition, at);
  const char *c = whole_tile_of(k, kernel_value(k, condition, at), DT_I1);
  return arena_printf(k->arena, "%s & %s", all, c);
}

/* Where it may be -1, nowhere, it is no index of a store. */
static bool may_be_nowhere(const Kernel *k, Dim index) {
  return dim_range(k->graph->dims, index).lo < 0;
}

/* An index that depends on no data is computed as that of any store. */
static void print_put(Kernel *k, Node *n) {
  Node *to = n->args[0].node, *index = n->args[1].node;
  const Dim *element = k->group->element;
  Chosen chosen = chosen_index(k, index);
  Dim known = known_index(k, index, chosen.index);
  const char *v = whole_tile_of(k, kernel_value(k, n->args[2].node, element), n->type.dtype);
  if (known && (chosen.condition || !may_be_nowhere(k, known))) {
    unsigned axes = 0;
    const char *mask = chosen_mask(k, index, chosen.condition);
    const char *at = kernel_index(k, known, &axes);
    const char *all = axes == whole_axes(k)    ? ""
                      : dim_is(k->group->r, 1) ? " + xindex * 0"
                                               : " + (xindex + rindex) * 0";
    kernel_line(k, "tl.store(%s + %s%s, %s, mask=%s)", kernel_buffer(k, to), at, all, v, mask);
    return;
  }
  Value place = kernel_value(k, index, element);
  const char *at = kernel_fresh(k, "at");
  kernel_line(k, "%s = %s", at, whole_tile_of(k, place, place.dtype == DT_I32 ? DT_I32 : DT_I64));
  kernel_line(k, "tl.store(%s + %s, %s, mask=%s & (%s >= 0))", kernel_buffer(k, to), at, v,
              k->masks[whole_axes(k)], at);
}

static void print_scatter(Kernel *k, Node *n) {
  Node *to = n->args[0].node, *index = n->args[1].node, *src = n->args[2].node;
  const char *reduce = graph_arg(k->graph, n, "reduce").name;
  const char *how = !strcmp(reduce, "amax") ? "max" : !strcmp(reduce, "amin") ? "min" : "add";
  const Dim *element = k->group->element;
  const char *at = kernel_fresh(k, "at");
  kernel_line(k, "%s = %s", at, whole_tile_of(k, kernel_value(k, index, element), DT_I64));
  const char *v = whole_tile_of(k, kernel_value(k, src, element), n->type.dtype);
  const char *end = kernel_index(k, value_numel(k->graph, &to->type), NULL);
  const char *inside = kernel_fresh(k, "inside");
  kernel_line(k, "%s = (%s >= 0) & (%s < %s)", inside, at, at, end);
  kernel_line(k, "tl.atomic_%s(%s + %s, %s, mask=xmask & %s, sem=\"relaxed\")", how,
              kernel_buffer(k, to), at, v, inside);
}

/* ---- checks ---- */

/* The elements that there are, but for those that n passes over. */
static const char *checked_mask(Kernel *k, const Node *n, Value index) {
  bool columns = !dim_is(k->group->r, 1) && k->f->role[n->id] == ROLE_FULL;
  const char *mask = k->masks[columns ? AXIS_X | AXIS_R : AXIS_X];
  if (group_checks_scalar(k->f, k->group, n)) mask = "True";
  Arg ignore = graph_arg(k->graph, n, "ignore");
  if (ignore.kind != ARG_INT) return mask;
  return arena_printf(k->arena, "%s & (%s != %s)", mask, index.text,
                      kernel_index(k, ignore.dim, NULL));
}

/* A string of the kernel language. */
static const char *check_message(Kernel *k, const Node *n, Dim size) {
  Text t = text_new(k->arena), quoted = text_new(k->arena);
  const char *fault = prim_check_fault(k->graph, n);
  const char *node = graph_arg(k->graph, n, "node").name;
  if (fault) {
    text_printf(&t, "%s refuses its data: %s", node, fault);
  } else {
    text_printf(&t, "%s: an index is out of range for an axis of ", node);
    dim_print(&t, size);
    text_puts(&t, " elements");
  }
  text_quote(&quoted, t.data);
  return quoted.data;
}

/* Records the first index that n, a PRIM_CHECK, finds out of range; with `asserts` the launch ends
 * then. */
static void kernel_check(Kernel *k, Node *n) {
  Dims *d = k->graph->dims;
  Dim element[GRAPH_RANK_MAX], size = graph_arg(k->graph, n, "size").dim, least = dim_int(d, 0);
  if (graph_arg(k->graph, n, "negative").flag) least = dim_sub(d, least, size);
  group_index(k->f, k->group, n, element);
  Value index = kernel_value(k, n->args[0].node, element);
  Dim linear = linear_of_index(d, element, n->type.shape, n->type.rank);
  const char *record = KERNEL_RECORDS;
  if (k->checks.len)
    record = arena_printf(k->arena, "%s + %zu", record, PLAN_RECORD * k->checks.len);
  const char *from = kernel_index(k, least, NULL), *to = kernel_index(k, size, NULL);
  const char *mask = checked_mask(k, n, index);
  bool branches = k->graph->host && !group_checks_scalar(k->f, k->group, n);
  kernel_line(k, "check_index(%s, %s, %s, %s, %s, %s%s)", index.text, from, to,
              kernel_index(k, linear, NULL), mask, record, branches ? ", ALONE=True" : "");
  if (k->graph->asserts)
    kernel_line(k, "tl.device_assert(is_index(%s, %s, %s), %s, mask=%s)", index.text, from, to,
                check_message(k, n, size), mask);
  vec_push(k->arena, &k->checks, (const Node *)n);
}

/* Writes to the elements that n, a PRIM_SCATTER, names. */
static void kernel_scatter(Kernel *k, Node *n) {
  if (graph_is(n, OP_nereid_matrix_default)) matrix(k, n);
  else (prim_does_rows(n) ? suppress : prim_puts(n) ? print_put : print_scatter)(k, n);
}

typedef struct {
  Kernel *k;
  uint32_t *stage; /* by position in the group's nodes */
} Loops;

/* ---- stages ---- */

typedef struct {
  const Loops *l;
  uint32_t stage;
} StageOf;

static uint32_t group_position(const Group *g, const Node *n) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (g->nodes.data[i] == n) return (uint32_t)i;
  return UINT32_MAX;
}

static bool is_reduction(const Kernel *k, const Node *n) {
  PrimKind p = prim_kind(n->op);
  return p == PRIM_REDUCE && !dim_is(k->group->r, 1);
}

static bool strips_along_rows(const Kernel *k) { return k->nparts > 1 && k->group->strip_axis; }

static bool is_scan(const Kernel *k, const Node *n) {
  return prim_kind(n->op) == PRIM_SCAN && !dim_is(k->group->r, 1);
}

/* A reduction's result is available one stage after its operands. */
static void note_stage(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  StageOf *s = ctx;
  const Kernel *k = s->l->k;
  uint32_t i = group_position(k->group, operand);
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
    Dim index[GRAPH_RANK_MAX];
    StageOf s = {l, 0};
    Node *n = g->nodes.data[i];
    group_read_index(k->f, g, n, index);
    each_use_at(k->f, n, index, note_stage, &s);
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

static const Reduction *find_reduction(const Node *n) {
  const Reduction *r = &reductions[n->op->id];
  BUG_IF(!r->whole, "no reduction: %s", n->op->target);
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
  return kernel_neutral(k, find_reduction(n)->neutral, t);
}

static const char *with(Kernel *k, const char *text, const char *a, const char *b) {
  const char *operands[] = {a, b};
  return kernel_fill(k, text, operands);
}

static const char *whole_tile(Kernel *k, const char *v, const char *mask, const char *otherwise) {
  v = arena_printf(k->arena, "tl.broadcast_to(%s, [XBLOCK, RBLOCK])", v);
  return mask ? arena_printf(k->arena, "tl.where(%s, %s, %s)", mask, v, otherwise) : v;
}

/* The elements that n reduces, in the dtype in which it does, with the neutral element after the
 * row's end. */
static const char *reduced_tile(Kernel *k, Node *n, DType t) {
  Dim index[GRAPH_RANK_MAX];
  group_read_index(k->f, k->group, n, index);
  const char *v = kernel_cast(k, kernel_value(k, n->args[0].node, index), t);
  return whole_tile(k, v, k->masks[AXIS_R], neutral(k, n, t));
}

static void remember_row(Kernel *k, Node *n, const char *name, DType t) {
  Dim index[GRAPH_RANK_MAX];
  Value v = {name, t};
  group_index(k->f, k->group, n, index);
  DType held = kernel_held(n->type.dtype);
  if (held != t) {
    kernel_line(k, "%s = %s", name, kernel_cast(k, v, held));
    v.dtype = held;
  }
  kernel_remember(k, n, index, v);
}

static DType accumulator_dtype(const Node *n) {
  DType t = n->type.dtype;
  const DType from = n->args[0].node->type.dtype;
  bool sums = n->op->id == OP_aten_sum_dim_IntList || n->op->id == OP_aten_prod_dim_int;
  return kernel_held(sums || t == DT_I1 ? t : from);
}

/* Strips along the row are reduced to one tile first. */
static const char *reduced_strips(Kernel *k, Node *n, DType t) {
  const char *first = reduced_tile(k, n, t);
  if (!strips_along_rows(k)) return first;
  const char *acc = kernel_carried(k, n, "acc");
  kernel_line(k, "%s = %s", acc, first);
  for (uint32_t i = 1; i < k->nparts; i++) {
    kernel_use_part(k, i);
    const char *part = reduced_tile(k, n, t);
    kernel_line(k, "%s = %s", acc, with(k, find_reduction(n)->combine, acc, part));
  }
  kernel_use_part(k, 0);
  return acc;
}

static void reduce_tile(Kernel *k, Node *n) {
  DType t = accumulator_dtype(n);
  const char *tile = reduced_strips(k, n, t), *name = kernel_fresh_for(k, n);
  kernel_line(k, "%s = %s", name, with(k, find_reduction(n)->whole, tile, NULL));
  remember_row(k, n, name, t);
}

/* ---- statements ---- */

static Value own_value(Kernel *k, Node *n) {
  Dim index[GRAPH_RANK_MAX];
  group_index(k->f, k->group, n, index);
  return kernel_value(k, n, index);
}

static void compute_group_node(Kernel *k, Node *n) {
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

/* ---- words ----
 *
 * A copy into panels of matrices (tiling) of elements of 8 or 16 bits is stored word by
 * word, whose elements are of rows that follow each other: a strip's parts.  Where these are a word
 * in memory, it is loaded as one. */

/* Where an element is: in `memory`, if `column` < `columns`, else it is 0; columns NULL: always. */
typedef struct {
  Node *memory;
  Dim offset, column, columns;
} Element;

/* The element of memory through the views of n's operand; false: it is computed. */
static bool element_of(Kernel *k, Node *n, Element *e) {
  Dim at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  Node *x = n->args[0].node;
  group_index(k->f, k->group, n, at);
  *e = (Element){0};
  while (!kernel_loads(k, x)) {
    Node *whole = strided_unpadded(k->graph, x);
    if (whole && e->columns) return false;
    if (whole) {
      e->column = at[whole->type.rank - 1];
      e->columns = whole->type.shape[whole->type.rank - 1];
      x = whole;
      continue;
    }
    if (!prim_is_view(x)) return false;
    view_index(k->graph, x, at, from);
    x = view_operand(x);
    for (uint32_t i = 0; i < x->type.rank; i++) at[i] = from[i];
  }
  e->memory = x;
  e->offset = linear_of_index(k->graph->dims, at, x->type.shape, x->type.rank);
  return true;
}

static const char *words_at(Kernel *k, Node *memory, Dim offset, uint32_t word) {
  Dim at = dim_floordiv(k->graph->dims, offset, dim_int(k->graph->dims, word));
  return arena_printf(k->arena, "%s.to(tl.pointer_type(tl.int32)) + %s", kernel_buffer(k, memory),
                      kernel_index(k, at, NULL));
}

static bool is_in_word(Dims *d, const Element *first, const Element *e, uint32_t part) {
  return e->memory == first->memory && e->column == first->column && e->columns == first->columns &&
         e->offset == dim_add(d, first->offset, dim_int(d, part));
}

/* The word as memory has it, or 0 after the last column; NULL: its elements are apart. */
static const char *loaded_word(Kernel *k, Node *n, const char *mask) {
  Element first, e;
  if (!element_of(k, n, &first) || first.memory->type.dtype != n->type.dtype) return NULL;
  if (!dim_divisible(first.offset, k->nparts)) return NULL;
  for (uint32_t i = 1; i < k->nparts; i++) {
    kernel_use_part(k, i);
    bool next = element_of(k, n, &e) && is_in_word(k->graph->dims, &first, &e, i);
    kernel_use_part(k, 0);
    if (!next) return NULL;
  }
  const char *words = words_at(k, first.memory, first.offset, k->nparts);
  if (!first.columns) return arena_printf(k->arena, "tl.load(%s%s)", words, mask);
  const char *column = kernel_index(k, first.column, NULL);
  return arena_printf(k->arena, "tl.load(%s%s (%s < %s), other=0)", words,
                      *mask ? arena_printf(k->arena, "%s &", mask) : ", mask=", column,
                      kernel_index(k, first.columns, NULL));
}

/* The bits of a part, at their place in the word. */
static const char *part_bits(Kernel *k, Node *n, uint32_t part) {
  Dim index[GRAPH_RANK_MAX];
  DType t = n->type.dtype;
  int bits = (int)dtype_bits(t);
  kernel_use_part(k, part);
  group_index(k->f, k->group, n, index);
  Value v = kernel_value(k, n->args[0].node, index); /* a copy has its index */
  const char *text = arena_printf(k->arena, "(%s).to(tl.uint%d, bitcast=True).to(tl.int32)",
                                  kernel_cast(k, v, t), bits);
  kernel_use_part(k, 0);
  return part ? arena_printf(k->arena, "(%s << %d)", text, bits * (int)part) : text;
}

static const char *joined_word(Kernel *k, Node *n) {
  bool keeps = k->keeps_halves;
  k->keeps_halves = true;
  const char *word = part_bits(k, n, 0);
  for (uint32_t i = 1; i < k->nparts; i++)
    word = arena_printf(k->arena, "%s | %s", word, part_bits(k, n, i));
  k->keeps_halves = keeps;
  return word;
}

static void store_word(Kernel *k, Node *n) {
  Dim element[GRAPH_RANK_MAX];
  const char *axes = k->masks[AXIS_X | (k->group->crossed ? AXIS_R : 0)];
  const char *mask = axes ? arena_printf(k->arena, ", mask=%s", axes) : "";
  const char *word = loaded_word(k, n, mask), *name = kernel_fresh(k, "word");
  kernel_line(k, "%s = %s", name, word ? word : joined_word(k, n));
  group_index(k->f, k->group, n, element);
  Dim offset = linear_of_index(k->graph->dims, element, n->type.shape, n->type.rank);
  kernel_line(k, "tl.store(%s, %s%s)", words_at(k, n, offset, k->nparts), name, mask);
}

/* A node with one value a row is computed once for strips along the row. */
static void compute_parts(Kernel *k, Node *n) {
  if (k->group->words) {
    store_word(k, n);
    return;
  }
  bool once = strips_along_rows(k) && k->f->role[n->id] == ROLE_ROW;
  for (uint32_t i = 0; i < (once ? 1 : k->nparts); i++) {
    kernel_use_part(k, i);
    compute_group_node(k, n);
  }
  kernel_use_part(k, 0);
}

/* Programs of a group that is crossed go along its rows first, or down its columns where that is
 * the only way in which it stores: tiles that are written at a time are then next to each other in
 * memory.  On an H200 a transposition of 128 MB in f32 takes 72 us so, and 77 along its rows; one
 * of bf16 takes 39 us either way. */
static bool goes_down(const Group *g) {
  return !g->rows && g->nodes.len == 1 && dtype_bytes(g->nodes.data[0]->type.dtype) >= 4;
}

/* The program's number of crossed axes has a name where it is bounded (program_number). */
static const char *crossed_program(Kernel *k) {
  bool known = dim_is_int(k->group->x) && dim_is_int(k->group->r);
  if (k->graph->host && known) return "pid";
  return arena_printf(k->arena, "tl.program_id(0)%s", kernel_wide(k));
}

static void open_columns(Kernel *k, bool looped) {
  const char *r = kernel_index(k, k->group->r, NULL), *wide = kernel_wide(k);
  if (looped) {
    kernel_line(k, "for start in %s(0, %s, RBLOCK):", k->unrolls ? "tl.static_range" : "range", r);
    k->indent += 4;
    kernel_line(k, "rindex = start + tl.arange(0, RBLOCK)[None, :]%s", wide);
  } else if (k->group->crossed) {
    kernel_line(k, "rindex = %s %s * RBLOCK + tl.arange(0, RBLOCK)[None, :]", crossed_program(k),
                goes_down(k->group) ? "// down" : "% across");
  } else {
    kernel_line(k, "rindex = tl.arange(0, RBLOCK)[None, :]%s", wide);
  }
  kernel_line(k, "rmask = rindex < %s", r);
}

/* ---- rows in loops ---- */

static void begin_accumulator(Kernel *k, Node *n) {
  DType t = accumulator_dtype(n);
  kernel_line(k, "%s = tl.full([XBLOCK, RBLOCK], %s, tl.%s)", kernel_carried(k, n, "acc"),
              neutral(k, n, t), dtype_lang_name(t));
}

/* Whole blocks of a short row have no mask around what is added: a product of a vector is then a
 * multiplication and an addition at once. */
static void accumulate_tile(Kernel *k, Node *n) {
  DType t = accumulator_dtype(n);
  Dim index[GRAPH_RANK_MAX];
  group_read_index(k->f, k->group, n, index);
  const char *v = kernel_cast(k, kernel_value(k, n->args[0].node, index), t);
  const char *acc = kernel_carried(k, n, "acc"), *combine = find_reduction(n)->combine;
  const char *edge = whole_tile(k, v, k->masks[AXIS_R], neutral(k, n, t));
  if (!k->unrolls) {
    kernel_line(k, "%s = %s", acc, with(k, combine, acc, edge));
    return;
  }
  const char *whole = whole_tile(k, v, NULL, NULL), *r = kernel_index(k, k->group->r, NULL);
  kernel_line(k, "if %s %% RBLOCK == 0:", r);
  kernel_line(k, "    %s = %s", acc, with(k, combine, acc, whole));
  kernel_line(k, "else:");
  kernel_line(k, "    %s = %s", acc, with(k, combine, acc, edge));
}

static void end_accumulator(Kernel *k, Node *n) {
  const char *name = kernel_fresh_for(k, n), *acc = kernel_carried(k, n, "acc");
  kernel_line(k, "%s = %s", name, with(k, find_reduction(n)->whole, acc, NULL));
  remember_row(k, n, name, accumulator_dtype(n));
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
  if (prim_kind(n->op) == PRIM_SCATTER) kernel_scatter(k, n);
  else if (k->f->stored[n->id]) kernel_store(k, n, own_value(k, n));
}

static void stage_in_loop(Loops *l, uint32_t stage) {
  Kernel *k = l->k;
  each_of_stage(l, stage, compute_group_node, false, ROLE_ROW);
  if (!needs_loop(l, stage)) return;
  each_of_stage(l, stage, begin_accumulator, true, ROLE_NONE);
  each_scan(l, stage, kernel_begin_scan);
  size_t memo = k->memo.len, taken = k->taken.len;
  open_columns(k, true);
  each_scan(l, stage, scan_part);
  each_of_stage(l, stage, accumulate_tile, true, ROLE_NONE);
  each_of_stage(l, stage, store_if_wanted, false, ROLE_FULL);
  k->indent -= 4;
  forget_columns(k, memo, taken);
  each_of_stage(l, stage, end_accumulator, true, ROLE_NONE);
  each_of_stage(l, stage, store_if_wanted, true, ROLE_NONE);
}

/* ---- rows of images in strips ---- */

/* Columns from `first` on.  `again`: another strip follows, whose loops must not set this strip's
 * variables to values of other types. */
static void compute_strip(Loops *l, const Group *row, Dim first, int64_t parts, bool again) {
  Kernel *k = l->k;
  Dims *d = k->graph->dims;
  size_t memo = k->memo.len, taken = k->taken.len;
  k->nparts = (uint32_t)parts * k->planes;
  for (uint32_t i = 0; i < k->nparts; i++) {
    Dim column = dim_add(d, first, dim_int(d, i % parts));
    k->parts[i] = group_at_column(k->f, group_plane_after(k->f, row, i / parts), column);
  }
  k->group = k->parts[0];
  for (size_t i = 0; i < row->nodes.len; i++)
    if (k->f->role[row->nodes.data[i]->id] == ROLE_FULL) compute_parts(k, row->nodes.data[i]);
  forget_columns(k, memo, again ? k->taken.len : taken);
  k->nparts = 1;
  k->group = row;
}

/* Strips of `parts` columns each, from the row's begin on, in a loop. */
static void compute_strips(Loops *l, const Group *row, int64_t strips, int64_t parts) {
  Kernel *k = l->k;
  Dims *d = k->graph->dims;
  size_t taken = k->taken.len, bindings = k->bindings.len;
  const char *name = kernel_fresh(k, "strip");
  kernel_line(k, "for %s in range(0, %lld):", name, (long long)strips);
  Dim strip = dim_shared_index(d, "strip", dim_int(d, strips));
  kernel_bind(k, strip, name, 0);
  k->indent += 4;
  compute_strip(l, row, dim_mul(d, strip, dim_int(d, parts)), parts, false);
  k->indent -= 4;
  k->bindings.len = bindings;
  kernel_forget(k, taken);
}

static void row_in_strips(Loops *l, int64_t parts) {
  Kernel *k = l->k;
  const Group *row = k->group;
  Dims *d = k->graph->dims;
  int64_t columns = row->r->value, strips = (columns + parts - 1) / parts;
  int64_t last = columns - (strips - 1) * parts;
  k->row_strips = true;
  each_of_stage(l, 0, compute_group_node, false, ROLE_ROW);
  int64_t looped = strips > 2 ? columns / parts : 0;
  if (looped) compute_strips(l, row, looped, parts);
  else compute_strip(l, row, dim_int(d, 0), strips > 1 ? parts : last, strips > 1);
  if (strips > (looped ? looped : 1))
    compute_strip(l, row, dim_int(d, columns - last), last, false);
}

/* ---- vectors that slide ----
 *
 * A program has the rows of an image of one channel.  Windows of the row's columns from `begin`
 * until `end` are within the input: those columns are computed several vectors at a time, without
 * conditions, and those before and after them by single vectors, with masks. */

typedef struct {
  Dim begin, end;
} Within;

static Within columns_within(Kernel *k) {
  Dims *d = k->graph->dims;
  Dim zero = dim_int(d, 0), one = dim_int(d, 1);
  Within all = {zero, k->group->r};
  for (size_t i = 0; i < k->group->nodes.len; i++) {
    const Node *n = k->group->nodes.data[i];
    if (prim_kind(n->op) != PRIM_WINDOW) continue;
    Window w = window_of(k->graph, n);
    uint32_t last = w.n - 1;
    Dim more = dim_sub(d, w.stride[last], one), before = w.before[last];
    Dim reach = dim_mul(d, dim_sub(d, w.size[last], one), w.dilation[last]);
    Dim end = dim_sub(d, dim_add(d, w.input->type.shape[w.first + last], before), reach);
    end = dim_floordiv(d, dim_max(d, dim_add(d, end, more), zero), w.stride[last]);
    Dim begin = dim_floordiv(d, dim_max(d, dim_add(d, before, more), zero), w.stride[last]);
    all.begin = dim_max(d, all.begin, begin);
    all.end = dim_min(d, all.end, end);
  }
  return all;
}

/* A variable for a number that sizes decide when the kernel runs. */
static Dim named_number(Kernel *k, const char *base, Dim x) {
  if (dim_is_int(x)) return x;
  Dims *d = k->graph->dims;
  const char *name = kernel_fresh(k, base);
  kernel_line(k, "%s = %s", name, kernel_index(k, x, NULL));
  Dim symbol = dim_shared_index(d, base, dim_add(d, x, dim_int(d, 1)));
  kernel_bind(k, symbol, name, 0);
  return symbol;
}

/* The nodes of so many tiles along a row, each of `vectors`, from vector `from` on. */
static void slide_tiles(Kernel *k, Dim from, Dim count, int64_t vectors, bool within) {
  Dims *d = k->graph->dims;
  int64_t lanes = machine_find("cpu")->lanes, width = lanes * vectors;
  size_t memo = k->memo.len, taken = k->taken.len, bindings = k->bindings.len;
  if (dim_is_int(count) && count->value <= 0) return;
  const char *name = kernel_fresh(k, "tile");
  kernel_line(k, "for %s in range(0, %s):", name, kernel_index(k, count, NULL));
  Dim tile = dim_is(count, 1) ? dim_int(d, 0) : dim_shared_index(d, "tile", count);
  if (!dim_is(count, 1)) kernel_bind(k, tile, name, 0);
  k->indent += 4; /* also around one tile: its variables are of other types than the next loop's */
  Dim start = dim_mul(d, tile, dim_int(d, width));
  start = dim_add(d, start, dim_mul(d, from, dim_int(d, lanes)));
  const char *at = dim_is(start, 0) ? NULL : kernel_index(k, start, NULL);
  kernel_line(k, "rindex = %s%stl.arange(0, %lld)", at ? at : "", at ? " + " : "",
              (long long)width);
  if (!within) kernel_line(k, "rmask = rindex < %s", kernel_index(k, k->group->r, NULL));
  k->masks[AXIS_R] = k->masks[AXIS_X | AXIS_R] = within ? NULL : "rmask";
  k->slide = arena_printf(k->arena, "%lld", (long long)width);
  k->within = within;
  for (size_t i = 0; i < k->group->nodes.len; i++)
    if (k->f->role[k->group->nodes.data[i]->id] == ROLE_FULL)
      compute_group_node(k, k->group->nodes.data[i]);
  k->indent -= 4;
  k->bindings.len = bindings;
  forget_columns(k, memo, taken);
}

/* Vectors of a tile without conditions: more of them share weights, but leave more to masks. */
static int64_t vectors_of_tile(Dim vectors) {
  enum { MANY = 16, OF_MANY = 4, OF_FEW = 2 };
  return !dim_is_int(vectors) || vectors->value >= MANY ? OF_MANY : OF_FEW;
}

/* The parts of a row: vectors before the first tile without conditions, such tiles, and vectors
 * after them, from one of them on. */
typedef struct {
  Dim before, tiles, from, after;
  int64_t vectors;
} Slide;

static Slide slide_of(Kernel *k) {
  Dims *d = k->graph->dims;
  Dim lanes = dim_int(d, machine_find("cpu")->lanes), more = dim_sub(d, lanes, dim_int(d, 1));
  Within columns = columns_within(k);
  Dim all = dim_floordiv(d, dim_add(d, k->group->r, more), lanes);
  Dim begin = dim_floordiv(d, dim_add(d, columns.begin, more), lanes);
  Slide s = {.before = named_number(k, "before", dim_min(d, begin, all))};
  Dim within = dim_sub(d, dim_floordiv(d, columns.end, lanes), s.before);
  s.vectors = vectors_of_tile(within);
  within = dim_floordiv(d, dim_max(d, within, dim_int(d, 0)), dim_int(d, s.vectors));
  s.tiles = named_number(k, "tiles", within);
  s.from = dim_add(d, s.before, dim_mul(d, s.tiles, dim_int(d, s.vectors)));
  s.after = named_number(k, "after", dim_sub(d, all, s.from));
  return s;
}

static void slide_row(Kernel *k, const Slide *s) {
  size_t memo = k->memo.len, taken = k->taken.len;
  for (size_t i = 0; i < k->group->nodes.len; i++)
    if (k->f->role[k->group->nodes.data[i]->id] == ROLE_ROW)
      compute_group_node(k, k->group->nodes.data[i]);
  slide_tiles(k, dim_int(k->graph->dims, 0), s->before, 1, false);
  slide_tiles(k, s->before, s->tiles, s->vectors, true);
  slide_tiles(k, s->from, s->after, 1, false);
  forget_columns(k, memo, taken);
}

void kernel_slides(Text *out, Kernel *k) {
  Dim rows = group_slides(k->f, k->group);
  bool several = !dim_is(rows, 1);
  Dims *d = k->graph->dims;
  if (several) k->group = group_plane(k->f, k->group, rows);
  const Group *g = k->group;
  kernel_bind(k, several ? g->plane : g->index[0], "plane", 0);
  kernel_bind(k, g->index[1], "rindex", AXIS_R);
  k->masks[AXIS_X] = NULL;
  Slide s = slide_of(k);
  if (several) {
    kernel_line(k, "for xindex in range(0, %s):", kernel_index(k, rows, NULL));
    kernel_bind(k, dim_shared_index(d, "x", g->x), "xindex", 0);
    k->indent += 4;
  }
  slide_row(k, &s);
  kernel_emit(out, k, "slides.py", NULL, 0);
}

/* ---- kernels ---- */

/* Do tiles of a written-out loop, of one row or two, divide the rows?  Loads without a predicate
 * stay where they are, before the first use; the assembler moves others down to save registers. */
static bool rows_are_whole(const Kernel *k) {
  enum { ROWS = 16 };
  bool plain = k->unrolls && dim_divisible(k->group->x, ROWS);
  for (size_t i = 0; i < k->group->nodes.len && plain; i++) {
    const Node *n = k->group->nodes.data[i];
    plain = !prim_checks(n) && prim_kind(n->op) != PRIM_SCATTER;
  }
  return plain;
}

static void set_loop_masks(Kernel *k, bool columns) {
  bool whole = rows_are_whole(k);
  k->masks[AXIS_X] = whole ? NULL : "xmask";
  k->masks[AXIS_R] = columns ? "rmask" : NULL;
  k->masks[AXIS_X | AXIS_R] = !columns ? k->masks[AXIS_X] : whole ? "rmask" : "xmask & rmask";
}

/* The grid's second axis is that of planes, or its first one. */
static const char *open_plane(Kernel *k) {
  Dim plane = k->group->plane;
  if (!plane || dim_is_int(plane)) return "";
  return arena_printf(k->arena, "    plane = tl.program_id(%d)%s\n", !group_planes_first(k->group),
                      kernel_wide(k));
}

/* Bounds the program's number: it is less than `all`, which is written with tile sizes. */
static const char *bound_program(Kernel *k, const char *before, const char *all) {
  int axis = group_planes_first(k->group);
  return arena_printf(k->arena, "%s    pid = tl.program_id(%d)%s\n    tl.assume(pid < %s)\n",
                      before, axis, kernel_wide(k), all);
}

static const char *open_crossed(Kernel *k, const char **program) {
  bool down = goes_down(k->group);
  const char *x = kernel_index(k, k->group->x, NULL), *r = kernel_index(k, k->group->r, NULL);
  const char *bound = down ? arena_printf(k->arena, "    down = tl.cdiv(%s, XBLOCK)\n", x)
                           : arena_printf(k->arena, "    across = tl.cdiv(%s, RBLOCK)\n", r);
  const char *number = crossed_program(k);
  *program = arena_printf(k->arena, "%s %s", number, down ? "% down" : "// across");
  if (strcmp(number, "pid") != 0) return bound;
  const char *all = down ? arena_printf(k->arena, "down * tl.cdiv(%s, RBLOCK)", r)
                         : arena_printf(k->arena, "tl.cdiv(%s, XBLOCK) * across", x);
  return bound_program(k, bound, all);
}

/* Where elements are limited, the program's number is bounded, so that no index overflows: parts
 * then begin at known vectors.  On a CPU it always is: masks of tiles that are whole are true. */
static void emit_loops(Text *out, Kernel *k, bool rows) {
  const char *x = kernel_index(k, k->group->x, NULL), *bound = open_plane(k);
  const char *program = arena_printf(k->arena, "tl.program_id(%d)%s",
                                     group_planes_first(k->group), kernel_wide(k));
  if (k->group->crossed) {
    bound = arena_printf(k->arena, "%s%s", bound, open_crossed(k, &program));
  } else if ((k->limited || k->graph->host) && dim_is_int(k->group->x)) {
    bound = bound_program(k, bound, arena_printf(k->arena, "tl.cdiv(%s, XBLOCK)", x));
    program = "pid";
  }
  Slot slots[] = {{"x", x}, {"bound", bound}, {"program", program}};
  kernel_emit(out, k, rows ? "reduction.py" : "pointwise.py", slots, sizeof slots / sizeof *slots);
}

/* The tile's index along the strips' axis counts strips; with planes, x counts their columns. */
static void bind_indices(Kernel *k) {
  const Group *g = k->group;
  Dims *d = k->graph->dims;
  Dim index[] = {g->plane ? dim_shared_index(d, "x", g->x) : g->index[0], g->index[1]};
  index[g->strip_axis] = dim_floordiv(d, index[g->strip_axis], dim_int(d, k->nparts));
  kernel_bind(k, index[0], "xindex", AXIS_X);
  kernel_bind(k, index[1], "rindex", AXIS_R);
  if (g->plane) kernel_bind(k, g->plane, "plane", 0);
}

bool kernel_loops_once(Kernel *k) {
  Loops l = {.k = k};
  uint32_t last = find_stages(&l), loops = 0;
  for (uint32_t s = 0; s <= last; s++) loops += needs_loop(&l, s);
  return loops <= 1;
}

void kernel_loops(Text *out, Kernel *k, bool looped) {
  bool rows = !dim_is(k->group->r, 1);
  int64_t strip = looped ? group_row_strip(k->f, k->group) : 0;
  Dim columns = group_vector_columns(k->f, k->group);
  if (!columns) columns = group_crossed_rows(k->f, k->group);
  if (columns) k->group = group_plane(k->f, k->group, columns);
  else if (k->group->strip > 1 && !looped) kernel_begin_strips(k);
  k->planes = strip ? (uint32_t)group_window_rows(k->f, k->group) : 1;
  if (k->planes > 1) k->group = group_planes(k->f, k->group, k->planes);
  const Group *g = k->group;
  Loops l = {.k = k};
  uint32_t last = find_stages(&l);
  bind_indices(k);
  set_loop_masks(k, rows);
  if (rows && !looped) open_columns(k, false);
  if (strip) row_in_strips(&l, strip);
  else if (rows && looped)
    for (uint32_t s = 0; s <= last; s++) stage_in_loop(&l, s);
  else
    for (size_t i = 0; i < g->nodes.len; i++) compute_parts(k, g->nodes.data[i]);
  emit_loops(out, k, rows);
}
