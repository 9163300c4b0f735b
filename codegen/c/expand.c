/* Which counted loops the C compiler is told to unroll.
 *
 * It should unroll a loop early if its copies then index variables that fit into registers.  A loop
 * with more copies than registers, or with more statements in all, takes longer to compile and runs
 * no faster; the same holds for a loop that prints.
 *
 * An array that a loop which is not unrolled indexes is in memory, so unrolling other loops over it
 * keeps nothing in registers.  Such a loop is not unrolled either, unless
 *
 *   - it has few iterations;
 *   - a loop around it goes over the same elements again and again, and could keep them in
 *     registers for as long as it runs;
 *   - it indexes an array that other loops, which are unrolled, keep in registers. */
#include "codegen/c/c.h"

/* Statements of an unrolled loop, in all; iterations of a loop left rolled for its arrays' sake. */
enum { STATEMENTS_MOST = 96, ROLLED_LEAST = 3 };

/* A loop and an array that it indexes. */
typedef struct {
  const NestStmt *loop;
  const NestVar *array;
} Indexing;

typedef struct {
  Gen *g;
  bool *rolled;    /* by index id: may be left as it is */
  bool *in_memory; /* by variable id */
  bool *met, *carried;   /* by variable id: a loop that began after it was met adds to it */
  const NestStmt **home; /* by variable id: the running loop in which it is met first */
  VEC(Indexing) all;
} Arrays;

/* n of them in each iteration of an unrolled loop, up to one more than are counted. */
static int64_t in_all(const NestStmt *s, int64_t n) {
  const int64_t most = STATEMENTS_MOST;
  return n > most || n * s->index->extent > most ? most + 1 : n * s->index->extent;
}

static int64_t copies(const NestStmt *s) {
  int64_t most = 1;
  for (const NestStmt *x = s->regions[0]->first; x && most <= STATEMENTS_MOST; x = x->next) {
    int64_t n = x->code == NEST_UNROLL ? copies(x) : 1;
    if (n > most) most = n;
  }
  return in_all(s, most);
}

static int64_t statements(const NestStmt *s) {
  bool large = s->code == NEST_PRINT || s->code == NEST_ASM;
  int64_t n = large ? STATEMENTS_MOST : 0;
  for (uint32_t r = 0; r < s->nregions; r++)
    for (const NestStmt *x = s->regions[r]->first; x && n <= STATEMENTS_MOST; x = x->next)
      n += statements(x);
  return s->code == NEST_UNROLL ? in_all(s, n) : n + 1;
}

static bool fits_registers(const Gen *g, const NestStmt *s) {
  return s->code == NEST_UNROLL && !s->nsrcs && copies(s) <= g->regs &&
         statements(s) <= STATEMENTS_MOST;
}

/* ---- arrays and the loops that index them ---- */

static bool is_counted(const NestStmt *s) {
  return s->code == NEST_UNROLL || s->code == NEST_SERIAL;
}

static bool has_index(const Affine *a, const NestIndex *index) {
  for (uint32_t i = 0; i < a->n; i++)
    if (a->t[i].index == index) return true;
  return false;
}

/* The innermost loop around the statement that is not unrolled; NULL: there is none. */
static const NestStmt *running_loop(const Arrays *w, const NestBlock *b) {
  for (; b->owner; b = b->owner->parent) {
    const NestStmt *s = b->owner;
    if (is_counted(s) ? !w->g->expanded[s->index->id] : nest_flags(s) & NEST_IS_LOOP) return s;
  }
  return NULL;
}

/* Sums of products, of several vectors, to which a loop adds are in registers only if GCC unrolls
 * the loops over them before it looks at variables, as it does from -O2 on.  (Other sums wait for
 * memory.) */
static void note_carried(Arrays *w, const NestVar *v, const NestStmt *running, bool adds) {
  const uint32_t id = v->id;
  if (!w->met[id]) w->home[id] = running;
  w->met[id] = true;
  if (!adds || !running || running == w->home[id]) return;
  w->carried[id] = true;
}

static void note_array(Arrays *w, const Ref *r, const NestStmt *at, bool adds) {
  if (r->kind != REF_VAR || r->var->count == 1) return;
  const NestStmt *running = running_loop(w, at->parent);
  note_carried(w, r->var, running, adds);
  const bool again = running && !(is_counted(running) && has_index(&r->sub, running->index));
  for (const NestBlock *b = at->parent; b->owner; b = b->owner->parent) {
    const NestStmt *loop = b->owner;
    if (!is_counted(loop) || !has_index(&r->sub, loop->index)) continue;
    const Indexing x = {loop, r->var};
    vec_push(w->g->arena, &w->all, x);
    if (again) w->rolled[loop->index->id] = false;
    if (!w->g->expanded[loop->index->id] && loop->index->extent >= ROLLED_LEAST)
      w->in_memory[r->var->id] = true;
  }
}

