#include "tests/fuzz/common/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "lang/interp/interp.h"
#include "lower/interp/nest_interp.h"
#include "lower/messages.h"
#include "tests/fuzz/common/fuzz.h"

/* Small enough for an input to take a moment. */
enum { MOST_ELEMENTS = 1 << 14, MOST_VALUES = 400, STEPS = 4000, MOST_TEXT = 1 << 18 };
enum { ARGS = 64, BUFFERS = 8, BUFFER_BYTES = 1 << 12 };

/* ---- memory ---- */

void fuzz_in_arena(void (*body)(Arena *a, const uint8_t *data, size_t size), const uint8_t *data,
                   size_t size) {
  Arena *a = arena_new();
  JumpPlace place;
  if (!a) return;
  arena_catch(a, &place);
  if (!setjmp(place.jump)) body(a, data, size);
  arena_release(a, &place);
  arena_free(a);
}

/* ---- running ---- */

static _Alignas(256) uint8_t buffers[BUFFERS][BUFFER_BYTES];

typedef struct {
  InterpArg args[ARGS];
  Memory *memory;
  Diags *findings;
  int pointers;
} Launch;

static const uint32_t grid[3] = {2, 1, 1};

static Launch launch_new(Arena *a) {
  Launch l = {.findings = diags_new(a)};
  memset(buffers, 1, sizeof buffers);
  l.memory = memory_new(a, l.findings);
  return l;
}

static void add_arg(Launch *l, uint32_t i, uint32_t arg, DType t, int64_t div) {
  int64_t n = div > 1 && div <= BUFFER_BYTES ? (40 + div - 1) / div * div : 40;
  if (t == DT_PTR) {
    uint8_t *data = buffers[l->pointers++ % BUFFERS];
    memory_add(l->memory, "p", arg, data, BUFFER_BYTES, true);
    l->args[i].bits = (uint64_t)(uintptr_t)data;
  } else if (dtype_is_float(t)) {
    scalar_store(t, (Scalar){.f = 1.5}, &l->args[i].bits);
  } else {
    l->args[i].bits = t == DT_I1 ? 1 : (uint64_t)n;
  }
}

/* The time of an interpreter is that of its elements. */
static void count_elements(TileOp *op, void *ctx) {
  int64_t *most = ctx;
  for (uint32_t i = 0; i < op->nresults; i++)
    if (type_numel(op->results[i]->type) > *most) *most = type_numel(op->results[i]->type);
}

static bool small_tile(const TileFunc *f) {
  int64_t most = 1;
  tile_walk(f->body, count_elements, &most);
  return most <= MOST_ELEMENTS && f->nvalues <= MOST_VALUES;
}

static void run_tile(Arena *a, const TileFunc *f) {
  Launch l = launch_new(a);
  if (f->nparams > ARGS || !small_tile(f)) return;
  for (uint32_t i = 0; i < f->nparams; i++)
    add_arg(&l, i, i, (DType)f->params[i].value->type.dtype, f->params[i].div);
  tile_interp(f, l.args, grid, l.memory, l.findings, (InterpOptions){.steps = STEPS / 20});
}

static void run_nest(Arena *a, const Nest *n) {
  Launch l = launch_new(a);
  if (n->nparams > ARGS) return;
  for (uint32_t i = 0; i < n->nparams; i++)
    add_arg(&l, i, n->params[i]->arg, n->params[i]->dtype, n->params[i]->div);
  nest_interp(n, l.args, grid, l.memory, l.findings, (InterpOptions){.steps = STEPS});
}

/* ---- reading what was printed ---- */

static const char *print(const Unit *u) {
  Text t = text_new(u->arena);
  lower_print(&t, u);
  return t.data;
}

static const char *messages(const Unit *u, const Diags *d) {
  Text t = text_new(u->arena);
  diag_print(d, &t);
  return t.data;
}

static void round_trip(const Unit *u, const char *after) {
  const char *once = print(u);
  if (strlen(once) > MOST_TEXT) return;
  Diags *d = diags_new(u->arena);
  uint32_t file = diag_source(d, "printed", once, strlen(once));
  size_t at = 0;
  Unit *read = lower_parse(u->arena, u->names, d, file, &at);
  if (!read) fuzz_fail("not read again after %s: %s\n%s", after, messages(u, d), once);
  const char *twice = print(read);
  if (strcmp(once, twice)) fuzz_fail("read differently after %s:\n%s\n%s", after, once, twice);
}

/* ---- lowering ---- */

/* What a pass makes of tile IR may be too large; it may not be wrong.  Nests that verify may still
 * be none that bind can do, and then it is the verifier that says so. */
static bool is_limit(const Diags *d) {
  static const char *const texts[] = {E_NEST_EXPANDED, E_NEST_ALL_REGISTERS, E_NEST_REGISTERS};
  const char *got = diag_count(d) ? diag_get(d, 0)->text : "";
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (!strncmp(got, texts[i], strcspn(texts[i], "%"))) return true;
  return false;
}

static bool run_pass(Unit *u, const Pass *p) {
  bool ok = p->run.on_unit(u);
  if (!ok && !diag_errors(u->diags)) fuzz_fail("%s fails without a message", p->name);
  if (diag_errors(u->diags)) return false;
  if (lower_verify(u)) {
    round_trip(u, p->name);
    return true;
  }
  if (!is_limit(u->diags) && u->tile)
    fuzz_fail("%s makes what does not verify: %s\n%s", p->name, messages(u, u->diags), print(u));
  return false;
}

static bool lower(Unit *u) {
  PassList list = lower_passes();
  if (lower_level(u) == LEVEL_THREAD) return true;
  for (int i = 0; i < list.n; i++) {
    const Pass *p = &list.rows[i];
    bool included = pass_included(p, u->machine->has) && p->takes == lower_level(u);
    if (included && !run_pass(u, p)) return false;
  }
  return lower_level(u) == LEVEL_THREAD;
}

void fuzz_unit(Unit *u) {
  if (!lower_verify(u)) return;
  round_trip(u, "reading");
  if (u->tile) run_tile(u->arena, u->tile);
  if (u->tile && !small_tile(u->tile)) return;
  if (!lower(u)) return;
  run_nest(u->arena, u->nest);
  Code code;
  bool cpu = u->machine->kind == MACHINE_CPU;
  (cpu ? c_print : ptx_print)(u->arena, u->nest, u->machine, u->diags, &code);
}

/* ---- reading ---- */

static Unit *read_unit(Arena *a, const uint8_t *data, size_t size) {
  char *text = arena_strndup(a, (const char *)data, size);
  Pool *names = pool_new(a);
  Diags *d = diags_new(a);
  size_t at = 0;
  Unit *u = lower_parse(a, names, d, diag_source(d, "fuzz", text, size), &at);
  messages(&(Unit){.arena = a}, d);
  return u && !diag_errors(d) ? u : NULL;
}

/* Tile IR that is not scheduled runs on any machine. */
static void read_ir(Arena *a, const uint8_t *data, size_t size) {
  Unit *u = read_unit(a, data, size);
  if (!u) return;
  bool open = lower_level(u) == LEVEL_TILE;
  fuzz_unit(u);
  u = open ? read_unit(a, data, size) : NULL;
  if (!u) return;
  u->tile->options.target = "cpu:8";
  u->machine = machine_find("cpu:8");
  fuzz_unit(u);
}

void fuzz_ir(const uint8_t *data, size_t size) { fuzz_in_arena(read_ir, data, size); }
