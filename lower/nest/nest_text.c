/* Printing loop nests. */
#include <string.h>

#include "lower/nest/nest_text.h"

static const uint8_t forms[NEST_OP_COUNT] = {
    [NEST_UNROLL] = FORM_LOOP,  [NEST_SERIAL] = FORM_LOOP, [NEST_FOR] = FORM_FOR,
    [NEST_WHILE] = FORM_WHILE,  [NEST_IF] = FORM_IF,       [NEST_ROLE] = FORM_REGION,
    [NEST_NEST] = FORM_NEST,    [NEST_COPY] = FORM_NEST,   [NEST_REDUCE] = FORM_COMBINE,
    [NEST_SCAN] = FORM_COMBINE,
};

NestForm nest_form(NestCode c) { return (NestForm)forms[c]; }

typedef struct {
  Text *out;
  const Nest *nest;
  const Diags *diags;
  Span last; /* the location printed last */
  int depth;
  const char **open; /* printed names of the indices in scope, outermost first */
  uint32_t *ids;     /* whose they are */
  uint32_t nopen, cap;
} Printer;

static void print_block(Printer *p, const NestBlock *b);

static void put_nest_text(Printer *p, const char *s) { text_puts(p->out, s); }

/* ---- indices ---- */

static bool index_taken(const Printer *p, const char *name) {
  for (uint32_t i = 0; i < p->nopen; i++)
    if (!strcmp(p->open[i], name)) return true;
  return false;
}

/* Names differ only from those of the loops around: a name that is taken gets a number. */
static void name_index(Printer *p, const NestIndex *index) {
  Arena *a = p->out->arena;
  const char *base = ir_clean_name(a, index->name), *name = *base ? base : "i";
  for (int k = 1; index_taken(p, name); k++) name = arena_printf(a, "%s_%d", base, k);
  if (p->nopen == p->cap) {
    uint32_t cap = p->cap ? p->cap * 2 : 16;
    p->open = arena_grow(a, p->open, p->nopen * sizeof *p->open, cap * sizeof *p->open);
    p->ids = arena_grow(a, p->ids, p->nopen * sizeof *p->ids, cap * sizeof *p->ids);
    p->cap = cap;
  }
  p->open[p->nopen] = name;
  p->ids[p->nopen++] = index->id;
  text_printf(p->out, " %s:%d", name, index->extent);
}

static const char *printed_index(const Printer *p, const NestIndex *index) {
  for (uint32_t i = p->nopen; i-- > 0;)
    if (p->ids[i] == index->id) return p->open[i];
  return index->name; /* out of scope: the verifier says so */
}

/* ---- references ---- */

/* The absolute value: that of INT64_MIN is no int64_t. */
static unsigned long long magnitude(int64_t i) {
  return i < 0 ? -(unsigned long long)i : (unsigned long long)i;
}

/* `2*a - b + 4`; after something (lead false) every term has its sign: ` + 2*a - b + 4`. */
static void print_affine(Printer *p, const Affine *a, bool lead) {
  for (int i = 0; i < a->n; i++) {
    int64_t k = a->t[i].coef;
    if (!k) continue;
    put_nest_text(p, k < 0 ? (lead ? "-" : " - ") : lead ? "" : " + ");
    if (k != 1 && k != -1) text_printf(p->out, "%llu*", magnitude(k));
    put_nest_text(p, printed_index(p, a->t[i].index));
    lead = false;
  }
  if (lead) text_printf(p->out, "%s%llu", a->c < 0 ? "-" : "", magnitude(a->c));
  else if (a->c) text_printf(p->out, " %c %llu", a->c < 0 ? '-' : '+', magnitude(a->c));
}

static bool is_zero_affine(const Affine *a) {
  for (int i = 0; i < a->n; i++)
    if (a->t[i].coef) return false;
  return !a->c;
}

static bool is_const(const Affine *a) {
  for (int i = 0; i < a->n; i++)
    if (a->t[i].coef) return false;
  return true;
}

static void print_subscripts(Printer *p, const Affine *axes, int n) {
  for (int i = 0; i < n; i++) {
    put_nest_text(p, i ? ", " : "[");
    print_affine(p, &axes[i], true);
  }
  put_nest_text(p, "]");
}

static void print_var(Printer *p, const Ref *r) {
  text_printf(p->out, "%%%s", r->var->name);
  if (r->axes && r->var->tile.rank) print_subscripts(p, r->axes, r->var->tile.rank);
  else if (!is_zero_affine(&r->sub) || r->var->count > 1) print_subscripts(p, &r->sub, 1);
}

