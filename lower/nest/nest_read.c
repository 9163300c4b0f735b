/* Reading loop nests: operands, statements, then the header and its declarations; nest_text.c
 * writes them.  docs/nest-text.md has the grammar. */
#include <math.h>
#include <string.h>

#include "lang/messages.h"
#include "lower/messages.h"
#include "lower/nest/nest_text.h"

typedef struct {
  IrReader r;
  Nest *n;
  IrMap vars, buffers;
  VEC(NestIndex *) open;     /* indices of the loops around, outermost first */
  VEC(NestIndex *) unrolled; /* of all unrolled loops so far */
  int depth;
} NestReader;

static Ref nest_read_ref(NestReader *p);
static void nest_read_block(NestReader *p, NestBlock *b);

/* ======== operands: affine forms, references, addresses ======== */

static bool is_token(const IrToken *t, const char *s) {
  return t->len == strlen(s) && !memcmp(t->text, s, t->len);
}

/* ---- affine forms ---- */

static NestIndex *find_index(NestReader *p, const IrToken *t) {
  for (size_t i = p->open.len; i-- > 0;)
    if (is_token(t, p->open.data[i]->name)) return p->open.data[i];
  ir_error(&p->r, t->span, E_NEST_NO_INDEX, (int)t->len, t->text);
  return NULL;
}

/* `4`, `a` or `4*a`. */
static Affine read_term(NestReader *p, bool minus) {
  IrReader *r = &p->r;
  Affine none = {0};
  int64_t k = minus ? -1 : 1;
  if (ir_at_kind(r, IT_INT)) {
    IrToken t = ir_next(r);
    if (t.i > (uint64_t)INT64_MAX + minus) {
      ir_error(r, t.span, E_TILE_INT_RANGE, (long long)INT64_MIN, (long long)INT64_MAX);
      return none;
    }
    k = (int64_t)(minus ? -t.i : t.i);
    if (!ir_accept(r, "*")) return affine_const(k);
  }
  if (!ir_at_kind(r, IT_WORD)) {
    ir_expected(r, "an integer or an index");
    return none;
  }
  IrToken t = ir_next(r);
  NestIndex *index = find_index(p, &t);
  return index ? affine_index(index, k) : none;
}

static void add_affine_term(NestReader *p, Affine *sum, bool minus) {
  Span span = p->r.token.span;
  Affine term = read_term(p, minus);
  if (!affine_add(sum, &term)) ir_error(&p->r, span, E_NEST_TERMS, MAX_TERMS);
}

/* The sign in front of a further term; false if there is none. */
static bool accept_sign(NestReader *p, bool *minus) {
  *minus = ir_accept(&p->r, "-");
  return *minus || ir_accept(&p->r, "+");
}

/* Each reports what it does not find; from then on p->r.failed is set. */
static Affine nest_read_affine(NestReader *p) {
  Affine sum = {0};
  bool minus = ir_accept(&p->r, "-");
  do add_affine_term(p, &sum, minus);
  while (accept_sign(p, &minus));
  return sum;
}

/* ---- references ---- */

/* a variable that is declared */
static NestVar *nest_read_var_name(NestReader *p) {
  Span span = p->r.token.span;
  Name name = ir_value(&p->r);
  NestVar *v = name ? ir_map_get(&p->vars, name) : NULL;
  if (name && !v) ir_error(&p->r, span, E_TILE_UNDECLARED, arena_printf(p->r.arena, "%%%s", name));
  return v;
}

static void read_axes(NestReader *p, Ref *ref) {
  Affine axes[MAX_RANK];
  int n = 0, rank = ref->var->tile.rank;
  do {
    Affine a = nest_read_affine(p);
    if (n < rank) axes[n] = a;
    n++;
  } while (ir_accept(&p->r, ","));
  if (n != rank && !p->r.failed)
    ir_error(&p->r, p->r.token.span, E_NEST_RANK, ref->var->name, rank, n);
  if (p->r.failed) return;
  ref->axes = ARENA_ARRAY(p->n->arena, Affine, (size_t)rank);
  memcpy(ref->axes, axes, sizeof *axes * (size_t)rank);
}

/* with its subscript */
static Ref nest_read_var(NestReader *p) {
  NestVar *v = nest_read_var_name(p);
  if (!v) return ref_none();
  Ref ref = ref_var(v);
  if (!ir_accept(&p->r, "[")) return ref;
  if (v->tile.rank) read_axes(p, &ref);
  else ref.sub = nest_read_affine(p);
  ir_expect(&p->r, "]");
  return ref;
}

