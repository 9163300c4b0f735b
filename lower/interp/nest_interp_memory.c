/* Instructions that access memory. */
#include <string.h>

#include "lower/interp/nest_interp_run.h"
#include "lower/messages.h"

typedef unsigned long long Big; /* for printf */

/* ---- addresses ---- */

typedef struct {
  const Scalar *base;
  uint32_t lanes; /* those with an address: others are reported, or masked off */
  int64_t bytes;
} Addresses;

static const Scalar zeros[MOST_LANES];

/* The offset at which the shared memory of the warp's thread block begins. */
static int64_t block_start(const Warp *w) { return w->block * w->prog->run->block_bytes; }

static Addresses addresses(Warp *w, const Inst *in, const Spot *p, uint32_t lanes) {
  Addresses a = {zeros, lanes, form_value(w, &p->bytes)};
  if (p->base.kind) {
    Vec v = operand_vec(w, &p->base, 0, 2);
    if (v.bad & lanes) nest_found_poison(w, in, v.why, "the address");
    a.base = v.x;
    a.lanes &= ~v.bad;
  }
  if (p->buffer) a.bytes += p->offset + block_start(w);
  return a;
}

static uint64_t lane_address(const Addresses *a, uint32_t lane) {
  return (uint64_t)a->base[lane].i + (uint64_t)a->bytes;
}

bool nest_shared_ok(Warp *w, const Inst *in, const Spot *p, int64_t at, uint32_t bytes) {
  Findings *f = w->prog->run->findings;
  int64_t off = at - p->offset - block_start(w);
  uint32_t align = w->prog->run->lockstep ? bytes / in->n : bytes;
  if (off < 0 || off > p->size - (int64_t)bytes) {
    if (nest_found(w, FOUND_SHARED_BOUNDS, in->stmt->span, p->buffer))
      findings_text(f, E_NEST_SHARED_BOUNDS, bytes, (long long)off, p->buffer->name,
                    (long long)p->size);
    return false;
  }
  if (!align || at % align == 0) return true;
  if (nest_found(w, FOUND_SHARED_ALIGN, in->stmt->span, p->buffer))
    findings_text(f, E_NEST_SHARED_ALIGN, bytes, (long long)off, p->buffer->name, align);
  return false;
}

int64_t nest_shared_offset(Warp *w, const Inst *in, const Spot *p) {
  Addresses a = addresses(w, in, p, 1);
  return (int64_t)lane_address(&a, 0) - p->offset - block_start(w);
}

static Access global_access(const Warp *w, const Inst *in, const Spot *p) {
  bool masked = in->guard.kind != 0;
  return (Access){w->prog->index, in->stmt->span, p->arg, in->is_volatile, false, masked};
}

static bool any_bad(const Prog *p, int64_t at, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++)
    if (p->bad_bytes[at + i]) return true;
  return false;
}

/* A statement that polls or updates memory lets the other programs go on. */
static void yield_all(Warp *w) { w->yields = w->prog->yields = true; }

/* How much of a lane's access is one access of memory: on a CPU each element. */
static uint32_t access_piece(const Run *r, const Inst *in) {
  return in->bytes <= 16 && !r->lockstep ? in->bytes : dtype_bytes(in->type);
}

/* ---- loads ---- */

enum { MOST_REGS = 128 };

/* The values of a load: n elements of each lane. */
typedef struct {
  Scalar x[MOST_REGS][MOST_LANES];
  uint32_t bad[MOST_REGS];
} Loaded;