static void print_ref(Printer *p, const Ref *r, DType type) {
  switch (r->kind) {
    case REF_NONE: put_nest_text(p, "_"); return;
    case REF_VAR: print_var(p, r); return;
    case REF_FLOAT: ir_print_float(p->out, r->f, type == DT_F32); return;
    case REF_AFFINE:
      if (!is_const(&r->sub)) put_nest_text(p, "(");
      print_affine(p, &r->sub, true);
      if (!is_const(&r->sub)) put_nest_text(p, ")");
      return;
  }
}

static void print_mem(Printer *p, const Mem *m) {
  put_nest_text(p, "[");
  if (m->buffer) text_printf(p->out, "@%s", m->buffer->name);
  if (m->buffer && m->base.kind) put_nest_text(p, " + ");
  if (m->base.kind || !m->buffer) print_ref(p, &m->base, DT_NONE);
  if (!is_zero_affine(&m->bytes)) print_affine(p, &m->bytes, false);
  put_nest_text(p, "]");
}

static void print_refs(Printer *p, const Ref *refs, uint32_t n, DType type) {
  for (uint32_t i = 0; i < n; i++) {
    if (i) put_nest_text(p, ", ");
    print_ref(p, &refs[i], type);
  }
}

/* ---- pieces of statements ---- */

static void print_attrs(Printer *p, const NestStmt *s) {
  IrAttr list[NA_COUNT];
  for (uint32_t i = 0; i < s->nattrs; i++) {
    NestAttrKey key = (NestAttrKey)s->attrs[i].key;
    static const IrAttrKind kinds[] = {
        [NAK_int] = IA_INT, [NAK_bool] = IA_FLAG, [NAK_str] = IA_STR};
    list[i] = (IrAttr){.key = nest_attr_name(key), .kind = kinds[nest_attr_kind(key)]};
    list[i].i = s->attrs[i].i;
    list[i].s = s->attrs[i].s;
  }
  ir_print_attrs(p->out, list, s->nattrs);
}

static void print_nest_type(Printer *p, DType type, DType elem) {
  type_print(p->out, (Type){.dtype = (uint8_t)type, .elem = (uint8_t)elem});
}

/* The element type of the statement's pointers; if it states none, its result's. */
static DType pointee(const NestStmt *s) {
  if (s->elem) return s->elem;
  const Ref *r = s->ndsts ? &s->dsts[0] : s->nsrcs ? &s->srcs[0] : NULL;
  return r && r->kind == REF_VAR && r->var->elem ? r->var->elem : DT_I8;
}

static void print_types(Printer *p, const NestStmt *s) {
  if (s->type == DT_NONE) return;
  put_nest_text(p, " : ");
  print_nest_type(p, s->type, pointee(s));
  if (s->code != NEST_OP || (s->op != TILE_CAST && s->op != TILE_BITCAST)) return;
  put_nest_text(p, " to ");
  print_nest_type(p, s->to, pointee(s));
  if (s->rtz) put_nest_text(p, " rtz");
}

static void print_guard(Printer *p, const NestStmt *s) {
  if (!s->guard.kind) return;
  put_nest_text(p, " if ");
  print_ref(p, &s->guard, DT_I1);
}

/* The end of the text before a region, or of a plain statement. */
static void print_tail(Printer *p, const NestStmt *s) {
  print_guard(p, s);
  print_types(p, s);
  ir_print_place(p->out, p->diags, s->span, &p->last, p->nest->ir_file);
}

static void print_region(Printer *p, const NestStmt *s, uint32_t i) {
  put_nest_text(p, " {\n");
  if (i < s->nregions) print_block(p, s->regions[i]);
  for (int k = 0; k < p->depth; k++) put_nest_text(p, "  ");
  put_nest_text(p, "}");
}

/* A DOT of two variables has no addresses. */
static bool has_address(const NestStmt *s) {
  for (uint32_t i = 0; i < s->nmems; i++)
    if (s->mems[i].buffer || s->mems[i].base.kind) return true;
  return false;
}

static void print_operands(Printer *p, const NestStmt *s) {
  uint32_t nmems = has_address(s) ? s->nmems : 0;
  for (uint32_t i = 0; i < nmems; i++) {
    put_nest_text(p, i ? ", " : " ");
    print_mem(p, &s->mems[i]);
  }
  if (s->nsrcs) put_nest_text(p, nmems ? ", " : " ");
  print_refs(p, s->srcs, s->nsrcs, s->type);
}

/* ---- statements, by form ---- */

static void print_plain(Printer *p, const NestStmt *s) {
  print_refs(p, s->dsts, s->ndsts, s->type);
  if (s->ndsts) put_nest_text(p, " = ");
  put_nest_text(p, s->code == NEST_OP ? tile_op_name(s->op) : nest_op_name(s->code));
  print_operands(p, s);
  print_attrs(p, s);
}