static Ref read_number(NestReader *p) {
  IrReader *r = &p->r;
  IrReader bookmark = *r;
  bool minus = ir_accept(r, "-");
  double sign = minus ? -1 : 1;
  if (ir_accept(r, "inf")) return ref_float(sign * INFINITY);
  if (ir_accept(r, "nan")) return ref_float(NAN);
  if (ir_at_kind(r, IT_FLOAT)) return ref_float(sign * ir_next(r).f);
  if (!ir_at_kind(r, IT_INT)) {
    ir_expected(r, "a variable, a number or an affine form in parentheses");
    return ref_none();
  }
  *r = bookmark;
  return ref_int(ir_int(r));
}

static Ref nest_read_ref(NestReader *p) {
  if (ir_accept(&p->r, "_")) return ref_none();
  if (ir_at_kind(&p->r, IT_VALUE)) return nest_read_var(p);
  if (!ir_accept(&p->r, "(")) return read_number(p);
  Ref ref = ref_affine(nest_read_affine(p));
  ir_expect(&p->r, ")");
  return ref;
}

/* [@buffer + %base + affine], [%pointer + affine] */
static Mem nest_read_mem(NestReader *p) {
  IrReader *r = &p->r;
  Mem m = {0};
  bool minus = false;
  ir_expect(r, "[");
  Span span = r->token.span;
  if (ir_at_kind(r, IT_SYMBOL)) {
    Name name = ir_symbol(r);
    m.buffer = name ? ir_map_get(&p->buffers, name) : NULL;
    if (!m.buffer) ir_error(r, span, E_TILE_UNDECLARED, arena_printf(r->arena, "@%s", name));
  } else if (!ir_accept(r, "_")) {
    m.base = nest_read_var(p);
  }
  while (!r->failed && accept_sign(p, &minus)) {
    if (m.buffer && !m.base.kind && !minus && ir_at_kind(r, IT_VALUE)) m.base = nest_read_var(p);
    else add_affine_term(p, &m.bytes, minus);
  }
  ir_expect(r, "]");
  return m;
}

/* ======== statements ======== */

/* ---- pieces ---- */

static bool is_in_attr_list(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *s = list; *s; s += strspn(s, " ")) {
    size_t len = strcspn(s, " ");
    if (len == n && !memcmp(s, name, n)) return true;
    s += len;
  }
  return false;
}

static int nest_attr_key(const NestStmt *s, Name name) {
  const char *known = nest_op_info(s->code)->attrs;
  for (int k = 0; k < NA_COUNT; k++)
    if (!strcmp(nest_attr_name((NestAttrKey)k), name)) return is_in_attr_list(known, name) ? k : -1;
  return -1;
}

static void set_nest_attr(NestReader *p, NestStmt *s, const IrAttr *a) {
  static const char *const whats[] = {
      [NAK_int] = "an integer", [NAK_bool] = "true or false", [NAK_str] = "a string"};
  static const IrAttrKind kinds[] = {[NAK_int] = IA_INT, [NAK_bool] = IA_FLAG, [NAK_str] = IA_STR};
  int key = nest_attr_key(s, a->key);
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
  for (uint32_t i = 0; i < n && !p->r.failed; i++) set_nest_attr(p, s, &attrs[i]);
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
  if (++p->depth > NEST_MAX_DEPTH) ir_error(&p->r, p->r.token.span, E_TILE_DEPTH, NEST_MAX_DEPTH);
  if (ir_expect(&p->r, "{")) {
    nest_read_block(p, b);
    ir_expect(&p->r, "}");
  }
  p->depth--;
}

static bool is_open(const NestReader *p, const NestIndex *index) {
  for (size_t i = 0; i < p->open.len; i++)
    if (p->open.data[i] == index) return true;
  return false;
}

/* Unrolled loops that follow each other share an index where passes have cut one loop in two: which
 * ones do, a text says by the name alone. */
static NestIndex *index_of_unrolled(NestReader *p, Name name, int32_t extent) {
  for (size_t i = 0; i < p->unrolled.len; i++) {
    NestIndex *known = p->unrolled.data[i];
    if (known->extent == extent && known->name == name && !is_open(p, known)) return known;
  }
  NestIndex *index = nest_index(p->n, name, extent);
  vec_push(p->r.arena, &p->unrolled, index);
  return index;
}

