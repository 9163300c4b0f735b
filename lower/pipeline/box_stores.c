/* Stores of tiles in a loop, as boxes of tensors: see bulk.h.
 *
 * The tile goes in parts to two buffers in shared memory in turn, swizzled as the hardware's copies
 * expect it, and one thread starts the copies to global memory.  For each part:
 *
 *   bulk.wait                       until the buffer's part before has been read, and before the
 *                                   first one, until the tile before has been written
 *   st [@box + ...], %tile ; fence ; bulk.store each panel ; bulk.commit
 *
 * The copies replace the exchange between threads that a store by threads needs for whole lines of
 * memory, and run while the next parts and the next tile are computed.  Pass sync inserts the
 * barriers.
 *
 * Nothing orders these copies and other accesses to the tensor by this kernel: there are none, as
 * far as the text tells, and a launch checks that arrays are apart where that matters.  Nor does
 * anything order copies among themselves, and the tiles of two iterations may be in one place. */
#include "lower/lower.h"
#include "lower/nest/nest_access.h"
#include "lower/pipeline/bulk.h"
#include "lower/target/wgmma_layout.h"

enum { MOST_BOX = 256, LEAST_ROW = 32, GROUP_ROWS = 8, BOX_ALIGN = 1024, WIDEST = 4, BUFFERS = 2 };
enum { PART_ROWS = 64 };

typedef struct {
  Unit *u;
  Nest *n;
  Arena *scratch;
  Definitions d;
} Stores;

typedef struct {
  NestStmt *nest, *st;
  NestStmt *give, *take; /* the exchange before it that it replaces, two NESTs; or NULL */
  NestVar *value;        /* what is stored, before the exchange */
  NestStmt *loop;        /* the outermost around it */
  BoxAccess access;
  Layout part;           /* of a part's elements */
  Type tile;             /* a part */
  int cut, parts;        /* an axis, and into how many parts */
  int64_t row;           /* bytes of a panel's row in shared memory */
  NestBuffer *buffers[BUFFERS];
} BoxStore;

/* ---- the value ---- */

static bool is_element(const Ref *r, const NestStmt *nest) {
  if (r->kind != REF_VAR || r->var->tile.rank != 2 || nest->layout->rank != 2) return false;
  for (int a = 0; a < 2; a++) {
    Affine same = affine_index(nest->axes[a], 1);
    if (!r->axes || !affine_eq(&r->axes[a], &same)) return false;
  }
  return true;
}

/* The ST of a nest that stores a variable's tile to global memory, and does nothing else. */
static NestStmt *store_in(const NestStmt *nest) {
  NestStmt *st = nest->code == NEST_NEST ? nest->regions[0]->last : NULL;
  if (!st || st->code != NEST_ST || st->mems[0].buffer || !is_element(&st->srcs[0], nest))
    return NULL;
  if (nest_attr(st, NA_cache) || nest_attr(st, NA_evict)) return NULL;
  for (const NestStmt *x = nest->regions[0]->first; x != st; x = x->next)
    if (x->code != NEST_OP || x->dsts[0].var->tile.rank) return NULL;
  return st->srcs[0].var->dtype == st->type ? st : NULL;
}

/* The one statement of a nest, if it has that code and moves a tile to or from a buffer. */
static NestStmt *lone_access(const NestStmt *nest, NestCode code) {
  NestStmt *st = nest && nest->code == NEST_NEST ? nest->regions[0]->first : NULL;
  if (!st || st->next || st->code != code || !st->mems[0].buffer || st->guard.kind) return NULL;
  const Ref *r = code == NEST_LD ? &st->dsts[0] : &st->srcs[0];
  return !st->mems[0].base.kind && is_element(r, nest) ? st : NULL;
}

static bool same_place(const NestStmt *a, const NestStmt *st, const NestStmt *b,
                       const NestStmt *ld) {
  const Affine *x = &st->mems[0].bytes, *y = &ld->mems[0].bytes;
  for (int i = 0; i < 2; i++)
    if (affine_coef(x, a->axes[i]) != affine_coef(y, b->axes[i])) return false;
  return x->c == y->c && x->n == y->n;
}

/* How often statements of the block read the variable's tile or access the buffer. */
static int count_uses(const NestBlock *b, const NestVar *v, const NestBuffer *buf) {
  int n = 0;
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->nsrcs; i++)
      n += v && st->srcs[i].kind == REF_VAR && st->srcs[i].var == v;
    for (uint32_t i = 0; i < st->nmems; i++) n += buf && st->mems[i].buffer == buf;
    for (uint32_t r = 0; r < st->nregions; r++) n += count_uses(st->regions[r], v, buf);
  }
  return n;
}

