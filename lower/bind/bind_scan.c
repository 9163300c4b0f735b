/* Scans.  Build gives them a layout in which the axis is spelled by warps, then lanes, then one
 * register digit, so that a thread holds a run of neighbours: first each thread scans its run, then
 * lanes add the sum before their run, then warps.
 *
 * Padding is at an axis's end: nothing comes after it but, in a reverse scan, everything.  There
 * what is before an element is taken for nothing where it is padding. */
#include "lower/bind/bind_fold.h"

typedef struct {
  const NestStmt *st;
  int n, axis, reg, lane, warp; /* dims of the axis; -1: none */
  bool reverse;
  int32_t threads;              /* with elements of their own: the other ones hold padding alone */
  int32_t warps;                /* likewise */
  int32_t padding;              /* registers of the last of these threads */
  NestVar *v[MAX_OPERANDS];     /* results */
  NestVar *total[MAX_OPERANDS]; /* of a thread's run, later of all runs up to it */
  DimMask kept;
  Affine kept_sub, total_sub; /* subscripts of the kept dims in v and in total */
} Scan;

static int32_t dim_extent(const Bind *s, int dim) { return dim < 0 ? 1 : s->dims[dim].extent; }

static Ref scan_ref_at(const Scan *x, int i, Affine reg) {
  affine_add(&reg, &x->kept_sub);
  return ref_sub(x->v[i], reg);
}

/* Register k of a run, in scan order. */
static Affine run_position(const Bind *s, const Scan *x, const NestIndex *ix, int64_t k) {
  int64_t stride = x->reg < 0 ? 0 : s->dims[x->reg].stride, last = dim_extent(s, x->reg) - 1;
  Affine a = affine_const((x->reverse ? last - k : k) * stride);
  if (ix) {
    Affine step = affine_index((NestIndex *)ix, x->reverse ? -stride : stride);
    affine_add(&a, &step);
  }
  return a;
}

static NestIndex *open_run(Bind *s, int32_t n) {
  NestIndex *index = nest_index(s->nest, "r", n);
  bind_unroll(s, index);
  return index;
}

/* x[i] := combine(before[i], x[i]), where the guard holds. */
static void put_before(Bind *s, const Scan *x, const Ref *before, const Ref *to, Ref guard) {
  Ref t[MAX_OPERANDS];
  for (int i = 0; i < x->n; i++) {
    NestVar *v = to[i].var;
    t[i] = ref_var(bind_var(s, NULL, v->dtype, v->elem, 1, false));
    nest_mov(&s->b, t[i], before[i], v->dtype);
  }
  bind_combine(s, x->st, t, to);
  for (int i = 0; i < x->n; i++) nest_mov(&s->b, to[i], t[i], to[i].var->dtype)->guard = guard;
}

/* Steps from register `from` of a run on, `n` of them. */
static void scan_steps(Bind *s, const Scan *x, int32_t from, int32_t n, Ref guard) {
  if (n <= 0) return;
  NestBuilder outer = bind_open_loops(s, x->kept);
  NestIndex *ix = open_run(s, n);
  Ref before[MAX_OPERANDS], to[MAX_OPERANDS];
  for (int i = 0; i < x->n; i++) {
    before[i] = scan_ref_at(x, i, run_position(s, x, ix, from));
    to[i] = scan_ref_at(x, i, run_position(s, x, ix, from + 1));
  }
  put_before(s, x, before, to, guard);
  bind_close(s, outer);
}

static void take_totals(Bind *s, Scan *x) {
  uint32_t count = 1;
  x->total_sub = affine_const(0);
  for (int d = s->ndims - 1; d >= 0; d--) {
    if (!(x->kept >> d & 1)) continue;
    Affine a = affine_index(s->dims[d].index, count);
    affine_add(&x->total_sub, &a);
    count *= (uint32_t)s->dims[d].extent;
  }
  NestBuilder outer = bind_open_loops(s, x->kept);
  for (int i = 0; i < x->n; i++) {
    x->total[i] = bind_var(s, "total", x->v[i]->dtype, x->v[i]->elem, count, false);
    nest_mov(&s->b, ref_sub(x->total[i], x->total_sub),
             scan_ref_at(x, i, run_position(s, x, NULL, dim_extent(s, x->reg) - 1)),
             x->v[i]->dtype);
  }
  bind_close(s, outer);
}

static Ref digit_of(Bind *s, int dim) {
  ThreadForm f = {.n = 0};
  thread_form_add(&f, &s->dims[dim], 1);
  return bind_thread_const(s, &f);
}

static bool is_padded(const Bind *s, const Scan *x) {
  return x->threads < dim_extent(s, x->lane) * dim_extent(s, x->warp);
}

