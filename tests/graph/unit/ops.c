/* The operators of graphs: the table, schemas, calls that fit them or don't, and the types of
 * results: by hand for each family, over the models, as PyTorch gives them, and of random calls.
 *
 *   build/tests/graph/unit/ops        what `make check` runs
 *   build/tests/graph/unit/ops -      the type of each call on standard input */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/expand/expansion.h"
#include "graph/ops/infer.h"
#include "import/text/text_forms.h"
#include "tests/support/tally.h"

typedef struct {
  Arena *arena;
  Pool *names;
  Diags *diags;
} Context;

static Context context_new(void) {
  Arena *a = arena_new();
  return (Context){a, pool_new(a), diags_new(a)};
}

static Graph *read_graph(Context *c, const char *name, const char *text) {
  uint32_t file = diag_source(c->diags, pool_name(c->names, name), text, strlen(text));
  return graph_read_text(c->arena, c->names, c->diags, file);
}

static const char *messages(Context *c) {
  Text t = text_new(c->arena);
  diag_print(c->diags, &t);
  return t.data ? t.data : "";
}

/* ---- the table ---- */

/* Are the rows of `name` those that a look at all rows finds? */
static bool finds_named(const char *name) {
  OpRange r = ops_named(name);
  for (uint32_t i = 0; i < OP_UNKNOWN; i++) {
    const char *target = ops_at((OpId)i)->target;
    size_t len = strlen(name);
    bool named = !strncmp(target, name, len) && (target[len] == '.' || !target[len]);
    if (named != (r.first <= i && i < r.end)) return false;
  }
  return true;
}

static void test_table(void) {
  Context c = context_new();
  Graph *g = graph_new(c.arena, c.names, c.diags);
  for (uint32_t i = 0; i < OP_UNKNOWN; i++) {
    const GraphOp *op = ops_at((OpId)i);
    check(!i || strcmp(ops_at((OpId)(i - 1))->target, op->target) < 0, "rows stand in order");
    check(op->id == i && ops_find(op->target) == op, op->target);
    const char *overload = strrchr(op->target, '.');
    check(finds_named(op->target) &&
              finds_named(arena_strndup(c.arena, op->target, (size_t)(overload - op->target))),
          op->target);
    const OpSchema *s = ops_schema(g, op);
    check(s->nparams && s == ops_schema(g, op), "a schema is parsed once");
    bool in_place = strstr(op->target, "_.") && !strstr(op->target, "__.");
    check(!in_place || s->params[0].written, op->target);
    check(!in_place || op->functional || expansion_rule(op) || op->id == OP_aten_zero__default,
          op->target);
  }
  check(finds_named("") && finds_named("aten.ad") && finds_named("zzz"), "no rows");
  check(!ops_find("aten.add") && !ops_find("") && !ops_find("zzz"), "others are not found");
  arena_free(c.arena);
}

static void test_schemas(void) {
  Context c = context_new();
  Graph *g = graph_new(c.arena, c.names, c.diags);
  const OpSchema *s = ops_schema(g, ops_at(OP_aten_avg_pool2d_default));
  check(s->nparams == 7 && s->npositional == 7 && s->nresults == 1, "parameters are counted");
  check(s->params[1].type == PARAM_INTS && s->params[1].repeat == 2, "int[2]");
  check(s->params[2].has_default && s->params[2].dflt.kind == ARG_LIST, "a default of []");
  check(s->params[6].optional && s->params[6].dflt.kind == ARG_NONE, "a default of None");
  s = ops_schema(g, ops_at(OP_aten_index_put__default));
  check(s->params[0].written && s->params[1].sparse && !s->params[1].optional, "Tensor?[]");
  s = ops_schema(g, ops_at(OP_aten_sum_dim_IntList));
  check(s->params[1].optional && s->params[1].repeat == 1 && s->npositional == 3, "int[1]?");
  s = ops_schema(g, ops_at(OP_aten_split_Tensor));
  check(s->list && s->params[0].viewed && !s->params[0].written, "Tensor(a -> *)");
  check(ops_schema(g, ops_at(OP_aten_max_dim))->nresults == 2, "two results");
  check(ops_schema(g, ops_at(OP_aten__assert_async_default))->nresults == 0, "no result");
  check(ops_param(s, "dim") == 2 && ops_param(s, "di") == -1, "parameters by name");
  arena_free(c.arena);
}

static void test_arguments(void) {
  Context c = context_new();
  Graph *g = read_graph(&c, "args",
                        "def forward(self, x: \"f32[4]\"):\n"
                        "    y = torch.ops.aten.gelu.default(x, approximate = 'tanh')\n"
                        "    z = torch.ops.aten.sum.dim_IntList(y, [0])\n"
                        "    return (z,)\n");
  const Node *y = g->first->next, *z = y->next;
  check(!strcmp(graph_arg(g, y, "approximate").name, "tanh"), "an argument by its name");
  check(graph_arg(g, z, "dim").kind == ARG_LIST, "an argument by its position");
  check(graph_arg(g, z, "keepdim").kind == ARG_BOOL, "a default");
  arena_free(c.arena);
}

/* ---- the type of one call ---- */

static const char *call_text(Context *c, const char *params, const char *call) {
  const char *prefix = "torch.ops.aten.";
  if (!strncmp(call, "torch.", 6) || !strncmp(call, "math.", 5) || !strncmp(call, "_oper", 5) ||
      !strncmp(call, "nereid.", 7))
    prefix = "";
  if (!strncmp(call, "aten.", 5)) prefix = "torch.ops.";
  return arena_printf(c->arena, "def forward(self, %s):\n    r = %s%s\n    return ()\n", params,
                      prefix, call);
}

static void print_type(Text *out, const ValueType *t) {
  static const char *const names[] = {[VALUE_UNKNOWN] = "?",
                                      [VALUE_NONE] = "None",
                                      [VALUE_INT] = "int",
                                      [VALUE_FLOAT] = "float",
                                      [VALUE_BOOL] = "bool"};
  if (t->kind == VALUE_LIST) {
    for (uint32_t i = 0; i < t->nitems; i++) {
      if (i) text_puts(out, " ");
      print_type(out, &t->items[i]);
    }
  } else if (t->kind == VALUE_TENSOR || (t->kind == VALUE_INT && t->value)) {
    value_type_print(out, t);
  } else {
    text_puts(out, names[t->kind]);
  }
}

/* The type, or the messages. */
static const char *infer_call(Context *c, const char *params, const char *call) {
  Graph *g = read_graph(c, "call", call_text(c, params, call));
  if (!g || !infer_graph(g)) return messages(c);
  Text out = text_new(c->arena);
  print_type(&out, &g->last->prev->type);
  return out.data ? out.data : "";
}

typedef struct {
  const char *params, *call, *want;
} Case;

static void test_types(const Case *cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    Context c = context_new();
    const char *got = infer_call(&c, cases[i].params, cases[i].call);
    check(!strcmp(got, cases[i].want), cases[i].call);
    if (strcmp(got, cases[i].want)) printf("-- got %s\n-- want %s\n", got, cases[i].want);
    arena_free(c.arena);
  }
}

static void test_errors(const Case *cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    Context c = context_new();
    const char *got = infer_call(&c, cases[i].params, cases[i].call);
    check(strstr(got, cases[i].want) && diag_errors(c.diags) == 1, cases[i].call);
    if (!strstr(got, cases[i].want)) printf("-- got %s\n-- want %s\n", got, cases[i].want);
    arena_free(c.arena);
  }
}

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const Case promotion[] = {
    {"x: \"f32[2, 3]\", y: \"i64[3]\"", "add.Tensor(x, y)", "f32[2, 3]"},
    {"x: \"bf16[2]\", y: \"f16[2]\"", "add.Tensor(x, y)", "f32[2]"},
    {"x: \"bf16[2]\", y: \"f32[]\"", "mul.Tensor(x, y)", "bf16[2]"},
    {"x: \"i64[2]\", y: \"f64[]\"", "mul.Tensor(x, y)", "f64[2]"},
    {"x: \"i32[]\", y: \"i64[]\"", "mul.Tensor(x, y)", "i64[]"},
    {"x: \"f16[2]\"", "mul.Tensor(x, 2.5)", "f16[2]"},
    {"x: \"i32[2]\"", "mul.Tensor(x, 2)", "i32[2]"},
    {"x: \"i32[2]\"", "mul.Tensor(x, 2.5)", "f32[2]"},
    {"x: \"i32[2]\"", "mul.Tensor(x, True)", "i32[2]"},
    {"x: \"b8[2]\"", "add.Tensor(x, 1)", "i64[2]"},
    {"x: \"b8[2]\", y: \"b8[2]\"", "add.Tensor(x, y)", "b8[2]"},
    {"x: \"b8[2]\", y: \"u8[]\"", "add.Tensor(x, y)", "u8[2]"},
    {"x: \"u8[2]\", y: \"i8[2]\"", "add.Tensor(x, y)", "i16[2]"},
    {"x: \"u8[2]\", y: \"i32[2]\"", "maximum.default(x, y)", "i32[2]"},
    {"x: \"i64[2]\", y: \"i64[2]\"", "div.Tensor(x, y)", "f32[2]"},
    {"x: \"i64[2]\"", "div.Tensor_mode(x, 3, rounding_mode = 'floor')", "i64[2]"},
    {"x: \"i64[2]\"", "div.Tensor_mode(x, 3, rounding_mode = None)", "f32[2]"},
    {"x: \"i64[2]\"", "pow.Tensor_Scalar(x, 2)", "i64[2]"},
    {"x: \"i64[2]\"", "pow.Scalar(2.0, x)", "f32[2]"},
    {"x: \"f16[2]\"", "rsub.Scalar(x, 1.0)", "f16[2]"},
    {"x: \"i64[2]\"", "exp.default(x)", "f32[2]"},
    {"x: \"i64[2]\"", "relu.default(x)", "i64[2]"},
    {"x: \"f16[2]\"", "isnan.default(x)", "b8[2]"},
    {"x: \"i64[2]\", y: \"f32[]\"", "eq.Tensor(x, y)", "b8[2]"},
    {"x: \"b8[2, 1]\", y: \"i64[3]\"", "where.ScalarOther(x, y, 1.5)", "f32[2, 3]"},
    {"x: \"b8[2]\", y: \"f16[2]\", z: \"f32[]\"", "where.self(x, y, z)", "f16[2]"},
    {"x: \"i32[2]\"", "clamp.default(x, None, 2.5)", "f32[2]"},
    {"x: \"f32[2, 1]\", y: \"b8[3]\"", "masked_fill.Scalar(x, y, 0)", "f32[2, 3]"},
    {"x: \"f32[2]\"", "to.dtype(x, torch.bfloat16)", "bf16[2]"},
    {"x: \"f32[2]\", y: \"f16[3]\"", "type_as.default(x, y)", "f16[2]"},
    {"x: \"f32[2, 3]\", y: \"i64[3]\"", "add_.Tensor(x, y)", "f32[2, 3]"},
    {"x: \"i64[2]\", y: \"f16[2]\"", "atan2.default(x, y)", "f16[2]"},
    {"x: \"b8[2]\"", "bitwise_not.default(x)", "b8[2]"},
    {"x: \"f16[2]\"", "sigmoid_.default(x)", "f16[2]"},
    {"x: \"f32[2, 1]\", y: \"f32[3]\"", "lerp.Scalar(x, y, 0.5)", "f32[2, 3]"},
    {"x: \"f16[2, 1]\", y: \"f32[3]\"", "addcmul.default(x, y, y)", "f32[2, 3]"},
    {"x: \"f32[4, 6]\"", "glu.default(x)", "f32[4, 3]"},
    {"x: \"f32[4, 6]\", y: \"f32[6]\"", "mse_loss.default(x, y)", "f32[]"},
    {"x: \"f32[4, 6]\", y: \"f32[6]\"", "mse_loss.default(x, y, 0)", "f32[4, 6]"},
};

