/* Loops that add products to blocks of sums: see ProductLoop in c.h.  They become calls.
 *
 * GCC takes as long for such a loop as for the rest of a kernel, and sums that are in memory leave
 * the other loops over them short.  So kernels of a unit share a function for each number of rows
 * and vectors.
 *
 * Where the machine has a unit for tiles, words are multiplied by it: a tile is MACHINE_TILE rows
 * of as many words, of the left operand's rows as they are in memory, of the right one's vectors,
 * which follow each other along k.  That call's helper (prelude_products.c) computes the same by
 * vectors where a process gets no tiles. */
#include <math.h>
#include <string.h>

#include "codegen/c/c.h"

enum { WORD = 4 };

/* Arrays of addresses.  GCC 12 copies some to a place in one by instructions that need 32 bytes of
 * alignment, where the array itself has 16. */
#define ALIGNED "_Alignas(64) "

/* ---- which loops ---- */

/* A statement of the loop, and the unrolled loops around it there. */
typedef struct {
  const NestStmt *s;
  NestIndex *at[2];
  int depth;
} Leaf;

enum { LEAVES = 3 }; /* two loads and an op */

/* Lanes run together, so a barrier is nothing. */
static bool gather_leaves(const NestBlock *b, Leaf at, Leaf *leaves, int *n) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (s->code == NEST_BAR || c_initial_value(s)) continue;
    if (s->code == NEST_UNROLL) {
      Leaf inner = at;
      if (s->nsrcs || at.depth == 2) return false;
      inner.at[inner.depth++] = s->index;
      if (!gather_leaves(s->regions[0], inner, leaves, n)) return false;
      continue;
    }
    if (*n == LEAVES || s->nregions || (s->guard.kind && s->code != NEST_LD)) return false;
    leaves[*n] = at;
    leaves[(*n)++].s = s;
  }
  return true;
}

static bool is_subscript(const Affine *a, const NestIndex *index) {
  if (a->c || a->n != (index ? 1 : 0)) return false;
  return !index || (a->t[0].index == index && a->t[0].coef == 1);
}

static bool is_inside(const NestStmt *s, const NestBlock *b) {
  const NestBlock *at = s->parent;
  while (at && at != b) at = at->owner ? at->owner->parent : NULL;
  return at != NULL;
}

/* Is the op's operand what the load gave?  The loops around each that count its elements, NULL
 * where there is one. */
static bool is_operand(const Leaf *load, const Leaf *op, const Ref *x, NestIndex **of_load,
                       NestIndex **of_op) {
  const Ref *to = &load->s->dsts[0];
  *of_load = load->depth ? load->at[0] : NULL;
  *of_op = NULL;
  if (x->kind != REF_VAR || x->var != to->var || load->depth > 1) return false;
  if (load->depth && is_inside(op->s, load->s->parent)) {
    *of_op = *of_load;
    return affine_eq(&x->sub, &to->sub);
  }
  if (!is_subscript(&to->sub, *of_load)) return false;
  for (int i = 0; load->depth && i < op->depth; i++)
    if (is_subscript(&x->sub, op->at[i])) *of_op = op->at[i];
  return load->depth ? *of_op && (*of_op)->extent == (*of_load)->extent
                     : is_subscript(&x->sub, NULL);
}

static int64_t coefficient(const Affine *a, const NestIndex *index) {
  return index ? affine_coef(a, index) : 0;
}

static bool base_is(const Mem *m, const NestVar *v) {
  return m->base.kind == REF_VAR && m->base.var == v;
}

static bool base_depends_on(const Mem *m, const NestIndex *index) {
  return m->base.kind == REF_VAR && coefficient(&m->base.sub, index);
}

static bool loads_numbers(const NestStmt *s) {
  return s->code == NEST_LD && nest_int(s, NA_n, 1) == 1 && !nest_int(s, NA_volatile, 0);
}

static bool sums_words(const NestStmt *s) { return s->op == TILE_DOT2 || s->op == TILE_DOT4; }

static bool adds_products(const ProductLoop *t) {
  const NestStmt *s = t->product;
  bool real = s->op == TILE_FMA && (s->type == DT_F32 || s->type == DT_F64);
  if (s->code != NEST_OP || (!real && !sums_words(s))) return false;
  const Ref *to = &s->dsts[0], *sum = &s->srcs[2];
  return sum->kind == REF_VAR && sum->var == to->var && affine_eq(&sum->sub, &to->sub) &&
         !affine_coef(&to->sub, t->loop->index);
}