/* A lane's n elements, in pieces that memory can have. */
static void load_global(Warp *w, const Inst *in, uint64_t addr, uint32_t lane, Loaded *out) {
  Run *r = w->prog->run;
  uint8_t raw[16];
  uint32_t size = dtype_bytes(in->type), piece = access_piece(r, in);
  Access who = global_access(w, in, &in->mems[0]);
  uint32_t racing = in->uniform ? ANY_LANE : lane;
  race_global(w, in, &in->mems[0], in->is_volatile ? RACE_POLL : RACE_READ, racing, addr, false);
  for (uint32_t k = 0; k < in->n;) {
    memory_read(r->memory, addr + k * size, piece, raw, who);
    for (uint32_t i = 0; i < piece; i += size, k++)
      out->x[k][lane] = scalar_load(in->type, raw + i);
  }
}

static void load_shared(Warp *w, const Inst *in, int64_t at, uint32_t lane, Loaded *out) {
  Prog *p = w->prog;
  uint32_t size = dtype_bytes(in->type), racing = in->uniform ? ANY_LANE : lane;
  if (!nest_shared_ok(w, in, &in->mems[0], at, in->bytes)) return;
  race_shared(w, in, &in->mems[0], RACE_READ, racing, at);
  for (uint32_t k = 0; k < in->n; k++, at += size) {
    out->x[k][lane] = scalar_load(in->type, p->shared + at);
    if (any_bad(p, at, size)) out->bad[k] |= UINT32_C(1) << lane;
  }
}

void nest_exec_ld(Warp *w, const Inst *in) {
  const Spot *p = &in->mems[0];
  Addresses a = addresses(w, in, p, guard_lanes(w, in));
  Loaded out;
  for (uint32_t k = 0; k < in->n; k++) {
    memset(out.x[k], 0, sizeof out.x[k]);
    out.bad[k] = 0;
  }
  if (!p->buffer && !in->is_volatile) race_access(w, in, a.lanes);
  for (uint32_t lane = 0; lane < w->prog->run->lanes; lane++) {
    if (!(a.lanes >> lane & 1)) continue;
    uint64_t at = lane_address(&a, lane);
    if (p->buffer) load_shared(w, in, (int64_t)at, lane, &out);
    else load_global(w, in, at, lane, &out);
  }
  for (uint32_t k = 0; k < in->n; k++) set_reg(w, in, k, out.x[k], a.lanes, out.bad[k], in);
  if (in->is_volatile) yield_all(w);
}

/* ---- stores ---- */

static void store_global(Warp *w, const Inst *in, uint64_t addr, uint32_t lane,
                         const uint8_t *raw) {
  Run *r = w->prog->run;
  uint32_t piece = access_piece(r, in);
  Access who = global_access(w, in, &in->mems[0]);
  uint64_t before = memory_changes(r->memory);
  for (uint32_t k = 0; k < in->bytes; k += piece)
    if (!memory_write(r->memory, addr + k, piece, raw + k, who)) return;
  bool same = memory_changes(r->memory) == before;
  race_global(w, in, &in->mems[0], RACE_WRITE, lane, addr, same);
}

static void store_shared(Warp *w, const Inst *in, int64_t at, uint32_t lane, const uint8_t *raw,
                         const uint8_t *bad) {
  Prog *p = w->prog;
  Run *r = p->run;
  if (!nest_shared_ok(w, in, &in->mems[0], at, in->bytes)) return;
  uint32_t first = in->everywhere ? 0 : w->block;
  uint32_t last = in->everywhere ? nest_blocks(r) - 1 : first;
  at -= block_start(w);
  for (uint32_t block = first; block <= last; block++) {
    int64_t there = at + block * r->block_bytes;
    if (in->stmt->code != NEST_EXCHANGE) race_shared(w, in, &in->mems[0], RACE_WRITE, lane, there);
    if (memcmp(p->shared + there, raw, in->bytes)) p->shared_changes++;
    memcpy(p->shared + there, raw, in->bytes);
    memcpy(p->bad_bytes + there, bad, in->bytes);
  }
}