/* Are there elements, not only padding, `by` threads further up the axis? */
static Ref has_further(Bind *s, const Scan *x, int32_t by) {
  ThreadForm f = {.n = 0};
  if (x->lane >= 0) thread_form_add(&f, &s->dims[x->lane], 1);
  if (x->warp >= 0) thread_form_add(&f, &s->dims[x->warp], dim_extent(s, x->lane));
  return bind_op(s, TILE_LT, DT_I32, bind_thread_const(s, &f), ref_int(x->threads - by));
}

/* The lane is at least `by` after the start of its warp, in scan order. */
static Ref has_lane_before(Bind *s, const Scan *x, int32_t by) {
  Ref d = digit_of(s, x->lane);
  if (!x->reverse) return bind_op(s, TILE_GE, DT_I32, d, ref_int(by));
  Ref inside = bind_op(s, TILE_LT, DT_I32, d, ref_int(dim_extent(s, x->lane) - by));
  return is_padded(s, x) ? bind_op(s, TILE_AND, DT_I1, inside, has_further(s, x, by)) : inside;
}

static Ref has_warp_before(Bind *s, const Scan *x) {
  Ref d = digit_of(s, x->warp);
  return x->reverse ? bind_op(s, TILE_LT, DT_I32, d, ref_int(x->warps - 1))
                    : bind_op(s, TILE_GE, DT_I32, d, ref_int(1));
}

static void scan_runs(Bind *s, const Scan *x) {
  int32_t guarded = x->reverse ? x->padding : 0;
  if (guarded && x->threads > 1) scan_steps(s, x, 0, guarded, has_further(s, x, 1));
  scan_steps(s, x, guarded, dim_extent(s, x->reg) - 1 - guarded, ref_none());
}

/* Adds `before` to all of a run. */
static void put_before_run(Bind *s, const Scan *x, const Ref *before, Ref guard) {
  NestBuilder outer = s->b;
  NestIndex *ix = dim_extent(s, x->reg) > 1 ? open_run(s, dim_extent(s, x->reg)) : NULL;
  Ref to[MAX_OPERANDS];
  for (int i = 0; i < x->n; i++) to[i] = scan_ref_at(x, i, run_position(s, x, ix, 0));
  put_before(s, x, before, to, guard);
  bind_close(s, outer);
}

static void from_neighbour(Bind *s, const Scan *x, int32_t by, Ref *before) {
  for (int i = 0; i < x->n; i++) {
    NestVar *t = x->total[i];
    before[i] = ref_var(bind_var(s, NULL, t->dtype, t->elem, 1, false));
    bind_shuffle(s, before[i], ref_sub(t, x->total_sub), x->reverse ? "down" : "up", by, t->dtype);
  }
}

static void scan_lanes(Bind *s, Scan *x) {
  if (x->lane < 0) return;
  const Dim *lane = &s->dims[x->lane];
  Ref before[MAX_OPERANDS], total[MAX_OPERANDS];
  for (int32_t by = 1; by < lane->extent; by *= 2) {
    Ref guard = has_lane_before(s, x, by);
    NestBuilder outer = bind_open_loops(s, x->kept);
    from_neighbour(s, x, by * lane->stride, before);
    for (int i = 0; i < x->n; i++) total[i] = ref_sub(x->total[i], x->total_sub);
    put_before(s, x, before, total, guard);
    bind_close(s, outer);
  }
  Ref guard = has_lane_before(s, x, 1);
  NestBuilder outer = bind_open_loops(s, x->kept);
  from_neighbour(s, x, lane->stride, before);
  put_before_run(s, x, before, guard);
  bind_close(s, outer);
}

/* ---- across warps ---- */

/* The last lane of a run of lanes, first replica: it knows its warp's total. */
static Ref total_writer_guard(Bind *s, const Scan *x) {
  Ref g = bind_first_replica(s);
  if (x->lane < 0) return g;
  int32_t last = x->reverse ? 0 : dim_extent(s, x->lane) - 1;
  Ref is_last = bind_op(s, TILE_EQ, DT_I32, digit_of(s, x->lane), ref_int(last));
  return g.kind ? bind_op(s, TILE_AND, DT_I1, g, is_last) : is_last;
}

/* The totals of all warps, as every warp reads them. */
typedef struct {
  int32_t warps;
  Ref number; /* of this warp */
  NestBuffer *buf[MAX_OPERANDS];
  Slot slot[MAX_OPERANDS];
  NestVar *part[MAX_OPERANDS]; /* by warp */
  Ref sum[MAX_OPERANDS];       /* of the warps before this one */
} Warps;

