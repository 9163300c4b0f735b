/* Reading loop nests: the header with its options, and declarations. */
#include <string.h>

#include "lower/messages.h"
#include "lower/nest/nest_read.h"

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
  ir_error(&p->r, a->span, E_NEST_ATTR, "buffer", a->key, "; it has: ", "align offset slots");
  return false;
}

static void read_contents(NestReader *p, NestBuffer *b) {
  if (ir_accept(&p->r, "ptr")) { /* pointers, to whatever */
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
      {"num_warps", &o->num_warps, 1, MOST_WARPS},
      {"num_stages", &o->num_stages, 0, 64},
      {"num_ctas", &o->num_ctas, 1, 64},
      {"maxnreg", &o->maxnreg, 0, 1024},
      {"lanes", &n->lanes, 1, 32},
      {"warps", &n->warps, 1, MOST_WARPS},
      {"shared", shared, 0, MOST_SHARED},
  };
  bool flag = a->kind == IA_FLAG;
  if (read_int_option(p, a, ints, sizeof ints / sizeof *ints)) return;
  if (!strcmp(a->key, "target") && a->kind == IA_STR) o->target = a->s;
  else if (!strcmp(a->key, "enable_fp_fusion") && flag) o->enable_fp_fusion = a->i;
  else if (!strcmp(a->key, "checked") && flag) o->checked = a->i;
  else if (!strcmp(a->key, "ordered") && flag) o->alias = a->i ? ALIAS_ORDERED : ALIAS_GUARDED;
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
  if (!n->warps) n->warps = n->options.num_warps;
  if (n->lanes & (n->lanes - 1)) ir_error(&p->r, span, E_NEST_LANES);
  n->shared_bytes = shared;
  ir_place(&p->r, &n->span);
}

static void read_declarations(NestReader *p) {
  for (;;) {
    if (ir_accept(&p->r, "param")) read_param(p);
    else if (ir_accept(&p->r, "noalias")) read_noalias(p);
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