void nest_exec_st(Warp *w, const Inst *in) {
  const Spot *p = &in->mems[0];
  Addresses a = addresses(w, in, p, guard_lanes(w, in));
  uint32_t size = dtype_bytes(in->type), lanes = w->prog->run->lanes;
  uint8_t raw[MOST_LANES][MOST_REGS * 8], bad[MOST_LANES][MOST_REGS * 8];
  for (uint32_t k = 0; k < in->n && a.lanes; k++) {
    Vec v = operand_vec(w, &in->srcs[0], k, 0);
    if ((v.bad & a.lanes) && !p->buffer) nest_found_poison(w, in, v.why, "the stored value");
    for (uint32_t lane = 0; lane < lanes; lane++) {
      scalar_store(in->type, v.x[lane], raw[lane] + k * size);
      memset(bad[lane] + k * size, v.bad >> lane & 1, size);
    }
  }
  if (!p->buffer) race_access(w, in, a.lanes);
  for (uint32_t lane = 0; lane < lanes; lane++) {
    if (!(a.lanes >> lane & 1)) continue;
    uint64_t at = lane_address(&a, lane);
    if (p->buffer) store_shared(w, in, (int64_t)at, lane, raw[lane], bad[lane]);
    else store_global(w, in, at, lane, raw[lane]);
  }
}

/* ---- exchanges among blocks ---- */

static Exchange *find_exchange(Prog *p, const NestStmt *st) {
  for (size_t i = 0; i < p->exchanges.len; i++)
    if (p->exchanges.data[i].stmt == st) return &p->exchanges.data[i];
  Exchange x = {st, p->run->warps};
  vec_push(p->run->arena, &p->exchanges, x);
  return &p->exchanges.data[p->exchanges.len - 1];
}

/* Is the mbarrier of an exchange where the block has one? */
static void check_mbarrier(Warp *w, const Inst *in) {
  const Spot *p = &in->mems[1];
  Addresses a = addresses(w, in, p, guard_lanes(w, in));
  for (uint32_t lane = 0; lane < w->prog->run->lanes; lane++)
    if (a.lanes >> lane & 1)
      nest_shared_ok(w, in, p, (int64_t)lane_address(&a, lane), sizeof(uint64_t));
}

/* No clocks are joined: warps learn nothing of each other but the values. */
void nest_exec_exchange(Warp *w, const Inst *in) {
  check_mbarrier(w, in);
  Prog *p = w->prog;
  Exchange *x = find_exchange(p, in->stmt);
  nest_exec_st(w, in);
  if (nest_int(in->stmt, NA_open, 0)) return;
  w->yields = true;
  w->exchange = in->stmt;
  w->state = WARP_AT_EXCHANGE;
  x->missing -= (uint32_t)__builtin_popcount(guard_lanes(w, in));
  if (x->missing) return;
  x->missing = p->run->warps;
  for (uint32_t i = 0; i < p->run->warps; i++)
    if (p->warps[i].state == WARP_AT_EXCHANGE && p->warps[i].exchange == in->stmt)
      p->warps[i].state = WARP_READY;
}

/* ---- atomics ---- */

/* The order that `sem` gives between programs; none at scope cta, which is one program. */
typedef struct {
  bool acquire, release;
} Order;

static bool is_cta(const Inst *in) { return !strcmp(nest_str(in->stmt, NA_scope, "gpu"), "cta"); }

static Order atomic_order_of(const Inst *in) {
  Name sem = nest_str(in->stmt, NA_sem, "acq_rel");
  bool both = !strcmp(sem, "acq_rel"), on = !in->mems[0].buffer && !is_cta(in);
  return (Order){on && (both || !strcmp(sem, "acquire")), on && (both || !strcmp(sem, "release"))};
}