static const Case broadcasting[] = {
    {"x: \"f32[s0, 1]\", y: \"f32[1, s1]\"", "add.Tensor(x, y)", "f32[s0, s1]"},
    {"x: \"f32[s0]\", y: \"f32[4]\"", "add.Tensor(x, y)", "f32[4]"},
    {"x: \"f32[s0]\", y: \"f32[s1]\"", "add.Tensor(x, y)", "f32[s0]"},
    {"x: \"f32[0]\", y: \"f32[1]\"", "add.Tensor(x, y)", "f32[0]"},
    {"x: \"f32[]\", y: \"f32[2, 3]\"", "add.Tensor(x, y)", "f32[2, 3]"},
};

static const Case reductions[] = {
    {"x: \"i32[2, 3]\"", "sum.default(x)", "i64[]"},
    {"x: \"b8[2, 3]\"", "cumsum.default(x, -1)", "i64[2, 3]"},
    {"x: \"f16[2, 3]\"", "sum.dim_IntList(x, [-1], True)", "f16[2, 1]"},
    {"x: \"f16[2, 3]\"", "sum.dim_IntList(x, None, dtype = torch.float32)", "f32[]"},
    {"x: \"i64[2, 3]\"", "mean.dim(x, 0, dtype = torch.float32)", "f32[3]"},
    {"x: \"f32[s0, 3]\"", "amax.default(x, [0], True)", "f32[1, 3]"},
    {"x: \"f32[2, 3]\"", "max.dim(x, 1)", "f32[2] i64[2]"},
    {"x: \"f32[2, 3]\"", "min.default(x)", "f32[]"},
    {"x: \"f32[2, 3]\"", "argmax.default(x, 0, True)", "i64[1, 3]"},
    {"x: \"f32[2, 3]\"", "argmin.default(x)", "i64[]"},
    {"x: \"i64[2, 3]\"", "any.dim(x, 0)", "b8[3]"},
    {"x: \"u8[2, 3]\"", "all.default(x)", "u8[]"},
    {"x: \"f32[2, 3]\"", "var.correction(x, [1], correction = 0, keepdim = True)", "f32[2, 1]"},
    {"x: \"f32[2, 3]\"", "var_mean.correction(x, [0])", "f32[3] f32[3]"},
    {"x: \"f32[2, 3]\"", "linalg_vector_norm.default(x, 2, [0])", "f32[3]"},
    {"x: \"f32[2, 3]\"", "aminmax.default(x, dim = 1)", "f32[2] f32[2]"},
    {"x: \"f32[]\"", "sum.dim_IntList(x, [-1])", "f32[]"},
    {"x: \"f16[2, 3]\"", "softmax.int(x, 1, torch.float32)", "f32[2, 3]"},
    {"x: \"f16[2, 3]\"", "_softmax.default(x, 1, True)", "f32[2, 3]"},
    {"x: \"f32[2, 9]\"", "topk.default(x, 4)", "f32[2, 4] i64[2, 4]"},
    {"x: \"f32[2, 9]\"", "sort.default(x)", "f32[2, 9] i64[2, 9]"},
    {"x: \"f32[2, 9]\"", "argsort.default(x)", "i64[2, 9]"},
    {"x: \"i64[2, 9]\"", "logsumexp.default(x, [1])", "f32[2]"},
    {"x: \"i64[2, 9]\"", "logcumsumexp.default(x, 1)", "f32[2, 9]"},
    {"x: \"f16[2, 9]\"", "cummax.default(x, 1)", "f16[2, 9] i64[2, 9]"},
    {"x: \"f32[2, 9]\"", "histc.default(x, 7)", "f32[7]"},
    {"x: \"i64[2, 9]\", y: \"i64[2, 1]\"", "diff.default(x, 1, -1, y)", "i64[2, 9]"},
    {"x: \"f32[s0, 8]\"", "count_nonzero.dim_IntList(x, [1])", "i64[s0]"},
};

static const Case normalizations[] = {
    {"x: \"f32[s0, 8]\", w: \"f32[8]\"", "layer_norm.default(x, [8], w)", "f32[s0, 8]"},
    {"x: \"f32[2, 3, 8]\"", "native_layer_norm.default(x, [8], None, None, 1e-05)",
     "f32[2, 3, 8] f32[2, 3, 1] f32[2, 3, 1]"},
    {"x: \"f32[2, 4, 8]\"", "native_group_norm.default(x, None, None, 2, 4, 8, 2, 1e-05)",
     "f32[2, 4, 8] f32[2, 2] f32[2, 2]"},
    {"x: \"f32[2, 4]\", m: \"f32[4]\"",
     "_native_batch_norm_legit_no_training.default(x, None, None, m, m, 0.1, 1e-05)",
     "f32[2, 4] f32[0] f32[0]"},
    {"x: \"bf16[2, 4]\", m: \"f32[4]\"",
     "native_batch_norm.default(x, m, m, m, m, True, 0.1, 1e-05)", "bf16[2, 4] f32[4] f32[4]"},
    {"x: \"f32[2, 4]\"", "native_dropout.default(x, 0.5, True)", "f32[2, 4] b8[2, 4]"},
    {"x: \"f32[2, 4]\"", "_fused_rms_norm.default(x, [4], None, None)", "f32[2, 4] f32[2, 1]"},
    {"x: \"f32[2, 4]\"", "rms_norm.default(x, [4])", "f32[2, 4]"},
};

