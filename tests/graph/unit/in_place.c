/* Which results a plan writes over their operands, and which updates it copies behind its steps. */
#include <stdio.h>
#include <string.h>

#include "model/api/model_api.h"
#include "tests/support/tally.h"

/* The plan of a graph; body: its lines behind x, y [8, 8] and w [8, 8], of which a product ends a
 * kernel. */
static Model *plan_of(const char *body, bool saves) {
  char text[2048];
  snprintf(text, sizeof text,
           "class M(torch.nn.Module):\n"
           "    def forward(self, x: \"f32[8, 8]\", y: \"f32[8, 8]\", w: \"f32[8, 8]\"):\n%s",
           body);
  nereid_graph_source s = {.path = "m.py", .data = text, .size = strlen(text)};
  CompileOptions o = {.target = TARGET_GPU, .fuse = true, .saves_memory = saves};
  Model *m;
  return model_read(&m, &s) || model_plan(m, &o) ? NULL : m;
}

/* How many of its steps write over an operand. */
static int count(const char *body, bool saves) {
  Model *m = plan_of(body, saves);
  int n = 0;
  if (!m) return -1;
  for (uint32_t i = 0; i < m->plan->nsteps; i++)
    for (uint32_t j = 0; j < m->plan->steps[i].nargs; j++)
      n += !strncmp(m->plan->steps[i].args[j].name, "inout", 5);
  model_free(m);
  return n;
}

static void check_counted(const char *what, int wanted, const char *body, bool saves) {
  int got = count(body, saves);
  if (got == wanted) passed++;
  else failed++, printf("FAIL %s: %d\n", what, got);
}

static void check_count(const char *what, int wanted, const char *body) {
  check_counted(what, wanted, body, false);
}

static void check_updates(const char *what, uint32_t wanted, const char *body) {
  Model *m = plan_of(body, false);
  bool right = m && m->plan->nupdates == wanted;
  if (right) passed++;
  else failed++, printf("FAIL %s: %u updates\n", what, m ? m->plan->nupdates : 99);
  if (m) model_free(m);
}

#define MM(to, a) "        " to " = torch.ops.aten.mm.default(" a ", w)\n"
#define ADD(to, a, b) "        " to " = torch.ops.aten.add.Tensor(" a ", " b ")\n"
#define T(to, a) "        " to " = torch.ops.aten.t.default(" a ")\n"
#define RETURN(a) "        return (" a ",)\n"

#define ROW(to, of, at) "        " to " = torch.ops.aten.select.int(" of ", 0, " at ")\n"
#define COPY(to, from) "        " to "_w = torch.ops.aten.copy_.default(" to ", " from ")\n"
#define NEG(to, a) "        " to " = torch.ops.aten.neg.default(" a ")\n"
#define WITH_ROW(to, of, row, at) \
  "        " to " = torch.ops.aten.select_scatter.default(" of ", " row ", 0, " at ")\n"

static void updates(void) {
  check_updates("a row of an input", 0,
                ROW("a", "x", "1") ROW("b", "y", "2") COPY("a", "b") MM("c", "x") RETURN("c"));
  check_updates("rows, and what is read before and after each", 0,
                ROW("a", "x", "1") ROW("b", "y", "2") NEG("c", "x") COPY("a", "b") MM("d", "x")
                    ROW("e", "x", "2") COPY("e", "b") NEG("f", "x") "        return (c, d, f)\n");
  check_updates("a row of a transpose", 0,
                T("xt", "x") ROW("a", "xt", "1") ROW("b", "y", "2") COPY("a", "b") RETURN("xt"));
  check_updates("a row of the same", 0,
                ROW("a", "x", "1") ROW("b", "x", "2") COPY("a", "b") RETURN("y"));
  check_updates("all of it", 1, COPY("x", "y") RETURN("y"));
  check_updates("a sum with the old value", 0,
                ADD("a", "x", "y") COPY("x", "a") MM("b", "y") RETURN("b"));
  check_updates("a sum that is read again", 0,
                ADD("a", "x", "y") COPY("x", "a") MM("b", "a") RETURN("b"));
  check_updates("a sum that is returned, as a copy", 0,
                ADD("a", "x", "y") COPY("x", "a") RETURN("a"));
  check_updates("a sum with its old value at another place", 1,
                T("xt", "x") ADD("a", "xt", "y") COPY("x", "a") MM("b", "y") RETURN("b"));
  check_updates("a sum with its old value, which is read later", 1,
                MM("m", "y") ADD("a", "x", "m") MM("b", "a") ADD("c", "b", "x") COPY("x", "a")
                    RETURN("c"));
  check_updates("a sum with another input's value", 1,
                ADD("a", "w", "y") COPY("x", "a") MM("b", "y") RETURN("b"));
  check_updates("values that go to each other", 2,
                NEG("a", "x") NEG("b", "y") COPY("x", "b") COPY("y", "a") RETURN("w"));
  check_updates("one value for two inputs", 0,
                ADD("a", "x", "y") COPY("x", "a") COPY("y", "a") RETURN("w"));
  check_updates("the old value is read later", 1,
                ROW("b", "y", "2") WITH_ROW("a", "x", "b", "1") MM("c", "a") ADD("d", "c", "x")
                    COPY("x", "a") RETURN("d"));
  check_updates("the old value is returned", 1,
                ROW("b", "y", "2") WITH_ROW("a", "x", "b", "1") NEG("c", "x")
                    COPY("x", "a") "        return (c, a)\n");
}

