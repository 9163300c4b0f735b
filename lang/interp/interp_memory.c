/* Ops that access memory, and what the user asserts. */
#include <math.h>
#include <string.h>

#include "lang/interp/interp_run.h"
#include "lang/messages.h"

static bool is_masked(const TileOp *op) {
  uint32_t mask = op->code == TILE_LOAD ? 1 : 2;
  bool takes = op->code == TILE_LOAD || op->code == TILE_STORE || op->code == TILE_ATOMIC_RMW;
  return takes && mask < op->nargs && op->args[mask];
}

/* The linear index as `program` in accesses and findings. */
static Access interp_access(const Prog *p, const Inst *in, const Val *pointers) {
  bool is_volatile = tile_int(in->op, TA_volatile, 0) != 0;
  return (Access){p->index, in->op->span, pointers->arg, is_volatile, false, is_masked(in->op)};
}

/* May element i be accessed?  A mask that is undefined is reported and counts as false. */
static bool active(Prog *p, const Inst *in, const Val *mask, uint32_t i) {
  return !mask || (!interp_is_undef(p, in, mask, i, "the mask") && mask->x[i].i);
}

/* The address is fit to be used: reports it if it is undefined (then false) or has overflowed. */
static bool address_ok(Prog *p, const Inst *in, const Val *ptr, uint32_t i) {
  if (interp_is_undef(p, in, ptr, i, "the address")) return false;
  interp_check_wrap(p, in, ptr, i);
  return true;
}

/* ---- elements, in runs of neighbours ---- */

/* The state of an element of an access: masked off, on, or padding. */
enum { OFF, ON, PAD };

/* The elements of an access: addresses, and which are on. */
typedef struct {
  const Scalar *at;
  uint8_t *on;
  uint32_t n;
  unsigned bytes;
  DType type;
  Access who;
} Places;

/* The number of elements from i on that are active and contiguous. */
static uint32_t run_length(const Places *pl, uint32_t i) {
  uint32_t k = 1;
  uint64_t next = (uint64_t)pl->at[i].i;
  while (i + k < pl->n && pl->on[i + k] == ON && (uint64_t)pl->at[i + k].i == (next += pl->bytes))
    k++;
  return k;
}

static void read_places(Prog *p, const Places *pl, Scalar *out) {
  uint8_t *raw = interp_alloc(p->run, (size_t)pl->n * pl->bytes);
  for (uint32_t i = 0, k; i < pl->n; i += k) {
    k = 1;
    if (pl->on[i] != ON) continue;
    k = run_length(pl, i);
    memory_read_run(p->run->memory, (uint64_t)pl->at[i].i, pl->bytes, k, raw, pl->who);
    scalar_load_all(pl->type, k, raw, out + i);
  }
  interp_drop(p->run, raw);
  if (pl->who.atomic) p->yields = true; /* it polls: the others get a turn */
}

/* Two elements of a store at one address: the one that was written over is reported. */
static void check_stored(Prog *p, const Places *pl, const uint8_t *raw) {
  for (uint32_t i = 0; i < pl->n; i++)
    if (pl->on[i] == ON)
      memory_stored(p->run->memory, (uint64_t)pl->at[i].i, pl->bytes, raw + (size_t)i * pl->bytes,
                    pl->who);
}

static void write_places(Prog *p, const Inst *in, const Places *pl, const Val *value) {
  uint8_t *raw = interp_alloc(p->run, (size_t)pl->n * pl->bytes);
  uint64_t end = 0;
  bool ascend = true; /* elements that ascend do not meet */
  scalar_store_all(pl->type, pl->n, value->x, raw);
  for (uint32_t i = 0, k; i < pl->n; i += k) {
    k = 1;
    if (pl->on[i] != ON) continue;
    k = run_length(pl, i);
    ascend = ascend && (uint64_t)pl->at[i].i >= end;
    end = (uint64_t)pl->at[i].i + (uint64_t)k * pl->bytes;
    memory_write_run(p->run->memory, (uint64_t)pl->at[i].i, pl->bytes, k,
                     raw + (size_t)i * pl->bytes, pl->who);
    for (uint32_t e = i; value->flags && e < i + k; e++)
      interp_is_undef(p, in, value, e, "the stored value");
  }
  if (!ascend && !pl->who.atomic) check_stored(p, pl, raw);
  interp_drop(p->run, raw);
}

static Places addresses_of(Prog *p, const Inst *in, const Val *base, uint32_t n, DType t) {
  Places pl = {.n = n, .type = t, .bytes = dtype_bytes(t), .who = interp_access(p, in, base)};
  pl.on = interp_alloc(p->run, n);
  return pl;
}

/* ---- pointers ---- */

