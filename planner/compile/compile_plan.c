#include "planner/compile/compile_plan.h"

#include <string.h>

#include "graph/analysis/library_problem.h"
#include "graph/analysis/loops.h"
#include "graph/analysis/numbers.h"
#include "graph/analysis/strided.h"
#include "graph/messages.h"
#include "graph/ops/graph_text.h"
#include "graph/ops/infer_rules.h"
#include "graph/ops/verify_graph.h"
#include "planner/compile/join_launches.h"
#include "planner/compile/step_cost.h"
#include "planner/fuse/fuse.h"
#include "planner/fuse/strips.h"
#include "planner/kernels/buffer_reuse.h"
#include "planner/kernels/source_functions.h"
#include "planner/messages.h"
#include "planner/passes.h"
#include "planner/plan/buffer_pool.h"
#include "planner/plan/call.h"
#include "planner/plan/cpu_rows.h"
#include "planner/plan/overlap.h"
#include "planner/plan/plan.h"
#include "planner/plan/tiles.h"
#include "tiling/panels.h"
#include "tiling/few_rows.h"
#include "tiling/weight_rows.h"

/* A group's step, but for its buffers, and its kernel. */
typedef struct {
  Kernel *kernel;
  Text text;
  PlanStep step;
} Written;

typedef struct PlanCompiler {
  Graph *g;
  const CompileOptions *options;
  Fusion *fusion;
  InPlace *in_place;
  const StepCost *costs; /* by group */
  Plan *plan;
  Functions *functions;
  uint32_t *buffer_of; /* by node id: 1 + the buffer's number */
  VEC(PlanBuffer) buffers;
  VEC(PlanStep) once, steps;
  Arena *written; /* kernels before those of equal texts are one function */
  VEC(PlanRead) reads;
  uint32_t nrecords; /* names of such buffers that were tried */
} PlanCompiler;

/* ---- buffers ---- */

/* A scatter's value is in the buffer to which it writes. */
static uint32_t node_buffer(PlanCompiler *c, Node *n) {
  n = prim_memory(in_place_memory(c->in_place, n));
  uint32_t *number = &c->buffer_of[n->id];
  if (*number) return *number - 1;
  PlanBuffer b = {.name = n->name, .dtype = n->type.dtype, .rank = n->type.rank};
  b.shape = n->type.shape;
  b.kind = n->kind != NODE_INPUT         ? BUFFER_TEMPORARY
           : n->input.kind == INPUT_USER ? BUFFER_INPUT
                                         : BUFFER_WEIGHT;
  if (n->kind == NODE_INPUT) b.tensor = n->input.tensor;
  if (b.kind == BUFFER_INPUT) b.fixed = n->input.fixed;
  b.overwritten = b.kind == BUFFER_INPUT && n->input.overwritten;
  b.is_complex = b.kind == BUFFER_INPUT && n->input.is_complex;
  vec_push(c->g->arena, &c->buffers, b);
  *number = (uint32_t)c->buffers.len;
  return *number - 1;
}

/* A number of the caller's. */
static void add_input_number(PlanCompiler *c, const Node *n, uint32_t number) {
  PlanBuffer b = {.kind = BUFFER_INPUT, .name = n->name, .dtype = DT_I64, .number = number};
  b.tensor = n->input.tensor;
  b.value = n->type.value;
  vec_push(c->g->arena, &c->buffers, b);
}

/* The inputs come first, in the order in which the caller passes them. */
static void add_inputs(PlanCompiler *c) {
  uint32_t number = 0;
  for (Node *n = c->g->first; n; n = n->next) {
    if (n->kind != NODE_INPUT || n->type.kind == VALUE_NONE) continue;
    if (n->type.kind == VALUE_INT) {
      add_input_number(c, n, number++);
    } else {
      uint32_t b = node_buffer(c, n);
      if (c->buffers.data[b].kind == BUFFER_INPUT) c->buffers.data[b].number = number++;
    }
  }
}

/* The value of an integer that the graph returns; NULL: the node, a copy of its tensor, is none. */
static Dim returned_number(const Node *n) {
  const Node *of = n->nargs && n->args[0].kind == ARG_NODE ? n->args[0].node : n;
  const Arg *a = of->is_number ? &of->args[1] : NULL;
  return !a ? NULL : a->kind == ARG_NODE ? a->node->type.value : a->dim;
}

/* The buffer may be that of a temporary, over which the result is written. */
static void add_output(PlanCompiler *c, Node *n, bool is_complex, Name name) {
  uint32_t b = node_buffer(c, n);
  if (in_place_memory(c->in_place, n) != n) {
    c->buffers.data[b].name = n->name;
    c->buffers.data[b].rank = n->type.rank;
    c->buffers.data[b].shape = n->type.shape;
  }
  c->buffers.data[b].is_complex = is_complex;
  c->buffers.data[b].tensor = name;
  c->buffers.data[b].number_of = returned_number(n);
  c->buffers.data[b].kind = BUFFER_OUTPUT;
  c->buffers.data[b].number = c->plan->noutputs;
  c->plan->positions[c->plan->noutputs] = c->plan->nreturned++;
  c->plan->outputs[c->plan->noutputs++] = b;
}

/* A value that was written in place needs no copy. */
static void add_update(PlanCompiler *c, Node *target, Node *value) {
  PlanUpdate u = {.to = node_buffer(c, target), .from = node_buffer(c, value)};
  if (u.to != u.from) c->plan->updates[c->plan->nupdates++] = u;
}

