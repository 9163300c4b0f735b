/* Transforms that a kernel of their own computes on a CPU (graph/ops/fourier_form.h): their
 * radices, their operands as they are in memory, and the table of factors. */
#include <string.h>

#include "graph/analysis/strided.h"
#include "graph/ops/fourier_form.h"
#include "planner/complex/complex.h"

enum {
  PROGRAMS_LEAST = 16, /* that have scratch */
  PROGRAMS_MOST = 64,
  BLOCKS_LEAST = 4,        /* of a program, whose scratch stays in a cache, where there are many */
  SCRATCH_BYTES = 1 << 20, /* of all programs, for a cache of a core */
  ELEMENT_COST = 8,        /* of an element that is loaded, turned and stored */
  UNFOLD_COST = 16,        /* of one whose spectrum becomes that of real elements, or comes of it */
  ROWS_FEW = 4,            /* that two steps transform faster, from this length on */
  LENGTH_OF_FEW = 2048,
  TURN_COST = 12,          /* of a real element that is transposed */
  ROWS_NARROW = 16 /* neighbours of a step of two, which leave lanes without work if fewer */
};

/* ---- radices ---- */

/* Operations of a transform of n elements (planner/kernels/fourier/fourier_codelet.c). */
static int64_t codelet_cost(int64_t n) {
  if (n < 3) return n == 2 ? 4 : 0;
  if (n == 4) return 16;
  int64_t a = n % 4 == 0 && n != 8 ? 4 : 2;
  while (n % a) a++;
  if (a == n) return (n - 1) * (n + 3);
  return n / a * codelet_cost(a) + a * codelet_cost(n / a) + 6 * (a - 1) * (n / a - 1);
}

typedef struct {
  FourierForm form, best; /* the one that is tried, and the best one */
  DType dtype;
  int64_t least; /* its cost; 0: there is none */
} Search;

/* Lanes of the last radix are rows, of which there may be fewer than lanes. */
static int64_t cost_along(const FourierForm *f) {
  int64_t cost = f->half ? UNFOLD_COST * f->points : 0;
  for (uint32_t i = 0; i < f->n; i++) {
    int64_t each = f->points / f->radix[i] * codelet_cost(f->radix[i]) + ELEMENT_COST * f->points;
    int64_t lanes = (f->radix[0] + f->near - 1) / f->near * f->near;
    cost += i + 1 < f->n ? each : each * lanes / f->radix[0];
  }
  return cost;
}

/* The first radix has half of the work for real elements, and later ones that of the rows kept. */
static int64_t form_cost(const FourierForm *f) {
  int64_t cost = 0;
  if (f->along) return cost_along(f);
  for (uint32_t i = 0; i < f->n; i++) {
    int64_t all = f->size / f->radix[i] * codelet_cost(f->radix[i]) + ELEMENT_COST * f->size;
    cost += !f->half ? all : i ? all * f->kept / f->radix[0] : all / 2;
  }
  return cost;
}

static void search(Search *s, int64_t rest) {
  FourierForm f = s->form;
  if (rest == 1 && fourier_form(&f, s->dtype)) {
    int64_t cost = form_cost(&f);
    if (s->least && cost >= s->least) return;
    s->least = cost;
    s->best = f;
  }
  for (int64_t i = 2; i <= FOURIER_RADIX_MAX && s->form.n < FOURIER_RADICES_MAX; i++) {
    if (rest % i) continue;
    s->form.radix[s->form.n++] = i;
    search(s, rest / i);
    s->form.n--;
  }
}

/* The form of n elements with the least cost. */
static bool find_form(int64_t n, bool half, bool inverse, int64_t along, DType t,
                      FourierForm *out) {
  Search s = {.form = {.half = half, .inverse = inverse, .along = along}, .dtype = t};
  if (n > FOURIER_ALONG_MAX || (half && along && n % 2)) return false;
  search(&s, half && along ? n / 2 : n);
  *out = s.best;
  return s.least > 0;
}