static NestIndex *read_index(NestReader *p, bool unrolled) {
  Name name = ir_word(&p->r, "an index");
  ir_expect(&p->r, ":");
  int32_t extent = (int32_t)ir_int_in(&p->r, 1, MAX_TILE);
  if (p->r.failed) return NULL;
  NestIndex *index = unrolled ? index_of_unrolled(p, name, extent) : nest_index(p->n, name, extent);
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
  if ((s->code == NEST_PRINT || s->code == NEST_ASM) && ir_at(&p->r, "{")) return false;
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
  s->index = read_index(p, s->code == NEST_UNROLL);
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
    read_index(p, false);
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

/* Statements up to `}`. */
static void nest_read_block(NestReader *p, NestBlock *block) {
  NestBuilder b = {.nest = p->n, .block = block};
  while (!p->r.failed && !ir_at(&p->r, "}") && !ir_at_kind(&p->r, IT_END)) {
    if (!ir_accept(&p->r, ";")) read_stmt(p, &b);
  }
}

/* ======== the header ======== */

enum {
  MOST_SHARED = 1 << 28, /* bytes of a buffer */
  MOST_WARPS = 64,
};

/* ---- declarations ---- */

static void twice(NestReader *p, Span span, char sigil, Name name) {
  ir_error(&p->r, span, E_NEST_TWICE, arena_printf(p->r.arena, "%c%s", sigil, name));
}

static NestVar *declare_var(NestReader *p, Type *type) {
  Span span = p->r.token.span;
  Name name = ir_value(&p->r);
  ir_expect(&p->r, ":");
  *type = ir_type(&p->r);
  if (p->r.failed) return NULL;
  bool registers = p->n->level == NEST_LEVEL_THREAD && type->rank;
  NestVar *v = nest_var_named(p->n, name, registers ? type_element(*type) : *type);
  if (v) ir_map_put(&p->vars, name, v);
  else twice(p, span, '%', name);
  return v;
}

static void read_param(NestReader *p) {
  uint32_t n;
  Type type;
  Span span = p->r.token.span;
  NestVar *v = declare_var(p, &type);
  IrAttr *attrs = ir_attrs(&p->r, &n);
  if (p->r.failed) return;
  if (type.rank) ir_error(&p->r, span, E_NEST_SCALAR_TYPE);
  int64_t arg = 0, div = 1;
  for (uint32_t i = 0; i < n; i++) {
    bool is_arg = !strcmp(attrs[i].key, "arg"), is_div = !strcmp(attrs[i].key, "div");
    bool fits = attrs[i].i >= is_div && attrs[i].i <= (is_arg ? 100000 : INT64_MAX);
    if (!is_arg && !is_div)
      ir_error(&p->r, attrs[i].span, E_NEST_ATTR, "param", attrs[i].key, "; it has: ", "arg div");
    else if (attrs[i].kind != IA_INT || attrs[i].wide || !fits)
      ir_attr_wrong(&p->r, &attrs[i], "a positive integer");
    else *(is_arg ? &arg : &div) = attrs[i].i;
  }
  nest_make_param(p->n, v, (uint32_t)arg, div);
}

static void read_var_decl(NestReader *p) {
  Type type;
  Span span = p->r.token.span;
  NestVar *v = declare_var(p, &type);
  if (!v) return;
  if (p->n->level == NEST_LEVEL_THREAD && type.rank) {
    v->count = (uint32_t)type_numel(type);
    if (type.rank > 1) ir_error(&p->r, span, E_NEST_REGISTERS, NEST_REGISTERS_MAX);
  } else if (type.rank) {
    Layout l = {0};
    layout_parse(&p->r, &l);
    v->layout = nest_layout(p->n, &l);
  }
  v->uniform = ir_accept(&p->r, "uniform");
  uint32_t n;
  IrAttr *attrs = ir_attrs(&p->r, &n);
  for (uint32_t i = 0; i < n; i++) {
    if (strcmp(attrs[i].key, "div"))
      ir_error(&p->r, attrs[i].span, E_NEST_ATTR, "var", attrs[i].key, "; it has: ", "div");
    else if (attrs[i].kind != IA_INT || attrs[i].wide || attrs[i].i < 1)
      ir_attr_wrong(&p->r, &attrs[i], "a positive integer");
    else v->div = attrs[i].i;
  }
}

/* A pointer parameter that has been declared, by name. */
static NestVar *read_pointer(NestReader *p) {
  Span span = p->r.token.span;
  Name name = ir_value(&p->r);
  NestVar *v = p->r.failed ? NULL : ir_map_get(&p->vars, name);
  if (!p->r.failed && (!v || !v->is_param || v->dtype != DT_PTR))
    ir_error(&p->r, span, E_NEST_NOALIAS, name);
  return v;
}

static void read_noalias(NestReader *p) {
  NestVar *a = read_pointer(p);
  ir_expect(&p->r, ",");
  NestVar *b = read_pointer(p);
  bool or_same = ir_accept(&p->r, "or");
  if (or_same) ir_expect(&p->r, "same");
  if (p->r.failed) return;
  if (nest_noalias(p->n, a, b)) ir_error(&p->r, p->n->span, E_NEST_NOALIAS_TWICE, a->name, b->name);
  else nest_assume_noalias(p->n, a, b, or_same);
}

/* `4`, `%x` or `4*%x`. */
static LaunchValue read_launch_value(NestReader *p) {
  LaunchValue v = {.scale = 1};
  bool number = ir_at_kind(&p->r, IT_INT) || ir_at(&p->r, "-");
  if (number) v.scale = ir_int(&p->r);
  if (!number || ir_accept(&p->r, "*")) v.param = nest_read_var_name(p);
  return v;
}

static void read_map(NestReader *p) {
  IrReader *r = &p->r;
  Span span = r->token.span;
  TensorMap m = {.name = ir_symbol(r)};
  ir_expect(r, ":");
  Type type = ir_type(r);
  m.dtype = (DType)type.dtype;
  ir_expect(r, "at");
  m.base = read_pointer(p);
  ir_expect(r, "[");
  do {
    if (m.rank == MAX_MAP_RANK) ir_error(r, r->token.span, E_NEST_MAP, m.name);
    if (r->failed) return;
    MapAxis *x = &m.axes[m.rank++];
    x->box = (int32_t)ir_int_in(r, 1, MAX_TILE);
    ir_expect(r, "of");
    x->extent = read_launch_value(p);
    x->stride = (LaunchValue){.scale = dtype_bytes(m.dtype)};
    if (m.rank > 1 && ir_expect(r, "by")) x->stride = read_launch_value(p);
  } while (!r->failed && ir_accept(r, ","));
  ir_expect(r, "]");
  int n = 0;
  if (ir_accept(r, "natural")) {
    do m.natural[n++] = nest_read_var_name(p);
    while (!r->failed && n < MAX_NATURAL && ir_accept(r, ","));
  }
  if (r->failed) return;
  if (nest_map(p->n, &m)->name != m.name) twice(p, span, '@', m.name);
}

static bool buffer_attr(NestReader *p, NestBuffer *b, const IrAttr *a) {
  bool small = a->kind == IA_INT && a->i >= 0 && a->i <= MOST_SHARED;
  if (!strcmp(a->key, "align")) {
    b->align = a->i;
    return small && a->i > 0 && a->i <= 4096 && !(a->i & (a->i - 1));
  }
  if (!strcmp(a->key, "offset")) {
    b->offset = a->i;
    return small;
  }
  if (!strcmp(a->key, "slots")) {
    b->slots = (int)a->i;
    return small && a->i > 0 && a->i <= 64 && b->bytes % a->i == 0;
  }
  if (!strcmp(a->key, "own")) {
    b->own = true;
    return a->kind == IA_FLAG;
  }
  ir_error(&p->r, a->span, E_NEST_ATTR, "buffer", a->key, "; it has: ", "align offset own slots");
  return false;
}

static void read_contents(NestReader *p, NestBuffer *b) {
  if (ir_accept(&p->r, "ptr")) { /* pointers to any type */
    b->dtype = DT_PTR;
    return;
  }
  b->tile = ir_type(&p->r);
  b->dtype = (DType)b->tile.dtype;
  if (b->tile.rank) layout_parse(&p->r, &b->layout);
  else b->tile = (Type){0};
}

static void read_buffer(NestReader *p) {
  uint32_t n;
  Span span = p->r.token.span;
  Name name = ir_symbol(&p->r);
  ir_expect(&p->r, ":");
  ir_expect(&p->r, "shared");
  int64_t bytes = ir_int_in(&p->r, 0, MOST_SHARED);
  IrAttr *attrs = ir_attrs(&p->r, &n);
  if (p->r.failed) return;
  NestBuffer *b = nest_buffer_named(p->n, name);
  if (!b) {
    twice(p, span, '@', name);
    return;
  }
  b->bytes = bytes;
  ir_map_put(&p->buffers, name, b);
  for (uint32_t i = 0; i < n && !p->r.failed; i++)
    if (!buffer_attr(p, b, &attrs[i])) ir_attr_wrong(&p->r, &attrs[i], "another value");
  if (ir_accept(&p->r, "holds")) read_contents(p, b);
}

/* ---- the header ---- */

typedef struct {
  const char *name;
  int *to;
  int lo, hi;
} IntOption;

static bool read_int_option(NestReader *p, const IrAttr *a, const IntOption *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (strcmp(list[i].name, a->key)) continue;
    if (a->kind != IA_INT || a->i < list[i].lo || a->i > list[i].hi)
      ir_attr_wrong(&p->r, a,
                    arena_printf(p->r.arena, "an integer from %d to %d", list[i].lo, list[i].hi));
    else *list[i].to = (int)a->i;
    return true;
  }
  return false;
}