static void add_outputs(PlanCompiler *c) {
  const Arg *list = &c->g->last->args[0];
  const OutputSpec *specs = c->g->outputs;
  const Name *names = c->g->output_names;
  c->plan->outputs = ARENA_ARRAY(c->g->arena, uint32_t, list->n);
  c->plan->positions = ARENA_ARRAY(c->g->arena, uint32_t, list->n);
  c->plan->updates = ARENA_ARRAY(c->g->arena, PlanUpdate, list->n);
  for (uint32_t i = 0; i < list->n; i++) {
    bool update = specs && specs[i].kind == OUTPUT_MUTATION;
    Node *n = list->items[i].kind == ARG_NODE ? list->items[i].node : NULL;
    if (n && update) add_update(c, specs[i].target, n);
    else if (n && n->type.kind == VALUE_TENSOR)
      add_output(c, n, specs && specs[i].is_complex, names ? names[i] : NULL);
    else if (!update) c->plan->nreturned++;
  }
}

/* ---- steps ---- */

/* The kernel's text depends on the tile's shape. */
static void attention_step(PlanCompiler *c, const Tiles *t, const Group *g, Kernel *k, Text *text,
                           PlanStep *s) {
  Attention x = attention_of(c->g, g->nodes.data[0]);
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    x.adds |= graph_is(n, OP_nereid_attention_grad_added_default);
    if (graph_is(n, OP_nereid_attention_grad_parts_default)) x.parts = n->args[1].dim->value;
  }
  bool groups = t->gpu && device_has_warpgroups(c->g->gpu);
  AttentionShape shape = attention_shape(&x, t->gpu ? c->g->gpu->processors : 0, groups);
  if (x.kind == ATTENTION_FORWARD) kernel_attention(text, k, &shape);
  else kernel_attention_gradient(text, k, &shape);
  tiles_attention(t, &x, &shape, s);
}

/* k3_add_relu: its number, and what the kernel computes. */
static Name kernel_name(PlanCompiler *c, const Group *g) {
  Text t = text_new(c->g->arena);
  text_printf(&t, "k%u", g->number);
  for (size_t i = 0; i < g->nodes.len && t.len < 48; i++) {
    text_puts(&t, "_");
    text_puts(&t, ops_short_name(c->g->arena, g->nodes.data[i]->op->target));
  }
  return pool_name(c->g->names, t.data);
}

static PlanCheck check_of(Graph *g, const Node *n) {
  Dim size = graph_arg(g, n, "size").dim, zero = dim_int(g->dims, 0);
  bool negative = graph_arg(g, n, "negative").flag;
  return (PlanCheck){.node = graph_arg(g, n, "node").name,
                     .index = n->args[0].node->name,
                     .rank = n->type.rank,
                     .shape = n->type.shape,
                     .least = negative ? dim_sub(g->dims, zero, size) : zero,
                     .size = size,
                     .fault = prim_check_fault(g, n)};
}

/* records, records_1, ...: no node is called so. */
static Name records_name(PlanCompiler *c) {
  Graph *g = c->g;
  Name name;
  do {
    uint32_t number = c->nrecords++;
    const char *text = number ? arena_printf(g->arena, "records_%u", number) : "records";
    name = pool_name(g->names, text);
  } while (graph_find(g, name));
  return name;
}

/* Each step has records of its own, so that equal kernels stay equal. */
static StepArg records_argument(PlanCompiler *c, const Kernel *k) {
  Graph *g = c->g;
  uint32_t n = (uint32_t)k->checks.len;
  PlanCheck *checks = ARENA_ARRAY(g->arena, PlanCheck, n);
  Dim *shape = ARENA_NEW(g->arena, Dim);
  for (uint32_t i = 0; i < n; i++) checks[i] = check_of(g, k->checks.data[i]);
  *shape = dim_int(g->dims, PLAN_RECORD * (int64_t)n);
  PlanBuffer b = {.kind = BUFFER_RECORDS,
                  .name = records_name(c),
                  .dtype = DT_I64,
                  .rank = 1,
                  .shape = shape,
                  .checks = checks,
                  .nchecks = n};
  vec_push(g->arena, &c->buffers, b);
  return (StepArg){.name = pool_name(g->names, KERNEL_RECORDS),
                   .kind = STEP_BUFFER,
                   .buffer = (uint32_t)c->buffers.len - 1};
}

static void add_arguments(PlanCompiler *c, const Kernel *k, PlanStep *s) {
  s->args = ARENA_ARRAY(c->g->arena, StepArg, k->buffers.len + k->symbols.len + k->offsets.len + 1);
  for (size_t i = 0; i < k->buffers.len; i++) {
    const KernelBuffer *b = &k->buffers.data[i];
    Name name = pool_name(c->g->names, arena_printf(c->g->arena, "%s_ptr", b->name));
    uint32_t buffer = node_buffer(c, b->node);
    s->args[s->nargs++] = (StepArg){.name = name, .kind = STEP_BUFFER, .buffer = buffer};
  }
  if (k->checks.len) s->args[s->nargs++] = records_argument(c, k);
  for (size_t i = 0; i < k->symbols.len; i++) {
    Dim d = k->symbols.data[i];
    s->args[s->nargs++] = (StepArg){.name = kernel_symbol_name(k, d), .kind = STEP_INT, .value = d};
  }
  for (size_t i = 0; i < k->offsets.len; i++) {
    const KernelOffset *o = &k->offsets.data[i];
    s->args[s->nargs++] =
        (StepArg){.name = pool_name(c->g->names, o->name), .kind = STEP_INT, .value = o->value};
  }
}

