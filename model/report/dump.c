#include "model/report/dump.h"

#include <string.h>

#include "model/report/dot.h"
#include "runtime/device/device.h"

static void write_dot(Stages *s, const char *name, const Graph *g, const Plan *p) {
  Arena *scratch = arena_child(s->arena);
  Text drawn = text_new(scratch);
  graph_print_dot(&drawn, g, p);
  stages_write(s, name, drawn.data, drawn.len);
  arena_free(scratch);
}

void dump_import(Stages *s, const Graph *g) {
  if (!s || !s->folder) return;
  stages_write_graph(s, "imported", g);
  write_dot(s, "imported.dot", g, NULL);
}

void dump_plan(Stages *s, const Plan *p) {
  if (!s || !s->folder) return;
  Arena *scratch = arena_child(s->arena);
  Text plan = text_new(scratch);
  plan_print(&plan, p);
  stages_write(s, "fused.txt", p->fused, strlen(p->fused));
  write_dot(s, "fused.dot", p->graph, p);
  stages_write(s, "plan.txt", plan.data, plan.len);
  stages_write(s, "kernels.py", p->source, strlen(p->source));
  arena_free(scratch);
}

static int dump_stage(Stages *s, const nereid_request *r, const char *suffix, nereid_kind kind) {
  char *text;
  size_t size;
  int code = nereid_emit(&text, &size, r, kind);
  if (code) return code;
  const char *stage = nereid_kind_name(kind);
  stages_write(s, arena_printf(s->arena, "%s%s.%s", r->kernel, suffix, stage), text, size);
  nereid_text_free(text);
  return s->code;
}

static int dump_request(Stages *s, const nereid_device *d, nereid_request r, const char *suffix) {
  nereid_kind last = device_kind(d);
  int code = 0;
  r.target = device_target(d);
  for (int kind = NEREID_TILE; kind <= NEREID_THREAD && kind <= (int)last && !code; kind++)
    code = dump_stage(s, &r, suffix, (nereid_kind)kind);
  return code || last <= NEREID_THREAD ? code : dump_stage(s, &r, suffix, last);
}

static int dump_kernel(Stages *s, const nereid_device *d, const PlanKernel *k) {
  int code = dump_request(s, d, k->request, "");
  return code || !k->aligned.kernel ? code : dump_request(s, d, k->aligned, "_aligned");
}

typedef struct {
  Stages *s;
  PlanKernels *k;
  double begin;
} Compiled;

static int kernels_body(void *arg) {
  const Compiled *c = arg;
  PlanKernels *k = c->k;
  int code = 0;
  stages_done(c->s, "compile kernels", c->begin);
  for (; c->s->folder && k->dumped < k->list.len && !code; k->dumped++)
    code = dump_kernel(c->s, k->device, k->list.data[k->dumped]);
  return code;
}

int dump_kernels(Stages *s, PlanKernels *k, double begin) {
  Compiled c = {s, k, begin};
  return s ? error_guard(s->arena, kernels_body, &c) : 0;
}
