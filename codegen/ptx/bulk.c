/* Copies of boxes of tensors, and the mbarriers that say when they have arrived.
 *
 * PTX ISA, "cp.async.bulk.tensor" and "mbarrier".  A kernel takes the descriptor of a tensor as a
 * parameter of 128 bytes (CUtensorMap), whose address is generic. */
#include "codegen/messages.h"
#include "codegen/ptx/ptx.h"

enum { BULK_PTX = 80 };

const char *ptx_map_param(const Ptx *p, const TensorMap *m) {
  return arena_printf(p->arena, "map$%s", ptx_identifier(p->arena, m->name));
}

/* The instruction's name, with the statement's guard; its operands follow. */
static void begin_guarded(Ptx *p, const NestStmt *s, const char *text) {
  if (!machine_has(p->machine, HAS_ASYNC_PROXY)) ptx_fail(p, E_GEN_BULK, p->machine->name);
  ptx_needs(p, BULK_PTX);
  p->guard = ptx_guard(p, s);
  ptx_begin(p);
  ptx_puts(p, text);
}

/* The instruction's text up to its address, which is mem `i`. */
static void put_mbarrier(Ptx *p, const NestStmt *s, const char *text, uint32_t i) {
  Address a = ptx_address(p, &s->mems[i]);
  begin_guarded(p, s, text);
  ptx_put_address(p, &a);
}

static void end_mbarrier(Ptx *p, const char *separator, int64_t number) {
  if (separator) {
    ptx_puts(p, separator);
    ptx_put_int(p, number);
  }
  ptx_end(p);
  p->guard.kind = PO_NONE;
}

/* No other mbarrier and no barrier of all threads follows. */
static bool is_last_init(const NestStmt *s) {
  const NestStmt *next = s->next;
  if (next && next->code == NEST_MBAR_INIT) return false;
  while (next && next->code == NEST_FENCE) next = next->next;
  return !next || next->code != NEST_BAR;
}

/* The thread that makes mbarriers is the first to use them.  Yet the assembler lets its warp make
 * them, of which compute-sanitizer blames another lane, so the warp meets. */
void ptx_mbar_init(Ptx *p, const NestStmt *s) {
  put_mbarrier(p, s, "mbarrier.init.shared::cta.b64 ", 0);
  end_mbarrier(p, ", ", nest_int(s, NA_count, 1));
  if (is_last_init(s)) ptx_emit2(p, "bar.warp.sync -1", ptx_int(0), ptx_int(0));
}

void ptx_mbar_expect(Ptx *p, const NestStmt *s) {
  put_mbarrier(p, s, "mbarrier.arrive.expect_tx.shared::cta.b64 _, ", 0);
  end_mbarrier(p, ", ", nest_int(s, NA_tx, 0));
}

void ptx_mbar_arrive(Ptx *p, const NestStmt *s) {
  put_mbarrier(p, s, "mbarrier.arrive.shared::cta.b64 _, ", 0);
  end_mbarrier(p, NULL, 0);
}

/* The instruction itself waits for some time. */
static void wait_parity(Ptx *p, const Mem *mbarrier, Operand parity) {
  Operand done = ptx_temp(p, RC_PRED);
  int32_t again = ptx_label(p);
  Address a = ptx_address(p, mbarrier);
  ptx_needs(p, BULK_PTX);
  ptx_place_label(p, again);
  ptx_begin(p);
  ptx_puts(p, "mbarrier.try_wait.parity.shared::cta.b64 ");
  ptx_put_operand(p, &done);
  ptx_puts(p, ", ");
  ptx_put_address(p, &a);
  ptx_puts(p, ", ");
  ptx_put_operand(p, &parity);
  ptx_end(p);
  ptx_begin(p);
  ptx_puts(p, "@!");
  ptx_put_operand(p, &done);
  ptx_puts(p, " bra ");
  ptx_put_label(p, again);
  ptx_end(p);
}

void ptx_mbar_wait(Ptx *p, const NestStmt *s) {
  wait_parity(p, &s->mems[0], ptx_source(p, &s->srcs[0], DT_I32));
}

/* ---- exchanges among thread blocks ---- */

enum { EXCHANGE_PTX = 81 };

static void count_at(Ptx *p, const char *text, const Mem *mbarrier, int64_t n) {
  Address full = ptx_address(p, mbarrier);
  ptx_begin(p);
  ptx_puts(p, text);
  ptx_put_address(p, &full);
  ptx_puts(p, ", ");
  ptx_put_int(p, n);
  ptx_end(p);
}

static bool is_open(const NestStmt *s) {
  return s && s->code == NEST_EXCHANGE && nest_int(s, NA_open, 0);
}

