#include "lower/nest/nest.h"

#include <stdlib.h>
#include <string.h>

#include "lang/asm/asm_call.h"
#include "lang/interp/device_print.h"

/* ---- tables ---- */

/* Names are the ids in lower case with '.' for '_'.  A character of a literal is a constant for gcc
 * and clang, so the table needs neither a second list nor code that runs first. */
#define CHAR_AT(s, i) ((s)[(i) < sizeof(s) ? (i) : sizeof(s) - 1])
#define LOW(s, i)                                                           \
  ((char)(CHAR_AT(s, i) >= 'A' && CHAR_AT(s, i) <= 'Z' ? CHAR_AT(s, i) + 32 \
          : CHAR_AT(s, i) == '_'                       ? '.'                \
                                                       : CHAR_AT(s, i)))
#define LOW4(s, i) LOW(s, i), LOW(s, (i) + 1), LOW(s, (i) + 2), LOW(s, (i) + 3)
enum { NAME_SIZE = 16 };
#define LOWER(s) \
  { LOW4(s, 0), LOW4(s, 4), LOW4(s, 8), LOW4(s, 12) }

#define X(id, levels, dsts, srcs, mems, regions, flags, attrs, doc) \
  _Static_assert(sizeof(#id) <= NAME_SIZE, "a statement's name is too long: " #id);
NEST_OPS(X)
#undef X

static const char names[NEST_OP_COUNT][NAME_SIZE] = {
#define X(id, levels, dsts, srcs, mems, regions, flags, attrs, doc) [NEST_##id] = LOWER(#id),
    NEST_OPS(X)
#undef X
};

enum { LEVEL_N = 1 << NEST_LEVEL_NEST, LEVEL_T = 1 << NEST_LEVEL_THREAD };
enum { LEVELS_N = LEVEL_N, LEVELS_T = LEVEL_T, LEVELS_NT = LEVEL_N | LEVEL_T };

enum {
  PURE = NEST_IS_PURE, READ = NEST_IS_READ, WRITE = NEST_IS_WRITE, ATOMIC = NEST_IS_ATOMIC,
  ORDERED = NEST_IS_ORDERED, EFFECT = NEST_IS_EFFECT, TOGETHER = NEST_IS_TOGETHER,
  ALWAYS = NEST_IS_ALWAYS, VARIES = NEST_IS_VARIES, PRODUCT = NEST_IS_PRODUCT, LOOP = NEST_IS_LOOP
};

/* A pure statement does nothing else; statements with addresses, and no others, access memory. */
#define X(id, levels, dsts, srcs, mems, regions, flags, attrs, doc)                               \
  _Static_assert(!((flags) & PURE) || (!((flags) & ~(PURE | VARIES)) && (dsts) == 1),             \
                 "a pure statement with an effect: " #id);                                        \
  _Static_assert(!((flags) & (READ | WRITE)) || (mems), "an access without an address: " #id);    \
  _Static_assert(((flags) & (READ | WRITE | PRODUCT)) || !(mems), "an address for nothing: " #id); \
  _Static_assert(!((flags) & LOOP) || (regions), "a loop without a region: " #id);
NEST_OPS(X)
#undef X

static const NestOpInfo ops[NEST_OP_COUNT] = {
#define X(id, levels, dsts, srcs, mems, regions, flags, attrs, doc) \
  [NEST_##id] = {names[NEST_##id], LEVELS_##levels, dsts, srcs, mems, regions, flags, attrs, doc},
    NEST_OPS(X)
#undef X
};

static const struct {
  const char *name;
  NestAttrKind kind;
} attr_keys[NA_COUNT] = {
#define X(name, kind) [NA_##name] = {#name, NAK_##kind},
    NEST_ATTRS(X)
#undef X
};

const NestOpInfo *nest_op_info(NestCode c) { return &ops[c]; }
const char *nest_op_name(NestCode c) { return ops[c].name; }
bool nest_op_in_level(NestCode c, NestLevel level) { return ops[c].levels >> level & 1; }
const char *nest_attr_name(NestAttrKey k) { return attr_keys[k].name; }
NestAttrKind nest_attr_kind(NestAttrKey k) { return attr_keys[k].kind; }

NestCode nest_op_parse(const char *name, size_t len) {
  for (int c = 0; len < NAME_SIZE && c < NEST_OP_COUNT; c++)
    if (!memcmp(names[c], name, len) && !names[c][len]) return (NestCode)c;
  return NEST_OP_COUNT;
}

/* ---- making a nest ---- */

Nest *nest_new(Arena *a, Pool *pool, Name name, Options options, NestLevel level) {
  Nest *n = ARENA_NEW(a, Nest);
  n->arena = a;
  n->layouts.arena = a;
  n->names = pool;
  n->name = name;
  n->level = level;
  n->options = options;
  n->lanes = 32;
  n->warps = options_warps(&options);
  n->cluster = 1;
  n->var_names = ir_namer_new(a, pool);
  n->buffer_names = ir_namer_new(a, pool);
  n->body = nest_block(n, NULL);
  return n;
}

/* Room for one more in a list whose capacity is the next power of two of its length. */
static void *list_room(Arena *a, void *list, uint32_t len, size_t item) {
  if (len & (len - 1)) return list;
  if (!len) return arena_array(a, 1, item);
  return arena_grow(a, list, len * item, (size_t)len * 2 * item);
}

static const Layout no_layout;

const Layout *nest_layout(Nest *n, const Layout *l) { return layout_intern(&n->layouts, l); }

static NestVar *add_var(Nest *n, Name name, Type type) {
  NestVar *v = ARENA_NEW(n->arena, NestVar);
  v->id = n->nvars;
  v->name = name;
  v->dtype = (DType)type.dtype;
  v->elem = (DType)type.elem;
  v->tile = type;
  v->count = 1;
  v->div = 1;
  v->layout = &no_layout;
  n->vars = list_room(n->arena, n->vars, n->nvars, sizeof *n->vars);
  n->vars[n->nvars++] = v;
  return v;
}

NestVar *nest_var(Nest *n, const char *name, DType dtype, DType elem, uint32_t count,
                  bool uniform) {
  Type type = {.dtype = (uint8_t)dtype, .elem = (uint8_t)elem};
  NestVar *v = add_var(n, ir_namer_give(&n->var_names, name), type);
  v->count = count;
  v->uniform = uniform;
  return v;
}

/* Takes exactly that name from the namer; numbers that it gives later are higher. */
static bool claim_name(IrNamer *names, Name name) {
  if (!ir_map_put(&names->taken, name, names)) return false;
  if (strlen(name) <= 9 && strspn(name, "0123456789") == strlen(name)) {
    uint32_t number = 0;
    for (const char *p = name; *p; p++) number = number * 10 + (uint32_t)(*p - '0');
    if (number >= names->next) names->next = number + 1;
  }
  return true;
}

NestVar *nest_var_named(Nest *n, Name name, Type type) {
  return claim_name(&n->var_names, name) ? add_var(n, name, type) : NULL;
}

void nest_make_param(Nest *n, NestVar *v, uint32_t arg, int64_t div) {
  v->uniform = v->is_param = true;
  v->arg = arg;
  v->div = div;
  n->params = list_room(n->arena, n->params, n->nparams, sizeof *n->params);
  n->params[n->nparams++] = v;
}

NestVar *nest_param(Nest *n, const char *name, DType dtype, DType elem, uint32_t arg, int64_t div) {
  NestVar *v = nest_var(n, name, dtype, elem, 1, true);
  nest_make_param(n, v, arg, div);
  return v;
}

NestVar *nest_tile_var(Nest *n, const char *name, Type tile, const Layout *layout) {
  NestVar *v = add_var(n, ir_namer_give(&n->var_names, name), tile);
  v->layout = nest_layout(n, layout);
  return v;
}

static NestBuffer *add_nest_buffer(Nest *n, Name name) {
  NestBuffer *b = ARENA_NEW(n->arena, NestBuffer);
  b->id = n->nbuffers;
  b->name = name;
  b->align = 1;
  b->offset = -1;
  n->buffers = list_room(n->arena, n->buffers, n->nbuffers, sizeof *n->buffers);
  n->buffers[n->nbuffers++] = b;
  return b;
}

NestBuffer *nest_buffer(Nest *n, const char *name, DType dtype, int64_t bytes, int64_t align) {
  NestBuffer *b = add_nest_buffer(n, ir_namer_give(&n->buffer_names, name));
  b->dtype = dtype;
  b->bytes = bytes;
  b->align = align;
  return b;
}

NestBuffer *nest_buffer_named(Nest *n, Name name) {
  return claim_name(&n->buffer_names, name) ? add_nest_buffer(n, name) : NULL;
}

NestIndex *nest_index(Nest *n, const char *name, int32_t extent) {
  NestIndex *i = ARENA_NEW(n->arena, NestIndex);
  i->name = pool_name(n->names, name ? name : "i");
  i->extent = extent;
  i->id = n->nindices++;
  i->arena = n->arena;
  i->once = (AffineTerm){i, 1};
  return i;
}

static TensorMap *find_map(const Nest *n, Name name) {
  for (uint32_t i = 0; i < n->nmaps; i++)
    if (!strcmp(n->maps[i]->name, name)) return n->maps[i];
  return NULL;
}

TensorMap *nest_map(Nest *n, const TensorMap *map) {
  TensorMap *m = ARENA_NEW(n->arena, TensorMap);
  *m = *map;
  Name base = m->name = map->name ? map->name : map->base->name;
  for (uint32_t k = 1; find_map(n, m->name); k++)
    m->name = pool_name(n->names, arena_printf(n->arena, "%s.%u", base, k));
  TensorMap **all = ARENA_ARRAY(n->arena, TensorMap *, n->nmaps + 1);
  if (n->nmaps) memcpy(all, n->maps, n->nmaps * sizeof *all);
  all[n->nmaps++] = m;
  n->maps = all;
  return m;
}

const TensorMap *nest_map_of(const Nest *n, const NestStmt *s) {
  return find_map(n, nest_str(s, NA_map, ""));
}

int64_t nest_map_bytes(const TensorMap *m) {
  int64_t bytes = dtype_bytes(m->dtype);
  for (int i = 0; i < m->rank; i++) bytes *= m->axes[i].box;
  return bytes;
}

static NoAlias *find_noalias(const Nest *n, const NestVar *a, const NestVar *b) {
  for (uint32_t i = 0; i < n->nnoalias; i++) {
    NoAlias *x = &n->noalias[i];
    if ((x->a == a && x->b == b) || (x->a == b && x->b == a)) return x;
  }
  return NULL;
}

const NoAlias *nest_noalias(const Nest *n, const NestVar *a, const NestVar *b) {
  return find_noalias(n, a, b);
}

bool nest_assume_noalias(Nest *n, NestVar *a, NestVar *b, bool or_same) {
  if (n->options.alias != NEREID_ALIAS_GUARDED) return n->options.alias == NEREID_ALIAS_DISJOINT;
  NoAlias *x = find_noalias(n, a, b);
  if (x) {
    x->or_same &= or_same;
    return true;
  }
  NoAlias *all = ARENA_ARRAY(n->arena, NoAlias, n->nnoalias + 1);
  if (n->nnoalias) memcpy(all, n->noalias, n->nnoalias * sizeof *all);
  all[n->nnoalias++] = (NoAlias){a, b, or_same};
  n->noalias = all;
  return true;
}

/* ---- statements ---- */

NestBlock *nest_block(Nest *n, NestStmt *owner) {
  NestBlock *b = ARENA_NEW(n->arena, NestBlock);
  b->owner = owner;
  if (!owner) return b;
  BUG_IF(owner->nregions == NEST_MAX_REGIONS, "too many regions in %s", nest_op_name(owner->code));
  owner->regions[owner->nregions++] = b;
  return b;
}

/* Links `s` into `block` before `before`, or at the end. */
static void link_stmt(NestStmt *s, NestBlock *block, NestStmt *before) {
  s->parent = block;
  s->next = before;
  s->prev = before ? before->prev : block->last;
  *(s->prev ? &s->prev->next : &block->first) = s;
  *(before ? &before->prev : &block->last) = s;
}

NestStmt *nest_stmt(NestBuilder *b, NestCode code, uint32_t ndsts, uint32_t nsrcs) {
  Arena *a = b->nest->arena;
  NestStmt *s = ARENA_NEW(a, NestStmt);
  s->code = code;
  s->span = b->span;
  s->ndsts = ndsts;
  s->dsts = ARENA_ARRAY(a, Ref, ndsts);
  s->nsrcs = nsrcs;
  s->srcs = ARENA_ARRAY(a, Ref, nsrcs);
  s->nmems = (uint32_t)ops[code].mems;
  s->mems = ARENA_ARRAY(a, Mem, s->nmems);
  s->layout = &no_layout;
  link_stmt(s, b->block, b->before);
  return s;
}

NestStmt *nest_op(NestBuilder *b, TileCode op, DType type, Ref dst, Ref x, Ref y, Ref z) {
  uint32_t nsrcs = z.kind ? 3 : y.kind ? 2 : x.kind ? 1 : 0;
  NestStmt *s = nest_stmt(b, NEST_OP, 1, nsrcs);
  s->op = op;
  s->type = s->to = type;
  s->elem = type == DT_PTR && dst.kind == REF_VAR ? dst.var->elem : DT_NONE;
  s->dsts[0] = dst;
  if (nsrcs > 0) s->srcs[0] = x;
  if (nsrcs > 1) s->srcs[1] = y;
  if (nsrcs > 2) s->srcs[2] = z;
  return s;
}

NestStmt *nest_mov(NestBuilder *b, Ref dst, Ref src, DType type) {
  NestStmt *s = nest_stmt(b, NEST_MOV, 1, 1);
  s->dsts[0] = dst;
  s->srcs[0] = src;
  s->type = type;
  return s;
}

static void *copied(Arena *a, const void *list, uint32_t n, size_t item) {
  return n ? arena_grow(a, list, n * item, n * item) : NULL;
}

NestStmt *nest_copy(NestBuilder *b, const NestStmt *st) {
  Arena *a = b->nest->arena;
  NestStmt *c = ARENA_NEW(a, NestStmt);
  *c = *st;
  c->dsts = copied(a, st->dsts, st->ndsts, sizeof *c->dsts);
  c->srcs = copied(a, st->srcs, st->nsrcs, sizeof *c->srcs);
  c->mems = copied(a, st->mems, st->nmems, sizeof *c->mems);
  c->nregions = 0;
  memset(c->regions, 0, sizeof c->regions);
  link_stmt(c, b->block, b->before);
  return c;
}

void nest_remove(NestStmt *s) {
  NestBlock *b = s->parent;
  *(s->prev ? &s->prev->next : &b->first) = s->next;
  *(s->next ? &s->next->prev : &b->last) = s->prev;
  s->prev = s->next = NULL;
  s->parent = NULL;
}

void nest_move_before(NestStmt *s, NestStmt *place) {
  if (s == place) return;
  nest_remove(s);
  link_stmt(s, place->parent, place);
}

void nest_move_into(NestStmt *s, NestBlock *b) {
  nest_remove(s);
  link_stmt(s, b, NULL);
}

/* ---- attributes ---- */

static void drop_nest_attr(NestStmt *s, NestAttrKey k) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->nattrs; i++)
    if (s->attrs[i].key != k) s->attrs[n++] = s->attrs[i];
  s->nattrs = n;
}

/* The attribute of that key, inserted in the order of keys if the statement lacks it. */
static NestAttr *attr_slot(Nest *n, NestStmt *s, NestAttrKey k) {
  uint32_t at = 0;
  while (at < s->nattrs && s->attrs[at].key < k) at++;
  if (at < s->nattrs && s->attrs[at].key == k) return &s->attrs[at];
  NestAttr *list = ARENA_ARRAY(n->arena, NestAttr, s->nattrs + 1);
  for (uint32_t i = 0; i < s->nattrs; i++) list[i + (i >= at)] = s->attrs[i];
  list[at].key = (uint8_t)k;
  s->attrs = list;
  s->nattrs++;
  return &list[at];
}

void nest_set_int(Nest *n, NestStmt *s, NestAttrKey k, int64_t v) {
  bool flag = nest_attr_kind(k) == NAK_bool;
  if (flag && !v) drop_nest_attr(s, k);
  else attr_slot(n, s, k)->i = flag ? 1 : v;
}

void nest_set_str(Nest *n, NestStmt *s, NestAttrKey k, const char *v) {
  attr_slot(n, s, k)->s = pool_name(n->names, v);
}

const NestAttr *nest_attr(const NestStmt *s, NestAttrKey k) {
  for (uint32_t i = 0; i < s->nattrs; i++)
    if (s->attrs[i].key == k) return &s->attrs[i];
  return NULL;
}

int64_t nest_int(const NestStmt *s, NestAttrKey k, int64_t dflt) {
  const NestAttr *a = nest_attr(s, k);
  return a ? a->i : dflt;
}

uint32_t nest_matrix_elements(const NestStmt *s) {
  enum { LANE_BYTES = 4 };
  uint32_t size = dtype_bytes(s->dsts[0].var->dtype);
  return LANE_BYTES * (uint32_t)nest_int(s, NA_n, 1) / size;
}

Name nest_str(const NestStmt *s, NestAttrKey k, Name dflt) {
  const NestAttr *a = nest_attr(s, k);
  return a ? a->s : dflt;
}

unsigned nest_flags(const NestStmt *s) {
  unsigned flags = ops[s->code].flags;
  bool is_volatile = nest_int(s, NA_volatile, 0) != 0;
  if (s->code == NEST_ASM && !is_volatile) flags &= ~(unsigned)(EFFECT | ORDERED);
  return is_volatile ? flags | ORDERED : flags;
}

bool nest_is_removable(const NestStmt *s) {
  return s->ndsts == 1 && !s->nregions && !(nest_flags(s) & (WRITE | ORDERED | EFFECT));
}

/* Statements between arriving at the cluster's barrier and waiting are not in order. */
bool nest_is_barrier(const NestStmt *s) {
  if (s->code == NEST_CLUSTER_WAIT) return s->prev && s->prev->code == NEST_CLUSTER_ARRIVE;
  return s->code == NEST_BAR;
}

bool nest_writes_global(const NestStmt *s) {
  if (s->code == NEST_BULK_STORE) return true;
  if ((ops[s->code].flags & WRITE) && !s->mems[0].buffer) return true;
  for (uint32_t r = 0; r < s->nregions; r++)
    for (const NestStmt *x = s->regions[r]->first; x; x = x->next)
      if (nest_writes_global(x)) return true;
  return false;
}

/* "16x64"; false if it is no shape. */
static bool parse_shape(const char *s, PrintLine *line) {
  for (line->rank = 0; *s; s += *s == 'x' && s[1]) {
    char *end;
    long n = *s >= '0' && *s <= '9' ? strtol(s, &end, 10) : 0;
    if (n < 1 || n > MAX_TILE || line->rank == MAX_RANK || (*end && *end != 'x')) return false;
    line->shape[line->rank++] = (int32_t)n;
    s = end;
  }
  return true;
}

bool nest_asm_types(Arena *a, const NestStmt *s, AsmTypes *types) {
  int64_t pack = nest_int(s, NA_pack, 1);
  DType *t = ARENA_ARRAY(a, DType, s->ndsts + s->nsrcs);
  if (pack < 1 || pack > ASM_MAX_PACK || !s->ndsts) return false;
  for (uint32_t i = 0; i < s->ndsts + s->nsrcs; i++) {
    const Ref *r = i < s->ndsts ? &s->dsts[i] : &s->srcs[i - s->ndsts];
    if (r->kind != REF_VAR) return false;
    t[i] = r->var->dtype;
  }
  *types = (AsmTypes){t, t + s->ndsts, s->ndsts, s->nsrcs, (uint32_t)pack};
  return true;
}

bool nest_assert_is_code(const Nest *n, const NestStmt *s) {
  return n->options.debug && !strcmp(nest_str(s, NA_kind, "assert"), "assert");
}

bool nest_print_line(const NestStmt *s, PrintLine *line) {
  *line = (PrintLine){.message = nest_str(s, NA_message, ""),
                      .type = s->nsrcs ? s->type : DT_NONE,
                      .digits = (int)nest_int(s, NA_digits, 0)};
  return parse_shape(nest_str(s, NA_shape, ""), line) &&
         (uint32_t)line->rank == (s->nsrcs ? s->nsrcs - 1 : 0);
}

/* ---- references ---- */

Ref ref_none(void) { return (Ref){0}; }
Ref ref_var(NestVar *v) { return (Ref){.kind = REF_VAR, .var = v}; }
Ref ref_sub(NestVar *v, Affine sub) { return (Ref){.kind = REF_VAR, .var = v, .sub = sub}; }
Ref ref_int(int64_t i) { return ref_affine(affine_const(i)); }
Ref ref_affine(Affine a) { return (Ref){.kind = REF_AFFINE, .sub = a}; }
Ref ref_float(double f) { return (Ref){.kind = REF_FLOAT, .f = f}; }

Ref ref_zero(DType t) { return dtype_is_float(t) ? ref_float(0) : ref_int(0); }

/* ---- affine forms ---- */

/* Coefficients wrap like the addresses that they represent. */
static int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

Affine affine_const(int64_t c) { return (Affine){.c = c}; }

/* A list of terms that replaces another one. */
typedef struct {
  uint8_t n;
  AffineTerm t[MAX_TERMS];
} Terms;

static Terms terms_of(const Affine *a) {
  Terms x = {.n = a->n};
  if (a->n) memcpy(x.t, a->t, a->n * sizeof *a->t);
  return x;
}

static void set_terms(Affine *a, const Terms *x) {
  a->n = x->n;
  a->t = NULL;
  if (!x->n) return;
  NestIndex *first = x->t[0].index;
  if (x->n == 1 && x->t[0].coef == 1) {
    a->t = &first->once;
    return;
  }
  AffineTerm *t = ARENA_ARRAY(first->arena, AffineTerm, x->n);
  memcpy(t, x->t, x->n * sizeof *t);
  a->t = t;
}

Affine affine_index(NestIndex *i, int64_t coef) {
  Affine a = {0};
  Terms x = {.n = coef != 0, .t = {{i, coef}}};
  set_terms(&a, &x);
  return a;
}

static void drop_term(Terms *x, int at) {
  x->n--;
  for (int i = at; i < x->n; i++) x->t[i] = x->t[i + 1];
}

static int find_term(const AffineTerm *t, int n, const NestIndex *index) {
  for (int i = 0; i < n; i++)
    if (t[i].index == index) return i;
  return -1;
}

/* The sum of the terms; false if they are too many. */
static bool add_terms(Terms *sum, const Affine *b) {
  for (int i = 0; i < b->n; i++) {
    int at = find_term(sum->t, sum->n, b->t[i].index);
    if (at < 0) {
      if (sum->n == MAX_TERMS) return false;
      sum->t[sum->n++] = b->t[i];
    } else {
      sum->t[at].coef = wrap_add(sum->t[at].coef, b->t[i].coef);
      if (!sum->t[at].coef) drop_term(sum, at);
    }
  }
  return true;
}

bool affine_add(Affine *a, const Affine *b) {
  if (a->n && b->n) {
    Terms sum = terms_of(a);
    if (!add_terms(&sum, b)) return false;
    set_terms(a, &sum);
  } else if (b->n) {
    a->n = b->n;
    a->t = b->t;
  }
  a->c = wrap_add(a->c, b->c);
  return true;
}

void affine_scale(Affine *a, int64_t by) {
  a->c = wrap_mul(a->c, by);
  if (!a->n || by == 1) return;
  Terms x = terms_of(a);
  for (int i = x.n - 1; i >= 0; i--) {
    x.t[i].coef = wrap_mul(x.t[i].coef, by);
    if (!x.t[i].coef) drop_term(&x, i);
  }
  set_terms(a, &x);
}

int64_t affine_coef(const Affine *a, const NestIndex *i) {
  int at = find_term(a->t, a->n, i);
  return at < 0 ? 0 : a->t[at].coef;
}

int64_t affine_drop(Affine *a, const NestIndex *i) {
  int at = find_term(a->t, a->n, i);
  if (at < 0) return 0;
  Terms x = terms_of(a);
  int64_t coef = x.t[at].coef;
  x.t[at] = x.t[--x.n];
  set_terms(a, &x);
  return coef;
}

void affine_rename(Affine *a, const NestIndex *from, NestIndex *to) {
  int at = find_term(a->t, a->n, from);
  if (at < 0) return;
  Terms x = terms_of(a);
  x.t[at].index = to;
  set_terms(a, &x);
}

bool affine_eq(const Affine *a, const Affine *b) {
  if (a->c != b->c || a->n != b->n) return false;
  for (int i = 0; i < a->n; i++) {
    int at = find_term(b->t, b->n, a->t[i].index);
    if (at < 0 || b->t[at].coef != a->t[i].coef) return false;
  }
  return true;
}

Affine nest_buffer_bytes(const Layout *l, const Affine *axes) {
  Affine sum = affine_const(0);
  for (int i = 0; i < l->ndigits; i++) {
    if (i + 1 < l->ndigits && l->d[i + 1].axis == l->d[i].axis) continue;
    Affine x = axes[l->d[i].axis];
    affine_scale(&x, l->d[i].stride);
    affine_add(&sum, &x);
  }
  return sum;
}
