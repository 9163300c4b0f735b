/* The interpreter of level thread: kernels of tests/lower/nest/run, and what it says when they are
 * broken, for example when any of their barriers is taken away. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lower/target/atoms.h"
#include "lower/interp/nest_interp.h"
#include "tests/support/tally.h"

/* ---- a launch ---- */

enum { MOST_ARGS = 8 };

typedef struct {
  Arena *arena;
  Pool *names;
  Diags *diags;
  Nest *nest;
  Memory *memory;
  InterpArg args[MOST_ARGS];
  uint32_t nargs;
  int status;
} Launch;

static const char *messages(const Launch *l) {
  Text t = text_new(l->arena);
  diag_print(l->diags, &t);
  return t.data;
}

static Launch launch_new(void) {
  Launch l = {.arena = arena_new()};
  l.names = pool_new(l.arena);
  l.diags = diags_new(l.arena);
  l.memory = memory_new(l.arena, l.diags);
  return l;
}

static Launch launch_text(const char *name, const char *text) {
  Launch l = launch_new();
  size_t at = 0;
  uint32_t file = diag_source(l.diags, pool_name(l.names, name), text, strlen(text));
  l.nest = nest_parse(l.arena, l.names, l.diags, file, &at);
  if (l.nest && !nest_verify(l.nest, l.diags)) l.nest = NULL;
  if (!l.nest) check_got(false, name, messages(&l));
  return l;
}

static Launch launch_file(const char *name) {
  static char text[1 << 16];
  char path[256];
  snprintf(path, sizeof path, "tests/lower/nest/run/%s.thread", name);
  FILE *f = fopen(path, "rb");
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f) fclose(f);
  text[n] = 0;
  return launch_text(name, text);
}

static void add_array(Launch *l, void *data, size_t bytes, bool written) {
  Name name = pool_name(l->names, arena_printf(l->arena, "arg%u", l->nargs));
  memory_add(l->memory, name, l->nargs, data, bytes, written);
  l->args[l->nargs++].bits = (uint64_t)(uintptr_t)data;
}

static void add_int(Launch *l, int64_t i) { l->args[l->nargs++].bits = (uint64_t)i; }

static void run(Launch *l, uint32_t programs) {
  const uint32_t grid[3] = {programs, 1, 1};
  if (l->nest)
    l->status = nest_interp(l->nest, l->args, grid, l->memory, l->diags,
                            (InterpOptions){.steps = 5000000, .iterations = 100000});
}

static bool clean(const Launch *l) { return l->nest && !l->status && !diag_count(l->diags); }

static void check_clean(const Launch *l, const char *name) {
  check_got(clean(l), name, l->nest ? messages(l) : "no nest");
}

/* The first message is this error. */
static void check_error(const Launch *l, const char *name, const char *want) {
  const char *got = diag_count(l->diags) ? diag_get(l->diags, 0)->text : "nothing";
  const char *both = arena_printf(l->arena, "%s\n  want %s", got, want);
  check_got(l->nest && !strcmp(got, want), name, both);
}

/* ---- kernels, which run again without each of their barriers ---- */

/* What orders accesses: barriers, and what WGMMA needs. */
static bool orders(const NestStmt *s) {
  bool proxy = s->code == NEST_FENCE && !strcmp(nest_str(s, NA_kind, ""), "proxy");
  return s->code == NEST_BAR || s->code == NEST_MMA_COMMIT || s->code == NEST_MMA_WAIT || proxy;
}

static NestStmt *find_order(NestBlock *b, int *number) {
  for (NestStmt *s = b->first; s; s = s->next) {
    if (orders(s) && !(*number)--) return s;
    for (uint32_t i = 0; i < s->nregions; i++) {
      NestStmt *found = find_order(s->regions[i], number);
      if (found) return found;
    }
  }
  return NULL;
}

/* Runs a kernel's test with barrier `without` taken away (-1: none).  False if there is no such
 * barrier. */
typedef bool Case(int without);

static bool take_away(Launch *l, int without) {
  if (!l->nest || without < 0) return l->nest != NULL;
  NestStmt *s = find_order(l->nest->body, &without);
  if (s) nest_remove(s);
  else arena_free(l->arena);
  return s != NULL;
}

static void finish(Launch *l, const char *name, int without, bool good) {
  if (without < 0) {
    check_clean(l, name);
    check_got(good, name, "wrong result");
  } else {
    char *what = arena_printf(l->arena, "without barrier %d", without);
    check_got(diag_errors(l->diags) > 0, name, what);
  }
  arena_free(l->arena);
}