/* So many programs that 64 bits do not count them. */
static void check_step_grid(PlanCompiler *c, const PlanStep *s) {
  const Node *n = s->nodes[0];
  for (int i = 0; i < 3; i++)
    if (s->grid[i]->kind == DIM_HUGE)
      diag_error(c->g->diags, n->location, E_GRAPH_TOO_LARGE, n->name, n->type.rank);
}

/* ---- calls of libraries ---- */

static Node *in_memory(Node *n) {
  while (prim_is_view(n)) n = view_operand(n);
  return n;
}

/* It has no text, but buffers as a kernel has. */
static void write_call(PlanCompiler *c, const Group *g, Written *out) {
  Node *n = g->nodes.data[0];
  Dim one = dim_int(c->g->dims, 1);
  const char *name = graph_arg(c->g, n, "function").name;
  PlanStep s = {.nodes = g->nodes.data, .nnodes = 1, .grid = {one, one, one}, .once = g->once};
  s.cost = &c->costs[g->number];
  s.kernel = pool_name(c->g->names, name);
  s.library = library_find(name);
  *out = (Written){.kernel = kernel_new(c->fusion, g, c->written), .step = s};
  for (uint32_t i = 0; i < n->nargs; i++)
    if (n->args[i].kind == ARG_NODE && n->args[i].node->type.kind == VALUE_TENSOR)
      kernel_buffer(out->kernel, in_memory(n->args[i].node));
  kernel_buffer(out->kernel, n);
}

static void add_call_buffer(PlanCompiler *c, PlanStep *s, CallArg arg, uint32_t buffer) {
  s->args[s->nargs++] = (StepArg){
      .name = pool_name(c->g->names, call_arg_name(arg)), .kind = STEP_BUFFER, .buffer = buffer};
}

static void add_call_number(PlanCompiler *c, PlanStep *s, CallArg arg, Dim value) {
  s->args[s->nargs++] = (StepArg){
      .name = pool_name(c->g->names, call_arg_name(arg)), .kind = STEP_INT, .value = value};
}

/* Its numbers follow the operand's own: offset, then strides. */
static void add_call_strides(PlanCompiler *c, PlanStep *s, CallArg first, Node *n) {
  Strided x = {0};
  Dim zero = dim_int(c->g->dims, 0);
  uint32_t rank = n->type.rank;
  if (!strided_of(c->g, n, &x)) {
    diag_error(c->g->diags, s->nodes[0]->location, E_GRAPH_CALL_STRIDES, s->nodes[0]->name,
               n->name);
    x.offset = x.stride[0] = x.stride[1] = x.stride[2] = zero;
  }
  add_call_number(c, s, first, x.offset);
  add_call_number(c, s, first + 1, rank == 3 ? x.stride[0] : zero);
  add_call_number(c, s, first + 2, x.stride[rank - 2]);
  add_call_number(c, s, first + 3, x.stride[rank - 1]);
}

enum { CHANNELS = 8 }; /* cuDNN's engines for tensor cores take so many, of 16 bits */

/* Bytes of a copy of images whose channels are no multiple of CHANNELS, with more of them. */
static Dim bytes_of_padded(PlanCompiler *c, const ValueType *t) {
  Dims *d = c->g->dims;
  Dim channels = t->shape[3], eight = dim_int(d, CHANNELS);
  if (dim_is_int(channels) && channels->value % CHANNELS == 0) return dim_int(d, 0);
  Dim n = dim_mul(d, eight, dim_floordiv(d, dim_add(d, channels, dim_int(d, CHANNELS - 1)), eight));
  for (int i = 0; i < 3; i++) n = dim_mul(d, n, t->shape[i]);
  return dim_mul(d, n, dim_int(d, (int64_t)dtype_bytes(t->dtype)));
}

/* Memory for the call alone. */
static uint32_t add_workspace(PlanCompiler *c, const PlanStep *s) {
  Dims *d = c->g->dims;
  Dim *shape = ARENA_NEW(c->g->arena, Dim);
  *shape = dim_int(d, library_workspace(s->library));
  if (library_work(s->library) != LIBRARY_PRODUCT) {
    LibraryConv v = library_conv_of(c->g, s->nodes[0]);
    *shape = dim_add(d, *shape, dim_add(d, bytes_of_padded(c, v.x), bytes_of_padded(c, v.y)));
  }
  PlanBuffer b = {.kind = BUFFER_TEMPORARY, .dtype = DT_I8, .rank = 1, .shape = shape};
  b.name = pool_name(c->g->names, arena_printf(c->g->arena, "workspace_%s", s->nodes[0]->name));
  vec_push(c->g->arena, &c->buffers, b);
  return (uint32_t)c->buffers.len - 1;
}

static void add_product_numbers(PlanCompiler *c, PlanStep *s) {
  Graph *g = c->g;
  Node *n = s->nodes[0], *a = n->args[0].node, *b = n->args[1].node;
  bool batched = a->type.rank == 3;
  add_call_number(c, s, CALL_BATCH, batched ? a->type.shape[0] : dim_int(g->dims, 1));
  add_call_number(c, s, CALL_M, a->type.shape[a->type.rank - 2]);
  add_call_number(c, s, CALL_N, b->type.shape[b->type.rank - 1]);
  add_call_number(c, s, CALL_K, a->type.shape[a->type.rank - 1]);
  add_call_strides(c, s, CALL_A_OFFSET, a);
  add_call_strides(c, s, CALL_B_OFFSET, b);
  add_call_number(c, s, CALL_ACTIVATION,
                  dim_int(g->dims, library_activation(graph_arg(g, n, "activation").name)));
  LibraryScales scales = library_scales(graph_arg(g, n, "scales").name);
  if (scales) add_call_number(c, s, CALL_SCALES, dim_int(g->dims, scales));
  if (graph_arg(g, n, "fast").flag) add_call_number(c, s, CALL_FAST, dim_int(g->dims, 1));
}

