/* Loads, stores and atomics on global memory. */
#include <string.h>

#include "lower/build/build.h"

/* ---- addresses ---- */

static void set_access(Build *s, NestStmt *st, const TileOp *op) {
  const char *cache = tile_str(op, TA_cache, NULL), *evict = tile_str(op, TA_evict, NULL);
  if (cache && *cache) nest_set_str(s->nest, st, NA_cache, cache);
  if (evict && *evict) nest_set_str(s->nest, st, NA_evict, evict);
  if (tile_int(op, TA_volatile, 0)) nest_set_int(s->nest, st, NA_volatile, 1);
}

static Mem pointer_mem(Ref ptr) { return (Mem){NULL, ptr, affine_const(0)}; }

static Ref optional_at(Build *s, const TileValue *v, const Affine *axes, const Layout *l) {
  return v ? build_value_at(s, v, axes, l) : ref_none();
}

/* A mask that is the constant false: nothing is accessed. */
static bool never(const TileValue *mask) {
  while (mask && mask->def) {
    switch (mask->def->code) {
      case TILE_SPLAT:
      case TILE_EXPAND_DIMS:
      case TILE_BROADCAST:
      case TILE_TRANS:
      case TILE_RESHAPE: mask = mask->def->args[0]; break;
      case TILE_CONST: return !tile_int(mask->def, TA_value, 0);
      case TILE_UNDEF: return true;
      default: return false;
    }
  }
  return false;
}

static Ref widen_index(Build *s, const TileValue *v) {
  Ref r = build_scalar(s, v);
  if (r.kind != REF_VAR || v->type.dtype == DT_I64) return r;
  NestVar *t = nest_var(s->nest, NULL, DT_I64, DT_NONE, 1, true);
  t->div = r.var->div;
  NestStmt *st =
      nest_op(&s->b, TILE_CAST, (DType)v->type.dtype, ref_var(t), r, ref_none(), ref_none());
  st->to = DT_I64;
  return ref_var(t);
}

/* The pointer to a view's element at `axes`, and the condition that it is inside. */
static Ref view_at(Build *s, const TileOp *op, const Affine *axes, Ref *guard) {
  uint32_t rank = tile_view_rank(op);
  const TileValue *base = op->args[0];
  Ref sum = ref_none();
  for (uint32_t a = 0; a < rank; a++) {
    Ref at = build_op(s, TILE_ADD, DT_I64, widen_index(s, tile_view_offset(op, a)),
                      ref_affine(axes[a]), ref_none());
    if (tile_view_checked(op, a)) {
      Ref hi = build_op(s, TILE_LT, DT_I64, at, widen_index(s, tile_view_size(op, a)), ref_none());
      Ref in = hi;
      if (s->axis[tile_view_offset(op, a)->id].lo < 0) {
        Ref lo = build_op(s, TILE_GE, DT_I64, at, ref_int(0), ref_none());
        in = build_op(s, TILE_AND, DT_I1, lo, hi, ref_none());
      }
      *guard = guard->kind ? build_op(s, TILE_AND, DT_I1, *guard, in, ref_none()) : in;
    }
    Ref step =
        build_op(s, TILE_MUL, DT_I64, at, widen_index(s, tile_view_stride(op, a)), ref_none());
    sum = sum.kind ? build_op(s, TILE_ADD, DT_I64, sum, step, ref_none()) : step;
  }
  NestVar *ptr = build_temp(s, DT_PTR, (DType)base->type.elem);
  if (!sum.kind) sum = ref_int(0);
  NestStmt *st =
      nest_op(&s->b, TILE_PTR_ADD, DT_PTR, ref_var(ptr), build_scalar(s, base), sum, ref_none());
  st->elem = (DType)base->type.elem;
  return ref_var(ptr);
}

/* ---- loads ---- */

enum { HINT_DEPTH = 8 }; /* operations between a hint and the address */

/* True if a hint takes part in the address; then its alignment is more than its terms tell. */
static bool is_hinted(const TileValue *v, int depth) {
  const TileOp *op = v->def;
  if (!op || !depth || op->nregions || !(tile_op_flags(op->code) & TILE_PURE)) return false;
  if (op->code == TILE_HINT) return true;
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i] && is_hinted(op->args[i], depth - 1)) return true;
  return false;
}