/* The mbarrier expects what all warps of the cluster send, by this statement and by those that left
 * it open. */
static void expect_exchange(Ptx *p, const NestStmt *s, const Mem *mbarrier) {
  int64_t bytes = 0;
  for (const NestStmt *x = s; x; x = x->prev)
    if (x->code == NEST_EXCHANGE && x->mems[1].buffer == s->mems[1].buffer)
      bytes += dtype_bytes(x->type);
  count_at(p, "mbarrier.arrive.expect_tx.shared::cta.b64 _, ", mbarrier,
           bytes * p->nest->cluster * p->nest->warps);
}

static Operand first_thread(Ptx *p) {
  Operand thread = ptx_temp(p, RC_B32), first = ptx_temp(p, RC_PRED);
  ptx_emit2(p, "mov.u32 $d, %tid.x", thread, thread);
  ptx_emit(p, "setp.eq.u32 $d, $a, $b", first, thread, ptx_int(0), thread);
  return first;
}

/* Exchanges of a loop have two mbarriers in turns. */
static void make_exchange(Ptx *p, const NestStmt *s) {
  enum { MBARRIER_BYTES = 8 };
  Mem m = {.buffer = s->mems[1].buffer};
  for (uint32_t i = 0; i < s->nsrcs; i++) {
    m.bytes = affine_const(i * MBARRIER_BYTES);
    count_at(p, "mbarrier.init.shared::cta.b64 ", &m, 1);
    ptx_emit2(p, "fence.mbarrier_init.release.cluster", ptx_int(0), ptx_int(0));
    expect_exchange(p, s, &m);
  }
}

static bool has_exchanges(const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (s->code == NEST_EXCHANGE) return true;
    for (uint32_t r = 0; r < s->nregions; r++)
      if (has_exchanges(s->regions[r])) return true;
  }
  return false;
}

static void make_exchanges(Ptx *p, const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (s->code == NEST_EXCHANGE && !is_open(s)) make_exchange(p, s);
    for (uint32_t r = 0; r < s->nregions; r++) make_exchanges(p, s->regions[r]);
  }
}

/* A single thread makes the mbarriers before other blocks may send to this one. */
bool ptx_make_exchanges(Ptx *p) {
  if (!has_exchanges(p->nest->body)) return false;
  p->guard = first_thread(p);
  make_exchanges(p, p->nest->body);
  p->guard.kind = PO_NONE;
  return true;
}

