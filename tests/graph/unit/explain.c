/* What is told of a plan's kernels: what they must move and compute, why they are apart, and the
 * table. */
#include <stdio.h>
#include <string.h>

#include "graph/ops/infer.h"
#include "import/text/text_forms.h"
#include "model/report/explain.h"
#include "planner/compile/compile_plan.h"
#include "tests/support/tally.h"

/* A device that moves a byte and computes an operation each nanosecond. */
static const DevicePeaks SLOW = {
    .device = "a slow one", .from = "declared", .bandwidth = 1e9, .operations = 1e9};

typedef struct {
  Arena *arena;
  Plan *plan;
  Sizes *sizes;
  Text text; /* of messages, or the table */
} Planned;

static Planned plan_text(const char *params, const char *body, bool together) {
  Planned p = {.arena = arena_new()};
  p.plan = ARENA_NEW(p.arena, Plan);
  Pool *names = pool_new(p.arena);
  Diags *d = diags_new(p.arena);
  const char *text = arena_printf(p.arena, "def forward(self, %s):\n%s", params, body);
  uint32_t file = diag_source(d, pool_name(names, "g.py"), text, strlen(text));
  Graph *g = graph_read_text(p.arena, names, d, file);
  CompileOptions options = {.target = TARGET_CPU, .fuse = together, .freeze = true};
  p.text = text_new(p.arena);
  if (g && infer_graph(g) && graph_compile(g, &options, p.plan)) {
    p.sizes = sizes_new(p.arena, p.plan);
    sizes_bind_some(p.sizes, NULL, 0);
    Explanation x = {.plan = p.plan, .sizes = p.sizes, .mode = "default", .peaks = SLOW};
    explain_print(&p.text, &x);
  } else {
    diag_print(d, &p.text);
  }
  return p;
}

/* ---- why kernels are apart ---- */

static void stops(const char *params, const char *body, const char *why) {
  Planned p = plan_text(params, body, true);
  check_got(strstr(p.text.data, why) != NULL, why, p.text.data);
  arena_free(p.arena);
}

static void reasons(void) {
  static const char X[] = "x: \"f32[8, 4]\", w: \"f32[4, 4]\"";
  stops(X,
        "    a = torch.ops.aten.exp.default(x)\n"
        "    b = torch.ops.aten.mm.default(a, w)\n"
        "    return (b,)\n",
        "a from step 0: b is a product, which reads its operands from memory");
  stops(X,
        "    a = torch.ops.aten.mm.default(x, w)\n"
        "    b = torch.ops.aten.sum.dim_IntList(a, [1])\n"
        "    return (b,)\n",
        "a from step 0: b needs whole rows, which lie in several tiles of a product");
  stops(X,
        "    a = torch.ops.aten.sum.dim_IntList(x, [0])\n"
        "    b = torch.ops.aten.sum.dim_IntList(x, [1])\n"
        "    c = torch.ops.aten.add.Tensor(a, 1)\n"
        "    d = torch.ops.aten.add.Tensor(w, a)\n"
        "    return (b, c, d)\n",
        "goes through another number of elements");
  stops("x: \"f32[8, 8]\"",
        "    a = torch.ops.aten.sum.dim_IntList(x, [0], True)\n"
        "    b = torch.ops.aten.sub.Tensor(x, a)\n"
        "    c = torch.ops.aten.sum.dim_IntList(b, [1], True)\n"
        "    d = torch.ops.aten.sub.Tensor(b, c)\n"
        "    return (d,)\n",
        "c goes along other axes");
  stops(X,
        "    a = torch.ops.aten.cumsum.default(x, 1)\n"
        "    b = torch.ops.aten.permute.default(a, [1, 0])\n"
        "    c = torch.ops.aten.reshape.default(b, [8, 4])\n"
        "    d = torch.ops.aten.add.Tensor(a, c)\n"
        "    return (d,)\n",
        "a is read at other places than where it is computed");
  stops("x: \"f32[8]\"",
        "    a = torch.ops.aten.exp.default(x)\n"
        "    b = torch.ops.aten.slice.Tensor(a, 0, 0, 4)\n"
        "    c = torch.ops.aten.sum.dim_IntList(b, [0])\n"
        "    return (a, c)\n",
        "a has elements that lie in no row of a later reduction");
  stops(X,
        "    a = torch.ops.aten.mm.default(x, w)\n"
        "    b = torch.ops.aten.mm.default(x, w)\n"
        "    c = torch.ops.aten.mm.default(a, w)\n"
        "    d = torch.ops.aten.mm.default(c, w)\n"
        "    e = torch.ops.aten.add.Tensor(d, a)\n"
        "    return (b, e)\n",
        "a from step 0: e also needs step 2, which runs later");
}