/* Where memory matters. */
static void results(void) {
  static const char view[] =
      MM("a", "x") MM("b", "y") ADD("c", "a", "b")
      "        d = torch.ops.aten.view.default(c, [4, 16])\n"
      "        e = torch.ops.aten.sum.dim_IntList(d, [1], True)\n" ADD("f", "d", "e") RETURN("f");
  check_counted("a result", 1, MM("a", "x") MM("b", "y") ADD("c", "a", "b") RETURN("c"), true);
  check_counted("a result that is read later", 1,
                MM("a", "x") MM("b", "y") ADD("c", "a", "b") MM("d", "c") "        return (d, c)\n",
                true);
  check_counted("a result that is an operand too", 0,
                MM("a", "x") MM("b", "y") ADD("c", "a", "b") "        return (a, c)\n", true);
  check_counted("a result of another shape", 2, view, true);
  Model *m = plan_of(view, true);
  const PlanBuffer *b = m ? &m->plan->buffers[m->plan->outputs[0]] : NULL;
  check(b && !strcmp(b->name, "f") && b->rank == 2 && b->shape[0]->value == 4 &&
            b->shape[1]->value == 16,
        "the buffer has the result's name and shape");
  if (m) model_free(m);
}

int main(void) {
  updates();
  check_count("the sum of two products", 1,
              MM("a", "x") MM("b", "y") ADD("c", "a", "b") MM("d", "c") RETURN("d"));
  check_count("an operand that is read again", 0,
              MM("a", "x") MM("b", "y") ADD("c", "a", "b") MM("d", "c") ADD("e", "d", "a")
                  RETURN("e"));
  check_count("an operand that is returned", 0,
              MM("a", "x") MM("b", "y") ADD("c", "a", "b") MM("d", "c") "        return (d, a)\n");
  check_count("a result that is returned", 0,
              MM("a", "x") MM("b", "y") ADD("c", "a", "b") RETURN("c"));
  check_count("an input", 0, MM("b", "y") ADD("c", "x", "b") MM("d", "c") RETURN("d"));
  check_count("an operand that is read at other places", 0,
              MM("a", "x") MM("b", "y") T("at", "a") ADD("c", "at", "b") MM("d", "c") RETURN("d"));
  check_count("an operand that is read at its own and at other places", 0,
              MM("a", "x") MM("b", "y") T("at", "a") ADD("s", "at", "a") ADD("c", "s", "b")
                  MM("d", "c") RETURN("d"));
  check_count("an operand of the product itself", 0,
              MM("a", "x") MM("b", "a") ADD("c", "a", "b") MM("d", "c") RETURN("d"));
  check_count("an operand of another dtype", 0,
              "        h = torch.ops.aten.to.dtype(w, torch.float16)\n"
              "        g = torch.ops.aten.to.dtype(x, torch.float16)\n"
              "        a = torch.ops.aten.mm.default(g, h)\n" MM("b", "y") ADD("c", "a", "b")
                  MM("d", "c") RETURN("d"));
  results();
  return report();
}
