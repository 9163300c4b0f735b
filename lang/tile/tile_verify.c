/* The verifier of the tile IR: structure, scopes, attributes, and the type rules of the table.
 *
 * An IR that no text can express (an op whose parent is another block, a missing operand) is a bug
 * of ours and aborts; every other violation is an error with the op's location. */
#include <string.h>

#include "lang/messages.h"
#include "lang/tile/tile_check.h"

static bool check_block(TileCheck *c, const TileBlock *b);

/* ---- scopes ---- */

static const char *name_of(TileCheck *c, const TileValue *v) {
  if (!c->names) c->names = tile_value_names(c->fn, c->fn->arena);
  return c->names[v->id] ? c->names[v->id] : "?";
}

static bool check_type(TileCheck *c, const TileValue *v, Span at) {
  Type t = v->type;
  BUG_IF(v->id >= c->fn->nvalues, "value %u of %u", v->id, c->fn->nvalues);
  BUG_IF(t.dtype == DT_NONE || t.dtype >= DT_COUNT || t.rank > MAX_RANK,
         "value %u has a broken type", v->id);
  int64_t numel = 1;
  for (int i = 0; i < t.rank && numel <= MAX_TILE; i++) numel *= t.shape[i];
  if (numel >= 1 && numel <= MAX_TILE) return true;
  diag_error(c->diags, at, E_TILE_NUMEL, MAX_TILE);
  return false;
}

static bool enter_values(TileCheck *c, TileValue *const *v, uint32_t n, Span at) {
  bool good = true;
  for (uint32_t i = 0; i < n; i++) {
    good &= check_type(c, v[i], at);
    BUG_IF(c->seen[v[i]->id], "value %u is defined twice", v[i]->id);
    c->seen[v[i]->id] = 1;
  }
  return good;
}

static void leave_block(TileCheck *c, const TileBlock *b) {
  for (uint32_t i = 0; i < b->nparams; i++) c->seen[b->params[i]->id] = 2;
  for (const TileOp *op = b->first; op; op = op->next)
    for (uint32_t i = 0; i < op->nresults; i++) c->seen[op->results[i]->id] = 2;
}

static bool check_uses(TileCheck *c, const TileOp *op) {
  bool good = true;
  for (uint32_t i = 0; i < op->nargs; i++) {
    const TileValue *v = op->args[i];
    if (!v || (v->id < c->fn->nvalues && c->seen[v->id] == 1)) continue;
    diag_error(c->diags, op->span, E_TILE_SCOPE, name_of(c, v), tile_op_name(op->code));
    good = false;
  }
  return good;
}

/* ---- structure ---- */

/* The terminator that a block of `owner` ends in. */
static TileCode terminator_of(const TileOp *owner, const TileBlock *b) {
  if (!owner) return TILE_RETURN;
  return owner->code == TILE_WHILE && b == owner->regions[0] ? TILE_CONDITION : TILE_YIELD;
}

static bool check_terminator(TileCheck *c, const TileBlock *b) {
  TileCode want = terminator_of(b->owner, b);
  if (b->last && b->last->code == want) return true;
  Span at = b->last ? b->last->span : b->owner ? b->owner->span : c->fn->span;
  diag_error(c->diags, at, E_TILE_TERMINATOR, b->owner ? tile_op_name(b->owner->code) : "kernel",
             tile_op_name(want));
  return false;
}

/* Operand slots against the letters of the table: the reader and the builders see to them. */
static void check_slots(const TileOp *op) {
  uint32_t slot = 0;
  bool any = false, view = false;
  for (const char *p = tile_op_args(op->code); *p; p++) {
    if (*p == '*') continue;
    bool optional = *p == '?';
    p += optional;
    any |= p[1] == '*';
    view |= *p == 'V';
    if (p[1] == '*') continue;
    BUG_IF(slot >= op->nargs || (!op->args[slot] && !optional), "`%s` lacks operand %u",
           tile_op_name(op->code), slot);
    slot++;
  }
  bool fits = view ? op->nargs >= VIEW_FIXED && (op->nargs - VIEW_FIXED) % 3 == 0
                   : any || op->nargs == slot;
  BUG_IF(!fits, "`%s` has %u operands", tile_op_name(op->code), op->nargs);
  for (uint32_t i = view ? VIEW_FIXED : slot; i < op->nargs; i++)
    BUG_IF(!op->args[i], "`%s` lacks operand %u", tile_op_name(op->code), i);
}

static bool check_results(TileCheck *c, const TileOp *op) {
  const char *n = tile_op_results(op->code);
  for (uint32_t i = 0; i < op->nresults; i++)
    BUG_IF(op->results[i]->def != op || op->results[i]->index != i,
           "result %u of `%s` says otherwise", i, tile_op_name(op->code));
  if (*n == '*' || op->nresults == (uint32_t)(*n - '0')) return true;
  diag_error(c->diags, op->span, E_TILE_RESULTS, tile_op_name(op->code), op->nresults,
             (unsigned)(*n - '0'));
  return false;
}

