/* The text of plans: what is printed reads back and prints the same; wrong text is refused where
 * it is wrong. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "planner/plan/plan.h"
#include "tests/support/tally.h"

static const char EXAMPLE[] =
    "plan GraphModule\n"
    "symbol s0 2..1024\n"
    "symbol s1 0..\n"
    "input %x 0 \"f32[s0, 4]\"\n"
    "input %mask 1 \"b8[]\" is (1)\n"
    "input %to 2 \"i64[2]\" is (2, -1)\n"
    "input %scales 3 \"f32[2]\" is (0.5, inf)\n"
    "weight %p_weight \"0.weight\" \"bf16[8, 4]\"\n"
    "constant %scaled \"f32[8]\"\n"
    "temporary %linear \"f32[s0, 8]\" 0..1\n"
    "temporary %linear.1 \"f32[2, 8]\" 1..1 at 256\n"
    "temporary %count \"i64[]\" 0..0\n"
    "records %records \"i64[4]\" of (\"embedding\" \"ids\" \"[2, s0]\" from 0 to \"s1 - 1\","
    " \"index\" \"i\" \"[]\" from -4 to 3)\n"
    "output %relu 0 \"f32[2*s0 + s1, 8]\"\n"
    "pool 512\n"
    "return %relu, %x\n"
    "update %x = %x\n"
    "read u0 = %count at most \"2*s0\" before 2\n"
    "loop from 2 to 4 while %mask at 2: %linear = %linear\n"
    "loop from 3 to 4 while %mask at 4\n"
    "once scale(w_ptr = %p_weight, out_ptr = %scaled, t_ptr = %linear.1, n = 8) grid 1, 1, 1"
    " warps 1 stages 1\n"
    "step linear(x_ptr = %x, n = \"8*s0\", k = -3, scale = 0.5, low = -inf, BLOCK: 128,"
    " ROWS: \"s0//2\") grid \"(s0 + 15)//16\", 1, 1 warps 4 stages 3"
    " covers linear \"aten.linear.default\", x \"\"\n"
    "step relu(x_ptr = %linear, out_ptr = %relu, bad = nan) grid 1, 2, 3 warps 8 stages 1"
    " covers linear \"aten.linear.default\"\n"
    "step empty() grid 1, 1, 1 warps 1 stages 1\n"
    "source\n"
    "import triton\n\n# it's no token of a plan: \"\n";

typedef struct {
  Arena *arena;
  Diags *diags;
  Plan *plan;
  Text text; /* messages, or the plan printed */
} Reading;

static Reading read_text(const char *text) {
  Reading r = {.arena = arena_new()};
  Pool *names = pool_new(r.arena);
  r.diags = diags_new(r.arena);
  uint32_t file = diag_source(r.diags, pool_name(names, "p.plan"), text, strlen(text));
  r.plan = plan_read(r.arena, names, r.diags, file);
  r.text = text_new(r.arena);
  if (r.plan) plan_print(&r.text, r.plan);
  else diag_print(r.diags, &r.text);
  return r;
}

static void round_trip(void) {
  Reading r = read_text(EXAMPLE);
  const char *dims = strstr(r.text.data, "ROWS: \"(s0//2)\"");
  check_got(dims != NULL, "a quotient in its normal form", r.text.data);
  Reading again = read_text(r.text.data);
  check_got(!strcmp(r.text.data, again.text.data), "a plan reads back", again.text.data);
  const Plan *p = again.plan;
  check_got(p && p->nbuffers == 11 && p->nsteps == 4 && plan_once(p) == 1 && p->noutputs == 2,
            "counts", r.text.data);
  check_got(p && p->nreads == 1 && p->reads[0].step == 2, "a size that is read", r.text.data);
  check_got(p && p->steps[1].nodes[0] == p->steps[2].nodes[0], "a node is one node", r.text.data);
  check_got(p && !strncmp(p->source, "import triton\n\n#", 16), "the source", p ? p->source : "");
  check_got(p && isinf(p->steps[1].args[4].number) && isnan(p->steps[2].args[2].number), "floats",
            r.text.data);
  arena_free(r.arena);
  arena_free(again.arena);
}

/* EXAMPLE with one part replaced gives that message. */
static void wrong(const char *part, const char *by, const char *message) {
  Arena *a = arena_new();
  const char *at = strstr(EXAMPLE, part);
  const char *text =
      arena_printf(a, "%.*s%s%s", (int)(at - EXAMPLE), EXAMPLE, by, at + strlen(part));
  Reading r = read_text(text);
  check_got(!r.plan && strstr(r.text.data, message), message, r.text.data);
  arena_free(r.arena);
  arena_free(a);
}