/* How many elements a thread can take at once, as far as the axis analysis proves it: passes plan
 * with it, bind finds the width anew where it can. */
static void note_width(Build *s, const TileOp *op, const TileValue *ptr, const TileValue *mask,
                       const Layout *l, NestStmt *ld) {
  if (mask && s->u->schedule->values[mask->id].held && !s->inlined[mask->id]) return;
  int64_t n = 1;
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].hw == HW_REG && l->d[i].stride == 1 && layout_weight(l, i) == 1)
      n = op->code == TILE_VIEW_LOAD ? l->d[i].extent
                                     : axis_vector(s->axis, ptr, mask, l->d[i].axis,
                                                   dtype_bytes(ld->type), l->d[i].extent);
  if (n > 1) nest_set_int(s->nest, ld, NA_width, n);
  bool view = op->code == TILE_VIEW_LOAD;
  if (n > 1 && !view && is_hinted(ptr, HINT_DEPTH)) nest_set_int(s->nest, ld, NA_hinted, 1);
}

/* i1 in memory is a byte: it is loaded as one and compared with zero. */
static NestStmt *load_into(Build *s, const TileOp *op, Ref dst, DType t, Mem mem, Ref guard,
                           Ref other) {
  Ref to = t == DT_I1 ? ref_var(build_temp(s, DT_I8, DT_NONE)) : dst;
  if (t == DT_I1 && dst.var->uniform) to.var->uniform = true;
  if (other.kind && guard.kind) {
    if (t == DT_I1 && other.kind == REF_VAR) {
      NestStmt *st = nest_op(&s->b, TILE_CAST, DT_I1, to, other, ref_none(), ref_none());
      st->to = DT_I8;
    } else {
      nest_mov(&s->b, to, other, t == DT_I1 ? DT_I8 : t);
    }
  }
  NestStmt *ld = nest_stmt(&s->b, NEST_LD, 1, 0);
  ld->dsts[0] = to;
  ld->type = t == DT_I1 ? DT_I8 : t;
  ld->mems[0] = mem;
  ld->guard = guard;
  set_access(s, ld, op);
  if (build_is_pinned(s, op)) nest_set_int(s->nest, ld, NA_pinned, 1);
  if (s->u->schedule->values[op->results[0]->id].ahead) nest_set_int(s->nest, ld, NA_ahead, 1);
  if (t == DT_I1) nest_op(&s->b, TILE_NE, DT_I8, dst, to, ref_int(0), ref_none());
  return ld;
}

static Ref padding_of_load(const TileOp *op) {
  bool nan = !strcmp(tile_str(op, TA_pad, "zero"), "nan");
  if (!dtype_is_float((DType)op->results[0]->type.dtype)) return ref_int(0);
  return ref_float(nan ? __builtin_nan("") : 0);
}

/* The result of a load or an atomic that accesses nothing: `other`, or zeros. */
static void fill_result(Build *s, const TileOp *op, const TileValue *other) {
  const TileValue *r = op->results[0];
  DType t = (DType)r->type.dtype;
  NestVar *v = build_result(s, r);
  if (!r->type.rank) {
    nest_mov(&s->b, ref_var(v), other ? build_scalar(s, other) : ref_zero(t), t);
    return;
  }
  Layout l = build_layout_of(s, r);
  Open o = build_open(s, &l);
  Ref with = other ? build_value_at(s, other, o.axes, &l) : ref_zero(t);
  nest_mov(&s->b, build_tile_ref(s, v, o.axes), with, t);
  build_close(s, &o);
}

static void load_scalar(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  Layout none = {0};
  build_order(s, op, &none);
  NestVar *v = build_result(s, r);
  Ref guard = build_guard_at(s, op->args[1], NULL, &none);
  Ref other = op->args[2]  ? build_scalar(s, op->args[2])
              : guard.kind ? ref_zero((DType)r->type.dtype)
                           : ref_none();
  load_into(s, op, ref_var(v), (DType)r->type.dtype, pointer_mem(build_scalar(s, op->args[0])),
            guard, other);
}

