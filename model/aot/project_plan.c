/* plan.c: the plan as data, and as functions of the sizes. */
#include <inttypes.h>
#include <string.h>

#include "graph/ops/ops.h"
#include "lang/interp/interp.h"
#include "model/aot/project_state.h"
#include "planner/plan/buffer_pool.h"
#include "runtime/image/image.h"

/* ---- steps: kernels with their arguments and grids ---- */

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
  uint32_t i = 0;
  while (i < s->nargs && strcmp(s->args[i].name, name) != 0) i++;
  BUG_IF(i == s->nargs, "step %s has no argument %s", s->kernel, name);
  return &s->args[i];
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

/* The conditions of the aligned kernel, by its arguments' types. */
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
  int n = project_arguments(v);
  for (int i = 0; i < n; i++) {
    const StepArg *a = find_arg(s, image->params[v->slots[i].param].name);
    if (a->kind == STEP_INT) vec_push(p->arena, used, a->value);
    put_arg(p, out, a);
  }
  text_printf(out, "%s  };\n", n ? "" : "      0,\n");
}

static void put_step(Project *p, Text *out, uint32_t number) {
  const PlanStep *s = &p->plan->steps[number];
  int nargs = project_arguments(project_image(p, p->of_step[number].general)->variants[0]);
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

/* A function for each step, which launches its kernel, and the lists of all. */
static void project_put_steps(Project *p, Text *out) {
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

/* ---- buffers ---- */

static const char *kind_name(const Project *p, uint32_t i) {
  static const char *const names[] = {
      [BUFFER_INPUT] = "INPUT",   [BUFFER_WEIGHT] = "WEIGHT",       [BUFFER_CONSTANT] = "CONSTANT",
      [BUFFER_OUTPUT] = "OUTPUT", [BUFFER_TEMPORARY] = "TEMPORARY", [BUFFER_RECORDS] = "RECORDS"};
  const PlanBuffer *b = &p->plan->buffers[i];
  return b->kind == BUFFER_WEIGHT && p->buffers[i].written ? "STATE" : names[b->kind];
}

/* A buffer that is returned more than once is the first of these outputs. */
static uint32_t output_number(const Project *p, uint32_t buffer) {
  uint32_t i = 0;
  while (p->plan->outputs[i] != buffer) i++;
  return i;
}

static void put_buffer(Project *p, Text *out, uint32_t i) {
  const PlanBuffer *b = &p->plan->buffers[i];
  const ProjectBuffer *own = &p->buffers[i];
  text_printf(out, "    [%s] = {.kind = %s, .name = ", own->name, kind_name(p, i));
  text_quote(out, b->kind == BUFFER_WEIGHT ? b->tensor : plan_passed_name(b));
  switch (b->kind) {
    case BUFFER_INPUT:
      text_printf(out, ", .number = %u%s", b->number, own->written ? ", .written = true" : "");
      break;
    case BUFFER_RECORDS:
    case BUFFER_CONSTANT: text_printf(out, ", .at = %" PRId64, own->at); break;
    case BUFFER_OUTPUT: text_printf(out, ", .number = %u", output_number(p, i)); break;
    case BUFFER_WEIGHT:
      text_printf(out, ", .at = %" PRId64 ", .bytes = %" PRId64, own->at, project_bytes(p, i));
      if (own->written) text_printf(out, ", .state = %" PRId64, own->state);
      break;
    case BUFFER_TEMPORARY:
      text_printf(out, ", .first = %u, .last = %u", b->first, b->last);
      if (p->plan->pool) text_printf(out, ", .at = %s", project_size(p, b->offset));
      break;
  }
  text_printf(out, "}, /* %s */\n", project_comment(p->arena, project_type(p, b)));
}

static void put_buffers(Project *p, Text *out) {
  text_puts(out, "enum { /* buffers */\n");
  for (uint32_t i = 0; i < p->plan->nbuffers; i++)
    if (p->buffers[i].used) text_printf(out, "  %s,\n", p->buffers[i].name);
  text_puts(out, "  BUFFERS\n};\n\nstatic const Buffer buffers[BUFFERS + 1] = {\n");
  for (uint32_t i = 0; i < p->plan->nbuffers; i++)
    if (p->buffers[i].used) put_buffer(p, out, i);
  text_puts(out, "    [BUFFERS] = {.name = NULL},\n};\n\n");
}

/* ---- checks of indices: models without them have nothing of this ---- */

/* Bytes of all records, which are adjacent, in the order of their buffers. */
static void assign_record_offsets(Project *p) {
  for (uint32_t i = 0; i < p->plan->nbuffers; i++) {
    if (!p->buffers[i].used || p->plan->buffers[i].kind != BUFFER_RECORDS) continue;
    p->buffers[i].at = p->record_bytes;
    p->record_bytes += project_bytes(p, i);
  }
}

static void put_check(Project *p, Text *names, Text *sizes, DimList *used, const PlanCheck *c,
                      uint32_t number) {
  text_puts(names, "    {");
  text_quote(names, c->node);
  text_puts(names, ", ");
  text_quote(names, c->index);
  text_printf(names, ", %u, ", c->rank);
  if (c->fault) text_quote(names, c->fault);
  else text_puts(names, "NULL");
  text_puts(names, "},\n");
  vec_push(p->arena, used, c->least);
  vec_push(p->arena, used, c->size);
  text_printf(sizes, "    case %u: out[0] = %s, out[1] = %s", number, project_size(p, c->least),
              project_size(p, c->size));
  for (uint32_t i = 0; i < c->rank; i++) {
    vec_push(p->arena, used, c->shape[i]);
    text_printf(sizes, ", out[%u] = %s", 2 + i, project_size(p, c->shape[i]));
  }
  text_puts(sizes, "; break;\n");
}

static void put_checks(Project *p, Text *out) {
  Text names = text_new(p->arena), sizes = text_new(p->arena);
  DimList used = {0};
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->plan->nbuffers; i++)
    for (uint32_t j = 0; p->buffers[i].used && j < p->plan->buffers[i].nchecks; j++)
      put_check(p, &names, &sizes, &used, &p->plan->buffers[i].checks[j], n++);
  p->nchecks = n;
  if (!n) return;
  text_printf(out,
              "static const Check checks[] = {\n%s};\n\n"
              "static void check_sizes(int i, const int64_t *size, int64_t *out) {\n",
              names.data);
  project_declare_symbols(p, out, "size", used.data, (uint32_t)used.len);
  text_printf(out, "  switch (i) {\n%s    default: break;\n  }\n}\n\n", sizes.data);
}

static void put_updates(Project *p, Text *out) {
  const Plan *plan = p->plan;
  text_puts(out, "static const Update updates[] = {\n");
  for (uint32_t i = 0; i < plan->nupdates; i++)
    text_printf(out, "    {.to = %s, .from = %s},\n", p->buffers[plan->updates[i].to].name,
                p->buffers[plan->updates[i].from].name);
  text_puts(out, "    {-1, -1},\n};\n\n");
}

/* ---- loops that data ends: models without them have nothing of this ---- */

static void put_copies(Project *p, Text *out, uint32_t i) {
  const PlanLoop *l = &p->plan->loops[i];
  text_printf(out, "static const Update loop_%u[] = {\n", i);
  for (uint32_t k = 0; k < l->ncopies; k++)
    text_printf(out, "    {.to = %s, .from = %s},\n", p->buffers[l->copies[k].to].name,
                p->buffers[l->copies[k].from].name);
  text_puts(out, "    {-1, -1},\n};\n");
}

static void put_loops(Project *p, Text *out) {
  const Plan *plan = p->plan;
  if (!plan->nloops) return;
  for (uint32_t i = 0; i < plan->nloops; i++) put_copies(p, out, i);
  text_puts(out, "static const Loop loops[] = {\n");
  for (uint32_t i = 0; i < plan->nloops; i++) {
    const PlanLoop *l = &plan->loops[i];
    text_printf(out,
                "    {.first = %u, .body = %u, .past = %u, .inside = %u, .condition = %s, "
                ".copies = loop_%u},\n",
                l->first, l->body, l->past, l->inside, p->buffers[l->condition].name, i);
  }
  text_puts(out, "};\n\n");
}

/* ---- inputs and outputs ---- */

static const char *dtype_constant(Arena *a, DType t) {
#define X(id, name, kind, bits, lang, aliases) [DT_##id] = #id,
  static const char *const names[DT_COUNT] = {DTYPES(X)};
#undef X
  return arena_printf(a, "MODEL_%s", names[t]);
}

static void put_value(Project *p, Text *out, const PlanBuffer *b, uint32_t position) {
  if (!b) {
    text_puts(out, "    {NULL, \"\", MODEL_F32, 0, 0, 0},\n");
    return;
  }
  text_puts(out, "    {");
  text_quote(out, b->name);
  text_puts(out, ", ");
  text_quote(out, project_type(p, b));
  text_printf(out, ", %s, %u, %d, %u},\n", dtype_constant(p->arena, b->dtype), b->rank,
              b->value != NULL, position);
}

/* The bytes of the one value that the plan is for. */
static void put_fixed_value(Project *p, Text *out, uint32_t i) {
  const PlanBuffer *b = p->inputs[i];
  if (!b || !b->fixed) return;
  text_printf(out, "static const unsigned char input_%u[] = {", i);
  for (uint32_t j = 0; j < b->fixed->n; j++) {
    unsigned char bytes[8] = {0};
    bool floats = dtype_is_float(b->dtype);
    Scalar x = floats ? (Scalar){.f = b->fixed->floats[j]} : (Scalar){.i = b->fixed->ints[j]};
    scalar_store(b->dtype, x, bytes);
    for (unsigned k = 0; k < dtype_bytes(b->dtype); k++) text_printf(out, "%u, ", bytes[k]);
  }
  text_puts(out, "0};\n");
}

static void put_fixed(Project *p, Text *out) {
  for (uint32_t i = 0; i < p->ninputs; i++) put_fixed_value(p, out, i);
  text_puts(out, "static const unsigned char *const fixed[] = {");
  for (uint32_t i = 0; i < p->ninputs; i++) {
    if (p->inputs[i] && p->inputs[i]->fixed) text_printf(out, "input_%u, ", i);
    else text_puts(out, "NULL, ");
  }
  text_puts(out, "NULL};\n\n");
}

static void put_values(Project *p, Text *out) {
  const Plan *plan = p->plan;
  text_puts(out, "static const model_value input_values[] = {\n");
  for (uint32_t i = 0; i < p->ninputs; i++) put_value(p, out, p->inputs[i], i);
  text_puts(out,
            "    {NULL, NULL, MODEL_F32, 0, 0, 0},\n};\n"
            "static const model_value output_values[] = {\n");
  for (uint32_t i = 0; i < plan->noutputs; i++)
    put_value(p, out, &plan->buffers[plan->outputs[i]], plan->positions[i]);
  text_puts(out, "    {NULL, NULL, MODEL_F32, 0, 0, 0},\n};\nstatic const int input_buffers[] = {");
  for (uint32_t i = 0; i < p->ninputs; i++) {
    const PlanBuffer *b = p->inputs[i];
    bool used = b && p->buffers[b - plan->buffers].used;
    text_printf(out, "%s, ", used ? p->buffers[b - plan->buffers].name : "-1");
  }
  text_puts(out, "-1};\nstatic const int output_buffers[] = {");
  for (uint32_t i = 0; i < plan->noutputs; i++)
    text_printf(out, "%s, ", p->buffers[plan->outputs[i]].name);
  text_puts(out, "-1};\n\n");
}

/* ---- functions of sizes ---- */

static bool is_bare(const Project *p, const ProjectSymbol *s) {
  return plan_axis_size(p->inputs[s->input], s->axis) == s->symbol;
}

static void put_axis_function(Project *p, Text *out, const ProjectSymbol *s) {
  Dim x = plan_axis_size(p->inputs[s->input], s->axis);
  if (is_bare(p, s)) return;
  text_printf(out, "static int64_t axis_%u_%u(const int64_t *size) {\n", s->input, s->axis);
  project_declare_symbols(p, out, "size", &x, 1);
  text_printf(out, "  return %s;\n}\n\n", project_size(p, x));
}

static void put_symbols(Project *p, Text *out) {
  text_puts(out, "static const Symbol symbols[] = {\n");
  for (size_t i = 0; i < p->symbols.len; i++) {
    const ProjectSymbol *s = &p->symbols.data[i];
    text_printf(out, "    {\"%s\", %" PRId64 ", %" PRId64 ", %u, %u},\n", s->symbol->name, s->least,
                s->most, s->input, s->axis);
  }
  text_puts(out, "    {NULL, 0, 0, 0, 0},\n};\n\n");
}

static void put_bind(Project *p, Text *out) {
  for (size_t i = 0; i < p->symbols.len; i++) put_axis_function(p, out, &p->symbols.data[i]);
  text_puts(out,
            "static int64_t bind(int symbol, const model_tensor *inputs, int64_t *size) {\n"
            "  (void)inputs, (void)size;\n"
            "  switch (symbol) {\n");
  for (size_t i = 0; i < p->symbols.len; i++) {
    const ProjectSymbol *s = &p->symbols.data[i];
    bool number = p->inputs[s->input]->value != NULL;
    const char *given = number ? arena_printf(p->arena, "number_of(&inputs[%u])", s->input)
                               : arena_printf(p->arena, "inputs[%u].shape[%u]", s->input, s->axis);
    text_printf(out, "    case %zu: return ", i);
    if (is_bare(p, s)) text_printf(out, "%s;", given);
    else text_printf(out, "solve(axis_%u_%u, size, %zu, %s);", s->input, s->axis, i, given);
    text_printf(out, " /* %s */\n", s->name);
  }
  text_puts(out, "    default: return -1;\n  }\n}\n\n");
}

/* Prints the body of a function from sizes to `result`; `used` are the expressions in it. */
static void put_body(Project *p, Text *out, const Text *body, const char *result, const Dim *used,
                     size_t n) {
  if (!body->len) text_printf(out, "  (void)%s;\n", result);
  project_declare_symbols(p, out, "size", used, (uint32_t)n);
  text_printf(out, "%s}\n\n", body->len ? body->data : "");
}

/* The axes of the array in memory, where a complex number is two elements of the last axis. */
static uint32_t stored_axes(const PlanBuffer *b) { return b->value ? 1 : b->rank; }

/* Shapes of values, by number. */
static void put_shapes(Project *p, Text *out, const char *name, const PlanBuffer *const *values,
                       uint32_t n) {
  text_printf(out, "static void %s(const int64_t *size, int64_t (*shape)[MODEL_RANK]) {\n", name);
  Text body = text_new(p->arena);
  DimList used = {0};
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; values[i] && j < stored_axes(values[i]); j++) {
      Dim x = plan_axis_size(values[i], j);
      vec_push(p->arena, &used, x);
      text_printf(&body, "  shape[%u][%u] = %s;\n", i, j, project_size(p, x));
    }
  put_body(p, out, &body, "shape", used.data, used.len);
}

