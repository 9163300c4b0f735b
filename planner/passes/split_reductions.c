/* Pass split_reductions: for GPUs, reductions and scans whose programs would be few, or would read
 * memory with gaps, in two steps or more.
 *
 * A program reduces some rows as a whole.  Few results of long rows are few programs, which leave
 * the GPU idle.  Rows across memory (sums over a batch: gradients of biases, statistics of
 * channels) are read in pieces as wide as a program has results, so that long ones, which allow one
 * result a program, waste most of what they read.  Cut into parts, both have many programs, and
 * short rows next to each other:
 *
 *   sum(x[8192, 768], 0)  =  sum(sum(x[128, 64, 768], 1), 0)
 *
 * The sum of sums is as good as, or better than, the one in order.
 *
 * A size that is open, or has no good divisors, gets elements that change nothing after its end; of
 * an open one, what is known of its range decides:
 *
 *   sum(x[s0])  =  sum(sum(view(cat(x, 0, 0, ...), [(s0 + 4095) // 4096, 4096]), 1), 0)
 *
 * A sum of squares of differences from m, as a variance is, reads its operand once, and not after m
 * is known (Chan, Golub and LeVeque 1983): of each part of n elements with mean a
 *
 *   sum((x - m)^2)  =  sum((x - a)^2) + n (a - m)^2
 *
 * A scan of parts starts at what is before them, a scan of the parts' totals:
 *
 *   cumsum(x[16384, 32], 0)  =  cumsum(x[256, 64, 32], 1) + cumsum(cat(0, sum(x, 1)), 0) */
#include "graph/analysis/strided.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"
#include "tiling/parked_rows.h"

enum {
  ELEMENTS_MIN = 1 << 16,  /* below, a kernel's start takes as long */
  COLUMN_MIN = 256,        /* elements of rows across memory that are cut */
  COLUMN_MIN_AGAIN = 1025, /* of parts' results: another step would take longer than it saves */
  COLUMN_PART_MIN = 16,
  COLUMN_PART_MAX = 64,
  COLUMN_PART_LONG = 512, /* where that leaves so few parts that one more step reduces them */
  COLUMNS_MIN = 8,        /* of memory next to each other */
  SHORT_ROW = 32,         /* elements at most */
  RESULTS_MAX = 1024,     /* about as many programs keep a GPU busy */
  ROW_MIN = 8192,
  ROW_PART_MIN = 1024,
  ROW_PART_MAX = 4096,
  /* Where a size is open, such that most of what it may be gains, and the rest loses little. */
  OPEN_COLUMN_MIN = 1 << 11, /* rows that there may be */
  OPEN_RESULTS_MAX = 4,      /* of open rows: those of a softmax are many */
  OPEN_TIMES = 8,            /* a size may be so many times what is likely, or so small a part */
  OPEN_ROW_MIN = 1 << 15,    /* of rows that are known, when results are open */
  /* Each part of a scan is read twice. */
  SCAN_PROGRAMS_MAX = 64, /* more are not cut */
  SCAN_COLUMNS = 32,      /* of a program */
  SCAN_COLUMN_MIN = 1024,
  SCAN_COLUMN_PART = 64,
  SCAN_ROW_MIN = 1 << 16,
  SCAN_ROW_PART = 1024,
  SCAN_PARTS_MAX = 1024 /* longer parts are better than more */
};

/* ---- sizes ---- */

/* About what a size is; 0: nothing is known of an open one. */
static int64_t about(const Graph *g, Dim n) { return dim_likely(g->dims, n); }

/* The most that a size is taken for: kernels that wait for one program are worse than another
 * launch. */
static int64_t at_most(const Graph *g, Dim n) {
  int64_t likely = about(g, n), most = dim_range(g->dims, n).hi;
  if (dim_is_int(n) || !likely || likely > most / OPEN_TIMES) return most;
  return OPEN_TIMES * likely;
}

static int64_t at_least(const Graph *g, Dim n) {
  int64_t likely = about(g, n), least = dim_range(g->dims, n).lo;
  return dim_is_int(n) || !likely ? least : (likely + OPEN_TIMES - 1) / OPEN_TIMES;
}