static const Case views[] = {
    {"x: \"f32[s0, s1, 64]\", a: \"Sym(s0)\", b: \"Sym(s1)\"", "view.default(x, [a, b, 4, -1])",
     "f32[s0, s1, 4, 16]"},
    {"x: \"f32[s0, 64]\", a: \"Sym(s0)\"", "view.default(x, [-1, 2, a])", "f32[32, 2, s0]"},
    {"x: \"f32[2, s0, 64]\"", "view.default(x, [-1, 64])", "f32[2*s0, 64]"},
    {"x: \"f32[6, 4]\"", "reshape.default(x, [3, -1])", "f32[3, 8]"},
    {"x: \"f32[6, 4]\", y: \"i64[3, 8]\"", "view_as.default(x, y)", "f32[3, 8]"},
    {"x: \"f32[]\"", "reshape.default(x, [1, 1])", "f32[1, 1]"},
    {"x: \"f32[6, 4]\"", "view.dtype(x, torch.int16)", "i16[6, 8]"},
    {"x: \"f32[1, 4]\"", "expand.default(x, [3, 2, -1])", "f32[3, 2, 4]"},
    {"x: \"f32[1, s0]\", y: \"f32[2, 3, s0]\"", "expand_as.default(x, y)", "f32[2, 3, s0]"},
    {"x: \"f32[2, 3, 4]\"", "permute.default(x, [2, 0, -2])", "f32[4, 2, 3]"},
    {"x: \"f32[2, 3, 4]\"", "transpose.int(x, -1, 0)", "f32[4, 3, 2]"},
    {"x: \"f32[2, 3]\"", "t.default(x)", "f32[3, 2]"},
    {"x: \"f32[2, 3, 4]\"", "numpy_T.default(x)", "f32[4, 3, 2]"},
    {"x: \"f32[2, 3, 4]\"", "mT.default(x)", "f32[2, 4, 3]"},
    {"x: \"f32[2, 3, 4, 5]\"", "movedim.int(x, 1, 3)", "f32[2, 4, 5, 3]"},
    {"x: \"f32[2, 3, 4, 5]\"", "movedim.intlist(x, [0, 1], [-1, -2])", "f32[4, 5, 3, 2]"},
    {"x: \"f32[2, 3]\"", "unsqueeze.default(x, -1)", "f32[2, 3, 1]"},
    {"x: \"f32[1, 3, 1]\"", "squeeze.default(x)", "f32[3]"},
    {"x: \"f32[1, 3, 1]\"", "squeeze.dims(x, [0, 1])", "f32[3, 1]"},
    {"x: \"f32[1, 3, 1]\"", "squeeze.dims(x, [])", "f32[1, 3, 1]"},
    {"x: \"f32[s0, 3, 1]\"", "squeeze.dim(x, 0)", "f32[s0, 3, 1]"},
    {"x: \"f32[2, 3, s0]\"", "flatten.using_ints(x, 1)", "f32[2, 3*s0]"},
    {"x: \"f32[]\"", "flatten.using_ints(x)", "f32[1]"},
    {"x: \"f32[2, 12]\"", "unflatten.int(x, 1, [3, -1])", "f32[2, 3, 4]"},
    {"x: \"f32[10]\"", "slice.Tensor(x, 0, -7, 9223372036854775807, 2)", "f32[4]"},
    {"x: \"f32[10]\"", "slice.Tensor(x, 0, 8, 2)", "f32[0]"},
    {"x: \"f32[10]\"", "slice.Tensor(x, 0, -20, 20)", "f32[10]"},
    {"x: \"f32[s0]\"", "slice.Tensor(x, 0, 0, 9223372036854775807)", "f32[s0]"},
    {"x: \"f32[s0]\"", "slice.Tensor(x, 0, 0, 5)", "f32[Min(5, s0)]"},
    {"x: \"f32[s0]\"", "slice.Tensor(x, 0, None, -1)", "f32[Max(0, s0 - 1)]"},
    {"x: \"f32[4, 5]\"", "select.int(x, 1, -1)", "f32[4]"},
    {"x: \"f32[4, 5]\"", "narrow.default(x, 1, 2, 3)", "f32[4, 3]"},
    {"x: \"f32[4, 5]\"", "as_strided.default(x, [2, 2], [1, 2])", "f32[2, 2]"},
    {"x: \"f32[s0, 4]\"", "as_strided.default(x, [s0, 2], [4, 1], 2)", "f32[s0, 2]"},
    {"x: \"f32[4]\"", "as_strided.default(x, [0, 9], [9, 9])", "f32[0, 9]"},
    {"x: \"f32[4, 5, 6]\"", "diagonal.default(x, 1, 1, 2)", "f32[4, 5]"},
    {"x: \"f32[4, 5]\"", "diag_embed.default(x, -1)", "f32[4, 6, 6]"},
    {"x: \"f32[4, 9]\"", "unfold.default(x, 1, 3, 2)", "f32[4, 4, 3]"},
    {"x: \"f32[4, 7]\"", "split.Tensor(x, 3, 1)", "f32[4, 3] f32[4, 3] f32[4, 1]"},
    {"x: \"f32[7]\"", "split_with_sizes.default(x, [2, 5])", "f32[2] f32[5]"},
    {"x: \"f32[5]\"", "chunk.default(x, 4)", "f32[2] f32[2] f32[1]"},
    {"x: \"f32[2*s0]\"", "chunk.default(x, 2)", "f32[s0] f32[s0]"},
    {"x: \"f32[2, 3]\"", "unbind.int(x, 0)", "f32[3] f32[3]"},
    {"x: \"f32[2, s0]\", y: \"f16[3, s0]\"", "cat.default([x, y])", "f32[5, s0]"},
    {"x: \"f32[0]\", y: \"f16[3, 4]\"", "cat.default([x, y], 1)", "f32[3, 4]"},
    {"x: \"f32[2, 3]\"", "stack.default([x, x], -1)", "f32[2, 3, 2]"},
    {"x: \"f32[3]\"", "hstack.default([x, x])", "f32[6]"},
    {"x: \"f32[3]\"", "vstack.default([x, x])", "f32[2, 3]"},
    {"x: \"f32[3]\"", "repeat.default(x, [2, 3])", "f32[2, 9]"},
    {"x: \"f32[2, 3]\"", "tile.default(x, [2])", "f32[2, 6]"},
    {"x: \"f32[2, 3]\"", "repeat_interleave.self_int(x, 2)", "f32[12]"},
    {"x: \"f32[2, 3]\"", "repeat_interleave.self_int(x, 2, 1)", "f32[2, 6]"},
    {"x: \"f32[2]\", y: \"f32[3]\"", "meshgrid.indexing([x, y], indexing = 'xy')",
     "f32[3, 2] f32[3, 2]"},
    {"x: \"f32[2, 1]\", y: \"i64[3]\"", "broadcast_tensors.default([x, y])", "f32[2, 3] i64[2, 3]"},
    {"x: \"f32[1, 8, 3, 3]\"", "pixel_shuffle.default(x, 2)", "f32[1, 2, 6, 6]"},
    {"x: \"f32[1, 2, 6, 6]\"", "pixel_unshuffle.default(x, 2)", "f32[1, 8, 3, 3]"},
    {"x: \"f32[2, 3]\"", "constant_pad_nd.default(x, [1, 2, 0, -1])", "f32[1, 6]"},
    {"x: \"f32[2, 3, 4]\"", "reflection_pad1d.default(x, [1, 1])", "f32[2, 3, 6]"},
};

static const Case products[] = {
    {"x: \"f32[2, 3]\", y: \"f32[3, s0]\"", "mm.default(x, y)", "f32[2, s0]"},
    {"x: \"f32[s0, 2, 3]\", y: \"f32[s0, 3, 4]\"", "bmm.default(x, y)", "f32[s0, 2, 4]"},
    {"x: \"f32[3]\", y: \"f32[3]\"", "matmul.default(x, y)", "f32[]"},
    {"x: \"f32[3]\", y: \"f32[5, 3, 4]\"", "matmul.default(x, y)", "f32[5, 4]"},
    {"x: \"f32[5, 2, 3]\", y: \"f32[3]\"", "matmul.default(x, y)", "f32[5, 2]"},
    {"x: \"f32[6, 1, 2, 3]\", y: \"f32[5, 3, 4]\"", "matmul.default(x, y)", "f32[6, 5, 2, 4]"},
    {"x: \"f32[4]\", y: \"f32[2, 3]\", z: \"f32[3, 4]\"", "addmm.default(x, y, z)", "f32[2, 4]"},
    {"x: \"f32[2]\", y: \"f32[2, 3]\", z: \"f32[3]\"", "addmv.default(x, y, z)", "f32[2]"},
    {"x: \"f32[2, 3]\", y: \"f32[3]\"", "mv.default(x, y)", "f32[2]"},
    {"x: \"f32[3]\", y: \"f32[3]\"", "dot.default(x, y)", "f32[]"},
    {"x: \"f32[3]\", y: \"f32[4]\"", "outer.default(x, y)", "f32[3, 4]"},
    {"x: \"f32[s0, 3]\", w: \"f32[4, 3]\", b: \"f32[4]\"", "linear.default(x, w, b)", "f32[s0, 4]"},
    {"x: \"f32[2, 3, 4]\", y: \"f32[2, 5, 4]\"", "einsum.default('bik,bjk->bij', [x, y])",
     "f32[2, 3, 5]"},
    {"x: \"f32[2, 3]\", y: \"f32[3, 4]\"", "einsum.default('ij, jk', [x, y])", "f32[2, 4]"},
    {"x: \"f32[2, 5, 3]\", y: \"f32[3, 4]\"", "einsum.default('...j,jk->...k', [x, y])",
     "f32[2, 5, 4]"},
    {"x: \"f32[3, 3]\"", "einsum.default('ii->i', [x])", "f32[3]"},
    {"q: \"f32[2, 8, s0, 16]\", k: \"f32[2, 8, 9, 16]\", v: \"f32[2, 8, 9, 5]\"",
     "scaled_dot_product_attention.default(q, k, v)", "f32[2, 8, s0, 5]"},
    {"q: \"f32[2, 8, 7, 16]\", k: \"f32[2, 2, 9, 16]\"",
     "scaled_dot_product_attention.default(q, k, k, enable_gqa = True)", "f32[2, 8, 7, 16]"},
    {"q: \"f16[2, 8, s0, 16]\", k: \"f16[2, 8, 9, 16]\", v: \"f16[2, 8, 9, 5]\"",
     "_scaled_dot_product_flash_attention_for_cpu.default(q, k, v)",
     "f16[2, 8, s0, 5] f32[2, 8, s0]"},
    {"q: \"f16[2, 8, 4, 16]\", k: \"f16[2, 8, 9, 16]\"",
     "_scaled_dot_product_flash_attention.default(q, k, k)",
     "f16[2, 8, 4, 16] f32[2, 8, 4] i32[0] i32[0] Sym(4) Sym(9) u64[2] u64[] f16[0]"},
    {"q: \"f16[2, 8, 4, 16]\", k: \"f16[2, 8, 9, 16]\"",
     "_scaled_dot_product_efficient_attention.default(q, k, k, None, False)",
     "f16[2, 8, 4, 16] f32[2, 8, 0] i64[] i64[]"},
    {"q: \"f16[2, 8, s0, 16]\", k: \"f16[2, 8, 9, 16]\", v: \"f16[2, 8, 9, 5]\", m: \"b8[s0, 9]\"",
     "nereid.attention.default(q, k, v, m, scale = 0.5, low = -3)", "f16[2, s0, 8, 5]"},
    {"q: \"f16[2, 8, 1, 16]\", k: \"f16[2, 8, s0, 16]\", v: \"f16[2, 8, s0, 5]\"",
     "nereid.attention.default(q, k, v, scale = 0.5, splits = 4)", "f32[4, 2, 1, 8, 9]"},
    {"x: \"f32[9, 4]\", y: \"f32[3, 4, 5]\", o: \"i32[3]\"",
     "_grouped_mm.default(x, y, offs = o, out_dtype = torch.bfloat16)", "bf16[9, 5]"},
    {"x: \"f16[9, s0]\", y: \"f16[s0, 4]\", o: \"i32[3]\"", "_grouped_mm.default(x, y, o)",
     "f16[3, 9, 4]"},
    {"x: \"f64[3, 9, 4]\", y: \"f64[4, s0]\", o: \"i32[3]\"", "_grouped_mm.default(x, y, o)",
     "f64[9, s0]"},
    {"x: \"f8e4m3fn[9, 4]\", y: \"f8e4m3fn[3, 4, 5]\", a: \"f32[9]\", c: \"f32[3, 5]\", "
     "o: \"i32[3]\"", "_scaled_grouped_mm.default(x, y, a, c, o)", "bf16[9, 5]"},
    {"x: \"bf16[3, 9, 4]\", y: \"bf16[3, 4, 5]\"",
     "_grouped_mm.default(x, y, out_dtype = torch.float32)", "f32[3, 9, 5]"},
    {"x: \"bf16[3, 9, 4]\", y: \"bf16[3, 4, 5]\", e: \"i32[3]\"",
     "nereid.ended_bmm.default(x, y, e)", "bf16[3, 9, 5]"},
    {"x: \"bf16[9, 40]\", y: \"bf16[40, 5]\"", "nereid.parted_mm.default(x, y, 3)",
     "f32[3, 9, 5]"},
    {"x: \"f32[2, 3, 4]\", y: \"f32[5, 4]\"", "cdist.default(x, y)", "f32[2, 3, 5]"},
    {"x: \"f32[5, 4]\"", "_pdist_forward.default(x)", "f32[10]"},
};

