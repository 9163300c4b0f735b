/* Reading the statements of loop nests; nest_text.c writes them.  docs/nest-text.md has the
 * grammar.
 */
#include <string.h>

#include "lower/messages.h"
#include "lower/nest/nest_read.h"

/* ---- pieces ---- */

static bool in_list(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *s = list; *s; s += strspn(s, " ")) {
    size_t len = strcspn(s, " ");
    if (len == n && !memcmp(s, name, n)) return true;
    s += len;
  }
  return false;
}

static int attr_key(const NestStmt *s, Name name) {
  const char *known = nest_op_info(s->code)->attrs;
  for (int k = 0; k < NA_COUNT; k++)
    if (!strcmp(nest_attr_name((NestAttrKey)k), name)) return in_list(known, name) ? k : -1;
  return -1;
}

static void set_attr(NestReader *p, NestStmt *s, const IrAttr *a) {
  static const char *const whats[] = {
      [NAK_int] = "an integer", [NAK_bool] = "true or false", [NAK_str] = "a string"};
  static const IrAttrKind kinds[] = {[NAK_int] = IA_INT, [NAK_bool] = IA_FLAG, [NAK_str] = IA_STR};
  int key = attr_key(s, a->key);
  if (key < 0) {
    const char *known = nest_op_info(s->code)->attrs;
    const char *name = s->code == NEST_OP ? tile_op_name(s->op) : nest_op_name(s->code);
    ir_error(&p->r, a->span, E_NEST_ATTR, name, a->key, *known ? "; it has: " : "", known);
    return;
  }
  NestAttrKind kind = nest_attr_kind((NestAttrKey)key);
  if (a->kind != kinds[kind] || a->wide) ir_attr_wrong(&p->r, a, whats[kind]);
  else if (kind == NAK_str) nest_set_str(p->n, s, (NestAttrKey)key, a->s);
  else nest_set_int(p->n, s, (NestAttrKey)key, a->i);
}

static void read_attrs(NestReader *p, NestStmt *s) {
  uint32_t n;
  IrAttr *attrs = ir_attrs(&p->r, &n);
  for (uint32_t i = 0; i < n && !p->r.failed; i++) set_attr(p, s, &attrs[i]);
}

static DType read_scalar_type(NestReader *p, DType *elem) {
  Span span = p->r.token.span;
  Type t = ir_type(&p->r);
  if (t.rank) ir_error(&p->r, span, E_NEST_SCALAR_TYPE);
  if (t.dtype == DT_PTR) *elem = (DType)t.elem;
  return (DType)t.dtype;
}

/* Constants are kept as their type has them, which is how they are printed. */
static void round_constants(NestStmt *s) {
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (s->srcs[i].kind == REF_FLOAT && s->type == DT_F32) s->srcs[i].f = (float)s->srcs[i].f;
}

static void read_types(NestReader *p, NestStmt *s) {
  if (!ir_accept(&p->r, ":")) return;
  s->type = s->to = read_scalar_type(p, &s->elem);
  if (ir_accept(&p->r, "to")) s->to = read_scalar_type(p, &s->elem);
  s->rtz = ir_accept(&p->r, "rtz");
  round_constants(s);
}

/* `if %g`, unless it begins a line: then it is the next statement. */
static void read_guard(NestReader *p, NestStmt *s) {
  if (ir_at(&p->r, "if") && !p->r.token.first && ir_accept(&p->r, "if"))
    s->guard = nest_read_ref(p);
}

static void read_tail(NestReader *p, NestStmt *s) {
  read_guard(p, s);
  read_types(p, s);
  ir_place(&p->r, &s->span);
}

static void read_region(NestReader *p, NestStmt *s) {
  NestBlock *b = nest_block(p->n, s);
  if (++p->depth > NEST_MAX_DEPTH) ir_error(&p->r, p->r.token.span, E_NEST_DEPTH, NEST_MAX_DEPTH);
  if (ir_expect(&p->r, "{")) {
    nest_read_block(p, b);
    ir_expect(&p->r, "}");
  }
  p->depth--;
}