/* The element that a lane updates; NULL, and reported, if its address is bad. */
static void *atomic_target(Warp *w, const Inst *in, uint64_t at, uint32_t lane) {
  const Spot *p = &in->mems[0];
  Access who = global_access(w, in, p);
  if (!p->buffer) {
    who.atomic = !is_cta(in);
    Name kind = nest_str(in->stmt, NA_kind, "cas");
    void *target = memory_atomic(w->prog->run->memory, at, in->bytes, kind, who);
    if (target) race_global(w, in, p, RACE_ATOMIC, lane, at, false);
    return target;
  }
  if (!nest_shared_ok(w, in, p, (int64_t)at, in->bytes)) return NULL;
  race_shared(w, in, p, RACE_ATOMIC, lane, (int64_t)at);
  return w->prog->shared + at;
}

static void put_back_value(Warp *w, const Inst *in, void *target, Scalar v) {
  uint64_t raw = 0;
  scalar_store(in->type, v, &raw);
  if (!memcmp(target, &raw, in->bytes)) return;
  memcpy(target, &raw, in->bytes);
  memory_changed(w->prog->run->memory);
}

static Scalar combined(const Inst *in, Scalar before, Scalar v) {
  static const struct {
    const char *kind;
    TileCode code;
  } rows[] = {{"add", TILE_ADD}, {"and", TILE_AND}, {"or", TILE_OR},
              {"xor", TILE_XOR}, {"max", TILE_MAX}, {"min", TILE_MIN}};
  Name kind = nest_str(in->stmt, NA_kind, "add");
  Scalar x[3] = {before, v};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(kind, rows[i].kind)) return scalar_op(rows[i].code, in->type, in->type, x, false);
  return strcmp(kind, "load") ? v : before; /* xchg, store */
}

/* Executes `update` in all lanes, one after the other; a result is what was there before. */
static void each_lane(Warp *w, const Inst *in,
                      void (*update)(Warp *, const Inst *, void *, uint32_t, Scalar)) {
  const Spot *p = &in->mems[0];
  Addresses a = addresses(w, in, p, guard_lanes(w, in));
  Order o = atomic_order_of(in);
  Scalar before[MOST_LANES] = {{0}};
  uint32_t bad = 0;
  if (o.acquire || o.release) race_sync(w, in, a.lanes, o.acquire, o.release);
  else if (!p->buffer) race_access(w, in, a.lanes);
  for (uint32_t lane = 0; lane < w->prog->run->lanes; lane++) {
    if (!(a.lanes >> lane & 1)) continue;
    uint64_t at = lane_address(&a, lane);
    void *target = atomic_target(w, in, at, lane);
    if (!target) continue;
    if (p->buffer && any_bad(w->prog, (int64_t)at, in->bytes)) bad |= UINT32_C(1) << lane;
    before[lane] = scalar_load(in->type, target);
    update(w, in, target, lane, before[lane]);
    if (o.acquire || o.release)
      memory_sync(w->prog->run->memory, w->prog->index, at, o.acquire, o.release);
  }
  if (in->stmt->ndsts) set_reg(w, in, 0, before, a.lanes, bad, in);
  yield_all(w);
}

static Scalar atomic_operand(Warp *w, const Inst *in, uint32_t i, uint32_t lane) {
  Vec v = operand_vec(w, &in->srcs[i], 0, (int)i);
  if (v.bad >> lane & 1) nest_found_poison(w, in, v.why, "the operand of the atomic");
  return v.x[lane];
}

static void update_rmw(Warp *w, const Inst *in, void *target, uint32_t lane, Scalar before) {
  put_back_value(w, in, target, combined(in, before, atomic_operand(w, in, 0, lane)));
}

/* Bits are compared: a NaN equals itself. */
static void update_cas(Warp *w, const Inst *in, void *target, uint32_t lane, Scalar before) {
  (void)before;
  uint64_t expected = 0;
  Scalar value = atomic_operand(w, in, 1, lane);
  scalar_store(in->type, atomic_operand(w, in, 0, lane), &expected);
  if (!memcmp(target, &expected, in->bytes)) put_back_value(w, in, target, value);
}

void nest_exec_atom(Warp *w, const Inst *in) { each_lane(w, in, update_rmw); }
void nest_exec_atom_cas(Warp *w, const Inst *in) { each_lane(w, in, update_cas); }

