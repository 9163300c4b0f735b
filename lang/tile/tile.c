#include "lang/tile/tile.h"

#include <string.h>

#include "lang/tile/scalar.h"

/* ---- the tables ---- */

/* Names are the ids in lower case.  A character of a literal is a constant for gcc and clang, so
 * the table needs neither a second list nor code that runs first. */
#define CHAR_AT(s, i) ((s)[(i) < sizeof(s) ? (i) : sizeof(s) - 1])
#define LOW(s, i) \
  ((char)(CHAR_AT(s, i) >= 'A' && CHAR_AT(s, i) <= 'Z' ? CHAR_AT(s, i) + 32 : CHAR_AT(s, i)))
#define LOW4(s, i) LOW(s, i), LOW(s, (i) + 1), LOW(s, (i) + 2), LOW(s, (i) + 3)
enum { NAME_SIZE = 16 };
#define LOWER(s) \
  { LOW4(s, 0), LOW4(s, 4), LOW4(s, 8), LOW4(s, 12) }

typedef struct {
  char name[NAME_SIZE];
  const char *args, *results, *rule;
  unsigned flags;
  const char *attrs, *doc;
} OpRow;

enum {
  PURE = TILE_PURE,
  ELEM = TILE_ELEM,
  COMM = TILE_COMM,
  READ = TILE_READ,
  WRITE = TILE_WRITE,
  REGION = TILE_REGION,
  TERM = TILE_TERM,
  APPROX = TILE_APPROX
};

