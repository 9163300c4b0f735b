/* The tile IR built by hand: builders, printing, reading, substitution, walks and the namer; and
 * what the table must hold.  tests/lang/tile/ has the text forms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lang/base/irtext.h"
#include "lang/tile/tile.h"
#include "tests/support/tally.h"

static void check_text(const char *got, const char *want, const char *what) {
  check(!strcmp(got, want), what);
  if (strcmp(got, want)) printf("-- got\n%s\n-- want\n%s\n", got, want);
}

typedef struct {
  Arena *arena;
  Pool *names;
  Diags *diags;
} Context;

static Context context_new(void) {
  Arena *a = arena_new();
  return (Context){a, pool_new(a), diags_new(a)};
}

static const char *print(Context *c, const TileFunc *f) {
  Text t = text_new(c->arena);
  tile_print(&t, f, c->diags);
  return t.data;
}

static TileFunc *read_text(Context *c, const char *text) {
  static int count;
  size_t at = 0;
  Name name = arena_printf(c->arena, "text%d.tile", count++);
  uint32_t file = diag_source(c->diags, name, text, strlen(text));
  return tile_parse(c->arena, c->names, c->diags, file, &at);
}

/* ---- the table ---- */

/* Attributes print in the order of their keys, which must be that of every row. */
static bool row_in_key_order(TileCode op) {
  const char *at = tile_op_attrs(op);
  for (int k = 0; k < TA_COUNT; k++) {
    if (!tile_op_takes(op, (TileAttrKey)k)) continue;
    size_t n = strlen(tile_attr_name((TileAttrKey)k));
    if (strncmp(at, tile_attr_name((TileAttrKey)k), n)) return false;
    at += n;
    at += *at == ' ';
  }
  return !*at;
}

static void test_table(void) {
  check(!strcmp(tile_op_name(TILE_PROGRAM_ID), "program_id"),
        "an op's name is its id in lower case");
  for (int op = 0; op < TILE_OP_COUNT; op++) {
    const char *name = tile_op_name((TileCode)op);
    check(tile_op_parse(name, strlen(name)) == (TileCode)op, name);
    check(row_in_key_order((TileCode)op), "attributes of a row stand in the order of TILE_ATTRS");
  }
  check(tile_op_parse("ad", 2) == TILE_OP_COUNT, "no op has half a name");
  /* Otherwise `{` behind `for` could be attributes or a block. */
  for (int k = 0; k < TA_COUNT; k++) {
    const char *name = tile_attr_name((TileAttrKey)k);
    bool before_block = tile_op_takes(TILE_FOR, (TileAttrKey)k);
    check(!before_block || tile_op_parse(name, strlen(name)) == TILE_OP_COUNT,
          "no attribute of `for` is named like an op");
  }
}

/* ---- building ---- */

/* sum over i in 0..n of x, as a kernel; *body is the builder inside the loop. */
static TileFunc *build_sum(Context *c, TileBuilder *body) {
  Span span = {diag_source(c->diags, "sum.py", NULL, 0), 3, 1, 1};
  TileFunc *f =
      tile_func_new(c->arena, c->names, pool_name(c->names, "sum"), span, options_default());
  Type ptr = type_ptr(DT_F32), f32 = type_scalar(DT_F32), i32 = type_scalar(DT_I32);
  TileValue *p = tile_add_param(f, "p", ptr, 0, 16), *n = tile_add_param(f, "n", i32, 1, 1);
  TileBuilder b = {.fn = f, .block = f->body, .span = {span.file, 4, 3, 1}};
  TileValue *zero = tile_const_int(&b, i32, 0), *one = tile_const_int(&b, i32, 1);
  TileValue *init = tile_const_float(&b, f32, 0);
  TileValue *args[] = {zero, n, one, init};
  b.span.line = 5;
  TileOp *loop = tile_build(&b, TILE_FOR, args, 4, &f32, 1);
  TileBlock *block = tile_add_region(f, loop);
  TileValue *i = tile_block_param(f, block, i32, "i"),
            *acc = tile_block_param(f, block, f32, "acc");
  *body = (TileBuilder){.fn = f, .block = block, .span = {span.file, 6, 5, 1}};
  TileValue *at = tile_build1(body, TILE_PTR_ADD, ptr, p, i, NULL);
  TileValue *x = tile_build1(body, TILE_LOAD, f32, at, NULL, NULL);
  x->name = "acc"; /* clashes with the parameter */
  TileValue *sum = tile_build1(body, TILE_ADD, f32, acc, x, NULL);
  tile_build(body, TILE_YIELD, &sum, 1, NULL, 0);
  TileValue *out[] = {p, loop->results[0]};
  tile_build(&b, TILE_STORE, out, 2, NULL, 0);
  tile_build(&b, TILE_RETURN, NULL, 0, NULL, 0);
  return f;
}