/* Element i of the result where the mask is off: that of `other`, or undefined. */
static void take_other(Prog *p, const Inst *in, Val *r, const Val *other, uint32_t i, DType t) {
  if (!other) {
    interp_undef(p->run, r, i, t, in->op);
    return;
  }
  r->x[i] = other->x[i];
  if (!other->flags || !other->flags[i]) return;
  interp_flags(p->run, r)[i] = other->flags[i];
  interp_blame(r, other);
}

/* Elements at pointers, where the mask allows it. */
static Places pointed(Prog *p, const Inst *in, const Val *ptr, const Val *mask, DType t) {
  Places pl = addresses_of(p, in, ptr, ptr->n, t);
  pl.at = ptr->x;
  for (uint32_t i = 0; i < pl.n; i++) pl.on[i] = active(p, in, mask, i) ? ON : OFF;
  for (uint32_t i = 0; ptr->flags && i < pl.n; i++)
    if (pl.on[i] == ON && !address_ok(p, in, ptr, i)) pl.on[i] = PAD;
  return pl;
}

void interp_load(Prog *p, const Inst *in) {
  const Val *ptr = interp_arg(p, in, 0), *mask = interp_arg(p, in, 1);
  const Val *other = interp_arg(p, in, 2);
  Places pl = pointed(p, in, ptr, mask, (DType)interp_type(in, 0).dtype);
  Val *r = interp_result(p, in, 0, pl.n);
  for (uint32_t i = 0; i < pl.n; i++)
    if (pl.on[i] == OFF) take_other(p, in, r, other, i, pl.type);
    else if (pl.on[i] == PAD) r->x[i] = (Scalar){.i = 0};
  read_places(p, &pl, r->x);
  interp_drop(p->run, pl.on);
}

void interp_store(Prog *p, const Inst *in) {
  const Val *ptr = interp_arg(p, in, 0), *value = interp_arg(p, in, 1);
  Places pl = pointed(p, in, ptr, interp_arg(p, in, 2), (DType)in->op->args[1]->type.dtype);
  write_places(p, in, &pl, value);
  interp_drop(p->run, pl.on);
}

/* ---- slots ---- */

/* The slot's elements, UNDEF at first. */
static Val *slot_of(Prog *p, const Inst *in, DType t) {
  int64_t slot = tile_int(in->op, TA_slot, 0);
  for (size_t i = 0; i < p->parked.len; i++)
    if (p->parked.data[i].slot == slot) return &p->parked.data[i].elements;
  uint32_t n = (uint32_t)tile_int(in->op, TA_count, 1);
  Parked made = {slot, interp_new(p->run, n)};
  for (uint32_t i = 0; i < n; i++) interp_undef(p->run, &made.elements, i, t, in->op);
  vec_push(p->run->arena, &p->parked, made);
  return &p->parked.data[p->parked.len - 1].elements;
}

/* Element i of a tile in its slot; false if it is outside. */
static bool place_in_slot(Prog *p, const Inst *in, const Val *slot, uint32_t i, uint32_t *at) {
  const Val *first = interp_arg(p, in, 0);
  int64_t place = first->x[0].i + i;
  *at = (uint32_t)place;
  return !interp_is_undef(p, in, first, 0, "the address") && place >= 0 && place < slot->n;
}

static void put_in_slot(Prog *p, const Inst *in, Val *slot, uint32_t i, Scalar x, uint8_t flags) {
  uint32_t at;
  if (!place_in_slot(p, in, slot, i, &at)) return;
  slot->x[at] = x;
  interp_flags(p->run, slot)[at] = flags;
}

void interp_park(Prog *p, const Inst *in) {
  DType t = (DType)in->op->args[1]->type.elem;
  Places pl = pointed(p, in, interp_arg(p, in, 1), interp_arg(p, in, 2), t);
  Val *slot = slot_of(p, in, t), read = interp_new(p->run, pl.n);
  for (uint32_t i = 0; i < pl.n; i++) read.x[i] = (Scalar){.i = 0};
  read_places(p, &pl, read.x);
  for (uint32_t i = 0; i < pl.n; i++) put_in_slot(p, in, slot, i, read.x[i], 0);
  interp_clear(p->run, &read);
  interp_drop(p->run, pl.on);
}

void interp_unpark(Prog *p, const Inst *in) {
  Type t = interp_type(in, 0);
  const Val *slot = slot_of(p, in, (DType)t.dtype);
  Val *r = interp_result(p, in, 0, (uint32_t)type_numel(t));
  for (uint32_t i = 0, at; i < r->n; i++) {
    bool inside = place_in_slot(p, in, slot, i, &at);
    if (!inside || interp_flag(slot, at)) interp_undef(p->run, r, i, (DType)t.dtype, in->op);
    else r->x[i] = slot->x[at];
  }
}

/* ---- views ---- */

