#include "graph/analysis/library_problem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "graph/analysis/strided.h"
#include "runtime/device/peaks.h"

/* The function that n calls. */
static const LibraryFunction *library_function_of(Graph *g, const Node *n) {
  return library_find(graph_arg(g, n, "function").name);
}

bool library_is_wanted(const Graph *g, const LibraryProblem *p) {
  const LibraryChooser *c = g->libraries;
  return c && (!c->wants || c->wants(c->context, p));
}

/* ---- convolutions ---- */

static void read_pair(Graph *g, const Node *n, const char *param, Dim out[2]) {
  Arg a = graph_arg(g, n, param);
  for (int i = 0; i < 2; i++)
    out[i] = a.items[i].kind == ARG_NODE ? a.items[i].node->type.value : a.items[i].dim;
}

LibraryConv library_conv_of(Graph *g, const Node *n) {
  const ValueType *a = &n->args[0].node->type, *b = &n->args[1].node->type, *out = &n->type;
  LibraryConv c = {.x = a, .w = b, .y = out, .groups = graph_arg(g, n, "groups").dim};
  LibraryWork work = library_work(library_function_of(g, n));
  if (work == LIBRARY_INPUT_GRADIENT) c = (LibraryConv){out, b, a, .groups = c.groups};
  if (work == LIBRARY_WEIGHT_GRADIENT) c = (LibraryConv){a, out, b, .groups = c.groups};
  read_pair(g, n, "stride", c.stride);
  read_pair(g, n, "padding", c.padding);
  read_pair(g, n, "dilation", c.dilation);
  return c;
}

bool library_rounds(const Graph *g, const Node *n) {
  bool conv = graph_is(n, OP_nereid_library_conv_default);
  return n->args[0].node->type.dtype == DT_F32 &&
         graph_rounds(g, conv ? ROUNDS_AS_CONVOLUTION : n->rounds);
}

/* ---- sizes ---- */

/* The likely value of an open size, else the largest, or LARGE. */
static double guess(const Graph *g, Dim x) {
  enum { LARGE = 1024 };
  int64_t likely = dim_likely(g->dims, x);
  if (dim_is_int(x) || likely) return (double)(likely ? likely : x->value);
  DimRange r = dim_range(g->dims, x);
  int64_t most = r.hi < LARGE ? r.hi : LARGE;
  return (double)(r.lo > most ? r.lo : most);
}

static double guess_elements(const Graph *g, const ValueType *t) {
  double n = 1;
  for (uint32_t i = 0; i < t->rank; i++) n *= guess(g, t->shape[i]);
  return n;
}

double library_bytes(const Graph *g, const ValueType *t) {
  return guess_elements(g, t) * (double)dtype_bytes(t->dtype);
}

/* Its last axis is not the one of neighbors in memory. */
static bool is_transposed(Graph *g, Node *n) {
  Strided s;
  uint32_t last = n->type.rank - 1;
  if (!strided_of(g, n, &s) || dim_is(n->type.shape[last], 1)) return false;
  return !dim_is(s.stride[last], 1);
}

/* From one row of memory to the next, in elements. */
static double pitch(Graph *g, Node *n) {
  Strided s;
  uint32_t axis = n->type.rank - (is_transposed(g, n) ? 1 : 2);
  return strided_of(g, n, &s) ? guess(g, s.stride[axis]) : 0;
}

static LibraryProblem new_problem(Graph *g, Node *n) {
  return (LibraryProblem){.function = library_function_of(g, n),
                          .timed = {.dtype = n->args[0].node->type.dtype,
                                    .tf32 = library_rounds(g, n),
                                    .batch = 1,
                                    .taps = 1,
                                    .stride = 1},
                          .slower = 1,
                          .capability = g->gpu ? g->gpu->sm : 0,
                          .speed = g->gpu ? g->gpu->bandwidth / 1e6 : 1};
}

/* ---- texts ---- */

static void print_size(Text *out, Dim x) {
  if (dim_is_int(x)) text_printf(out, "%" PRId64, x->value);
  else text_puts(out, "*");
}

static void print_named_size(Text *out, const char *name, Dim x) {
  text_printf(out, "%s%s=", out->len ? " " : "", name);
  print_size(out, x);
}

static void print_strides(Graph *g, Text *out, const char *name, Node *n) {
  Strided s;
  uint32_t rank = n->type.rank;
  text_printf(out, " %s=", name);
  if (!strided_of(g, n, &s)) return;
  for (uint32_t i = 0; i < rank; i++) {
    if (i) text_puts(out, ",");
    print_size(out, s.stride[i]);
  }
}

/* Against fast sums with scales of the whole, on an H200: exact sums take kernels of ours 1.2 times
 * as long, and cuBLASLt 1.07; scales of blocks 1.8 and 1.16. */
static double float8_slower(Graph *g, const Node *n) {
  LibraryScales scales = library_scales(graph_arg(g, n, "scales").name);
  if (scales == SCALES_BLOCKS) return 1.5;
  return scales == SCALES_WHOLE && !graph_arg(g, n, "fast").flag ? 1.1 : 1;
}