static bool reduce(int without) {
  Launch l = launch_file("reduce");
  float x[384], y[3], want[3] = {0};
  if (!take_away(&l, without)) return false;
  for (int i = 0; i < 384; i++) {
    x[i] = (float)(i % 7);
    want[i / 128] += x[i];
  }
  add_array(&l, x, sizeof x, true);
  add_array(&l, y, sizeof y, false);
  run(&l, 3);
  finish(&l, "reduce", without, !memcmp(y, want, sizeof y));
  return true;
}

static bool transpose(int without) {
  Launch l = launch_file("transpose");
  int32_t x[192], y[192];
  bool good = true;
  if (!take_away(&l, without)) return false;
  for (int i = 0; i < 192; i++) x[i] = i * i;
  add_array(&l, x, sizeof x, true);
  add_array(&l, y, sizeof y, false);
  add_int(&l, 3);
  run(&l, 1);
  for (int i = 0; i < 192; i++) good &= y[i] == x[i / 64 * 64 + 63 - i % 64];
  finish(&l, "transpose", without, good);
  return true;
}

static bool pipeline(int without) {
  Launch l = launch_file("pipeline");
  int32_t x[256], y[256];
  bool good = true;
  if (!take_away(&l, without)) return false;
  for (int i = 0; i < 256; i++) x[i] = i + 1000;
  add_array(&l, x, sizeof x, true);
  add_array(&l, y, sizeof y, false);
  add_int(&l, 4);
  run(&l, 1);
  for (int i = 0; i < 256; i++) good &= y[i] == x[i ^ 32];
  finish(&l, "pipeline", without, good);
  return true;
}

static bool lock(int without) {
  Launch l = launch_file("lock");
  int32_t held = 0, count = 0;
  if (!take_away(&l, without)) return false;
  add_array(&l, &held, sizeof held, true);
  add_array(&l, &count, sizeof count, true);
  run(&l, 20);
  finish(&l, "lock", without, !held && count == 20);
  return true;
}

static bool atomics(int without) {
  Launch l = launch_file("atomics");
  int32_t sum = 0, ticket = 0, out = 0;
  float max = 0;
  if (!take_away(&l, without)) return false;
  add_array(&l, &sum, sizeof sum, true);
  add_array(&l, &max, sizeof max, true);
  add_array(&l, &ticket, sizeof ticket, true);
  add_array(&l, &out, sizeof out, false);
  run(&l, 5);
  finish(&l, "atomics", without, sum == 5 * 496 && max == 159 && ticket == 5 && out == sum);
  return true;
}

static bool flag(int without) {
  Launch l = launch_file("flag");
  int32_t set = 0, data[32], out[32];
  bool good = true;
  if (!take_away(&l, without)) return false;
  add_array(&l, &set, sizeof set, true);
  add_array(&l, data, sizeof data, false);
  add_array(&l, out, sizeof out, false);
  run(&l, 200);
  for (int i = 0; i < 32; i++) good &= out[i] == i;
  finish(&l, "flag", without, good);
  return true;
}

static bool control(int without) {
  if (without >= 0) return false;
  Launch l = launch_file("control");
  int32_t out[8];
  static const int32_t want[8] = {18, 30, 12, 63, 0, 14, 17, 4};
  add_array(&l, out, sizeof out, false);
  add_int(&l, 10);
  run(&l, 1);
  finish(&l, "control", without, !memcmp(out, want, sizeof out));
  return true;
}

static void store_f16(uint16_t *to, int value) { scalar_store(DT_F16, (Scalar){.f = value}, to); }

static bool ldmatrix(int without) {
  Launch l = launch_file("ldmatrix");
  uint16_t a[256], b[128];
  float c[128];
  bool good = true;
  if (!take_away(&l, without)) return false;
  for (int i = 0; i < 256; i++) store_f16(&a[i], i % 11 - 5);
  for (int i = 0; i < 128; i++) store_f16(&b[i], i % 13 - 6);
  add_array(&l, a, sizeof a, true);
  add_array(&l, b, sizeof b, true);
  add_array(&l, c, sizeof c, false);
  run(&l, 1);
  for (int i = 0; i < 128; i++) {
    int sum = 0;
    for (int k = 0; k < 16; k++) sum += ((i / 8 * 16 + k) % 11 - 5) * ((k * 8 + i % 8) % 13 - 6);
    good &= c[i] == (float)sum;
  }
  finish(&l, "ldmatrix", without, good);
  return true;
}