/* The convolution with chirps of the least cost: of a length that is a power of 2, or shorter. */
static bool find_chirps(int64_t n, bool half, bool inverse, DType t, FourierForm *out) {
  int64_t least = half ? n + n / 2 : 2 * n - 1,
          lanes = FOURIER_LANE_BYTES / (int64_t)dtype_bytes(t);
  Search s = {.form = {.half = half, .inverse = inverse, .along = true, .size = n}, .dtype = t};
  int64_t most = power_of_2(least, 2 * lanes);
  for (int64_t m = (least + lanes - 1) / lanes * lanes; m <= most && m <= FOURIER_ALONG_MAX;
       m += lanes)
    search(&s, m);
  *out = s.best;
  return s.least > 0;
}

/* ---- factors ---- */

static Node *flat(Build *b, Node *x) {
  Dim all = value_numel(b->in.g, &x->type);
  return build(b, OP_aten_reshape_default, ARGS(arg_node(x), arg_dims(b->in.g, 1, &all)));
}

/* exp(-+2 pi i c k / n) for c below `columns` and k from 1 to `count`, as pairs. */
static Node *factors_of_radix(Build *b, int64_t columns, int64_t count, int64_t n, bool inverse,
                              DType t) {
  Parts w = fourier_powers(b, build_const(b, columns), build_const(b, count + 1), build_const(b, n),
                           inverse, t);
  Node *pairs[] = {build_unsqueeze(b, w.re, 2), build_unsqueeze(b, w.im, 2)};
  Node *y = build_cat(b, 2, pairs, 2);
  return flat(b, build_slice(b, y, 1, build_const(b, 1), build_const(b, count + 1), 1));
}

/* Each run of neighbours once for each signal: [rows, columns * along]. */
static Node *for_signals(Build *b, Node *x, const FourierForm *f) {
  if (f->along == 1) return x;
  Dim rows = x->type.shape[0], near = build_const(b, f->near), one = build_const(b, 1);
  Dim runs = dim_floordiv(build_dims(b), x->type.shape[1], near);
  x = build_view(b, x, 4, (Dim[]){rows, runs, one, near});
  x = build_expand(b, x, 4, (Dim[]){rows, runs, build_const(b, f->along), near});
  Dim all = dim_mul(build_dims(b), build_const(b, f->along), dim_mul(build_dims(b), runs, near));
  return build(b, OP_aten_reshape_default,
               ARGS(arg_node(x), arg_dims(b->in.g, 2, (Dim[]){rows, all})));
}

/* Parts of all columns for each k from 1 to `count`: [count, 2, columns]. */
static Node *factors_along(Build *b, const FourierForm *f, int64_t columns, int64_t count,
                           int64_t n, bool inverse, DType t) {
  Parts w = fourier_powers(b, build_const(b, count + 1), build_const(b, columns), build_const(b, n),
                           inverse, t);
  Node *parts[] = {build_unsqueeze(b, for_signals(b, w.re, f), 1),
                   build_unsqueeze(b, for_signals(b, w.im, f), 1)};
  Node *y = build_cat(b, 2, parts, 1);
  return flat(b, build_slice(b, y, 0, build_const(b, 1), build_const(b, count + 1), 1));
}

/* Both parts of a chirp, each with zeros up to a multiple of the lanes. */
static Node *chirp_of(Build *b, const FourierForm *f, bool inverse, DType t) {
  Parts c = fourier_chirp(b, build_const(b, f->size), inverse, t);
  Dim more = build_const(b, (f->lanes - f->size % f->lanes) % f->lanes);
  Node *zeros = build_full(b, 1, &more, build_int(b, 0), t);
  return build_cat(b, 4, (Node *[]){c.re, zeros, c.im, zeros}, 0);
}

