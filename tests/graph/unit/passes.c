/* Passes on graphs: the tables are in order, the models come out in primitives with the types they
 * had, large graphs take linear time.
 *
 *   build/tests/graph/unit/passes                    what `make check` runs
 *   build/tests/graph/unit/passes PASS,... FILE      FILE after those passes, or messages
 *
 * tests/graph/passes.py compares the second form with golden texts. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graph/ops/graph_text.h"
#include "graph/ops/prims.h"
#include "import/text/text_forms.h"
#include "decompose/decompose.h"
#include "planner/passes.h"
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

static void print_messages(const Context *c) {
  Text out = text_new(c->arena);
  diag_print(c->diags, &out);
  if (out.data) fputs(out.data, stdout);
}

/* NULL after errors. */
static Graph *read_graph(Context *c, const char *name, const char *text) {
  uint32_t file = diag_source(c->diags, name, text, strlen(text));
  Graph *g = graph_read_text(c->arena, c->names, c->diags, file);
  return g && ops_all_known(g) && infer_graph(g) ? g : NULL;
}

/* Runs passes by their names, with commas between. */
static bool run_passes(Graph *g, const char *list) {
  size_t n;
  for (const char *name; pass_next_name(&list, &name, &n);) {
    const Pass *p = pass_find(graph_passes(), name, n);
    if (!p) return printf("no pass %.*s\n", (int)n, name), false;
    if (!p->run.on_graph(g)) return false;
  }
  return true;
}

static char *read_text(const char *path) {
  FILE *f = fopen(path, "rb");
  char *text = NULL;
  size_t cap = 0;
  if (!f) return NULL;
  ssize_t n = getdelim(&text, &cap, 0, f);
  fclose(f);
  if (n >= 0) return text;
  free(text);
  return NULL;
}

static const char *graph_text(Context *c, const Graph *g) {
  Text out = text_new(c->arena);
  graph_print(&out, g);
  return out.data;
}

static int run_file(const char *passes, const char *path) {
  Context c = context_new();
  char *text = read_text(path);
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  Graph *g = text ? read_graph(&c, name, text) : NULL;
  bool ok = g && run_passes(g, passes);
  print_messages(&c);
  if (ok) fputs(graph_text(&c, g), stdout);
  free(text);
  arena_free(c.arena);
  return ok ? 0 : 1;
}

/* ---- tables ---- */

static void test_table(void) {
  PassList list = graph_passes();
  for (int i = 0; i < list.n; i++) {
    const Pass *found = pass_find(list, list.rows[i].name, strlen(list.rows[i].name));
    check(found && found->run.on_graph == list.rows[i].run.on_graph, "a pass is found by its name");
  }
  check(!pass_find(list, "no such pass", 12), "no other is");
}

/* ---- models ---- */

/* All types are what inference gives. */
static bool is_sound(Graph *g) { return infer_graph(g); }

static bool is_primitive(const Graph *g) {
  for (const Node *n = g->first; n; n = n->next) {
    if (n->kind != NODE_CALL || prim_kind(n->op) != PRIM_NONE) continue;
    printf("%s is left\n", n->op->target);
    return false;
  }
  return true;
}

static uint32_t count_nodes(const Graph *g) {
  uint32_t count = 0;
  for (const Node *n = g->first; n; n = n->next) count++;
  return count;
}

static bool same_outputs(const Graph *g, const ValueType *before, uint32_t n) {
  const Arg *list = &g->last->args[0];
  if (list->n < n) return false;
  for (uint32_t i = 0; i < n; i++)
    if (!value_type_eq(&list->items[i].node->type, &before[i])) return false;
  return true;
}

static void test_model(const char *path) {
  Context c = context_new();
  char *text = read_text(path);
  Graph *g = text ? read_graph(&c, path, text) : NULL;
  check(g != NULL, path);
  if (g) {
    uint32_t n = g->last->args[0].n;
    ValueType *before = ARENA_ARRAY(c.arena, ValueType, n);
    for (uint32_t i = 0; i < n; i++) before[i] = g->last->args[0].items[i].node->type;
    check(run_passes(g, "functionalize,simplify,decompose,simplify"), path);
    check(is_sound(g), "nodes have the types that inference gives");
    check(is_primitive(g), "primitives are left");
    check(same_outputs(g, before, n), "outputs keep their types");
    uint32_t count = count_nodes(g);
    check(run_passes(g, "decompose,simplify") && count_nodes(g) == count,
          "passes find nothing more to do");
  }
  print_messages(&c);
  free(text);
  arena_free(c.arena);
}

static void test_models(const char *pattern) {
  glob_t found;
  if (!glob(pattern, 0, NULL, &found))
    for (size_t i = 0; i < found.gl_pathc; i++) test_model(found.gl_pathv[i]);
  check(found.gl_pathc >= 1, "there are models");
  globfree(&found);
}

/* ---- large graphs ---- */

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Blocks of linear, layer norm, an in-place op, a view and a write through it. */
static const char *large_graph(Context *c, int blocks) {
  Text t = text_new(c->arena);
  text_puts(&t,
            "def forward(self, p_w: \"f32[64, 64]\", x: \"f32[8, 64]\"):\n"
            "    y_0 = torch.ops.aten.add.Tensor(x, 1)\n");
  for (int i = 0; i < blocks; i++)
    text_printf(&t,
                "    l_%d = torch.ops.aten.linear.default(y_%d, p_w)\n"
                "    r_%d = torch.ops.aten.relu_.default(l_%d)\n"
                "    n_%d = torch.ops.aten.layer_norm.default(l_%d, [64])\n"
                "    s_%d = torch.ops.aten.slice.Tensor(n_%d, 1, 0, 32)\n"
                "    a_%d = torch.ops.aten.add_.Tensor(s_%d, %d)\n"
                "    y_%d = torch.ops.aten.add.Tensor(n_%d, r_%d)\n",
                i, i, i, i, i, i, i, i, i, i, i, i + 1, i, i);
  text_printf(&t, "    return (y_%d,)\n", blocks);
  return t.data;
}

static double time_passes(int blocks, uint32_t *nodes) {
  Context c = context_new();
  Graph *g = read_graph(&c, "large.py", large_graph(&c, blocks));
  *nodes = g ? count_nodes(g) : 0;
  double start = seconds();
  bool ok = g && run_passes(g, "functionalize,simplify,decompose,simplify");
  double time = seconds() - start;
  check(ok && is_sound(g), "a large graph is sound");
  print_messages(&c);
  arena_free(c.arena);
  return time;
}

static void test_large(void) {
  uint32_t n, n2;
  double small = time_passes(1250, &n), large = time_passes(5000, &n2);
  check(n2 >= 30000, "30,000 nodes");
  check(large < 12 * small + 0.1, "four times the nodes take less than twelve times as long");
  printf("%u nodes in %.2f s\n", n2, large);
}

int main(int argc, char **argv) {
  if (argc == 3) return run_file(argv[1], argv[2]);
  test_table();
  test_models("tests/models/*/readable.txt");
  test_large();
  return report();
}
