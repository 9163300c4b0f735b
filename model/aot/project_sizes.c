#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "model/aot/project_state.h"
#include "model/messages.h"
#include "planner/plan/buffer_pool.h"

/* ---- all expressions of a plan ---- */

typedef void Visit(Project *p, Dim x, void *context);

static void each_size(Project *p, Visit *visit, void *context) {
  const Plan *plan = p->plan;
  for (uint32_t i = 0; i < p->ninputs; i++)
    if (p->inputs[i] && p->inputs[i]->value) visit(p, p->inputs[i]->value, context);
  for (uint32_t i = 0; i < plan->nbuffers; i++) {
    if (!p->buffers[i].used) continue;
    for (uint32_t j = 0; j < plan->buffers[i].rank; j++)
      visit(p, plan->buffers[i].shape[j], context);
    visit(p, memory_bytes(plan->graph->dims, &plan->buffers[i]), context);
  }
  for (uint32_t i = 0; i < plan->nsteps; i++) {
    const PlanStep *s = &plan->steps[i];
    for (uint32_t j = 0; j < s->nargs; j++)
      if (s->args[j].kind == STEP_INT) visit(p, s->args[j].value, context);
    for (int j = 0; j < 3; j++) visit(p, s->grid[j], context);
  }
  for (size_t i = 0; i < p->relations.len; i++) {
    visit(p, p->relations.data[i].a, context);
    visit(p, p->relations.data[i].b, context);
  }
}

/* ---- symbols ---- */

static ProjectSymbol *find_symbol(Project *p, Dim symbol) {
  for (size_t i = 0; i < p->symbols.len; i++)
    if (p->symbols.data[i].symbol == symbol) return &p->symbols.data[i];
  return NULL;
}

/* Names that are no plain s0 may be words of C. */
static const char *c_name(Project *p, const char *name) {
  bool plain = name[0] == 's' && name[1] && !name[1 + strspn(name + 1, "0123456789")];
  return plain ? name : arena_printf(p->arena, "%s_", name);
}

static void collect(Project *p, Dim x, void *context) {
  DimList *found = context;
  for (uint32_t i = 0; i < x->n; i++) collect(p, x->args[i], context);
  if (x->kind != DIM_SYMBOL) return;
  for (size_t i = 0; i < found->len; i++)
    if (found->data[i] == x) return;
  vec_push(p->arena, found, x);
}

/* The one symbol in x that is not bound, NULL if it is not one. */
static Dim one_unbound(Project *p, Dim x, bool *several) {
  if (x->kind == DIM_SYMBOL) return find_symbol(p, x) ? NULL : x;
  Dim found = NULL;
  for (uint32_t i = 0; i < x->n; i++) {
    Dim one = one_unbound(p, x->args[i], several);
    if (one && found && one != found) *several = true;
    if (one) found = one;
  }
  return found;
}

static bool bind_axis(Project *p, uint32_t input, uint32_t axis, bool bare) {
  Dim x = plan_axis_size(p->inputs[input], axis);
  bool several = false;
  Dim symbol = (x->kind == DIM_SYMBOL) == bare ? one_unbound(p, x, &several) : NULL;
  if (!symbol || several) return false;
  DimRange r = dim_range(p->plan->graph->dims, symbol);
  vec_push(
      p->arena, &p->symbols,
      ((ProjectSymbol){symbol, c_name(p, symbol->name), r.lo < 0 ? 0 : r.lo, r.hi, input, axis}));
  return true;
}

static bool bind_round(Project *p, bool bare) {
  bool progress = false;
  for (uint32_t i = 0; i < p->ninputs; i++)
    for (uint32_t j = 0; p->inputs[i] && j < plan_axes(p->inputs[i]); j++)
      progress |= bind_axis(p, i, j, bare);
  return progress;
}

static bool is_bound(Project *p, Dim x) {
  bool several = false;
  return !one_unbound(p, x, &several);
}

static void find_relations(Project *p) {
  const Graph *g = p->plan->graph;
  for (size_t i = 0; i < g->relations.len; i++)
    if (is_bound(p, g->relations.data[i].a) && is_bound(p, g->relations.data[i].b))
      vec_push(p->arena, &p->relations, g->relations.data[i]);
}

/* A size that a step counts in data: a built project finds all sizes before it runs. */
static int check_reads(const Project *p) {
  if (!p->plan->nreads) return 0;
  const PlanRead *r = &p->plan->reads[0];
  const char *count = p->plan->buffers[r->buffer].name;
  return error_set(NEREID_E_FILE, E_BUILD_READ, r->symbol->name, count);
}

static int check_bound(Project *p) {
  DimList found = {0};
  int code = check_reads(p);
  if (code) return code;
  each_size(p, collect, &found);
  for (size_t i = 0; i < found.len; i++)
    if (!find_symbol(p, found.data[i]))
      return error_set(NEREID_E_FILE, E_BUILD_SYMBOL, found.data[i]->name);
  return 0;
}

/* ---- limits ---- */

/* An upper bound of all subexpressions of x, for all values of its symbols. */
static double bound(Project *p, Dim x) {
  double all = fabs((double)x->value), most = 0;
  if (x->kind == DIM_HUGE) return INFINITY;
  if (x->kind == DIM_SYMBOL) {
    const ProjectSymbol *s = find_symbol(p, x);
    return s ? (double)s->most : INFINITY;
  }
  if (x->kind == DIM_PRODUCT) all = fmax(all, 1);
  for (uint32_t i = 0; i < x->n; i++) {
    double b = bound(p, x->args[i]);
    if (x->kind == DIM_PRODUCT) all *= fmax(b, 1);
    else all += b;
    most = fmax(most, b);
  }
  return x->kind == DIM_SUM || x->kind == DIM_PRODUCT || x->kind == DIM_INT ? all : most;
}