/* The exchange by which the stored value came from one in another layout. */
static void find_exchange(const Stores *s, BoxStore *x) {
  const NestStmt *ld = s->d.count[x->value->id] == 1 ? s->d.first[x->value->id] : NULL;
  NestStmt *take = ld ? ld->parent->owner : NULL, *give;
  if (!take || lone_access(take, NEST_LD) != ld || take->parent != x->nest->parent) return;
  NestBuffer *buf = ld->mems[0].buffer;
  if (count_uses(s->n->body, x->value, NULL) != 1 || count_uses(s->n->body, NULL, buf) != 2) return;
  for (give = take->prev; give; give = give->prev) {
    const NestStmt *st = lone_access(give, NEST_ST);
    if (st && st->mems[0].buffer == buf) break;
  }
  const NestStmt *st = give ? lone_access(give, NEST_ST) : NULL;
  NestVar *from = st ? st->srcs[0].var : NULL;
  if (!st || from->dtype != x->value->dtype || !same_place(give, st, take, ld)) return;
  for (const NestStmt *y = give; y != x->nest; y = y->next)
    if (!y || nest_sets(y, from)) return;
  x->give = give;
  x->take = take;
  x->value = from;
}

/* ---- other accesses ---- */

typedef struct {
  const Stores *s;
  const BoxStore *x;
  bool refused;
  VEC(NestVar *) others; /* parameters through which other statements access memory */
} Around;

static void note_root(Around *a, NestVar *root) {
  if (!root || root == a->x->access.map.base) a->refused = true;
  else vec_push(a->s->scratch, &a->others, root);
}

/* Others see the kernel's writes by atomics, or by code that we don't know, which boxes are not
 * ordered with. */
static bool tells_others(const NestStmt *st) {
  unsigned flags = nest_flags(st);
  return flags & NEST_IS_ATOMIC || (st->code == NEST_ASM && flags & NEST_IS_EFFECT) ||
         st->code == NEST_ROLE || st->code == NEST_WHILE;
}

static void look_around(Around *a, const NestBlock *b) {
  for (const NestStmt *st = b->first; st && !a->refused; st = st->next) {
    if (st == a->x->nest) continue;
    a->refused |= tells_others(st);
    bool box = st->code == NEST_BULK_COPY || st->code == NEST_BULK_STORE;
    if (box || (st->nmems && !st->nregions && !st->mems[0].buffer))
      note_root(a, box_root(&a->s->d, st));
    for (uint32_t r = 0; r < st->nregions; r++) look_around(a, st->regions[r]);
  }
}

/* Nothing else accesses the tensor, if the arrays that matter are apart, which a launch checks. */
static bool is_alone(const Stores *s, const BoxStore *x) {
  Around a = {.s = s, .x = x};
  look_around(&a, s->n->body);
  NestVar *base = x->access.map.base;
  for (size_t i = 0; i < a.others.len && !a.refused; i++)
    a.refused |= !nest_assume_noalias(s->n, base, a.others.data[i], false);
  return !a.refused;
}

/* ---- which stores ---- */

/* Finds the outermost loop; false if there is none, or the store is where others may not be. */
static bool find_loop(BoxStore *x) {
  for (NestStmt *st = x->nest->parent->owner; st; st = st->parent->owner) {
    if (st->code != NEST_FOR && st->code != NEST_IF) return false;
    if (st->code == NEST_FOR) x->loop = st;
  }
  return x->loop != NULL;
}

/* The most significant digit of a layout's axis. */
static int top_digit(const Layout *l, int axis) {
  int top = 0;
  while (l->d[top].axis != axis) top++;
  return top;
}

/* Cuts the tile where each thread has elements of all parts: along the contiguous axis into as many
 * parts as there are rows of the swizzled layout side by side, or else along the other one into
 * parts of a warpgroup's rows. */