/* A combine block works on scalars and accesses no memory; its assertions are for the tile
 * interpreter. */
static bool check_combine_op(TileCheck *c, const TileOp *op) {
  bool good = !(tile_op_flags(op->code) & (TILE_READ | TILE_WRITE)) || op->code == TILE_ASSERT;
  for (uint32_t i = 0; i < op->nargs; i++) good &= !op->args[i] || !op->args[i]->type.rank;
  for (uint32_t i = 0; i < op->nresults; i++) good &= !op->results[i]->type.rank;
  if (!good) diag_error(c->diags, op->span, E_TILE_COMBINE_OP, tile_op_name(op->code));
  return good;
}

static bool check_regions(TileCheck *c, const TileOp *op) {
  uint32_t n = op->code == TILE_WHILE || op->code == TILE_IF ? 2 : op->code == TILE_FOR;
  bool combine = op->code == TILE_REDUCE || op->code == TILE_SCAN, good = true;
  if (combine && (op->nregions > 1 || op->nregions == !!tile_attr(op, TA_combine))) {
    diag_error(c->diags, op->span, E_TILE_COMBINE, tile_op_name(op->code));
    return false;
  }
  BUG_IF(!combine && op->nregions != n, "`%s` has %u blocks", tile_op_name(op->code), op->nregions);
  c->combines += combine;
  for (uint32_t i = 0; i < op->nregions; i++) {
    BUG_IF(op->regions[i]->owner != op, "a block of `%s` says otherwise", tile_op_name(op->code));
    good &= check_block(c, op->regions[i]);
  }
  c->combines -= combine;
  return good;
}

/* ---- attributes ---- */

static const struct {
  TileCode code;
  TileAttrKey key;
} required[] = {
    {TILE_CONST, TA_value},     {TILE_PROGRAM_ID, TA_axis}, {TILE_NUM_PROGRAMS, TA_axis},
    {TILE_ARANGE, TA_start},    {TILE_ARANGE, TA_end},      {TILE_EXPAND_DIMS, TA_axis},
    {TILE_TRANS, TA_perm},      {TILE_SLICE, TA_starts},    {TILE_SLICE, TA_strides},
    {TILE_GATHER, TA_axis},     {TILE_REDUCE, TA_axis},     {TILE_SCAN, TA_axis},
    {TILE_ATOMIC_RMW, TA_kind}, {TILE_SPECIAL, TA_kind},    {TILE_GRID_DEPENDENCY, TA_kind},
    {TILE_NOALIAS, TA_params},  {TILE_PARK, TA_slot},       {TILE_PARK, TA_count},
    {TILE_UNPARK, TA_slot},     {TILE_UNPARK, TA_count},
};

#define COMBINES "add mul min max min_nan max_nan and or xor"
#define EVICTS "evict_normal evict_first evict_last"
#define SEMS "acq_rel acquire release relaxed"
#define SCOPES "gpu cta sys"

/* Legal values of string attributes. */
static const struct {
  TileCode code;
  TileAttrKey key;
  const char *words;
} choices[] = {
    {TILE_CAST, TA_rounding, "rtz"},
    {TILE_DOT, TA_precision, "ieee tf32 tf32_rounded tf32x3 bf16x3 bf16x6 bytes pairs"},
    {TILE_REDUCE, TA_combine, COMBINES},
    {TILE_SCAN, TA_combine, COMBINES},
    {TILE_LOAD, TA_cache, ".ca .cg .cv"},
    {TILE_LOAD, TA_evict, EVICTS},
    {TILE_STORE, TA_cache, ".wb .cg .cs .wt"},
    {TILE_STORE, TA_evict, EVICTS},
    {TILE_VIEW_LOAD, TA_pad, "zero nan"},
    {TILE_VIEW_LOAD, TA_cache, ".ca .cg .cv"},
    {TILE_VIEW_LOAD, TA_evict, EVICTS},
    {TILE_VIEW_STORE, TA_cache, ".wb .cg .cs .wt"},
    {TILE_VIEW_STORE, TA_evict, EVICTS},
    {TILE_SPECIAL, TA_kind, "globaltimer smid"},
    {TILE_GRID_DEPENDENCY, TA_kind, "wait launch"},
    {TILE_ATOMIC_RMW, TA_kind, "add and or xor xchg max min load store"},
    {TILE_ATOMIC_RMW, TA_sem, SEMS},
    {TILE_ATOMIC_RMW, TA_scope, SCOPES},
    {TILE_ATOMIC_CAS, TA_sem, SEMS},
    {TILE_ATOMIC_CAS, TA_scope, SCOPES},
};