/* ---- memory ---- */

/* The operand that has all elements of a pointwise node; NULL: none has. */
static Node *whole_operand(Graph *g, const Node *n) {
  Dim all = value_numel(g, &n->type);
  for (uint32_t i = 0; i < n->nargs; i++) {
    Node *x = n->args[i].kind == ARG_NODE ? n->args[i].node : NULL;
    if (x && x->type.kind == VALUE_TENSOR && value_numel(g, &x->type) == all) return x;
  }
  return NULL;
}

/* Where the element at an index of n is in the memory that n is computed from. */
static Dim place_in_source(Graph *g, Node *n, Dim *at) {
  Dim from[GRAPH_RANK_MAX];
  for (;;) {
    bool view = n->kind == NODE_CALL && prim_kind(n->op) == PRIM_VIEW;
    bool pointwise = n->kind == NODE_CALL && prim_kind(n->op) == PRIM_POINTWISE;
    Node *x = view ? view_operand(n) : pointwise ? whole_operand(g, n) : NULL;
    if (!x) break;
    if (view) view_index(g, n, at, from);
    else broadcast_index(g, n, at, x, from);
    for (uint32_t i = 0; i < x->type.rank; i++) at[i] = from[i];
    n = x;
  }
  return linear_of_index(g->dims, at, n->type.shape, n->type.rank);
}

/* The distance in memory of elements that are next to each other along an axis; 0: not known. */
static int64_t source_stride(Graph *g, Node *n, uint32_t axis) {
  Dim place[2], at[GRAPH_RANK_MAX];
  for (int step = 0; step < 2; step++) {
    for (uint32_t i = 0; i < n->type.rank; i++) at[i] = dim_int(g->dims, step && i == axis);
    place[step] = place_in_source(g, n, at);
  }
  Dim stride = dim_sub(g->dims, place[1], place[0]);
  return dim_is_int(stride) ? stride->value : 0;
}

/* The axes to reduce first if x is read in columns, or 0: it is read in rows.  Results next to each
 * other are made of elements next to each other, or of short rows of them, as those of a group's
 * channels for each pixel: these are columns as well, which the next step reduces. */
static uint32_t reduced_as_columns(Graph *g, Node *x, uint32_t set) {
  int64_t stride = 1;
  for (uint32_t i = rank_of(x); i-- > 0;) {
    if (dim_is(x->type.shape[i], 1)) continue;
    if (!dim_is_int(x->type.shape[i]) || source_stride(g, x, i) != stride) break;
    stride *= x->type.shape[i]->value;
    if (!(set >> i & 1)) return stride >= COLUMNS_MIN ? set & ((1u << i) - 1) : 0;
    if (stride > SHORT_ROW) return 0;
  }
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (!(set >> i & 1) && at_least(g, x->type.shape[i]) >= COLUMNS_MIN &&
        source_stride(g, x, i) == 1)
      return set;
  return 0;
}

/* The first step of a reduction: over whole axes, and over `inner` elements each of axis `axis`. */
typedef struct {
  uint32_t whole, axis;
  int64_t inner; /* 1: no axis is cut */
  bool pads;     /* the axis is, or may be, no multiple of `inner` */
} Part;

static int64_t largest_divisor(int64_t n, int64_t most) {
  for (int64_t d = most < n ? most : n; d > 1; d--)
    if (n % d == 0) return d;
  return 1;
}

/* The number that a size is known to be a multiple of. */
static int64_t known_factor(Dim size) {
  return dim_is_int(size) || size->kind == DIM_PRODUCT ? size->value : 1;
}

/* Cuts an axis into parts of at least `least` elements and at most `most`. */
static int64_t cut_with_pads(uint32_t axis, int64_t factor, int64_t least, int64_t most, Part *p) {
  int64_t inner = largest_divisor(factor, most);
  p->axis = axis;
  p->pads = inner < least;
  p->inner = p->pads ? power_of_2(most / 2 + 1, 1) : inner;
  return p->inner;
}