static const Case images[] = {
    {"x: \"f32[s0, 3, s1, 32]\", w: \"f32[8, 3, 3, 3]\"",
     "conv2d.default(x, w, None, [2, 2], [1, 1])", "f32[s0, 8, (((s1 - 1)//2)) + 1, 16]"},
    {"x: \"f32[4, 9]\", w: \"f32[6, 2, 3]\", b: \"f32[6]\"", "conv1d.default(x, w, b, groups = 2)",
     "f32[6, 7]"},
    {"x: \"f32[1, 4, 9]\", w: \"f32[6, 4, 3]\"", "conv1d.padding(x, w, padding = 'same')",
     "f32[1, 6, 9]"},
    {"x: \"f32[1, 4, 9]\", w: \"f32[6, 4, 3]\"", "conv1d.padding(x, w)", "f32[1, 6, 7]"},
    {"x: \"f32[1, 4, 5, 5]\", w: \"f32[4, 3, 2, 2]\"",
     "conv_transpose2d.input(x, w, None, [2, 2], [0, 0], [1, 1])", "f32[1, 3, 11, 11]"},
    {"x: \"f32[1, 4, 5, 5]\", w: \"f32[4, 3, 2, 2]\"",
     "convolution.default(x, w, None, [2, 2], [0, 0], [1, 1], True, [0, 0], 1)",
     "f32[1, 3, 10, 10]"},
    {"x: \"f32[1, 4, 7, 7]\"", "max_pool2d.default(x, [3, 3], [2, 2], [1, 1])", "f32[1, 4, 4, 4]"},
    {"x: \"f32[1, 4, 6, 6]\"", "max_pool2d.default(x, 3, 2, 0, 1, True)", "f32[1, 4, 3, 3]"},
    {"x: \"f32[1, 1, 2]\"", "max_pool1d.default(x, [3], [2], [0], [1], True)", "f32[1, 1, 1]"},
    {"x: \"f32[1, 1, 2, 2]\"", "avg_pool2d.default(x, [1, 1], [3, 3], [0, 0], True)",
     "f32[1, 1, 1, 1]"},
    {"x: \"f32[4, 6]\"", "avg_pool1d.default(x, [2])", "f32[4, 3]"},
    {"x: \"f32[1, 4, 6, 6]\"", "max_pool2d_with_indices.default(x, [2, 2])",
     "f32[1, 4, 3, 3] i64[1, 4, 3, 3]"},
    {"x: \"f32[1, 4, s0, s1]\"", "adaptive_avg_pool2d.default(x, [1, 1])", "f32[1, 4, 1, 1]"},
    {"x: \"f32[1, 4, 6]\"", "adaptive_max_pool1d.default(x, [2])", "f32[1, 4, 2] i64[1, 4, 2]"},
    {"x: \"f32[1, 4, s0, 5]\"", "upsample_nearest2d.vec(x, None, [2.0, 1.5])",
     "f32[1, 4, 2*s0, 7]"},
    {"x: \"f32[1, 4, 5, 5]\"", "upsample_bilinear2d.vec(x, [7, 8], False, None)",
     "f32[1, 4, 7, 8]"},
    {"x: \"f32[1, 4, 5, 5]\", g: \"f32[1, 2, 3, 2]\"", "grid_sampler_2d.default(x, g, 0, 0, False)",
     "f32[1, 4, 2, 3]"},
    {"x: \"f32[1, 2, 3]\"", "affine_grid_generator.default(x, [1, 3, 4, 5], False)",
     "f32[1, 4, 5, 2]"},
    {"x: \"f32[1, 2, 4, 4]\"", "im2col.default(x, [2, 2], [1, 1], [0, 0], [2, 2])", "f32[1, 8, 4]"},
    {"x: \"f32[1, 8, 4]\"", "col2im.default(x, [4, 4], [2, 2], [1, 1], [0, 0], [2, 2])",
     "f32[1, 2, 4, 4]"},
    {"x: \"f32[2, s0, 8]\"", "unfold_backward.default(x, [2, 3*s0 + 7], 1, 8, 3)",
     "f32[2, 3*s0 + 7]"},
    {"x: \"f32[1, 5, 8]\"", "unfold_backward.default(x, [2, 20], 1, 8, 3)", "f32[2, 20]"},
    {"x: \"f32[3]\"", "unfold_backward.default(x, [], 0, 3, 1)", "f32[]"},
};

static const Case indexing[] = {
    {"x: \"f32[4, 5, 6]\", i: \"i64[2, 1]\", j: \"i64[3]\"", "index.Tensor(x, [i, j])",
     "f32[2, 3, 6]"},
    {"x: \"f32[4, 5, 6]\", i: \"i64[2]\"", "index.Tensor(x, [None, i])", "f32[4, 2, 6]"},
    {"x: \"f32[4, 5, 6]\", i: \"i64[2]\"", "index.Tensor(x, [i, None, i])", "f32[2, 5]"},
    {"x: \"f32[4, 5, 6]\", m: \"b8[4, 5]\"", "index.Tensor(x, [m])", "f32[u0, 6]"},
    {"x: \"f32[4, 5]\", i: \"i64[2]\", v: \"f32[2, 5]\"", "index_put.default(x, [i], v)",
     "f32[4, 5]"},
    {"x: \"f32[4, 5]\", i: \"i64[3]\"", "index_select.default(x, 1, i)", "f32[4, 3]"},
    {"x: \"f32[4, 5]\", i: \"i64[4, 2]\"", "gather.default(x, 1, i)", "f32[4, 2]"},
    {"x: \"f32[4, 5]\", i: \"i64[4, 2]\"", "scatter.value(x, 1, i, 0)", "f32[4, 5]"},
    {"x: \"f32[4, 5]\", i: \"i64[2]\", s: \"f32[2, 5]\"", "index_add_.default(x, 0, i, s)",
     "f32[4, 5]"},
    {"x: \"f32[4, 5]\", i: \"i64[1, 3]\"", "take_along_dim.default(x, i, 1)", "f32[4, 3]"},
    {"w: \"f16[9, 4]\", i: \"i64[s0, 2]\"", "embedding.default(w, i)", "f16[s0, 2, 4]"},
    {"w: \"f16[9, 4]\", i: \"i64[s0]\", o: \"i64[s1]\"", "embedding_bag.default(w, i, o, False, 2)",
     "f16[s1, 4] i64[s0] i64[s1] i64[s1, 4]"},
    {"w: \"f32[9, 4]\", i: \"i64[6]\", o: \"i64[3]\"",
     "embedding_bag.padding_idx(w, i, o, False, 0, False, None, True, 1)",
     "f32[2, 4] i64[6] i64[2] i64[2]"},
    {"x: \"i8[4, s0]\"", "mode.default(x)", "i8[4] i64[4]"},
    {"x: \"f32[4, 5]\", s: \"f32[4, 2]\"", "slice_scatter.default(x, s, 1, 0, 2)", "f32[4, 5]"},
    {"x: \"f32[4, 5]\", s: \"f32[4]\"", "select_scatter.default(x, s, 1, 0)", "f32[4, 5]"},
    {"x: \"f32[4, 5]\"", "nonzero.default(x)", "i64[u0, 2]"},
    {"x: \"f32[4, 5]\", m: \"b8[5]\"", "masked_select.default(x, m)", "f32[u0]"},
    {"x: \"i32[4]\", w: \"f16[4]\"", "bincount.default(x, w)", "f64[u0]"},
    {"x: \"i32[4]\", w: \"f32[4]\"", "bincount.default(x, w)", "f32[u0]"},
    {"x: \"i64[4]\"", "one_hot.default(x, 7)", "i64[4, 7]"},
};

static const Case creation[] = {
    {"x: \"f32[1]\"", "full.default([2, 3], 1)", "i64[2, 3]"},
    {"x: \"f32[1]\"", "full.default([2], 1.0, dtype = torch.bfloat16)", "bf16[2]"},
    {"x: \"f32[1]\"", "full.default([], False)", "b8[]"},
    {"x: \"f32[1]\"", "zeros.default([2])", "f32[2]"},
    {"x: \"f16[s0]\"", "full_like.default(x, 1)", "f16[s0]"},
    {"x: \"f16[s0]\"", "new_ones.default(x, [], dtype = torch.bool)", "b8[]"},
    {"x: \"f32[1]\"", "arange.default(5)", "i64[5]"},
    {"x: \"f32[1]\"", "arange.start(2, 5.5)", "f32[4]"},
    {"x: \"f32[1]\"", "arange.default(2.5, dtype = torch.int64)", "i64[2]"},
    {"x: \"f32[1]\"", "arange.start_step(10, 0, -3)", "i64[4]"},
    {"x: \"f32[1]\"", "linspace.default(0, 1, 7)", "f32[7]"},
    {"x: \"f32[1]\"", "eye.m(3, 4)", "f32[3, 4]"},
    {"x: \"f32[1]\"", "scalar_tensor.default(2, dtype = torch.int64)", "i64[]"},
    {"x: \"f32[1]\"", "randint.low(0, 9, [3])", "i64[3]"},
    {"x: \"f32[1]\"", "randperm.default(6)", "i64[6]"},
    {"x: \"f32[2, 5]\"", "multinomial.default(x, 3)", "i64[2, 3]"},
};

static const Case numbers[] = {
    {"x: \"f32[s0, 3]\"", "sym_size.int(x, -2)", "Sym(s0)"},
    {"x: \"f32[s0, 3]\"", "sym_numel.default(x)", "Sym(3*s0)"},
    {"x: \"i64[]\"", "item.default(x)", "int"},
    {"x: \"f32[]\"", "item.default(x)", "float"},
    {"x: \"b8[1, 1]\"", "_local_scalar_dense.default(x)", "bool"},
    {"a: \"Sym(s0)\", b: \"Sym(s1)\"", "_operator.floordiv(a, 2)", "Sym((s0//2))"},
    {"a: \"Sym(s0)\", b: \"Sym(s1)\"", "torch.sym_max(a, b)", "Sym(Max(s0, s1))"},
    {"a: \"Sym(s0)\", b: \"Sym(s1)\"", "_operator.pow(a, 2)", "Sym(s0**2)"},
    {"a: \"Sym(s0)\"", "_operator.truediv(a, 2)", "float"},
    {"a: \"Sym(s0)\"", "_operator.mul(a, 0.5)", "float"},
    {"a: \"Sym(s0)\"", "_operator.ge(a, 2)", "bool"},
    {"a: \"Sym(s0)\"", "_operator.add(a, 2)", "Sym(s0 + 2)"},
    {"a: \"Sym(s0)\"", "_operator.sub(a, a)", "Sym(0)"},
    {"a: \"Sym(s0)\"", "_operator.mod(a, 4)", "Sym(Mod(s0, 4))"},
    {"a: \"Sym(s0)\"", "torch.sym_min(a, 4)", "Sym(Min(4, s0))"},
    {"a: \"Sym(s0)\"", "torch.sym_float(a)", "float"},
    {"a: \"Sym(s0)\"", "_operator.truediv(a, 4)\n    f = math.floor(r)", "Sym((s0//4))"},
    {"a: \"Sym(s0)\"", "_operator.truediv(a, 4)\n    f = math.trunc(r)", "Sym((s0//4))"},
    {"a: \"Sym(s0)\"", "_operator.truediv(a, 4)\n    f = math.ceil(r)", "Sym(((s0 + 3)//4))"},
    {"a: \"Sym(s0)\"", "_operator.neg(a)", "Sym(-s0)"},
    {"a: \"Sym(s0)\", b: \"Sym(s1)\"", "torch.sym_sum([a, b, 3])", "Sym(s0 + s1 + 3)"},
    {"x: \"b8[]\"", "_assert_async.msg(x, 'no')", "None"},
};

