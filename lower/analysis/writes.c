/* Sets of parameters flow from values to values until nothing changes: a value has the parameters
 * of its operands if it can hold an address.  Carried values join what goes in, round and out. */
#include "lower/analysis/writes.h"
#include "lower/messages.h"

#include <string.h>

typedef struct {
  Arena *scratch;
  uint64_t *sets; /* `words` of them for each value or variable */
  uint32_t words;
  uint64_t *written;
  bool changed;
} Flow;

static uint64_t *set_of(const Flow *f, uint32_t id) { return f->sets + (size_t)id * f->words; }

static void join_sources(Flow *f, uint64_t *to, const uint64_t *from) {
  for (uint32_t w = 0; w < f->words; w++) {
    uint64_t both = to[w] | from[w];
    if (both != to[w]) f->changed = true;
    to[w] = both;
  }
}

static bool holds_address(DType t) { return t == DT_PTR || t == DT_I64 || t == DT_U64; }

static void start_flow(Flow *f, uint32_t nvalues, uint32_t nparams) {
  f->words = nparams / 64 + 1;
  f->sets = ARENA_ARRAY(f->scratch, uint64_t, (size_t)nvalues * f->words);
  f->written = ARENA_ARRAY(f->scratch, uint64_t, f->words);
}

static void seed(Flow *f, uint32_t id, uint32_t param) {
  set_of(f, id)[param / 64] |= (uint64_t)1 << param % 64;
}

/* ---- tile IR ---- */

static void flow_value(Flow *f, const TileValue *to, const TileValue *from) {
  if (to && from && holds_address((DType)to->type.dtype))
    join_sources(f, set_of(f, to->id), set_of(f, from->id));
}

/* The values that a region yields, to the results and to the parameters of its owner's regions. */
static void flow_terminator(Flow *f, const TileOp *op) {
  const TileOp *owner = op->parent->owner;
  if (!owner) return;
  uint32_t skip = op->code == TILE_CONDITION ? 1 : 0;
  for (uint32_t i = skip; i < op->nargs; i++) {
    uint32_t at = i - skip;
    if (at < owner->nresults) flow_value(f, owner->results[at], op->args[i]);
    for (uint32_t r = 0; r < owner->nregions; r++) {
      uint32_t param = at + (owner->code == TILE_FOR ? 1 : 0);
      if (param < owner->regions[r]->nparams && owner->code != TILE_IF)
        flow_value(f, owner->regions[r]->params[param], op->args[i]);
    }
  }
}

static void flow_initial(Flow *f, const TileOp *op) {
  uint32_t first = op->code == TILE_FOR ? 3 : 0, shift = op->code == TILE_FOR ? 1 : 0;
  for (uint32_t i = first; i < op->nargs; i++)
    if (i - first + shift < op->regions[0]->nparams)
      flow_value(f, op->regions[0]->params[i - first + shift], op->args[i]);
}

/* Does the op write to memory through its first operand? */
static bool writes_memory(const TileOp *op) {
  bool writes = op->code == TILE_STORE || op->code == TILE_VIEW_STORE ||
                op->code == TILE_ATOMIC_RMW || op->code == TILE_ATOMIC_CAS;
  bool loads = op->code == TILE_ATOMIC_RMW && !strcmp(tile_str(op, TA_kind, ""), "load");
  return writes && !loads && op->args[0];
}

static void flow_tile_op(TileOp *op, void *ctx) {
  Flow *f = ctx;
  arena_work(f->scratch, 1);
  unsigned flags = tile_op_flags(op->code);
  if (op->code == TILE_FOR || op->code == TILE_WHILE) {
    flow_initial(f, op);
  } else if (flags & TILE_TERM) {
    flow_terminator(f, op);
  } else if (!(flags & TILE_READ)) {
    for (uint32_t r = 0; r < op->nresults; r++)
      for (uint32_t i = 0; i < op->nargs; i++) flow_value(f, op->results[r], op->args[i]);
  }
  if (writes_memory(op)) join_sources(f, f->written, set_of(f, op->args[0]->id));
  for (uint32_t i = 0; i < op->nargs && op->code == TILE_ASM_IMPURE; i++)
    join_sources(f, f->written, set_of(f, op->args[i]->id));
}

