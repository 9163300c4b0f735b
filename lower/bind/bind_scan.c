/* Scans.  From the most to the least significant, these digits spell the axis: registers (chunks),
 * warps, lanes, registers (a thread's run of neighbours); each may be missing.  All chunks are
 * scanned at once, from the inside to the outside:
 *
 * 1. Each thread scans its runs; the last element of one is its total.
 * 2. Lanes scan the totals by shuffles.
 * 3. Totals of warps and chunks make prefixes: of chunks alone by a shuffle, of warps through
 *    shared memory, one element a warp and chunk.
 * 4. What is before a run, the prefix and the lanes' sum, is put before its elements.
 *
 * Padding is at an axis's end: nothing comes after it but, in a reverse scan, everything.  There
 * what is before an element is taken for nothing where it is padding; such a scan has one chunk. */
#include <string.h>

#include "lower/bind/bind_fold.h"

typedef struct {
  const NestStmt *st;
  int n, axis, chunk, warp, lane, reg; /* dims of the axis; -1: none */
  bool reverse;
  int32_t chunks;
  int32_t threads;               /* with elements of their own: the other ones hold padding alone */
  int32_t warps;                 /* likewise */
  int32_t padding;               /* registers of the last of these threads */
  NestVar *v[MAX_OPERANDS];      /* results */
  NestVar *total[MAX_OPERANDS];  /* of a thread's run, later of all runs up to it; by chunk */
  NestVar *prefix[MAX_OPERANDS]; /* of all before the warp in its chunk; by chunk */
  DimMask kept;
  Affine kept_sub, total_sub; /* subscripts of the kept dims in v, and in total and prefix */
  int32_t kept_count;
} Scan;

static int32_t dim_extent(const Bind *s, int dim) { return dim < 0 ? 1 : s->dims[dim].extent; }

/* A reference to v, total or prefix at chunk k + *ix of the scan's order (ix may be NULL). */
static Ref scan_ref_at(const Bind *s, const Scan *x, int i, Affine reg, const NestIndex *ix,
                       int64_t k) {
  int64_t stride = x->chunk < 0 ? 0 : s->dims[x->chunk].stride;
  affine_add(&reg, &x->kept_sub);
  reg.c += (x->reverse ? x->chunks - 1 - k : k) * stride;
  bind_add_index(&reg, (NestIndex *)ix, x->reverse ? -stride : stride);
  return ref_sub(x->v[i], reg);
}

static Ref chunk_ref_at(const Scan *x, NestVar *v, const NestIndex *ix, int64_t k) {
  Affine at = x->total_sub;
  at.c += k * x->kept_count;
  bind_add_index(&at, (NestIndex *)ix, x->kept_count);
  return ref_sub(v, at);
}

/* Register k of a run, in scan order. */
static Affine run_position(const Bind *s, const Scan *x, const NestIndex *ix, int64_t k) {
  int64_t stride = x->reg < 0 ? 0 : s->dims[x->reg].stride, last = dim_extent(s, x->reg) - 1;
  Affine a = affine_const((x->reverse ? last - k : k) * stride);
  bind_add_index(&a, (NestIndex *)ix, x->reverse ? -stride : stride);
  return a;
}

/* An unrolled loop over n runs' elements ("r") or chunks ("c"); one needs none. */
static NestIndex *open_unrolled(Bind *s, const char *name, int32_t n) {
  if (n == 1) return NULL;
  NestIndex *index = nest_index(s->nest, name, n);
  bind_unroll(s, index);
  return index;
}

static void new_scalars(Bind *s, const Scan *x, Ref *out) {
  for (int i = 0; i < x->n; i++)
    out[i] = ref_var(bind_var(s, NULL, x->v[i]->dtype, x->v[i]->elem, 1, false));
}

/* to := from, where the guard holds. */
static void move_all(Bind *s, const Scan *x, const Ref *to, const Ref *from, Ref guard) {
  for (int i = 0; i < x->n; i++) nest_mov(&s->b, to[i], from[i], x->v[i]->dtype)->guard = guard;
}