static const Case call_errors[] = {
    {"x: \"f32[2]\"", "relu.default(x, x)",
     "aten.relu.default takes 1 positional arguments at most, not 2"},
    {"x: \"f32[2]\"", "relu.default(x, y = 1)", "aten.relu.default has no argument 'y'"},
    {"x: \"f32[2]\"", "relu.default(x, self = x)",
     "argument 'self' of aten.relu.default is given twice"},
    {"x: \"f32[2]\"", "relu.default()", "aten.relu.default lacks its argument 'self'"},
    {"x: \"f32[2]\"", "relu.default('a')",
     "argument 'self' of aten.relu.default must be a tensor, not 'a'"},
    {"x: \"f32[2]\"", "cumsum.default(x, x)",
     "argument 'dim' of aten.cumsum.default must be an integer, not x"},
    {"x: \"f32[2]\"", "cumsum.default(x, None)",
     "argument 'dim' of aten.cumsum.default must be an integer, not None"},
    {"x: \"f32[2]\"", "cat.default([x, None])",
     "argument 'tensors' of aten.cat.default must be a list of tensors, not [x, None]"},
    {"x: \"f32[2]\"", "gelu.default(x, approximate = 1)",
     "argument 'approximate' of aten.gelu.default must be a string, not 1"},
    {"x: \"f32[2]\"", "relu.default()", "hint: aten.relu.default is declared as (Tensor self)"},
};