typedef struct {
  uint32_t rank;
  uint64_t base, element;
  Type tile;
  int64_t offset[MAX_RANK], size[MAX_RANK], stride[MAX_RANK];
  bool checked[MAX_RANK];
} View;

static int64_t view_scalar(Prog *p, const Inst *in, const TileValue *v) {
  const Val *x = interp_val(p, v);
  interp_is_undef(p, in, x, 0, "the address");
  interp_check_wrap(p, in, x, 0);
  return x->x[0].i;
}

static View view_of_op(Prog *p, const Inst *in, Type tile) {
  View v = {.rank = tile_view_rank(in->op), .tile = tile};
  v.base = (uint64_t)view_scalar(p, in, in->op->args[0]);
  v.element = dtype_bytes((DType)tile.dtype);
  for (uint32_t i = 0; i < v.rank; i++) {
    v.offset[i] = view_scalar(p, in, tile_view_offset(in->op, i));
    v.size[i] = view_scalar(p, in, tile_view_size(in->op, i));
    v.stride[i] = view_scalar(p, in, tile_view_stride(in->op, i));
    v.checked[i] = tile_view_checked(in->op, i);
  }
  return v;
}

/* The address of the tile's element i; false if it is outside a checked axis. */
static bool view_address(const View *v, uint32_t i, uint64_t *addr) {
  uint64_t at = 0, rest = i;
  bool inside = true;
  for (uint32_t k = v->rank; k-- > 0;) {
    int64_t index = (int64_t)((uint64_t)v->offset[k] + rest % (uint64_t)v->tile.shape[k]);
    rest /= (uint64_t)v->tile.shape[k];
    if (v->checked[k] && (index < 0 || index >= v->size[k])) inside = false;
    at += (uint64_t)index * (uint64_t)v->stride[k];
  }
  *addr = v->base + v->element * at;
  return inside;
}

static Scalar padding_value(const Inst *in, DType t) {
  Name pad = tile_str(in->op, TA_pad, "zero");
  if (strcmp(pad, "nan") || !dtype_is_float(t)) return (Scalar){.i = 0};
  return (Scalar){.f = scalar_round(t, NAN)};
}

/* Elements of a view: PAD outside its checked axes.  The addresses are the caller's to drop. */
static Places viewed(Prog *p, const Inst *in, const View *v, const Val *mask) {
  uint32_t n = (uint32_t)type_numel(v->tile);
  Places pl = addresses_of(p, in, interp_arg(p, in, 0), n, (DType)v->tile.dtype);
  Scalar *at = interp_alloc(p->run, n * sizeof *at);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t addr;
    bool inside = view_address(v, i, &addr);
    at[i].i = (int64_t)addr;
    pl.on[i] = !inside ? PAD : active(p, in, mask, i) ? ON : OFF;
  }
  pl.at = at;
  return pl;
}

static void drop_viewed(Prog *p, Places *pl) {
  interp_drop(p->run, (void *)pl->at);
  interp_drop(p->run, pl->on);
}

void interp_view_load(Prog *p, const Inst *in) {
  const Val *other = interp_arg(p, in, 2);
  View v = view_of_op(p, in, interp_type(in, 0));
  Places pl = viewed(p, in, &v, interp_arg(p, in, 1));
  Val *r = interp_result(p, in, 0, pl.n);
  bool pads = tile_attr(in->op, TA_pad) != NULL;
  for (uint32_t i = 0; i < pl.n; i++) {
    if (pl.on[i] == ON) continue;
    if (other || (pl.on[i] == OFF && !pads)) take_other(p, in, r, other, i, pl.type);
    else r->x[i] = padding_value(in, pl.type);
  }
  read_places(p, &pl, r->x);
  drop_viewed(p, &pl);
}

void interp_view_store(Prog *p, const Inst *in) {
  View v = view_of_op(p, in, in->op->args[1]->type);
  Places pl = viewed(p, in, &v, interp_arg(p, in, 2));
  write_places(p, in, &pl, interp_arg(p, in, 1));
  drop_viewed(p, &pl);
}

/* ---- atomics ---- */

typedef struct {
  bool acquire, release;
} Order;

/* Orders by `sem` between programs; nothing at scope cta, which is one program. */
static Order order_of_atomic(const Inst *in) {
  Name sem = tile_str(in->op, TA_sem, "acq_rel"), scope = tile_str(in->op, TA_scope, "gpu");
  bool both = !strcmp(sem, "acq_rel"), shared = strcmp(scope, "cta") != 0;
  return (Order){shared && (both || !strcmp(sem, "acquire")),
                 shared && (both || !strcmp(sem, "release"))};
}

static Access atomic_access(const Prog *p, const Inst *in, const Val *ptr) {
  bool shared = strcmp(tile_str(in->op, TA_scope, "gpu"), "cta") != 0;
  return (Access){p->index, in->op->span, ptr->arg, shared, false, is_masked(in->op)};
}