static void once(void) {
  Planned p = plan_text("p_w: \"f32[4, 8]\", x: \"f32[8, 8]\"",
                        "    a = torch.ops.aten.sum.dim_IntList(p_w, [0])\n"
                        "    b = torch.ops.aten.add.Tensor(x, a)\n"
                        "    c = torch.ops.aten.sum.dim_IntList(b, [1])\n"
                        "    return (b, c)\n",
                        true);
  check_got(strstr(p.text.data, "b is computed in each run, what it reads only once"), "once",
            p.text.data);
  check_got(strstr(p.text.data, "k0_sum (once, before the first run)\n"), "a kernel that runs once",
            p.text.data);
  arena_free(p.arena);
}

static void full(void) {
  Arena *a = arena_new();
  Text body = text_new(a);
  text_puts(&body, "    a0 = torch.ops.aten.exp.default(x)\n");
  for (int i = 1; i < 220; i++)
    text_printf(&body, "    a%d = torch.ops.aten.add.Tensor(a%d, %d)\n", i, i - 1, i);
  text_puts(&body, "    return (a0");
  for (int i = 1; i < 220; i++) text_printf(&body, ", a%d", i);
  text_puts(&body, ")\n");
  stops("x: \"f32[8]\"", body.data, "finds as many nodes there as a kernel may have");
  arena_free(a);
}

static void eager(void) {
  Planned p = plan_text("x: \"f32[8]\"",
                        "    a = torch.ops.aten.exp.default(x)\n"
                        "    b = torch.ops.aten.sin.default(a)\n"
                        "    return (b,)\n",
                        false);
  check_got(strstr(p.text.data, "b has a kernel of its own in mode eager"), "eager", p.text.data);
  arena_free(p.arena);
}

/* ---- what kernels cost ---- */

static void costs(const char *params, const char *body, int64_t read, int64_t written,
                  int64_t operations) {
  Planned p = plan_text(params, body, true);
  Explanation x = {.plan = p.plan, .sizes = p.sizes, .peaks = SLOW};
  StepFloor f, sum = {0};
  for (uint32_t i = 0; i < p.plan->nsteps; i++) {
    check_got(explain_floor(&x, &p.plan->steps[i], &f), "a floor", p.text.data);
    sum.read += f.read;
    sum.written += f.written;
    sum.operations += f.operations;
  }
  char got[128];
  snprintf(got, sizeof got, "read %lld written %lld operations %lld", (long long)sum.read,
           (long long)sum.written, (long long)sum.operations);
  check_got(sum.read == read && sum.written == written && sum.operations == operations, body, got);
  arena_free(p.arena);
}

static void floors(void) {
  /* What is read twice at one index counts once. */
  costs("x: \"f32[8, 4]\"",
        "    a = torch.ops.aten.exp.default(x)\n"
        "    b = torch.ops.aten.mul.Tensor(a, x)\n"
        "    return (b,)\n",
        128, 128, 64);
  /* A broadcast operand is no larger than it is. */
  costs("x: \"f32[8, 4]\", y: \"f32[4]\"",
        "    a = torch.ops.aten.mul.Tensor(x, y)\n"
        "    return (a,)\n",
        128 + 16, 128, 32);
  /* Two halves of one tensor are all of it, one is a half. */
  costs("x: \"f32[8]\"",
        "    a = torch.ops.aten.slice.Tensor(x, 0, 0, 4)\n"
        "    b = torch.ops.aten.slice.Tensor(x, 0, 4, 8)\n"
        "    c = torch.ops.aten.mul.Tensor(a, b)\n"
        "    return (c,)\n",
        32, 16, 4);
  costs("x: \"f32[8]\"",
        "    a = torch.ops.aten.slice.Tensor(x, 0, 0, 4)\n"
        "    b = torch.ops.aten.exp.default(a)\n"
        "    return (b,)\n",
        16, 16, 4);
  /* The kernel reads two rows of a table, and two indices, which a kernel of their own checks. */
  costs("t: \"f32[1000, 16]\", i: \"i64[2]\"",
        "    a = torch.ops.aten.embedding.default(t, i)\n"
        "    return (a,)\n",
        2 * 16 * 4 + 2 * 16, 128, 0);
  costs("x: \"bf16[8, 4]\", w: \"bf16[4, 16]\", b: \"bf16[16]\"",
        "    a = torch.ops.aten.addmm.default(b, x, w)\n"
        "    return (a,)\n",
        64 + 128 + 32, 256, 2 * 8 * 4 * 16 + 8 * 16);
  /* with copies that put the weights in the order of reading, and the channels where the caller
   * wants them */
  costs("x: \"f32[2, 3, 8, 8]\", w: \"f32[5, 3, 3, 3]\"",
        "    a = torch.ops.aten.conv2d.default(x, w)\n"
        "    return (a,)\n",
        4 * 384 + 8 * 135 + 4 * 360, 4 * 135 + 8 * 360, 2 * 360 * 27 + 135 + 360);
  costs("x: \"f32[2, 3, 9, 8]\"",
        "    a = torch.ops.aten.max_pool2d.default(x, 3, 2)\n"
        "    return (a,)\n",
        4 * 432, 4 * 72, 72 * 9);
  /* Three rows attend to five keys: all of them; up to the row's own number; and not below it. */
  static const char QKV[] =
      "q: \"f32[2, 1, 3, 16]\", k: \"f32[2, 1, 5, 16]\", v: \"f32[2, 1, 5, 8]\"";
  costs(QKV,
        "    a = torch.ops.nereid.attention.default(q, k, v, scale = 0.25)\n"
        "    return (a,)\n",
        4 * (96 + 160 + 80), 4 * 48, 2 * (2 * 24) * 15);
  costs(QKV,
        "    a = torch.ops.nereid.attention.default(q, k, v, scale = 0.25, high = 0)\n"
        "    return (a,)\n",
        4 * (96 + 160 + 80), 4 * 48, 2 * (2 * 24) * (1 + 2 + 3));
  costs(QKV,
        "    a = torch.ops.nereid.attention.default(q, k, v, scale = 0.25, low = -1, high = 3)\n"
        "    return (a,)\n",
        4 * (96 + 160 + 80), 4 * 48, 2 * (2 * 24) * (4 + 5 + 4));
  costs("x: \"f32[8, 4]\"",
        "    a = torch.ops.aten.sum.dim_IntList(x, [1])\n"
        "    return (a,)\n",
        128, 32, 32);
}

