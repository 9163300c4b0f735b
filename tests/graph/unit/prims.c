/* Primitives: indices of views, expressions of pointwise ops.
 *
 *   build/tests/graph/unit/prims                     what `make check` runs
 *   build/tests/graph/unit/prims GRAPH.py [S=N...]   for each primitive of a graph what it is
 *
 * tests/graph/prims.py compares the second form with NumPy: for a view, the number of the element
 * of the operand for each of its own, with the symbols S being N; for a pointwise op its dtypes and
 * its expression. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ops/graph_text.h"
#include "graph/ops/infer.h"
#include "graph/ops/prims.h"
#include "import/text/text_forms.h"
#include "tests/support/tally.h"

typedef struct {
  Arena *arena;
  Pool *names;
  Diags *diags;
  Graph *g;
} Context;

static Context read_graph(const char *name, const char *text) {
  Context c = {.arena = arena_new()};
  c.names = pool_new(c.arena);
  c.diags = diags_new(c.arena);
  uint32_t file = diag_source(c.diags, pool_name(c.names, name), text, strlen(text));
  c.g = graph_read_text(c.arena, c.names, c.diags, file);
  if (c.g && !infer_graph(c.g)) c.g = NULL;
  Text t = text_new(c.arena);
  diag_print(c.diags, &t);
  if (t.data) printf("%s", t.data);
  return c;
}

/* ---- describing a graph ---- */

static void set_symbols(Graph *g, char **settings, int64_t *values) {
  for (; *settings; settings++) {
    const char *eq = strchr(*settings, '=');
    Name name = pool_namen(g->names, *settings, (size_t)(eq - *settings));
    values[dim_symbol(g->dims, name)->symbol] = atoll(eq + 1);
  }
}

static int64_t value_of(Dim x, const int64_t *values) {
  int64_t v = INT64_MIN;
  return dim_eval(x, values, &v) ? v : INT64_MIN;
}

/* The numbers of the elements of the operand, in the order of the view's elements. */
static void describe_view(Graph *g, const Node *n, int64_t *values) {
  const ValueType *t = &n->type, *of = &view_operand(n)->type;
  Dim at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < t->rank; i++) {
    at[i] = dim_index(g->dims, "i", t->shape[i]);
    values[at[i]->symbol] = 0;
  }
  view_index(g, n, at, from);
  Dim linear = linear_of_index(g->dims, from, of->shape, of->rank);
  int64_t count = value_of(value_numel(g, t), values);
  printf("view %s", n->name);
  for (int64_t k = 0; k < count; k++) {
    int64_t left = k;
    for (uint32_t i = t->rank; i-- > 0;) {
      int64_t size = value_of(t->shape[i], values);
      values[at[i]->symbol] = left % size;
      left /= size;
    }
    printf(" %lld", (long long)value_of(linear, values));
  }
  printf("\n");
}

/* Literals as they would stand in a kernel. */
static void print_operand(const Arg *a, DType t) {
  Arena *arena = arena_new();
  Text out = text_new(arena);
  if (a->kind == ARG_NODE) text_puts(&out, a->node->name);
  else if (a->kind == ARG_INT && dtype_is_float(t))
    text_printf(&out, "%lld.0", (long long)a->dim->value);
  else arg_print(&out, a);
  printf(" %s:%s", out.data, dtype_lang_name(t));
  arena_free(arena);
}

static void describe_pointwise(Graph *g, const Node *n) {
  Pointwise p = pointwise_of(g, n);
  printf("pointwise %s %s %s %u", n->name, dtype_lang_name(p.compute),
         dtype_lang_name(n->type.dtype), p.noperands);
  for (uint32_t i = 0; i < p.noperands; i++) print_operand(&p.operands[i], p.dtypes[i]);
  printf(" | %s\n", p.text);
}

static int describe(const char *path, char **settings) {
  FILE *f = fopen(path, "r");
  static char text[1 << 20];
  if (!f) return 1;
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  Context c = read_graph(path, text);
  static int64_t values[1 << 14];
  if (!c.g) return 1;
  set_symbols(c.g, settings, values);
  for (Node *n = c.g->first; n; n = n->next) {
    if (n->type.kind != VALUE_TENSOR || n->kind == NODE_INPUT) continue;
    PrimKind kind = n->kind == NODE_GETITEM ? PRIM_VIEW : prim_kind(n->op);
    if (kind == PRIM_VIEW) describe_view(c.g, n, values);
    if (kind == PRIM_POINTWISE) describe_pointwise(c.g, n);
  }
  arena_free(c.arena);
  return 0;
}

/* ---- indices and linear indices ---- */

static uint64_t state = 88172645463325252u;

static uint32_t pick(uint32_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 33) % n;
}

static Dim random_size(Dims *d, Pool *names) {
  static const char *const symbols[] = {"s0", "s1", "s2"};
  uint32_t which = pick(8);
  if (which > 3) return dim_int(d, 1 + pick(12));
  if (which == 3) return dim_add(d, dim_symbol(d, pool_name(names, "s0")), dim_int(d, 1));
  return dim_symbol(d, pool_name(names, symbols[which]));
}

