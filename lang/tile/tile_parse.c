/* The parser of the tile IR's text (lang/tile/tile.h has the form; lang/tile/tile_print.c prints
 * it).
 *
 * The parser checks names, numbers of operands and results, and kinds of attributes; types, scopes
 * and terminators are checked by tile_verify.  An op without a location gets its own location in
 * the IR text. */
#include <string.h>

#include "lang/base/irtext.h"
#include "lang/messages.h"
#include "lang/tile/tile.h"

typedef struct {
  IrReader r;
  TileFunc *fn;
  IrMap values; /* every name so far: a name is given once in a kernel */
  int depth;    /* of blocks */
} Parser;

/* A name and its location. */
typedef struct {
  Name name;
  Span span;
} Spot;

typedef VEC(TileValue *) Values;
typedef VEC(Type) Types;
typedef VEC(Spot) Spots;

static void read_block(Parser *p, TileBlock *b);

/* ---- values ---- */

/* The name of a new value: numbers are no hints. */
static Name hint_of(Name name) { return *name >= '0' && *name <= '9' ? NULL : name; }

static void define(Parser *p, Spot at, TileValue *v) {
  if (!p->r.failed && !ir_map_put(&p->values, at.name, v))
    ir_error(&p->r, at.span, E_TILE_REDEFINED, at.name);
}

/* A use; NULL after an error. */
static TileValue *use(Parser *p) {
  Span span = ir_peek(&p->r)->span;
  Name name = ir_value(&p->r);
  TileValue *v = name ? ir_map_get(&p->values, name) : NULL;
  if (name && !v) ir_error(&p->r, span, E_TILE_UNKNOWN_VALUE, name);
  return v;
}

static void use_into(Parser *p, Values *out) {
  TileValue *v = use(p);
  vec_push(p->r.arena, out, v);
}

static Spot new_name(Parser *p) {
  Spot s = {.span = ir_peek(&p->r)->span};
  s.name = ir_value(&p->r);
  return s;
}

/* ": f32, i32" if it is there. */
static void read_types(Parser *p, Types *out) {
  if (!ir_accept(&p->r, ":")) return;
  do vec_push(p->r.arena, out, ir_type(&p->r));
  while (!p->r.failed && ir_accept(&p->r, ","));
}

/* Gives a block its parameters and defines their names. */
static void make_params(Parser *p, TileBlock *b, const Spots *names, const Types *types) {
  uint32_t n = (uint32_t)names->len;
  if (p->r.failed) return;
  Name *hints = ARENA_ARRAY(p->r.arena, Name, n);
  for (uint32_t i = 0; i < n; i++) hints[i] = hint_of(names->data[i].name);
  tile_block_params(p->fn, b, types->data, hints, n);
  for (uint32_t i = 0; i < n; i++) define(p, names->data[i], b->params[i]);
}

/* "(%a: f32, %b: i32)" */
static void read_params(Parser *p, TileBlock *b) {
  Spots names = {0};
  Types types = {0};
  ir_expect(&p->r, "(");
  while (!p->r.failed && !ir_at(&p->r, ")")) {
    vec_push(p->r.arena, &names, new_name(p));
    ir_expect(&p->r, ":");
    vec_push(p->r.arena, &types, ir_type(&p->r));
    if (!ir_accept(&p->r, ",")) break;
  }
  ir_expect(&p->r, ")");
  make_params(p, b, &names, &types);
}

/* ---- attributes ---- */

static const char *const kind_words[] = {[TAK_int] = "an integer",
                                         [TAK_bool] = "nothing, true or false",
                                         [TAK_str] = "a string",
                                         [TAK_ints] = "a list of integers",
                                         [TAK_num] = "a number of the result's type"};

/* The value of a constant, which its type must hold exactly if it is an integer. */
static bool set_value(Parser *p, TileOp *op, const IrAttr *a) {
  if (op->nresults != 1 || (a->kind != IA_INT && a->kind != IA_NUM)) return false;
  DType t = (DType)op->results[0]->type.dtype;
  tile_set_num(p->fn, op, a->i, a->f);
  if (dtype_is_float(t)) return true;
  bool is_unsigned = !dtype_is_signed(t);
  if (a->kind == IA_NUM || (a->wide && !is_unsigned)) return false;
  return tile_int(op, TA_value, 0) == a->i && !(is_unsigned && !a->wide && a->i < 0);
}