static void errors(void) {
  wrong("plan Gr", "plane Gr", "p.plan:1:1: error: expected `plan`, found `plane`");
  wrong("input %x", "inputs %x", "p.plan:4:1: error: expected a line of a plan, found `inputs`");
  wrong("\nsource\n", "\n", "expected a line of a plan, found `import`");
  wrong("f32[s0, 4]", "f31[s0, 4]", "p.plan:4:12: error: 'f31[s0, 4]' is not a type");
  wrong("f32[s0, 4]", "f32[s0, 4", "is not a type");
  wrong("f32[s0, 4]", "f32[s0, 4 - 8]", "is not a type");
  wrong("f32[s0, 4]", "f32[s0, *]", "a size in a plan: it is no expression of sizes");
  wrong("\"8*s0\"", "\"8*s0 s0\"", "a size in a plan: it is no expression of sizes");
  wrong("\"8*s0\"", "\"9223372036854775807*2\"", "a size in a plan: it is too large");
  wrong("2..1024", "2..1",
        "p.plan:2:8: error: symbol s0 has an empty range; "
        "sizes are never negative");
  wrong("2..1024", "-2..1", "symbol s0 has an empty range; sizes are never negative");
  wrong("%mask 1", "%x 1", "the name 'x' is taken");
  wrong("x_ptr = %x", "x_ptr = %y", "p.plan:22:21: error: no earlier line defines buffer %y");
  wrong("return %relu", "return %rel", "no earlier line defines buffer %rel");
  wrong("update %x = %x", "update %x = %mask",
        "p.plan:17:8: error: %x cannot be updated from %mask, which is of another type");
  wrong("i64[4]", "i64[3]",
        "%records must have two i64 numbers for each of its checks, of which it needs one or more");
  wrong("from 0 to", "from to", "p.plan:13:64: error: expected an integer, found `to`");
  wrong("u0 = %count", "u0 = %scales",
        "size u0 must be read from an i64 scalar, after the sizes that come first");
  wrong("while %mask at 2", "while %count at 2",
        "loop while %count: its condition is a bool without axes, its steps are in the plan, and "
        "other loops are within it or outside of it");
  wrong("from 2 to 4", "from 2 to 5", "its steps are in the plan");
  wrong("from 3 to 4", "from 1 to 3", "other loops are within it or outside of it");
  wrong("at 2: %linear = %linear", "at 2: %linear = %x",
        "%linear cannot be updated from %x, which is of another type");
  wrong("step empty()", "once empty()",
        "p.plan:24:6: error: empty runs once, so it must come before the steps of each run");
  wrong("w_ptr = %p_weight", "w_ptr = %x", "scale runs once, before the first value of %x");
  wrong("t_ptr = %linear.1, n = 8", "n = \"s0\"", "scale runs once, so its sizes are numbers");
  wrong("relu(x_ptr = %linear,", "relu(x_ptr = %linear.1,",
        "%linear.1 is written by a step that runs once and read by relu in each run: "
        "make it a constant");
  wrong("t_ptr = %linear.1, n", "t_ptr = %count, n",
        "%count is written by a step that runs once and read by u0 in each run: "
        "make it a constant");
  wrong("linear(x_ptr = %x,", "linear(x_ptr = steady %x,",
        "%x is not steady for linear: a step that may not have ended writes it, or is the first of "
        "a run");
  wrong("0..1\n", "1..0\n", "the integer must be between 1 and");
  wrong("warps 4", "warps 64", "the integer must be between 0 and 32");
}

/* Cut anywhere, a plan is refused or read: never more. */
static void truncated(void) {
  size_t n = sizeof EXAMPLE - 1;
  int read = 0;
  for (size_t i = 0; i < n; i++) {
    Arena *a = arena_new();
    Reading r = read_text(arena_printf(a, "%.*s", (int)i, EXAMPLE));
    read += r.plan != NULL;
    arena_free(r.arena);
    arena_free(a);
  }
  size_t complete = n - (size_t)(strstr(EXAMPLE, "\nsource") + 7 - EXAMPLE);
  check_got(read == (int)complete, "only what has a source is a plan", "");
}

int main(void) {
  check_got(plan_is_text(EXAMPLE, sizeof EXAMPLE - 1), "a plan is told", EXAMPLE);
  check_got(plan_is_text("# x\n  plan y\n", 13), "behind a comment", "");
  check_got(!plan_is_text("planet = 1", 10) && !plan_is_text("plan ", 4), "what is none", "");
  round_trip();
  errors();
  truncated();
  return report();
}