static void tile_written(Flow *f, const TileFunc *fn) {
  start_flow(f, fn->nvalues, fn->nparams);
  for (uint32_t i = 0; i < fn->nparams; i++)
    if (fn->params[i].value->type.dtype == DT_PTR) seed(f, fn->params[i].value->id, i);
  do {
    f->changed = false;
    tile_walk(fn->body, flow_tile_op, f);
  } while (f->changed);
}

/* ---- parameters that are only read, by declaration ---- */

typedef struct {
  Flow flow;
  const Unit *unit;
  bool good;
} ConstCheck;

static void check_const_op(TileOp *op, void *ctx) {
  ConstCheck *c = ctx;
  const TileFunc *fn = c->unit->tile;
  if (!writes_memory(op)) return;
  const uint64_t *set = set_of(&c->flow, op->args[0]->id);
  for (uint32_t i = 0; i < fn->nparams; i++) {
    if (!fn->params[i].is_const || !(set[i / 64] >> i % 64 & 1)) continue;
    diag_error(c->unit->diags, op->span, E_LOWER_CONST, fn->params[i].value->name);
    c->good = false;
    break;
  }
}

bool lower_check_const(const Unit *u) {
  bool any = false;
  for (uint32_t i = 0; i < u->tile->nparams; i++) any |= u->tile->params[i].is_const;
  if (!any) return true;
  ConstCheck c = {.flow = {.scratch = u->arena}, .unit = u, .good = true};
  tile_written(&c.flow, u->tile);
  tile_walk(u->tile->body, check_const_op, &c);
  return c.good;
}

/* ---- loop nests ---- */

static void flow_pointers_of_stmt(Flow *f, const Nest *n, const NestStmt *s) {
  unsigned flags = nest_flags(s);
  for (uint32_t d = 0; d < s->ndsts && !(flags & NEST_IS_READ); d++)
    for (uint32_t i = 0; i < s->nsrcs; i++) {
      const NestVar *to = s->dsts[d].var, *from = s->srcs[i].var;
      if (to && from && holds_address(to->dtype))
        join_sources(f, set_of(f, to->id), set_of(f, from->id));
    }
  bool loads = s->code == NEST_ATOM && !strcmp(nest_str(s, NA_kind, ""), "load");
  if ((flags & NEST_IS_WRITE) && !loads && !s->mems[0].buffer && s->mems[0].base.var)
    join_sources(f, f->written, set_of(f, s->mems[0].base.var->id));
  if (s->code == NEST_BULK_STORE)
    join_sources(f, f->written, set_of(f, nest_map_of(n, s)->base->id));
  for (uint32_t i = 0; i < s->nsrcs && s->code == NEST_ASM && (flags & NEST_IS_EFFECT); i++)
    if (s->srcs[i].var) join_sources(f, f->written, set_of(f, s->srcs[i].var->id));
}

static void flow_pointers_of_block(Flow *f, const Nest *n, const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    arena_work(f->scratch, 1);
    flow_pointers_of_stmt(f, n, s);
    for (uint32_t r = 0; r < s->nregions; r++) flow_pointers_of_block(f, n, s->regions[r]);
  }
}

static void nest_written(Flow *f, const Nest *n) {
  start_flow(f, n->nvars, n->nparams);
  for (uint32_t i = 0; i < n->nparams; i++)
    if (n->params[i]->dtype == DT_PTR) seed(f, n->params[i]->id, i);
  do {
    f->changed = false;
    flow_pointers_of_block(f, n, n->body);
  } while (f->changed);
}

void lower_written(const Unit *u, bool *written) {
  Flow f = {.scratch = u->arena};
  if (u->nest) nest_written(&f, u->nest);
  else tile_written(&f, u->tile);
  uint32_t n = u->nest ? u->nest->nparams : u->tile->nparams;
  for (uint32_t i = 0; i < n; i++) written[i] = f.written[i / 64] >> i % 64 & 1;
}