static void cut_tile(BoxStore *x) {
  const Layout *l = x->value->layout;
  int fast = x->access.fast, top = top_digit(l, fast);
  x->cut = fast;
  x->parts = (int)(l->shape[fast] * (int64_t)dtype_bytes(x->value->dtype) / x->row);
  if (l->d[top].hw != HW_REG) {
    x->cut = 1 - fast;
    top = top_digit(l, x->cut);
    bool groups = l->shape[x->cut] / l->d[top].extent % PART_ROWS == 0;
    x->parts = l->d[top].hw == HW_REG && groups ? l->d[top].extent : 1;
  }
  while (x->parts > 1 && l->d[top].extent % x->parts) x->parts /= 2;
  x->tile = x->value->tile;
  x->tile.dtype = x->value->dtype;
  x->tile.shape[x->cut] /= x->parts;
  x->part = layout_new(&x->tile);
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    layout_push(&x->part, d->axis, (HwDim)d->hw, i == top ? d->extent / x->parts : d->extent,
                d->stride);
  }
  layout_pack_registers(&x->part);
}

/* No digit of the value's layout lies across the end of a panel of so many elements. */
static bool fits_panels(const Layout *l, int axis, int64_t panel) {
  int64_t weight = 1;
  for (int i = l->ndigits; i-- > 0;) {
    if (l->d[i].axis != axis) continue;
    int64_t within = panel > weight ? panel / weight : 1;
    if (panel > weight ? panel % weight : weight % panel) return false;
    if (within < l->d[i].extent && l->d[i].extent % within) return false;
    weight *= l->d[i].extent;
  }
  return true;
}

/* The length of a swizzled row; 0: none is as short as the layout of the value needs it. */
static int64_t row_bytes(const BoxStore *x) {
  enum { MOST_ROW = 128 };
  int64_t size = dtype_bytes(x->value->dtype), bytes = x->value->tile.shape[x->access.fast] * size;
  for (int64_t row = MOST_ROW; row >= LEAST_ROW; row /= 2)
    if (bytes % row == 0 && fits_panels(x->value->layout, x->access.fast, row / size)) return row;
  return 0;
}

/* Shared memory holds the buffers beside all others. */
static bool has_room(const Stores *s, const BoxStore *x) {
  int64_t sum = type_numel(x->tile) * dtype_bytes(x->value->dtype);
  if (x->parts > 1) sum *= BUFFERS;
  const NestBuffer *gone = x->give ? x->give->regions[0]->first->mems[0].buffer : NULL;
  for (uint32_t i = 0; i < s->n->nbuffers; i++)
    if (s->n->buffers[i] != gone) sum += s->n->buffers[i]->bytes;
  return sum <= s->u->machine->shared;
}

static bool has_box(const Stores *s, BoxStore *x) {
  const Type *t = &x->value->tile;
  int64_t size = dtype_bytes(x->value->dtype);
  for (int fast = 1; fast >= 0; fast--) {
    x->access.fast = fast;
    bool rows = t->shape[fast] * size % LEAST_ROW == 0 && t->shape[1 - fast] % GROUP_ROWS == 0;
    if (!rows || t->shape[1 - fast] > MOST_BOX) continue;
    x->row = row_bytes(x);
    if (!x->row || !box_store_access(&x->access, &s->d, x->nest)) continue;
    cut_tile(x);
    return true;
  }
  return false;
}

static bool find_store(const Stores *s, NestStmt *nest, BoxStore *out) {
  NestStmt *st = store_in(nest);
  if (!st || dtype_bytes(st->type) > WIDEST) return false;
  *out = (BoxStore){.nest = nest, .st = st, .value = st->srcs[0].var};
  find_exchange(s, out);
  return find_loop(out) && has_box(s, out) && has_room(s, out) && is_alone(s, out);
}

/* ---- statements ---- */

static NestStmt *wait_for_groups(NestBuilder *b, int groups) {
  NestStmt *st = nest_stmt(b, NEST_BULK_WAIT, 0, 0);
  nest_set_int(b->nest, st, NA_groups, groups);
  return st;
}

/* Until part `p` may take its buffer: the first one when all of the tile before have been written,
 * and so have been read, others when the part that had the buffer before has been read. */
static void wait_for_buffer(NestBuilder *b, int p) {
  if (!p) nest_set_int(b->nest, wait_for_groups(b, 0), NA_written, 1);
  if (p >= BUFFERS) wait_for_groups(b, BUFFERS - 1);
}

static void make_buffers(Nest *n, BoxStore *x) {
  for (int i = 0; i < BUFFERS && i < x->parts; i++) {
    int64_t bytes = type_numel(x->tile) * dtype_bytes(x->value->dtype);
    NestBuffer *buf = nest_buffer(n, "box", x->value->dtype, bytes, BOX_ALIGN);
    buf->tile = x->tile;
    buf->layout = wgmma_panels(&x->tile, x->access.fast, x->row);
    x->buffers[i] = buf;
  }
}