static void put_all_shapes(Project *p, Text *out) {
  const Plan *plan = p->plan;
  const PlanBuffer **outputs = ARENA_ARRAY(p->arena, const PlanBuffer *, plan->noutputs);
  for (uint32_t i = 0; i < plan->noutputs; i++) outputs[i] = &plan->buffers[plan->outputs[i]];
  put_shapes(p, out, "input_shapes", p->inputs, p->ninputs);
  put_shapes(p, out, "output_shapes", outputs, plan->noutputs);
}

/* Relations of sizes; models without any have nothing of it. */
static void put_relations(Project *p, Text *out) {
  static const char *const kinds[] = {
      [SIZES_EQUAL] = "EQUAL", [SIZE_AT_LEAST] = "AT_LEAST", [SIZES_DIFFER] = "DIFFER"};
  Text body = text_new(p->arena);
  DimList used = {0};
  if (!p->relations.len) return;
  text_puts(out, "static const Relation relations[] = {\n");
  for (size_t i = 0; i < p->relations.len; i++) {
    const SizeRelation *e = &p->relations.data[i];
    const char *a = project_size(p, e->a), *b = project_size(p, e->b);
    vec_push(p->arena, &used, e->a);
    vec_push(p->arena, &used, e->b);
    text_puts(out, "    {");
    text_quote(out, e->node);
    text_printf(out, ", \"%s\", \"%s\", %s},\n", a, b, kinds[e->kind]);
    text_printf(&body, "    case %zu: pair[0] = %s, pair[1] = %s; break;\n", i, a, b);
  }
  text_puts(out, "};\n\nstatic void relation_pair(int i, const int64_t *size, int64_t *pair) {\n");
  project_declare_symbols(p, out, "size", used.data, (uint32_t)used.len);
  text_printf(out, "  switch (i) {\n%s    default: break;\n  }\n}\n\n", body.data);
}