static NestIndex *read_index(NestReader *p) {
  Name name = ir_word(&p->r, "an index");
  ir_expect(&p->r, ":");
  int32_t extent = (int32_t)ir_int_in(&p->r, 1, MAX_TILE);
  if (p->r.failed) return NULL;
  NestIndex *index = nest_index(p->n, name, extent);
  vec_push(p->r.arena, &p->open, index);
  return index;
}

typedef struct {
  VEC(Ref) srcs;
  VEC(Mem) mems;
} Operands;

static void read_operands(NestReader *p, Operands *o) {
  do {
    if (ir_at(&p->r, "[") && !o->srcs.len) vec_push(p->r.arena, &o->mems, nest_read_mem(p));
    else vec_push(p->r.arena, &o->srcs, nest_read_ref(p));
  } while (!p->r.failed && ir_accept(&p->r, ","));
}

static void set_operands(NestReader *p, NestStmt *s, const Operands *o) {
  uint32_t n = (uint32_t)o->mems.len;
  if (n > NEST_MAX_MEMS)
    ir_error(&p->r, s->span, E_NEST_MEMS, nest_op_name(s->code), NEST_MAX_MEMS);
  if (n > s->nmems) s->mems = o->mems.data, s->nmems = n;
  else if (n) memcpy(s->mems, o->mems.data, sizeof *s->mems * n); /* others are empty */
  s->srcs = o->srcs.data;
  s->nsrcs = (uint32_t)o->srcs.len;
}

/* ---- statements, by form ---- */

/* UNDEF and statements without operands; what follows them is the next statement. */
static bool has_operands(NestReader *p, const NestStmt *s) {
  if (s->code == NEST_OP) return *tile_op_args(s->op) != 0;
  if (s->code == NEST_PRINT && ir_at(&p->r, "{")) return false;
  const NestOpInfo *info = nest_op_info(s->code);
  return info->srcs || info->mems;
}

static void read_plain(NestReader *p, NestStmt *s) {
  Operands o = {0};
  if (has_operands(p, s)) read_operands(p, &o);
  set_operands(p, s, &o);
  read_attrs(p, s);
}

static void read_plain_stmt(NestReader *p, NestStmt *s) {
  read_plain(p, s);
  read_tail(p, s);
}

static void read_loop(NestReader *p, NestStmt *s) {
  size_t outer = p->open.len;
  s->index = read_index(p);
  if (s->code == NEST_SERIAL && ir_accept(&p->r, "from")) {
    s->nsrcs = 2;
    s->srcs = ARENA_ARRAY(p->n->arena, Ref, 2);
    s->srcs[0] = nest_read_ref(p);
    if (ir_expect(&p->r, "to")) s->srcs[1] = nest_read_ref(p);
  }
  read_tail(p, s);
  read_region(p, s);
  p->open.len = outer;
}

static void read_for(NestReader *p, NestStmt *s) {
  static const char *const words[] = {"=", "to", "step"};
  s->ndsts = 1;
  s->dsts = ARENA_NEW(p->n->arena, Ref);
  s->nsrcs = 3;
  s->srcs = ARENA_ARRAY(p->n->arena, Ref, 3);
  s->dsts[0] = nest_read_var(p);
  for (int i = 0; i < 3 && !p->r.failed; i++)
    if (ir_expect(&p->r, words[i])) s->srcs[i] = nest_read_ref(p);
  read_attrs(p, s);
  read_tail(p, s);
  read_region(p, s);
}

static void read_condition(NestReader *p, NestStmt *s) {
  s->nsrcs = 1;
  s->srcs = ARENA_NEW(p->n->arena, Ref);
  s->srcs[0] = nest_read_ref(p);
  read_tail(p, s);
  read_region(p, s);
}

static void read_while(NestReader *p, NestStmt *s) {
  read_condition(p, s);
  ir_expect(&p->r, "do");
  read_region(p, s);
}

static void read_if(NestReader *p, NestStmt *s) {
  read_condition(p, s);
  if (ir_accept(&p->r, "else")) read_region(p, s);
  else nest_block(p->n, s);
}

static void read_with_region(NestReader *p, NestStmt *s) {
  read_attrs(p, s);
  read_tail(p, s);
  read_region(p, s);
}