static void read_option(NestReader *p, const IrAttr *a, int *shared) {
  Nest *n = p->n;
  Options *o = &n->options;
  const IntOption ints[] = {
      {"lanes", &n->lanes, 1, 32},
      {"warps", &n->warps, 1, MOST_WARPS},
      {"cluster", &n->cluster, 2, TILE_CLUSTER_MOST},
      {"shared", shared, 0, MOST_SHARED},
  };
  if (options_from_attr(&p->r, a, o)) return;
  if (read_int_option(p, a, ints, sizeof ints / sizeof *ints)) return;
  if (!strcmp(a->key, "target") && a->kind == IA_STR) o->target = a->s;
  else ir_error(&p->r, a->span, E_NEST_ATTR, "nest", a->key, "", "");
}

static void read_header(NestReader *p) {
  uint32_t count;
  int shared = 0;
  Nest *n = p->n;
  if (ir_accept(&p->r, "level"))
    n->level = ir_accept(&p->r, "nest") ? NEST_LEVEL_NEST : NEST_LEVEL_THREAD;
  if (n->level == NEST_LEVEL_THREAD) ir_expect(&p->r, "thread");
  Span span = p->r.token.span;
  IrAttr *attrs = ir_attrs(&p->r, &count);
  n->warps = 0;
  for (uint32_t i = 0; i < count && !p->r.failed; i++) read_option(p, &attrs[i], &shared);
  if (!n->warps) n->warps = options_warps(&n->options);
  if (n->lanes & (n->lanes - 1)) ir_error(&p->r, span, E_NEST_LANES);
  n->shared_bytes = shared;
  ir_place(&p->r, &n->span);
}