static Node *factors_of(Build *b, const FourierForm *f, bool inverse, DType t) {
  Node *tables[FOURIER_RADICES_MAX];
  uint32_t n = 0;
  for (uint32_t i = 0; i + 1 < f->n; i++) {
    int64_t step = fourier_step(f, i), count = fourier_factors(f, i), size = step * f->radix[i];
    tables[n++] = f->along ? factors_along(b, f, step, count, size, inverse, t)
                           : factors_of_radix(b, step, count, size, inverse, t);
  }
  if (f->chirps) tables[n++] = chirp_of(b, f, inverse, t);
  else if (f->along && f->half)
    tables[n++] = factors_along(b, f, f->points, 1, f->size, inverse, t);
  return n > 1 ? build_cat(b, n, tables, 0) : tables[0];
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

/* Is y in memory as it is, or by strides that are not negative? */
static bool is_strided(Build *b, Node *y, Strided *s) {
  if (!strided_of(b->in.g, y, s) || s->memory->kind == NODE_GETITEM) return false;
  for (uint32_t i = 0; i < rank_of(y); i++)
    if (dim_range(build_dims(b), s->stride[i]).lo < 0) return false;
  return s->memory->type.dtype == y->type.dtype;
}

/* The signals whose products with a window of the axis x is, if they are in memory; else NULL. */
static Node *unwindowed(Build *b, Node *x, const Dim *size, bool last, Node **window) {
  if (!last || !graph_is(x, OP_aten_mul_Tensor)) return NULL;
  for (int i = 0; i < 2; i++) {
    const Arg *w = &x->args[i], *y = &x->args[1 - i];
    if (w->kind != ARG_NODE || y->kind != ARG_NODE) return NULL;
    const ValueType *t = &w->node->type, *of = &y->node->type;
    bool fits = t->rank == 1 && t->shape[0] == size[1] && t->dtype == x->type.dtype;
    bool whole = of->dtype == x->type.dtype && of->rank == rank_of(x);
    for (uint32_t j = 0; whole && j < of->rank; j++) whole = of->shape[j] == x->type.shape[j];
    Strided s;
    if (!fits || !whole || !is_strided(b, in_three_axes(b, y->node, size, last), &s)) continue;
    *window = w->node;
    return y->node;
  }
  return NULL;
}

/* Rows of one axis, which overlap where they are pieces of signals, and of those before it. */
static bool cut_rows(Build *b, const Node *x, Dim *size) {
  uint32_t rank = rank_of(x);
  if (rank < 3 || dim_likely(build_dims(b), x->type.shape[rank - 2]) < ROWS_NARROW) return false;
  size[0] = infer_product(&b->in, x->type.shape, rank - 2);
  size[2] = x->type.shape[rank - 2];
  return true;
}

/* Signals without the window by which both parts are multiplied; NULL: there is none. */
static Node *take_window(Build *b, Parts *x, const Dim *size, bool last) {
  Node *window, *other;
  Node *re = unwindowed(b, x->re, size, last, &window);
  Node *im = re && x->im ? unwindowed(b, x->im, size, last, &other) : NULL;
  if (!re || (x->im && (!im || other != window))) return NULL;
  *x = (Parts){re, im};
  return window;
}

/* The window of x, which is in memory without it, or NULL; rows are cut where that saves a copy. */
static Node *find_window(Build *b, Parts *x, Dim *size, bool last) {
  Strided s;
  Node *window = take_window(b, x, size, last);
  Dim cut[] = {size[0], size[1], size[2]};
  if (window || !last || !cut_rows(b, x->re, cut)) return window;
  window = take_window(b, x, cut, last);
  bool whole = is_strided(b, in_three_axes(b, x->re, size, last), &s);
  if (window || (!whole && is_strided(b, in_three_axes(b, x->re, cut, last), &s)))
    memcpy(size, cut, sizeof cut);
  return window;
}

static Operand3 operand_of(Build *b, Node *x, const Dim *size, bool last) {
  Strided s;
  Node *y = in_three_axes(b, x, size, last);
  if (!is_strided(b, y, &s)) {
    x = build_op1(b, OP_aten_clone_default, x);
    y = in_three_axes(b, x, size, last);
    BUG_IF(!strided_of(b->in.g, y, &s), "a copy is dense");
  }
  return (Operand3){s.memory, {s.offset, s.stride[0], s.stride[1], s.stride[2]}};
}

static Node *memory_of(Build *b, uint32_t rank, const Dim *shape, DType t) {
  NamedArg named[] = {{pool_name(b->in.g->names, "dtype"), arg_dtype(t)},
                      {pool_name(b->in.g->names, "once"), arg_bool(false)}};
  return build_with_all(b, OP_nereid_empty_default, ARGS(arg_dims(b->in.g, rank, shape)), 2, named);
}

/* ---- calls ---- */

static bool is_returned(const Build *b, const Node *n) {
  const Arg *list = &b->in.g->last->args[0];
  for (uint32_t i = 0; list->kind == ARG_LIST && i < list->n; i++)
    if (list->items[i].kind == ARG_NODE && list->items[i].node == n) return true;
  return false;
}

static bool reads_first(const Node *n, OpId op, const Node *x) {
  return n && graph_is(n, op) && n->args[0].kind == ARG_NODE && n->args[0].node == x;
}

/* The copy of the result whose last axis is `axis`, the others before it, or that view of it if it
 * is returned; NULL: the next calls are none. */
static const Node *copy_in_rows(const Build *b, uint32_t axis) {
  const Node *turned = b->in.n->next, *copy = turned ? turned->next : NULL;
  uint32_t axes[GRAPH_RANK_MAX], rank = b->in.n->type.rank;
  if (!reads_first(turned, OP_aten_permute_default, b->in.n) || turned->type.rank != rank)
    return NULL;
  if (!reads_first(copy, OP_aten_clone_default, turned)) copy = turned;
  if (copy == turned && !is_returned(b, turned)) return NULL;
  if (strided_unpermuted((Node *)turned, axes) != b->in.n || axes[rank - 1] != axis) return NULL;
  for (uint32_t i = 0; i + 1 < rank; i++)
    if (axes[i] != i + (i >= axis)) return NULL;
  return copy;
}

/* Is a permutation of the result copied next?  The copy is one of pairs (turned_pairs.c). */
static bool is_turned_next(const Build *b) {
  const Node *turned = b->in.n->next;
  return reads_first(turned, OP_aten_permute_default, b->in.n) &&
         reads_first(turned->next, OP_aten_clone_default, turned);
}

/* Programs, each of which has scratch. */
static Dim programs_of(Build *b, const FourierForm *f, const Dim *size, DType t) {
  Dims *d = build_dims(b);
  int64_t most = SCRATCH_BYTES / (f->scratch * dtype_bytes(t));
  most = most < PROGRAMS_LEAST ? PROGRAMS_LEAST : most > PROGRAMS_MOST ? PROGRAMS_MOST : most;
  int64_t lanes = f->along ? f->along : f->lanes;
  Dim blocks =
      dim_floordiv(d, dim_add(d, size[2], build_const(b, lanes - 1)), build_const(b, lanes));
  blocks = dim_mul(d, blocks, size[0]);
  if (!dim_is_int(blocks)) return build_const(b, most);
  int64_t some = blocks->value / BLOCKS_LEAST;
  some = some < PROGRAMS_LEAST ? PROGRAMS_LEAST : some;
  return blocks->value < some ? blocks : build_const(b, some < most ? some : most);
}

/* The memory of a result has x's axes, of which `axis` has another length and is the last one with
 * `rows`, and for a spectrum an axis of the two parts. */
static Node *result_memory(Build *b, const Node *x, uint32_t axis, const FourierForm *f, bool pairs,
                           bool rows) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(x), parts = f->half && f->inverse ? 0 : 1, first = parts && !pairs;
  memcpy(shape + first, x->type.shape, rank * sizeof *shape);
  Dim *at = shape + first + axis;
  if (rows) memmove(at, at + 1, (rank - axis - 1) * sizeof *at);
  shape[first + (rows ? rank - 1 : axis)] = build_const(b, f->result);
  if (parts) shape[pairs ? rank : 0] = build_const(b, 2);
  return memory_of(b, rank + parts, shape, x->type.dtype);
}