static bool group(int without) {
  Launch l = launch_file("group");
  uint16_t a[1024], b[256];
  float c[1024];
  bool good = true;
  if (!take_away(&l, without)) return false;
  for (int i = 0; i < 1024; i++) store_f16(&a[i], i % 11 - 5);
  for (int i = 0; i < 256; i++) store_f16(&b[i], i % 13 - 6);
  add_array(&l, a, sizeof a, true);
  add_array(&l, b, sizeof b, true);
  add_array(&l, c, sizeof c, false);
  run(&l, 1);
  for (int i = 0; i < 1024; i++) {
    int sum = 0;
    for (int k = 0; k < 16; k++)
      sum += ((i / 16 * 16 + k) % 11 - 5) * ((k * 16 + i % 16) % 13 - 6);
    good &= c[i] == (float)sum;
  }
  finish(&l, "group", without, good);
  return true;
}

static bool cpu(int without) {
  if (without >= 0) return false;
  Launch l = launch_file("cpu");
  float x[8], y[8];
  bool good = true;
  for (int i = 0; i < 8; i++) x[i] = (float)(i * i);
  add_array(&l, x, sizeof x, true);
  add_array(&l, y, sizeof y, false);
  run(&l, 1);
  for (int i = 0; i < 8; i++) good &= y[i] == x[i] + x[7 - i];
  finish(&l, "cpu", without, good);
  return true;
}

/* ---- each atom against a plain matmul ---- */

/* The number of a fragment's element in its row-major matrix, from the lane: built statement by
 * statement from the layout's digits. */
static NestVar *element_of(NestBuilder *b, const Layout *l, NestVar *lane) {
  Nest *n = b->nest;
  NestVar *sum = nest_var(n, "at", DT_I32, DT_NONE, 1, false);
  nest_op(b, TILE_MUL, DT_I32, ref_var(sum), ref_var(lane), ref_int(0), ref_none());
  for (int d = 0; d < l->ndigits; d++) {
    if (l->d[d].hw != HW_LANE) continue;
    int64_t by = layout_weight(l, d) * (l->d[d].axis == 0 ? l->shape[1] : 1);
    NestVar *t = nest_var(n, "t", DT_I32, DT_NONE, 1, false);
    nest_op(b, TILE_DIV, DT_I32, ref_var(t), ref_var(lane), ref_int(l->d[d].stride), ref_none());
    nest_op(b, TILE_REM, DT_I32, ref_var(t), ref_var(t), ref_int(l->d[d].extent), ref_none());
    nest_op(b, TILE_MUL, DT_I32, ref_var(t), ref_var(t), ref_int(by), ref_none());
    nest_op(b, TILE_ADD, DT_I32, ref_var(sum), ref_var(sum), ref_var(t), ref_none());
  }
  return sum;
}

/* What register r adds to it. */
static int64_t register_part(const Layout *l, int r) {
  int64_t sum = 0;
  for (int d = 0; d < l->ndigits; d++) {
    int64_t by = layout_weight(l, d) * (l->d[d].axis == 0 ? l->shape[1] : 1);
    if (l->d[d].hw == HW_REG) sum += r / l->d[d].stride % l->d[d].extent * by;
  }
  return sum;
}

/* Loads or stores a whole fragment. */
static void move_fragment(NestBuilder *b, const Layout *l, NestVar *lane, NestVar *base,
                          NestVar *fragment, bool store) {
  NestVar *at = element_of(b, l, lane);
  NestVar *p = nest_var(b->nest, "p", DT_PTR, base->elem, 1, false);
  NestStmt *add =
      nest_op(b, TILE_PTR_ADD, DT_PTR, ref_var(p), ref_var(base), ref_var(at), ref_none());
  add->elem = base->elem;
  for (int r = 0; r < (int)fragment->count; r++) {
    NestStmt *s = nest_stmt(b, store ? NEST_ST : NEST_LD, !store, store);
    Ref value = ref_sub(fragment, affine_const(r));
    if (store) s->srcs[0] = value;
    else s->dsts[0] = value;
    s->type = base->elem;
    int64_t bytes = register_part(l, r) * dtype_bytes(base->elem);
    s->mems[0] = (Mem){.base = ref_var(p), .bytes = affine_const(bytes)};
  }
}