static const char sum_text[] =
    "kernel @sum(%p: *f32 {arg 0, div 16}, %n: i32 {arg 1}) {num_warps 4, target \"sm_90a\"} "
    "@\"sum.py\":3:1 {\n"
    "  %0 = const {value 0} : i32 @4:3\n"
    "  %1 = const {value 1} : i32 @3\n"
    "  %2 = const {value 0.0} : f32 @3\n"
    "  %3 = for %i = %0 to %n step %1 carry (%acc = %2) : f32 @5:3 {\n"
    "    %4 = ptr_add %p, %i : *f32 @6:5\n"
    "    %acc.1 = load %4 : f32 @5\n"
    "    %5 = add %acc, %acc.1 : f32 @5\n"
    "    yield %5 @5\n"
    "  }\n"
    "  store %p, %3 @5:3\n"
    "  return @3\n"
    "}\n";

static void test_build(void) {
  Context c = context_new();
  TileBuilder body;
  TileFunc *f = build_sum(&c, &body);
  check(tile_verify(f, c.diags), "the kernel verifies");
  check_text(print(&c, f), sum_text, "the kernel prints");
  TileFunc *again = read_text(&c, sum_text);
  check(again && tile_verify(again, c.diags), "its text reads and verifies");
  if (again) check_text(print(&c, again), sum_text, "what was read prints alike");
  check(f->body->last->prev->nargs == 3, "a store has a slot for its mask");
  arena_free(c.arena);
}

static void count_visit(TileOp *op, void *ctx) { (void)op, ++*(int *)ctx; }
static void remove_loads(TileOp *op, void *ctx) {
  if (op->code == TILE_LOAD) tile_remove(op), ++*(int *)ctx;
}

static void test_change(void) {
  Context c = context_new();
  TileBuilder body;
  TileFunc *f = build_sum(&c, &body);
  int ops = 0, removed = 0;
  tile_walk(f->body, count_visit, &ops);
  check(ops == 10, "a walk visits every op");
  uint32_t *uses = tile_count_uses(f, c.arena);
  check(uses[f->params[0].value->id] == 2, "uses are counted, in regions too");
  TileOp *load = body.block->first->next;
  body.before = load;
  TileValue *half = tile_const_float(&body, type_scalar(DT_F32), 0.5);
  TileValue *other = tile_const_float(&body, type_scalar(DT_F32), 0.25);
  check(half->def->next == other->def && other->def->next == load, "ops go before `before`");
  TileValue **map = ARENA_ARRAY(c.arena, TileValue *, f->nvalues);
  map[load->results[0]->id] = half;
  map[half->id] = other;
  tile_substitute(f, map);
  check(load->next->args[1] == other, "a substitution is followed to its end");
  tile_walk(f->body, remove_loads, &removed);
  check(removed == 1 && other->def->next->code == TILE_ADD, "a visitor may remove its op");
  tile_move_before(half->def, f->body->first);
  check(f->body->first == half->def && half->def->parent == f->body,
        "an op moves to another block");
  check(tile_verify(f, c.diags), "the changed kernel verifies");
  arena_free(c.arena);
}

