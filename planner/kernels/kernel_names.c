/* Names of a kernel's variables.  Names of a loop's body are free again after it. */
#include <string.h>

#include "graph/ops/ops.h"
#include "planner/kernels/kernel.h"

/* A name in use: is it a variable's, and the next suffix if it is. */
struct KernelName {
  bool taken;
  uint32_t next; /* base_1 ... base_(next-1) are taken */
};

/* Names that a kernel's variables may not have. */
static const char *const reserved[] = {
    "across", "down", "deep", "image", "y", "z", "BI", "BW", "BH", "BD", "tl", "triton",
    "libdevice", "xindex", "rindex", "xmask", "rmask", "XBLOCK", "RBLOCK", "False", "True", "None",
    "and", "as", "def", "for", "if", "in", "is", "lambda", "not", "or", "range", "float", "int",
    "max", "min", "abs", "acc", "m", "n", "k", "b", "x", "r", "maximum", "minimum", "multiply",
    "either", "both", "pid", "rows", "columns", "band", "height", "batch", "mmask", "nmask",
    "start", "ka", "kb", "left", "right", "log_add", "later_max", "later_min", "sorted_rows",
    "search", "merged", "segment_sum", "step", "position", "BM", "BN", "BK", "suppress", "overlaps",
    "tree_leaf",
    "corners", "exact_gelu", "mish_of", "check_index", "is_index", "first", "weight", "within",
    "beside", "following", "two_fields", "one_field", "scale_halves", "table",
    "bytes_of_table", "choose_numbers", "floats_of_bytes", "select_count", "select_bounds",
    "select_place",
    /* digits of a packed weight's indices, and how many a tile has of each (kernel_packed.c) */
    "k0", "k1", "k2", "k3", "k4", "k5", "K0", "K1", "K2", "K3", "K4", "K5", "n0", "n1", "n2", "n3",
    "n4", "n5", "N0", "N1", "N2", "N3", "N4", "N5", "k6", "k7", "K6", "K7", "n6", "n7", "N6", "N7",
    "P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "Q0", "Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7",
    "SEGMENTS", "column", "two_words", "factor", "offset", "part", "sums", "plane", "turn", "group",
    "own", "last", "left_part", "right_part"};

/* Reserved names: functions of special mathematics in planner/kernels/templates. */
static const char *const reserved_special[] = {
    "airy_ai",     "scaled_i0",        "scaled_i1",    "bessel_k0",      "bessel_k1",
    "gcd",         "gamma_factor",     "gamma_series", "gamma_fraction", "gamma_near_0",
    "gamma_large", "incomplete_gamma", "next_after",   "order_of",       "recurrence",
    "chebyshev",   "hermite",          "laguerre",     "legendre",       "zeta",
    "poly",        "largest",          "alike",        "power_of_2"};

static KernelName *kernel_name_entry(Kernel *k, Name name) {
  void **slot = namemap_put(k->arena, &k->names, name);
  if (!*slot) {
    KernelName *e = ARENA_NEW(k->arena, KernelName);
    e->next = 1;
    *slot = e;
  }
  return *slot;
}

/* `base` counts on to `next` with it. */
static void take_kernel_name(Kernel *k, KernelName *name, KernelName *base, uint32_t next) {
  vec_push(k->arena, &k->taken, ((KernelTaken){name, base, base->next}));
  name->taken = true;
  base->next = next;
}

void kernel_take(Kernel *k, Name name) {
  KernelName *e = kernel_name_entry(k, name);
  if (!e->taken) take_kernel_name(k, e, e, e->next);
}

/* A few letters and a number, as torch.export calls sizes. */
static bool is_numbered(const char *s) {
  size_t letters = strspn(s, "abcdefghijklmnopqrstuvwxyz");
  size_t digits = strspn(s + letters, "0123456789");
  return letters && letters < 5 && digits && !s[letters + digits];
}

Name kernel_symbol_name(const Kernel *k, Dim symbol) {
  Pool *names = k->graph->names;
  if (is_numbered(symbol->name)) return symbol->name;
  return pool_name(names, arena_printf(k->arena, "%s_size", symbol->name));
}

void kernel_reserve_names(Kernel *k) {
  const Fusion *f = k->f;
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    kernel_take(k, pool_name(k->graph->names, reserved[i]));
  for (size_t i = 0; i < sizeof reserved_special / sizeof *reserved_special; i++)
    kernel_take(k, pool_name(k->graph->names, reserved_special[i]));
  for (size_t i = 0; i < f->symbols.len; i++)
    kernel_take(k, kernel_symbol_name(k, f->symbols.data[i]));
}

const char *kernel_fresh(Kernel *k, const char *base) {
  Name name = pool_name(k->graph->names, base);
  KernelName *first = kernel_name_entry(k, name), *e = first;
  uint32_t next = first->next;
  for (; e->taken; e = kernel_name_entry(k, name))
    name = pool_name(k->graph->names, arena_printf(k->arena, "%s_%u", base, next++));
  take_kernel_name(k, e, first, next);
  return name;
}

const char *kernel_fresh_for(Kernel *k, const Node *n) {
  return kernel_fresh(k, ops_short_name(k->arena, n->op->target));
}

void kernel_forget(Kernel *k, size_t taken) {
  while (k->rounded.len && vec_last(&k->rounded).taken > taken) k->rounded.len--;
  while (k->taken.len > taken) {
    KernelTaken t = k->taken.data[--k->taken.len];
    t.name->taken = false;
    t.base->next = t.before;
  }
}