/* The axis's neighbours in memory are lanes: those after it, or those before it. */
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

/* Are elements along the axis neighbours in row-major order? */
static bool is_last(Build *b, const Node *x, uint32_t axis) {
  const ValueType *t = &x->type;
  return dim_is(infer_product(&b->in, t->shape + axis + 1, t->rank - axis - 1), 1);
}

bool fourier_has_kernel(Build *b, const Node *x, uint32_t axis, Dim n, bool half) {
  FourierForm f;
  DType t = x->type.dtype;
  bool known = b->in.g->host && dim_is_int(n) && n->value > 1 && rank_of(x) < GRAPH_RANK_MAX;
  if (known && find_form(n->value, half, false, false, t, &f)) return true;
  return known && is_last(b, x, axis) &&
         (find_form(n->value, half, false, true, t, &f) ||
          find_chirps(n->value, half, false, t, &f));
}

/* Are the rows so few that most lanes of a vector would have none, where lanes are rows? */
static bool has_few_rows(Build *b, const Node *x, uint32_t axis, Dim n, bool half) {
  FourierForm f;
  Dim all = value_numel(b->in.g, &x->type);
  bool few = n->value >= LENGTH_OF_FEW && dim_is_int(all) && all->value <= ROWS_FEW * n->value;
  return few && !(is_last(b, x, axis) &&
                  find_form(n->value, half, false, true, x->type.dtype, &f));
}