/* False: the loop has other statements. */
static bool find_operands(ProductLoop *t) {
  Leaf leaves[LEAVES];
  int n = 0;
  if (!gather_leaves(t->loop->regions[0], (Leaf){0}, leaves, &n) || n != LEAVES) return false;
  const Leaf *op = &leaves[2];
  t->product = op->s;
  if (!loads_numbers(leaves[0].s) || !loads_numbers(leaves[1].s) || !adds_products(t)) return false;
  const NestVar *first = op->s->srcs[0].kind == REF_VAR ? op->s->srcs[0].var : NULL;
  const Leaf *left = &leaves[leaves[0].s->dsts[0].var != first];
  const Leaf *right = &leaves[left == leaves];
  t->left = left->s;
  t->right = right->s;
  return is_operand(left, op, &op->s->srcs[0], &t->row, &t->sum_row) &&
         is_operand(right, op, &op->s->srcs[1], &t->vector, &t->sum_vector) &&
         op->depth == (t->sum_row != NULL) + (t->sum_vector != NULL) &&
         (!t->sum_row || t->sum_row != t->sum_vector) && left->s->type == op->s->type &&
         right->s->type == op->s->type;
}

static int extent_of(const NestIndex *index) { return index ? index->extent : 1; }

/* A row's numbers are the same in all lanes; vectors are neighbours, as their sums are, of which
 * each row has its own. */
static bool has_vectors(const Gen *g, const ProductLoop *t) {
  const NestIndex *k = t->loop->index;
  const Mem *a = &t->left->mems[0], *b = &t->right->mems[0];
  const Affine *sum = &t->product->dsts[0].sub;
  int64_t bytes = dtype_bytes(t->product->type);
  Spread at = c_mem_spread(g, b);
  bool fixed = !base_depends_on(a, k) && !base_depends_on(b, k) && !base_depends_on(b, t->vector);
  bool beside = !t->vector || (affine_coef(&b->bytes, t->vector) == bytes * g->nest->lanes &&
                               affine_coef(sum, t->sum_vector) == 1);
  bool apart = !t->sum_row || affine_coef(sum, t->sum_row) >= extent_of(t->vector);
  return fixed && apart && beside && c_uniform(c_mem_spread(g, a)) && at.kind == SPREAD_LINEAR &&
         at.step == bytes && g->spread[t->product->dsts[0].var->id].kind == SPREAD_VECTOR;
}

/* Rows whose guard does not hold are zeros, of which there are so many bytes (nereid_zeros). */
enum { ZEROS = 4096 };

static bool is_zero(const NestStmt *x) {
  return x->srcs[0].kind == REF_FLOAT && x->srcs[0].f == 0 && !signbit(x->srcs[0].f);
}

static bool has_guards(const ProductLoop *t) { return t->left->guard.kind != REF_NONE; }

/* Has the left load alone a guard, which tells for each row whether it is zeros? */
static bool guards_rows(const Gen *g, const ProductLoop *t) {
  const NestIndex *k = t->loop->index;
  const Ref *guard = &t->left->guard;
  if (t->right->guard.kind || t->product->guard.kind) return false;
  if (!has_guards(t)) return true;
  int64_t reach = affine_coef(&t->left->mems[0].bytes, k) * k->extent;
  return guard->kind == REF_VAR && c_uniform(g->spread[guard->var->id]) &&
         !affine_coef(&guard->sub, k) && t->left->prev && c_initial_value(t->left->prev) &&
         is_zero(t->left->prev) && reach >= 0 && reach <= ZEROS;
}

static uint32_t occurrences(const NestBlock *b, const NestVar *v) {
  uint32_t n = 0;
  for (const NestStmt *s = b->first; s; s = s->next) {
    for (uint32_t i = 0; i < s->ndsts; i++) n += s->dsts[i].var == v;
    for (uint32_t i = 0; i < s->nsrcs; i++) n += s->srcs[i].kind == REF_VAR && s->srcs[i].var == v;
    for (uint32_t i = 0; i < s->nmems; i++) n += base_is(&s->mems[i], v);
    n += s->guard.kind == REF_VAR && s->guard.var == v;
    for (uint32_t r = 0; r < s->nregions; r++) n += occurrences(s->regions[r], v);
  }
  return n;
}

/* Nothing else reads the words that were loaded. */
static bool is_only_reader(const Gen *g, const ProductLoop *t) {
  enum { HERE = 2 };
  const NestVar *left = t->left->dsts[0].var, *right = t->right->dsts[0].var;
  return left != right && occurrences(g->nest->body, left) == (has_guards(t) ? HERE + 1 : HERE) &&
         occurrences(g->nest->body, right) == HERE;
}

/* Few products are written out, and blocks that registers do not hold. */
static bool is_called(const Gen *g, const ProductLoop *t) {
  if (t->tiles) return true;
  int sums = extent_of(t->row) * extent_of(t->vector);
  int least = sums_words(t->product) ? MACHINE_CALLED_WORDS : MACHINE_CALLED_STEPS;
  return t->loop->index->extent >= least && sums > 1 && sums < g->regs;
}