/* Part `p` in its buffer. */
static void give_part(Nest *n, NestBuilder *b, const BoxStore *x, int p) {
  NestVar *v = x->value;
  NestBuffer *buf = x->buffers[p % BUFFERS];
  NestStmt *nest = nest_stmt(b, NEST_NEST, 0, 0);
  Affine at[2];
  nest->layout = nest_layout(n, &x->part);
  nest->axes = ARENA_ARRAY(n->arena, NestIndex *, 2);
  Ref element = ref_var(v);
  element.axes = ARENA_ARRAY(n->arena, Affine, 2);
  for (int a = 0; a < 2; a++) {
    nest->axes[a] = nest_index(n, x->nest->axes[a]->name, x->tile.shape[a]);
    at[a] = element.axes[a] = affine_index(nest->axes[a], 1);
    if (a == x->cut) element.axes[a].c = (int64_t)p * x->tile.shape[a];
  }
  NestBuilder in = {n, nest_block(n, nest), NULL, x->st->span};
  NestStmt *st = nest_stmt(&in, NEST_ST, 0, 1);
  st->type = v->dtype;
  st->srcs[0] = element;
  st->mems[0] = (Mem){buf, ref_none(), nest_buffer_bytes(&buf->layout, at)};
  nest_set_str(n, nest_stmt(b, NEST_FENCE, 0, 0), NA_kind, "proxy");
}

static void store_part(Nest *n, NestBuilder *b, const BoxStore *x, int p, const TensorMap *m) {
  Ref at[MAX_MAP_RANK];
  int panels = x->tile.shape[x->access.fast] / m->axes[0].box;
  for (int i = 0; i < m->rank; i++) at[i] = bulk_coordinate(b, &x->access.at[i], NULL, NULL);
  bool rows = x->cut != x->access.fast;
  if (rows) at[1] = bulk_box(b, &m->axes[1], at[1], p);
  for (int k = 0; k < panels; k++) {
    Ref along = bulk_box(b, &m->axes[0], at[0], rows ? k : p * panels + k);
    NestStmt *st = nest_stmt(b, NEST_BULK_STORE, 0, (uint32_t)m->rank);
    for (int i = 0; i < m->rank; i++) st->srcs[i] = i ? at[i] : along;
    st->mems[0] = (Mem){x->buffers[p % BUFFERS], ref_none(), affine_const(k * nest_map_bytes(m))};
    nest_set_str(n, st, NA_map, m->name);
  }
  /* parts with a buffer each share a group: only the next tile waits for them */
  if (x->parts > BUFFERS || p + 1 == x->parts) nest_stmt(b, NEST_BULK_COMMIT, 0, 0);
}

static void make_store(Nest *n, BoxStore *x) {
  NestBuilder b = {n, x->nest->parent, x->nest, x->st->span};
  NestBuilder after = {n, x->loop->parent, x->loop->next, x->st->span};
  make_buffers(n, x);
  x->access.map.axes[0].box = (int32_t)(x->row / dtype_bytes(x->value->dtype));
  x->access.map.axes[1].box = x->tile.shape[1 - x->access.fast];
  const TensorMap *m = nest_map(n, &x->access.map);
  for (int p = 0; p < x->parts; p++) {
    wait_for_buffer(&b, p);
    give_part(n, &b, x, p);
    store_part(n, &b, x, p, m);
  }
  wait_for_groups(&after, 0);
  if (x->give) {
    nest_remove(x->give);
    nest_remove(x->take);
  }
  nest_remove(x->nest);
}

static bool store_boxes(Stores *s, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    BoxStore x;
    for (uint32_t r = 0; r < st->nregions && st->code != NEST_NEST; r++)
      if (store_boxes(s, st->regions[r])) return true;
    if (!find_store(s, st, &x)) continue;
    make_store(s->n, &x);
    return true;
  }
  return false;
}

void box_stores(Unit *u) {
  for (bool again = true; again;) {
    Stores s = {.u = u, .n = u->nest, .scratch = arena_child(u->arena)};
    definitions_find(&s.d, s.scratch, s.n);
    again = store_boxes(&s, s.n->body);
    arena_free(s.scratch);
  }
}