static void load_tile(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  Layout l = build_layout_of(s, r);
  build_order(s, op, &l);
  NestVar *v = build_result(s, r);
  Open o = build_open(s, &l);
  Ref guard = build_guard_at(s, op->args[1], o.axes, &l);
  Ref other = optional_at(s, op->args[2], o.axes, &l);
  Ref ptr;
  if (op->code == TILE_VIEW_LOAD) {
    ptr = view_at(s, op, o.axes, &guard);
    if (!other.kind && guard.kind) other = padding_of_load(op);
  } else {
    ptr = build_value_at(s, op->args[0], o.axes, &l);
  }
  NestStmt *ld = load_into(s, op, build_tile_ref(s, v, o.axes), (DType)r->type.dtype,
                           pointer_mem(ptr), guard, other);
  note_width(s, op, op->args[0], op->args[1], &l, ld);
  build_close(s, &o);
}

/* ---- stores ---- */

static Ref as_byte(Build *s, Ref v) {
  Ref t = ref_var(build_temp(s, DT_I8, DT_NONE));
  NestStmt *st = nest_op(&s->b, TILE_CAST, DT_I1, t, v, ref_none(), ref_none());
  st->to = DT_I8;
  return t;
}

/* The value in registers in the order in which they are stored, if it has another one in the same
 * threads: neighbours in memory must be neighbours in registers, or none is stored with another.
 * NULL: it is stored from where it is. */
static NestVar *ordered_value(Build *s, const TileValue *value, const Layout *l) {
  const ValuePlan *plan = &s->u->schedule->values[value->id];
  bool moves = plan->held && !schedule_renames(value) && !layout_eq(&plan->layout, l);
  return moves && build_same_threads(&plan->layout, l) ? build_held(s, value, l) : NULL;
}

static void build_store(Build *s, const TileOp *op) {
  const TileValue *value = op->args[1];
  bool tile = value->type.rank > 0;
  Layout l = tile ? s->u->schedule->stores[s->next_store++] : build_whole_program(s);
  NestVar *ordered = tile ? ordered_value(s, value, &l) : NULL;
  build_order(s, op, &l);
  Open o = build_open(s, &l);
  Ref guard = build_guard_at(s, op->args[2], o.axes, &l);
  Ref ptr = op->code == TILE_VIEW_STORE ? view_at(s, op, o.axes, &guard)
                                        : build_value_at(s, op->args[0], o.axes, &l);
  Ref v = ordered ? build_tile_ref(s, ordered, o.axes) : build_value_at(s, value, o.axes, &l);
  DType t = (DType)value->type.dtype;
  if (t == DT_I1) v = as_byte(s, v), t = DT_I8;
  NestStmt *st = nest_stmt(&s->b, NEST_ST, 0, 1);
  st->srcs[0] = v;
  st->type = t == DT_PTR ? DT_I64 : t;
  st->mems[0] = pointer_mem(ptr);
  st->guard = guard;
  set_access(s, st, op);
  if (op->code == TILE_STORE) note_width(s, op, op->args[0], op->args[2], &l, st);
  build_close(s, &o);
}

/* ---- atomics ---- */

static void set_order(Build *s, NestStmt *st, const TileOp *op) {
  nest_set_str(s->nest, st, NA_sem, tile_str(op, TA_sem, "acq_rel"));
  nest_set_str(s->nest, st, NA_scope, tile_str(op, TA_scope, "gpu"));
}