/* ---- asynchronous copies ---- */

/* The lanes that read global memory; the others write zeros. */
static uint32_t reading_lanes(Warp *w, const Inst *in, uint32_t lanes) {
  uint32_t on = 0;
  if (!in->stmt->nsrcs) return lanes;
  Vec v = operand_vec(w, &in->srcs[0], 0, 0);
  if (v.bad & lanes) nest_found_poison(w, in, v.why, "what decides between data and zeros");
  for (uint32_t i = 0; i < w->prog->run->lanes; i++) on |= (uint32_t)(v.x[i].i != 0) << i;
  return on & lanes & ~v.bad;
}

/* The target is poison until the copy's group is waited for, and so late it is written. */
void nest_exec_cp_async(Warp *w, const Inst *in) {
  Prog *p = w->prog;
  uint32_t lanes = guard_lanes(w, in);
  Copy copy = {.inst = in, .group = w->groups};
  Addresses from = addresses(w, in, &in->mems[1], reading_lanes(w, in, lanes));
  Addresses to = addresses(w, in, &in->mems[0], lanes);
  copy.reads = from.lanes;
  Access who = global_access(w, in, &in->mems[1]);
  for (uint32_t lane = 0; lane < p->run->lanes; lane++) {
    int64_t at = (int64_t)lane_address(&to, lane);
    if (!(to.lanes >> lane & 1) || !nest_shared_ok(w, in, &in->mems[0], at, in->bytes)) continue;
    copy.lanes |= UINT32_C(1) << lane;
    copy.to[lane] = at;
    copy.from[lane] = lane_address(&from, lane);
    if (copy.reads >> lane & 1)
      memory_read(p->run->memory, copy.from[lane], in->bytes, copy.seen[lane], who);
    race_shared(w, in, &in->mems[0], RACE_COPY, lane, at);
    memset(p->bad_bytes + at, 1, in->bytes);
  }
  vec_push(p->run->arena, &w->copies, copy);
}

void nest_exec_cp_commit(Warp *w, const Inst *in) {
  (void)in;
  w->groups++;
}

static void end_copy(Warp *w, const Copy *c) {
  Prog *p = w->prog;
  Access who = global_access(w, c->inst, &c->inst->mems[1]);
  for (uint32_t lane = 0; lane < p->run->lanes; lane++) {
    uint8_t raw[16] = {0};
    if (!(c->lanes >> lane & 1)) continue;
    if (c->reads >> lane & 1) {
      memory_read(p->run->memory, c->from[lane], c->inst->bytes, raw, who);
      race_global(w, c->inst, &c->inst->mems[1], RACE_READ, lane, c->from[lane], false);
      if (memcmp(raw, c->seen[lane], c->inst->bytes)) race_copy_source(w, c->inst);
    }
    p->shared_changes++;
    memcpy(p->shared + c->to[lane], raw, c->inst->bytes);
    memset(p->bad_bytes + c->to[lane], 0, c->inst->bytes);
    race_copied(w, c->inst, lane, c->to[lane]);
  }
}

void nest_exec_cp_wait(Warp *w, const Inst *in) {
  size_t kept = 0;
  for (size_t i = 0; i < w->copies.len; i++) {
    const Copy *c = &w->copies.data[i];
    if (c->group + (uint64_t)in->a < w->groups) end_copy(w, c);
    else w->copies.data[kept++] = *c;
  }
  w->copies.len = kept;
  w->yields = true;
}

/* ---- ldmatrix ---- */

enum { MATRICES = 4, ROWS = 8 };

/* The offsets of the matrices' rows, -1 for a bad address.  Rows reach all lanes, so they
 * count as read by all. */