/* ---- the table ---- */

static void table(void) {
  Planned p = plan_text("x: \"f32[s0, 1000]\", y: \"f32[1000]\"",
                        "    a = torch.ops.aten.add.Tensor(x, y)\n"
                        "    b = torch.ops.aten.sum.dim_IntList(a, [1])\n"
                        "    c = torch.ops.aten.relu.default(b)\n"
                        "    d = torch.ops.aten.exp.default(y)\n"
                        "    return (c, d)\n",
                        true);
  int64_t shape[] = {3, 1000};
  nereid_tensor in[] = {{.ndim = 2, .dtype = {2, 32, 1}, .shape = shape},
                        {.ndim = 1, .dtype = {2, 32, 1}, .shape = shape + 1}};
  check_got(!sizes_bind(p.sizes, in, 2), "sizes", p.text.data);
  Explanation x = {.plan = p.plan, .sizes = p.sizes, .mode = "default", .peaks = SLOW};
  double us[] = {32.0, 20.0};
  x.times = (StepTimes){us, 0, 64};
  p.text.len = 0;
  explain_print(&p.text, &x);
  static const char expected[] =
      "model     GraphModule, mode default, 2 kernels\n"
      "sizes     s0 = 3\n"
      "device    a slow one; 1.00 GB/s (declared); 1.00 Gop/s in f32\n"
      "memory    0 B of weights, 16.0 kB of inputs, 4.01 kB of outputs, 0 B of temporaries"
      " (0 B without reuse)\n"
      "peak      20012 bytes\n"
      "run       64.00 us\n"
      "\n"
      "   #     read  written     ops  floor us  by      time us  reached  share  kernel\n"
      "   0  16.0 kB     12 B  6.00 k      16.0  memory     32.0      50%  50.0%  k0_sum_relu\n"
      "   1  4.00 kB  4.00 kB  1.00 k      8.00  memory     20.0      40%  31.2%  k1_exp\n"
      "      20.0 kB  4.01 kB  7.00 k      24.0             52.0      46%  81.2%  all kernels\n"
      "\n"
      "must move 20.0 kB of inputs and results, in 20.0 us: 31% of the run\n"
      "              4.00 us  more for bytes between kernels, and inputs that are read again\n"
      "              28.0 us  more for 2 kernels above the floor\n"
      "              12.0 us  more between kernels\n"
      "\n"
      "step 0: k0_sum_relu\n"
      "  covers   b, c\n"
      "  within   a\n"
      "\n"
      "step 1: k1_exp\n"
      "  covers   d\n";
  check_got(!strcmp(p.text.data, expected), "the table", p.text.data);
  us[0] = 8;
  p.text.len = 0;
  explain_print(&p.text, &x);
  check_got(strstr(p.text.data, "8.00    200%*  12.5%") &&
                strstr(p.text.data, "* above 100%: the device is faster than the rates above"),
            "faster than memory", p.text.data);
  x.peaks.cache = 1 << 20;
  p.text.len = 0;
  explain_print(&p.text, &x);
  check_got(strstr(p.text.data, "* above 100%: the floor is that of memory, and the data fits in "
                                "the cache (1.05 MB)"),
            "data in the cache", p.text.data);
  arena_free(p.arena);
}

int main(void) {
  reasons();
  full();
  once();
  eager();
  floors();
  table();
  return report();
}