static void read_declarations(NestReader *p) {
  for (;;) {
    if (ir_accept(&p->r, "param")) read_param(p);
    else if (ir_accept(&p->r, "noalias")) read_noalias(p);
    else if (ir_accept(&p->r, "map")) read_map(p);
    else if (ir_accept(&p->r, "buffer")) read_buffer(p);
    else if (ir_accept(&p->r, "var")) read_var_decl(p);
    else if (!ir_accept(&p->r, ";")) return;
  }
}

Nest *nest_parse(Arena *a, Pool *names, Diags *d, uint32_t file, size_t *at) {
  NestReader p = {.r = ir_open(a, names, d, file, *at), .vars = ir_map_new(a)};
  p.buffers = ir_map_new(a);
  Span span = p.r.token.span;
  if (!ir_accept(&p.r, "nest")) return NULL;
  Name name = ir_symbol(&p.r);
  p.n = nest_new(a, names, name, options_default(), NEST_LEVEL_THREAD);
  p.n->span = span;
  p.n->ir_file = file;
  read_header(&p);
  if (ir_expect(&p.r, "{")) {
    read_declarations(&p);
    nest_read_block(&p, p.n->body);
    ir_expect(&p.r, "}");
  }
  *at = ir_offset(&p.r);
  return p.r.failed ? NULL : p.n;
}