/* Axes from the innermost, as far as they fit, and a part of the next one.  An axis that has no
 * part of a good size is left to the second step, but padded if it is open, or if `pads`.  false:
 * there is no such part. */
static bool find_part(const Graph *g, const Node *x, uint32_t set, int64_t least, int64_t most,
                      bool pads, Part *p) {
  int64_t n = 1;
  *p = (Part){.inner = 1};
  for (uint32_t i = rank_of(x); i-- > 0 && n < least;) {
    if (!(set >> i & 1)) continue;
    Dim size = x->type.shape[i];
    int64_t elements = about(g, size);
    bool known = dim_is_int(size), whole = elements && elements <= most / n;
    int64_t wanted = (least + n - 1) / n, factor = known_factor(size);
    bool fits = whole || largest_divisor(factor, most / n) >= wanted;
    if (!fits && known && !pads) continue;
    if (whole) p->whole |= 1u << i, n *= elements;
    else n *= cut_with_pads(i, factor, wanted, most / n, p);
  }
  return n >= least && p->whole != set;
}

static bool choose_part(const Graph *g, const Node *x, uint32_t set, int64_t least, int64_t most,
                        Part *p) {
  return find_part(g, x, set, least, most, false, p) || find_part(g, x, set, least, most, true, p);
}

/* Axes after `axis` move back by one. */
static uint32_t set_with_axis_cut(uint32_t set, uint32_t axis) {
  uint32_t below = (2u << axis) - 1;
  return (set & below) | (set & ~below) << 1;
}

/* The element of x's dtype that changes no result of a sum, a product, a maximum or a minimum. */
static Node *neutral_element(Build *b, OpId op, const Node *x) {
  bool sum = op == OP_aten_sum_dim_IntList;
  if (sum || op == OP_aten_prod_dim_int)
    return build_full(b, 0, NULL, build_int(b, !sum), x->type.dtype);
  return build_limit(b, x->type.dtype, op == OP_aten_amax_default);
}

/* x with such elements after the end of an axis, which has `size` elements then. */
static Node *pad_axis(Build *b, OpId op, Node *x, uint32_t axis, Dim size) {
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank_of(x); i++) shape[i] = x->type.shape[i];
  shape[axis] = dim_sub(b->in.g->dims, size, x->type.shape[axis]);
  Node *both[] = {x, build_expand(b, neutral_element(b, op, x), rank_of(x), shape)};
  return build_cat(b, 2, both, axis);
}

/* x[.., size, ..] as x[.., size / inner, inner, ..], padded to whole parts */
static Node *cut_axis(Build *b, OpId op, Node *x, const Part *p) {
  Dims *d = b->in.g->dims;
  Dim size = x->type.shape[p->axis], inner = dim_int(d, p->inner), shape[GRAPH_RANK_MAX];
  Dim parts = dim_floordiv(d, dim_add(d, size, dim_int(d, p->pads ? p->inner - 1 : 0)), inner);
  if (p->pads) x = pad_axis(b, op, x, p->axis, dim_mul(d, parts, inner));
  for (uint32_t i = 0, k = 0; i < rank_of(x); i++, k++) {
    shape[k] = x->type.shape[i];
    if (i != p->axis) continue;
    shape[k++] = parts;
    shape[k] = inner;
  }
  return build_view(b, x, rank_of(x) + 1, shape);
}

/* A tile has the rows of a part, and is as wide as memory's sectors: short parts, unless long ones
 * save a step. */
static bool choose_column_part(const Graph *g, const Node *x, uint32_t set, int64_t rows, Part *p) {
  int64_t parts = COLUMN_MIN_AGAIN - 1, least = (rows + parts - 1) / parts;
  for (int64_t most = 2 * COLUMN_PART_MAX; least > COLUMN_PART_MAX && most <= COLUMN_PART_LONG;
       most *= 2)
    if (choose_part(g, x, set, least, most, p)) return true;
  return choose_part(g, x, set, COLUMN_PART_MIN, COLUMN_PART_MAX, p);
}