/* Each element's first replica acts; the others get the old value through shared memory. */
static void atomic(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  bool rmw = op->code == TILE_ATOMIC_RMW, used = s->uses[r->id] > 0, tile = r->type.rank > 0;
  bool ordered = strcmp(tile_str(op, TA_sem, "acq_rel"), "relaxed") != 0;
  Layout l = tile ? build_layout_of(s, r) : build_whole_program(s);
  DType t = (DType)r->type.dtype;
  if (ordered) build_barrier(s);
  else build_order(s, op, &l);
  bool spread = used && layout_replicated(&l);
  NestVar *v = used ? build_result(s, r) : NULL;
  NestBuffer *buf = spread ? build_tile_buffer(s, "old", &r->type) : NULL;
  Open o = build_open(s, &l);
  Ref guard = rmw ? build_guard_at(s, op->args[2], o.axes, &l) : ref_none();
  Ref ptr = build_value_at(s, op->args[0], o.axes, &l);
  Ref x = build_value_at(s, op->args[1], o.axes, &l);
  Ref y = rmw ? ref_none() : build_value_at(s, op->args[2], o.axes, &l);
  const char *kind = tile_str(op, TA_kind, "add");
  if (used && !strcmp(kind, "store")) kind = "xchg";
  bool red = rmw && !used && strcmp(kind, "xchg") && strcmp(kind, "load");
  NestCode code = !rmw ? NEST_ATOM_CAS : red ? NEST_RED : NEST_ATOM;
  NestStmt *st = nest_stmt(&s->b, code, red ? 0 : 1, rmw ? 1 : 2);
  Ref old = spread || !used || !tile ? ref_var(build_temp(s, t, (DType)r->type.elem))
                                     : build_tile_ref(s, v, o.axes);
  if (!red) st->dsts[0] = old;
  st->srcs[0] = x;
  if (!rmw) st->srcs[1] = y;
  st->type = t;
  st->mems[0] = pointer_mem(ptr);
  st->guard = guard;
  if (rmw) nest_set_str(s->nest, st, NA_kind, kind);
  set_order(s, st, op);
  if (spread)
    build_st_shared(s, old, t, buf, ref_none(), build_linear(&r->type, o.axes, dtype_bytes(t)));
  build_close(s, &o);
  /* Reads of its result are ordered after the atomic as well. */
  if (ordered) build_barrier(s);
  if (spread && tile) {
    Open back = build_open(s, &l);
    build_ld_shared(s, build_tile_ref(s, v, back.axes), t, buf, ref_none(),
                    build_linear(&r->type, back.axes, dtype_bytes(t)));
    build_close(s, &back);
  } else if (spread) {
    build_ld_shared(s, ref_var(v), t, buf, ref_none(), affine_const(0));
  }
}

void build_memory(Build *s, const TileOp *op) {
  bool load = op->code == TILE_LOAD || op->code == TILE_VIEW_LOAD;
  bool no_access = op->code != TILE_ATOMIC_CAS && never(op->args[load ? 1 : 2]);
  switch (op->code) {
    case TILE_LOAD:
    case TILE_VIEW_LOAD:
      if (no_access) fill_result(s, op, op->args[2]);
      else if (op->results[0]->type.rank) load_tile(s, op);
      else load_scalar(s, op);
      return;
    case TILE_STORE:
    case TILE_VIEW_STORE:
      if (!no_access) build_store(s, op);
      else if (op->args[1]->type.rank) s->next_store++;
      return;
    default:
      if (!no_access) atomic(s, op);
      else if (s->uses[op->results[0]->id]) fill_result(s, op, NULL);
      return;
  }
}

/* ---- slots ---- */

typedef struct {
  const Build *s;
  int64_t slot;
  bool own; /* threads read what they copied */
} SlotUse;

static void note_slot_layout(TileOp *op, void *ctx) {
  SlotUse *x = ctx;
  if (op->code != TILE_UNPARK || tile_int(op, TA_slot, 0) != x->slot) return;
  const Type *t = &op->results[0]->type;
  Layout own = schedule_slot(x->s->u, t, x->s->u->machine->vector_bytes);
  x->own &= layout_eq(&own, &x->s->u->schedule->values[op->results[0]->id].layout);
}

/* The slot's buffer.  It is a ring, whose slots are as large as its tiles, if tiles are copied to
 * it. */
static NestBuffer *slot_buffer(Build *s, const TileOp *op, const Type *tile) {
  int64_t slot = tile_int(op, TA_slot, 0), count = tile_int(op, TA_count, 1);
  for (size_t i = 0; i < s->parks.len; i++)
    if (s->parks.data[i].slot == slot) return s->parks.data[i].buffer;
  int64_t bytes = count * dtype_bytes((DType)tile->dtype), tiles = count / type_numel(*tile);
  NestBuffer *b =
      nest_buffer(s->nest, "slot", (DType)tile->dtype, bytes, s->u->machine->vector_bytes);
  if (op->code == TILE_PARK && tiles * type_numel(*tile) == count) b->slots = (int)tiles;
  vec_push(s->scratch, &s->parks, ((Park){slot, b}));
  SlotUse use = {s, slot, true};
  tile_walk(s->u->tile->body, note_slot_layout, &use);
  b->own = use.own;
  return b;
}