static const OpRow ops[TILE_OP_COUNT] = {
#define X(id, args, results, rule, flags, attrs, doc) \
  [TILE_##id] = {LOWER(#id), args, results, #rule, flags, attrs, doc},
    TILE_OPS(X)
#undef X
};

#define X(id, args, results, rule, flags, attrs, doc) \
  _Static_assert(sizeof(#id) <= NAME_SIZE, "an op's name is too long: " #id);
TILE_OPS(X)
#undef X

static const struct {
  const char *name;
  TileAttrKind kind;
} attr_keys[TA_COUNT] = {
#define X(name, kind) [TA_##name] = {#name, TAK_##kind},
    TILE_ATTRS(X)
#undef X
};

const char *tile_op_name(TileCode c) { return ops[c].name; }
unsigned tile_op_flags(TileCode c) { return ops[c].flags; }
const char *tile_op_doc(TileCode c) { return ops[c].doc; }
const char *tile_op_args(TileCode c) { return ops[c].args; }
const char *tile_op_results(TileCode c) { return ops[c].results; }
const char *tile_op_rule(TileCode c) { return ops[c].rule; }

const char *tile_op_refuses(TileCode c, DType t) {
  const char *rule = ops[c].rule;
  bool is_int = dtype_is_int(t);
  if (!strcmp(rule, "float")) return dtype_is_float(t) ? NULL : "a float type";
  if (c == TILE_POPC || c == TILE_CLZ || c == TILE_BREV) /* they count in whole registers */
    return is_int && dtype_bits(t) >= 32 ? NULL : "an integer type of 32 or 64 bits";
  if (c == TILE_DOT4 || c == TILE_DOT2) return t == DT_I32 ? NULL : "i32";
  if (!strcmp(rule, "int")) return is_int ? NULL : "an integer type";
  if (!strcmp(rule, "same")) return t != DT_PTR ? NULL : "a number";
  return NULL;
}
const char *tile_op_attrs(TileCode c) { return ops[c].attrs; }
const char *tile_attr_name(TileAttrKey k) { return attr_keys[k].name; }
TileAttrKind tile_attr_kind(TileAttrKey k) { return attr_keys[k].kind; }

bool tile_op_takes(TileCode c, TileAttrKey k) {
  size_t len = strlen(attr_keys[k].name);
  for (const char *p = ops[c].attrs; *p; p += strspn(p, " ")) {
    size_t n = strcspn(p, " ");
    if (n == len && !memcmp(p, attr_keys[k].name, n)) return true;
    p += n;
  }
  return false;
}

TileCode tile_op_parse(const char *name, size_t len) {
  for (int c = 0; len < NAME_SIZE && c < TILE_OP_COUNT; c++)
    if (!memcmp(ops[c].name, name, len) && !ops[c].name[len]) return (TileCode)c;
  return TILE_OP_COUNT;
}

/* The operands that every op of this code has a slot for: all but the repeated ones. */
static uint32_t fixed_slots(TileCode c) {
  uint32_t n = 0;
  for (const char *p = ops[c].args; *p; p++)
    if (*p == 'V') return VIEW_FIXED;
    else if (*p == 'v' && p[1] != '*') n++;
  return n;
}

/* ---- attributes ---- */

const TileAttr *tile_attr(const TileOp *op, TileAttrKey k) {
  for (uint32_t i = 0; i < op->nattrs; i++)
    if (op->attrs[i].key == k) return &op->attrs[i];
  return NULL;
}

int64_t tile_int(const TileOp *op, TileAttrKey k, int64_t dflt) {
  const TileAttr *a = tile_attr(op, k);
  return a ? a->i : dflt;
}

Name tile_str(const TileOp *op, TileAttrKey k, Name dflt) {
  const TileAttr *a = tile_attr(op, k);
  return a ? a->s : dflt;
}

Tf32 tile_dot_tf32(const TileOp *op) {
  const char *precision = tile_str(op, TA_precision, "tf32");
  if (op->args[0]->type.dtype != DT_F32) return TF32_NONE;
  if (!strcmp(precision, "tf32_rounded")) return TF32_ROUNDED;
  return strcmp(precision, "tf32") ? TF32_NONE : TF32_CUT;
}

TileCode tile_dot_of_words(const char *precision) {
  if (!strcmp(precision, "bytes")) return TILE_DOT4;
  return strcmp(precision, "pairs") ? TILE_DOT : TILE_DOT2;
}

bool tile_dots_words(const TileOp *op) {
  return tile_dot_of_words(tile_str(op, TA_precision, "")) != TILE_DOT;
}

static void remove_attr(TileOp *op, TileAttrKey k) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < op->nattrs; i++)
    if (op->attrs[i].key != k) op->attrs[n++] = op->attrs[i];
  op->nattrs = n;
}

/* The attribute of that key, made in its place (the order of keys) if it is not there yet. */
static TileAttr *attr_slot(TileFunc *f, TileOp *op, TileAttrKey k) {
  uint32_t at = 0;
  while (at < op->nattrs && op->attrs[at].key < k) at++;
  if (at < op->nattrs && op->attrs[at].key == k) return &op->attrs[at];
  TileAttr *list = ARENA_ARRAY(f->arena, TileAttr, op->nattrs + 1);
  for (uint32_t i = 0; i < op->nattrs; i++) list[i + (i >= at)] = op->attrs[i];
  list[at].key = (uint8_t)k;
  op->attrs = list;
  op->nattrs++;
  return &list[at];
}

void tile_set_int(TileFunc *f, TileOp *op, TileAttrKey k, int64_t v) {
  bool flag = tile_attr_kind(k) == TAK_bool;
  if (flag && !v) remove_attr(op, k);
  else attr_slot(f, op, k)->i = flag ? 1 : v;
}

void tile_set_str(TileFunc *f, TileOp *op, TileAttrKey k, const char *v) {
  attr_slot(f, op, k)->s = pool_name(f->names, v);
}

void tile_set_ints(TileFunc *f, TileOp *op, TileAttrKey k, const int64_t *v, uint32_t n) {
  int64_t *list = ARENA_ARRAY(f->arena, int64_t, n);
  for (uint32_t i = 0; i < n; i++) list[i] = v[i];
  TileAttr *a = attr_slot(f, op, k);
  a->list = list;
  a->len = n;
}

/* `i` as its dtype holds it: sign- or zero-extended from the dtype's bits. */
static int64_t wrap_integer(DType t, int64_t i) {
  unsigned bits = dtype_bits(t);
  if (bits >= 64 || !bits) return i;
  uint64_t low = (uint64_t)i & ((UINT64_C(1) << bits) - 1);
  bool negative = dtype_is_signed(t) && low >> (bits - 1);
  return (int64_t)(negative ? low | ~UINT64_C(0) << bits : low);
}

void tile_set_num(TileFunc *f, TileOp *op, int64_t i, double v) {
  DType t = (DType)op->results[0]->type.dtype;
  TileAttr *a = attr_slot(f, op, TA_value);
  if (dtype_is_float(t)) a->f = scalar_round(t, v);
  else a->i = wrap_integer(t, i);
}

/* ---- building ---- */

TileFunc *tile_func_new(Arena *a, Pool *names, Name name, Span span, Options options) {
  TileFunc *f = ARENA_NEW(a, TileFunc);
  f->arena = a;
  f->names = names;
  f->name = name;
  f->span = span;
  f->options = options;
  f->body = tile_block_new(f, NULL);
  return f;
}

static TileValue *new_value(TileFunc *f, Type type, uint32_t index) {
  TileValue *v = ARENA_NEW(f->arena, TileValue);
  v->type = type;
  v->index = index;
  v->id = f->nvalues++;
  return v;
}

TileValue *tile_add_param(TileFunc *f, Name name, Type type, uint32_t arg, int64_t div) {
  TileValue *v = tile_block_param(f, f->body, type, name);
  f->params = arena_grow(f->arena, f->params, f->nparams * sizeof *f->params,
                         (f->nparams + 1) * sizeof *f->params);
  f->params[f->nparams++] = (TileParam){.value = v, .arg = arg, .div = div};
  return v;
}

TileBlock *tile_block_new(TileFunc *f, TileOp *owner) {
  TileBlock *b = ARENA_NEW(f->arena, TileBlock);
  b->owner = owner;
  return b;
}

TileValue *tile_block_param(TileFunc *f, TileBlock *b, Type type, Name name) {
  TileValue *v = new_value(f, type, b->nparams);
  v->block = b;
  v->name = name;
  b->params = arena_grow(f->arena, b->params, b->nparams * sizeof *b->params,
                         (b->nparams + 1) * sizeof *b->params);
  b->params[b->nparams++] = v;
  return v;
}

void tile_block_params(TileFunc *f, TileBlock *b, const Type *types, const Name *names,
                       uint32_t n) {
  b->params = ARENA_ARRAY(f->arena, TileValue *, n);
  b->nparams = n;
  for (uint32_t i = 0; i < n; i++) {
    TileValue *v = b->params[i] = new_value(f, types[i], i);
    v->block = b;
    v->name = names[i];
  }
}

/* Links `op` into `block` before `before`, or at the end. */
static void link_op(TileOp *op, TileBlock *block, TileOp *before) {
  op->parent = block;
  op->next = before;
  op->prev = before ? before->prev : block->last;
  *(op->prev ? &op->prev->next : &block->first) = op;
  *(before ? &before->prev : &block->last) = op;
}

static void unlink_op(TileOp *op) {
  *(op->prev ? &op->prev->next : &op->parent->first) = op->next;
  *(op->next ? &op->next->prev : &op->parent->last) = op->prev;
  op->prev = op->next = NULL;
  op->parent = NULL;
}

TileOp *tile_build(TileBuilder *b, TileCode code, TileValue *const *args, uint32_t nargs,
                   const Type *types, uint32_t nresults) {
  TileFunc *f = b->fn;
  TileOp *op = ARENA_NEW(f->arena, TileOp);
  uint32_t fixed = fixed_slots(code);
  op->code = code;
  op->span = b->span;
  op->nargs = nargs > fixed ? nargs : fixed;
  op->args = ARENA_ARRAY(f->arena, TileValue *, op->nargs);
  for (uint32_t i = 0; i < nargs; i++) op->args[i] = args[i];
  op->nresults = nresults;
  op->results = ARENA_ARRAY(f->arena, TileValue *, nresults);
  for (uint32_t i = 0; i < nresults; i++) {
    op->results[i] = new_value(f, types[i], i);
    op->results[i]->def = op;
  }
  link_op(op, b->block, b->before);
  return op;
}

TileValue *tile_build1(TileBuilder *b, TileCode code, Type type, TileValue *x, TileValue *y,
                       TileValue *z) {
  TileValue *args[] = {x, y, z};
  uint32_t n = z ? 3 : y ? 2 : x ? 1 : 0;
  return tile_build(b, code, args, n, &type, 1)->results[0];
}

TileBlock *tile_add_region(TileFunc *f, TileOp *op) {
  TileBlock *block = tile_block_new(f, op);
  op->regions = arena_grow(f->arena, op->regions, op->nregions * sizeof *op->regions,
                           (op->nregions + 1) * sizeof *op->regions);
  op->regions[op->nregions++] = block;
  return block;
}

TileValue *tile_const_int(TileBuilder *b, Type t, int64_t i) {
  TileValue *v = tile_build1(b, TILE_CONST, t, NULL, NULL, NULL);
  tile_set_num(b->fn, v->def, i, (double)i);
  return v;
}

TileValue *tile_const_float(TileBuilder *b, Type t, double x) {
  BUG_IF(!dtype_is_float((DType)t.dtype), "a float constant of type %s",
         type_text(b->fn->arena, t));
  TileValue *v = tile_build1(b, TILE_CONST, t, NULL, NULL, NULL);
  tile_set_num(b->fn, v->def, 0, x);
  return v;
}

/* ---- changing ---- */

void tile_remove(TileOp *op) { unlink_op(op); }

void tile_move_before(TileOp *op, TileOp *place) {
  if (op == place) return;
  unlink_op(op);
  link_op(op, place->parent, place);
}

static void substitute_in(TileOp *op, void *ctx) {
  TileValue **map = ctx;
  for (uint32_t i = 0; i < op->nargs; i++) {
    TileValue *v = op->args[i];
    while (v && map[v->id]) v = map[v->id];
    op->args[i] = v;
  }
}

void tile_substitute(TileFunc *f, TileValue **map) { tile_walk(f->body, substitute_in, map); }

void tile_walk(TileBlock *b, void (*visit)(TileOp *op, void *ctx), void *ctx) {
  for (TileOp *op = b->first, *next; op; op = next) {
    next = op->next;
    visit(op, ctx);
    if (!op->parent) continue; /* the visitor removed it */
    for (uint32_t i = 0; i < op->nregions; i++) tile_walk(op->regions[i], visit, ctx);
  }
}

static void count_in(TileOp *op, void *ctx) {
  uint32_t *uses = ctx;
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i]) uses[op->args[i]->id]++;
}