static Nest *atom_nest(Launch *l, const Atom *atom) {
  Options o = options_default();
  o.num_warps = 1;
  Nest *n = nest_new(l->arena, l->names, pool_name(l->names, "atom"), o, NEST_LEVEL_THREAD);
  NestBuilder b = {.nest = n, .block = n->body};
  const DType types[3] = {atom->a, atom->b, atom->c};
  NestVar *params[4], *fragments[3];
  for (uint32_t i = 0; i < 4; i++)
    params[i] = nest_param(n, "p", DT_PTR, types[i < 3 ? i : 2], i, 1);
  NestVar *lane = nest_var(n, "lane", DT_I32, DT_NONE, 1, false);
  nest_stmt(&b, NEST_LANE, 1, 0)->dsts[0] = ref_var(lane);
  Layout layouts[3];
  for (int i = 0; i < 3; i++) {
    layouts[i] = atom_layout(atom, i);
    uint32_t count = (uint32_t)layout_span(&layouts[i], HW_REG);
    fragments[i] = nest_var(n, "f", types[i], DT_NONE, count, false);
    move_fragment(&b, &layouts[i], lane, params[i], fragments[i], false);
  }
  NestStmt *mma = nest_stmt(&b, NEST_MMA, 1, 3);
  for (int i = 0; i < 3; i++) mma->srcs[i] = ref_var(fragments[i]);
  mma->dsts[0] = ref_var(fragments[2]);
  nest_set_str(n, mma, NA_atom, atom->name);
  move_fragment(&b, &layouts[2], lane, params[3], fragments[2], true);
  return n;
}

/* Small integers, which all types have and whose sums are exact. */
static int element(int matrix, int i) { return (i * (7 + 2 * matrix) % 5) - (matrix != 1); }

static void fill(DType t, int matrix, int count, uint8_t *data) {
  for (int i = 0; i < count; i++) {
    int v = element(matrix, i);
    Scalar s = dtype_is_float(t) ? (Scalar){.f = v} : (Scalar){.i = v < 0 && t == DT_U8 ? 0 : v};
    scalar_store(t, s, data + (size_t)i * dtype_bytes(t));
  }
}

static double at(DType t, const uint8_t *data, int i) {
  Scalar s = scalar_load(t, data + (size_t)i * dtype_bytes(t));
  return dtype_is_float(t) ? s.f : (double)s.i;
}

static void check_atom(const Atom *atom) {
  Launch l = launch_new();
  uint8_t a[4096], b[4096], c[4096], d[4096];
  int m = atom->m, n = atom->n, k = atom->k;
  l.nest = atom_nest(&l, atom);
  check_got(nest_verify(l.nest, l.diags), atom->name, messages(&l));
  fill(atom->a, 0, m * k, a);
  fill(atom->b, 1, k * n, b);
  fill(atom->c, 2, m * n, c);
  add_array(&l, a, (size_t)(m * k) * dtype_bytes(atom->a), true);
  add_array(&l, b, (size_t)(k * n) * dtype_bytes(atom->b), true);
  add_array(&l, c, (size_t)(m * n) * dtype_bytes(atom->c), true);
  add_array(&l, d, (size_t)(m * n) * dtype_bytes(atom->c), false);
  run(&l, 1);
  check_clean(&l, atom->name);
  bool good = true;
  for (int i = 0; i < m * n; i++) {
    double sum = at(atom->c, c, i);
    for (int j = 0; j < k; j++)
      sum += at(atom->a, a, i / n * k + j) * at(atom->b, b, j * n + i % n);
    good &= at(atom->c, d, i) == sum;
  }
  check_got(good, atom->name, "wrong product");
  arena_free(l.arena);
}

/* ---- what it finds ---- */

#define HEAD "nest @k level thread {target \"sm_90a\", num_warps 2, lanes 32}"

/* Zeros in a B of [16, 16] and in the registers of A and C. */
#define GROUP \
  "nest @k level thread {target \"sm_90a\", num_warps 4, lanes 32} { param %p : *f32 {arg 0} " \
  "buffer @b : shared 512 {align 512} holds f16[16,16] [16 = 16@byte:32, 16 = 16@byte:2] " \
  "xor 1,4,3 " \
  "var %t : i32 var %w : i32 var %a : f16[8] var %acc : f32[8] %t = lane %w = warp " \
  "%w = mul %w, 32 : i32 %t = add %t, %w : i32 %t = mul %t, 4 : i32 " \
  "unroll r:8 { %a[r] = mov 0.0 : f16 %acc[r] = mov 0.0 : f32 } st [@b + %t], %a[0] {n 2} : f16 "

/* A warp, an mbarrier, and a tensor of [n, 4] of which a box has [2, 32]. */
/* Two thread blocks of a warp; lane 0 of each is %g: its rank, and the bytes of both ranks. */
#define CLUSTER \
  "nest @k level thread {num_warps 1, lanes 32, cluster 2} { param %p : *i32 {arg 0} " \
  "buffer @b : shared 16 {align 16} var %r : i32 uniform var %at : i32 uniform " \
  "var %o : i32 uniform var %l : i32 var %g : i1 var %v : i32 uniform var %q : *i32 uniform " \
  "%r = cluster.rank %q = ptr_add %p, %r : *i32 %at = mul %r, 4 : i32 %o = sub 4, %at : i32 " \
  "%l = lane %g = eq %l, 0 : i32 "