static void print_plain_stmt(Printer *p, const NestStmt *s) {
  print_plain(p, s);
  print_tail(p, s);
}

static void print_loop(Printer *p, const NestStmt *s) {
  uint32_t outer = p->nopen;
  put_nest_text(p, nest_op_name(s->code));
  name_index(p, s->index);
  for (uint32_t i = 0; i < s->nsrcs; i++) {
    put_nest_text(p, i ? " to " : " from ");
    print_ref(p, &s->srcs[i], DT_I32);
  }
  print_tail(p, s);
  print_region(p, s, 0);
  p->nopen = outer;
}

static void print_for(Printer *p, const NestStmt *s) {
  put_nest_text(p, "for ");
  print_ref(p, &s->dsts[0], s->type);
  static const char *const words[] = {" = ", " to ", " step "};
  for (uint32_t i = 0; i < s->nsrcs && i < 3; i++) {
    put_nest_text(p, words[i]);
    print_ref(p, &s->srcs[i], s->type);
  }
  print_attrs(p, s);
  print_guard(p, s);
  put_nest_text(p, " : ");
  print_nest_type(p, s->dsts[0].kind == REF_VAR ? s->dsts[0].var->dtype : s->type, DT_NONE);
  ir_print_place(p->out, p->diags, s->span, &p->last, p->nest->ir_file);
  print_region(p, s, 0);
}

static void print_while(Printer *p, const NestStmt *s) {
  put_nest_text(p, "while ");
  print_refs(p, s->srcs, s->nsrcs, DT_I1);
  print_tail(p, s);
  print_region(p, s, 0);
  put_nest_text(p, " do");
  print_region(p, s, 1);
}

static void print_if(Printer *p, const NestStmt *s) {
  put_nest_text(p, "if ");
  print_refs(p, s->srcs, s->nsrcs, DT_I1);
  print_tail(p, s);
  print_region(p, s, 0);
  if (s->nregions < 2 || !s->regions[1]->first) return;
  put_nest_text(p, " else");
  print_region(p, s, 1);
}

static void print_with_region(Printer *p, const NestStmt *s) {
  put_nest_text(p, nest_op_name(s->code));
  print_attrs(p, s);
  print_tail(p, s);
  print_region(p, s, 0);
}

static void print_nest(Printer *p, const NestStmt *s) {
  uint32_t outer = p->nopen;
  put_nest_text(p, nest_op_name(s->code));
  print_attrs(p, s);
  for (int i = 0; i < s->layout->rank; i++) {
    if (i) put_nest_text(p, ",");
    name_index(p, s->axes[i]);
  }
  put_nest_text(p, " ");
  layout_print(p->out, s->layout);
  print_tail(p, s);
  print_region(p, s, 0);
  p->nopen = outer;
}

static void print_combine(Printer *p, const NestStmt *s) {
  print_plain(p, s);
  if (!s->nregions) {
    print_tail(p, s);
    return;
  }
  const NestBlock *b = s->regions[0];
  for (uint32_t i = 0; i < b->nparams; i++)
    text_printf(p->out, "%s%%%s", i ? ", " : " (", b->params[i]->name);
  put_nest_text(p, b->nparams ? ")" : " ()");
  print_tail(p, s);
  print_region(p, s, 0);
}

static void print_block(Printer *p, const NestBlock *b) {
  static void (*const by_form[])(Printer *, const NestStmt *) = {
      [FORM_PLAIN] = print_plain_stmt,
      [FORM_LOOP] = print_loop,
      [FORM_FOR] = print_for,
      [FORM_WHILE] = print_while,
      [FORM_IF] = print_if,
      [FORM_REGION] = print_with_region,
      [FORM_NEST] = print_nest,
      [FORM_COMBINE] = print_combine,
  };
  p->depth++;
  for (const NestStmt *s = b->first; s; s = s->next) {
    for (int k = 0; k < p->depth; k++) put_nest_text(p, "  ");
    by_form[forms[s->code]](p, s);
    put_nest_text(p, "\n");
  }
  p->depth--;
}

/* ---- declarations ---- */

