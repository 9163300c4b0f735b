/* Which results a plan writes over their operands. */
#include <stdio.h>
#include <string.h>

#include "graph/model.h"
#include "tests/unit/tally.h"

/* How many steps of a graph write over an operand; body: its lines behind x, y [8, 8] and w [8, 8],
 * of which a product ends a kernel. */
static int count(const char *body) {
  char text[2048];
  snprintf(text, sizeof text,
           "class M(torch.nn.Module):\n"
           "    def forward(self, x: \"f32[8, 8]\", y: \"f32[8, 8]\", w: \"f32[8, 8]\"):\n%s",
           body);
  nereid_graph_source s = {.path = "m.py", .data = text, .size = strlen(text)};
  CompileOptions o = {.target = TARGET_GPU, .fuse = true};
  Model *m;
  if (model_read(&m, &s) || model_plan(m, &o)) return -1;
  int n = 0;
  for (uint32_t i = 0; i < m->plan->nsteps; i++)
    for (uint32_t j = 0; j < m->plan->steps[i].nargs; j++)
      n += !strncmp(m->plan->steps[i].args[j].name, "inout", 5);
  model_free(m);
  return n;
}

static void check_count(const char *what, int wanted, const char *body) {
  int got = count(body);
  if (got == wanted) passed++;
  else failed++, printf("FAIL %s: %d\n", what, got);
}

#define MM(to, a) "        " to " = torch.ops.aten.mm.default(" a ", w)\n"
#define ADD(to, a, b) "        " to " = torch.ops.aten.add.Tensor(" a ", " b ")\n"
#define T(to, a) "        " to " = torch.ops.aten.t.default(" a ")\n"
#define RETURN(a) "        return (" a ",)\n"

int main(void) {
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
  return report();
}
