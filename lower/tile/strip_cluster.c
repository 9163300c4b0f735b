/* Rows that the thread blocks of a cluster share (pass strip_rows).  Each block executes the whole
 * program on its part of every row; reductions join the parts, and the first block alone stores
 * what is no row.  Blocks meet only where they join reductions, so none may see what another has
 * stored, nor which block it is. */
#include <string.h>

#include "lower/analysis/values.h"
#include "lower/tile/strip.h"

enum { ACCESSES_MOST = 64 };

typedef struct {
  const TileOp *op;
  TileValue *root;
  bool row, writes;
} Access;

typedef struct {
  Strips *s;
  const AxisInfo *axis;
  Access accesses[ACCESSES_MOST];
  int naccesses;
  bool refused;
} Sharing;

/* Names of registers may be those of the machine, which tell the block. */
static bool names_registers(const TileOp *op) { return strchr(tile_str(op, TA_asm, ""), '%'); }

static bool is_allowed(const TileOp *op) {
  switch (op->code) {
    case TILE_LOAD: return !tile_int(op, TA_volatile, 0);
    case TILE_ASM: return !names_registers(op);
    case TILE_DOT: return false;
    case TILE_STORE:
    case TILE_NOALIAS:
    case TILE_ASSUME:
    case TILE_FOR:
    case TILE_WHILE:
    case TILE_IF:
    case TILE_YIELD:
    case TILE_CONDITION:
    case TILE_RETURN: return true;
    default: return tile_op_flags(op->code) & TILE_PURE;
  }
}

static void note_access(TileOp *op, void *ctx) {
  Sharing *x = ctx;
  x->refused |= !is_allowed(op);
  if (op->code != TILE_LOAD && op->code != TILE_STORE) return;
  TileValue *root = strip_root(op->args[0]);
  x->refused |= !root || x->naccesses == ACCESSES_MOST;
  if (x->refused) return;
  bool row = strip_is_row(x->s, op->args[0]), writes = op->code == TILE_STORE;
  x->accesses[x->naccesses++] = (Access){op, root, row, writes};
}

/* Does an element of a row have the same address in both, and no other element that address? */
static bool reach_alike(const Sharing *x, const Access *a, const Access *b) {
  TileValue *p = a->op->args[0], *q = b->op->args[0];
  ValueComparison same = {-1, -1, STRIP_COMPARED_MOST};
  if (a->root != b->root) same = (ValueComparison){a->root->id, b->root->id, STRIP_COMPARED_MOST};
  return a->row && b->row && strip_is_injective(x->s, x->axis, p) && values_alike(p, q, &same);
}

/* Two accesses of different blocks come in any order.  The first block alone makes all stores of
 * what is no row. */
static bool may_meet(Sharing *x, const Access *a, const Access *b) {
  if (!(a->writes || b->writes) || (!a->row && !b->row && a->writes && b->writes)) return true;
  bool alike = reach_alike(x, a, b);
  return a->root == b->root ? alike : strip_assume_apart(x->s, a->root, b->root, alike);
}

bool strip_shares_rows(Strips *s, const AxisInfo *axis) {
  Sharing x = {.s = s, .axis = axis};
  tile_walk(s->f->body, note_access, &x);
  for (int i = 0; i < x.naccesses; i++)
    for (int k = 0; k < i && !x.refused; k++)
      x.refused = !may_meet(&x, &x.accesses[i], &x.accesses[k]);
  return !x.refused;
}

/* ---- what the blocks execute ---- */

typedef struct {
  Strips *s;
  TileValue *leads; /* is this the first block? */
} Leading;

/* The first block stores for all blocks a value that is no row. */
static void lead_store(TileOp *op, void *ctx) {
  const Leading *x = ctx;
  if (op->code != TILE_STORE || strip_is_row(x->s, op->args[0])) return;
  TileBuilder b = {x->s->f, op->parent, op, op->span};
  Type t = type_like(x->leads->type, op->args[1]->type);
  TileValue *leads = x->leads;
  if (t.rank) leads = tile_build1(&b, TILE_SPLAT, t, leads, NULL, NULL);
  op->args[2] = op->args[2] ? tile_build1(&b, TILE_AND, t, op->args[2], leads, NULL) : leads;
}

TileValue *strip_build_blocks(Strips *s) {
  Type i32 = type_scalar(DT_I32);
  TileBuilder b = {s->f, s->f->body, s->f->body->first, s->f->span};
  s->f->cluster = s->cluster;
  TileValue *rank = tile_build1(&b, TILE_CLUSTER_RANK, i32, NULL, NULL, NULL);
  TileValue *length = tile_const_int(&b, i32, s->row / s->cluster);
  TileValue *part = tile_build1(&b, TILE_MUL, i32, rank, length, NULL), *first;
  first = tile_build1(&b, TILE_EQ, type_scalar(DT_I1), rank, tile_const_int(&b, i32, 0), NULL);
  Leading x = {s, first};
  tile_walk(s->f->body, lead_store, &x);
  return part;
}

/* Does the function say it, for another version of the kernel? */
static bool is_noted(const Strips *s, const StripPair *pair) {
  for (const TileOp *op = s->f->body->first; op; op = op->next) {
    const TileAttr *params = op->code == TILE_NOALIAS ? tile_attr(op, TA_params) : NULL;
    if (params && params->list[0] == pair->a->index && params->list[1] == pair->b->index &&
        (pair->or_same || !tile_int(op, TA_or_same, 0)))
      return true;
  }
  return false;
}

void strip_build_pairs(Strips *s) {
  TileBuilder start = {s->f, s->f->body, s->f->body->first, s->f->span};
  for (int i = 0; i < s->npairs; i++) {
    if (is_noted(s, &s->pairs[i])) continue;
    int64_t pair[] = {s->pairs[i].a->index, s->pairs[i].b->index};
    TileOp *op = tile_build(&start, TILE_NOALIAS, NULL, 0, NULL, 0);
    tile_set_ints(s->f, op, TA_params, pair, 2);
    if (s->pairs[i].or_same) tile_set_int(s->f, op, TA_or_same, 1);
  }
}