/* x[i] := combine(before[i], x[i]), where the guard holds. */
static void put_before(Bind *s, const Scan *x, const Ref *before, const Ref *to, Ref guard) {
  Ref t[MAX_OPERANDS];
  new_scalars(s, x, t);
  move_all(s, x, t, before, ref_none());
  bind_combine(s, x->st, t, to);
  move_all(s, x, to, t, guard);
}

/* ---- in a thread ---- */

/* Steps from..from+n-1 of the runs: each puts the element before it in front of the next. */
static void scan_steps(Bind *s, const Scan *x, int32_t from, int32_t n, Ref guard) {
  if (n <= 0) return;
  NestBuilder outer = bind_open_loops(s, x->kept);
  NestIndex *c = open_unrolled(s, "c", x->chunks), *ix = open_unrolled(s, "r", n);
  Ref before[MAX_OPERANDS], to[MAX_OPERANDS];
  for (int i = 0; i < x->n; i++) {
    before[i] = scan_ref_at(s, x, i, run_position(s, x, ix, from), c, 0);
    to[i] = scan_ref_at(s, x, i, run_position(s, x, ix, from + 1), c, 0);
  }
  put_before(s, x, before, to, guard);
  bind_close(s, outer);
}

static void take_totals(Bind *s, Scan *x) {
  x->kept_count = 1;
  x->total_sub = affine_const(0);
  for (int d = s->ndims - 1; d >= 0; d--) {
    if (!(x->kept >> d & 1)) continue;
    bind_add_index(&x->total_sub, s->dims[d].index, x->kept_count);
    x->kept_count *= s->dims[d].extent;
  }
  uint32_t count = (uint32_t)(x->kept_count * x->chunks);
  bool prefixed = x->chunks > 1 || x->warps > 1;
  NestBuilder outer = bind_open_loops(s, x->kept);
  NestIndex *c = open_unrolled(s, "c", x->chunks);
  for (int i = 0; i < x->n; i++) {
    const NestVar *v = x->v[i];
    x->total[i] = bind_var(s, "total", v->dtype, v->elem, count, false);
    if (prefixed) x->prefix[i] = bind_var(s, "prefix", v->dtype, v->elem, count, false);
    nest_mov(&s->b, chunk_ref_at(x, x->total[i], c, 0),
             scan_ref_at(s, x, i, run_position(s, x, NULL, dim_extent(s, x->reg) - 1), c, 0),
             v->dtype);
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

/* ---- between lanes ---- */

static void from_neighbour(Bind *s, const Scan *x, int32_t by, const NestIndex *c, int64_t k,
                           const Ref *to) {
  for (int i = 0; i < x->n; i++)
    bind_shuffle(s, to[i], chunk_ref_at(x, x->total[i], c, k), x->reverse ? "down" : "up", by,
                 x->v[i]->dtype);
}

static void scan_lanes(Bind *s, Scan *x) {
  if (x->lane < 0) return;
  const Dim *lane = &s->dims[x->lane];
  Ref before[MAX_OPERANDS], total[MAX_OPERANDS];
  for (int32_t by = 1; by < lane->extent; by *= 2) {
    Ref guard = has_lane_before(s, x, by);
    NestBuilder outer = bind_open_loops(s, x->kept);
    NestIndex *c = open_unrolled(s, "c", x->chunks);
    new_scalars(s, x, before);
    from_neighbour(s, x, by * lane->stride, c, 0, before);
    for (int i = 0; i < x->n; i++) total[i] = chunk_ref_at(x, x->total[i], c, 0);
    put_before(s, x, before, total, guard);
    bind_close(s, outer);
  }
}

/* ---- chunks of one warp ---- */

/* The lane that has its chunk's total. */
static Ref last_lane(Bind *s, const Scan *x) {
  const Dim *lane = &s->dims[x->lane];
  ThreadForm f = {.n = 0};
  for (int d = 0; d < s->ndims; d++)
    if (d != x->lane && s->dims[d].hw == HW_LANE)
      thread_form_add(&f, &s->dims[d], s->dims[d].stride);
  Ref others = bind_thread_const(s, &f);
  int64_t last = x->reverse ? 0 : (int64_t)(lane->extent - 1) * lane->stride;
  if (!others.kind) return ref_int(last);
  return last ? bind_op(s, TILE_ADD, DT_I32, others, ref_int(last)) : others;
}

/* The prefix of a chunk is the sum of the totals of those before it. */
static void sum_chunks(Bind *s, Scan *x) {
  Ref from = x->lane < 0 ? ref_none() : last_lane(s, x);
  NestBuilder outer = bind_open_loops(s, x->kept);
  for (int32_t k = 1; k < x->chunks; k++) {
    Ref total[MAX_OPERANDS], prefix[MAX_OPERANDS], before[MAX_OPERANDS];
    new_scalars(s, x, total);
    for (int i = 0; i < x->n; i++) {
      Ref own = chunk_ref_at(x, x->total[i], NULL, k - 1);
      prefix[i] = chunk_ref_at(x, x->prefix[i], NULL, k);
      before[i] = chunk_ref_at(x, x->prefix[i], NULL, k - 1);
      if (from.kind) bind_from_lane(s, total[i], own, from, x->v[i]->dtype);
      else nest_mov(&s->b, total[i], own, x->v[i]->dtype);
    }
    if (k > 1) put_before(s, x, before, total, ref_none());
    move_all(s, x, prefix, total, ref_none());
  }
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

/* The totals of all chunks and warps in shared memory, in scan order. */
typedef struct {
  int32_t extent; /* warps of a chunk, with those that hold padding alone */
  int32_t first, end; /* places of totals of elements */
  Ref place;      /* of this warp in its chunk */
  NestBuffer *buf[MAX_OPERANDS];
  Slot slot[MAX_OPERANDS];
} Warps;

static Warps place_warps(Bind *s, const Scan *x) {
  Warps w = {.extent = dim_extent(s, x->warp)};
  w.place = digit_of(s, x->warp);
  if (x->reverse) w.place = bind_op(s, TILE_SUB, DT_I32, ref_int(w.extent - 1), w.place);
  w.first = x->reverse ? w.extent - x->warps : 0;
  w.end = x->chunks == 1 ? w.first + x->warps : x->chunks * w.extent;
  return w;
}

static void store_totals(Bind *s, const Scan *x, Warps *w) {
  Ref guard = total_writer_guard(s, x);
  for (int i = 0; i < x->n; i++) {
    NestVar *t = x->total[i];
    int64_t bytes = dtype_bytes(t->dtype), row = bytes * w->extent;
    w->slot[i] = bind_slot(s, x->axis, row * x->chunks);
    w->buf[i] = nest_buffer(s->nest, "scan", t->dtype, w->slot[i].slots * row * x->chunks, 16);
    Ref at_warp = bind_op(s, TILE_MUL, DT_I32, w->place, ref_int(bytes));
    at_warp = bind_sum(s, w->slot[i].base, at_warp);
    NestBuilder outer = bind_open_loops(s, x->kept);
    NestIndex *c = open_unrolled(s, "c", x->chunks);
    Affine at = w->slot[i].bytes;
    bind_add_index(&at, c, row);
    bind_st_shared(s, chunk_ref_at(x, t, c, 0), t->dtype, w->buf[i], at_warp, at, guard);
    bind_close(s, outer);
  }
}

static void load_totals(Bind *s, const Scan *x, const Warps *w, int32_t place, const Ref *to) {
  for (int i = 0; i < x->n; i++) {
    DType t = x->v[i]->dtype;
    Affine from = w->slot[i].bytes;
    from.c += (int64_t)place * dtype_bytes(t);
    bind_ld_shared(s, to[i], t, w->buf[i], w->slot[i].base, from, 1);
  }
}

/* Each thread adds up all totals; a prefix is what the sum is at its warp. */
static void sum_warps_in_threads(Bind *s, const Scan *x, const Warps *w) {
  Ref sum[MAX_OPERANDS], next[MAX_OPERANDS], prefix[MAX_OPERANDS];
  NestBuilder outer = bind_open_loops(s, x->kept);
  new_scalars(s, x, sum);
  load_totals(s, x, w, w->first, sum);
  for (int i = 0; i < x->n; i++) prefix[i] = chunk_ref_at(x, x->prefix[i], NULL, 0);
  move_all(s, x, prefix, sum, ref_none());
  for (int32_t place = w->first + 1; place < w->end; place++) {
    int32_t k = place / w->extent, warp = place % w->extent;
    for (int i = 0; i < x->n; i++) prefix[i] = chunk_ref_at(x, x->prefix[i], NULL, k);
    if (place > w->first + 1) {
      Ref at = warp ? bind_op(s, TILE_GE, DT_I32, w->place, ref_int(warp)) : ref_none();
      move_all(s, x, prefix, sum, at);
    }
    if (place + 1 == w->end) break;
    new_scalars(s, x, next);
    load_totals(s, x, w, place, next);
    put_before(s, x, sum, next, ref_none());
    memcpy(sum, next, sizeof sum);
  }
  bind_close(s, outer);
}

/* ---- across many warps and chunks: each warp scans the totals as its lanes' elements ---- */

/* Totals 32 j.. of the place of each lane; zeros after the last. */
static void load_by_lanes(Bind *s, const Scan *x, const Warps *w, NestVar *const *part, int32_t j) {
  int32_t lanes = s->nest->lanes, rest = w->end - j * lanes;
  Ref lane = digit_of(s, x->lane), in = ref_none();
  if (rest < lanes) in = bind_op(s, TILE_LT, DT_I32, lane, ref_int(rest));
  for (int i = 0; i < x->n; i++) {
    DType t = x->v[i]->dtype;
    Ref to = ref_sub(part[i], affine_const(j));
    Ref at = bind_op(s, TILE_MUL, DT_I32, lane, ref_int(dtype_bytes(t)));
    Affine from = w->slot[i].bytes;
    from.c += (int64_t)j * lanes * dtype_bytes(t);
    if (in.kind) nest_mov(&s->b, to, ref_zero(t), t);
    bind_ld_shared(s, to, t, w->buf[i], bind_sum(s, w->slot[i].base, at), from, 1)->guard = in;
  }
}

/* part[j] := the sum of the totals before each lane's, `carry` (unless j is 0) that of all before
 * the first lane's; then carry := the sum up to the last lane's. */
static void scan_part(Bind *s, const Scan *x, NestVar *const *part, int32_t j, const Ref *carry) {
  int32_t lanes = s->nest->lanes;
  Ref lane = digit_of(s, x->lane), own[MAX_OPERANDS], before[MAX_OPERANDS];
  for (int i = 0; i < x->n; i++) own[i] = ref_sub(part[i], affine_const(j));
  for (int32_t by = 1; by < lanes; by *= 2) {
    Ref guard = bind_op(s, TILE_GE, DT_I32, lane, ref_int(by));
    new_scalars(s, x, before);
    for (int i = 0; i < x->n; i++)
      bind_shuffle(s, before[i], own[i], "up", by, x->v[i]->dtype);
    put_before(s, x, before, own, guard);
  }
  if (j) put_before(s, x, carry, own, ref_none());
  new_scalars(s, x, before);
  for (int i = 0; i < x->n; i++) bind_shuffle(s, before[i], own[i], "up", 1, x->v[i]->dtype);
  if (j) move_all(s, x, before, carry, bind_op(s, TILE_EQ, DT_I32, lane, ref_int(0)));
  for (int i = 0; i < x->n; i++)
    bind_from_lane(s, carry[i], own[i], ref_int(lanes - 1), x->v[i]->dtype);
  move_all(s, x, own, before, ref_none());
}

static void sum_warps_by_lanes(Bind *s, const Scan *x, const Warps *w) {
  int32_t lanes = s->nest->lanes, parts = (w->end + lanes - 1) / lanes;
  NestVar *part[MAX_OPERANDS];
  Ref carry[MAX_OPERANDS];
  NestBuilder outer = bind_open_loops(s, x->kept);
  for (int i = 0; i < x->n; i++)
    part[i] = bind_var(s, NULL, x->v[i]->dtype, x->v[i]->elem, (uint32_t)parts, false);
  new_scalars(s, x, carry);
  for (int32_t j = 0; j < parts; j++) {
    load_by_lanes(s, x, w, part, j);
    scan_part(s, x, part, j, carry);
  }
  for (int32_t k = 0; k < x->chunks; k++) {
    int32_t at = k * w->extent;
    Ref from = bind_op(s, TILE_ADD, DT_I32, w->place, ref_int(at % lanes));
    for (int i = 0; i < x->n; i++)
      bind_from_lane(s, chunk_ref_at(x, x->prefix[i], NULL, k),
                     ref_sub(part[i], affine_const(at / lanes)), from, x->v[i]->dtype);
  }
  bind_close(s, outer);
}

/* The first way takes fewer steps for few totals. */
static bool sums_by_lanes(const Bind *s, const Scan *x, const Warps *w) {
  enum { FEW = 16 };
  return w->end > FEW && x->chunks > 1 && dim_extent(s, x->lane) == s->nest->lanes &&
         s->nest->lanes % w->extent == 0;
}

static void sum_warps(Bind *s, Scan *x) {
  Warps w = place_warps(s, x);
  store_totals(s, x, &w);
  if (sums_by_lanes(s, x, &w)) sum_warps_by_lanes(s, x, &w);
  else sum_warps_in_threads(s, x, &w);
}

/* ---- what is before a run ---- */

/* What is before the runs of some chunks. */
typedef struct {
  bool prefixed; /* the prefix, ... */
  Ref valid;     /* ... where this holds (REF_NONE: always), ... */
  Ref lanes;     /* ... and after it the lanes' sum where this holds */
  Ref any;       /* the two together */
} Before;

static Before find_before(Bind *s, const Scan *x, bool prefixed, Ref valid) {
  Before b = {.prefixed = prefixed, .valid = valid, .lanes = ref_none(), .any = valid};
  if (x->lane < 0) return b;
  b.lanes = has_lane_before(s, x, 1);
  if (!prefixed) b.any = b.lanes;
  else if (valid.kind) b.any = bind_op(s, TILE_OR, DT_I1, valid, b.lanes);
  return b;
}

/* The sum before a run, into new scalars. */
static void sum_before(Bind *s, const Scan *x, const Before *b, const NestIndex *c, int32_t k,
                       Ref *out) {
  Ref prefix[MAX_OPERANDS], both[MAX_OPERANDS];
  new_scalars(s, x, out);
  if (b->lanes.kind) from_neighbour(s, x, s->dims[x->lane].stride, c, k, out);
  if (!b->prefixed) return;
  for (int i = 0; i < x->n; i++) prefix[i] = chunk_ref_at(x, x->prefix[i], c, k);
  if (!b->lanes.kind) {
    move_all(s, x, out, prefix, ref_none());
    return;
  }
  new_scalars(s, x, both);
  move_all(s, x, both, prefix, ref_none());
  bind_combine(s, x->st, both, out);
  move_all(s, x, prefix, both, b->lanes);
  move_all(s, x, out, prefix, b->valid);
}

/* Chunks k..k+n-1: puts what is before each run before all of it. */
static void put_before_runs(Bind *s, const Scan *x, int32_t k, int32_t n, bool prefixed,
                            Ref valid) {
  if (n <= 0 || (!prefixed && x->lane < 0)) return;
  Ref before[MAX_OPERANDS], to[MAX_OPERANDS];
  Before b = find_before(s, x, prefixed, valid);
  NestBuilder outer = bind_open_loops(s, x->kept);
  NestIndex *c = open_unrolled(s, "c", n);
  sum_before(s, x, &b, c, k, before);
  NestIndex *ix = open_unrolled(s, "r", dim_extent(s, x->reg));
  for (int i = 0; i < x->n; i++) to[i] = scan_ref_at(s, x, i, run_position(s, x, ix, 0), c, k);
  put_before(s, x, before, to, b.any);
  bind_close(s, outer);
}

/* ---- the statement ---- */

static void count_padding(const Bind *s, Scan *x, int32_t elements) {
  int32_t run = dim_extent(s, x->reg), lanes = dim_extent(s, x->lane);
  int32_t all = lanes * dim_extent(s, x->warp);
  x->threads = x->chunks > 1 ? all : (elements + run - 1) / run;
  x->warps = (x->threads + lanes - 1) / lanes;
  x->padding = x->chunks > 1 ? 0 : x->threads * run - elements;
}

/* Which dims of the axis are chunks, warps, lanes and runs. */
static void find_dims(Bind *s, Scan *x) {
  for (int d = 0; d < s->ndims; d++) {
    const Dim *dim = &s->dims[d];
    if (dim->axis == x->axis) {
      bool inside = x->warp >= 0 || x->lane >= 0 || x->chunk >= 0;
      int *which = dim->hw == HW_LANE ? &x->lane : dim->hw == HW_WARP ? &x->warp : &x->reg;
      if (dim->index && !inside) which = &x->chunk;
      bool ordered = x->reg < 0 && (which != &x->warp || x->lane < 0);
      if (*which >= 0 || !ordered)
        bind_refuse(s, "the digits of its axis are not registers, warps, lanes, registers");
      *which = d;
    } else if (dim->index) {
      x->kept |= (DimMask)1 << d;
      bind_add_index(&x->kept_sub, dim->index, dim->stride);
    }
  }
  /* Registers alone, or two runs: no thread comes between their elements. */
  if (x->warp < 0 && x->lane < 0 && x->reg < 0) {
    x->reg = x->chunk;
    x->chunk = -1;
  }
  x->chunks = dim_extent(s, x->chunk);
}

void bind_scan(Bind *s, const NestStmt *st) {
  const Layout l = *st->srcs[0].var->layout;
  bind_start(s, NULL, &l);
  Scan x = {.st = st,
            .n = bind_operands(s, st),
            .axis = (int)nest_int(st, NA_axis, 0),
            .chunk = -1,
            .reg = -1,
            .lane = -1,
            .warp = -1,
            .reverse = nest_int(st, NA_reverse, 0) != 0};
  x.kept_sub = affine_const(0);
  find_dims(s, &x);
  if (x.chunks > 1 && x.reverse && layout_has_padding(&l, x.axis))
    bind_refuse(s, "a reverse scan over chunks has padding");
  count_padding(s, &x, l.shape[x.axis]);
  int64_t count = layout_registers(&l);
  for (int i = 0; i < x.n; i++) {
    x.v[i] = st->dsts[i].var;
    bind_mov_run(s, x.v[i], 0, st->srcs[i].var, 0, count);
  }
  scan_runs(s, &x);
  take_totals(s, &x);
  scan_lanes(s, &x);
  bool warps = x.warps > 1;
  if (warps) sum_warps(s, &x);
  else if (x.chunks > 1) sum_chunks(s, &x);
  put_before_runs(s, &x, 0, 1, warps, warps ? has_warp_before(s, &x) : ref_none());
  put_before_runs(s, &x, 1, x.chunks - 1, true, ref_none());
}