bool c_product_loop(const Gen *g, const NestStmt *loop, ProductLoop *t) {
  if (g->owners || loop->code != NEST_SERIAL || loop->nsrcs) return false;
  *t = (ProductLoop){.loop = loop};
  if (!find_operands(t) || !guards_rows(g, t)) return false;
  if (!has_vectors(g, t) || !is_only_reader(g, t)) return false;
  t->tiles = g->tiles && sums_words(t->product) && loop->index->extent >= MACHINE_TILE &&
             extent_of(t->row) >= MACHINE_TILED_ROWS &&
             affine_coef(&t->left->mems[0].bytes, loop->index) == WORD && !has_guards(t);
  return is_called(g, t);
}

/* ---- loops around them ---- */

/* A call's addresses fit a thread's stack; the vectors of blocks are read again from the nearest
 * cache. */
enum { STEPS_MOST = 16, ADDRESSES_MOST = 1024, NEAR_BYTES = 24 << 10 };

static const NestStmt *last_of(const NestBlock *b) {
  const NestStmt *last = NULL;
  for (const NestStmt *s = b->first; s; s = s->next)
    if (s->code != NEST_BAR) last = s;
  return last;
}

static const NestStmt *only_of(const NestBlock *b) {
  const NestStmt *last = last_of(b);
  for (const NestStmt *s = b->first; s; s = s->next)
    if (s->code != NEST_BAR && s != last) return NULL;
  return last;
}

/* Do the statements before `end` compute values alone, without the variable? */
static bool computes(const NestBlock *b, const NestStmt *end, const NestVar *v) {
  for (const NestStmt *s = b->first; s && s != end; s = s->next) {
    bool plain = s->code == NEST_OP || s->code == NEST_MOV || s->code == NEST_LANE ||
                 s->code == NEST_BAR || (s->code == NEST_UNROLL && !s->nsrcs) ||
                 (s->code == NEST_LD && !nest_int(s, NA_volatile, 0));
    if (!plain) return false;
    for (uint32_t r = 0; r < s->nregions; r++)
      if (!computes(s->regions[r], NULL, v)) return false;
    for (uint32_t i = 0; i < s->ndsts; i++)
      if (s->dsts[i].var == v) return false;
    for (uint32_t i = 0; i < s->nsrcs; i++)
      if (s->srcs[i].kind == REF_VAR && s->srcs[i].var == v) return false;
  }
  return true;
}

static bool has_pointer(const Mem *m) { return !m->buffer && m->base.kind == REF_VAR; }

/* A load with guards has the address of each row, or of the zeros. */
static int pointers_of(const ProductLoop *t, const NestStmt *load) {
  bool rows = load == t->left && has_guards(t);
  return rows ? extent_of(t->row) : (int)load->mems[0].base.var->count;
}

static int steps_of_call(const ProductLoop *t, int64_t blocks, int lanes) {
  int64_t vector = (int64_t)dtype_bytes(t->product->type) * lanes;
  int64_t near = vector * extent_of(t->vector) * t->loop->index->extent;
  int pointers = pointers_of(t, t->left) + pointers_of(t, t->right), steps = STEPS_MOST;
  while (steps > 1 && (steps * pointers > ADDRESSES_MOST ||
                       (blocks > 1 && steps * near > NEAR_BYTES)))
    steps--;
  return steps;
}

/* False: the NEST_FOR is another loop. */
static bool find_steps(const Gen *g, const NestStmt *loop, ProductSteps *out) {
  const NestBlock *body = loop->regions[0];
  const NestStmt *at = out->last = last_of(body);
  int64_t blocks = 1;
  ProductLoop *t = &out->product;
  while (at && at->code == NEST_SERIAL && !at->nsrcs && !c_product_loop(g, at, t)) {
    blocks *= at->index->extent;
    at = only_of(at->regions[0]);
  }
  if (!at || at->code != NEST_SERIAL || at->nsrcs || t->tiles) return false;
  if (!has_pointer(&t->left->mems[0]) || !has_pointer(&t->right->mems[0])) return false;
  if (has_guards(t) && blocks > 1) return false;
  if (!computes(body, out->last, t->product->dsts[0].var)) return false;
  out->most = steps_of_call(t, blocks, g->nest->lanes);
  out->calls = false;
  return out->most > 1;
}

static void open_steps(Gen *g, ProductSteps *t) {
  t->left = c_open_name(g, "left");
  t->right = c_open_name(g, "right");
  t->count = c_open_name(g, "count");
  c_line(g, "{");
  g->depth++;
  c_line(g, ALIGNED "char *%s[%d], *%s[%d];", t->left,
         t->most * pointers_of(&t->product, t->product.left), t->right,
         t->most * pointers_of(&t->product, t->product.right));
  c_line(g, "int %s = 0;", t->count);
}

static void keep_pointers(Gen *g, const ProductSteps *t, const char *to, const NestStmt *load) {
  const NestVar *v = load->mems[0].base.var;
  const char *name = g->names[v->id], *i = c_open_name(g, "i");
  int n = pointers_of(&t->product, load);
  if (n == 1) c_line(g, "%s[%s] = %s;", to, t->count, c_ref_name(g, &load->mems[0].base));
  else
    c_line(g, "for (int %s = 0; %s < %d; %s++) %s[%d * %s + %s] = %s[%s];", i, i, n, i, to, n,
           t->count, i, name, i);
  c_close_names(g, 1);
}