static void put_bytes(Project *p, Text *out) {
  Text body = text_new(p->arena);
  DimList used = {0};
  for (uint32_t i = 0; i < p->plan->nbuffers; i++) {
    const PlanBuffer *b = &p->plan->buffers[i];
    if (!p->buffers[i].used || b->kind == BUFFER_WEIGHT) continue;
    Dim bytes = memory_bytes(p->plan->graph->dims, b);
    vec_push(p->arena, &used, bytes);
    text_printf(&body, "  bytes[%s] = %s; /* %s */\n", p->buffers[i].name, project_size(p, bytes),
                project_comment(p->arena, project_type(p, b)));
  }
  text_puts(out,
            "/* Of all buffers but weights. */\n"
            "static void bytes(const int64_t *size, int64_t *bytes) {\n");
  put_body(p, out, &body, "bytes", used.data, used.len);
}

/* ---- the file ---- */

static void put_plan(Project *p, Text *out) {
  const Plan *plan = p->plan;
  text_puts(out,
            "const Plan model_plan = {\n"
            "    .buffers = buffers,\n"
            "    .symbols = symbols,\n"
            "    .updates = updates,\n"
            "    .steps = steps,\n"
            "    .kernels = kernels,\n"
            "    .nbuffers = BUFFERS,\n");
  text_printf(out, "    .nsymbols = %zu,\n    .nupdates = %u,\n    .nsteps = %u,\n", p->symbols.len,
              plan->nupdates, plan->nsteps);
  text_printf(out, "    .nonce = %u,\n    .nkernels = %zu,\n", plan_once(plan), p->kernels.len);
  text_puts(out,
            "    .inputs = input_values,\n"
            "    .outputs = output_values,\n"
            "    .fixed = fixed,\n"
            "    .input_buffers = input_buffers,\n"
            "    .output_buffers = output_buffers,\n");
  text_printf(out, "    .replay = %s,\n", p->options->replay && !plan->nloops ? "true" : "false");
  text_printf(out, "    .pool = %s,\n    .state = %" PRId64 ",\n    .constants = %" PRId64 ",\n",
              plan->pool ? project_size(p, plan->pool) : "-1", p->state_bytes, p->constant_bytes);
  text_printf(out, "    .weights_kept = %" PRId64 ",\n", p->weights_kept);
  text_printf(out, "    .weights_bytes = %" PRId64 ",\n    .weights_sum = 0x%016" PRIx64 ",\n",
              p->weights_bytes, p->weights_sum);
  if (p->relations.len)
    text_printf(out,
                "    .relations = relations,\n    .nrelations = %zu,\n"
                "    .relation_pair = relation_pair,\n",
                p->relations.len);
  if (p->nchecks)
    text_printf(out, "    .checks = checks,\n    .nchecks = %u,\n    .check_sizes = check_sizes,\n",
                p->nchecks);
  if (plan->nloops) text_printf(out, "    .loops = loops,\n    .nloops = %u,\n", plan->nloops);
  text_puts(out,
            "    .bind = bind,\n"
            "    .input_shapes = input_shapes,\n"
            "    .output_shapes = output_shapes,\n"
            "    .bytes = bytes,\n"
            "};\n");
}