static bool set_attr(Parser *p, TileOp *op, TileAttrKey k, const IrAttr *a) {
  TileFunc *f = p->fn;
  switch (tile_attr_kind(k)) {
    case TAK_int:
      if (a->kind != IA_INT || a->wide) return false;
      tile_set_int(f, op, k, a->i);
      return true;
    case TAK_bool:
      if (a->kind == IA_FLAG) tile_set_int(f, op, k, a->i);
      return a->kind == IA_FLAG;
    case TAK_str:
      if (a->kind == IA_STR) tile_set_str(f, op, k, a->s);
      return a->kind == IA_STR;
    case TAK_ints:
      if (a->kind == IA_INTS) tile_set_ints(f, op, k, a->list, a->len);
      return a->kind == IA_INTS;
    case TAK_num: return set_value(p, op, a);
  }
  return false;
}

static int attr_key(Name name) {
  int k = 0;
  while (k < TA_COUNT && strcmp(tile_attr_name((TileAttrKey)k), name)) k++;
  return k;
}

static void set_attrs(Parser *p, TileOp *op, const IrAttr *list, uint32_t n) {
  for (uint32_t i = 0; i < n && !p->r.failed; i++) {
    int k = attr_key(list[i].key);
    if (k == TA_COUNT || !tile_op_takes(op->code, (TileAttrKey)k))
      ir_error(&p->r, list[i].span, E_TILE_ATTR_NAME, tile_op_name(op->code), list[i].key);
    else if (!set_attr(p, op, (TileAttrKey)k, &list[i]))
      ir_attr_wrong(&p->r, &list[i], kind_words[tile_attr_kind((TileAttrKey)k)]);
  }
}

/* `{` after an op with blocks: are these its attributes, or is it the block?  A block begins with a
 * value, an op or `}`; none of their attributes is named like an op. */
static bool at_attrs(Parser *p) {
  if (!ir_at(&p->r, "{")) return false;
  IrReader ahead = p->r;
  ir_next(&ahead);
  if (ahead.failed) p->r = ahead;
  const IrToken *t = ir_peek(&ahead);
  return t->kind == IT_WORD && tile_op_parse(t->text, t->len) == TILE_OP_COUNT;
}

/* ---- operands ---- */

static void read_list(Parser *p, Values *out) {
  ir_expect(&p->r, "[");
  while (!p->r.failed && !ir_at(&p->r, "]")) {
    use_into(p, out);
    if (!ir_accept(&p->r, ",")) break;
  }
  ir_expect(&p->r, "]");
}

/* The three lists of a view into one; they are equally long. */
static void read_view(Parser *p, Values *lists) {
  Span span = ir_peek(&p->r)->span;
  size_t rank = 0;
  for (int i = 0; i < 3 && !p->r.failed; i++) {
    size_t before = lists->len;
    read_list(p, lists);
    if (!i) rank = lists->len;
    else if (lists->len - before != rank) ir_error(&p->r, span, E_TILE_VIEW_LISTS);
  }
}

/* Operands by the letters of the table, each in its slot, then a view's lists. */
static void read_operands(Parser *p, TileCode code, Values *args) {
  static const char *const words[] = {"mask", "other"};
  Values lists = {0};
  int optional = 0;
  for (const char *c = tile_op_args(code); *c && !p->r.failed; c++) {
    bool repeated = *c && c[1] == '*';
    if (*c == '*') continue;
    if (*c == '?') {
      c++;
      if (ir_accept(&p->r, words[optional++])) use_into(p, args);
      else vec_push(p->r.arena, args, NULL);
    } else if (!repeated) {
      if (args->len) ir_expect(&p->r, ",");
      use_into(p, args);
      if (*c == 'V') read_view(p, &lists);
    } else if (args->len ? ir_accept(&p->r, ",") : ir_at_kind(&p->r, IT_VALUE)) {
      do use_into(p, args);
      while (!p->r.failed && ir_accept(&p->r, ","));
    }
  }
  for (size_t i = 0; i < lists.len; i++) vec_push(p->r.arena, args, lists.data[i]);
}

/* "carry (%a = %x, ...)": names and initial values. */
static void read_carry(Parser *p, Spots *names, Types *types, Values *init) {
  if (!ir_accept(&p->r, "carry")) return;
  ir_expect(&p->r, "(");
  while (!p->r.failed) {
    vec_push(p->r.arena, names, new_name(p));
    ir_expect(&p->r, "=");
    TileValue *v = use(p);
    if (p->r.failed) return;
    vec_push(p->r.arena, init, v);
    vec_push(p->r.arena, types, v->type);
    if (!ir_accept(&p->r, ",")) break;
  }
  ir_expect(&p->r, ")");
}

/* ---- ops ---- */

/* An op whose operands were read: the rest of its line, and the op at the end of the block. */
typedef struct {
  TileCode code;
  Span word; /* the op's name */
  Spots results;
  Values args;
} OpText;