/* The address of a row at k = 0, or of zeros. */
static const char *row_address(Gen *g, const ProductLoop *t) {
  Mem m = t->left->mems[0];
  affine_drop(&m.bytes, t->loop->index);
  const char *address = c_address(g, &m, false);
  if (!has_guards(t)) return address;
  return c_text(g, "%s ? %s : (char *)nereid_zeros", c_scalar(g, &t->left->guard, DT_I1), address);
}

static void keep_rows(Gen *g, const ProductSteps *t) {
  const ProductLoop *p = &t->product;
  if (!p->row) {
    c_line(g, "%s[%s] = %s;", t->left, t->count, row_address(g, p));
    return;
  }
  const char *i = c_open_index(g, p->row);
  int n = p->row->extent;
  c_line(g, "for (int %s = 0; %s < %d; %s++) %s[%d * %s + %s] = %s;", i, i, n, i, t->left, n,
         t->count, i, row_address(g, p));
  c_close_index(g, p->row);
}

/* Puts `within`: does any row of a block have numbers?  A block of zeros alone, as are those of
 * positions of windows outside of an image, adds nothing.  False: all blocks have numbers. */
static bool put_within(Gen *g, const ProductLoop *t, const char *within) {
  if (!has_guards(t) || c_sums(g, t->loop)) return false;
  if (!t->row) {
    c_line(g, "const bool %s = %s;", within, c_scalar(g, &t->left->guard, DT_I1));
    return true;
  }
  const char *i = c_open_index(g, t->row);
  c_line(g, "bool %s = false;", within);
  c_line(g, "for (int %s = 0; %s < %d; %s++) %s |= %s;", i, i, t->row->extent, i, within,
         c_scalar(g, &t->left->guard, DT_I1));
  c_close_index(g, t->row);
  return true;
}

void c_for(Gen *g, const NestStmt *s) {
  enum { NAMES = 3 };
  ProductSteps steps, *around = g->steps;
  bool found = find_steps(g, s, &steps);
  g->steps = found ? &steps : NULL;
  if (found) open_steps(g, &steps);
  c_counter_loop(g, s);
  g->steps = around;
  if (!found) return;
  g->depth--;
  c_line(g, "}");
  c_close_names(g, NAMES);
}

/* Keeps an iteration's addresses, and calls after several iterations, or the last one. */
static void put_steps(Gen *g, const NestStmt *s) {
  ProductSteps *t = g->steps, calls = *t;
  calls.calls = true;
  if (has_guards(&t->product)) keep_rows(g, t);
  else keep_pointers(g, t, t->left, t->product.left);
  keep_pointers(g, t, t->right, t->product.right);
  const char *within = c_open_name(g, "within");
  if (put_within(g, &t->product, within)) {
    c_line(g, "%s += %s;", t->count, within);
    c_line(g, "if (%s < %d && %s) continue;", t->count, t->most, t->more);
  } else {
    c_line(g, "if (++%s < %d && %s) continue;", t->count, t->most, t->more);
  }
  c_close_names(g, 1);
  g->steps = &calls;
  c_serial(g, s);
  g->steps = t;
  c_line(g, "%s = 0;", t->count);
}

/* ---- the call ---- */

/* The address for the first vector, at k = 0. */
static const char *right_address(Gen *g, const ProductLoop *t) {
  Mem m = t->right->mems[0];
  affine_drop(&m.bytes, t->loop->index);
  if (t->vector) affine_drop(&m.bytes, t->vector);
  return c_address(g, &m, false);
}

/* The address of a load at k = 0 and `other` = 0, of a kept iteration. */
static const char *kept_address(Gen *g, const ProductLoop *t, const NestStmt *load,
                                const NestIndex *other, const char *kept, const char *step) {
  Mem m = load->mems[0];
  affine_drop(&m.bytes, t->loop->index);
  if (other) affine_drop(&m.bytes, other);
  return c_text(g, "%s[%d * %s + %s] + (%s)", kept, pointers_of(t, load), step,
                c_affine(g, &m.base.sub), c_affine(g, &m.bytes));
}