typedef struct {
  double most;
} Largest;

static void measure(Project *p, Dim x, void *context) {
  Largest *l = context;
  l->most = fmax(l->most, bound(p, x));
}

/* Symbols without an upper limit get the largest power of two for which nothing overflows. */
int project_limit_symbols(Project *p) {
  for (int bits = 40; bits >= 8; bits--) {
    Largest l = {0};
    for (size_t i = 0; i < p->symbols.len; i++) {
      ProjectSymbol *s = &p->symbols.data[i];
      int64_t hi = dim_range(p->plan->graph->dims, s->symbol).hi, cap = (int64_t)1 << bits;
      s->most = hi < cap ? hi : s->least > cap ? s->least : cap;
    }
    each_size(p, measure, &l);
    if (l.most < 0x1p62) return 0;
  }
  return error_set(NEREID_E_MEMORY, E_BUILD_SIZES);
}

int project_find_symbols(Project *p) {
  bind_round(p, true);
  while (bind_round(p, false)) {
  }
  find_relations(p);
  return check_bound(p);
}

/* ---- C text ---- */

enum { LEVEL_SUM, LEVEL_PRODUCT, LEVEL_ATOM };

static void print(Project *p, Text *out, Dim x, int level);

static void print_product(Project *p, Text *out, int64_t coefficient, Dim x) {
  if (coefficient != 1) text_printf(out, "%" PRId64, coefficient);
  for (uint32_t i = 0; i < x->n; i++) {
    if (i || coefficient != 1) text_puts(out, " * ");
    print(p, out, x->args[i], LEVEL_ATOM);
  }
}

static void print_sum(Project *p, Text *out, Dim x) {
  for (uint32_t i = 0; i < x->n; i++) {
    Dim a = x->args[i];
    bool minus = a->kind == DIM_PRODUCT && a->value < 0;
    if (i) text_puts(out, minus ? " - " : " + ");
    if (i && minus) print_product(p, out, -a->value, a);
    else print(p, out, a, LEVEL_PRODUCT);
  }
  if (x->value)
    text_printf(out, " %c %" PRIu64, x->value < 0 ? '-' : '+',
                x->value < 0 ? 0 - (uint64_t)x->value : (uint64_t)x->value);
}

/* C's own operators where they agree with rounding down. */
static void print_division(Project *p, Text *out, Dim x) {
  const Dims *d = p->plan->graph->dims;
  bool quotient = x->kind == DIM_FLOORDIV;
  bool plain = dim_range(d, x->args[0]).lo >= 0 && dim_range(d, x->args[1]).lo > 0;
  if (!plain) text_puts(out, quotient ? "floor_div(" : "floor_mod(");
  print(p, out, x->args[0], plain ? LEVEL_ATOM : LEVEL_SUM);
  text_puts(out, !plain ? ", " : quotient ? " / " : " % ");
  print(p, out, x->args[1], plain ? LEVEL_ATOM : LEVEL_SUM);
  if (!plain) text_puts(out, ")");
}

static void print_call(Project *p, Text *out, const char *name, Dim x) {
  text_printf(out, "%s(", name);
  print(p, out, x->args[0], LEVEL_SUM);
  text_puts(out, ", ");
  print(p, out, x->args[1], LEVEL_SUM);
  text_puts(out, ")");
}

static void print_open(Project *p, Text *out, Dim x) {
  BUG_IF(x->kind == DIM_HUGE, "sizes that are too large have been refused");
  switch (x->kind) {
    case DIM_INT: text_printf(out, "%" PRId64, x->value); return;
    case DIM_SYMBOL: text_puts(out, find_symbol(p, x)->name); return;
    case DIM_SUM: print_sum(p, out, x); return;
    case DIM_PRODUCT: print_product(p, out, x->value, x); return;
    case DIM_FLOORDIV:
    case DIM_MOD: print_division(p, out, x); return;
    case DIM_MAX: print_call(p, out, "max", x); return;
    case DIM_MIN: print_call(p, out, "min", x); return;
    case DIM_HUGE: return;
  }
}

/* How tightly the text of x binds. */
static int level_of(Dim x) {
  switch (x->kind) {
    case DIM_INT: return x->value < 0 ? LEVEL_SUM : LEVEL_ATOM;
    case DIM_SUM: return LEVEL_SUM;
    case DIM_PRODUCT:
    case DIM_FLOORDIV:
    case DIM_MOD: return LEVEL_PRODUCT;
    default: return LEVEL_ATOM;
  }
}

static void print(Project *p, Text *out, Dim x, int level) {
  bool close = level_of(x) < level;
  if (close) text_puts(out, "(");
  print_open(p, out, x);
  if (close) text_puts(out, ")");
}

const char *project_size(Project *p, Dim x) {
  Text t = text_new(p->arena);
  print(p, &t, x, LEVEL_SUM);
  return t.data;
}

void project_declare_symbols(Project *p, Text *out, const char *from, const Dim *x, uint32_t n) {
  DimList found = {0};
  const char *separator = "  const int64_t ";
  for (uint32_t i = 0; i < n; i++) collect(p, x[i], &found);
  for (size_t i = 0; i < p->symbols.len; i++)
    for (size_t j = 0; j < found.len; j++) {
      if (found.data[j] != p->symbols.data[i].symbol) continue;
      text_printf(out, "%s%s = %s[%zu]", separator, p->symbols.data[i].name, from, i);
      separator = ", ";
    }
  text_puts(out, found.len ? ";\n" : "");
  if (!found.len && !strcmp(from, "size")) text_puts(out, "  (void)size;\n");
}
