/* Times compiling graphs, from text to PTX or C, stage by stage.
 *
 *     graph_compile [--layers N] [--device cuda|cpu] [--runs N] [--text] [--code DIR] [MODEL]
 *
 * MODEL is a file; without one the graph is an encoder as wide as BERT-base, of 12 layers, or N:
 * 1,250 of them are 30,000 nodes.  A stage's time is the least of all runs (5).  Code is made on
 * all cores; `together` is what that took of their time, and `processor` what all took.
 * --text prints the graph, --code writes each kernel's code to a file in DIR. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/api/model_api.h"
#include "planner/compile/plan_kernels.h"
#include "runtime/support/parallel.h"

enum { STAGES_MAX = 32 };

typedef struct {
  const char *model, *device;
  const char *code; /* a folder */
  int layers, runs;
  bool text;
} Options;

typedef struct {
  const char *names[STAGES_MAX];
  double us[STAGES_MAX]; /* the least so far */
  int n;
  uint32_t nodes, steps;
  size_t kernels, bytes; /* distinct kernels, and their code */
} Table;

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, nereid_error_message());
  exit(1);
}

static double processor_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* ---- the graph ---- */

static const char LAYER[] =
    "        q@ = torch.ops.aten.linear.default(h@, w, b)\n"
    "        qv@ = torch.ops.aten.view.default(q@, [8, -1, 12, 64])\n"
    "        qt@ = torch.ops.aten.transpose.int(qv@, 1, 2)\n"
    "        k@ = torch.ops.aten.linear.default(h@, w, b)\n"
    "        kv@ = torch.ops.aten.view.default(k@, [8, -1, 12, 64])\n"
    "        kt@ = torch.ops.aten.transpose.int(kv@, 1, 2)\n"
    "        v@ = torch.ops.aten.linear.default(h@, w, b)\n"
    "        vv@ = torch.ops.aten.view.default(v@, [8, -1, 12, 64])\n"
    "        vt@ = torch.ops.aten.transpose.int(vv@, 1, 2)\n"
    "        a@ = torch.ops.aten.scaled_dot_product_attention.default(qt@, kt@, vt@)\n"
    "        at@ = torch.ops.aten.transpose.int(a@, 1, 2)\n"
    "        ar@ = torch.ops.aten.reshape.default(at@, [8, 128, 768])\n"
    "        o@ = torch.ops.aten.linear.default(ar@, w, b)\n"
    "        od@ = torch.ops.aten.dropout.default(o@, 0.1, False)\n"
    "        s@ = torch.ops.aten.add.Tensor(od@, h@)\n"
    "        n@ = torch.ops.aten.layer_norm.default(s@, [768], b, b, 1e-12)\n"
    "        f@ = torch.ops.aten.linear.default(n@, wi, bi)\n"
    "        g@ = torch.ops.aten.gelu.default(f@)\n"
    "        p@ = torch.ops.aten.linear.default(g@, wo, b)\n"
    "        pd@ = torch.ops.aten.dropout.default(p@, 0.1, False)\n"
    "        t@ = torch.ops.aten.add.Tensor(pd@, n@)\n"
    "        h& = torch.ops.aten.layer_norm.default(t@, [768], b, b, 1e-12)\n";

/* @ is the layer's number, & the next one. */
static void print_layer(Text *out, int number) {
  for (const char *s = LAYER; *s; s++) {
    if (*s == '@' || *s == '&') text_printf(out, "_%d", number + (*s == '&'));
    else text_putn(out, s, 1);
  }
}

static const char *encoder(Arena *a, int layers) {
  Text t = text_new(a);
  text_puts(
      &t,
      "class Encoder(torch.nn.Module):\n"
      "    def forward(self, h_0: \"f32[8, 128, 768]\", w: \"f32[768, 768]\", b: \"f32[768]\","
      " wi: \"f32[3072, 768]\", bi: \"f32[3072]\", wo: \"f32[768, 3072]\"):\n");
  for (int i = 0; i < layers; i++) print_layer(&t, i);
  text_printf(&t, "        return (h_%d,)\n", layers);
  return t.data;
}

/* ---- one run ---- */

static void note(Table *t, const char *name, double us, bool first) {
  int i = 0;
  while (i < t->n && strcmp(t->names[i], name) != 0) i++;
  if (i == STAGES_MAX) fail("too many stages");
  if (i == t->n) t->names[t->n++] = name, t->us[i] = us;
  else if (first || us < t->us[i]) t->us[i] = us;
}

typedef struct {
  PlanKernels *k;
  nereid_kind kind;
  const char *folder; /* NULL: code is not written */
  size_t *bytes;      /* of each kernel's code */
} Work;