/* The addresses of all iterations that were kept, as the call takes them. */
static void put_kept(Gen *g, const ProductLoop *t, const char *rows, const char *vectors) {
  const ProductSteps *kept = g->steps;
  const int n = t->row ? t->row->extent : 1;
  const char *step = c_open_name(g, "step"), *i = t->row ? c_open_index(g, t->row) : NULL;
  c_line(g, ALIGNED "char *%s[%d], *%s[%d];", rows, kept->most * n, vectors, kept->most);
  c_line(g, "for (int %s = 0; %s < %s; %s++) {", step, step, kept->count, step);
  g->depth++;
  c_line(g, "%s[%s] = %s;", vectors, step,
         kept_address(g, t, t->right, t->vector, kept->right, step));
  const char *address =
      has_guards(t) ? c_text(g, "%s[%d * %s + %s]", kept->left, n, step, i ? i : "0")
                    : kept_address(g, t, t->left, NULL, kept->left, step);
  if (i)
    c_line(g, "for (int %s = 0; %s < %d; %s++) %s[%d * %s + %s] = %s;", i, i, n, i, rows, n, step,
           i, address);
  else c_line(g, "%s[%s] = %s;", rows, step, address);
  g->depth--;
  c_line(g, "}");
  if (i) c_close_index(g, t->row);
  c_close_names(g, 1);
}

static const char *first_sum(Gen *g, const ProductLoop *t) {
  Ref r = t->product->dsts[0];
  if (t->sum_row) affine_drop(&r.sub, t->sum_row);
  if (t->sum_vector) affine_drop(&r.sub, t->sum_vector);
  return c_ref_name(g, &r);
}

/* The addresses of all rows at k = 0. */
static void put_rows(Gen *g, const ProductLoop *t, const char *rows) {
  c_line(g, ALIGNED "char *%s[%d];", rows, extent_of(t->row));
  if (!t->row) {
    c_line(g, "%s[0] = %s;", rows, row_address(g, t));
    return;
  }
  const char *i = c_open_index(g, t->row);
  c_line(g, "for (int %s = 0; %s < %d; %s++) %s[%s] = %s;", i, i, t->row->extent, i, rows, i,
         row_address(g, t));
  c_close_index(g, t->row);
}

/* The loop around this one that takes the same vectors again, for other rows; NULL: none does. */
static const NestStmt *repeating_loop(const ProductLoop *t) {
  const Mem *right = &t->right->mems[0];
  const NestStmt *at = t->loop->parent->owner;
  for (; at && at->code == NEST_SERIAL; at = at->parent->owner)
    if (at->index->extent > 1 && !affine_coef(&right->bytes, at->index) &&
        !base_depends_on(right, at->index))
      return at;
  return NULL;
}

/* Depends the address on the index of a loop around this one, up to the last of them? */
static bool mentions_loops(const Mem *m, const NestStmt *loop, const NestStmt *last) {
  bool any = false;
  for (const NestStmt *at = loop; at != last && !any;) {
    at = at->parent->owner;
    any = affine_coef(&m->bytes, at->index) || base_depends_on(m, at->index);
  }
  return any;
}

/* The call, for the addresses of rows and, in the order of the parameters, other numbers. */
static void call_tiles(Gen *g, const ProductLoop *t, const char *rows) {
  const Affine *sum = &t->product->dsts[0].sub, *bytes = &t->right->mems[0].bytes;
  const int64_t vector = WORD * g->nest->lanes;
  c_line(g, "tiles_%s_i32(&(TileProduct){", tile_op_name(t->product->op));
  c_line(g, "    .rows = %d, .vectors = %d, .depth = %d, .left = %s,", extent_of(t->row),
         extent_of(t->vector), t->loop->index->extent, rows);
  c_line(g, "    .right = %s, .right_row = %lld, .right_vector = %lld,", right_address(g, t),
         (long long)affine_coef(bytes, t->loop->index), (long long)coefficient(bytes, t->vector));
  c_line(g, "    .sums = (char *)&%s, .sums_row = %lld, .sums_vector = %lld,", first_sum(g, t),
         (long long)(vector * coefficient(sum, t->sum_row)),
         (long long)(vector * coefficient(sum, t->sum_vector)));
  bool once = extent_of(t->row) <= 2 * MACHINE_TILE; /* the vectors are taken again for more rows */
  bool streams = once && !t->right->mems[0].buffer && !repeating_loop(t);
  c_line(g, "    .streams = %s, .near = %s, .shape = &tiles%s});", streams ? "true" : "false",
         t->right->mems[0].buffer ? "true" : "false", c_sums(g, t->loop) ? ", .made = true" : "");
  g->multiplies_tiles = true;
}

/* Steps that are known when the function is compiled take no registers in it. */
typedef struct {
  long long sums_row, left, right_row;
} BlockSteps;

static BlockSteps steps_of(const Gen *g, const ProductLoop *t) {
  const NestIndex *k = t->loop->index;
  const int64_t vector = (int64_t)dtype_bytes(t->product->type) * g->nest->lanes;
  return (BlockSteps){vector * coefficient(&t->product->dsts[0].sub, t->sum_row),
                      affine_coef(&t->left->mems[0].bytes, k),
                      affine_coef(&t->right->mems[0].bytes, k)};
}

static const char *step_name(Gen *g, long long step) {
  return step < 0 ? c_text(g, "m%lld", -step) : c_text(g, "%lld", step);
}

