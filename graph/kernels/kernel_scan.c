/* Scans: each element of a row from those before it and itself.
 *
 * Rows of one tile are scanned at once.  A longer one is gone through in a loop that carries, in
 * NAME_carry, what came before: the last element that was made. */
#include <string.h>

#include "graph/kernels/kernel.h"

typedef struct {
  const char *neutral;
  const char *whole;   /* of a tile along its columns */
  const char *combine; /* of what came before and a tile; NULL: a row must fit a tile */
  bool places;         /* of pairs of an element and its place; the places are what is wanted */
} Scan;

static const Scan scans[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {__VA_ARGS__},
#define SCAN(neutral, whole, combine, places) neutral, whole, combine, places
#include "graph/ops/op_table.def"
};

static const Scan *scan_of(const Node *n) {
  const Scan *s = &scans[n->op->id];
  if (!s->whole) BUG("no scan: %s", n->op->target);
  return s;
}

bool kernel_scan_gives_places(const Node *n) { return scan_of(n)->places; }

/* Booleans are compared as numbers. */
static DType scanned_dtype(const Node *n) {
  DType t = scan_of(n)->places ? n->args[0].node->type.dtype : n->type.dtype;
  return t == DT_I1 ? DT_I32 : kernel_held(t);
}

static const char *carry_of(Kernel *k, const Node *n) { return kernel_carried(k, n, "carry"); }

void kernel_begin_scan(Kernel *k, Node *n) {
  const Scan *s = scan_of(n);
  DType t = scanned_dtype(n);
  const char *carry = carry_of(k, n);
  kernel_line(k, "%s = tl.full([XBLOCK, 1], %s, tl.%s)", carry, kernel_neutral(k, s->neutral, t),
              dtype_lang_name(t));
  if (s->places) kernel_line(k, "%s_place = tl.full([XBLOCK, 1], 0, tl.int32)", carry);
}

/* The operand as a whole tile; behind the row's end what changes nothing. */
static const char *scanned_tile(Kernel *k, Node *n, const Dim *place) {
  DType t = scanned_dtype(n);
  const char *v = kernel_cast(k, kernel_value(k, n->args[0].node, place), t);
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

static const char *scan_elements(Kernel *k, Node *n, const char *tile, bool looped) {
  const char *name = kernel_fresh_for(k, n), *carry = carry_of(k, n);
  const char *operands[] = {tile};
  kernel_line(k, "%s = %s", name, kernel_fill(k, scan_of(n)->whole, operands));
  if (!looped) return name;
  const char *pair[] = {carry, name};
  kernel_line(k, "%s = %s", name, kernel_fill(k, scan_of(n)->combine, pair));
  keep_last(k, carry, name, scanned_dtype(n));
  return name;
}

static const char *scan_places(Kernel *k, Node *n, const char *tile, bool looped) {
  const char *best = kernel_fresh(k, "best"), *name = kernel_fresh_for(k, n);
  const char *carry = carry_of(k, n);
  const char *operands[] = {tile, "tl.broadcast_to(rindex, [XBLOCK, RBLOCK]).to(tl.int32)"};
  kernel_line(k, "%s, %s = %s", best, name, kernel_fill(k, scan_of(n)->whole, operands));
  if (!looped) return name;
  const char *place = arena_printf(k->arena, "%s_place", carry);
  const char *pairs[] = {carry, place, best, name};
  kernel_line(k, "%s, %s = %s", best, name, kernel_fill(k, scan_of(n)->combine, pairs));
  keep_last(k, carry, best, scanned_dtype(n));
  keep_last(k, place, name, DT_I32);
  return name;
}

void kernel_scan(Kernel *k, Node *n, bool looped) {
  Dim place[GRAPH_RANK_MAX];
  group_place(k->f, k->group, n, place);
  const char *tile = scanned_tile(k, n, place);
  bool places = scan_of(n)->places;
  Value v = {(places ? scan_places : scan_elements)(k, n, tile, looped), scanned_dtype(n)};
  if (places) v.dtype = DT_I32;
  DType held = kernel_held(n->type.dtype);
  v = (Value){kernel_cast(k, v, held), held};
  kernel_remember(k, n, place, v);
}