static TileOp *finish(Parser *p, TileBlock *b, const OpText *t, bool attrs_follow) {
  IrReader *r = &p->r;
  uint32_t nattrs = 0;
  IrAttr *attrs = attrs_follow ? ir_attrs(r, &nattrs) : NULL;
  Types types = {0};
  Span span = t->word;
  read_types(p, &types);
  ir_place(r, &span);
  if (r->failed) return NULL;
  if (types.len != t->results.len) {
    ir_error(r, t->word, E_TILE_RESULT_TYPES, tile_op_name(t->code), t->results.len, types.len);
    return NULL;
  }
  TileBuilder at = {.fn = p->fn, .block = b, .span = span};
  TileOp *op = tile_build(&at, t->code, t->args.data, (uint32_t)t->args.len, types.data,
                          (uint32_t)types.len);
  for (uint32_t i = 0; i < op->nresults; i++)
    op->results[i]->name = hint_of(t->results.data[i].name);
  set_attrs(p, op, attrs, nattrs);
  return r->failed ? NULL : op;
}

static TileOp *read_for(Parser *p, TileBlock *b, OpText *t) {
  static const char *const words[] = {"=", "to", "step"};
  Spots names = {0};
  Types types = {0};
  vec_push(p->r.arena, &names, new_name(p));
  for (int i = 0; i < 3; i++) {
    ir_expect(&p->r, words[i]);
    use_into(p, &t->args);
  }
  if (p->r.failed) return NULL;
  vec_push(p->r.arena, &types, t->args.data[0]->type);
  read_carry(p, &names, &types, &t->args);
  TileOp *op = finish(p, b, t, at_attrs(p));
  if (!op) return NULL;
  TileBlock *body = tile_add_region(p->fn, op);
  make_params(p, body, &names, &types);
  read_block(p, body);
  return op;
}

static TileOp *read_while(Parser *p, TileBlock *b, OpText *t) {
  Spots names = {0};
  Types types = {0};
  read_carry(p, &names, &types, &t->args);
  TileOp *op = finish(p, b, t, at_attrs(p));
  if (!op) return NULL;
  TileBlock *before = tile_add_region(p->fn, op), *body = tile_add_region(p->fn, op);
  make_params(p, before, &names, &types);
  read_block(p, before);
  ir_expect(&p->r, "do");
  if (ir_at(&p->r, "(")) read_params(p, body);
  read_block(p, body);
  return op;
}

static TileOp *read_if(Parser *p, TileBlock *b, OpText *t) {
  use_into(p, &t->args);
  TileOp *op = finish(p, b, t, at_attrs(p));
  if (!op) return NULL;
  TileBlock *yes = tile_add_region(p->fn, op), *no = tile_add_region(p->fn, op);
  read_block(p, yes);
  if (ir_accept(&p->r, "else")) {
    read_block(p, no);
  } else {
    TileBuilder at = {.fn = p->fn, .block = no, .span = op->span};
    tile_build(&at, TILE_YIELD, NULL, 0, NULL, 0);
  }
  return op;
}

/* All other ops.  REDUCE and SCAN may be followed by a combine function. */
static TileOp *read_plain(Parser *p, TileBlock *b, OpText *t) {
  read_operands(p, t->code, &t->args);
  TileOp *op = finish(p, b, t, true);
  bool has_region = tile_op_flags(t->code) & TILE_REGION;
  if (!op || !has_region || !ir_at(&p->r, "(")) return op;
  TileBlock *combine = tile_add_region(p->fn, op);
  read_params(p, combine);
  read_block(p, combine);
  return op;
}

/* "%a, %b =" if it is there. */
static void read_results(Parser *p, Spots *out) {
  if (!ir_at_kind(&p->r, IT_VALUE)) return;
  do vec_push(p->r.arena, out, new_name(p));
  while (!p->r.failed && ir_accept(&p->r, ","));
  ir_expect(&p->r, "=");
}

static void read_op(Parser *p, TileBlock *b) {
  OpText t = {0};
  read_results(p, &t.results);
  IrToken word = *ir_peek(&p->r);
  Name name = ir_word(&p->r, "an operation");
  if (!name) return;
  t.word = word.span;
  t.code = tile_op_parse(word.text, word.len);
  TileOp *op = NULL;
  switch (t.code) {
    case TILE_OP_COUNT: ir_error(&p->r, t.word, E_TILE_OP, name); return;
    case TILE_FOR: op = read_for(p, b, &t); break;
    case TILE_WHILE: op = read_while(p, b, &t); break;
    case TILE_IF: op = read_if(p, b, &t); break;
    default: op = read_plain(p, b, &t);
  }
  /* Only now, as the results are not visible inside. */
  for (uint32_t i = 0; op && i < op->nresults; i++) define(p, t.results.data[i], op->results[i]);
}