static void add_pair(PlanCompiler *c, PlanStep *s, CallArg first, const Dim *x) {
  add_call_number(c, s, first, x[0]);
  add_call_number(c, s, first + 1, x[1]);
}

static void add_convolution_numbers(PlanCompiler *c, PlanStep *s) {
  Node *n = s->nodes[0];
  LibraryConv v = library_conv_of(c->g, n);
  for (int i = 0; i < 2; i++)
    if (!strided_is_dense(c->g, n->args[i].node))
      diag_error(c->g->diags, n->location, E_GRAPH_CALL_STRIDES, n->name, n->args[i].node->name);
  add_call_number(c, s, CALL_IMAGES, v.x->shape[0]);
  add_pair(c, s, CALL_HEIGHT, v.x->shape + 1);
  add_call_number(c, s, CALL_CHANNELS, v.x->shape[3]);
  add_call_number(c, s, CALL_FEATURES, v.w->shape[0]);
  add_pair(c, s, CALL_WINDOW_H, v.w->shape + 1);
  add_pair(c, s, CALL_OUT_H, v.y->shape + 1);
  add_pair(c, s, CALL_STRIDE_H, v.stride);
  add_pair(c, s, CALL_PADDING_H, v.padding);
  add_pair(c, s, CALL_DILATION_H, v.dilation);
  add_call_number(c, s, CALL_GROUPS, v.groups);
}

static void add_scales(PlanCompiler *c, PlanStep *s, const Node *n) {
  static const char *const names[] = {"scale_a", "scale_b"};
  for (int i = 0; i < 2; i++) {
    Arg scale = graph_arg(c->g, n, names[i]);
    if (scale.kind != ARG_NODE) return;
    add_call_buffer(c, s, CALL_SCALE_A + (CallArg)i, node_buffer(c, in_memory(scale.node)));
  }
}

static void add_call_arguments(PlanCompiler *c, PlanStep *s) {
  Node *n = s->nodes[0];
  bool product = library_work(s->library) == LIBRARY_PRODUCT;
  Arg bias = product ? graph_arg(c->g, n, "bias") : arg_none();
  s->args = ARENA_ARRAY(c->g->arena, StepArg, CALL_ARGS);
  add_call_buffer(c, s, CALL_A, node_buffer(c, in_memory(n->args[0].node)));
  add_call_buffer(c, s, CALL_B, node_buffer(c, in_memory(n->args[1].node)));
  if (bias.kind == ARG_NODE) add_call_buffer(c, s, CALL_BIAS, node_buffer(c, in_memory(bias.node)));
  if (product) add_scales(c, s, n);
  add_call_buffer(c, s, CALL_OUT, node_buffer(c, n));
  if (library_workspace(s->library)) add_call_buffer(c, s, CALL_WORKSPACE, add_workspace(c, s));
  if (product) add_product_numbers(c, s);
  else add_convolution_numbers(c, s);
  if (library_rounds(c->g, n)) add_call_number(c, s, CALL_TF32, dim_int(c->g->dims, 1));
}

static void write_kernel(PlanCompiler *c, const Group *g, Written *out) {
  Arena *a = c->written;
  if (g->kind == GROUP_LIBRARY) {
    write_call(c, g, out);
    return;
  }
  Tiles tiles = {c->g, c->fusion, c->options->tune, c->options->target == TARGET_GPU};
  PlanStep s = {.nodes = g->nodes.data, .nnodes = (uint32_t)g->nodes.len};
  s.cost = &c->costs[g->number];
  Kernel *k = kernel_new(c->fusion, g, a);
  Text text = text_new(a);
  if (g->kind == GROUP_MATMUL) {
    PrimKind kind = prim_kind(g->nodes.data[0]->op);
    bool panels = c->g->host && panels_of(g->nodes.data[0]->args[1].node);
    if (kind == PRIM_CONVOLUTION && !panels) kernel_conv(&text, k);
    else if (weight_has_rows(c->g, g->nodes.data[0])) kernel_weight_rows(&text, k);
    else if (c->g->host && few_rows_suit(g->nodes.data[0])) kernel_few_rows(&text, k);
    else if (kind == PRIM_CONVOLUTION_WEIGHT) kernel_conv_weight(&text, k);
    else kernel_matmul(&text, k);
    tiles_matmul(&tiles, g, &s);
  } else if (g->kind == GROUP_ATTENTION) {
    attention_step(c, &tiles, g, k, &text, &s);
  } else if (group_slides(c->fusion, g)) {
    kernel_slides(&text, k);
    tiles_slides(&tiles, k->group, &s);
  } else {
    int64_t most = tiles_most(&tiles, g, s.cost);
    bool longer = !dim_is_int(g->r) || g->r->value > most;
    bool looped = !g->crossed && ((longer && !tiles_park_rows(&tiles, g, s.cost)) ||
                                  tiles_sum_blocks(&tiles, g, s.cost) ||
                                  (!tiles.gpu && cpu_rows_block(g, s.cost)) ||
                                  (group_vector_columns(c->fusion, g) && kernel_loops_once(k)));
    k->unrolls = looped && tiles_unroll(&tiles, g, s.cost);
    if (graph_is(g->nodes.data[0], OP_nereid_fourier_default)) kernel_fourier(&text, k);
    else if (graph_is(g->nodes.data[0], OP_nereid_turned_pairs_default)) kernel_pairs(&text, k);
    else if (graph_is(g->nodes.data[0], OP_nereid_scatter_rows_default)) kernel_rows(&text, k);
    else kernel_loops(&text, k, looped);
    tiles_loops(&tiles, k->group, looped, most, &s);
  }
  s.once = g->once;
  *out = (Written){k, text, s};
}

