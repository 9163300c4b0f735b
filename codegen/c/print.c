/* The unit: a head, the helpers, one function that is one program, and the entry functions. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/c/c.h"
#include "codegen/messages.h"

/* ---- one program ---- */

static const char *load_argument(Gen *g, uint32_t i) {
  DType t = g->nest->params[i]->dtype;
  if (t == DT_PTR) return c_text(g, "(char *)load_u64(args + %u)", 8 * i);
  return c_text(g, "load_%s(args + %u)", dtype_name(t), 8 * i);
}

/* Its type is LaunchProgram's, so that all kernels share the loop over programs. */
static void print_program_function(Gen *g, Text *out, const char *name) {
  g->depth = 1;
  c_block(g, g->nest->body);
  c_product_functions(g, out);
  text_printf(out,
              "/* One program; its lanes run together. */\n"
              "%s void %s_program(const char *args, const uint32_t *grid, uint32_t pid_0,\n"
              "    uint32_t pid_1, uint32_t pid_2, char *shared, bool stream,\n"
              "    Waiting *waiting) {\n",
              g->holds_sums ? "HOLDING" : "static", name);
  for (uint32_t i = 0; i < g->nest->nparams; i++)
    text_printf(out, "  %s = %s;\n", c_declaration(g, g->nest->params[i]), load_argument(g, i));
  if (g->owners) text_puts(out, "  const uint64_t *const reach = REACH(args);\n");
  if (g->multiplies_tiles) text_puts(out, "  int tiles = 0;\n");
  text_putn(out, g->out.data, g->out.len);
  if (g->multiplies_tiles) text_puts(out, "  tiles_end(&tiles);\n");
  text_puts(out, "}\n\n");
}

/* ---- entry functions ---- */

/* The capacity of the caches, at most: launches that write more send it around them. */
enum { CACHES_BYTES = 32 << 20 };

static void print_cost(Gen *g, Text *out, const char *name) {
  const char *cost = c_program_cost(g);
  text_printf(out,
              "/* About how many nanoseconds a program takes. */\n"
              "static double %s_ns(const char *args, const uint32_t *grid) {\n"
              "  (void)args, (void)grid;\n"
              "  return %s;\n"
              "}\n\n",
              name, cost);
}

static void print_entry_launch(Gen *g, Text *out, const char *name) {
  const long long shared = (g->nest->shared_bytes + g->knows_thread + 63) / 64 * 64;
  const char *stream = "false";
  if (g->stream_bytes) stream = c_text(g, "n > %lld", (long long)(CACHES_BYTES / g->stream_bytes));
  text_printf(out,
              "/* All programs, by the threads of a team; without one (NULL), by this thread. */\n"
              "void %s_launch(const void *args, const uint32_t grid[3], Team *team) {\n"
              "  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];\n"
              "  Launch launch = {args, grid, n, %s_program, %lld, %s, %s};\n"
              "  launch_all(&launch, team, (double)n * %s_ns(args, grid));\n"
              "}\n",
              name, name, shared, stream, g->waits ? "true" : "false", name);
}

/* ---- the unit ---- */

/* The line that begins a kernel's own part of a unit.  Before the first one there is no text of a
 * user's. */
#define KERNEL_MARK "\n/* Kernel "

static void print_kernel_head(Gen *g, Text *out) {
  const Source *file = diag_file(g->d, g->nest->span.file);
  text_printf(out, KERNEL_MARK "%s%s%s. */\n", g->nest->name, file ? " of " : "",
              file ? file->name : "");
}

static void print_c_unit(Text *out, Arena *a, const Text *kernels, int lanes) {
  text_printf(out,
              "/* The meaning depends on these options:\n"
              " *   cc %s -fPIC -shared -lm */\n",
              C_FLAGS);
  c_prelude(out, a, kernels->data, lanes);
  text_putn(out, kernels->data, kernels->len);
}

/* Variables of more than one register are arrays on the stack of a thread, which may be small.  If
 * they are too much for it, the large ones are a thread's own for good: four tiles of the most
 * elements that there are, in float32. */
enum { STACK_BYTES = 1 << 20, LARGE_BYTES = 1 << 14, ARRAYS_BYTES = 1 << 24 };

static int64_t array_bytes(const Gen *g, const NestVar *v) {
  int64_t lanes = c_uniform(g->spread[v->id]) ? 1 : g->nest->lanes;
  return v->count > 1 ? v->count * lanes * (int64_t)dtype_bytes(v->dtype) : 0;
}