uint32_t *tile_count_uses(const TileFunc *f, Arena *a) {
  uint32_t *uses = ARENA_ARRAY(a, uint32_t, f->nvalues);
  tile_walk(f->body, count_in, uses);
  return uses;
}

/* ---- helpers ---- */

bool tile_view_checked(const TileOp *op, uint32_t axis) {
  const TileAttr *a = tile_attr(op, TA_check);
  for (uint32_t i = 0; a && i < a->len; i++)
    if (a->list[i] == (int64_t)axis) return true;
  return false;
}

bool tile_is_same_scalar(const TileOp *op) {
  bool shapes = op->code == TILE_RESHAPE || op->code == TILE_BROADCAST || op->code == TILE_TRANS;
  return shapes && !op->args[0]->type.rank && !op->results[0]->type.rank;
}

bool tile_const_value(const TileValue *v, int64_t *out) {
  if (!v->def || v->def->code != TILE_CONST || !dtype_is_int((DType)v->type.dtype)) return false;
  *out = tile_int(v->def, TA_value, 0);
  return true;
}

bool tile_is_zero(const TileValue *v) {
  const TileOp *op = v->def;
  while (op && (op->code == TILE_SPLAT || op->code == TILE_BROADCAST)) op = op->args[0]->def;
  if (!op || op->code != TILE_CONST) return false;
  const TileAttr *c = tile_attr(op, TA_value);
  if (!c) return true;
  return dtype_is_float((DType)v->type.dtype) ? c->f == 0 : c->i == 0;
}