/* Are rows across memory long enough to split? */
static bool are_columns_long(const Graph *g, const Node *x, uint32_t set, Dim rows, bool again,
                             Part *p) {
  if (dim_is_int(rows))
    return rows->value >= (again ? COLUMN_MIN_AGAIN : COLUMN_MIN) &&
           choose_column_part(g, x, set, rows->value, p);
  return !again && at_most(g, rows) >= OPEN_COLUMN_MIN &&
         choose_part(g, x, set, COLUMN_PART_MIN, 2 * COLUMN_PART_MAX, p);
}

/* Are rows of unknown length or number long enough to split? */
static bool are_open_rows_long(const Graph *g, Dim row, Dim results, bool again) {
  if (again) return false;
  if (about(g, row) >= ROW_MIN && about(g, results) && about(g, results) <= RESULTS_MAX)
    return true;
  if (dim_is_int(row)) return row->value >= OPEN_ROW_MIN && at_least(g, results) <= RESULTS_MAX / 4;
  return dim_is_int(results) && results->value <= OPEN_RESULTS_MAX && at_most(g, row) >= ROW_MIN;
}

/* Do elements of the row meet the result of its reduction again, as in softmax and norms?  Then one
 * kernel does both, if it can keep the row. */
static bool comes_back(Graph *g, const Node *n, const Node *x) {
  enum { LOOKS = 24 };
  const Node *reached[LOOKS] = {n};
  Dim all = value_numel(g, &x->type);
  int count = 1;
  for (const Node *m = n->next; m && count < LOOKS; m = m->next) {
    PrimKind k = m->kind == NODE_CALL ? prim_kind(m->op) : PRIM_NONE;
    bool uses = false;
    for (int i = 0; i < count; i++)
      for (uint32_t a = 0; a < m->nargs; a++)
        uses |= m->args[a].kind == ARG_NODE && m->args[a].node == reached[i];
    if (!uses || (k != PRIM_POINTWISE && k != PRIM_VIEW)) continue;
    if (k == PRIM_POINTWISE && value_numel(g, &m->type) == all) return true;
    reached[count++] = m;
  }
  return false;
}

/* `again`: x has results of parts. */
static bool is_worth_cutting(Build *b, Node *x, uint32_t set, bool again, Part *p) {
  const Graph *g = b->in.g;
  Dim row = build_count(b, x, set), results = build_count(b, x, all_axes(x) & ~set);
  if (at_most(g, value_numel(b->in.g, &x->type)) < ELEMENTS_MIN) return false;
  uint32_t first = reduced_as_columns(b->in.g, x, set);
  if (first) return are_columns_long(g, x, first, build_count(b, x, first), again, p);
  bool known = dim_is_int(row) && dim_is_int(results);
  if (!again && rows_park(g, results, row) && comes_back(b->in.g, b->in.n, x)) return false;
  bool is_long = known ? row->value >= ROW_MIN && results->value <= RESULTS_MAX
                       : are_open_rows_long(g, row, results, again);
  return is_long && choose_part(g, x, set, ROW_PART_MIN, ROW_PART_MAX, p);
}

/* An operand whose axes of set `first` are to be reduced first, and those of `rest` then. */
typedef struct {
  Node *x;
  uint32_t first, rest;
} Cut;

static bool cut_off(Build *b, OpId op, Node *x, uint32_t set, const Part *p, Cut *out) {
  bool within = p->inner > 1;
  if (within && rank_of(x) == GRAPH_RANK_MAX) return false;
  if (within) set = set_with_axis_cut(set, p->axis) | 2u << p->axis;
  out->x = within ? cut_axis(b, op, x, p) : x;
  out->first = within ? set_with_axis_cut(p->whole, p->axis) | 2u << p->axis : p->whole;
  out->rest = set & ~out->first;
  return true;
}

/* `whole_parts`: not one that is to be padded. */
static bool cut(Build *b, OpId op, Node *x, uint32_t set, bool again, bool whole_parts, Cut *out) {
  Part p;
  if (!is_worth_cutting(b, x, set, again, &p) || (whole_parts && p.pads)) return false;
  return cut_off(b, op, x, set, &p, out);
}