static bool find_large(Gen *g) {
  const Nest *n = g->nest;
  int64_t bytes = 0;
  for (uint32_t i = 0; i < n->nvars; i++) bytes += array_bytes(g, n->vars[i]);
  g->large = ARENA_ARRAY(g->arena, bool, n->nvars);
  for (uint32_t i = 0; i < n->nvars; i++)
    g->large[n->vars[i]->id] = bytes > STACK_BYTES && array_bytes(g, n->vars[i]) >= LARGE_BYTES;
  if (bytes <= ARRAYS_BYTES) return true;
  Resource need = {"register arrays", bytes, ARRAYS_BYTES};
  diag_resource_limit(g->d, n->span, need, E_GEN_C_ARRAYS, (long long)bytes, ARRAYS_BYTES);
  diag_hint(g->d, H_GEN_C_ARRAYS);
  return false;
}

static bool check_c_target(Gen *g, const Machine *m) {
  const Nest *n = g->nest;
  BUG_IF(n->level != NEST_LEVEL_THREAD || !machine_has(m, HAS_LOCKSTEP),
         "C is printed from level thread, for lanes that run in lockstep");
  if (n->warps == 1) return true;
  diag_error(g->d, n->span, E_GEN_C_WARPS, n->warps);
  return false;
}

bool c_print(Arena *a, const Nest *n, const Machine *m, Diags *d, Code *out) {
  Gen g = {.arena = a, .nest = n, .regs = m->regs, .d = d, .out = text_new(a)};
  g.tiles = machine_has(m, HAS_MATRIX_TILES);
  g.far_streams = machine_has(m, HAS_FAR_STREAMS);
  if (!check_c_target(&g, m)) return false;
  Text body = text_new(a), unit = text_new(a);
  print_kernel_head(&g, &body);
  c_find_spreads(&g);
  if (!find_large(&g)) return false;
  c_find_streams(&g);
  c_find_waits(&g);
  c_find_owners(&g);
  c_find_expanded(&g);
  c_find_scopes(&g);
  c_find_sums(&g);
  c_find_along(&g);
  c_find_renamed(&g);
  c_name_all(&g);
  const char *name = g.entry;
  print_program_function(&g, &body, name);
  print_cost(&g, &body, name);
  print_entry_launch(&g, &body, name);
  if (g.failed) return false;
  print_c_unit(&unit, a, &body, n->lanes);
  *out = (Code){.text = unit.data,
                .len = unit.len,
                .entry = name,
                .threads = 1,
                .shared_bytes = n->shared_bytes};
  return true;
}

/* ---- several kernels ---- */

const char *c_kernel_of(const char *unit) { return strstr(unit, KERNEL_MARK); }

int c_lanes(const char *unit) {
  const char *line = strstr(unit, "#define LANES ");
  return line ? (int)strtol(line + 14, NULL, 10) : 0;
}

double c_program_ns(const char *unit) {
  static const char before[] = "  (void)args, (void)grid;\n  return ";
  const char *at = strstr(unit, before);
  char *end;
  if (!at) return HUGE_VAL;
  double ns = strtod(at + sizeof before - 1, &end);
  return *end == ';' ? ns : HUGE_VAL;
}

/* Is there a product of a number that is no constant and a vector, by such a call? */
static bool multiplies_number(const char *kernel, const char *call) {
  const char *at = strstr(kernel, call);
  while (at && !isalpha((unsigned char)at[strlen(call)])) at = strstr(at + 1, call);
  return at != NULL;
}

bool c_adds_products(const char *unit) {
  const char *kernel = c_kernel_of(unit);
  if (!kernel) return true;
  return multiplies_number(kernel, "vfma_f32(vsplat_f32(") ||
         multiplies_number(kernel, "vfma_f64(vsplat_f64(") || strstr(kernel, "dot2_i32(") ||
         strstr(kernel, "dot4_i32(") ||
         (strstr(kernel, "\nBLOCK_OF_SUMS(") && strstr(unit, "load_bf16("));
}

bool c_join(Text *out, Arena *a, const char *const *units, size_t n) {
  Text kernels = text_new(a);
  for (size_t i = 0; i < n; i++) {
    const char *kernel = c_kernel_of(units[i]);
    if (!kernel || c_lanes(units[i]) != c_lanes(units[0])) return false;
    text_puts(&kernels, kernel);
  }
  if (n) print_c_unit(out, a, &kernels, c_lanes(units[0]));
  return true;
}
