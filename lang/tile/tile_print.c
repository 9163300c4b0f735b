/* The text of the tile IR, written (lang/tile/tile.h has the form; lang/tile/tile_parse.c reads
 * it).
 *
 * The printer is also what one looks at when a pass went wrong, so it prints malformed IR as well:
 * values that are nowhere defined as `%?`, regions of the wrong form one by one. */
#include "lang/base/irtext.h"
#include "lang/tile/tile.h"

typedef struct {
  Text *out;
  const TileFunc *fn;
  const Diags *diags;
  const char **names;
  Span last; /* the place printed last */
  int depth;
} Printer;

static void print_block(Printer *p, const TileBlock *b);

/* ---- names ---- */

typedef struct {
  IrNamer namer;
  const char **names;
} Naming;

static void name_value(Naming *n, const TileValue *v) {
  n->names[v->id] = ir_namer_give(&n->namer, v->name);
}

/* Values are numbered in the order of the text, so that reading and printing again gives the same
 * numbers. */
static void name_block(Naming *n, const TileBlock *b) {
  for (uint32_t i = 0; i < b->nparams; i++) name_value(n, b->params[i]);
  for (const TileOp *op = b->first; op; op = op->next) {
    for (uint32_t i = 0; i < op->nresults; i++) name_value(n, op->results[i]);
    for (uint32_t i = 0; i < op->nregions; i++) name_block(n, op->regions[i]);
  }
}

const char **tile_value_names(const TileFunc *f, Arena *a) {
  Naming n = {ir_namer_new(a, pool_new(a)), ARENA_ARRAY(a, const char *, f->nvalues)};
  name_block(&n, f->body);
  return n.names;
}

/* ---- pieces ---- */

static void print_value(Printer *p, const TileValue *v) {
  const char *name = v && v->id < p->fn->nvalues ? p->names[v->id] : NULL;
  text_printf(p->out, "%%%s", name ? name : "?");
}

static void print_values(Printer *p, TileValue *const *v, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    text_puts(p->out, i ? ", " : "");
    print_value(p, v[i]);
  }
}

static void print_types(Printer *p, TileValue *const *v, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    text_puts(p->out, i ? ", " : " : ");
    type_print(p->out, v[i]->type);
  }
}

static void print_params(Printer *p, const TileBlock *b) {
  text_puts(p->out, "(");
  for (uint32_t i = 0; i < b->nparams; i++) {
    text_puts(p->out, i ? ", " : "");
    print_value(p, b->params[i]);
    text_puts(p->out, ": ");
    type_print(p->out, b->params[i]->type);
  }
  text_puts(p->out, ")");
}

/* An attribute of the table as the shared printer takes it. */
static IrAttr shared_attr(const TileOp *op, const TileAttr *a) {
  static const IrAttrKind kinds[] = {[TAK_int] = IA_INT,
                                     [TAK_bool] = IA_FLAG,
                                     [TAK_str] = IA_STR,
                                     [TAK_ints] = IA_INTS,
                                     [TAK_num] = IA_INT};
  IrAttr out = {.key = tile_attr_name((TileAttrKey)a->key), .i = a->i, .f = a->f, .s = a->s};
  out.kind = kinds[tile_attr_kind((TileAttrKey)a->key)];
  out.list = a->list;
  out.len = a->len;
  if (a->key == TA_value && op->nresults) {
    DType t = (DType)op->results[0]->type.dtype;
    if (dtype_is_float(t)) out.kind = IA_NUM;
    else out.wide = !dtype_is_signed(t) && a->i < 0;
    out.f32 = t != DT_F64;
  }
  return out;
}

static void print_attrs(Printer *p, const TileOp *op) {
  IrAttr list[TA_COUNT];
  uint32_t n = 0;
  for (uint32_t i = 0; i < op->nattrs && n < TA_COUNT; i++)
    list[n++] = shared_attr(op, &op->attrs[i]);
  ir_print_attrs(p->out, list, n);
}

/* The text after the operands of every op. */
static void print_tail(Printer *p, const TileOp *op) {
  print_attrs(p, op);
  print_types(p, op->results, op->nresults);
  ir_print_place(p->out, p->diags, op->span, &p->last, p->fn->ir_file);
}

/* ---- operands ---- */

static void print_view(Printer *p, const TileOp *op) {
  uint32_t rank = op->nargs >= VIEW_FIXED ? tile_view_rank(op) : 0;
  for (uint32_t list = 0; list < 3; list++) {
    text_puts(p->out, " [");
    if (rank) print_values(p, op->args + VIEW_FIXED + list * rank, rank);
    text_puts(p->out, "]");
  }
}

/* Follows the letters of the table; an operand's letter is its slot. */
static void print_operands(Printer *p, const TileOp *op) {
  static const char *const words[] = {" mask ", " other "};
  uint32_t slot = 0, optional = 0;
  for (const char *c = tile_op_args(op->code); *c && slot < op->nargs; c++) {
    if (*c == '*') continue;
    if (*c == '?') {
      const char *word = words[optional++];
      if (op->args[slot]) text_puts(p->out, word);
      if (op->args[slot]) print_value(p, op->args[slot]);
      slot++, c++;
      continue;
    }
    uint32_t n = c[1] == '*' ? op->nargs - slot : 1;
    text_puts(p->out, slot ? ", " : " ");
    print_values(p, op->args + slot, n);
    if (*c == 'V') print_view(p, op);
    slot += n;
  }
}