/* Orders the programs after all elements are done: within one op they have no order. */
static void sync_elements(Prog *p, const Inst *in, const Val *ptr, const Val *mask) {
  Order o = order_of_atomic(in);
  for (uint32_t i = 0; i < ptr->n; i++)
    if (!mask || mask->x[i].i)
      memory_sync(p->run->memory, p->index, (uint64_t)ptr->x[i].i, o.acquire, o.release);
  p->yields = true;
}

static Scalar rmw(Name kind, DType t, Scalar before, Scalar v) {
  static const struct {
    const char *kind;
    TileCode code;
  } rows[] = {{"add", TILE_ADD}, {"and", TILE_AND}, {"or", TILE_OR},
              {"xor", TILE_XOR}, {"max", TILE_MAX}, {"min", TILE_MIN}};
  Scalar x[3] = {before, v};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(kind, rows[i].kind)) return scalar_op(rows[i].code, t, t, x, false);
  return strcmp(kind, "load") ? v : before; /* xchg, store */
}

static void store_atomic(Prog *p, void *place, DType t, Scalar v) {
  uint64_t raw = 0;
  unsigned bytes = dtype_bytes(t);
  scalar_store(t, v, &raw);
  if (!memcmp(place, &raw, bytes)) return;
  memcpy(place, &raw, bytes);
  memory_changed(p->run->memory);
}

void interp_atomic_rmw(Prog *p, const Inst *in) {
  const Val *ptr = interp_arg(p, in, 0), *value = interp_arg(p, in, 1);
  const Val *mask = interp_arg(p, in, 2);
  DType t = (DType)in->op->args[1]->type.dtype;
  Name kind = tile_str(in->op, TA_kind, "add");
  Access who = atomic_access(p, in, ptr);
  Val *r = interp_result(p, in, 0, ptr->n);
  for (uint32_t i = 0; i < ptr->n; i++) {
    r->x[i] = (Scalar){.i = 0};
    if (!active(p, in, mask, i)) {
      interp_undef(p->run, r, i, t, in->op);
      continue;
    }
    if (!address_ok(p, in, ptr, i)) continue;
    interp_is_undef(p, in, value, i, "the operand of the atomic");
    void *at = memory_atomic(p->run->memory, (uint64_t)ptr->x[i].i, dtype_bytes(t), kind, who);
    if (!at) continue;
    r->x[i] = scalar_load(t, at);
    store_atomic(p, at, t, rmw(kind, t, r->x[i], value->x[i]));
  }
  sync_elements(p, in, ptr, mask);
}

/* Bits are compared, as the hardware does: a NaN equals itself. */
void interp_atomic_cas(Prog *p, const Inst *in) {
  const Val *ptr = interp_arg(p, in, 0), *compare = interp_arg(p, in, 1);
  const Val *value = interp_arg(p, in, 2);
  DType t = (DType)in->op->args[2]->type.dtype;
  Access who = atomic_access(p, in, ptr);
  Val *r = interp_result(p, in, 0, ptr->n);
  for (uint32_t i = 0; i < ptr->n; i++) {
    r->x[i] = (Scalar){.i = 0};
    if (!address_ok(p, in, ptr, i)) continue;
    interp_is_undef(p, in, compare, i, "the operand of the atomic");
    void *at = memory_atomic(p->run->memory, (uint64_t)ptr->x[i].i, dtype_bytes(t), "cas", who);
    if (!at) continue;
    uint64_t expected = 0;
    scalar_store(t, compare->x[i], &expected);
    r->x[i] = scalar_load(t, at);
    if (!memcmp(at, &expected, dtype_bytes(t))) store_atomic(p, at, t, value->x[i]);
  }
  sync_elements(p, in, ptr, NULL);
}

/* ---- what the user claims ---- */

void interp_nothing(Prog *p, const Inst *in) {
  (void)p;
  (void)in;
}

void interp_assert(Prog *p, const Inst *in) {
  const Val *cond = interp_arg(p, in, 0), *mask = interp_arg(p, in, 1);
  for (uint32_t i = 0; i < cond->n; i++) {
    if (!active(p, in, mask, i)) continue;
    if (interp_is_undef(p, in, cond, i, "the asserted condition") || cond->x[i].i) continue;
    if (interp_found(p, FOUND_ASSERT, in->op->span, in->op))
      findings_text(p->run->findings, E_INTERP_ASSERT, tile_str(in->op, TA_message, ""));
  }
}

void interp_assume(Prog *p, const Inst *in) {
  const Val *cond = interp_arg(p, in, 0);
  if (interp_is_undef(p, in, cond, 0, "the assumed condition") || cond->x[0].i) return;
  if (interp_found(p, FOUND_ASSUME, in->op->span, in->op))
    findings_text(p->run->findings, E_INTERP_ASSUME);
}