static void add_kernel(PlanCompiler *c, const Group *g, Written *w) {
  PlanStep *s = &w->step;
  in_place_choose(c->in_place, w->kernel, &w->text);
  add_arguments(c, w->kernel, s);
  if (diag_errors(c->g->diags) == 0) check_step_grid(c, s);
  s->kernel = functions_add(c->functions, w->kernel, w->text.data, s->cost, kernel_name(c, g));
}

/* No kernel reads its result: those that did have no elements. */
static bool writes_nothing(const Kernel *k) { return !k->outputs && !k->inouts && !k->checks.len; }

static void add_step(PlanCompiler *c, const Group *g, Written *w) {
  Arena *a = c->g->arena;
  PlanStep *s = &w->step;
  if (!s->library && writes_nothing(w->kernel)) return;
  if (s->library) add_call_arguments(c, s);
  else add_kernel(c, g, w);
  if (g->once) vec_push(a, &c->once, *s);
  else vec_push(a, &c->steps, *s);
}

/* All kernels are written before buffers are chosen: who reads a value last is known then. */
static Written *write_kernels(PlanCompiler *c) {
  uint32_t n = (uint32_t)c->fusion->groups.len;
  Written *all = ARENA_ARRAY(c->written, Written, n);
  Kernel **kernels = ARENA_ARRAY(c->g->arena, Kernel *, n);
  for (uint32_t i = 0; i < n; i++) {
    write_kernel(c, c->fusion->groups.data[i], &all[i]);
    kernels[i] = all[i].kernel;
  }
  c->in_place = in_place_new(c->fusion, kernels);
  return all;
}

/* The host, or a copy, reads the buffer in each run. */
static void keep_constant(PlanCompiler *c, const bool *once, uint32_t buffer) {
  PlanBuffer *b = &c->buffers.data[buffer];
  if (once[buffer] && b->kind == BUFFER_TEMPORARY) b->kind = BUFFER_CONSTANT;
}

/* Temporaries that a step of the constant part and another step use are constants. */
static void find_constants(PlanCompiler *c) {
  bool *once = ARENA_ARRAY(c->g->arena, bool, c->buffers.len);
  for (uint32_t i = 0; i < c->plan->nsteps; i++)
    for (uint32_t j = 0; j < c->plan->steps[i].nargs; j++) {
      const StepArg *a = &c->plan->steps[i].args[j];
      if (a->kind != STEP_BUFFER) continue;
      PlanBuffer *b = &c->buffers.data[a->buffer];
      if (c->plan->steps[i].once) once[a->buffer] = true;
      else if (once[a->buffer] && b->kind == BUFFER_TEMPORARY) b->kind = BUFFER_CONSTANT;
    }
  for (uint32_t i = 0; i < c->plan->nloops; i++) {
    const PlanLoop *loop = &c->plan->loops[i];
    keep_constant(c, once, loop->condition);
    for (uint32_t j = 0; j < loop->ncopies; j++) keep_constant(c, once, loop->copies[j].from);
  }
  for (uint32_t i = 0; i < c->plan->nreads; i++) keep_constant(c, once, c->plan->reads[i].buffer);
}

/* The constant part comes first. */
static void join_steps(PlanCompiler *c) {
  uint32_t n = (uint32_t)c->once.len;
  for (size_t i = 0; i < c->steps.len; i++) vec_push(c->g->arena, &c->once, c->steps.data[i]);
  c->plan->steps = c->once.data;
  c->plan->nsteps = n + (uint32_t)c->steps.len;
}

static void write_source(const PlanCompiler *c) {
  Text t = text_new(c->g->arena);
  size_t n = c->functions->list.len;
  c->plan->functions = ARENA_ARRAY(c->g->arena, PlanFunction, n);
  c->plan->nfunctions = (uint32_t)n;
  helpers_print(&t, c->functions);
  functions_print(&t, c->functions, c->plan->functions);
  c->plan->source = t.data;
}

/* ---- sizes that data decides ---- */

static bool dim_has_symbol(Dim x, Dim symbol) {
  bool found = x == symbol;
  for (uint32_t i = 0; i < x->n && !found; i++) found = dim_has_symbol(x->args[i], symbol);
  return found;
}

/* Does an input say what it is? */
static bool is_given(const PlanCompiler *c, Dim symbol) {
  for (const Node *n = c->g->first; n; n = n->next) {
    if (n->kind != NODE_INPUT) continue;
    if (n->type.kind == VALUE_INT && n->type.value && dim_has_symbol(n->type.value, symbol))
      return true;
    for (uint32_t i = 0; i < n->type.rank; i++)
      if (dim_has_symbol(n->type.shape[i], symbol)) return true;
  }
  return false;
}

/* The read that says what it is; NULL: there is none. */
static const PlanRead *read_of(const PlanCompiler *c, Dim symbol) {
  for (size_t i = 0; i < c->reads.len; i++)
    if (c->reads.data[i].symbol == symbol) return &c->reads.data[i];
  return NULL;
}