/* Most options are left out if they have their defaults. */
static void print_header(Printer *p) {
  const Nest *n = p->nest;
  const Options *o = &n->options;
  text_printf(p->out, "nest @%s level %s {target ", ir_clean_name(p->out->arena, n->name),
              n->level == NEST_LEVEL_NEST ? "nest" : "thread");
  text_quote(p->out, o->target);
  IrAttr list[OPTION_COUNT + 1];
  uint32_t n_options = options_to_attrs(list, o);
  for (uint32_t i = 0; i < n_options; i++) {
    text_printf(p->out, ", %s", list[i].key);
    if (list[i].kind == IA_INT) text_printf(p->out, " %lld", (long long)list[i].i);
  }
  text_printf(p->out, ", lanes %d", n->lanes);
  if (n->warps != options_warps(o)) text_printf(p->out, ", warps %d", n->warps);
  if (n->cluster > 1) text_printf(p->out, ", cluster %d", n->cluster);
  if (n->shared_bytes) text_printf(p->out, ", shared %lld", (long long)n->shared_bytes);
  put_nest_text(p, "}");
  ir_print_place(p->out, p->diags, n->span, &p->last, n->ir_file);
  put_nest_text(p, " {\n");
}

static void print_param(Printer *p, const NestVar *v) {
  text_printf(p->out, "  param %%%s : ", v->name);
  print_nest_type(p, v->dtype, v->elem);
  text_printf(p->out, " {arg %u", v->arg);
  if (v->div != 1) text_printf(p->out, ", div %lld", (long long)v->div);
  put_nest_text(p, "}\n");
}

static void print_noalias(Printer *p, const NoAlias *x) {
  text_printf(p->out, "  noalias %%%s, %%%s%s\n", x->a->name, x->b->name,
              x->or_same ? " or same" : "");
}

static void print_launch_value(Printer *p, const LaunchValue *v) {
  if (v->scale != 1 || !v->param) text_printf(p->out, "%lld", (long long)v->scale);
  if (v->scale != 1 && v->param) put_nest_text(p, "*");
  if (v->param) text_printf(p->out, "%%%s", v->param->name);
}

static void print_map(Printer *p, const TensorMap *m) {
  text_printf(p->out, "  map @%s : %s at %%%s [", m->name, dtype_name(m->dtype), m->base->name);
  for (int i = 0; i < m->rank; i++) {
    text_printf(p->out, "%s%d of ", i ? ", " : "", m->axes[i].box);
    print_launch_value(p, &m->axes[i].extent);
    if (!i) continue;
    put_nest_text(p, " by ");
    print_launch_value(p, &m->axes[i].stride);
  }
  put_nest_text(p, "]");
  for (int i = 0; i < MAX_NATURAL && m->natural[i]; i++)
    text_printf(p->out, "%s%%%s", i ? ", " : " natural ", m->natural[i]->name);
  put_nest_text(p, "\n");
}

static void print_nest_buffer(Printer *p, const NestBuffer *b) {
  text_printf(p->out, "  buffer @%s : shared %lld {align %lld", b->name, (long long)b->bytes,
              (long long)b->align);
  if (b->offset >= 0) text_printf(p->out, ", offset %lld", (long long)b->offset);
  if (b->slots > 1) text_printf(p->out, ", slots %d", b->slots);
  if (b->own) text_puts(p->out, ", own");
  put_nest_text(p, "}");
  if (b->tile.rank) {
    put_nest_text(p, " holds ");
    type_print(p->out, b->tile);
    put_nest_text(p, " ");
    layout_print(p->out, &b->layout);
  } else if (b->dtype) {
    text_printf(p->out, " holds %s", dtype_name(b->dtype));
  }
  put_nest_text(p, "\n");
}

static void print_var_decl(Printer *p, const NestVar *v) {
  text_printf(p->out, "  var %%%s : ", v->name);
  if (v->tile.rank) {
    type_print(p->out, v->tile);
    put_nest_text(p, " ");
    layout_print(p->out, v->layout);
  } else {
    print_nest_type(p, v->dtype, v->elem);
    if (v->count != 1) text_printf(p->out, "[%u]", v->count);
  }
  if (v->uniform) put_nest_text(p, " uniform");
  /* bind reads divisibility off the variables of level nest */
  if (v->uniform && v->div > 1 && p->nest->level == NEST_LEVEL_NEST)
    text_printf(p->out, " {div %lld}", (long long)v->div);
  put_nest_text(p, "\n");
}

void nest_print(Text *out, const Nest *n, const Diags *d) {
  Printer p = {.out = out, .nest = n, .diags = d};
  print_header(&p);
  for (uint32_t i = 0; i < n->nparams; i++) print_param(&p, n->params[i]);
  for (uint32_t i = 0; i < n->nnoalias; i++) print_noalias(&p, &n->noalias[i]);
  for (uint32_t i = 0; i < n->nmaps; i++) print_map(&p, n->maps[i]);
  for (uint32_t i = 0; i < n->nbuffers; i++) print_nest_buffer(&p, n->buffers[i]);
  for (uint32_t i = 0; i < n->nvars; i++)
    if (!n->vars[i]->is_param) print_var_decl(&p, n->vars[i]);
  print_block(&p, n->body);
  put_nest_text(&p, "}\n");
}