int64_t fourier_kernels_factor(Build *b, const Node *x, uint32_t axis, bool half) {
  Dim n = x->type.shape[axis];
  bool whole = fourier_has_kernel(b, x, axis, n, half);
  if (whole && !has_few_rows(b, x, axis, n, half)) return 1;
  int64_t best = 0;
  bool room = rank_of(x) + 1 < GRAPH_RANK_MAX && dim_is_int(n);
  for (int64_t i = 2; room && i <= FOURIER_SIZE_MAX && i < n->value; i++) {
    FourierForm f;
    if (n->value % i || !b->in.g->host || !find_form(i, false, false, false, x->type.dtype, &f))
      continue;
    int64_t more = i + n->value / i;
    if (!best || more < best + n->value / best) best = i;
  }
  bool narrow = best && (best < ROWS_NARROW || n->value / best < ROWS_NARROW);
  return whole && (!best || narrow) ? 1 : best;
}

typedef struct {
  int64_t n;
  bool half, inverse;
} Transform;

/* Operations of a signal by lanes that are signals, some of which there may be none. */
static int64_t cost_across(Build *b, const FourierForm *f, const Dim *size) {
  int64_t signals = dim_likely(build_dims(b), size[2]);
  int64_t lanes = (signals + f->lanes - 1) / f->lanes * f->lanes;
  int64_t turns = TURN_COST * (f->half ? f->size : 2 * f->size);
  return (form_cost(f) + turns) * lanes / (signals ? signals : 1);
}

/* The form of a transform; along: vectors may be along so many of its signals. */
static bool choose_form(Build *b, Transform t, const Dim *size, int64_t along, DType type,
                        FourierForm *out) {
  FourierForm rows, two;
  bool has = find_form(t.n, t.half, t.inverse, 0, type, out);
  if (!along) return has;
  bool one = find_form(t.n, t.half, t.inverse, 1, type, &rows);
  bool both = along > 1 && find_form(t.n, t.half, t.inverse, 2, type, &two);
  if (both && (!one || cost_along(&two) < cost_along(&rows))) rows = two;
  if (!one && !both) return has || find_chirps(t.n, t.half, t.inverse, type, out);
  if (!has || cost_along(&rows) <= cost_across(b, out, size)) *out = rows;
  return true;
}