/* Inside an open nest: the element at these axes of a tile that begins at the op's element. */
static Affine slot_at(Build *s, const TileOp *op, const Type *tile, const Affine *axes, Ref *base) {
  int64_t size = dtype_bytes((DType)tile->dtype);
  Ref first = build_scalar(s, op->args[0]);
  Affine at = build_linear(tile, axes, size);
  *base = ref_none();
  if (first.kind == REF_VAR)
    *base = build_op(s, TILE_MUL, DT_I32, first, ref_int(size), ref_none());
  else at.c += first.sub.c * size;
  return at;
}

static bool copies_parks(const Build *s) {
  return !s->u->synchronous && machine_has(s->u->machine, HAS_ASYNC_COPIES);
}

static void park(Build *s, const TileOp *op) {
  Type t = op->args[1]->type;
  t.dtype = t.elem;
  t.elem = 0;
  NestBuffer *b = slot_buffer(s, op, &t);
  Layout l = schedule_slot(s->u, &t, s->u->machine->vector_bytes);
  build_order_copies(s);
  Open o = build_open(s, &l);
  if (copies_parks(s)) o.stmt->code = NEST_COPY;
  Ref x = ref_var(build_temp(s, (DType)t.dtype, DT_NONE));
  Ref guard = build_guard_at(s, op->args[2], o.axes, &l), base;
  Ref pointer = build_value_at(s, op->args[1], o.axes, &l);
  if (o.stmt->code != NEST_COPY) nest_mov(&s->b, x, ref_zero((DType)t.dtype), (DType)t.dtype);
  NestStmt *ld = nest_stmt(&s->b, NEST_LD, 1, 0);
  ld->dsts[0] = x;
  ld->type = (DType)t.dtype;
  ld->mems[0] = pointer_mem(pointer);
  ld->guard = guard;
  note_width(s, op, op->args[1], op->args[2], &l, ld);
  Affine at = slot_at(s, op, &t, o.axes, &base);
  build_st_shared(s, x, (DType)t.dtype, b, base, at);
  build_close(s, &o);
  if (tile_int(op, TA_ends, 0) && copies_parks(s)) nest_stmt(&s->b, NEST_RING_COMMIT, 0, 0);
}

static bool reads_own_slots(const Build *s) {
  for (size_t i = 0; i < s->parks.len; i++)
    if (!s->parks.data[i].buffer->own) return false;
  return true;
}

/* Visitor: does a thread read what others have copied? */
static void note_others_slot(TileOp *op, void *ctx) {
  SlotUse *x = ctx;
  if (op->code != TILE_UNPARK) return;
  x->slot = tile_int(op, TA_slot, 0);
  note_slot_layout(op, x);
}

/* Do threads read what they copied themselves until the next wait, which is in the same block?  Its
 * barrier comes before what they read after it. */
static bool reads_own_strips(const Build *s, const TileOp *wait) {
  SlotUse use = {s, 0, true};
  for (TileOp *op = wait->next; op; op = op->next) {
    if (op->code == TILE_PARK_WAIT) return use.own;
    note_others_slot(op, &use);
    for (uint32_t r = 0; r < op->nregions; r++) tile_walk(op->regions[r], note_others_slot, &use);
  }
  return false;
}

/* The barrier orders the copies' reads of global memory, too, before stores that follow. */
static void park_wait(Build *s, const TileOp *op) {
  int64_t pending = tile_int(op, TA_pending, 0);
  if (copies_parks(s)) {
    if (!tile_attr(op, TA_pending)) nest_stmt(&s->b, NEST_RING_COMMIT, 0, 0);
    nest_set_int(s->nest, nest_stmt(&s->b, NEST_RING_WAIT, 0, 0), NA_groups, pending);
  }
  if (!pending || !(reads_own_slots(s) || reads_own_strips(s, op))) build_barrier(s);
}

static void unpark(Build *s, const TileOp *op) {
  const Type *t = &op->results[0]->type;
  NestBuffer *b = slot_buffer(s, op, t);
  NestVar *v = build_result(s, op->results[0]);
  Open o = build_open(s, v->layout);
  Ref base;
  Affine at = slot_at(s, op, t, o.axes, &base);
  build_ld_shared(s, build_tile_ref(s, v, o.axes), v->dtype, b, base, at);
  build_close(s, &o);
}

void build_slot(Build *s, const TileOp *op) {
  switch (op->code) {
    case TILE_PARK: park(s, op); return;
    case TILE_PARK_WAIT: park_wait(s, op); return;
    default: unpark(s, op); return;
  }
}
