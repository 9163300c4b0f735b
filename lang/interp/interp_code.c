/* From the IR's lists to arrays that are quick to execute. */
#include "lang/interp/interp_run.h"

static Exec *const execs[TILE_OP_COUNT] = {
    [TILE_CONST] = interp_const,
    [TILE_UNDEF] = interp_undefined,
    [TILE_PROGRAM_ID] = interp_program_id,
    [TILE_NUM_PROGRAMS] = interp_num_programs,
    [TILE_CLUSTER_RANK] = interp_cluster_rank,
    [TILE_SPECIAL] = interp_special,
    [TILE_ARANGE] = interp_arange,
    [TILE_SPLAT] = interp_splat,
    [TILE_EXPAND_DIMS] = interp_reshape,
    [TILE_BROADCAST] = interp_broadcast,
    [TILE_RESHAPE] = interp_reshape,
    [TILE_TRANS] = interp_trans,
    [TILE_JOIN] = interp_join,
    [TILE_SPLIT] = interp_split,
    [TILE_CAT] = interp_cat,
    [TILE_SLICE] = interp_slice,
    [TILE_GATHER] = interp_gather,
    [TILE_SELECT] = interp_select,
    [TILE_PTR_ADD] = interp_ptr_add,
    [TILE_HINT] = interp_hint,
    [TILE_DOT] = interp_dot,
    [TILE_REDUCE] = interp_reduce,
    [TILE_SCAN] = interp_scan,
    [TILE_HISTOGRAM] = interp_histogram,
    [TILE_LOAD] = interp_load,
    [TILE_STORE] = interp_store,
    [TILE_VIEW_LOAD] = interp_view_load,
    [TILE_VIEW_STORE] = interp_view_store,
    [TILE_ATOMIC_RMW] = interp_atomic_rmw,
    [TILE_ATOMIC_CAS] = interp_atomic_cas,
    [TILE_PARK] = interp_park,
    [TILE_PARK_WAIT] = interp_nothing,
    [TILE_UNPARK] = interp_unpark,
    [TILE_BARRIER] = interp_nothing,
    [TILE_GRID_DEPENDENCY] = interp_nothing,
    [TILE_ASSERT] = interp_assert,
    [TILE_PRINT] = interp_print,
    [TILE_ASM] = interp_asm,
    [TILE_ASM_IMPURE] = interp_asm,
    [TILE_NOALIAS] = interp_nothing,
    [TILE_ASSUME] = interp_assume,
    [TILE_FOR] = interp_for,
    [TILE_WHILE] = interp_while,
    [TILE_IF] = interp_if,
    [TILE_YIELD] = interp_yield,
    [TILE_CONDITION] = interp_condition,
    [TILE_RETURN] = interp_return,
};

static Exec *exec_of_op(TileCode c) {
  if (execs[c]) return execs[c];
  BUG_IF(!(tile_op_flags(c) & TILE_ELEM), "the interpreter does not know %s", tile_op_name(c));
  return interp_elementwise;
}

/* ---- where values die ---- */

typedef struct {
  Run *run;
  const Code **home; /* by value id: the block that defines it */
  Inst **last;       /* by value id: the last op of that block that uses it, itself or inside */
  Inst **path;       /* from the body to the op that is looked at */
  const Code **blocks;
} Compiler;

static Code *compile_block(Compiler *c, const TileBlock *b);

static uint32_t count_ops(const TileBlock *b) {
  uint32_t n = 0;
  for (const TileOp *op = b->first; op; op = op->next) n++;
  return n;
}

static void compile_op(Compiler *c, Code *code, Inst *in, const TileOp *op) {
  in->op = op;
  in->exec = exec_of_op(op->code);
  if (in->exec == interp_asm) in->data = interp_asm_code(c->run, op);
  in->regions = ARENA_ARRAY(c->run->arena, Code *, op->nregions);
  for (uint32_t i = 0; i < op->nregions; i++) in->regions[i] = compile_block(c, op->regions[i]);
  for (uint32_t i = 0; i < op->nresults; i++) {
    c->home[op->results[i]->id] = code;
    c->last[op->results[i]->id] = in;
  }
  unsigned flags = tile_op_flags(op->code);
  if (!(flags & (TILE_ELEM | TILE_TERM))) code->elementwise = false;
  in->transfers =
      (flags & TILE_TERM) || op->code == TILE_FOR || op->code == TILE_WHILE || op->code == TILE_IF;
}

static Code *compile_block(Compiler *c, const TileBlock *b) {
  Arena *a = c->run->arena;
  Code *code = ARENA_NEW(a, Code);
  code->block = b;
  code->ninsts = count_ops(b);
  code->insts = ARENA_ARRAY(a, Inst, code->ninsts);
  code->elementwise = true;
  for (uint32_t i = 0; i < b->nparams; i++) c->home[b->params[i]->id] = code;
  uint32_t i = 0;
  for (const TileOp *op = b->first; op; op = op->next) compile_op(c, code, &code->insts[i++], op);
  return code;
}

/* An op uses a value of a block around it: for that block it is the op that holds it. */
static void mark_use(Compiler *c, uint32_t id, uint32_t depth) {
  while (depth-- > 0)
    if (c->blocks[depth] == c->home[id]) {
      c->last[id] = c->path[depth];
      return;
    }
}

