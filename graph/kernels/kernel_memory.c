/* Nodes that read or write memory at places that data says, many times for an element or in any
 * order: searching, merging, scattering.  What they search or scatter to lies in memory. */
#include <string.h>

#include "graph/analysis/element_value.h"
#include "graph/kernels/kernel.h"
#include "graph/plan/plan.h"

/* The mask of a value whose places are these, under the condition that holds now. */
static const char *mask_of(Kernel *k, const Dim *place, uint32_t rank) {
  const char *mask = k->masks[kernel_axes(k, place, rank)], *c = k->condition;
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

/* Where the row begins that the place lies in. */
static const char *row_offset(Kernel *k, const Node *n, const Dim *place) {
  Dim at[GRAPH_RANK_MAX];
  uint32_t rank = n->type.rank;
  memcpy(at, place, rank * sizeof *at);
  at[rank - 1] = dim_int(k->graph->dims, 0);
  return kernel_index(k, linear_of_place(k->graph->dims, at, n->type.shape, rank), NULL);
}

static const char *merge(Kernel *k, Node *n, const Dim *place) {
  Node *x = n->args[0].node;
  uint32_t last = n->type.rank - 1;
  int64_t run = graph_arg(k->graph, n, "run").dim->value;
  return arena_printf(k->arena, "merged(%s, %s, %s, %s, %s, %lld, %d)", kernel_buffer(k, x),
                      row_offset(k, n, place), kernel_index(k, place[last], NULL),
                      kernel_index(k, n->type.shape[last], NULL), mask_of(k, place, last + 1),
                      (long long)run, halvings(k, dim_int(k->graph->dims, run)));
}

/* A sequence of one axis is searched for all values, else each row for those of its row. */
static const char *search(Kernel *k, Node *n, const Dim *place) {
  Node *sequence = n->args[0].node, *values = n->args[1].node;
  uint32_t last = sequence->type.rank - 1;
  Dim size = sequence->type.shape[last];
  Value v = kernel_value(k, values, place);
  const char *offset = last ? row_offset(k, sequence, place) : "0";
  return arena_printf(k->arena, "search(%s, %s, %s, %s, %s, %s, %d)", kernel_buffer(k, sequence),
                      offset, kernel_index(k, size, NULL), v.text, mask_of(k, place, n->type.rank),
                      graph_arg(k->graph, n, "right").flag ? "True" : "False", halvings(k, size));
}

const char *kernel_search(Kernel *k, Node *n, const Dim *place) {
  return (n->op->id != OP_nereid_merge_default ? search : merge)(k, n, place);
}

/* ---- scattering ---- */

static const char *whole(Kernel *k, Value v, DType t) {
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
              whole(k, kernel_value(k, n->args[1].node, k->group->place), DT_I64));
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
  broadcast_place(k->graph, user, k->group->place, index, at);
  return element_value(k->graph, index, at);
}

static unsigned whole_axes(const Kernel *k) {
  return dim_is(k->group->r, 1) ? AXIS_X : AXIS_X | AXIS_R;
}

static const char *chosen_mask(Kernel *k, const Node *user, Node *condition) {
  Dim at[GRAPH_RANK_MAX];
  const char *all = k->masks[whole_axes(k)];
  if (!condition) return all;
  broadcast_place(k->graph, user, k->group->place, condition, at);
  const char *c = whole(k, kernel_value(k, condition, at), DT_I1);
  return arena_printf(k->arena, "%s & %s", all, c);
}

/* An index that depends on no data is computed as that of any store. */
static void put(Kernel *k, Node *n) {
  Node *to = n->args[0].node, *index = n->args[1].node;
  const Dim *place = k->group->place;
  Chosen chosen = chosen_index(k, index);
  Dim known = known_index(k, index, chosen.index);
  const char *v = whole(k, kernel_value(k, n->args[2].node, place), n->type.dtype);
  if (known) {
    unsigned axes = 0;
    const char *mask = chosen_mask(k, index, chosen.condition);
    const char *at = kernel_index(k, known, &axes);
    const char *all = axes == whole_axes(k)    ? ""
                      : dim_is(k->group->r, 1) ? " + xindex * 0"
                                               : " + (xindex + rindex) * 0";
    kernel_line(k, "tl.store(%s + %s%s, %s, mask=%s)", kernel_buffer(k, to), at, all, v, mask);
    return;
  }
  const char *at = kernel_fresh(k, "at");
  kernel_line(k, "%s = %s", at, whole(k, kernel_value(k, index, place), DT_I64));
  kernel_line(k, "tl.store(%s + %s, %s, mask=%s & (%s >= 0))", kernel_buffer(k, to), at, v,
              k->masks[whole_axes(k)], at);
}

static void scatter(Kernel *k, Node *n) {
  Node *to = n->args[0].node, *index = n->args[1].node, *src = n->args[2].node;
  const char *reduce = graph_arg(k->graph, n, "reduce").name;
  const char *how = !strcmp(reduce, "amax") ? "max" : !strcmp(reduce, "amin") ? "min" : "add";
  const Dim *place = k->group->place;
  const char *at = kernel_fresh(k, "at");
  kernel_line(k, "%s = %s", at, whole(k, kernel_value(k, index, place), DT_I64));
  const char *v = whole(k, kernel_value(k, src, place), n->type.dtype);
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

void kernel_check(Kernel *k, Node *n) {
  Dims *d = k->graph->dims;
  Dim place[GRAPH_RANK_MAX], size = graph_arg(k->graph, n, "size").dim, least = dim_int(d, 0);
  if (graph_arg(k->graph, n, "negative").flag) least = dim_sub(d, least, size);
  group_place(k->f, k->group, n, place);
  Value index = kernel_value(k, n->args[0].node, place);
  Dim linear = linear_of_place(d, place, n->type.shape, n->type.rank);
  const char *record = KERNEL_RECORDS;
  if (k->checks.len)
    record = arena_printf(k->arena, "%s + %zu", record, PLAN_RECORD * k->checks.len);
  kernel_line(k, "check_index(%s, %s, %s, %s, %s, %s)", index.text, kernel_index(k, least, NULL),
              kernel_index(k, size, NULL), kernel_index(k, linear, NULL), checked_mask(k, n, index),
              record);
  vec_push(k->arena, &k->checks, (const Node *)n);
}

void kernel_scatter(Kernel *k, Node *n) {
  (prim_suppresses(n) ? suppress : prim_puts(n) ? put : scatter)(k, n);
}
