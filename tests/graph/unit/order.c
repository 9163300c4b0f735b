/* The order of kernels where inputs are released: what moves, what stays, and that each value is
 * written before it is read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/api/model_api.h"
#include "model/nereid_graph.h"
#include "tests/support/tally.h"

enum { MATRICES = 4 };

/* The plan of a graph of matrices A to D, [1024, 1024], of V, [4, 1024], and Y, [4]; `released` are
 * the names of some; NULL: memory matters less than time. */
static Model *plan_of(const char *body, const char *released) {
  static char text[1 << 15];
  int n = snprintf(text, sizeof text,
                   "class M(torch.nn.Module):\n"
                   "    def forward(self, V: \"f32[4, 1024]\", Y: \"i64[4]\"");
  for (char c = 'A'; c < 'A' + MATRICES; c++)
    n += snprintf(text + n, sizeof text - (size_t)n, ", %c: \"f32[1024, 1024]\"", c);
  snprintf(text + n, sizeof text - (size_t)n, "):\n%s", body);
  nereid_graph_source s = {.path = "m.py", .data = text, .size = strlen(text)};
  CompileOptions o = {.target = TARGET_GPU, .fuse = true, .saves_memory = released != NULL};
  Model *m;
  if (model_read(&m, &s)) return NULL;
  for (Node *input = m->graph->first; input; input = input->next)
    if (input->kind == NODE_INPUT)
      input->input.released = released && strchr(released, input->name[0]);
  return model_plan(m, &o) ? NULL : m;
}

/* `wanted`, "p q r", is the first letter of each node that steps store; those of one letter that
 * follow each other are named once. */
static void check_order(const char *what, const char *wanted, const char *released,
                        const char *body) {
  char got[256] = "";
  Model *m = plan_of(body, released);
  for (uint32_t i = 0; m && i < m->plan->nsteps; i++)
    for (uint32_t k = 0; k < m->plan->steps[i].nnodes; k++) {
      char name = m->plan->steps[i].nodes[k]->name[0];
      size_t n = strlen(got);
      if (!n || got[n - 1] != name) snprintf(got + n, sizeof got - n, "%s%c", n ? " " : "", name);
    }
  check_got(m && !strcmp(got, wanted), what, got);
  if (m) model_free(m);
}

#define MM(to, a, b) "        " to " = torch.ops.aten.mm.default(" a ", " b ")\n"
#define PUT(to, of, by) "        " to " = torch.ops.aten.index_put.default(" of ", [Y], " by ")\n"
#define RETURN(a) "        return (" a ",)\n"

/* V's product takes two steps, of which the first reads the matrix. */
static void moves(void) {
  static const char late[] = MM("p", "C", "D") MM("q", "V", "A") MM("r", "q", "p") RETURN("r");
  check_order("the graph's order", "p q r", NULL, late);
  check_order("an input that is left early", "q p q r", "A", late);
  check_order("one that nothing reads", "p q r", "B", late);
  check_order("one that is read again", "p q r s", "A",
              MM("p", "C", "D") MM("q", "V", "A") MM("r", "q", "p") MM("s", "r", "A") RETURN("s"));
  check_order("one that is returned", "p q r c", "A",
              MM("p", "C", "D") MM("q", "V", "A") MM("r", "q", "p") RETURN("r, A"));
  check_order("one that a later value needs", "p q r", "A",
              MM("p", "C", "D") MM("q", "V", "p") MM("r", "q", "A") RETURN("r"));
  check_order("a second one, which is alive at the peak anyway", "q p q r s t", "AB",
              MM("p", "C", "D") MM("q", "V", "A") MM("r", "q", "p") MM("s", "V", "B")
                  MM("t", "s", "C") RETURN("t, r"));
  check_order("a result that nothing waits for", "q r p", "A",
              MM("p", "C", "D") MM("q", "V", "A") MM("r", "q", "D") RETURN("r, p"));
}

/* Nothing goes past what writes to memory that others read. */
static void scatters(void) {
  check_order("a scatter between them", "p c s q r s r s", "A",
              MM("p", "C", "D") PUT("s", "D", "V") MM("q", "V", "A") MM("r", "q", "p")
                  RETURN("r, s"));
}

/* ---- random graphs ---- */

static uint32_t seed;

static uint32_t draw(uint32_t n) {
  seed = seed * 1664525 + 1013904223;
  return (seed >> 8) % n;
}