/* How far ahead words are asked for that few rows take from memory, so that they wait for them;
 * 0: they are not. */
static int words_ahead(const Gen *g, const ProductLoop *t) {
  enum { AHEAD = 1 << 14, ROWS_MOST = 2 };
  bool waits = extent_of(t->row) <= ROWS_MOST && !t->right->mems[0].buffer;
  return g->far_streams && waits ? AHEAD : 0;
}

/* Lines that blocks ask for together, each for its share, one for each `every` numbers, so that
 * memory has as long as all blocks: those that follow a part of memory which all of them read. */
typedef struct {
  const NestIndex *block;
  const Mem *mem;      /* the load of the part, */
  int64_t part, share; /* its bytes, and those of a block's share */
  int every;           /* 0: nothing is asked for */
} NextPart;

static NextPart share_part(const ProductLoop *t, const NestStmt *blocks, const Mem *m,
                           int64_t part) {
  enum { LINE = 64 };
  int64_t count = blocks->index->extent, lines = (part / LINE + count - 1) / count;
  int64_t depth = t->loop->index->extent;
  NextPart next = {blocks->index, m, part, lines * LINE, 1};
  while (2 * next.every * lines <= depth) next.every *= 2;
  return next;
}

/* Vectors that several blocks of rows take are a part of a panel that the second cache holds.  The
 * part after it, or the next panel's first one, comes from beyond. */
static NextPart next_of_panel(const Gen *g, const ProductLoop *t) {
  enum { PART_LEAST = 1 << 15 };
  const NestStmt *blocks = g->steps && g->steps->calls ? NULL : repeating_loop(t);
  const Mem *right = &t->right->mems[0];
  int64_t row = affine_coef(&right->bytes, t->loop->index), depth = t->loop->index->extent;
  int64_t vector = (int64_t)dtype_bytes(t->product->type) * g->nest->lanes;
  bool panel = blocks && !right->buffer && row == vector * extent_of(t->vector);
  if (!panel || row * depth < PART_LEAST) return (NextPart){.every = 0};
  return share_part(t, blocks, right, row * depth);
}

/* Bytes of the rows of all blocks, if these have no gaps in some order of numbers, rows and blocks;
 * else 0. */
static int64_t dense_bytes(const ProductLoop *t, const NestIndex *block) {
  const Mem *m = &t->left->mems[0];
  const NestIndex *const at[] = {t->loop->index, t->row, block};
  int64_t reach = dtype_bytes(t->left->type);
  for (int n = 0; n < 3; n++)
    for (int i = 0; i < 3; i++)
      if (at[i] && at[i]->extent > 1 && affine_coef(&m->bytes, at[i]) == reach) {
        reach *= at[i]->extent;
        break;
      }
  int64_t all = dtype_bytes(t->left->type);
  for (int i = 0; i < 3; i++) all *= extent_of(at[i]);
  return reach == all ? all : 0;
}

/* Blocks of rows of memory, as keys and values are, in a loop that goes on after them. */
static NextPart next_of_rows(const Gen *g, const ProductLoop *t) {
  enum { PART_LEAST = 1 << 13 };
  const NestStmt *blocks = t->loop->parent->owner, *around = blocks ? blocks->parent->owner : NULL;
  const Mem *left = &t->left->mems[0];
  bool rows = g->far_streams && !g->steps && blocks && blocks->code == NEST_SERIAL &&
              !blocks->nsrcs && around && around->code == NEST_FOR && !left->buffer &&
              t->right->mems[0].buffer && !has_guards(t);
  int64_t part = rows ? dense_bytes(t, blocks->index) : 0;
  return part < PART_LEAST ? (NextPart){.every = 0} : share_part(t, blocks, left, part);
}

static NextPart next_part(const Gen *g, const ProductLoop *t) {
  NextPart next = next_of_panel(g, t);
  return next.every ? next : next_of_rows(g, t);
}

/* Sums are added to a tile, made from zeros, or stored at once: the forms of prelude_products.c. */
typedef enum { SUMS_ADDED, SUMS_MADE, SUMS_STORED } SumsKind;
static const struct {
  const char *name, *suffix;
} sums_kinds[] = {{"ADDED", ""}, {"MADE", "_made"}, {"STORED", "_stored"}};

static SumsKind sums_kind(const Gen *g, const ProductLoop *t) {
  const ProductSums *sums = c_sums(g, t->loop);
  return !sums ? SUMS_ADDED : sums->store ? SUMS_STORED : SUMS_MADE;
}

/* Bytes between rows of sums, or the function that stores them. */
static const char *place_of_sums(Gen *g, const ProductLoop *t, SumsKind kind) {
  return kind == SUMS_STORED ? c_text(g, "vstream_%s", dtype_name(t->product->type))
                             : c_text(g, "%lld", steps_of(g, t).sums_row);
}

