/* Transforms that a kernel of their own computes on a CPU (graph/ops/fourier_form.h): their
 * radices, their operands as they are in memory, and the table of factors. */
#include <string.h>

#include "graph/analysis/strided.h"
#include "graph/ops/fourier_form.h"
#include "planner/complex/complex.h"

enum {
  LANES_LEAST = 8,     /* neighbours after the axis that are lanes */
  PROGRAMS_LEAST = 16, /* that have scratch */
  PROGRAMS_MOST = 64,
  SCRATCH_BYTES = 1 << 20, /* of all programs, for a cache of a core */
  ELEMENT_COST = 8         /* of an element that is loaded, turned and stored */
};

/* ---- radices ---- */

/* Operations of a transform of n elements (planner/kernels/fourier_codelet.c). */
static int64_t codelet_cost(int64_t n) {
  if (n < 3) return n == 2 ? 4 : 0;
  if (n == 4) return 16;
  int64_t a = n % 4 == 0 && n != 8 ? 4 : 2;
  while (n % a) a++;
  if (a == n) return (n - 1) * (n + 3);
  return n / a * codelet_cost(a) + a * codelet_cost(n / a) + 6 * (a - 1) * (n / a - 1);
}

typedef struct {
  bool half;
  FourierForm best;
  int64_t least; /* its cost; 0: there is none */
  int64_t radix[FOURIER_RADICES_MAX];
} Search;

static int64_t form_cost(const FourierForm *f) {
  int64_t cost = 0;
  for (uint32_t i = 0; i < f->n; i++)
    cost += f->size / f->radix[i] * codelet_cost(f->radix[i]) + ELEMENT_COST * f->size;
  /* Whole vectors of a spectrum are transposed at once. */
  return f->n > 1 && f->radix[0] % (FOURIER_LANES / 2) ? cost + ELEMENT_COST * f->size : cost;
}

static void search(Search *s, int64_t rest, uint32_t n) {
  FourierForm f;
  if (rest == 1 && fourier_form(n, s->radix, s->half, &f)) {
    int64_t cost = form_cost(&f);
    if (s->least && cost >= s->least) return;
    s->least = cost;
    s->best = f;
  }
  for (int64_t i = 2; i <= FOURIER_RADIX_MAX && n < FOURIER_RADICES_MAX; i++) {
    if (rest % i) continue;
    s->radix[n] = i;
    search(s, rest / i, n + 1);
  }
}

static bool find_form(int64_t n, bool half, FourierForm *out) {
  Search s = {.half = half};
  if (n > FOURIER_SIZE_MAX) return false;
  search(&s, n, 0);
  *out = s.best;
  return s.least > 0;
}

/* ---- factors ---- */

/* exp(-+2 pi i c k / n) for c below `columns` and k from 1 to `count`, as pairs. */
static Node *factors_of_radix(Build *b, int64_t columns, int64_t count, int64_t n, bool inverse,
                              DType t) {
  Parts w = fourier_powers(b, build_const(b, columns), build_const(b, count + 1), build_const(b, n),
                           inverse, t);
  Node *pairs[] = {build_unsqueeze(b, w.re, 2), build_unsqueeze(b, w.im, 2)};
  Node *y = build_cat(b, 2, pairs, 2);
  y = build_slice(b, y, 1, build_const(b, 1), build_const(b, count + 1), 1);
  Dim all = build_const(b, 2 * columns * count);
  return build(b, OP_aten_reshape_default, ARGS(arg_node(y), arg_dims(b->in.g, 1, &all)));
}

static Node *factors_of(Build *b, const FourierForm *f, bool inverse, DType t) {
  Node *tables[FOURIER_RADICES_MAX];
  for (uint32_t i = 0; i + 1 < f->n; i++) {
    int64_t step = fourier_step(f, i);
    tables[i] = factors_of_radix(b, step, fourier_factors(f, i), step * f->radix[i], inverse, t);
  }
  return f->n > 2 ? build_cat(b, f->n - 1, tables, 0) : tables[0];
}

/* ---- operands ---- */

typedef struct {
  Node *memory;
  Dim at[4]; /* the offset, and strides of [batch, size, lanes] */
} Operand3;

static Node *in_three_axes(Build *b, Node *x, const Dim *size, bool last) {
  Dim shape[] = {size[0], last ? size[2] : size[1], last ? size[1] : size[2]};
  Node *y = build_view(b, x, 3, shape);
  return last ? build_transpose(b, y, 1, 2) : y;
}

static Operand3 operand_of(Build *b, Node *x, const Dim *size, bool last) {
  Strided s;
  Node *y = in_three_axes(b, x, size, last);
  if (!strided_of(b->in.g, y, &s) || s.memory->kind == NODE_GETITEM) {
    x = build_op1(b, OP_aten_clone_default, x);
    y = in_three_axes(b, x, size, last);
    BUG_IF(!strided_of(b->in.g, y, &s), "a copy is dense");
  }
  Operand3 o = {s.memory, {s.offset, s.stride[0], s.stride[1], s.stride[2]}};
  return o;
}