static LibraryProblem product_problem(Graph *g, Node *n) {
  Node *a = graph_arg(g, n, "self").node, *b = graph_arg(g, n, "mat2").node;
  bool bias = graph_arg(g, n, "bias").kind == ARG_NODE;
  Name activation = graph_arg(g, n, "activation").name;
  uint32_t rank = a->type.rank;
  Text signature = text_new(g->arena), sizes = text_new(g->arena);
  text_printf(&signature, "%s by %s to %s%s", dtype_name(a->type.dtype), dtype_name(b->type.dtype),
              dtype_name(n->type.dtype), bias ? ", bias" : "");
  Name scales = graph_arg(g, n, "scales").name;
  if (library_scales(scales)) text_printf(&signature, ", scales of %s", scales);
  if (graph_arg(g, n, "fast").flag) text_puts(&signature, ", fast");
  if (library_activation(activation)) text_printf(&signature, ", %s", activation);
  if (library_rounds(g, n)) text_puts(&signature, ", tf32");
  print_named_size(&sizes, "batch", rank == 3 ? a->type.shape[0] : dim_int(g->dims, 1));
  print_named_size(&sizes, "m", a->type.shape[rank - 2]);
  print_named_size(&sizes, "n", b->type.shape[rank - 1]);
  print_named_size(&sizes, "k", a->type.shape[rank - 1]);
  print_strides(g, &sizes, "a", a);
  print_strides(g, &sizes, "b", b);
  LibraryProblem p = new_problem(g, n);
  p.signature = signature.data;
  p.sizes = sizes.data;
  p.open = strchr(sizes.data, '*') != NULL;
  p.slower = float8_slower(g, n);
  p.timed.work = is_transposed(g, a)   ? is_transposed(g, b) ? TIMED_TT : TIMED_TN
                 : is_transposed(g, b) ? TIMED_NT
                                       : TIMED_NN;
  if (rank == 3) p.timed.batch = guess(g, a->type.shape[0]);
  p.timed.m = guess(g, a->type.shape[rank - 2]);
  p.timed.n = guess(g, b->type.shape[rank - 1]);
  p.timed.k = guess(g, a->type.shape[rank - 1]);
  p.timed.pitch_a = pitch(g, a);
  p.timed.pitch_b = pitch(g, b);
  return p;
}

static void print_pair(Text *out, const char *name, const Dim *x) {
  text_printf(out, " %s=", name);
  print_size(out, x[0]);
  text_puts(out, ",");
  print_size(out, x[1]);
}

static LibraryProblem conv_problem(Graph *g, Node *n) {
  LibraryConv c = library_conv_of(g, n);
  const LibraryFunction *f = library_function_of(g, n);
  static const char *const works[] = {
      [LIBRARY_CONVOLUTION] = "convolution",
      [LIBRARY_INPUT_GRADIENT] = "gradient of a convolution's input",
      [LIBRARY_WEIGHT_GRADIENT] = "gradient of a convolution's weight"};
  Text sizes = text_new(g->arena);
  print_named_size(&sizes, "images", c.x->shape[0]);
  print_pair(&sizes, "size", c.x->shape + 1);
  print_named_size(&sizes, "channels", c.x->shape[3]);
  print_named_size(&sizes, "features", c.w->shape[0]);
  print_pair(&sizes, "window", c.w->shape + 1);
  print_pair(&sizes, "stride", c.stride);
  print_pair(&sizes, "padding", c.padding);
  print_pair(&sizes, "dilation", c.dilation);
  print_named_size(&sizes, "groups", c.groups);
  static const TimedWork timed[] = {[LIBRARY_CONVOLUTION] = TIMED_FORWARD,
                                    [LIBRARY_INPUT_GRADIENT] = TIMED_INPUT,
                                    [LIBRARY_WEIGHT_GRADIENT] = TIMED_WEIGHT};
  LibraryProblem p = new_problem(g, n);
  p.signature = arena_printf(g->arena, "%s, %s%s", works[library_work(f)],
                             dtype_name(n->type.dtype), library_rounds(g, n) ? ", tf32" : "");
  p.sizes = sizes.data;
  p.timed.work = timed[library_work(f)];
  p.timed.batch = guess(g, c.groups);
  p.timed.m = guess(g, c.y->shape[0]) * guess(g, c.y->shape[1]) * guess(g, c.y->shape[2]);
  p.timed.n = guess(g, c.w->shape[0]) / fmax(p.timed.batch, 1);
  p.timed.taps = guess(g, c.w->shape[1]) * guess(g, c.w->shape[2]);
  p.timed.k = p.timed.taps * guess(g, c.w->shape[3]);
  p.timed.stride = guess(g, c.stride[0]);
  return p;
}

LibraryProblem library_problem(Graph *g, Node *n) {
  return graph_is(n, OP_nereid_library_conv_default) ? conv_problem(g, n) : product_problem(g, n);
}