static void test_constants(void) {
  Context c = context_new();
  TileBuilder b;
  build_sum(&c, &b);
  int64_t i = 0;
  check(tile_const_value(tile_const_int(&b, type_scalar(DT_I8), 200), &i) && i == -56, "i8 wraps");
  check(tile_const_value(tile_const_int(&b, type_scalar(DT_U16), -1), &i) && i == 65535,
        "u16 wraps");
  check(tile_const_value(tile_const_int(&b, type_scalar(DT_U64), -1), &i) && i == -1,
        "u64 by bits");
  check(tile_const_value(tile_const_int(&b, type_scalar(DT_I1), 3), &i) && i == 1, "i1 wraps");
  TileValue *x = tile_const_float(&b, type_scalar(DT_F32), 0.1);
  check(tile_attr(x->def, TA_value)->f == (double)0.1f, "f32 is rounded");
  check(!tile_const_value(x, &i), "a float is no integer constant");
  arena_free(c.arena);
}

static void test_attrs(void) {
  Context c = context_new();
  TileBuilder b;
  TileFunc *f = build_sum(&c, &b);
  TileOp *load = b.block->first->next;
  tile_set_int(f, load, TA_volatile, 1);
  tile_set_str(f, load, TA_cache, ".ca");
  tile_set_str(f, load, TA_cache, ".cg");
  check(load->nattrs == 2 && load->attrs[0].key == TA_cache, "attributes stand in order");
  check(!strcmp(tile_str(load, TA_cache, ""), ".cg"), "an attribute is replaced");
  tile_set_int(f, load, TA_volatile, 0);
  check(load->nattrs == 1 && !tile_int(load, TA_volatile, 0), "a flag that is false is left out");
  tile_set_int(f, load, TA_axis, 1);
  check(!tile_verify(f, c.diags), "attributes of other ops are refused");
  arena_free(c.arena);
}

/* ---- the shared text ---- */

static void check_float(Context *c, double v, bool f32, const char *want) {
  Text t = text_new(c->arena);
  ir_print_float(&t, v, f32);
  check_text(t.data, want, "a float prints shortest");
}

static void test_floats(void) {
  Context c = context_new();
  check_float(&c, 0.1f, true, "0.1");
  check_float(&c, 0.1f, false, "0.10000000149011612");
  check_float(&c, 1e22, false, "1e+22");
  check_float(&c, 100, false, "100.0");
  check_float(&c, -0.0, true, "-0.0");
  check_float(&c, -INFINITY, true, "-inf");
  check_float(&c, NAN, true, "nan");
  arena_free(c.arena);
}

static void test_namer(void) {
  Context c = context_new();
  IrNamer n = ir_namer_new(c.arena, c.names);
  static const char *const hints[] = {"x", "x", NULL, "x.1", "x.1", "a b", "7up", ".x", "", "x"};
  static const char *const want[] = {"x", "x.1", "0", "x.2", "x.3", "a_b", "1", "_x", "2", "x.4"};
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
    check_text(ir_namer_give(&n, hints[i]), want[i], "a name is unique");
  arena_free(c.arena);
}

static void test_tokens(void) {
  Context c = context_new();
  const char *text = "v[4*%a.1..] 0..1024 ld.v4 @red @\"f\":1:2 a->b 0x1p-2 // end\n2@reg:4";
  static const char *const want[] = {
      "v",     "[", "4", "*", "a.1", "..", "]",  "0", "..",     "1024", "ld.v4", "red", "@",
      "\"f\"", ":", "1", ":", "2",   "a",  "->", "b", "0x1p-2", "2",    "reg",   ":",   "4"};
  IrReader r = ir_open(c.arena, c.names, c.diags, diag_source(c.diags, "t", text, strlen(text)), 0);
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    IrToken t = ir_next(&r);
    check(t.len == strlen(want[i]) && !memcmp(t.text, want[i], t.len), want[i]);
    if (!strcmp(want[i], "0x1p-2")) check(t.kind == IT_FLOAT && t.f == 0.25, "a hexadecimal float");
  }
  check(ir_at_kind(&r, IT_END) && !r.failed, "the text ends");
  arena_free(c.arena);
}

int main(void) {
  test_table();
  test_build();
  test_change();
  test_constants();
  test_attrs();
  test_floats();
  test_namer();
  test_tokens();
  return report();
}