static bool needs_chirps(Transform t, DType type) {
  FourierForm f;
  return !find_form(t.n, t.half, t.inverse, false, type, &f) &&
         !find_form(t.n, t.half, t.inverse, true, type, &f);
}

/* Does the operand have neighbours as such in memory, if they are real, or every other element? */
static bool is_along(const Operand3 *x, bool real) {
  return dim_is(x->at[2], 1) || (!real && dim_is(x->at[2], 2));
}

/* Are rows even in number, and their places known to be so far apart? */
static bool has_even_rows(const Operand3 *x, const Dim *size) {
  return dim_is_int(size[2]) && size[2]->value % 2 == 0 && dim_is_int(x->at[3]);
}

static Node *call(Build *b, Parts x, uint32_t axis, Transform t, bool pairs, bool rows);

/* The transform of the chirp's conjugate, on both sides of 0. */
static Node *filter_of(Build *b, const FourierForm *f, DType type) {
  int64_t given = f->operand, results = f->result;
  Parts c = fourier_chirp(b, build_const(b, f->size), !f->inverse, type);
  Dim zeros = build_const(b, f->points - given - results + 1);
  Node *sides[2];
  for (int i = 0; i < 2; i++) {
    Node *x = i ? c.im : c.re;
    Node *tail = build_slice(b, x, 0, build_const(b, 1), build_const(b, given), 1);
    Node *parts[] = {build_slice(b, x, 0, build_const(b, 0), build_const(b, results), 1),
                     build_full(b, 1, &zeros, build_int(b, 0), type),
                     build_with(b, OP_aten_flip_default, tail, arg_axes(b->in.g, 1))};
    sides[i] = build_cat(b, 3, parts, 0);
  }
  return call(b, (Parts){sides[0], sides[1]}, 0, (Transform){f->points, false, f->inverse}, false,
              false);
}

/* A call of the kernel: a spectrum whose parts are along the first axis, or with `pairs` the last
 * one, or real elements.  rows: results along the axis follow each other in memory. */
static Node *call(Build *b, Parts x, uint32_t axis, Transform t, bool pairs, bool rows) {
  Dim size[3], radices[FOURIER_RADICES_MAX];
  FourierForm f;
  DType type = x.re->type.dtype;
  bool last = find_sizes(b, x.re, axis, size), real = t.half && t.inverse;
  bool chirps = needs_chirps(t, type);
  Node *window = real || chirps ? NULL : find_window(b, &x, size, last);
  Operand3 re = operand_of(b, x.re, size, last), im = re;
  if (x.im) im = operand_of(b, x.im, size, last);
  int64_t along = last && is_along(&re, !x.im && !chirps) && re.at[2] == im.at[2];
  if (along && has_even_rows(&re, size) && re.at[3] == im.at[3])
    along = FOURIER_SIGNALS_MAX;
  if (!choose_form(b, t, size, along, type, &f)) {
    re = im = operand_of(b, build_op1(b, OP_aten_clone_default, x.re), size, last);
    if (x.im) im = operand_of(b, build_op1(b, OP_aten_clone_default, x.im), size, last);
    bool found = choose_form(b, t, size, 1, type, &f);
    BUG_IF(!found, "a transform has no kernel");
  }
  size[1] = build_const(b, f.size);
  Dim programs = programs_of(b, &f, size, type);
  Dim scratch = dim_mul(build_dims(b), programs, build_const(b, f.scratch));
  for (uint32_t i = 0; i < f.n; i++) radices[i] = build_const(b, f.radix[i]);
  Node *room = memory_of(b, 1, &scratch, type);
  Node *to = result_memory(b, x.re, axis, &f, pairs, rows);
  Node *filter = f.chirps ? filter_of(b, &f, type) : NULL;
  Node *factors = f.factors ? factors_of(b, &f, f.inverse, type) : room;
  return build(
      b, OP_nereid_fourier_default,
      ARGS(arg_node(to), arg_node(build_arange(b, programs)), arg_node(re.memory),
           arg_node(im.memory), arg_node(factors), arg_node(room), arg_dims(b->in.g, 3, size),
           arg_dims(b->in.g, 4, re.at), arg_dims(b->in.g, 4, im.at),
           arg_dims(b->in.g, f.n, radices), arg_bool(f.half), arg_bool(f.inverse),
           build_int(b, f.along), arg_bool(!last && !rows), arg_bool(pairs),
           window ? arg_node(window) : arg_none(), filter ? arg_node(filter) : arg_none(),
           arg_float(f.chirps ? 1 / (double)f.points : 1)));
}