static bool same_index(const Dim *a, const Dim *b, uint32_t n) {
  return n == 0 || !memcmp(a, b, n * sizeof *a);
}

/* From a linear index to subscripts and back, and from subscripts to one index and back. */
static void test_round_trips(void) {
  bool there = true, back = true;
  for (int round = 0; round < 2000; round++) {
    Arena *a = arena_new();
    Pool *names = pool_new(a);
    Dims *d = dims_new(a, names);
    uint32_t rank = pick(6);
    Dim shape[6], index[6], again[6], all = dim_int(d, 1);
    for (uint32_t i = 0; i < rank; i++) {
      shape[i] = random_size(d, names);
      all = dim_mul(d, all, shape[i]);
      index[i] = dim_is(shape[i], 1) ? dim_int(d, 0) : dim_index(d, "i", shape[i]);
    }
    Dim linear = linear_of_index(d, index, shape, rank);
    index_of_linear(d, linear, shape, rank, again);
    there &= same_index(index, again, rank);
    Dim t = dim_is(all, 1) ? dim_int(d, 0) : dim_index(d, "t", all);
    index_of_linear(d, t, shape, rank, again);
    back &= linear_of_index(d, again, shape, rank) == t;
    arena_free(a);
  }
  check(there, "an index survives being one number");
  check(back, "a number survives being an index");
}

/* The index in x of the last node's element, as text. */
static void index_is(const char *name, const char *body, const char *want) {
  Context c = read_graph("test.py", body);
  check(c.g != NULL, name);
  if (c.g) {
    Node *n = c.g->last->args[0].items[0].node;
    Dim at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
    for (uint32_t i = 0; i < n->type.rank; i++)
      at[i] = dim_index(c.g->dims, arena_printf(c.arena, "i%u", i), n->type.shape[i]);
    for (; n->kind != NODE_INPUT; n = view_operand(n)) {
      view_index(c.g, n, at, from);
      memcpy(at, from, sizeof at);
    }
    Text t = text_new(c.arena);
    for (uint32_t i = 0; i < n->type.rank; i++) {
      if (i) text_puts(&t, ", ");
      dim_print(&t, at[i]);
    }
    check(!strcmp(t.data, want), arena_printf(c.arena, "%s: [%s]", name, t.data));
  }
  arena_free(c.arena);
}

#define GRAPH(args, body, result)                                                                \
  "class G(torch.nn.Module):\n    def forward(self, " args "):\n" body "        return (" result \
  ",)\n"
#define CALL(name, call) "        " name " = torch.ops.aten." call "\n"

static void test_chains(void) {
  index_is("split heads",
           GRAPH("x: \"f32[32, 512]\"",
                 CALL("v", "view.default(x, [4, 8, 8, 64])")
                     CALL("y", "permute.default(v, [0, 2, 1, 3])"),
                 "y"),
           "8*i0 + i2, 64*i1 + i3");
  index_is("heads and back",
           GRAPH("x: \"f32[4, 8, 512]\"",
                 CALL("v", "view.default(x, [4, 8, 8, 64])")
                     CALL("p", "permute.default(v, [0, 2, 1, 3])")
                         CALL("q", "permute.default(p, [0, 2, 1, 3])")
                             CALL("y", "reshape.default(q, [4, 8, 512])"),
                 "y"),
           "i0, i1, i2");
  index_is("heads as batches",
           GRAPH("x: \"f32[4, s0, 512]\"",
                 CALL("s", "sym_size.int(x, 1)") CALL("v", "view.default(x, [4, s, 8, 64])")
                     CALL("p", "permute.default(v, [0, 2, 1, 3])")
                         CALL("r", "reshape.default(p, [32, s, 64])")
                             CALL("w", "view.default(r, [4, 8, s, 64])")
                                 CALL("q", "permute.default(w, [0, 2, 1, 3])")
                                     CALL("y", "reshape.default(q, [4, s, 512])"),
                 "y"),
           "i0, i1, i2");
  index_is("flattened and back",
           GRAPH("x: \"f32[s0, s1, 12]\"",
                 CALL("s", "sym_size.int(x, 0)") CALL("t", "sym_size.int(x, 1)")
                     CALL("v", "flatten.using_ints(x)") CALL("y", "view.default(v, [s, t, 3, 4])"),
                 "y"),
           "i0, i1, 4*i2 + i3");
  index_is("flipped twice",
           GRAPH("x: \"f32[s0, 8]\"",
                 CALL("s", "sym_size.int(x, 0)") CALL("v", "flip.default(x, [0, 1])")
                     CALL("w", "view.default(v, [s, 2, 4])") CALL("u", "view.default(w, [s, 8])")
                         CALL("y", "flip.default(u, [0, 1])"),
                 "y"),
           "i0, i1");
}

int main(int argc, char **argv) {
  if (argc > 1) return describe(argv[1], argv + 2);
  test_round_trips();
  test_chains();
  return report();
}