static const Case type_errors[] = {
    {"x", "relu.default(x)", "input x has no type: give INPUT.npy for it"},
    {"x: \"f32[2]\"", "relu.default(2)", "r = aten.relu.default: 'self' must be a tensor"},
    {"x: \"f32[2]\"", "to.dtype(x, torch.complex32)", "dtype torch.complex32 is not supported"},
    {"x: \"c64[2]\"", "relu.default(x)", "it is not supported for complex numbers"},
    {"x: \"f32[2]\"", "arange.default(4, dtype = torch.complex64)",
     "it is not supported for complex numbers"},
    {"x: \"f16[2]\"", "view_as_complex.default(x)",
     "parts of complex numbers are f32 or f64, not f16[2]"},
    {"x: \"f32[2]\"", "imag.default(x)", "f32[2] is not complex"},
    {"x: \"f32[4, 4]\"",
     "torch.ops.torchao.choose_qparams_affine.default(x, 'SYMMETRIC', [4], torch.int8)",
     "a block of 1 axes for a tensor of 2"},
    {"x: \"f32[4]\"", "torch.ops.torchao.choose_qparams_affine.default(x, 'BOTH', [4], torch.int8)",
     "parameters are chosen SYMMETRIC or ASYMMETRIC and so that 0 stays 0, not BOTH"},
    {"x: \"f32[4]\", s: \"f64[2]\", z: \"i64[1]\"",
     "torch.ops.quantized_decomposed.quantize_per_tensor.tensor(x, s, z, 0, 9, torch.uint8)",
     "item() needs one element, not f64[2]"},
    {"x: \"i8[2, 6]\", s: \"f32[2]\"",
     "torch.ops.quantized_decomposed.dequantize_per_channel_group.default(x, s, None, -8, 7, "
     "torch.int8, 0, torch.float32)",
     "a step, a part or a factor must be positive, not 0"},
    {"x: \"bf16[4, 64]\", q: \"i32[2, 2, 32, 1]\", s: \"bf16[4, 16, 2]\"",
     "_weight_int4pack_mm.default(x, q, 16, s)", "a group has 32, 64, 128 or 256 elements, not 16"},
    {"x: \"u8[16, 32]\"", "_convert_weight_to_int4pack.default(x, 3)",
     "weights are packed in 2, 4 or 8 tiles along k, not 3"},
    {"x: \"f32[4, 64]\", q: \"u8[16, 30]\", s: \"f32[2, 16, 2]\"",
     "_weight_int4pack_mm_for_cpu.default(x, q, 32, s)",
     "the inner axes must be equal, not 64 and 60"},
    {"x: \"i16[4, 4]\"", "_int_mm.default(x, x)", "a tensor of i8 is expected, not i16[4, 4]"},
    {"x: \"f32[1, 1, 8, 8]\", y: \"f32[2, 5]\"",
     "torch.ops.torchvision.roi_align.default(x, y, 1.0, 2, 3, 0, False)",
     "sampling_ratio 0 for 2 by 3 elements is not supported; give one of 1 to 1024"},
    {"x: \"f32[2]\"", "_assert_scalar.default(0, 'a size')",
     "the assertion never holds: a size"},
    {"x: \"f32[2, 2]\"", "linalg_inv_ex.default(x, check_errors = True)",
     "it is supported without check_errors"},
    {"x: \"f32[2, 2]\"", "linalg_qr.default(x, 'thin')",
     "mode is reduced, complete or r, not 'thin'"},
    {"x: \"f32[3, 2]\", y: \"f32[3]\"", "linalg_householder_product.default(x, y)",
     "3 reflections of 2 vectors"},
    {"x: \"f32[2, 4]\", i: \"i64[2]\"",
     "torch.ops.nereid.matrix.default(x, i, x, x, 'lu', [2, 3, 1, 4])",
     "there is no function 'lu' of 4 such sizes"},
    {"x: \"f32[0]\"", "fft_fft.default(x)", "a Fourier transform of 0 elements"},
    {"x: \"f32[2, 2]\"", "fft_fft2.default(x, [4])", "1 sizes for 2 axes"},
    {"x: \"f32[8]\"", "stft.default(x, 4, 0, return_complex = True)",
     "n_fft 4, hop_length 0 and win_length 4 do not go together"},
    {"x: \"f32[8]\"", "stft.default(x, 4)",
     "it is supported with return_complex=True, and without align_to_window"},
    {"x: \"f32[2]\", n: \"Sym(s0)\"", "cumsum.default(x, n)",
     "'dim' must be a literal number, not s0"},
    {"x: \"f32[2]\"", "view.default(x, [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1])", "more than 16 axes"},
    {"x: \"f32[2]\"", "softmax.int(x, 1)", "axis 1 is out of range for rank 1"},
    {"x: \"f32[]\"", "nereid.loop_test.default(x, 1)",
     "the condition of a loop is a bool without axes, not f32[]"},
    {"x: \"b8[]\", y: \"f32[2]\"", "nereid.loop_end.default(x, [x, y], [x])",
     "2 carried values, but 1 of the next iteration; a loop has at least one"},
    {"x: \"b8[]\", y: \"f32[2]\", z: \"f32[3]\"", "nereid.loop_end.default(x, [x, y], [x, z])",
     "carried value 1 is f32[2] at first and f32[3] after an iteration; real values of one type "
     "are supported"},
    {"x: \"f32[2]\"", "nereid.sort.default(x, 65535)", "axis 65535 is out of range for rank 1"},
    {"x: \"f32[2]\"", "sum.dim_IntList(x, [0, -1])", "axis -1 is given twice"},
    {"x: \"f32[2, 3, 3]\"", "linalg_matrix_norm.default(x, 2.0, [1, -2])", "axis 1 is given twice"},
    {"x: \"f32[2, 3, 3]\"", "rot90.default(x, 2, [2, 2])", "axis 2 is given twice"},
    {"x: \"f32[2]\"", "mT.default(x)", "a tensor of 2 to 16 axes is expected, not f32[2]"},
    {"x: \"f32[2]\"", "_foreach_mul.List([x, x], [x])",
     "the lists have 2 and 1 items, those of 'other'"},
    {"x: \"f32[2]\", m: \"f32[1]\"",
     "native_layer_norm_backward.default(x, x, [2], m, m, None, None, [True])",
     "output_mask has no item 2"},
    {"x: \"f32[2]\"", "constant_pad_nd.default(x, [0, -3])",
     "the result would have a negative size: [-1]"},
    {"x: \"f32[2, 3]\", y: \"f32[4, 5]\"", "mm.default(x, y)",
     "the inner axes must be equal, not 3 and 4"},
    {"x: \"f32[s0, 3]\"", "split.Tensor(x, 2)",
     "axis 0 of f32[s0, 3] must have a fixed size: export the model with one"},
    {"x: \"f32[2, 3]\", y: \"f32[2, 4]\"", "add.Tensor(x, y)",
     "[2, 4] does not broadcast with [2, 3]: 4 is not 3"},
    {"x: \"f32[s0]\", y: \"f32[s0 + 1]\"", "add.Tensor(x, y)",
     "[s0 + 1] does not broadcast with [s0]: s0 + 1 is not s0"},
    {"x: \"f32[2, 3]\"", "expand.default(x, [2, 4])", "[2, 3] cannot be expanded to [2, 4]"},
    {"x: \"f32[2]\", y: \"f32[3, 2]\"", "add_.Tensor(x, y)", "[3, 2] cannot be expanded to [2]"},
    {"x: \"u16[2]\", y: \"i32[2]\"", "add.Tensor(x, y)",
     "u16 and i32 have no common dtype: cast one of them"},
    {"x: \"f32[2, 2]\", y: \"f16[2, 2]\"", "mm.default(x, y)",
     "both must be of one dtype, not f32 and f16"},
    {"x: \"i64[2]\"", "mean.default(x)", "floats are needed, not i64"},
    {"x: \"f32[2]\"", "bitwise_and.Scalar(x, 1)", "integers are needed, not f32"},
    {"x: \"b8[2]\"", "sub.Tensor(x, x)",
     "it is not defined on bools: use logical_not or logical_xor"},
    {"x: \"f32[3]\"", "glu.default(x)", "3 is not a multiple of 2"},
    {"x: \"f32[3]\"", "hsplit.int(x, 2)", "3 is not a multiple of 2"},
    {"x: \"f32[3]\"", "tensor_split.sections(x, 99999)",
     "the result has 99999 parts: at most 16384 are supported"},
    {"x: \"f32[3, 3]\"", "linalg_norm.default(x, 3)",
     "the norm of a matrix has two axes and the order 1, 2, inf, -1, -2, -inf, 'fro' or 'nuc'"},
    {"x: \"f32[3]\"", "segment_reduce.default(x, 'sum')",
     "segments are given by 'lengths' or by 'offsets', and reduced by sum, mean, prod, max or min"},
    {"x: \"f32[1, 4, 6]\"", "max_pool1d.default(x, [3], [1], [2])",
     "the padding 2 must be from 0 to half of the window, which is 3"},
    {"x: \"f32[2]\"", "div.Scalar_mode(x, 2, rounding_mode = 'ceil')",
     "rounding_mode is 'floor' or 'trunc', not 'ceil'"},
    {"x: \"f32[6]\"", "narrow.default(x, 0, 4, 3)",
     "3 elements from index 4 exceed axis 0 of f32[6]"},
    {"x: \"f32[6]\"", "as_strided.default(x, [2, 2], [1])", "1 strides for 2 sizes"},
    {"x: \"f32[6]\"", "as_strided.default(x, [2, 2], [5, 1])",
     "element 6 may be out of the bounds of f32[6]"},
    {"x: \"f32[6]\"", "as_strided.default(x, [2], [-1], 3)",
     "element 2 may be out of the bounds of f32[6]"},
    {"x: \"f32[s0]\"", "as_strided.default(x, [2], [1])",
     "element 1 may be out of the bounds of f32[s0]"},
    {"x: \"f32[6]\"", "expand.default(x, [4611686018427387904, 6])",
     "the number of elements overflows 64 bits, or has too long an expression"},
    {"x: \"i64[2]\"", "div_.Tensor(x, 2)", "a result of f32 cannot be written to a tensor of i64"},
    {"x: \"f32[2]\"", "where.self(x, x, x)", "the condition must be of bools, not of f32"},
    {"x: \"f32[2]\"", "clamp.default(x)", "one of min and max must be given"},
    {"x: \"f32[6]\"", "view.default(x, [4, -1])", "[6] does not have the elements of [4, 1]"},
    {"x: \"f32[6]\"", "view.default(x, [-1, -1])", "more than one size is -1: [-1, -1]"},
    {"x: \"f32[6]\"", "view.default(x, [7])", "[6] does not have the elements of [7]"},
    {"x: \"f32[6, 2]\"", "flatten.using_ints(x, 1, 0)", "axis 1 is after axis 0"},
    {"x: \"f32[6, 2]\"", "repeat.default(x, [2])",
     "1 repetitions for f32[6, 2], which has more axes"},
    {"x: \"f32[6, 2]\"", "permute.default(x, [0])", "1 axes for f32[6, 2]"},
    {"x: \"f32[6]\"", "slice.Tensor(x, 0, 0, 6, 0)",
     "a step, a part or a factor must be positive, not 0"},
    {"x: \"f32[6]\"", "select.int(x, 0, 6)", "index 6 is outside of axis 0 of f32[6]"},
    {"x: \"f32[6]\", i: \"i64[1]\"", "index.Tensor(x, [i, i])",
     "2 indices do not fit f32[6], or are all None"},
    {"x: \"f32[6]\"", "index_select.default(x, 0, x)", "indices must be of i64 or i32, not of f32"},
    {"x: \"f32[6]\"", "bincount.default(x)", "a tensor of integers is expected, not f32"},
    {"x: \"i64[6]\", w: \"f32[5]\"", "bincount.default(x, w)",
     "weights f32[5] are not one for each element of i64[6]"},
    {"x: \"f32[1000000]\"", "unbind.int(x)",
     "the result has 1000000 parts: at most 16384 are supported"},
    {"x: \"f32[1]\"", "cat.default([])", "the list of tensors is empty"},
    {"x: \"f32[2, 3]\", y: \"f32[4, 4]\"", "cat.default([x, y])",
     "[2, 3] and f32[4, 4] differ in axes other than 0"},
    {"x: \"f32[1, 4]\", s: \"f32[3]\"", "diagonal_scatter.default(x, s, 1)",
     "sizes of src and the diagonals must be equal, not 3 and 1"},
    {"x: \"f32[2, 5, 8]\"", "unfold_backward.default(x, [2, 30], 1, 8, 3)",
     "windows must be equal, not 5 and 8"},
    {"x: \"f32[2, 5, 8]\"", "unfold_backward.default(x, [2, 20], 1, 7, 3)",
     "the last axis and size must be equal, not 8 and 7"},
    {"x: \"f32[2]\"", "pad.default(x, [1])", "1 sizes of padding do not fit f32[2]"},
    {"x: \"f32[2, 3]\"", "reflection_pad1d.default(x, [0, 3])",
     "a padding of 3 is not below the size 3 that it reflects"},
    {"x: \"f32[2, 0]\"", "argmax.default(x, 1)",
     "no elements to choose from along axis 1 of f32[2, 0]"},
    {"x: \"f32[1, 2, 4, 0]\"", "upsample_nearest2d.vec(x, [8, 6], None)",
     "no elements to choose from along axis 3 of f32[1, 2, 4, 0]"},
    {"x: \"f32[2, 0, 4]\"", "adaptive_avg_pool2d.default(x, [2, 2])",
     "no elements to choose from along axis 1 of f32[2, 0, 4]"},
    {"x: \"f32[2, 0]\"", "pad.default(x, [1, 1], 'circular')",
     "no elements to choose from along axis 1 of f32[2, 0]"},
    {"x: \"f32[2, 0]\"", "replication_pad1d.default(x, [1, 1])",
     "no elements to choose from along axis 1 of f32[2, 0]"},
    {"x: \"i8[2, 2]\"", "addmm.default(x, x, x, alpha = 0.5)", "integers are needed, not a float"},
    {"x: \"f16[2, 4]\", w: \"f64[4]\"", "prelu.default(x, w)",
     "both must be of one dtype, not f16 and f64"},
    {"x: \"f32[2]\"", "topk.default(x, 3)", "k = 3 is more than f32[2] has along axis 0"},
    {"x: \"f32[2, 4]\", w: \"f32[5]\"", "rms_norm.default(x, [4], w)",
     "weight is f32[5], but [4] is normalized"},
    {"x: \"f32[2, 4]\"", "einsum.default('i->i', [x])",
     "the equation 'i->i' does not fit the tensors"},
    {"q: \"f32[2, 7, 4, 4]\", k: \"f32[2, 2, 4, 4]\"",
     "scaled_dot_product_attention.default(q, k, k, enable_gqa = True)",
     "the heads of f32[2, 7, 4, 4] are not a multiple of those of f32[2, 2, 4, 4]"},
    {"q: \"f32[2, 7, 4, 4]\", k: \"f32[2, 2, 4, 4]\"",
     "nereid.attention.default(q, k, k, scale = 1.0)",
     "the heads of f32[2, 7, 4, 4] are not a multiple of those of f32[2, 2, 4, 4]"},
    {"q: \"f32[2, 4, 3, 8]\"", "nereid.attention.default(q, q, q, scale = 1.0, splits = 0)",
     "a step, a part or a factor must be positive, not 0"},
    {"q: \"f32[4, 3, 8]\"", "nereid.attention.default(q, q, q, scale = 1.0)",
     "a tensor of rank 4 is expected, not f32[4, 3, 8]"},
    {"x: \"f32[2, 2]\"", "_grouped_mm.default(x, x)",
     "groups of a matrix need 'offs', their ends, and two batches of matrices have none"},
    {"x: \"f32[2, 2, 2]\", o: \"i32[2]\"", "_grouped_mm.default(x, x, o)",
     "groups of a matrix need 'offs', their ends, and two batches of matrices have none"},
    {"x: \"f32[2, 2]\", o: \"i64[2]\"", "_grouped_mm.default(x, x, o)",
     "'offs' has dtype i64: i32 is needed"},
    {"x: \"f32[9, 4]\", y: \"f32[3, 4, 5]\", o: \"i32[2]\"", "_grouped_mm.default(x, y, o)",
     "the batch axes must be equal, not 2 and 3"},
    {"x: \"f32[3, 9, 4]\", y: \"f32[4, 5]\", o: \"i32[3, 1]\"",
     "_grouped_mm.default(x, y, o)", "a tensor of rank 1 is expected, not i32[3, 1]"},
    {"x: \"f32[3, 9, 4]\", y: \"f32[3, 4, 5]\", e: \"i64[3]\"",
     "nereid.ended_bmm.default(x, y, e)", "'offs' has dtype i64: i32 is needed"},
    {"x: \"f32[9, 4]\", y: \"f32[4, 5]\"", "nereid.parted_mm.default(x, y, 0)", "0"},
    {"x: \"i32[2, 2]\", o: \"i32[2]\"", "_grouped_mm.default(x, x, o)",
     "these products of groups are of floats of 16 bits or more, not of i32"},
    {"x: \"f32[2, 2]\", o: \"i32[2]\", b: \"f32[2]\"", "_grouped_mm.default(x, x, o, b)",
     "products of groups have no bias, and their result has no scale"},
    {"x: \"f16[2, 2]\", o: \"i32[2]\", s: \"f32[4]\"",
     "_scaled_grouped_mm.default(x, x, s, s, o)",
     "these products of groups are of floats of 8 bits, not of f16"},
    {"x: \"f8e4m3fn[16, 256]\", y: \"f8e5m2[256, 8]\", s: \"f32[16, 3]\", t: \"f32[3, 8]\"",
     "_scaled_mm.default(x, y, s, t)",
     "scales of f32[16, 3] and f32[3, 8]: products of f8e4m3fn[16, 256] by f8e5m2[256, 8] take "
     "one for each operand, one for each row and column, or one for blocks of 1 by 128 or 128 by "
     "128 elements"},
    {"x: \"f8e4m3fn[16, 256]\", y: \"f8e5m2[256, 8]\", s: \"f32[1, 2]\", t: \"f32[2, 1]\"",
     "_scaled_mm.default(x, y, s, t)",
     "scales of f32[1, 2] and f32[2, 1]: products of f8e4m3fn[16, 256] by f8e5m2[256, 8] take "
     "one for each operand, one for each row and column, or one for blocks of 1 by 128 or 128 by "
     "128 elements"},
    {"x: \"f8e4m3fn[16, 256]\", y: \"f8e5m2[256, 8]\", s: \"f16[16, 2]\", t: \"f32[2, 8]\"",
     "_scaled_mm.default(x, y, s, t)", "a tensor of f32 is expected, not f16[16, 2]"},
    {"x: \"f8e4m3fn[16, 256]\", y: \"f8e5m2[256, 8]\", s: \"f32[16, 2]\", t: \"f32[2, 8]\"",
     "nereid.float8_mm.default(x, y, s, t, columns = 128)",
     "scales of f32[16, 2] and f32[2, 8]: products of f8e4m3fn[16, 256] by f8e5m2[256, 8] take "
     "one for each operand, one for each row and column, or one for blocks of 1 by 128 or 128 by "
     "128 elements"},
    {"x: \"f8e4m3fn[16, 256]\", y: \"f8e5m2[256, 8]\", s: \"f32[16, 16]\", t: \"f32[8, 16]\"",
     "_scaled_mm_v2.default(x, y, [s], [2], [0], [t], [2], [0], None, None)",
     "'recipe_a' is no single scale of the whole, of rows, or of blocks of 1 by 128 or 128 by 128 "
     "elements"},
    {"x: \"f8e4m3fn[2, 2]\", o: \"i32[2]\", s: \"f16[4]\"",
     "_scaled_grouped_mm.default(x, x, s, s, o)", "scales have dtype f16: f32 is needed"},
    {"x: \"f8e4m3fn[2, 2]\", o: \"i32[2]\", s: \"f32[2]\"",
     "_scaled_grouped_mm.default(x, x, s, s, o)",
     "the scales and what they are of must be equal, not 2 and 4"},
    {"x: \"f32[1, 1, 4, 4]\"", "avg_pool2d.default(x, [1, 2, 3])",
     "'kernel_size' has 3 items: one, or 2 are needed"},
    {"x: \"f32[1, 4, 9]\", w: \"f32[6, 4, 3]\"", "conv1d.padding(x, w, padding = 'full')",
     "padding is 'same' or 'valid', not 'full'"},
    {"x: \"f32[1, 4, 9]\", w: \"f32[6, 4, 3]\"",
     "conv1d.padding(x, w, stride = 2, padding = 'same')", "padding 'same' needs strides of 1"},
    {"x: \"f32[1, 4, 2]\"", "upsample_nearest1d.vec(x, None, None)",
     "one of output_size and scale_factors must be given"},
    {"x: \"f32[1, 4, 2]\", w: \"f32[6, 4, 3]\"", "conv1d.default(x, w)",
     "the window of 3 is larger than the padded size of 2"},
    {"x: \"f32[5, 2, 4]\", h: \"f32[1, 2, 3]\", w: \"f32[9, 4]\", u: \"f32[9, 3]\"",
     "gru.input(x, h, [w, u], True, 1, 0.0, False, False, False)",
     "2 weights or states are given; 4 are needed"},
    {"x: \"f32[5, 2, 4]\", h: \"f32[1, 2, 3]\", w: \"f32[9, 4]\", u: \"f32[9, 3]\"",
     "lstm.input(x, [h], [w, u], False, 1, 0.0, False, False, False)",
     "1 weights or states are given; 2 are needed"},
    {"x: \"f32[5, 2, 4]\", h: \"f32[1, 2, 3]\", w: \"f32[9, 4]\", u: \"f32[9, 4]\"",
     "gru.input(x, h, [w, u], False, 1, 0.0, False, False, False)",
     "the columns of a weight and its operand"},
    {"x: \"f32[5, 2, 9]\", h: \"f32[2, 3]\", w: \"f32[9, 3]\"",
     "nereid.recurrent.default(x, h, None, w, None, None, 'mgu', False)",
     "a recurrent layer's kind is 'tanh', 'relu', 'gru' or 'lstm', not 'mgu'"},
    {"x: \"f32[5, 2, 12]\", h: \"f32[2, 3]\", w: \"f32[12, 3]\"",
     "nereid.recurrent.default(x, h, None, w, None, None, 'lstm', False)",
     "1 weights or states are given; 2 are needed"},
    {"x: \"f32[5, 2, 9]\", h: \"f32[2, 3]\", w: \"f32[9, 3]\", b: \"f32[8]\"",
     "nereid.recurrent.default(x, h, None, w, b, None, 'gru', False)",
     "a recurrent layer's operands"},
    {"x: \"f32[1, 4, 2]\"", "upsample_nearest1d.vec(x, None, [-1.0])",
     "a scale must be positive and below 2^24, not -1"},
    {"x: \"f32[1]\"", "arange.start(3.5, 1)", "the range would have -2 items"},
    {"x: \"f32[]\"", "native_group_norm.default(x, None, None, 2, 4, 8, 2, 1e-05)",
     "a tensor of 2 to 16 axes is expected, not f32[]"},
    {"x: \"f32[2, 4, 8]\"", "native_group_norm.default(x, None, None, 2, 4, 8, 3, 1e-05)",
     "4 is not a multiple of 3"},
    {"x: \"f32[4, 5]\"", "channel_shuffle.default(x, 2)",
     "a tensor of 3 to 15 axes is expected, not f32[4, 5]"},
    {"x: \"f32[]\", g: \"f32[4]\"", "_weight_norm.default(x, g)",
     "f32[4] cannot be expanded to f32[]"},
    {"a: \"Sym(s0)\"", "_operator.mod(a, -9223372036854775808)", "overflows 64 bits"},
    {"x: \"f32[4]\", y: \"f32[4]\"", "mse_loss.default(x, y, 3)",
     "reduction must be 0 (none), 1 (mean) or 2 (sum), not 3"},
    {"x: \"f32[4, 5]\", i: \"i64[]\"", "gather.default(x, 1, i)",
     "a tensor of rank 2 is expected, not i64[]"},
    {"x: \"f32[2, 3]\", w: \"f32[2]\"", "prelu.default(x, w)",
     "the channels and weights must be equal, not 3 and 2"},
    {"x: \"f32[2, 4]\", y: \"f64[2, 4]\"", "cdist.default(x, y)", "f64"},
    {"x: \"f32[2]\"", "item.default(x)", "item() needs one element, not f32[2]"},
    {"a: \"Sym(s0)\"", "_operator.floordiv(a, 0)", "division by zero"},
};