/* Reduced axes have one element. */
static Node *reduce_in_parts(Build *b, OpId op, Node *x, uint32_t set, bool again) {
  Cut c;
  if (!cut(b, op, x, set, again, false, &c)) return build_reduce(b, op, x, set, true);
  return reduce_in_parts(b, op, build_reduce(b, op, c.x, c.first, true), c.rest, true);
}

/* ---- squares of differences ---- */

static Node *node_arg(const Node *n, uint32_t i) {
  return i < n->nargs && n->args[i].kind == ARG_NODE ? n->args[i].node : NULL;
}

/* x - m, if the node is its square, where m is the same along the axes of `set`. */
static Node *squared_difference(Node *n, uint32_t set) {
  Node *d = graph_is(n, OP_aten_mul_Tensor) ? node_arg(n, 0) : NULL;
  if (!d || node_arg(n, 1) != d || !graph_is(d, OP_aten_sub_Tensor)) return NULL;
  Node *x = node_arg(d, 0), *m = node_arg(d, 1);
  if (!x || !m || d->nargs > 2 || d->nnamed || !dtype_is_float(d->type.dtype)) return NULL;
  bool same = x->type.dtype == d->type.dtype && m->type.dtype == d->type.dtype &&
              rank_of(x) == rank_of(d) && rank_of(m) == rank_of(d);
  for (uint32_t i = 0; same && i < rank_of(d); i++)
    same = x->type.shape[i] == d->type.shape[i] &&
           (set >> i & 1 ? dim_is(m->type.shape[i], 1) : m->type.shape[i] == x->type.shape[i]);
  return same ? d : NULL;
}

static Node *sum_squares_in_parts(Build *b, Node *difference, uint32_t set) {
  Cut c;
  Dim shape[GRAPH_RANK_MAX];
  if (!cut(b, OP_aten_sum_dim_IntList, node_arg(difference, 0), set, false, true, &c)) return NULL;
  Node *part = build_mean(b, c.x, c.first, true), *m = node_arg(difference, 1);
  Node *d = build_sub(b, c.x, part);
  Node *squares = build_sum(b, build_mul(b, d, d), c.first, true);
  for (uint32_t i = 0; i < rank_of(c.x); i++) {
    bool reduced = (c.first | c.rest) >> i & 1;
    shape[i] = reduced ? build_const(b, 1) : c.x->type.shape[i];
  }
  Node *between = build_sub(b, part, build_view(b, m, rank_of(c.x), shape));
  between = build_with(b, OP_aten_mul_Tensor, build_mul(b, between, between),
                       arg_dim(build_count(b, c.x, c.first)));
  between = build_add(b, squares, between);
  return reduce_in_parts(b, OP_aten_sum_dim_IntList, between, c.rest, true);
}

/* ---- scans ---- */

static bool is_scan_of_parts(const Node *n) {
  bool is_scan = graph_is_any(n, OP_aten_cumsum_default, OP_aten_cumprod_default);
  return is_scan && n->type.dtype == n->args[0].node->type.dtype &&
         (n->type.dtype == DT_I64 || dtype_is_float(n->type.dtype));
}

/* Are its axes after `axis` of one element? */
static bool is_innermost(const Node *x, uint32_t axis) {
  for (uint32_t i = axis + 1; i < rank_of(x); i++)
    if (!dim_is(x->type.shape[i], 1)) return false;
  return true;
}