static void note_function(Gen *g, const char *text) {
  for (size_t i = 0; i < g->functions.len; i++)
    if (!strcmp(g->functions.data[i], text)) return;
  vec_push(g->arena, &g->functions, text);
}

/* The function's name, as no user's is; its definition is noted. */
static const char *function_of(Gen *g, const ProductLoop *t) {
  const SumsKind kind = sums_kind(g, t);
  const NestStmt *s = t->product;
  const BlockSteps steps = steps_of(g, t);
  const char *type = dtype_name(s->type), *op = tile_op_name(s->op);
  int rows = extent_of(t->row), vectors = extent_of(t->vector), ahead = words_ahead(g, t);
  int every = next_part(g, t).every;
  const char *place = kind == SUMS_STORED ? "" : c_text(g, "_%s", step_name(g, steps.sums_row));
  const char *next = every ? c_text(g, "_next%d", every) : "";
  const char *name = c_text(g, "nereid_%s_%s_%dx%d%s_%s_%s%s%s%s%s", op, type, rows, vectors, place,
                            step_name(g, steps.left), step_name(g, steps.right_row),
                            ahead ? "_ahead" : "", next, g->less ? "_more" : "",
                            sums_kinds[kind].suffix);
  const char *block = s->op != TILE_DOT4 ? "SUMS" : g->less ? "MORE_BYTES" : "BYTES";
  const char *text =
      c_text(g,
             "#ifndef NEREID_HAS_%s\n"
             "#define NEREID_HAS_%s\n"
             "BLOCK_OF_%s(%s, %s, %d, %d, %s, %lld, %lld, %d, %d,\n"
             "    %s, load_%s, vload_kept_%s, vsplat_%s, v%s_%s)\n"
             "#endif\n",
             name, name, block, sums_kinds[kind].name, name, rows, vectors,
             place_of_sums(g, t, kind), steps.left, steps.right_row, ahead, every,
             c_vector_type(s->type), type, type, type, op, type);
  note_function(g, text);
  return name;
}

void c_product_functions(Gen *g, Text *out) {
  for (size_t i = 0; i < g->functions.len; i++) text_puts(out, g->functions.data[i]);
}

/* The address of the block's share of the next part; 0: it asks for none. */
static const char *next_lines(Gen *g, const ProductLoop *t) {
  const NextPart next = next_part(g, t);
  if (!next.every) return "0";
  const Affine at = affine_index((NestIndex *)next.block, next.share);
  Mem m = *next.mem;
  const NestIndex *const own[] = {t->loop->index, t->vector, t->row, next.block};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (own[i]) affine_drop(&m.bytes, own[i]);
  return c_text(g, "%s + %lld + %s", c_address(g, &m, false), (long long)next.part,
                c_affine(g, &at));
}

static void call_block(Gen *g, const ProductLoop *t, const char *rows, const char *vectors,
                       const char *steps) {
  const char *to = g->results ? g->results : c_text(g, "(char *)&%s", first_sum(g, t));
  const char *less = g->less ? c_text(g, ", %s", g->less) : "";
  c_line(g, "%s(%s, %s, %s, %s, %d, %s%s);", function_of(g, t), to, rows, vectors, steps,
         t->loop->index->extent, next_lines(g, t), less);
}

static bool is_only(Affine a, const NestIndex *index, const NestIndex *other) {
  affine_drop(&a, index);
  if (other) affine_drop(&a, other);
  return !a.c && !a.n;
}

/* Are the kept addresses those that the call takes? */
static bool takes_kept(const ProductLoop *t) {
  const Mem *left = &t->left->mems[0], *right = &t->right->mems[0];
  bool rows = pointers_of(t, t->left) == extent_of(t->row) &&
              is_subscript(&left->base.sub, t->row) && is_only(left->bytes, t->loop->index, NULL);
  return (rows || has_guards(t)) && pointers_of(t, t->right) == 1 &&
         is_only(right->bytes, t->loop->index, t->vector);
}

static void call_steps(Gen *g, const ProductLoop *t, const char *rows) {
  const char *vectors = c_open_name(g, "vectors");
  bool kept = g->steps && g->steps->calls;
  if (kept && takes_kept(t)) {
    call_block(g, t, g->steps->left, g->steps->right, g->steps->count);
  } else if (kept) {
    put_kept(g, t, rows, vectors);
    call_block(g, t, rows, vectors, g->steps->count);
  } else {
    put_rows(g, t, rows);
    c_line(g, "char *const %s = %s;", vectors, right_address(g, t));
    const char *within = c_open_name(g, "within");
    if (put_within(g, t, within)) c_line(g, "if (%s)", within);
    c_close_names(g, 1);
    call_block(g, t, rows, c_text(g, "&%s", vectors), "1");
  }
  c_close_names(g, 1);
}