static void mark_uses(Compiler *c, const Code *code, uint32_t depth) {
  BUG_IF(depth > TILE_MAX_DEPTH, "blocks are nested too deep for the interpreter");
  c->blocks[depth] = code;
  for (uint32_t i = 0; i < code->ninsts; i++) {
    Inst *in = c->path[depth] = &code->insts[i];
    const TileOp *op = in->op;
    for (uint32_t k = 0; k < op->nargs; k++)
      if (op->args[k]) mark_use(c, op->args[k]->id, depth + 1);
    for (uint32_t k = 0; k < op->nregions; k++) mark_uses(c, in->regions[k], depth + 1);
  }
}

static void collect_dead(Compiler *c) {
  uint32_t n = c->run->fn->nvalues;
  for (uint32_t id = 0; id < n; id++)
    if (c->last[id]) c->last[id]->ndead++;
  for (uint32_t id = 0; id < n; id++) {
    Inst *in = c->last[id];
    if (!in) continue;
    if (!in->dead) {
      in->dead = ARENA_ARRAY(c->run->arena, uint32_t, in->ndead);
      in->ndead = 0;
    }
    in->dead[in->ndead++] = id;
  }
}

const Code *interp_compile(Run *r) {
  Compiler c = {.run = r};
  c.home = ARENA_ARRAY(r->arena, const Code *, r->fn->nvalues);
  c.last = ARENA_ARRAY(r->arena, Inst *, r->fn->nvalues);
  c.path = ARENA_ARRAY(r->arena, Inst *, TILE_MAX_DEPTH + 1);
  c.blocks = ARENA_ARRAY(r->arena, const Code *, TILE_MAX_DEPTH + 1);
  Code *body = compile_block(&c, r->fn->body);
  mark_uses(&c, body, 0);
  collect_dead(&c);
  return body;
}

/* ---- what feeds addresses ---- */

typedef struct {
  uint8_t *feeds;
  bool changed;
} Feeds;

static void feed(Feeds *f, const TileValue *v) {
  if (!v || f->feeds[v->id]) return;
  f->feeds[v->id] = 1;
  f->changed = true;
}

/* Ops through which an overflow reaches the result as an overflow. */
static bool carries_wrap(TileCode c) {
  switch (c) {
    case TILE_ADD:
    case TILE_SUB:
    case TILE_MUL:
    case TILE_NEG:
    case TILE_CAST:
    case TILE_HINT:
    case TILE_SPLAT:
    case TILE_EXPAND_DIMS:
    case TILE_BROADCAST:
    case TILE_RESHAPE:
    case TILE_TRANS:
    case TILE_JOIN:
    case TILE_SPLIT:
    case TILE_CAT:
    case TILE_SLICE:
    case TILE_GATHER:
    case TILE_SELECT:
    case TILE_PTR_ADD: return true;
    default: return false;
  }
}

static bool any_result_feeds(const Feeds *f, const TileOp *op) {
  for (uint32_t i = 0; i < op->nresults; i++)
    if (f->feeds[op->results[i]->id]) return true;
  return false;
}

/* An operand of a terminator feeds an address if its receiver does. */
static void feed_terminator(Feeds *f, const TileOp *op) {
  const TileOp *owner = op->parent->owner;
  uint32_t first = op->code == TILE_CONDITION;
  if (!owner) return;
  for (uint32_t i = first; i < op->nargs; i++) {
    uint32_t k = i - first;
    bool out = k < owner->nresults && f->feeds[owner->results[k]->id];
    for (uint32_t g = 0; g < owner->nregions; g++) {
      const TileBlock *b = owner->regions[g];
      uint32_t at = k + (owner->code == TILE_FOR);
      out |= at < b->nparams && f->feeds[b->params[at]->id];
    }
    if (out) feed(f, op->args[i]);
  }
}

/* Initial values of a loop, and a FOR's bounds. */
static void feed_loop(Feeds *f, const TileOp *op) {
  uint32_t first = op->code == TILE_FOR ? 3 : 0;
  const TileBlock *b = op->regions[0];
  for (uint32_t i = first; i < op->nargs; i++) {
    uint32_t k = i - first, at = k + (op->code == TILE_FOR);
    if ((k < op->nresults && f->feeds[op->results[k]->id]) ||
        (at < b->nparams && f->feeds[b->params[at]->id]))
      feed(f, op->args[i]);
  }
}

static void feed_op(Feeds *f, const TileOp *op) {
  if (op->code == TILE_PTR_ADD) feed(f, op->args[1]);
  if (op->code == TILE_VIEW_LOAD || op->code == TILE_VIEW_STORE)
    for (uint32_t i = VIEW_FIXED; i < op->nargs; i++) feed(f, op->args[i]);
  if (tile_op_flags(op->code) & TILE_TERM) feed_terminator(f, op);
  else if (op->code == TILE_FOR || op->code == TILE_WHILE) feed_loop(f, op);
  else if (carries_wrap(op->code) && any_result_feeds(f, op))
    for (uint32_t i = 0; i < op->nargs; i++) feed(f, op->args[i]);
}

/* Backwards, so that a chain takes one pass; loops take some more. */
static void feed_block(Feeds *f, const TileBlock *b) {
  for (const TileOp *op = b->last; op; op = op->prev) {
    for (uint32_t i = op->nregions; i-- > 0;) feed_block(f, op->regions[i]);
    feed_op(f, op);
  }
}

const uint8_t *interp_feeds_address(Run *r) {
  Feeds f = {.feeds = ARENA_ARRAY(r->arena, uint8_t, r->fn->nvalues), .changed = true};
  while (f.changed) {
    f.changed = false;
    feed_block(&f, r->fn->body);
  }
  return f.feeds;
}