/* ---- graphs ---- */

static void test_list_items(void) {
  Context c = context_new();
  Graph *g = read_graph(&c, "items",
                        "def forward(self, x: \"f32[4, 6]\"):\n"
                        "    c = torch.ops.aten.chunk.default(x, 2, 1)\n"
                        "    a = c[0]\n"
                        "    b = c[2]\n"
                        "    d = x[0]\n"
                        "    e: \"f32[4, 4]\" = torch.ops.aten.relu.default(a)\n"
                        "    f: \"f32[s0, 3]\" = torch.ops.aten.relu.default(a)\n"
                        "    return (f,)\n");
  check(g && !infer_graph(g), "errors in a graph");
  const char *text = messages(&c);
  check(strstr(text, "b = getitem: index 2 is out of range for 2"), "no such item");
  check(strstr(text, "d = getitem: getitem takes a list and a literal index"), "no list");
  check(strstr(text, "e is annotated f32[4, 4], but is f32[4, 3]"), "a wrong annotation");
  check(diag_errors(c.diags) == 3, "an annotation that may be right is taken");
  arena_free(c.arena);
}

/* What an annotation alone names is what inference knows; an argument cannot be known. */
static void test_open_symbols(void) {
  Context c = context_new();
  Graph *g = read_graph(&c, "symbols",
                        "def forward(self, x: \"f32[s0]\"):\n"
                        "    y: \"f32[s9]\" = torch.ops.aten.relu.default(x)\n"
                        "    n: \"Sym(s9)\" = torch.ops.aten.sym_size.int(y, 0)\n"
                        "    z = torch.ops.aten.full.default([n], 2*s0)\n"
                        "    w = torch.ops.aten.full.default([], 2*s9 - 1)\n"
                        "    return (z, w)\n");
  check(g && !infer_graph(g), "a size without a meaning");
  check(strstr(messages(&c),
               "5:5: error: size 2*s9 - 1 is unknown: no input and no earlier value "
               "has its symbols"),
        "it is named");
  check(diag_errors(c.diags) == 1, "others have one");
  for (Node *n = g->first->next; n->kind != NODE_OUTPUT && n->id < 4; n = n->next)
    check(n->type.kind == VALUE_INT ? n->type.value == g->first->type.shape[0]
                                    : n->type.shape[0] == g->first->type.shape[0],
          n->name);
  arena_free(c.arena);
}

static void test_unknown_op(void) {
  Context c = context_new();
  Graph *g = read_graph(&c, "unknown",
                        "def forward(self, x: \"f32[4]\"):\n"
                        "    y = torch.ops.mine.op.default(x)\n"
                        "    z = torch.ops.aten.relu.default(x)\n"
                        "    return (y, z)\n");
  check(g && !infer_graph(g) && !diag_errors(c.diags), "an op that the table lacks is passed over");
  check(g && g->last->prev->type.kind == VALUE_TENSOR, "what is behind it is not");
  arena_free(c.arena);
}

static char *read_text(const char *path) {
  FILE *f = fopen(path, "rb");
  char *text = NULL;
  size_t cap = 0;
  ssize_t n = f ? getdelim(&text, &cap, 0, f) : -1;
  if (f) fclose(f);
  if (n >= 0) return text;
  free(text);
  return NULL;
}

static const char *value_text(Context *c, const ValueType *t) {
  Text out = text_new(c->arena);
  value_type_print(&out, t);
  return out.data ? out.data : "";
}

/* Inference without annotations gives what they say. */
static void test_model(const char *path) {
  Context c = context_new();
  char *text = read_text(path);
  Graph *g = text ? read_graph(&c, path, text) : NULL;
  check(g && infer_graph(g), path);
  uint32_t n = 0;
  ValueType *said = g ? ARENA_ARRAY(c.arena, ValueType, g->nids) : NULL;
  for (Node *at = g ? g->first : NULL; at; at = at->next) {
    said[at->id] = at->type;
    if (at->kind != NODE_INPUT) at->type = (ValueType){0};
  }
  check(g && infer_graph(g), path);
  for (Node *at = g ? g->first : NULL; at; at = at->next) {
    if (said[at->id].kind == VALUE_LIST || at->kind == NODE_OUTPUT) continue;
    bool same = value_type_eq(&said[at->id], &at->type);
    check(same, path);
    if (!same)
      printf("-- %s: got %s want %s\n", at->name, value_text(&c, &at->type),
             value_text(&c, &said[at->id]));
    n++;
  }
  check(n > 4, "a model has nodes");
  if (diag_errors(c.diags)) printf("%s", messages(&c));
  free(text);
  arena_free(c.arena);
}