static void read_nest(NestReader *p, NestStmt *s) {
  size_t outer = p->open.len;
  Span span = p->r.token.span;
  read_attrs(p, s);
  while (!p->r.failed && !ir_at(&p->r, "[")) {
    read_index(p);
    if (!ir_accept(&p->r, ",")) break;
  }
  size_t rank = p->open.len - outer;
  Layout l;
  if (!layout_parse(&p->r, &l)) return;
  if (rank != l.rank) {
    ir_error(&p->r, span, E_NEST_AXES, l.rank, (int)rank);
    return;
  }
  s->layout = nest_layout(p->n, &l);
  s->axes = ARENA_ARRAY(p->n->arena, NestIndex *, rank);
  if (rank) memcpy(s->axes, p->open.data + outer, rank * sizeof *s->axes);
  read_tail(p, s);
  read_region(p, s);
  p->open.len = outer;
}

static void read_region_params(NestReader *p, NestBlock *b) {
  VEC(NestVar *) params = {0};
  while (!p->r.failed && !ir_at(&p->r, ")")) {
    vec_push(p->n->arena, &params, nest_read_var_name(p));
    if (!ir_accept(&p->r, ",")) break;
  }
  ir_expect(&p->r, ")");
  b->params = params.data;
  b->nparams = (uint32_t)params.len;
}

static void read_combine(NestReader *p, NestStmt *s) {
  read_plain(p, s);
  NestBlock params = {0};
  bool region = ir_accept(&p->r, "(");
  if (region) read_region_params(p, &params);
  read_tail(p, s);
  if (!region) return;
  read_region(p, s);
  s->regions[0]->params = params.params;
  s->regions[0]->nparams = params.nparams;
}

/* ---- statements ---- */

/* The statement's code from its name. */
static bool read_code(NestReader *p, NestCode *code, TileCode *op) {
  IrToken t = p->r.token;
  if (t.kind != IT_WORD) {
    ir_expected(&p->r, "a statement");
    return false;
  }
  ir_next(&p->r);
  *op = TILE_CONST;
  *code = nest_op_parse(t.text, t.len);
  if (*code != NEST_OP_COUNT && *code != NEST_OP) return true;
  *code = NEST_OP;
  *op = tile_op_parse(t.text, t.len);
  bool known = *op != TILE_OP_COUNT && (tile_op_flags(*op) & TILE_ELEM);
  if (known && *op != TILE_CONST) return true;
  ir_error(&p->r, t.span, E_NEST_STATEMENT, (int)(t.len > 40 ? 40 : t.len), t.text);
  return false;
}

typedef VEC(Ref) Refs;

static Refs read_dsts(NestReader *p) {
  Refs refs = {0};
  if (!ir_at_kind(&p->r, IT_VALUE)) return refs;
  do vec_push(p->n->arena, &refs, nest_read_var(p));
  while (!p->r.failed && ir_accept(&p->r, ","));
  ir_expect(&p->r, "=");
  return refs;
}

static void read_stmt(NestReader *p, NestBuilder *b) {
  static void (*const by_form[])(NestReader *, NestStmt *) = {
      [FORM_PLAIN] = read_plain_stmt,
      [FORM_LOOP] = read_loop,
      [FORM_FOR] = read_for,
      [FORM_WHILE] = read_while,
      [FORM_IF] = read_if,
      [FORM_REGION] = read_with_region,
      [FORM_NEST] = read_nest,
      [FORM_COMBINE] = read_combine,
  };
  NestCode code;
  TileCode op;
  b->span = p->r.token.span;
  Refs dsts = read_dsts(p);
  if (p->r.failed || !read_code(p, &code, &op)) return;
  NestStmt *s = nest_stmt(b, code, 0, 0);
  s->op = op;
  s->dsts = dsts.data;
  s->ndsts = (uint32_t)dsts.len;
  by_form[nest_form(code)](p, s);
}

void nest_read_block(NestReader *p, NestBlock *block) {
  NestBuilder b = {.nest = p->n, .block = block};
  while (!p->r.failed && !ir_at(&p->r, "}") && !ir_at_kind(&p->r, IT_END)) {
    if (!ir_accept(&p->r, ";")) read_stmt(p, &b);
  }
}