/* Each store counts its bytes at the mbarrier of the block that it goes to. */
static void send(Ptx *p, const NestStmt *s, Operand value, Operand at, Operand full) {
  p->guard = ptx_guard(p, s);
  ptx_begin(p);
  ptx_puts(p, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes");
  ptx_puts(p, dtype_bytes(s->type) == 8 ? ".b64 " : ".b32 ");
  ptx_put_address(p, &(Address){.base = at});
  ptx_puts(p, ", ");
  ptx_put_operand(p, &value);
  ptx_puts(p, ", ");
  ptx_put_address(p, &(Address){.base = full});
  ptx_end(p);
  p->guard.kind = PO_NONE;
}

static Operand shared_register(Ptx *p, const Mem *m) {
  Address a = ptx_address(p, m);
  Operand at = ptx_temp(p, RC_B32);
  if (!a.base.kind) a.base = ptx_smem(p);
  ptx_emit(p, "add.s32 $d, $a, $b", at, a.base, ptx_int(a.bytes), at);
  return at;
}

void ptx_exchange(Ptx *p, const NestStmt *s) {
  Operand value = ptx_source(p, &s->srcs[0], s->type);
  Operand at = shared_register(p, &s->mems[0]), full = shared_register(p, &s->mems[1]);
  Operand there = ptx_temp(p, RC_B32), counted = ptx_temp(p, RC_B32);
  ptx_needs(p, EXCHANGE_PTX);
  for (int rank = 0; rank < p->nest->cluster; rank++) {
    ptx_emit(p, "mapa.shared::cluster.u32 $d, $a, $b", there, at, ptx_int(rank), at);
    ptx_emit(p, "mapa.shared::cluster.u32 $d, $a, $b", counted, full, ptx_int(rank), full);
    send(p, s, value, there, counted);
  }
  if (is_open(s)) return;
  bool again = s->nsrcs > 1;
  wait_parity(p, &s->mems[1], again ? ptx_source(p, &s->srcs[1], DT_I32) : ptx_int(0));
  if (!again) return;
  /* The next phase can't end before all warps have been here again. */
  p->guard = first_thread(p);
  expect_exchange(p, s, &s->mems[1]);
  p->guard.kind = PO_NONE;
}

/* The register with the address of the map's descriptor. */
static Operand map_address(Ptx *p, const TensorMap *m) {
  int32_t i = 0;
  while (p->nest->maps[i] != m) i++;
  return ptx_map(i);
}

/* "[map, {coordinates}], " */
static void put_box(Ptx *p, const Operand *map, const Operand *at, uint32_t n) {
  ptx_puts(p, "[");
  ptx_put_operand(p, map);
  ptx_puts(p, ", {");
  for (uint32_t i = 0; i < n; i++) {
    if (i) ptx_puts(p, ", ");
    ptx_put_operand(p, &at[i]);
  }
  ptx_puts(p, "}], ");
}

/* The coordinates of the statement's box; the result: its map's address. */
static Operand read_box(Ptx *p, const NestStmt *s, const TensorMap *m, Operand at[MAX_MAP_RANK]) {
  for (uint32_t i = 0; i < s->nsrcs; i++) at[i] = ptx_source(p, &s->srcs[i], DT_I32);
  return map_address(p, m);
}

void ptx_bulk_copy(Ptx *p, const NestStmt *s) {
  const TensorMap *m = nest_map_of(p->nest, s);
  Operand at[MAX_MAP_RANK];
  Address bar = ptx_address(p, &s->mems[1]);
  Operand map = read_box(p, s, m, at);
  const char *head = arena_printf(p->arena,
                                  "cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier"
                                  "::complete_tx::bytes ",
                                  m->rank);
  put_mbarrier(p, s, head, 0);
  ptx_puts(p, ", ");
  put_box(p, &map, at, s->nsrcs);
  ptx_put_address(p, &bar);
  end_mbarrier(p, NULL, 0);
}

/* ---- stores of boxes ---- */

void ptx_bulk_store(Ptx *p, const NestStmt *s) {
  const TensorMap *m = nest_map_of(p->nest, s);
  Operand at[MAX_MAP_RANK];
  Address from = ptx_address(p, &s->mems[0]);
  Operand map = read_box(p, s, m, at);
  begin_guarded(p, s,
                arena_printf(p->arena,
                             "cp.async.bulk.tensor.%dd.global.shared::cta.bulk_group ", m->rank));
  put_box(p, &map, at, s->nsrcs);
  ptx_put_address(p, &from);
  end_mbarrier(p, NULL, 0);
}

void ptx_bulk_commit(Ptx *p, const NestStmt *s) {
  begin_guarded(p, s, "cp.async.bulk.commit_group");
  end_mbarrier(p, NULL, 0);
}

void ptx_bulk_wait(Ptx *p, const NestStmt *s) {
  begin_guarded(p, s, "cp.async.bulk.wait_group");
  if (!nest_int(s, NA_written, 0)) ptx_puts(p, ".read");
  end_mbarrier(p, " ", nest_int(s, NA_groups, 0));
}

/* ---- runs ---- */

static bool reads_var(const NestStmt *s, const NestVar *v) {
  bool found = s->guard.kind == REF_VAR && s->guard.var == v;
  for (uint32_t i = 0; i < s->nsrcs; i++)
    found |= s->srcs[i].kind == REF_VAR && s->srcs[i].var == v;
  for (uint32_t i = 0; i < s->nmems; i++)
    found |= s->mems[i].base.kind == REF_VAR && s->mems[i].base.var == v;
  return found;
}

/* An op that can go before the copies of the run that begins with `first`. */
static bool moves_before(const NestStmt *first, const NestStmt *op) {
  if (op->code != NEST_OP || op->guard.kind) return false;
  for (const NestStmt *s = first; s != op; s = s->next)
    if (ptx_is_bulk(s) && reads_var(s, op->dsts[0].var)) return false;
  return true;
}

bool ptx_is_bulk(const NestStmt *s) {
  bool waits = s->code == NEST_MBAR_WAIT && s->guard.kind;
  return waits || s->code == NEST_MBAR_EXPECT || s->code == NEST_BULK_COPY;
}

const NestStmt *ptx_bulk_run(const NestStmt *first) {
  if (!ptx_is_bulk(first) || first->guard.kind != REF_VAR) return NULL;
  const NestStmt *last = first->code == NEST_MBAR_WAIT ? first : NULL;
  for (const NestStmt *s = first->next; s; s = s->next) {
    if (!ptx_is_bulk(s) && !moves_before(first, s)) break;
    if (!ptx_is_bulk(s)) continue;
    if (s->guard.kind != REF_VAR || s->guard.var != first->guard.var) break;
    last = s;
  }
  return last;
}