/* The symbol that the count is read as.  A size that is known, or that another count says, has a
 * symbol of its own, which each run takes to be equal; NULL: an input says what the size is. */
static Dim symbol_of_count(PlanCompiler *c, const Node *n, uint32_t buffer) {
  Dim size = n->type.shape[0];
  const PlanRead *same = read_of(c, size);
  bool known = size->kind != DIM_SYMBOL || same;
  if (!known) return is_given(c, size) ? NULL : size;
  if (same && same->buffer == buffer) return NULL;
  Dim symbol = infer_new_symbol(c->g);
  SizeRelation equal = {symbol, size, n->name, SIZES_EQUAL};
  vec_push(c->g->arena, &c->g->relations, equal);
  return symbol;
}

/* Reads whose count is there before the group of that number runs. */
static void add_reads(PlanCompiler *c, uint32_t number) {
  for (size_t i = 0; i < c->fusion->reads.len; i++) {
    const FusionRead *r = &c->fusion->reads.data[i];
    if (r->number != number) continue;
    PlanRead read = {.step = (uint32_t)c->steps.len};
    read.buffer = node_buffer(c, r->node->args[1].node);
    read.symbol = symbol_of_count(c, r->node, read.buffer);
    read.most = r->node->args[0].node->type.shape[0];
    if (read.symbol) vec_push(c->g->arena, &c->reads, read);
  }
}

static void finish_reads(PlanCompiler *c) {
  for (size_t i = 0; i < c->reads.len; i++) c->reads.data[i].step += (uint32_t)c->once.len;
  c->plan->reads = c->reads.data;
  c->plan->nreads = (uint32_t)c->reads.len;
}

/* ---- loops that data ends ---- */

/* How many steps of the plan come before the group of that number, which is not of the constant
 * part. */
static uint32_t steps_before(const PlanCompiler *c, uint32_t number) {
  uint32_t n = (uint32_t)c->once.len;
  for (uint32_t i = 0; i < number; i++) n += !c->fusion->groups.data[i]->once;
  return n;
}

static PlanLoop plan_loop(PlanCompiler *c, size_t at) {
  const FusionLoop *loop = &c->fusion->loops.data[at];
  const Arg *carried = &loop->end->args[1], *next = &loop->end->args[2];
  PlanLoop p = {.first = steps_before(c, loop->first),
                .body = steps_before(c, loop->body),
                .past = steps_before(c, loop->past)};
  p.condition = node_buffer(c, loop->end->args[0].node->args[0].node);
  p.copies = ARENA_ARRAY(c->g->arena, PlanUpdate, carried->n);
  for (uint32_t i = 0; i < carried->n; i++) {
    PlanUpdate copy = {node_buffer(c, carried->items[i].node), node_buffer(c, next->items[i].node)};
    if (copy.to != copy.from) p.copies[p.ncopies++] = copy;
  }
  p.inside = loop->inside;
  return p;
}

static void add_loops(PlanCompiler *c) {
  uint32_t n = (uint32_t)c->fusion->loops.len;
  c->plan->loops = ARENA_ARRAY(c->g->arena, PlanLoop, n);
  c->plan->nloops = n;
  for (uint32_t i = 0; i < n; i++) c->plan->loops[i] = plan_loop(c, i);
}

/* Where the host waits for data, or runs steps again, their numbers are known elsewhere. */
static void join_small_steps(PlanCompiler *c) {
  bool joins = c->options->fuse && c->options->target == TARGET_GPU && !c->options->tune;
  if (!joins || c->fusion->reads.len || c->fusion->loops.len) return;
  uint32_t once = (uint32_t)c->once.len, n = (uint32_t)c->steps.len;
  c->steps.len = join_launches(c->g, c->functions, c->steps.data, n, once);
  VEC(PlanStep) all = {0};
  for (size_t i = 0; i < c->once.len; i++) vec_push(c->g->arena, &all, c->once.data[i]);
  for (size_t i = 0; i < c->steps.len; i++) vec_push(c->g->arena, &all, c->steps.data[i]);
  functions_keep_used(c->functions, all.data, (uint32_t)all.len);
}

static void make_plan(PlanCompiler *c) {
  c->buffer_of = ARENA_ARRAY(c->g->arena, uint32_t, c->g->nids);
  c->functions = functions_new(c->g->arena);
  c->costs = cost_of_groups(c->fusion);
  c->written = arena_child(c->g->arena);
  Written *written = write_kernels(c);
  add_inputs(c);
  uint32_t ngroups = (uint32_t)c->fusion->groups.len;
  for (uint32_t i = 0; i < ngroups; i++) {
    add_reads(c, i);
    add_step(c, c->fusion->groups.data[i], &written[i]);
  }
  add_reads(c, ngroups);
  arena_free(c->written);
  join_small_steps(c);
  finish_reads(c);
  add_loops(c);
  add_outputs(c);
  join_steps(c);
  find_constants(c);
  write_source(c);
  c->plan->buffers = c->buffers.data;
  c->plan->nbuffers = (uint32_t)c->buffers.len;
}

