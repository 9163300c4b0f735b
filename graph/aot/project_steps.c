/* The steps of plan.c: kernels with their arguments and grids. */
#include <inttypes.h>
#include <string.h>

#include "graph/aot/project_state.h"
#include "graph/ops/ops.h"
#include "runtime/image/image.h"

static void put_covered(Project *p, Text *out, const PlanStep *s) {
  for (uint32_t i = 0; i < s->nnodes; i++) {
    const Node *n = s->nodes[i];
    Text t = text_new(p->arena);
    text_printf(&t, "%s", n->name);
    if (n->type.kind == VALUE_TENSOR) {
      text_puts(&t, ": ");
      value_type_print(&t, &n->type);
    }
    if (n->op) text_printf(&t, " = %s", n->op->target);
    text_printf(out, "\n *   %s", project_comment(p->arena, t.data));
  }
}

static const StepArg *find_arg(const PlanStep *s, const char *name) {
  for (uint32_t i = 0; i < s->nargs; i++)
    if (!strcmp(s->args[i].name, name)) return &s->args[i];
  BUG("step %s has no argument %s", s->kernel, name);
}

static void put_arg(Project *p, Text *out, const StepArg *a) {
  text_puts(out, "      ");
  if (a->kind == STEP_INT) {
    text_printf(out, "INTEGER(%s), /* %s */\n", project_size(p, a->value), a->name);
    return;
  }
  if (a->kind == STEP_FLOAT) {
    float number = (float)a->number;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    text_printf(out, "0x%08" PRIx32 ", /* %s, a float: %.9g */\n", bits, a->name, a->number);
    return;
  }
  text_printf(out, "POINTER(%s), /* %s */\n", p->buffers[a->buffer].name,
              project_comment(p->arena, project_type(p, &p->plan->buffers[a->buffer])));
}

/* What must hold for the aligned kernel: its arguments' types tell. */
static void put_condition(Project *p, Text *out, const PlanStep *s, const ProjectChoice *c,
                          DimList *used) {
  const nereid_request *general = &p->kernels.data[c->general].request;
  const nereid_request *aligned = &p->kernels.data[c->aligned].request;
  const char *and = "";
  for (int i = 0; i < general->nargs; i++) {
    const char *type = general->args[i].type;
    if (!type || !strcmp(type, aligned->args[i].type)) continue;
    Dim value = find_arg(s, general->args[i].name)->value;
    vec_push(p->arena, used, value);
    text_printf(out, "%s(%s) %% 16 == 0", and, project_size(p, value));
    and = " && ";
  }
}

static void put_kernel_number(Project *p, Text *out, uint32_t number, DimList *used) {
  const ProjectChoice *c = &p->of_step[number];
  if (c->general == c->aligned) {
    text_printf(out, "  const int kernel = %u;\n", c->general);
    return;
  }
  text_puts(out, "  const int kernel = ");
  put_condition(p, out, &p->plan->steps[number], c, used);
  text_printf(out, " ? %u : %u; /* rows at multiples of 16 */\n", c->aligned, c->general);
}

/* The arguments that the kernel takes, in its order. */
static void put_args(Project *p, Text *out, uint32_t number, DimList *used) {
  const PlanStep *s = &p->plan->steps[number];
  const nereid_image *image = project_image(p, p->of_step[number].general);
  const ImageVariant *v = image->variants[0];
  text_puts(out, "  const uint64_t args[] = {\n");
  for (int i = 0; i < v->nslots; i++) {
    if (v->slots[i].kind != SLOT_ARG) BUG("kernel %s has derived parameters", s->kernel);
    const StepArg *a = find_arg(s, image->params[v->slots[i].param].name);
    if (a->kind == STEP_INT) vec_push(p->arena, used, a->value);
    put_arg(p, out, a);
  }
  text_printf(out, "%s  };\n", v->nslots ? "" : "      0,\n");
}

static void put_step(Project *p, Text *out, uint32_t number) {
  const PlanStep *s = &p->plan->steps[number];
  int nargs = project_image(p, p->of_step[number].general)->variants[0]->nslots;
  Text body = text_new(p->arena);
  DimList used = {0};
  put_kernel_number(p, &body, number, &used);
  put_args(p, &body, number, &used);
  for (int i = 0; i < 3; i++) vec_push(p->arena, &used, s->grid[i]);
  text_printf(out, "/* %s%s", project_comment(p->arena, s->kernel), s->once ? ", once" : "");
  put_covered(p, out, s);
  if (s->measured) text_printf(out, "\n * fastest: %s", project_comment(p->arena, s->measured));
  text_printf(out, " */\nstatic int step_%u(Run *r) {\n", number);
  project_declare_symbols(p, out, "r->size", used.data, (uint32_t)used.len);
  text_printf(out, "%s  return model_launch(r, kernel, args, %d", body.data, nargs);
  for (int i = 0; i < 3; i++) text_printf(out, ", %s", project_size(p, s->grid[i]));
  text_puts(out, ");\n}\n\n");
}

void project_put_steps(Project *p, Text *out) {
  text_puts(out,
            "#define POINTER(buffer) ((uint64_t)(uintptr_t)r->data[buffer])\n"
            "#define INTEGER(size) ((uint64_t)(size))\n\n");
  for (uint32_t i = 0; i < p->plan->nsteps; i++) put_step(p, out, i);
  text_puts(out, "static int (*const steps[])(Run *) = {\n");
  for (uint32_t i = 0; i < p->plan->nsteps; i++) text_printf(out, "    step_%u,\n", i);
  text_puts(out, "    NULL,\n};\n\nstatic const char *const kernels[] = {\n");
  for (size_t i = 0; i < p->kernels.len; i++)
    text_printf(out, "    \"%s\",\n", p->kernels.data[i].name);
  text_puts(out, "    NULL,\n};\n\n");
}