/* "carry (%a = %x, ...)": the parameters from `first` on with their initial values. */
static void print_carry(Printer *p, const TileBlock *b, uint32_t first, TileValue *const *init) {
  if (b->nparams == first) return;
  text_puts(p->out, " carry (");
  for (uint32_t i = first; i < b->nparams; i++) {
    text_puts(p->out, i > first ? ", " : "");
    print_value(p, b->params[i]);
    text_puts(p->out, " = ");
    print_value(p, init[i - first]);
  }
  text_puts(p->out, ")");
}

/* ---- ops ---- */

static void print_for(Printer *p, const TileOp *op) {
  const TileBlock *body = op->regions[0];
  static const char *const words[] = {" = ", " to ", " step "};
  text_puts(p->out, " ");
  print_value(p, body->params[0]);
  for (uint32_t i = 0; i < 3; i++) {
    text_puts(p->out, words[i]);
    print_value(p, op->args[i]);
  }
  print_carry(p, body, 1, op->args + 3);
  print_tail(p, op);
  print_block(p, body);
}

static void print_while(Printer *p, const TileOp *op) {
  print_carry(p, op->regions[0], 0, op->args);
  print_tail(p, op);
  print_block(p, op->regions[0]);
  text_puts(p->out, " do");
  if (op->regions[1]->nparams) {
    text_puts(p->out, " ");
    print_params(p, op->regions[1]);
  }
  print_block(p, op->regions[1]);
}

/* The reader makes such a block where `else` is left out. */
static bool only_yields_nothing(const TileBlock *b) {
  return b->first && b->first == b->last && b->first->code == TILE_YIELD && !b->first->nargs;
}

static void print_if(Printer *p, const TileOp *op) {
  text_puts(p->out, " ");
  print_value(p, op->args[0]);
  print_tail(p, op);
  print_block(p, op->regions[0]);
  if (only_yields_nothing(op->regions[1])) return;
  text_puts(p->out, " else");
  print_block(p, op->regions[1]);
}

/* REDUCE and SCAN, all ops without regions, and malformed ones. */
static void print_plain(Printer *p, const TileOp *op) {
  print_operands(p, op);
  print_tail(p, op);
  for (uint32_t i = 0; i < op->nregions; i++) {
    text_puts(p->out, " ");
    print_params(p, op->regions[i]);
    print_block(p, op->regions[i]);
  }
}

static void print_op(Printer *p, const TileOp *op) {
  uint32_t regions = op->nregions, carried = regions ? op->regions[0]->nparams : 0;
  text_printf(p->out, "%*s", 2 * p->depth, "");
  print_values(p, op->results, op->nresults);
  text_printf(p->out, "%s%s", op->nresults ? " = " : "", tile_op_name(op->code));
  if (op->code == TILE_FOR && regions == 1 && carried && carried + 2 == op->nargs) print_for(p, op);
  else if (op->code == TILE_WHILE && regions == 2 && carried == op->nargs) print_while(p, op);
  else if (op->code == TILE_IF && regions == 2 && op->nargs == 1) print_if(p, op);
  else print_plain(p, op);
  text_puts(p->out, "\n");
}

static void print_block(Printer *p, const TileBlock *b) {
  text_puts(p->out, " {\n");
  p->depth++;
  for (const TileOp *op = b->first; op; op = op->next) print_op(p, op);
  p->depth--;
  text_printf(p->out, "%*s}", 2 * p->depth, "");
}

/* ---- kernels ---- */

static void print_param(Printer *p, const TileParam *param) {
  IrAttr attrs[3] = {{.key = "arg", .kind = IA_INT, .i = param->arg}};
  uint32_t n = 1;
  if (param->div != 1) attrs[n++] = (IrAttr){.key = "div", .kind = IA_INT, .i = param->div};
  if (param->is_const) attrs[n++] = (IrAttr){.key = "const", .kind = IA_FLAG, .i = 1};
  print_value(p, param->value);
  text_puts(p->out, ": ");
  type_print(p->out, param->value->type);
  ir_print_attrs(p->out, attrs, n);
}

static void print_options(Printer *p, const TileFunc *f) {
  const Options *o = &f->options;
  IrAttr list[OPTION_COUNT + 3];
  uint32_t n = options_to_attrs(list, o);
  if (f->cluster) list[n++] = (IrAttr){.key = "cluster", .kind = IA_INT, .i = f->cluster};
  list[n++] = (IrAttr){.key = "target", .kind = IA_STR, .s = o->target ? o->target : ""};
  ir_print_attrs(p->out, list, n);
}

void tile_print(Text *out, const TileFunc *f, const Diags *d) {
  Printer p = {.out = out, .fn = f, .diags = d, .names = tile_value_names(f, out->arena)};
  text_printf(out, "kernel @%s(", f->name);
  for (uint32_t i = 0; i < f->nparams; i++) {
    text_puts(out, i ? ", " : "");
    print_param(&p, &f->params[i]);
  }
  text_puts(out, ")");
  print_options(&p, f);
  ir_print_place(out, d, f->span, &p.last, f->ir_file);
  print_block(&p, f->body);
  text_puts(out, "\n");
}