/* Would a scan of x along the axis have few programs with much to do? */
static bool is_scan_long(Build *b, const Node *x, uint32_t axis, Part *p) {
  const Graph *g = b->in.g;
  Dim size = x->type.shape[axis];
  int64_t n = about(g, size), rows = about(g, build_count(b, x, all_axes(x) & ~(1u << axis)));
  bool row = is_innermost(x, axis);
  int64_t programs = row ? rows : (rows + SCAN_COLUMNS - 1) / SCAN_COLUMNS;
  if (!n || !rows || programs > SCAN_PROGRAMS_MAX || n < (row ? SCAN_ROW_MIN : SCAN_COLUMN_MIN) ||
      n < ELEMENTS_MIN / rows || rank_of(x) == GRAPH_RANK_MAX)
    return false;
  int64_t most = row ? SCAN_ROW_PART : SCAN_COLUMN_PART;
  while (most < 4 * SCAN_ROW_PART && n / most > SCAN_PARTS_MAX) most *= 2;
  *p = (Part){.inner = 1};
  return cut_with_pads(axis, known_factor(size), most / 2 + 1, most, p) < n;
}

static Node *build_scan(Build *b, OpId op, Node *x, uint32_t axis) {
  Arg args[] = {arg_node(x), build_int(b, axis)};
  return build(b, op, 2, args);
}

/* x one place later along the axis, after a neutral element. */
static Node *shift_by_neutral(Build *b, OpId op, Node *x, uint32_t axis) {
  Dims *d = b->in.g->dims;
  Dim shape[GRAPH_RANK_MAX], end = dim_sub(d, x->type.shape[axis], dim_int(d, 1));
  for (uint32_t i = 0; i < rank_of(x); i++) shape[i] = i == axis ? dim_int(d, 1) : x->type.shape[i];
  Node *both[] = {build_expand(b, neutral_element(b, op, x), rank_of(x), shape),
                  build_slice(b, x, axis, dim_int(d, 0), end, 1)};
  return build_cat(b, 2, both, axis);
}

static Node *scan_in_parts(Build *b, OpId op, Node *x, uint32_t axis) {
  Part p;
  if (!is_scan_long(b, x, axis, &p)) return build_scan(b, op, x, axis);
  bool sum = op == OP_aten_cumsum_default;
  OpId whole = sum ? OP_aten_sum_dim_IntList : OP_aten_prod_dim_int;
  Dims *d = b->in.g->dims;
  Node *parts = cut_axis(b, whole, x, &p), *totals;
  if (sum) totals = build_sum(b, parts, 2u << axis, true);
  else totals = build(b, whole, ARGS(arg_node(parts), build_int(b, axis + 1), arg_bool(true)));
  Node *before = scan_in_parts(b, op, shift_by_neutral(b, whole, totals, axis), axis);
  Node *within = build_scan(b, op, parts, axis + 1);
  Node *y = sum ? build_add(b, within, before) : build_mul(b, within, before);
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank_of(x); i++) shape[i] = x->type.shape[i];
  shape[axis] = dim_mul(d, parts->type.shape[axis], parts->type.shape[axis + 1]);
  y = build_view(b, y, rank_of(x), shape);
  return p.pads ? build_slice(b, y, axis, dim_int(d, 0), x->type.shape[axis], 1) : y;
}

static void split_scan(Build *b, Node *n) {
  Node *x = build_self(b);
  Part p;
  uint32_t axis = infer_axis_arg(&b->in, "dim", rank_of(x));
  if (!is_scan_long(b, x, axis, &p)) return;
  const ValueType *t = &n->type;
  Node *y = scan_in_parts(b, n->op->id, x, axis);
  build_become(b, OP_aten_view_default, ARGS(arg_node(y), arg_dims(b->in.g, t->rank, t->shape)));
}

/* ---- the pass ---- */

static bool is_reduction(const Node *n) {
  return graph_is_any(n, OP_aten_sum_dim_IntList, OP_aten_amax_default, OP_aten_amin_default);
}

/* Are x's elements results of reductions already? */
static bool has_results(const Node *x) {
  while (prim_is_view(x) || graph_is(x, OP_aten_to_dtype)) x = x->args[0].node;
  return is_reduction(x);
}

/* The same, of columns of a permutation: parts are next to each other as their columns are in
 * memory, whose axes have another order. */