int project_write_plan(Project *p) {
  Text t = text_new(p->arena);
  text_puts(&t,
            "/* The plan: buffers, and the kernels that run on them in order. */\n"
            "#include \"plan.h\"\n\n#include <stddef.h>\n\n");
  assign_record_offsets(p);
  put_buffers(p, &t);
  put_updates(p, &t);
  put_loops(p, &t);
  put_values(p, &t);
  put_fixed(p, &t);
  put_symbols(p, &t);
  put_bind(p, &t);
  put_all_shapes(p, &t);
  put_relations(p, &t);
  put_checks(p, &t);
  put_bytes(p, &t);
  project_put_steps(p, &t);
  put_plan(p, &t);
  const char *named = project_rename(p, t.data, false);
  return project_file_write(&p->folder, "plan.c", named, strlen(named));
}

int64_t project_bytes(const Project *p, uint32_t buffer) {
  return memory_bytes(p->plan->graph->dims, &p->plan->buffers[buffer])->value;
}

const char *project_comment(Arena *a, const char *text) {
  char *copy = arena_strndup(a, text, strlen(text));
  for (char *s = copy; *s; s++)
    if ((s[0] == '*' && s[1] == '/') || *s == '\n') *s = ' ';
  return copy;
}

const char *project_type(Project *p, const PlanBuffer *b) {
  ValueType t = {.kind = VALUE_TENSOR, .dtype = b->dtype, .rank = b->rank, .shape = b->shape};
  if (b->value) t = (ValueType){.kind = VALUE_INT, .value = b->value};
  Text text = text_new(p->arena);
  value_type_print(&text, &t);
  return text.data;
}