/* Sorting needs a row in a tile, and scatters are made of atomics. */
static bool memory_has_kernel(Graph *g, const Node *n) {
  const ValueType *t = &n->type;
  if (n->op->id == OP_nereid_sort_default) {
    int64_t axis = graph_arg(g, n, "dim").dim->value;
    Dim row = t->rank ? t->shape[axis < 0 ? axis + t->rank : axis] : dim_int(g->dims, 1);
    return dim_is_int(row) && row->value <= TILES_SORTED_MAX;
  }
  if (prim_kind(n->op) != PRIM_SCATTER || prim_does_rows(n) || prim_of_kernel(n) || prim_puts(n))
    return true;
  Name reduce = graph_arg(g, n, "reduce").name;
  bool sums = !strcmp(reduce, "sum");
  if (!sums && strcmp(reduce, "amax") && strcmp(reduce, "amin")) return false;
  bool whole = dtype_is_int(t->dtype) && dtype_bits(t->dtype) >= 32 && dtype_is_signed(t->dtype);
  return whole || (sums && (t->dtype == DT_F32 || t->dtype == DT_F64));
}

/* The product templates sum up in f32; of matrices on a CPU and of groups, doubles too, of integers
 * of 8 bits in i32. */
static bool sums_fit(const Graph *g, const Node *n) {
  DType held = kernel_held(n->type.dtype);
  bool matrices = prim_kind(n->op) == PRIM_MATMUL;
  bool doubles = matrices && (g->host || prim_groups(n) != GROUPS_NONE);
  bool bytes = graph_is_any(n, OP_nereid_int8_mm_default, OP_nereid_conv_default) &&
               n->args[0].node->type.dtype == DT_I8;
  return held == DT_F32 || (doubles && held == DT_F64) || bytes;
}

static bool has_kernel(Graph *g, const Node *n) {
  PrimKind k = prim_kind(n->op);
  if (!memory_has_kernel(g, n)) return false;
  if (k != PRIM_LIBRARY && prim_is_product(k) && !sums_fit(g, n)) return false;
  if (k == PRIM_ATTENTION) {
    Attention x = attention_of(g, n);
    return x.kind == ATTENTION_FORWARD ? attention_fits_forward(g, x.query, x.value)
                                       : attention_fits(x.query, x.value);
  }
  return k != PRIM_NONE;
}

/* Types that a caller can pass and get. */
static bool is_passed(Graph *g, const Node *n, const char *message) {
  ValueKind k = n->type.kind;
  if (k == VALUE_TENSOR || k == VALUE_NONE || (k == VALUE_INT && n->type.value)) return true;
  diag_error(g->diags, n->location, message, n->name);
  return false;
}

static bool all_passed(Graph *g) {
  const Arg *list = &g->last->args[0];
  bool good = true;
  for (const Node *n = g->first; n; n = n->next)
    if (n->kind == NODE_INPUT) good &= is_passed(g, n, E_GRAPH_INPUT_KIND);
  for (uint32_t i = 0; i < list->n; i++)
    if (list->items[i].kind == ARG_NODE)
      good &= is_passed(g, list->items[i].node, E_GRAPH_OUTPUT_KIND);
  return good;
}

typedef struct {
  Graph *g;
  const bool *inside; /* by node id: it is computed of a tile of an attention */
  const Node *user;
  bool any, good;
} TileUse;

static void note_tile_use(Node **operand, void *ctx) {
  TileUse *u = ctx;
  if (!u->inside[(*operand)->id]) return;
  const Node *n = u->user;
  PrimKind k = n->kind == NODE_CALL ? prim_kind(n->op) : PRIM_NONE;
  u->any = true;
  if (prim_of_kernel(n)) return;
  u->good &= k == PRIM_ATTENTION ? !attention_reads(u->g, n, *operand)
                                 : k == PRIM_POINTWISE || k == PRIM_TILE || prim_is_view(n);
}

/* Values within an attention's kernel are used there alone. */
static bool tiles_stay_inside(Graph *g) {
  bool *inside = ARENA_ARRAY(g->arena, bool, g->nids);
  bool good = true;
  for (Node *n = g->first; n; n = n->next) {
    TileUse use = {g, inside, n, n->kind == NODE_CALL && prim_kind(n->op) == PRIM_TILE, true};
    graph_each_use(n, note_tile_use, &use);
    bool leaves = prim_of_kernel(n) || (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_ATTENTION);
    inside[n->id] = use.any && !leaves;
    if (!use.good) diag_error(g->diags, n->location, E_GRAPH_TILE, n->name);
    good &= use.good;
  }
  return good;
}

/* After decompose all that is left is primitives, sizes, and checks that hold. */
static bool all_primitive(Graph *g) {
  bool good = true;
  for (const Node *n = g->first; n; n = n->next) {
    bool tensors = n->type.kind == VALUE_TENSOR || n->type.kind == VALUE_LIST;
    if (n->kind != NODE_CALL || !tensors || has_kernel(g, n)) continue;
    diag_error(g->diags, n->location, E_GRAPH_NO_KERNEL, n->op->target, ops_where(g, n));
    good = false;
  }
  return good;
}

static bool is_unknown_number(const Arg *a) {
  const Node *x = a->kind == ARG_NODE ? a->node : NULL;
  ValueKind kind = x ? x->type.kind : VALUE_NONE;
  return kind == VALUE_FLOAT || kind == VALUE_BOOL || (kind == VALUE_INT && !x->type.value);
}

/* May n take numbers that are computed? */
static bool takes_numbers(const Node *n) {
  PrimKind k = prim_kind(n->op);
  return k == PRIM_POINTWISE || k == PRIM_CONCAT || graph_is(n, OP_aten_full_default);
}