static Node *memory_of(Build *b, uint32_t rank, const Dim *shape, DType t) {
  NamedArg named[] = {{pool_name(b->in.g->names, "dtype"), arg_dtype(t)},
                      {pool_name(b->in.g->names, "once"), arg_bool(false)}};
  return build_with_all(b, OP_nereid_empty_default, ARGS(arg_dims(b->in.g, rank, shape)), 2, named);
}

/* ---- calls ---- */

static bool is_returned(const Build *b) {
  const Arg *list = &b->in.g->last->args[0];
  for (uint32_t i = 0; list->kind == ARG_LIST && i < list->n; i++)
    if (list->items[i].kind == ARG_NODE && list->items[i].node == b->in.n) return true;
  return false;
}

/* Programs, each of which has scratch. */
static Dim programs_of(Build *b, const FourierForm *f, const Dim *size, DType t) {
  Dims *d = build_dims(b);
  int64_t most = SCRATCH_BYTES / (f->scratch * dtype_bytes(t));
  most = most < PROGRAMS_LEAST ? PROGRAMS_LEAST : most > PROGRAMS_MOST ? PROGRAMS_MOST : most;
  Dim blocks = dim_floordiv(d, dim_add(d, size[2], build_const(b, FOURIER_LANES - 1)),
                            build_const(b, FOURIER_LANES));
  blocks = dim_mul(d, blocks, size[0]);
  return dim_is_int(blocks) && blocks->value < most ? blocks : build_const(b, most);
}

/* The spectrum's memory has x's axes, of which `axis` is shorter where it is half of one, and an
 * axis of the two parts. */
static Node *spectrum_memory(Build *b, const Node *x, uint32_t axis, const FourierForm *f,
                             bool pairs) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(x);
  memcpy(shape + !pairs, x->type.shape, rank * sizeof *shape);
  shape[axis + !pairs] = build_const(b, f->result);
  shape[pairs ? rank : 0] = build_const(b, 2);
  return memory_of(b, rank + 1, shape, x->type.dtype);
}

static bool find_sizes(Build *b, const Node *x, uint32_t axis, Dim *size) {
  const ValueType *t = &x->type;
  Dim lead = infer_product(&b->in, t->shape, axis);
  Dim trail = infer_product(&b->in, t->shape + axis + 1, t->rank - axis - 1);
  bool last = dim_is(trail, 1);
  size[0] = last ? trail : lead;
  size[1] = t->shape[axis];
  size[2] = last ? lead : trail;
  return last;
}

bool fourier_has_kernel(const Build *b, const Node *x, uint32_t axis, bool half) {
  FourierForm f;
  Dim n = x->type.shape[axis];
  bool known = b->in.g->host && dim_is_int(n) && n->value > 1 && rank_of(x) < GRAPH_RANK_MAX;
  if (!known || !find_form(n->value, half, &f)) return false;
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (dim_range(b->in.g->dims, x->type.shape[i]).lo < 1) return false;
  return true;
}

Parts fourier_by_kernel(Build *b, Parts x, uint32_t axis, bool half, bool inverse) {
  FourierForm f;
  Dim size[3];
  uint32_t rank = rank_of(x.re);
  DType t = x.re->type.dtype;
  bool last = find_sizes(b, x.re, axis, size), pairs = is_returned(b);
  BUG_IF(!find_form(size[1]->value, half, &f), "a transform has no kernel");
  Operand3 re = operand_of(b, x.re, size, last), im = re;
  if (!half) im = operand_of(b, x.im, size, last);
  Dim programs = programs_of(b, &f, size, t);
  Dim scratch = dim_mul(build_dims(b), programs, build_const(b, f.scratch)),
      radices[FOURIER_RADICES_MAX];
  for (uint32_t i = 0; i < f.n; i++) radices[i] = build_const(b, f.radix[i]);
  Node *room = memory_of(b, 1, &scratch, t);
  Node *y =
      build(b, OP_nereid_fourier_default,
            ARGS(arg_node(spectrum_memory(b, x.re, axis, &f, pairs)),
                 arg_node(build_arange(b, programs)), arg_node(re.memory), arg_node(im.memory),
                 arg_node(f.n > 1 ? factors_of(b, &f, inverse, t) : room), arg_node(room),
                 arg_dims(b->in.g, 3, size), arg_dims(b->in.g, 4, re.at),
                 arg_dims(b->in.g, 4, im.at), arg_dims(b->in.g, f.n, radices), arg_bool(half),
                 arg_bool(inverse), arg_bool(!last), arg_bool(pairs), arg_float(1)));
  uint32_t parts = pairs ? rank : 0;
  return (Parts){build_select(b, y, parts, build_const(b, 0)),
                 build_select(b, y, parts, build_const(b, 1))};
}