#define MET " cluster.arrive cluster.wait "
#define SHARED " st [@b + %at], %r {everywhere} if %g : i32 "
#define EXCHANGED " exchange [@b + %at], [@b + 8], %r if %g : i32 "
#define BOX \
  "nest @k level thread {target \"sm_90a\", num_warps 1, lanes 32} { param %p : *f32 {arg 0} " \
  "map @m : f32 at %p [32 of 4, 2 of 8 by 16] " \
  "buffer @b : shared 256 {align 1024} buffer @f : shared 8 {align 8} " \
  "var %l : i32 var %g : i1 var %v : f32 var %u : i32 %l = lane %g = eq %l, 0 : i32 " \
  "%l = mul %l, 4 : i32 mbar.init [@f] {count 1} if %g fence {kind \"proxy\"} bar "
#define COPIED "mbar.expect [@f] {tx 256} if %g bulk.copy [@b], [@f], 0, 6 {map \"m\"} if %g"

#define STAGED "st [@b + %l], 1.0 : f32 st [@b + %l + 128], 1.0 : f32 fence {kind \"proxy\"} bar "
#define STORED "bulk.store [@b], 0, 6 {map \"m\"} if %g bulk.commit if %g"

/* X(name, a kernel, what is said of it) */
#define BROKEN(X) \
  X("register", HEAD " { param %p : *i32 {arg 0} var %v : i32 st [%p], %v : i32 }", "the stored value is undefined here") \
  X("undef", HEAD " { param %p : *i32 {arg 0} var %v : i32 %v = undef : i32 %v = and %v, 3 : i32 st [%p], %v : i32 }", "the stored value is undefined here") \
  X("settled", HEAD " { param %p : *i32 {arg 0} var %v : i32 %v = undef : i32 %v = and %v, 0 : i32 st [%p], %v : i32 }", "nothing") \
  X("shared", HEAD " { param %p : *i32 {arg 0} buffer @b : shared 4 {align 4} var %v : i32 %v = ld [@b] : i32 st [%p], %v : i32 }", "the stored value is undefined here") \
  X("address", HEAD " { var %p : *i32 var %v : i32 %v = ld [%p] : i32 }", "the address is undefined here") \
  X("guard", HEAD " { var %g : i1 var %v : i32 %v = mov 0 if %g : i32 }", "the guard is undefined here") \
  X("condition", HEAD " { var %g : i1 uniform if %g { } }", "the condition is undefined here") \
  X("assert", HEAD " { var %v : i1 %v = mov 0 : i1 assert %v {message \"no\"} }", "device_assert failed: no") \
  X("step", HEAD " { var %i : i32 for %i = 0 to 4 step 0 : i32 { } }", "the loop's step is zero") \
  X("bounds", HEAD " { buffer @b : shared 64 {align 4} var %v : i32 %v = lane %v = mul %v, 4 : i32 st [@b + %v], 0 : i32 }", "4 bytes at offset 64 of buffer `@b`, which has 64") \
  X("align", HEAD " { buffer @b : shared 64 {align 4} var %v : i32 %v = mov 2 : i32 %v = ld [@b + %v] : i32 }", "4 bytes at offset 2 of buffer `@b`, no multiple of 4") \
  X("one statement", HEAD " { buffer @b : shared 4 {align 4} var %v : i32 %v = lane st [@b], %v : i32 }", "race: lane 1 of warp 1 writes byte 0 of `@b`, which lane 0 of warp 1 writes, with no barrier between") \
  X("lanes", HEAD " { buffer @b : shared 256 {align 4} var %l : i32 var %w : i32 var %v : i32 %l = lane %w = warp %w = mul %w, 128 : i32 %l = mul %l, 4 : i32 %v = add %l, %w : i32 st [@b + %v], 1 : i32 %v = xor %v, 4 : i32 %v = ld [@b + %v] : i32 }", "race: lane 0 of warp 1 reads byte 132 of `@b`, which lane 1 of warp 1 writes, with no barrier between") \
  X("global", HEAD " { param %p : *i32 {arg 0} var %l : i32 var %q : *i32 %l = lane %q = ptr_add %p, %l : *i32 %l = warp st [%q], %l : i32 }", "race: lane 0 of warp 0 writes an element of `%p`, which lane 0 of warp 1 writes, with no barrier between") \
  X("poll and write", HEAD " { param %p : *i32 {arg 0} var %w : i32 var %v : i32 var %g : i1 %w = warp %g = eq %w, 0 : i32 %v = ld [%p] {volatile} if %g : i32 %g = ne %w, 0 : i32 st [%p], 7 if %g : i32 }", "race: lane 0 of warp 1 writes an element of `%p`, which warp 0 reads, with no barrier between") \
  X("poll and read", HEAD " { param %p : *i32 {arg 0} var %w : i32 var %v : i32 var %g : i1 %w = warp %g = eq %w, 0 : i32 %v = ld [%p] {volatile} if %g : i32 %g = ne %w, 0 : i32 %v = ld [%p] if %g : i32 st [%p + 4], 7 if %g : i32 }", "nothing") \
  X("poll and atomic", HEAD " { param %p : *i32 {arg 0} var %w : i32 var %v : i32 var %g : i1 %w = warp %g = eq %w, 0 : i32 %v = ld [%p] {volatile} if %g : i32 %g = ne %w, 0 : i32 red [%p], 1 {kind \"add\", sem \"relaxed\"} if %g : i32 st [%p + 4], 7 if %g : i32 }", "nothing") \
  X("same value", HEAD " { param %p : *i32 {arg 0} st [%p], 7 : i32 }", "nothing") \
  X("release", HEAD " { param %p : *i32 {arg 0} var %l : i32 var %w : i32 var %q : *i32 var %g : i1 %l = lane %w = warp %w = mul %w, 16 : i32 %l = add %l, %w : i32 %g = lt %l, 16 : i32 %q = ptr_add %p, %l : *i32 st [%q], 1 if %g : i32 %g = eq %l, 31 : i32 red [%p + 124], 1 {kind \"add\", sem \"release\"} if %g : i32 }", "race: warp 0 accesses global memory, and no barrier orders that before the atomic of lane 15 of warp 1") \
  X("early", HEAD " { param %p : *i32 {arg 0} buffer @b : shared 256 {align 16} var %v : i32 var %w : i32 %v = lane %w = warp %w = mul %w, 128 : i32 %v = mul %v, 4 : i32 %v = add %v, %w : i32 cp.async [@b + %v], [%p] {bytes 4} cp.commit %v = ld [@b + %v] : i32 }", "race: this reads byte 128 of `@b`, where an asynchronous copy has not ended") \
  X("source", HEAD " { param %p : *i32 {arg 0} buffer @b : shared 256 {align 16} var %v : i32 var %g : i1 var %q : *i32 %v = warp %g = eq %v, 0 : i32 %v = lane %q = ptr_add %p, %v : *i32 %v = mul %v, 4 : i32 cp.async [@b + %v], [%q] {bytes 4} if %g cp.commit bar st [%q], 3 if %g : i32 cp.wait {groups 0} }", "race: global memory was written while this asynchronous copy was reading it") \
  X("wait for one group", HEAD " { param %p : *i32 {arg 0} buffer @b : shared 256 {align 16} var %v : i32 var %w : i32 %v = lane %w = warp %w = mul %w, 128 : i32 %v = mul %v, 4 : i32 %v = add %v, %w : i32 cp.async [@b + %v], [%p] {bytes 4} cp.commit cp.commit cp.wait {groups 1} %v = ld [@b + %v] : i32 }", "nothing") \
  X("deadlock", HEAD " { role {warps 1} { bar {id 1, warps 2} } role {warps 1} { bar {id 2} } }", "deadlock: in program 0, 1 warps have not ended (1 have), and a barrier waits for more") \
  X("proxy", GROUP "bar %acc[0] = wgmma [_], [@b], %a[0], _, %acc[0] {columns 16, atom \"wgmma.m64k16.f16\"} }", "race: this reads byte 0 of `@b` through the asynchronous proxy, before a fence by its writer") \
  X("written in flight", GROUP "fence {kind \"proxy\"} bar %acc[0] = wgmma [_], [@b], %a[0], _, %acc[0] {columns 16, atom \"wgmma.m64k16.f16\"} mma.commit %acc[3] = mov 1.0 : f32 mma.wait {groups 0} }", "`%acc` was written while a matrix instruction was computing it; wait for its group first") \
  X("read in flight", GROUP "fence {kind \"proxy\"} bar %acc[0] = wgmma [_], [@b], %a[0], _, %acc[0] {columns 16, atom \"wgmma.m64k16.f16\"} mma.commit st [%p], %acc[0] : f32 }", "the stored value is undefined here") \
  X("no mbarrier", HEAD " { buffer @b : shared 16 {align 8} mbar.wait [@b + 8], 0 }", "no mbarrier was made at byte 8 of `@b`") \
  X("full mbarrier", BOX "mbar.expect [@f] {tx 256} if %g mbar.expect [@f] {tx 256} if %g }", "this arrives at an mbarrier at which all have arrived, and whose bytes are not all on their way") \
  X("box", BOX COPIED " mbar.wait [@f], 0 %v = ld [@b + %l] : f32 st [%p], %v : f32 }", "nothing") \
  X("box without a wait", BOX COPIED " %v = ld [@b + %l] : f32 st [%p], %v : f32 }", "race: this reads byte 0 of `@b`, where an asynchronous copy has not ended") \
  X("box of the other phase", BOX COPIED " mbar.wait [@f], 1 %v = ld [@b + %l] : f32 st [%p], %v : f32 }", "race: this reads byte 0 of `@b`, where an asynchronous copy has not ended") \
  X("box twice", BOX COPIED " mbar.wait [@f], 0 %v = ld [@b + %l] : f32 " COPIED " mbar.wait [@f], 1 }", "race: lane 0 of warp 0 copies to byte 4 of `@b`, which lane 1 of warp 0 reads, with no barrier between") \
  X("box over a store", BOX "st [@b + %l], 1.0 if %g : f32 " COPIED " mbar.wait [@f], 0 }", "race: this reads byte 0 of `@b` through the asynchronous proxy, before a fence by its writer") \
  X("box of no coordinate", BOX "mbar.expect [@f] {tx 256} if %g bulk.copy [@b], [@f], %u, 0 {map \"m\"} if %g }", "the coordinate is undefined here") \
  X("bytes that don't come", BOX "mbar.expect [@f] {tx 512} if %g bulk.copy [@b], [@f], 0, 0 {map \"m\"} if %g mbar.wait [@f], 0 }", "deadlock: in program 0, 1 warps have not ended (0 have), and a barrier waits for more") \
  X("stored box", BOX STAGED STORED " bulk.wait {groups 0} if %g }", "nothing") \
  X("stored box, written again", BOX STAGED STORED " bulk.wait {groups 0} if %g bar st [@b + %l], 2.0 : f32 }", "nothing") \
  X("stored box, written with no barrier", BOX STAGED STORED " bulk.wait {groups 0} if %g st [@b + %l], 2.0 : f32 }", "race: lane 1 of warp 0 writes byte 4 of `@b`, which lane 0 of warp 0 reads, with no barrier between") \
  X("stored box without a fence", BOX "st [@b + %l], 1.0 : f32 bar " STORED " bulk.wait {groups 0} if %g }", "race: this reads byte 0 of `@b` through the asynchronous proxy, before a fence by its writer") \
  X("stored box without a barrier", BOX "st [@b + %l], 1.0 : f32 fence {kind \"proxy\"} " STORED " bulk.wait {groups 0} if %g }", "race: lane 0 of warp 0 reads byte 4 of `@b`, which lane 1 of warp 0 writes, with no barrier between") \
  X("stored box without a wait", BOX STAGED STORED " }", "the program ends before this box of `@b` has been read: nothing waits for its group") \
  X("stored box without a commit", BOX STAGED "bulk.store [@b], 0, 6 {map \"m\"} if %g bulk.wait {groups 0} if %g }", "the program ends before this box of `@b` has been read: nothing waits for its group") \
  X("stored box, one group late", BOX STAGED STORED " bulk.wait {groups 1} if %g }", "the program ends before this box of `@b` has been read: nothing waits for its group") \
  X("stored box, written before a wait", BOX STAGED STORED " st [@b], 2.0 if %g : f32 bulk.wait {groups 0} if %g }", "race: `@b` was written while this was storing a box of it") \
  X("stored box, read as global", BOX STAGED STORED " bulk.wait {groups 0} if %g bar %v = ld [%p + 96] : f32 }", "race: this reads an element of `%p`, where an asynchronous copy has not ended") \
  X("stored box, undefined", BOX "fence {kind \"proxy\"} bar " STORED " bulk.wait {groups 0} if %g }", "the stored value is undefined here") \
  X("cluster", CLUSTER MET SHARED MET " %v = ld [@b + %o] : i32 st [%q], %v if %g : i32 }", "nothing") \
  X("cluster that reads early", CLUSTER MET SHARED " %v = ld [@b + %o] : i32 }", "race: lane 0 of warp 0 writes byte 0 of `@b`, which warp 1 reads, with no barrier between") \
  X("cluster with a barrier of a block", CLUSTER MET SHARED " bar %v = ld [@b + %o] : i32 }", "race: warp 1 reads byte 0 of `@b`, which lane 0 of warp 0 writes, with no barrier between") \
  X("cluster that overwrites", CLUSTER MET SHARED MET " %v = ld [@b + %o] : i32 st [@b + %at], 3 {everywhere} if %g : i32 }", "race: warp 0 reads byte 4 of `@b`, which lane 0 of warp 1 writes, with no barrier between") \
  X("cluster, each its own", CLUSTER MET " st [@b + %at], 5 if %g : i32 " MET " %v = ld [@b + %o] : i32 st [%q], %v if %g : i32 }", "the stored value is undefined here") \
  X("exchange", CLUSTER MET EXCHANGED " %v = ld [@b + %o] : i32 st [%q], %v if %g : i32 }", "nothing") \
  X("exchange that orders nothing else", CLUSTER MET SHARED EXCHANGED " %v = ld [@b + %o] : i32 }", "race: warp 1 reads byte 0 of `@b`, which lane 0 of warp 0 writes, with no barrier between") \
  X("exchange to which a warp brings nothing", CLUSTER MET " %g = eq %r, 0 : i32 " EXCHANGED " }", "deadlock: in program 0, 2 warps have not ended (0 have), and a barrier waits for more") \
  X("cluster, one element", CLUSTER " st [%p], %r if %g : i32 }", "race: lane 0 of warp 0 writes an element of `%p`, which lane 0 of warp 1 writes, with no barrier between") \
  X("counts", "nest @k level thread {num_warps 4, lanes 32} { role {warps 2} { bar {id 1, warps 3} } role {warps 2} { bar {id 1, warps 4} } }", "this barrier waits for 3 warps, and others at it for 4") \
  X("spin", HEAD " { param %p : *i32 {arg 0} var %v : i32 uniform var %g : i1 uniform while %g { %v = ld [%p] {volatile} : i32 %g = ne %v, 99 : i32 } do { } }", "deadlock: 1 programs wait, and none is left to wake them") \
  X("steps", HEAD " { var %i : i32 for %i = 0 to 100000000 step 1 : i32 { } }", "stopped after 5000000 operations: is a loop infinite?") \
  X("endless", HEAD " { var %g : i1 uniform while %g { %g = mov 1 : i1 } do { } }", "infinite loop: in program 0 its values repeat") \
  X("in turn", HEAD " { var %v : i32 var %g : i1 uniform %v = mov 0 : i32 while %g { %g = mov 1 : i1 } do { %v = add %v, 1 : i32 %v = rem %v, 3 : i32 } }", "infinite loop: in program 0 its values repeat") \
  X("iterations", HEAD " { var %v : i32 var %g : i1 uniform %v = mov 0 : i32 while %g { %g = mov 1 : i1 } do { %v = add %v, 1 : i32 } }", "stopped after 100000 iterations of `while` in which no program ended: is this loop infinite?") \
  X("once", HEAD " { var %i : i32 var %g : i1 uniform for %i = 0 to 20000 step 1 : i32 { %g = mov 1 : i1 while %g { } do { %g = mov 0 : i1 } } }", "nothing") \
  X("memory", HEAD " { buffer @a : shared 200000000 buffer @b : shared 200000000 }", "a program takes 2670 MiB here, more than 256") \
  X("level", "nest @k level nest {num_warps 1} { }", "only level thread can be run") \
  X("outside", HEAD " { param %p : *i32 {arg 0} var %v : i32 %v = ld [%p + 400] : i32 }", "out of bounds: load of 4 bytes at arg0[100], 272 bytes past the end of 'arg0' (32 x 4 bytes)")

static const struct {
  const char *name, *text, *want;
} bad[] = {
#define X(name, text, want) {name, text, want},
    BROKEN(X)
#undef X
};

static void findings(void) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Launch l = launch_text(bad[i].name, bad[i].text);
    int32_t x[32] = {0};
    add_array(&l, x, sizeof x, true);
    run(&l, 1);
    check_error(&l, bad[i].name, bad[i].want);
    arena_free(l.arena);
  }
}

int main(void) {
  static Case *const cases[] = {reduce, transpose, pipeline, lock,     atomics,
                                flag,   control,   cpu,      ldmatrix, group};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int without = -1; cases[i](without); without++) continue;
  int n;
  const Atom *atoms = atom_list(&n);
  for (int i = 0; i < n; i++)
    if (atoms[i].warps == 1) check_atom(&atoms[i]);
  findings();
  return report();
}