/* Matrices that are products or sums of matrices, and products of V by one; all of those are added
 * up in the end. */
static void random_body(char *out, size_t size) {
  uint32_t steps = 6 + draw(20), small = 0;
  char last[16] = "V";
  size_t at = 0;
  for (uint32_t k = 0; k < steps; k++) {
    char p[2][12];
    for (int i = 0; i < 2; i++) {
      uint32_t of = draw(k + 4);
      if (of < 4) snprintf(p[i], sizeof *p, "%c", 'A' + (int)of);
      else snprintf(p[i], sizeof *p, "n%u", of - 4);
    }
    at += (size_t)snprintf(out + at, size - at, "        n%u = torch.ops.aten.%s(%s, %s)\n", k,
                           draw(2) ? "mm.default" : "add.Tensor", p[0], p[1]);
    if (draw(3) == 0) continue;
    at += (size_t)snprintf(out + at, size - at,
                           "        m%u = torch.ops.aten.mm.default(V, %s)\n"
                           "        s%u = torch.ops.aten.add.Tensor(m%u, %s)\n",
                           small, draw(2) ? p[0] : p[1], small, small, last);
    snprintf(last, sizeof last, "s%u", small++);
  }
  snprintf(out + at, size - at, "        return (n%u, %s)\n", steps - 1, last);
}

/* Is each value written before it is read? */
static bool is_legal(const Plan *p) {
  bool *written = calloc(p->nbuffers, sizeof *written), good = true;
  for (uint32_t i = 0; i < p->nbuffers; i++) written[i] = p->buffers[i].kind == BUFFER_INPUT;
  for (uint32_t i = 0; i < p->nsteps; i++) {
    const PlanStep *s = &p->steps[i];
    for (uint32_t j = 0; j < s->nargs; j++)
      if (s->args[j].kind == STEP_BUFFER && strncmp(s->args[j].name, "out", 3) != 0)
        good &= written[s->args[j].buffer];
    for (uint32_t j = 0; j < s->nargs; j++)
      if (s->args[j].kind == STEP_BUFFER) written[s->args[j].buffer] = true;
  }
  free(written);
  return good;
}

/* The nodes that a plan's steps store, in their order; NULL after the last. */
static const Node **stored(const Plan *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nsteps; i++) n += p->steps[i].nnodes;
  const Node **nodes = calloc(n + 1, sizeof *nodes);
  n = 0;
  for (uint32_t i = 0; i < p->nsteps; i++)
    for (uint32_t k = 0; k < p->steps[i].nnodes; k++) nodes[n++] = p->steps[i].nodes[k];
  return nodes;
}

/* Do they store the same nodes, and in the same order?  Which small steps share a launch follows
 * from that. */
static bool same_steps(const Plan *a, const Plan *b, bool *same_order) {
  const Node **of_a = stored(a), **of_b = stored(b);
  uint32_t n = 0, nb = 0;
  bool same = true;
  *same_order = true;
  while (of_b[nb]) nb++;
  for (; of_a[n]; n++) {
    uint32_t k = 0;
    while (of_b[k] && strcmp(of_b[k]->name, of_a[n]->name) != 0) k++;
    same &= of_b[k] != NULL;
    *same_order &= k == n;
  }
  free(of_a);
  free(of_b);
  return same && n == nb;
}

static void random_graphs(void) {
  enum { GRAPHS = 200 };
  static char body[1 << 14];
  int changed = 0;
  for (int i = 0; i < GRAPHS; i++) {
    bool same = false;
    seed = (uint32_t)i;
    random_body(body, sizeof body);
    Model *before = plan_of(body, NULL), *m = plan_of(body, "ABCD");
    bool good = before && m && same_steps(m->plan, before->plan, &same) && is_legal(m->plan);
    check_got(good, "a random graph's order", body);
    /* Results that are written over operands are not foreseen. */
    check_got(good && m->plan->pool->value <= before->plan->pool->value + (1 << 20),
              "its temporaries", body);
    changed += good && !same;
    if (before) model_free(before);
    if (m) model_free(m);
  }
  if (changed < GRAPHS / 10) printf("%d of %d\n", changed, GRAPHS);
  check(changed >= GRAPHS / 10, "many have another order");
}

/* ---- the option ---- */