static void matrix_rows(Warp *w, const Inst *in, int64_t rows[MATRICES * ROWS]) {
  const Spot *p = &in->mems[0];
  Addresses a = addresses(w, in, p, w->prog->run->full);
  for (uint32_t lane = 0; lane < in->n * ROWS; lane++) {
    int64_t at = (int64_t)lane_address(&a, lane);
    bool ok = (a.lanes >> lane & 1) && nest_shared_ok(w, in, p, at, in->bytes);
    rows[lane] = ok ? at : -1;
    if (ok) race_shared(w, in, p, RACE_READ, ANY_LANE, at);
  }
}

/* The four bytes of one lane that register k holds a part of: from each row of two matrices that
 * are transposed byte by byte. */
static void word_across(const Inst *in, const int64_t *rows, uint32_t pair, uint32_t column,
                        uint32_t lane, int64_t at[4]) {
  bool in_order = nest_int(in->stmt, NA_pairs, 0);
  for (uint32_t i = 0; i < 4; i++) { /* row 4 * (lane % 4) + i of 16, by the lane that gave it */
    uint32_t r = 2 * (lane % 4) + i % 2, m = in_order ? i / 2 : (i / 2 + r / 4) % 2;
    int64_t row = rows[(2 * pair + m) * ROWS + r];
    at[i] = row < 0 ? row : row + 2 * (lane / 4) + column;
  }
}

/* Bytes change places: `size` of the four of word `word` from byte `first` on. */
static void exec_ldmatrix_across(Warp *w, const Inst *in, const int64_t *rows, uint32_t lanes) {
  Run *r = w->prog->run;
  DType t = in->stmt->dsts[0].var->dtype;
  uint32_t size = dtype_bytes(t), each = 4 / size;
  for (uint32_t k = 0; k < in->n * each; k++) {
    uint32_t bad = 0, word = k / each, first = k % each * size;
    for (uint32_t lane = 0; lane < r->lanes; lane++) {
      unsigned char bytes[4] = {0};
      int64_t at[4];
      bool poison = false;
      word_across(in, rows, word / 2, word % 2, lane, at);
      for (uint32_t i = 0; i < 4; i++) {
        bool unknown = at[i] < 0 || any_bad(w->prog, at[i], 1);
        if (at[i] >= 0) bytes[i] = w->prog->shared[at[i]];
        poison |= unknown && i >= first && i < first + size;
      }
      if (poison) bad |= UINT32_C(1) << lane;
      r->scratch[0][lane] = scalar_load(t, bytes + first);
    }
    set_reg(w, in, k, r->scratch[0], lanes, bad, in);
  }
}

/* A lane gets 4 bytes of a matrix: of row lane / 4, or transposed of two rows' column lane / 4. */
void nest_exec_ldmatrix(Warp *w, const Inst *in) {
  Run *r = w->prog->run;
  DType t = in->stmt->dsts[0].var->dtype;
  uint32_t size = dtype_bytes(t), each = 4 / size, lanes = guard_lanes(w, in);
  int64_t rows[MATRICES * ROWS];
  if (!lanes) return;
  matrix_rows(w, in, rows);
  if (in->a && size != 2) {
    exec_ldmatrix_across(w, in, rows, lanes);
    return;
  }
  for (uint32_t k = 0; k < in->n * each; k++) {
    uint32_t bad = 0, part = k % each;
    for (uint32_t lane = 0; lane < r->lanes; lane++) {
      uint32_t row = in->a ? 2 * (lane % 4) + part : lane / 4;
      uint32_t byte = in->a ? size * (lane / 4) : 4 * (lane % 4) + size * part;
      int64_t at = rows[k / each * ROWS + row];
      bool poison = at < 0 || any_bad(w->prog, at + byte, size);
      if (poison) bad |= UINT32_C(1) << lane;
      r->scratch[0][lane] = at < 0 ? (Scalar){0} : scalar_load(t, w->prog->shared + at + byte);
    }
    set_reg(w, in, k, r->scratch[0], lanes, bad, in);
  }
}