/* A number among what an op takes that its kernel does not have; NULL: there is none. */
static const Node *number_among(const Node *n) {
  for (uint32_t i = 0; i < n->nargs + n->nnamed; i++) {
    const Arg *a = i < n->nargs ? &n->args[i] : &n->named[i - n->nargs].value;
    if (is_unknown_number(a) && !(takes_numbers(n) && number_is_of_sizes(a))) return a->node;
  }
  return NULL;
}

/* Kernels have sizes, what is made of them, and literals as numbers. */
static bool all_numbers_known(Graph *g) {
  bool good = true;
  for (const Node *n = g->first; n; n = n->next) {
    bool tensors = n->type.kind == VALUE_TENSOR || n->type.kind == VALUE_LIST;
    const Node *x = n->kind == NODE_CALL && tensors ? number_among(n) : NULL;
    if (!x) continue;
    diag_error(g->diags, n->location, E_GRAPH_OPERAND_NUMBER, n->name, x->name,
               x->op ? x->op->target : "the caller");
    good = false;
  }
  return good;
}

bool pass_check_primitives(Graph *g) {
  return all_primitive(g) && tiles_stay_inside(g) && all_numbers_known(g) && all_passed(g);
}

bool pass_hoist_loops(Graph *g) { return loops_hoist(g); }

/* ---- passes from graphs to plans ---- */

bool pass_fuse(PlanCompiler *c) {
  const CompileOptions *o = c->options;
  c->fusion = fuse_graph(c->g, c->g->arena,
                         &(FuseOptions){.together = o->fuse,
                                        .columns = o->target == TARGET_CPU,
                                        .strips = o->fuse && o->target == TARGET_GPU,
                                        .freeze = o->freeze});
  return true;
}

bool pass_order_groups(PlanCompiler *c) {
  fuse_order_groups(c->fusion);
  return true;
}

bool pass_write_kernels(PlanCompiler *c) {
  size_t errors = diag_errors(c->g->diags);
  Text fused = text_new(c->g->arena);
  fusion_print(&fused, c->fusion);
  c->plan->fused = fused.data ? fused.data : "";
  make_plan(c);
  return diag_errors(c->g->diags) == errors;
}

bool pass_place_temporaries(PlanCompiler *c) {
  bool good = memory_plan(c->plan);
  if (!good) diag_error(c->g->diags, c->g->first->location, E_GRAPH_MEMORY);
  return good;
}

bool pass_overlap_steps(PlanCompiler *c) {
  Arena *scratch = arena_child(c->g->arena);
  overlap_find(c->plan, scratch);
  arena_free(scratch);
  return true;
}

/* ---- the pipeline ---- */

static bool run_plan_pass(const Pass *p, void *compiler) { return p->run.on_plan(compiler); }

static void print_level(Text *out, Level level, void *compiler) {
  const PlanCompiler *c = compiler;
  if (level == LEVEL_FUSED) fusion_print(out, c->fusion);
  else if (level > LEVEL_FUSED) plan_print(out, c->plan);
  else graph_print(out, c->g);
}

static const char *fault_of_level(Arena *scratch, Level level, void *compiler) {
  const PlanCompiler *c = compiler;
  if (level == LEVEL_FUSED) return fusion_fault(scratch, c->fusion);
  if (level > LEVEL_FUSED) return plan_fault(scratch, c->plan, level == LEVEL_PLAN);
  return graph_fault(scratch, c->g);
}

static const StageLevel plan_level = {run_plan_pass, print_level, fault_of_level};

static unsigned conditions_of(const CompileOptions *o) {
  return (o->fuse ? FUSED : 0) | (o->freeze ? FROZEN : 0) |
         (o->target == TARGET_GPU ? FOR_GPU : 0) | (o->target == TARGET_CPU ? FOR_CPU : 0) |
         (o->libraries ? LIBRARIES : 0) | (o->saves_memory ? SAVES_MEMORY : 0) |
         (o->early_loads ? EARLY_LOADS : 0);
}

const char *graph_pass_names(Arena *a, const CompileOptions *o) {
  Text names = text_new(a);
  pass_print_names(&names, planner_passes(), conditions_of(o));
  return names.data;
}

static bool run_pipeline(PlanCompiler *c) {
  Stages *s = c->options->stages;
  double first = stages_now();
  PassList list = planner_passes();
  unsigned conditions = conditions_of(c->options) | (graph_is_complex(c->g) ? HAS_COMPLEX : 0);
  for (int i = 0; i < list.n; i++) {
    const Pass *p = &list.rows[i];
    if (!pass_included(p, conditions)) continue;
    bool on_graph = p->gives <= LEVEL_PRIMS;
    if (i == graph_passes().n) stages_log(s, "passes", first);
    if (!(on_graph ? stages_run_pass(s, p, c->g) : stages_run(s, p, &plan_level, c))) return false;
  }
  return true;
}

static void set_gpu(Graph *g, const DevicePeaks *gpu) {
  if (!gpu) return;
  DevicePeaks *copy = ARENA_NEW(g->arena, DevicePeaks);
  *copy = *gpu;
  g->gpu = copy;
}

bool graph_compile(Graph *g, const CompileOptions *options, Plan *out) {
  set_gpu(g, options->gpu);
  g->unchecked = options->unchecked;
  g->host = options->target == TARGET_CPU;
  g->asserts = options->asserts;
  g->saves_memory = options->saves_memory;
  g->deterministic = options->deterministic;
  g->libraries = options->libraries;
  g->tf32 = options->target == TARGET_GPU ? options->tf32 : 0;
  *out = (Plan){.graph = g};
  return run_pipeline(&(PlanCompiler){.g = g, .options = options, .plan = out});
}
