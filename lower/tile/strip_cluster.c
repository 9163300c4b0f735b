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