/* A call has the addresses of its sums and of arrays of rows. */
static bool note_call(Arrays *w, const NestStmt *s) {
  ProductLoop p;
  if (!c_product_loop(w->g, s, &p)) return false;
  const Ref *rows = &p.left->mems[0].base, *vectors = &p.right->mems[0].base;
  const Ref *guard = &p.left->guard;
  w->in_memory[p.product->dsts[0].var->id] = true;
  if (guard->kind == REF_VAR) w->in_memory[guard->var->id] = true;
  if (rows->kind == REF_VAR) w->in_memory[rows->var->id] = true;
  if (vectors->kind == REF_VAR) w->in_memory[vectors->var->id] = true;
  return true;
}

static void note_arrays(Arrays *w, const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (note_call(w, s)) continue;
    for (uint32_t i = 0; i < s->ndsts; i++) note_array(w, &s->dsts[i], s, s->op == TILE_FMA);
    for (uint32_t i = 0; i < s->nsrcs; i++) note_array(w, &s->srcs[i], s, false);
    for (uint32_t i = 0; i < s->nmems; i++) note_array(w, &s->mems[i].base, s, false);
    note_array(w, &s->guard, s, false);
    for (uint32_t r = 0; r < s->nregions; r++) note_arrays(w, s->regions[r]);
  }
}

/* ---- deciding ---- */

static void find_fitting(Arrays *w, const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (is_counted(s)) {
      w->g->expanded[s->index->id] = fits_registers(w->g, s);
      w->rolled[s->index->id] = s->index->extent >= ROLLED_LEAST;
    }
    for (uint32_t r = 0; r < s->nregions; r++) find_fitting(w, s->regions[r]);
  }
}

/* Only loops over some array in memory gain by it. */
static void keep_loops_over_memory(Arrays *w) {
  bool *over = ARENA_ARRAY(w->g->arena, bool, w->g->nest->nindices);
  for (size_t i = 0; i < w->all.len; i++)
    if (w->in_memory[w->all.data[i].array->id]) over[w->all.data[i].loop->index->id] = true;
  for (uint32_t i = 0; i < w->g->nest->nindices; i++) w->rolled[i] = w->rolled[i] && over[i];
}

/* An array that an unrolled loop keeps in registers holds all loops over it. */
static bool hold_registers(Arrays *w) {
  bool *kept = ARENA_ARRAY(w->g->arena, bool, w->g->nest->nvars), changed = false;
  for (size_t i = 0; i < w->all.len; i++) {
    const Indexing *x = &w->all.data[i];
    bool vectors = w->g->spread[x->array->id].kind == SPREAD_VECTOR;
    if (vectors && !w->in_memory[x->array->id] && !w->rolled[x->loop->index->id])
      kept[x->array->id] = true;
  }
  for (size_t i = 0; i < w->all.len; i++) {
    bool *rolled = &w->rolled[w->all.data[i].loop->index->id];
    if (!*rolled || !kept[w->all.data[i].array->id]) continue;
    *rolled = false;
    changed = true;
  }
  return changed;
}

/* Is there a carried array of vectors that unrolled loops alone index? */
static bool holds_sums(const Arrays *w) {
  const Gen *g = w->g;
  bool holds = false;
  for (size_t i = 0; i < w->all.len && !holds; i++) {
    const NestVar *v = w->all.data[i].array;
    holds = w->carried[v->id] && !w->in_memory[v->id] && g->spread[v->id].kind == SPREAD_VECTOR &&
            g->expanded[w->all.data[i].loop->index->id];
  }
  return holds;
}

void c_find_expanded(Gen *g) {
  Arrays w = {.g = g,
              .rolled = ARENA_ARRAY(g->arena, bool, g->nest->nindices),
              .in_memory = ARENA_ARRAY(g->arena, bool, g->nest->nvars),
              .met = ARENA_ARRAY(g->arena, bool, g->nest->nvars),
              .carried = ARENA_ARRAY(g->arena, bool, g->nest->nvars),
              .home = ARENA_ARRAY(g->arena, const NestStmt *, g->nest->nvars)};
  g->expanded = ARENA_ARRAY(g->arena, bool, g->nest->nindices);
  find_fitting(&w, g->nest->body);
  note_arrays(&w, g->nest->body);
  keep_loops_over_memory(&w);
  while (hold_registers(&w)) continue;
  for (uint32_t i = 0; i < g->nest->nindices; i++) g->expanded[i] = g->expanded[i] && !w.rolled[i];
  g->holds_sums = holds_sums(&w);
}