static void test_models(void) {
  glob_t found;
  check(!glob("tests/models/*/readable.txt", 0, NULL, &found) && found.gl_pathc,
        "there are models");
  for (size_t i = 0; i < found.gl_pathc; i++) test_model(found.gl_pathv[i]);
  globfree(&found);
}

/* ---- what PyTorch says: tests/graph/calls/make.py ---- */

typedef void OnCall(Context *c, char *fields[3]);

/* Calls f for each line: parameters, a call, and its type, separated by tabs. */
static void each_line(FILE *file, OnCall *f) {
  char *line = NULL;
  size_t cap = 0;
  for (ssize_t n; (n = getline(&line, &cap, file)) > 0;) {
    Context c = context_new();
    char *at = line, *fields[3] = {0};
    line[strcspn(line, "\n")] = 0;
    for (int i = 0; i < 3; i++) fields[i] = strsep(&at, "\t");
    if (fields[1]) f(&c, fields);
    arena_free(c.arena);
  }
  free(line);
}

static void check_call(Context *c, char *fields[3]) {
  const char *got = infer_call(c, fields[0], fields[1]);
  bool same = fields[2] && !strcmp(got, fields[2]);
  check(same, fields[1]);
  if (!same) printf("-- got %s\n-- want %s\n", got, fields[2]);
}

static void test_recorded_calls(void) {
  FILE *file = fopen("tests/graph/calls/calls.txt", "r");
  check(file, "calls.txt is there");
  if (!file) return;
  each_line(file, check_call);
  fclose(file);
}

/* For make.py: the type of each call, or an error. */
static void print_call(Context *c, char *fields[3]) {
  const char *got = infer_call(c, fields[0], fields[1]);
  bool failed_call = diag_errors(c->diags);
  printf("%s%s\n", failed_call ? "error " : "", failed_call ? diag_get(c->diags, 0)->text : got);
}

/* ---- any call at all: a type or an error, never a crash ---- */

typedef struct {
  Graph *g;
  uint64_t state;
  Node *values[26];
  uint32_t nvalues;
} Random;

static uint32_t draw(Random *r, uint32_t n) {
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(r->state >> 33) % n;
}

static Dim draw_size(Random *r) {
  static const int64_t sizes[] = {0, 1, 1, 2, 2, 3, 4, 6, INT64_MAX};
  if (draw(r, 4)) return dim_int(r->g->dims, sizes[draw(r, 9)]);
  Dim s = dim_symbol(r->g->dims, pool_name(r->g->names, draw(r, 2) ? "s0" : "s1"));
  return draw(r, 2) ? s : dim_mul(r->g->dims, s, dim_int(r->g->dims, 4));
}

static void add_value(Random *r, ValueType type) {
  Node *n = graph_node(r->g, NODE_INPUT, NULL, 0, 0);
  n->type = type;
  graph_fresh_name(r->g, n, "x");
  r->values[r->nvalues++] = n;
}

static void add_values(Random *r) {
  static const DType dtypes[] = {DT_F32, DT_F32, DT_F32, DT_F32, DT_F16,
                                 DT_I64, DT_I64, DT_I1,  DT_U8};
  while (r->nvalues < 20) {
    Dim shape[GRAPH_RANK_MAX];
    uint32_t rank = draw(r, 8) ? draw(r, 6) : GRAPH_RANK_MAX;
    for (uint32_t i = 0; i < rank; i++) shape[i] = draw_size(r);
    add_value(r, value_tensor(r->g, dtypes[draw(r, 9)], rank, shape));
  }
  for (uint32_t i = 0; i < 2; i++) {
    Dim shape[] = {draw_size(r), draw_size(r)};
    ValueType parts = value_tensor(r->g, i ? DT_F64 : DT_F32, draw(r, 3), shape);
    parts.is_complex = true;
    add_value(r, parts);
  }
  add_value(r, (ValueType){.kind = VALUE_INT, .value = draw_size(r)});
  add_value(r, (ValueType){.kind = VALUE_INT});
  add_value(r, (ValueType){.kind = VALUE_FLOAT});
  add_value(r, (ValueType){.kind = VALUE_BOOL});
}

static Arg draw_node(Random *r, bool number) {
  return arg_node(r->values[number ? 22 + draw(r, 4) : draw(r, 22)]);
}

static Arg draw_int(Random *r) {
  static const int64_t ints[] = {-3, -2, -1, -1, 0, 0,  0,         1,        1,
                                 1,  2,  2,  3,  4, 17, INT64_MAX, INT64_MIN};
  if (!draw(r, 12)) return draw_node(r, true);
  return arg_int(r->g, ints[draw(r, 17)]);
}

static Arg draw_number(Random *r) {
  static const double numbers[] = {0, -1.5, 0.5, 2, 1e300, -1e300};
  if (draw(r, 2)) return draw_int(r);
  return (Arg){.kind = ARG_FLOAT, .number = numbers[draw(r, 6)]};
}

static Arg draw_one(Random *r, ParamType type) {
  static const char *const words[] = {"same",    "valid", "floor", "ij,jk->ik",
                                      "...i->i", "ii",    "mean"};
  switch (type) {
    case PARAM_TENSOR: return draw(r, 12) ? draw_node(r, false) : draw_number(r);
    case PARAM_INT: return draw_int(r);
    case PARAM_BOOL: return (Arg){.kind = ARG_BOOL, .flag = draw(r, 2)};
    case PARAM_STRING:
      return (Arg){.kind = ARG_STRING, .name = pool_name(r->g->names, words[draw(r, 7)])};
    case PARAM_DTYPE:
      return (Arg){.kind = ARG_DTYPE,
                   .dtype = draw(r, 8) ? DT_F16 : DT_NONE,
                   .name = pool_name(r->g->names, "complex64")};
    case PARAM_FLOAT:
    case PARAM_SCALAR: return draw_number(r);
    case PARAM_DEVICE:
      return (Arg){.kind = ARG_DEVICE, .device = {pool_name(r->g->names, "cpu"), -1}};
    default: return arg_none();
  }
}

static Arg draw_list(Random *r, ParamType item) {
  Arg list = arg_list(r->g, draw(r, 12) ? draw(r, 5) : 18);
  for (uint32_t i = 0; i < list.n; i++)
    list.items[i] = item == PARAM_TENSOR && !draw(r, 4) ? arg_none() : draw_one(r, item);
  return list;
}

static Arg draw_arg(Random *r, const OpParam *p) {
  if (p->has_default && draw(r, 3)) return p->dflt;
  if (p->optional && draw(r, 3)) return arg_none();
  switch (p->type) {
    case PARAM_TENSORS: return draw_list(r, PARAM_TENSOR);
    case PARAM_INTS: return p->repeat && !draw(r, 4) ? draw_int(r) : draw_list(r, PARAM_INT);
    case PARAM_FLOATS: return draw_list(r, PARAM_FLOAT);
    default: return draw_one(r, p->type);
  }
}

static bool sound(const ValueType *t) {
  if (t->kind == VALUE_LIST) {
    for (uint32_t i = 0; i < t->nitems; i++)
      if (!sound(&t->items[i])) return false;
    return true;
  }
  bool ok = t->kind != VALUE_UNKNOWN && t->rank <= GRAPH_RANK_MAX;
  for (uint32_t i = 0; ok && i < t->rank; i++)
    ok = t->shape[i] && (!dim_is_int(t->shape[i]) || t->shape[i]->value >= 0);
  return ok && (t->kind != VALUE_TENSOR || t->dtype != DT_NONE);
}

static bool result_fits(const OpSchema *s, const ValueType *t) {
  if (!s->nresults) return t->kind == VALUE_NONE;
  if (s->list) return t->kind == VALUE_LIST;
  return s->nresults == 1 ? t->kind != VALUE_LIST : t->nitems == s->nresults;
}

/* *good: it has a type.  False if neither a proper type nor one error came of it. */
static bool random_call(Random *r, const GraphOp *op, bool *good) {
  const OpSchema *s = ops_schema(r->g, op);
  uint32_t npositional = s->npositional, nnamed = s->nparams - npositional;
  Node *n = graph_node(r->g, NODE_CALL, NULL, npositional, nnamed);
  n->op = op;
  for (uint32_t i = 0; i < npositional; i++) n->args[i] = draw_arg(r, &s->params[i]);
  for (uint32_t i = 0; i < nnamed; i++) {
    const OpParam *p = &s->params[npositional + i];
    n->named[i] = (NamedArg){p->name, draw_arg(r, p)};
  }
  ValueType type = {0};
  size_t errors = diag_errors(r->g->diags);
  *good = infer_node(r->g, n, &type);
  graph_remove(r->g, n);
  if (!*good) return diag_errors(r->g->diags) == errors + 1;
  return sound(&type) && result_fits(s, &type);
}

static void test_random_calls(void) {
  enum { CALLS = 500 };
  uint32_t never = 0;
  for (uint32_t i = 0; i < OP_UNKNOWN; i++) {
    Context c = context_new();
    Random r = {.g = graph_new(c.arena, c.names, c.diags), .state = i};
    uint32_t good = 0, right = 0;
    add_values(&r);
    for (int k = 0; k < CALLS; k++) {
      bool ok = false;
      right += random_call(&r, ops_at((OpId)i), &ok);
      good += ok;
    }
    check(right == CALLS, ops_at((OpId)i)->target);
    never += !good;
    arena_free(c.arena);
  }
  check(never < OP_UNKNOWN / 8, "most operators are called rightly now and then");
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "-")) {
    each_line(stdin, print_call);
    return 0;
  }
  test_table();
  test_schemas();
  test_arguments();
  test_types(promotion, COUNT(promotion));
  test_types(broadcasting, COUNT(broadcasting));
  test_types(reductions, COUNT(reductions));
  test_types(normalizations, COUNT(normalizations));
  test_types(views, COUNT(views));
  test_types(products, COUNT(products));
  test_types(images, COUNT(images));
  test_types(indexing, COUNT(indexing));
  test_types(creation, COUNT(creation));
  test_types(numbers, COUNT(numbers));
  test_errors(call_errors, COUNT(call_errors));
  test_errors(type_errors, COUNT(type_errors));
  test_list_items();
  test_open_symbols();
  test_unknown_op();
  test_models();
  test_recorded_calls();
  test_random_calls();
  return report();
}