static Node *reduce_columns(Build *b, OpId op, Node *x, uint32_t set, bool again) {
  uint32_t axes[GRAPH_RANK_MAX], of_set = 0;
  Node *of = reduced_as_columns(b->in.g, x, set) ? strided_unpermuted(x, axes) : x;
  if (of == x) return reduce_in_parts(b, op, x, set, again);
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < rank_of(x); i++) of_set |= (set >> i & 1) << axes[i];
  for (uint32_t i = 0; i < rank_of(x); i++)
    shape[i] = of_set >> i & 1 ? build_const(b, 1) : of->type.shape[i];
  Node *y = reduce_in_parts(b, op, of, of_set, again);
  return build_permute(b, build_view(b, y, rank_of(of), shape), axes);
}

static void split_reduction(Build *b, Node *n) {
  Node *x = build_self(b);
  uint32_t set = infer_axes_arg(&b->in, "dim", rank_of(x));
  Part p;
  bool again = has_results(x);
  if (x->type.dtype == DT_I1 || !is_worth_cutting(b, x, set, again, &p)) return;
  bool sum = n->op->id == OP_aten_sum_dim_IntList;
  Node *difference = sum ? squared_difference(x, set) : NULL, *y = NULL;
  if (difference) y = sum_squares_in_parts(b, difference, set);
  if (!y) y = reduce_columns(b, n->op->id, x, set, again);
  const ValueType *t = &n->type;
  Arg args[] = {arg_node(build_to(b, y, t->dtype)), arg_dims(b->in.g, t->rank, t->shape)};
  build_become(b, OP_aten_view_default, 2, args);
}

bool pass_split_reductions(Graph *g) {
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    if (!is_reduction(n) && !is_scan_of_parts(n)) continue;
    Build b = build_at(g, n);
    if (!setjmp(b.in.failed)) (is_reduction(n) ? split_reduction : split_scan)(&b, n);
  }
  return diag_errors(g->diags) == 0;
}

/* ---- sums of columns, on CPUs ----
 *
 * A program goes through whole rows, in which memory is in order, and has a sum for each column.
 * Parts are programs for other cores, and their sums are short. */

enum { CPU_ELEMENTS_MIN = 1 << 18, CPU_COLUMNS_MIN = 64, CPU_PART_MIN = 32, CPU_PART_MAX = 64 };
enum { CPU_ROWS_MIN = 4 * CPU_PART_MAX };

/* Sums that what they add meets again are of one kernel with that, as those of norms. */
static bool are_columns_cut(Build *b, const Node *n, Node *x, uint32_t set, Part *p) {
  Dim rows = build_count(b, x, set), columns = build_count(b, x, all_axes(x) & ~set);
  if (!dtype_is_float(x->type.dtype) || !dim_is_int(rows) || !dim_is_int(columns)) return false;
  if (columns->value < CPU_COLUMNS_MIN || rows->value < CPU_ROWS_MIN) return false;
  if (rows->value * columns->value < CPU_ELEMENTS_MIN) return false;
  if (reduced_as_columns(b->in.g, x, set) != set) return false;
  if (has_results(x) || comes_back(b->in.g, n, x)) return false;
  return find_part(b->in.g, x, set, CPU_PART_MIN, CPU_PART_MAX, false, p);
}

static void split_sum(Build *b, Node *n) {
  Node *x = build_self(b);
  uint32_t set = infer_axes_arg(&b->in, "dim", rank_of(x));
  OpId op = n->op->id;
  Part p;
  Cut c;
  if (!are_columns_cut(b, n, x, set, &p) || !cut_off(b, op, x, set, &p, &c)) return;
  Node *y = build_reduce(b, op, build_reduce(b, op, c.x, c.first, true), c.rest, true);
  const ValueType *t = &n->type;
  Arg args[] = {arg_node(build_to(b, y, t->dtype)), arg_dims(b->in.g, t->rank, t->shape)};
  build_become(b, OP_aten_view_default, 2, args);
}

bool pass_split_columns(Graph *g) {
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    if (!graph_is(n, OP_aten_sum_dim_IntList)) continue;
    Build b = build_at(g, n);
    if (!setjmp(b.in.failed)) split_sum(&b, n);
  }
  return diag_errors(g->diags) == 0;
}