static void option(void) {
  static const char text[] =
      "class M(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[4]\"):\n        y = torch.ops.aten.neg.default(x)\n"
      "        return (y,)\n";
  const int positions[] = {0, 1};
  nereid_graph *g = NULL;
  nereid_graph_source s = {.data = text, .size = strlen(text)};
  nereid_graph_options o = {.released = positions, .nreleased = 2};
  char *out = NULL;
  size_t size = 0;
  check_got(!nereid_graph_open(&g, &s, NULL, NULL), "a graph", nereid_error_message());
  check(nereid_graph_emit(&out, &size, g, &o, NEREID_GRAPH_FUSED) == NEREID_E_USAGE, "no input 1");
  check_got(strstr(nereid_error_message(),
                   "nereid_graph_options.released: there is no input 1; the model has 1"),
            "why", nereid_error_message());
  o.nreleased = 1;
  check_got(!nereid_graph_emit(&out, &size, g, &o, NEREID_GRAPH_FUSED), "input 0",
            nereid_error_message());
  nereid_text_free(out);
  o = (nereid_graph_options){.overwritten = positions, .noverwritten = 2};
  check(nereid_graph_emit(&out, &size, g, &o, NEREID_GRAPH_FUSED) == NEREID_E_USAGE, "no input 1");
  check_got(strstr(nereid_error_message(), "nereid_graph_options.overwritten: there is no input 1"),
            "why", nereid_error_message());
  nereid_graph_free(g);
}

/* ---- memory, and inputs that values are written over ---- */

static const char overwrites[] =
    "class M(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[1024, 512]\", y: \"f32[512, 64]\"):\n"
    "        a = torch.ops.aten.sin.default(x)\n"
    "        b = torch.ops.aten.mm.default(a, y)\n"
    "        c = torch.ops.aten.sum.dim_IntList(a, [0])\n"
    "        return (b, c)\n";

static nereid_graph *graph_of(const char *text, size_t size) {
  nereid_graph *g = NULL;
  nereid_graph_source s = {.data = text, .size = size};
  check_got(!nereid_graph_open(&g, &s, NULL, NULL), "a graph", nereid_error_message());
  return g;
}

static int64_t peak_of(nereid_graph *g, const nereid_graph_options *o) {
  nereid_planned_memory m;
  check_got(!nereid_graph_memory(&m, g, o), "its memory", nereid_error_message());
  return m.peak;
}

/* `a` takes the place of x: a plan says so, also one that was read. */
static void memory(void) {
  const int first[] = {0};
  nereid_graph *g = graph_of(overwrites, strlen(overwrites));
  nereid_graph_options o = {.device = "cpu"};
  nereid_planned_memory m;
  int64_t matrix = 1024 * 512 * 4, both = matrix + 512 * 64 * 4;
  check(!nereid_graph_memory(&m, g, &o) && m.inputs == both, "bytes of inputs");
  check(m.outputs == 1024 * 64 * 4 + 512 * 4, "bytes of outputs");
  check(m.peak >= m.inputs + m.outputs + matrix, "a temporary beside x");
  o.overwritten = first;
  o.noverwritten = 1;
  check(peak_of(g, &o) <= m.peak - matrix, "a temporary over x");
  char *plan = NULL, *again = NULL;
  size_t size = 0, n = 0;
  check(!nereid_graph_emit(&plan, &size, g, &o, NEREID_GRAPH_PLAN), "the plan");
  check_got(plan && strstr(plan, "f32[1024, 512]\" overwritten"), "says so", plan);
  nereid_graph *read = graph_of(plan, size);
  nereid_graph_options plain = {.device = "cpu"};
  check(!nereid_graph_emit(&again, &n, read, &plain, NEREID_GRAPH_PLAN), "the plan that was read");
  check(n == size && !memcmp(plan, again, n), "is the same");
  o = (nereid_graph_options){.device = "cuda", .saves_memory = 1};
  int64_t kept = peak_of(g, &o);
  o.released = first;
  o.nreleased = 1;
  check(peak_of(g, &o) <= kept, "what is released takes no more");
  check(nereid_graph_memory(NULL, g, &o) == NEREID_E_USAGE, "nowhere to write");
  check(nereid_graph_memory(&m, NULL, &o) == NEREID_E_USAGE, "no graph");
  nereid_text_free(plan);
  nereid_text_free(again);
  nereid_graph_free(read);
  nereid_graph_free(g);
}

int main(void) {
  memory();
  moves();
  scatters();
  random_graphs();
  option();
  return report();
}