static void store_totals(Bind *s, const Scan *x, Warps *w) {
  Ref guard = total_writer_guard(s, x);
  for (int i = 0; i < x->n; i++) {
    NestVar *t = x->total[i];
    int64_t bytes = dtype_bytes(t->dtype);
    w->slot[i] = bind_slot(s, x->axis, bytes * w->warps);
    w->buf[i] = nest_buffer(s->nest, "scan", t->dtype, w->slot[i].slots * w->warps * bytes, 16);
    Ref at_warp = bind_op(s, TILE_MUL, DT_I32, w->number, ref_int(bytes));
    at_warp = bind_sum(s, w->slot[i].base, at_warp);
    NestBuilder outer = bind_open_loops(s, x->kept);
    bind_st_shared(s, ref_sub(t, x->total_sub), t->dtype, w->buf[i], at_warp, w->slot[i].bytes,
                   guard);
    bind_close(s, outer);
  }
}

/* Loads all totals; the sums begin with that of the first warp. */
static void load_totals(Bind *s, const Scan *x, Warps *w) {
  for (int i = 0; i < x->n; i++) {
    NestVar *t = x->total[i];
    int64_t bytes = dtype_bytes(t->dtype);
    w->part[i] = bind_var(s, NULL, t->dtype, t->elem, (uint32_t)w->warps, false);
    for (int32_t k = 0; k < w->warps; k++) {
      Affine from = affine_const(k * bytes);
      affine_add(&from, &w->slot[i].bytes);
      bind_ld_shared(s, ref_sub(w->part[i], affine_const(k)), t->dtype, w->buf[i], w->slot[i].base,
                     from, 1);
    }
    w->sum[i] = ref_var(bind_var(s, NULL, t->dtype, t->elem, 1, false));
    Affine first = affine_const(x->reverse ? x->warps - 1 : 0);
    nest_mov(&s->b, w->sum[i], ref_sub(w->part[i], first), t->dtype);
  }
}

/* sum := combine(sum, total of warp k), in the warps after it. */
static void add_total(Bind *s, const Scan *x, const Warps *w, int32_t k) {
  Ref before[MAX_OPERANDS], next[MAX_OPERANDS];
  Ref is_before = bind_op(s, x->reverse ? TILE_LT : TILE_GT, DT_I32, w->number, ref_int(k));
  for (int i = 0; i < x->n; i++) {
    NestVar *t = x->total[i];
    before[i] = ref_var(bind_var(s, NULL, t->dtype, t->elem, 1, false));
    nest_mov(&s->b, before[i], w->sum[i], t->dtype);
    next[i] = ref_sub(w->part[i], affine_const(k));
  }
  bind_combine(s, x->st, before, next);
  for (int i = 0; i < x->n; i++)
    nest_mov(&s->b, w->sum[i], before[i], x->total[i]->dtype)->guard = is_before;
}

static void scan_warps(Bind *s, Scan *x) {
  Warps w = {.warps = dim_extent(s, x->warp)};
  if (x->warps == 1) return;
  w.number = digit_of(s, x->warp);
  store_totals(s, x, &w);
  NestBuilder outer = bind_open_loops(s, x->kept);
  load_totals(s, x, &w);
  for (int32_t k = 1; k + 1 < x->warps; k++) add_total(s, x, &w, x->reverse ? x->warps - 1 - k : k);
  put_before_run(s, x, w.sum, has_warp_before(s, x));
  bind_close(s, outer);
}

static void count_padding(const Bind *s, Scan *x, int32_t elements) {
  int32_t run = dim_extent(s, x->reg), lanes = dim_extent(s, x->lane);
  x->threads = (elements + run - 1) / run;
  x->warps = (x->threads + lanes - 1) / lanes;
  x->padding = x->threads * run - elements;
}

void bind_scan(Bind *s, const NestStmt *st) {
  const Layout l = *st->srcs[0].var->layout;
  bind_start(s, NULL, &l);
  Scan x = {.st = st,
            .n = bind_operands(s, st),
            .axis = (int)nest_int(st, NA_axis, 0),
            .reg = -1,
            .lane = -1,
            .warp = -1,
            .reverse = nest_int(st, NA_reverse, 0) != 0};
  x.kept_sub = affine_const(0);
  for (int d = 0; d < s->ndims; d++) {
    const Dim *dim = &s->dims[d];
    if (dim->axis == x.axis) {
      int *which = dim->index ? &x.reg : dim->hw == HW_LANE ? &x.lane : &x.warp;
      if (*which >= 0) bind_refuse(s, "two digits of one hardware dimension spell the axis");
      *which = d;
    } else if (dim->index) {
      x.kept |= (DimMask)1 << d;
      Affine a = affine_index(dim->index, dim->stride);
      affine_add(&x.kept_sub, &a);
    }
  }
  count_padding(s, &x, l.shape[x.axis]);
  int64_t count = layout_registers(&l);
  for (int i = 0; i < x.n; i++) {
    x.v[i] = st->dsts[i].var;
    bind_mov_run(s, x.v[i], 0, st->srcs[i].var, 0, count);
  }
  scan_runs(s, &x);
  take_totals(s, &x);
  scan_lanes(s, &x);
  scan_warps(s, &x);
}