/* Is `word` one of the words, which stand with single spaces between them? */
static bool is_choice(const char *words, const char *word) {
  size_t len = strlen(word);
  for (const char *p = words; *p; p += strspn(p, " ")) {
    size_t n = strcspn(p, " ");
    if (n == len && !memcmp(p, word, n)) return true;
    p += n;
  }
  return false;
}

static bool check_attrs(TileCheck *c, const TileOp *op) {
  const char *name = tile_op_name(op->code);
  size_t before = diag_errors(c->diags);
  for (uint32_t i = 0; i < op->nattrs; i++) {
    TileAttrKey k = (TileAttrKey)op->attrs[i].key;
    BUG_IF(i && op->attrs[i - 1].key >= k, "attributes of `%s` are out of order", name);
    if (!tile_op_takes(op->code, k))
      diag_error(c->diags, op->span, E_TILE_ATTR_NAME, name, tile_attr_name(k));
  }
  for (size_t i = 0; i < sizeof required / sizeof *required; i++)
    if (required[i].code == op->code && !tile_attr(op, required[i].key))
      diag_error(c->diags, op->span, E_TILE_ATTR_MISSING, name, tile_attr_name(required[i].key));
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    Name s = choices[i].code == op->code ? tile_str(op, choices[i].key, NULL) : NULL;
    if (s && !is_choice(choices[i].words, s))
      diag_error(c->diags, op->span, E_TILE_ATTR_WORD, tile_attr_name(choices[i].key), name, s,
                 choices[i].words);
  }
  return diag_errors(c->diags) == before;
}

/* ---- rules ---- */

/* All operands have the first one's type. */
static bool check_alike(TileCheck *c, const TileOp *op) {
  bool good = true;
  for (uint32_t i = 1; i < op->nargs; i++)
    good &= tile_check_operand_is(c, op, i, op->args[0]->type);
  return good;
}

static bool check_rule(TileCheck *c, const TileOp *op) {
  const char *rule = tile_op_rule(op->code);
  if (!strcmp(rule, "given")) {
    size_t before = diag_errors(c->diags);
    tile_check_given(c, op);
    return diag_errors(c->diags) == before;
  }
  Type t = op->args[0]->type;
  const char *wanted = tile_op_refuses(op->code, (DType)t.dtype);
  bool good = tile_check_operand(c, op, 0, !wanted, wanted);
  if (!strcmp(rule, "compare")) t = type_like(type_scalar(DT_I1), t);
  return good && check_alike(c, op) && tile_check_result_is(c, op, 0, t);
}

/* ---- the walk ---- */

static bool check_op(TileCheck *c, const TileOp *op) {
  check_slots(op);
  if ((tile_op_flags(op->code) & TILE_TERM) && op->next) {
    diag_error(c->diags, op->span, E_TILE_TERMINATOR_LAST, tile_op_name(op->code));
    return false;
  }
  bool good = check_uses(c, op);
  good &= check_results(c, op);
  good &= check_attrs(c, op);
  if (c->combines) good = good && check_combine_op(c, op);
  bool regions = check_regions(c, op);
  if (good && regions) good = check_rule(c, op);
  return enter_values(c, op->results, op->nresults, op->span) && good && regions;
}

static bool check_block(TileCheck *c, const TileBlock *b) {
  if (c->depth >= TILE_MAX_DEPTH) {
    diag_error(c->diags, b->owner->span, E_TILE_DEPTH, TILE_MAX_DEPTH);
    return false;
  }
  c->depth++;
  bool good = enter_values(c, b->params, b->nparams, b->owner ? b->owner->span : c->fn->span);
  const TileOp *prev = NULL;
  for (const TileOp *op = b->first; op; prev = op, op = op->next) {
    BUG_IF(op->parent != b || op->prev != prev, "`%s` is wrongly linked", tile_op_name(op->code));
    good &= check_op(c, op);
  }
  BUG_IF(b->last != prev, "the last op of a block says otherwise");
  good &= check_terminator(c, b);
  leave_block(c, b);
  c->depth--;
  return good;
}

static bool check_params(TileCheck *c) {
  const TileFunc *f = c->fn;
  bool good = true;
  BUG_IF(f->nparams != f->body->nparams, "%u parameters", f->nparams);
  for (uint32_t i = 0; i < f->nparams; i++) {
    const TileValue *v = f->params[i].value;
    BUG_IF(v != f->body->params[i], "parameter %u says otherwise", i);
    if (!v->type.rank) continue;
    diag_error(c->diags, f->span, E_TILE_PARAM_SCALAR, name_of(c, v),
               type_text(c->fn->arena, v->type));
    good = false;
  }
  return good;
}

bool tile_verify(const TileFunc *f, Diags *d) {
  TileCheck c = {.fn = f, .diags = d, .seen = ARENA_ARRAY(f->arena, uint8_t, f->nvalues)};
  bool good = check_params(&c);
  return check_block(&c, f->body) && good;
}