/* The last axis, moved to where `axis` is. */
static Node *from_last(Build *b, Node *x, uint32_t axis) {
  uint32_t axes[GRAPH_RANK_MAX], rank = rank_of(x);
  for (uint32_t i = 0; i < rank; i++) axes[i] = i < axis ? i : i == axis ? rank - 1 : i - 1;
  return build_permute(b, x, axes);
}

Parts fourier_by_kernel(Build *b, Parts x, uint32_t axis, bool inverse) {
  const Node *copy = axis + 1 < rank_of(x.re) ? copy_in_rows(b, axis) : NULL;
  bool pairs = copy ? is_returned(b, b->in.n) || is_returned(b, copy)
                    : is_returned(b, b->in.n) || is_turned_next(b);
  int64_t n = x.re->type.shape[axis]->value;
  Transform t = {n, !x.im, x.im && inverse};
  Node *y = call(b, x, axis, t, pairs, copy != NULL);
  uint32_t parts = pairs ? rank_of(x.re) : 0;
  Parts made = {build_select(b, y, parts, build_const(b, 0)),
                build_select(b, y, parts, build_const(b, 1))};
  return copy ? (Parts){from_last(b, made.re, axis), from_last(b, made.im, axis)} : made;
}

/* A spectrum that a kernel left in memory as a copy would have it, parts next to each other, is its
 * copy. */
Parts fourier_copied(Build *b, Parts x) {
  Strided re, im;
  Parts none = {0};
  Dims *d = build_dims(b);
  if (!x.im || !strided_of(b->in.g, x.re, &re) || !strided_of(b->in.g, x.im, &im)) return none;
  bool one = re.memory == im.memory && graph_is(re.memory, OP_nereid_fourier_default);
  if (!one || !dim_is(re.offset, 0) || !dim_is(im.offset, 1)) return none;
  Dim step = dim_int(d, 2), shape[GRAPH_RANK_MAX];
  uint32_t rank = rank_of(x.re);
  for (uint32_t i = rank; i-- > 0;) {
    shape[i] = x.re->type.shape[i];
    if (!dim_is(shape[i], 1) && (re.stride[i] != step || im.stride[i] != step)) return none;
    step = dim_mul(d, step, shape[i]);
  }
  shape[rank] = dim_int(d, 2);
  if (step != value_numel(b->in.g, &re.memory->type)) return none;
  Node *whole = build_view(b, re.memory, rank + 1, shape);
  return (Parts){build_select(b, whole, rank, build_const(b, 0)),
                 build_select(b, whole, rank, build_const(b, 1))};
}

Node *fourier_real_by_kernel(Build *b, Parts x, uint32_t axis, Dim n) {
  BUG_IF(!x.im, "a transform has no kernel");
  return call(b, x, axis, (Transform){n->value, true, true}, false, false);
}

/* The call whose result, or both of whose parts, x is; NULL: x is another value. */
static Node *call_of(Parts x) {
  bool parts = x.im && graph_is(x.re, OP_aten_select_int) && graph_is(x.im, OP_aten_select_int);
  Node *y = parts ? x.re->args[0].node : x.im ? NULL : x.re;
  if (!y || !graph_is(y, OP_nereid_fourier_default)) return NULL;
  return !parts || x.im->args[0].node == y ? y : NULL;
}

bool fourier_scale(Parts x, double by) {
  Node *y = call_of(x);
  if (y) y->args[y->nargs - 1].number *= by;
  return y != NULL;
}