static void read_block(Parser *p, TileBlock *b) {
  if (p->depth == TILE_MAX_DEPTH) {
    ir_error(&p->r, ir_peek(&p->r)->span, E_TILE_DEPTH, TILE_MAX_DEPTH);
    return;
  }
  p->depth++;
  ir_expect(&p->r, "{");
  while (!ir_at(&p->r, "}") && !ir_at_kind(&p->r, IT_END)) read_op(p, b);
  ir_expect(&p->r, "}");
  p->depth--;
}

/* ---- kernels ---- */

/* An integer attribute of the header within bounds. */
static int64_t header_int(Parser *p, const IrAttr *a, int64_t lo, int64_t hi) {
  if (a->kind == IA_INT && !a->wide && a->i >= lo && a->i <= hi) return a->i;
  ir_attr_wrong(
      &p->r, a,
      arena_printf(p->r.arena, "an integer from %lld to %lld", (long long)lo, (long long)hi));
  return lo;
}

static bool header_bool(Parser *p, const IrAttr *a) {
  if (a->kind != IA_FLAG) ir_attr_wrong(&p->r, a, kind_words[TAK_bool]);
  return a->i;
}

static bool is_key(const IrAttr *a, const char *key) { return !strcmp(a->key, key); }

static void read_option(Parser *p, const IrAttr *a, Options *o) {
  if (options_from_attr(&p->r, a, o)) return;
  if (is_key(a, "cluster")) {
    p->fn->cluster = (int)header_int(p, a, 2, TILE_CLUSTER_MOST);
    return;
  }
  if (!is_key(a, "target")) {
    ir_error(&p->r, a->span, E_TILE_ATTR_NAME, "kernel", a->key);
    return;
  }
  if (a->kind != IA_STR) ir_attr_wrong(&p->r, a, kind_words[TAK_str]);
  o->target = a->s;
}

static void read_param_attrs(Parser *p, TileParam *param) {
  uint32_t n;
  IrAttr *attrs = ir_attrs(&p->r, &n);
  for (uint32_t i = 0; i < n && !p->r.failed; i++) {
    const IrAttr *a = &attrs[i];
    if (is_key(a, "arg")) param->arg = (uint32_t)header_int(p, a, 0, 100000);
    else if (is_key(a, "div")) param->div = header_int(p, a, 1, INT64_MAX);
    else if (is_key(a, "const")) param->is_const = header_bool(p, a);
    else ir_error(&p->r, a->span, E_TILE_ATTR_NAME, "parameter", a->key);
  }
}

/* "(%x: *f32 {arg 0}, ...)" */
static void read_kernel_params(Parser *p) {
  VEC(TileParam) params = {0};
  Spots names = {0};
  Types types = {0};
  ir_expect(&p->r, "(");
  while (!p->r.failed && !ir_at(&p->r, ")")) {
    TileParam param = {.arg = (uint32_t)params.len, .div = 1};
    vec_push(p->r.arena, &names, new_name(p));
    ir_expect(&p->r, ":");
    vec_push(p->r.arena, &types, ir_type(&p->r));
    read_param_attrs(p, &param);
    vec_push(p->r.arena, &params, param);
    if (!ir_accept(&p->r, ",")) break;
  }
  ir_expect(&p->r, ")");
  make_params(p, p->fn->body, &names, &types);
  if (p->r.failed) return;
  for (size_t i = 0; i < params.len; i++) params.data[i].value = p->fn->body->params[i];
  p->fn->params = params.data;
  p->fn->nparams = (uint32_t)params.len;
}

static void read_kernel(Parser *p) {
  Span span = ir_peek(&p->r)->span;
  ir_expect(&p->r, "kernel");
  Name name = ir_symbol(&p->r);
  if (!name) return;
  p->fn = tile_func_new(p->r.arena, p->r.names, name, span, options_default());
  p->fn->ir_file = p->r.file;
  read_kernel_params(p);
  uint32_t n = 0;
  IrAttr *attrs = at_attrs(p) ? ir_attrs(&p->r, &n) : NULL;
  for (uint32_t i = 0; i < n && !p->r.failed; i++) read_option(p, &attrs[i], &p->fn->options);
  ir_place(&p->r, &p->fn->span);
  read_block(p, p->fn->body);
}

TileFunc *tile_parse(Arena *a, Pool *names, Diags *d, uint32_t file, size_t *at) {
  Parser p = {.r = ir_open(a, names, d, file, *at), .values = ir_map_new(a)};
  *at = ir_offset(&p.r);
  if (!ir_at(&p.r, "kernel")) return NULL;
  read_kernel(&p);
  if (p.r.failed) return NULL;
  *at = ir_offset(&p.r);
  return p.fn;
}