static void write_code(const Work *w, const char *kernel, const nereid_variant *v) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.%s", w->folder, kernel, w->kind == NEREID_C ? "c" : "ptx");
  FILE *f = fopen(path, "w");
  if (!f || fwrite(v->code, 1, v->size, f) != v->size || fclose(f)) perror(path);
}

static void generate(void *context, size_t i) {
  const Work *w = context;
  nereid_request r = w->k->list.data[i]->request;
  nereid_image *image;
  nereid_variant v;
  r.target = w->kind == NEREID_C ? "cpu" : NULL;
  if (nereid_compile(&image, &r, w->kind)) fail(r.kernel);
  nereid_image_get_variant(&v, image, 0);
  w->bytes[i] = v.size;
  if (w->folder) write_code(w, r.symbol, &v);
  nereid_image_free(image);
}

/* The code of all distinct kernels. */
static void make_code(Table *t, Model *m, nereid_kind kind, const char *folder) {
  PlanKernels k;
  double begin = stages_now();
  if (kernels_open(&k, m->arena, m->plan, NULL)) fail("kernels");
  PlanKernel *found;
  for (uint32_t i = 0; i < m->plan->nsteps; i++)
    if (kernels_find(&k, &m->plan->steps[i], NULL, &found)) fail(m->plan->steps[i].kernel);
  stages_done(m->stages, "find kernels", begin);
  Work w = {&k, kind, folder, ARENA_ARRAY(m->arena, size_t, k.list.len)};
  double processor = processor_us();
  begin = stages_now();
  parallel_for(k.list.len, generate, &w);
  stages_done(m->stages, kind == NEREID_C ? "kernels to C" : "kernels to PTX", begin);
  note(t, "  together", processor_us() - processor, false);
  t->kernels = k.list.len;
  t->bytes = 0;
  for (size_t i = 0; i < k.list.len; i++) t->bytes += w.bytes[i];
  kernels_close(&k);
}

/* Stages of one name count together. */
static void note_stages(Table *t, const Stages *s) {
  for (size_t i = 0; i < s->list.len; i++) {
    double us = 0;
    for (size_t j = 0; j < s->list.len; j++)
      if (!strcmp(s->list.data[i].name, s->list.data[j].name))
        us += s->list.data[j].end - s->list.data[j].begin;
    note(t, s->list.data[i].name, us, false);
  }
}

static void run(Table *t, const Options *o, const nereid_graph_source *source) {
  bool cpu = !strcmp(o->device, "cpu");
  CompileOptions options = {.target = cpu ? TARGET_CPU : TARGET_GPU, .fuse = true, .freeze = true};
  Model *m;
  double begin = stages_now(), start = processor_us();
  if (model_read(&m, source)) fail("read");
  double read = processor_us();
  t->nodes = 0;
  for (const Node *n = m->graph ? m->graph->first : NULL; n; n = n->next) t->nodes++;
  if (model_plan(m, &options)) fail("plan");
  double planned = processor_us();
  t->steps = m->plan->nsteps;
  make_code(t, m, cpu ? NEREID_C : NEREID_PTX, o->code);
  note_stages(t, m->stages);
  note(t, "all", stages_now() - begin, false);
  note(t, "  processor", processor_us() - start, false);
  note(t, "  ... to read", read - start, false);
  note(t, "  ... to plan", planned - read, false);
  model_free(m);
}

/* ---- the program ---- */

static Options read_options(int argc, char **argv) {
  Options o = {.device = "cuda", .layers = 12, .runs = 5};
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--text")) o.text = true;
    else if (argv[i][0] != '-') o.model = argv[i];
    else if (++i && !strcmp(argv[i - 1], "--layers")) o.layers = atoi(value);
    else if (!strcmp(argv[i - 1], "--runs")) o.runs = atoi(value);
    else if (!strcmp(argv[i - 1], "--device")) o.device = value;
    else if (!strcmp(argv[i - 1], "--code")) o.code = value;
  }
  return o;
}

static void print_table(const Table *t) {
  printf("%u nodes, %u steps, %zu kernels, %zu kB of code\n", t->nodes, t->steps, t->kernels,
         t->bytes / 1000);
  for (int i = 0; i < t->n; i++) printf("  %-20s %9.2f ms\n", t->names[i], 1e-3 * t->us[i]);
}

int main(int argc, char **argv) {
  Options o = read_options(argc, argv);
  Arena *a = arena_new();
  nereid_graph_source source = {.path = o.model};
  if (!o.model) {
    source.path = "encoder.py";
    source.data = encoder(a, o.layers);
    source.size = strlen(source.data);
  }
  if (o.text) printf("%s", (const char *)source.data);
  Table t = {.n = 0};
  for (int i = 0; i < o.runs && !o.text; i++) run(&t, &o, &source);
  if (!o.text) print_table(&t);
  arena_free(a);
  return 0;
}