static void put_call(Gen *g, const ProductLoop *t) {
  const char *rows = c_open_name(g, "rows");
  c_line(g, "{");
  g->depth++;
  if (t->tiles) {
    put_rows(g, t, rows);
    call_tiles(g, t, rows);
  } else {
    call_steps(g, t, rows);
  }
  g->depth--;
  c_line(g, "}");
  c_close_names(g, 1);
  g->block += c_count_blocks(t->loop->regions[0]);
}

/* The addresses of rows of results. */
static void put_results(Gen *g, const ProductSums *sums, const char *results) {
  const NestStmt *st = sums->st;
  Mem m = st->mems[0];
  if (sums->vector) affine_drop(&m.bytes, sums->vector);
  const char *i = sums->row ? c_open_index(g, sums->row) : "0";
  const char *address = c_address(g, &m, false);
  if (st->guard.kind)
    address = c_text(g, "%s ? %s : (char *)0", c_scalar(g, &st->guard, DT_I1), address);
  c_line(g, ALIGNED "char *%s[%d];", results, sums->row ? sums->row->extent : 1);
  if (!sums->row) c_line(g, "%s[0] = %s;", results, address);
  else c_line(g, "for (int %s = 0; %s < %d; %s++) %s[%s] = %s;", i, i, sums->row->extent, i,
              results, i, address);
  if (sums->row) c_close_index(g, sums->row);
}

/* The call of a loop whose sums are stored. */
static void put_stored(Gen *g, const ProductLoop *t, const ProductSums *sums) {
  uint32_t block = g->block;
  const char *results = c_open_name(g, "results");
  c_line(g, "{");
  g->depth++;
  put_results(g, sums, results);
  g->results = c_text(g, "%s, %s", results, c_streams(g, sums->st) ? "stream" : "false");
  put_call(g, t);
  g->results = NULL;
  g->depth--;
  c_line(g, "}");
  c_close_names(g, 1);
  g->block = block;
}

/* ---- what bytes take off ---- */

/* Is it a loop over nothing but blocks of rows of bytes, which all take the same vectors? */
static bool shares_bytes(const Gen *g, const NestStmt *s, ProductLoop *t) {
  const NestStmt *at = s;
  bool found = false;
  if (g->less || g->steps || s->nsrcs) return false;
  while (at && at->code == NEST_SERIAL && !at->nsrcs && !found) {
    at = only_of(at->regions[0]);
    found = at && c_product_loop(g, at, t);
  }
  return found && !t->tiles && t->product->op == TILE_DOT4 && repeating_loop(t) &&
         !mentions_loops(&t->right->mems[0], t->loop, s);
}

/* The name of the function that computes what is taken off, which is noted. */
static const char *less_function(Gen *g, const ProductLoop *t) {
  const long long row = steps_of(g, t).right_row;
  const int vectors = extent_of(t->vector);
  const char *name = c_text(g, "nereid_less_%d_%s", vectors, step_name(g, row));
  note_function(g, c_text(g,
                          "#ifndef NEREID_HAS_%s\n"
                          "#define NEREID_HAS_%s\n"
                          "LESS_OF(%s, %d, %lld, vi32, vload_kept_i32, vsplat_i32)\n"
                          "#endif\n",
                          name, name, name, vectors, row));
  return name;
}

/* All blocks are given what the first one would compute. */
static void put_shared(Gen *g, const NestStmt *s, const ProductLoop *t) {
  const char *less = c_open_name(g, "less"), *vectors = c_open_name(g, "vectors");
  c_line(g, "{");
  g->depth++;
  c_line(g, "vi32 %s[%d];", less, extent_of(t->vector));
  c_line(g, "char *const %s = %s;", vectors, right_address(g, t));
  c_line(g, "%s(%s, &%s, 1, %d);", less_function(g, t), less, vectors, t->loop->index->extent);
  g->less = less;
  c_counted_loop(g, s);
  g->less = NULL;
  g->depth--;
  c_line(g, "}");
  c_close_names(g, 2);
}

void c_serial(Gen *g, const NestStmt *s) {
  ProductLoop t;
  const ProductSums *sums = c_sums(g, s);
  if (sums && sums->store && c_product_loop(g, s, &t)) put_stored(g, &t, sums);
  else if (g->steps && !g->steps->calls && g->steps->last == s) put_steps(g, s);
  else if (c_product_loop(g, s, &t)) put_call(g, &t);
  else if (shares_bytes(g, s, &t)) put_shared(g, s, &t);
  else c_counted_loop(g, s);
}

/* A tile of 16 rows by 16 words by a vector: 16 cycles, and as long for its operands, which come
 * from the third cache or memory: products of BERT-base took 25 to 30 ns on a Sapphire Rapids. */
double c_tiles_ns(const ProductLoop *t) {
  const double PRODUCT_NS = 20, CALL_NS = 60;
  double tiles = ceil((double)extent_of(t->row) / MACHINE_TILE) * extent_of(t->vector);
  return CALL_NS + PRODUCT_NS * tiles * ceil((double)t->loop->index->extent / MACHINE_TILE);
}
