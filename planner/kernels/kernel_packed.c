/* Right operands of products that the kernel computes where it would load them. */
#include <string.h>

#include "graph/analysis/gather.h"
#include "planner/kernels/kernel_product.h"

enum {
  RADICES_MAX = 6,
  TILE_AXIS_MAX = 256 /* elements of a tile along the sum or the columns */
};

/* ---- the indices at which memory is read ---- */

typedef struct {
  Kernel *k;
  VEC(Dim) loads; /* offsets of elements in their tensors */
} Reads;

static void note_reads(Reads *r, Node *n, const Dim *index);

typedef struct {
  Reads *r;
  const Node *user;
  const Dim *index;
} Reach;

static void reach_operand(Node **operand, void *ctx) {
  const Reach *x = ctx;
  Dim at[GRAPH_RANK_MAX];
  if ((*operand)->type.kind != VALUE_TENSOR) return;
  broadcast_index(x->r->k->graph, x->user, x->index, *operand, at);
  note_reads(x->r, *operand, at);
}

static void note_gather(Reads *r, Node *n, const Dim *index) {
  Gather x;
  gather_of(r->k->graph, n, index, &x);
  for (uint32_t i = 0; i < x.n; i++) note_reads(r, x.by[i].index, x.by[i].element);
}

static void note_sources(Reads *r, Node *n, const Dim *index) {
  ConcatSources p = concat_sources(r->k->graph, n, index);
  for (uint32_t i = 0; i < p.n; i++) note_reads(r, p.items[i].operand, p.items[i].index);
}

static void note_reads(Reads *r, Node *n, const Dim *index) {
  Kernel *k = r->k;
  if (kernel_loads(k, n)) {
    Dim at = linear_of_index(k->graph->dims, index, n->type.shape, n->type.rank);
    vec_push(k->arena, &r->loads, at);
    return;
  }
  if (prim_is_view(n)) {
    Dim from[GRAPH_RANK_MAX];
    view_index(k->graph, n, index, from);
    note_reads(r, view_operand(n), from);
    return;
  }
  Reach x = {r, n, index};
  switch (prim_kind(n->op)) {
    case PRIM_CREATE: return;
    case PRIM_GATHER: note_gather(r, n, index); return;
    case PRIM_CONCAT: note_sources(r, n, index); return;
    default: graph_each_use(n, reach_operand, &x);
  }
}

/* ---- digits ---- */

/* An axis of the tile, from the lowest digit.  Digit i counts steps of place[i], and is below
 * place[i + 1] / place[i], the last one below what is left. */
typedef struct {
  Dim symbol; /* the index along the whole axis */
  const char *name, *block;
  uint32_t n;
  int64_t place[RADICES_MAX];
  Dim digit[RADICES_MAX];
} Digits;

static bool mentions(Dim x, Dim symbol) {
  if (x == symbol) return true;
  for (uint32_t i = 0; i < x->n; i++)
    if (mentions(x->args[i], symbol)) return true;
  return false;
}

/* By how much the symbol grows where x grows by `by`; 0: not known. */
static int64_t growth(Dim x, Dim symbol, int64_t by) {
  if (x == symbol) return by;
  uint32_t i = 0;
  while (i < x->n && !mentions(x->args[i], symbol)) i++;
  if (i == x->n || by > INT32_MAX) return 0;
  switch (x->kind) {
    case DIM_SUM: return growth(x->args[i], symbol, by);
    case DIM_PRODUCT:
      return x->n == 1 && x->value > 0 && by % x->value == 0
                 ? growth(x->args[0], symbol, by / x->value)
                 : 0;
    case DIM_FLOORDIV:
      return i == 0 && dim_is_int(x->args[1]) ? growth(x->args[0], symbol, by * x->args[1]->value)
                                              : 0;
    case DIM_MOD: return i == 0 ? growth(x->args[0], symbol, by) : 0;
    default: return 0;
  }
}

static void add_place(Digits *d, int64_t place) {
  uint32_t i = 0;
  while (i < d->n && d->place[i] < place) i++;
  if ((i < d->n && d->place[i] == place) || d->n == RADICES_MAX) return;
  for (uint32_t j = d->n++; j > i; j--) d->place[j] = d->place[j - 1];
  d->place[i] = place;
}

static bool is_power_of_2(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/* Indices are divided where a load's neighbors share an element. */
static void find_places(Digits *d, const Dims *dims, Dim x) {
  bool divides = x->kind == DIM_FLOORDIV || x->kind == DIM_MOD;
  if (divides && dim_is_int(x->args[1])) {
    int64_t place = growth(x->args[0], d->symbol, x->args[1]->value);
    bool whole = place > 1 && is_power_of_2(place) && place <= TILE_AXIS_MAX;
    if (whole && dim_divisible(dim_index_size(dims, d->symbol), place)) add_place(d, place);
  }
  for (uint32_t i = 0; i < x->n; i++)
    if (mentions(x->args[i], d->symbol)) find_places(d, dims, x->args[i]);
}

/* The index as a sum of digits, which get new symbols. */
static Dim index_of_digits(Kernel *k, Digits *d) {
  Dims *dims = k->graph->dims;
  Dim sum = dim_int(dims, 0), size = dim_index_size(dims, d->symbol);
  for (uint32_t i = 0; i < d->n; i++) {
    bool last = i + 1 == d->n;
    Dim count = last ? dim_floordiv(dims, dim_add(dims, size, dim_int(dims, d->place[i] - 1)),
                                    dim_int(dims, d->place[i]))
                     : dim_int(dims, d->place[i + 1] / d->place[i]);
    const char *name = arena_printf(k->arena, "%s%u", d->name, i);
    d->digit[i] = dim_shared_index(dims, name, count);
    sum = dim_add(dims, sum, dim_mul(dims, d->digit[i], dim_int(dims, d->place[i])));
  }
  return sum;
}

/* Does every load depend on both digits, or on none of them? */
static bool go_together(const Reads *r, Dim a, Dim b) {
  for (size_t i = 0; i < r->loads.len; i++)
    if (mentions(r->loads.data[i], a) != mentions(r->loads.data[i], b)) return false;
  return true;
}

/* Joins neighbors that no load tells apart. */
static bool join_digits(Digits *d, const Reads *r) {
  uint32_t n = 1;
  for (uint32_t i = 1; i < d->n; i++)
    if (!go_together(r, d->digit[i - 1], d->digit[i])) d->place[n++] = d->place[i];
  bool joined = n < d->n;
  d->n = n;
  return joined;
}

typedef struct {
  Kernel *k;
  Node *right;
  Dim batch;
  Digits axes[2]; /* of the sum, and of columns */
  Dim index[2];
} Packed;

static Reads reads_of(Packed *p) {
  Reads r = {.k = p->k};
  Dim index[] = {p->batch, p->index[0], p->index[1]};
  note_reads(&r, p->right, index + (p->right->type.rank == 2));
  return r;
}

static void cut_into_digits(Packed *p) {
  Reads r = reads_of(p);
  for (int a = 0; a < 2; a++)
    for (size_t i = 0; i < r.loads.len; i++)
      find_places(&p->axes[a], p->k->graph->dims, r.loads.data[i]);
  bool joined = true;
  for (int rounds = 0; joined && rounds < 2; rounds++) {
    for (int a = 0; a < 2; a++) p->index[a] = index_of_digits(p->k, &p->axes[a]);
    r = reads_of(p);
    joined = join_digits(&p->axes[0], &r);
    joined |= join_digits(&p->axes[1], &r);
  }
}

/* ---- text ---- */

/* [None, :, None], with the colon at `axis`. */
static const char *subscript(Arena *a, uint32_t axis, uint32_t rank) {
  Text t = text_new(a);
  for (uint32_t i = 0; i < rank; i++)
    text_printf(&t, "%s%s", i ? ", " : "[", i == axis ? ":" : "None");
  text_puts(&t, "]");
  return t.data;
}

static const char *extent_name(Kernel *k, const Digits *d, uint32_t i) {
  return arena_printf(k->arena, "%c%u", d->block[1], i);
}

static void print_extents(Kernel *k, Text *out, const Digits *d) {
  for (uint32_t i = 0; i < d->n; i++) {
    long long place = d->place[i], size = i + 1 < d->n ? d->place[i + 1] / place : 0;
    text_printf(out, "    %s: tl.constexpr = ", extent_name(k, d, i));
    if (size) text_printf(out, "min(%lld, ", size);
    text_printf(out, place == 1 ? "%s" : "max(1, %s // %lld)", d->block, place);
    text_puts(out, size ? ")\n" : "\n");
  }
}

/* Lines that give each digit its indices in a tile that begins at `first`; the highest digit is the
 * first axis. */
static void print_indices(Kernel *k, Text *out, const Digits *d, const char *first, uint32_t before,
                          uint32_t rank, const char *indent) {
  for (uint32_t i = 0; i < d->n; i++) {
    long long place = d->place[i];
    const char *at = subscript(k->arena, before + d->n - 1 - i, rank);
    text_printf(out, "%s%s%u = %s", indent, d->name, i, first);
    if (place > 1) text_printf(out, " // %lld", place);
    if (i + 1 < d->n) text_printf(out, " %% %lld", (long long)d->place[i + 1] / place);
    text_printf(out, " + tl.arange(0, %s)%s%s\n", extent_name(k, d, i), at, kernel_wide(k));
  }
}

static const char *tile_shape(Packed *p) {
  Text t = text_new(p->k->arena);
  for (int a = 0; a < 2; a++)
    for (uint32_t i = p->axes[a].n; i-- > 0;)
      text_printf(&t, "%s%s", t.len ? ", " : "[", extent_name(p->k, &p->axes[a], i));
  text_puts(&t, "]");
  return t.data;
}

/* Is the axis made of whole tiles, whatever their sizes? */
static bool is_whole(Dim size) { return dim_divisible(size, TILE_AXIS_MAX); }

/* The masks of tiles at the edges, which loads have. */
static void print_masks(Packed *p, Text *out) {
  static const char *const names[] = {"within", "beside"};
  Kernel *k = p->k;
  const char *mask[2];
  for (int a = 0; a < 2; a++) {
    Dim size = dim_index_size(k->graph->dims, p->axes[a].symbol);
    mask[a] = is_whole(size) ? NULL : names[a];
    if (mask[a])
      text_printf(out, "        %s = %s < %s\n", mask[a], kernel_index(k, p->index[a], NULL),
                  kernel_index(k, size, NULL));
  }
  const char *both = mask[0] && mask[1] ? "within & beside" : mask[0] ? mask[0] : mask[1];
  const char *const all[] = {NULL, mask[0], mask[1], both};
  for (unsigned axes = 0; axes < 8; axes++) k->masks[axes] = all[axes & 3];
}

/* The lines that compute the tile. */
static const char *tile_values(Packed *p, const char *shape) {
  Kernel *k = p->k;
  Text before = k->body;
  const char *masks[8];
  memcpy(masks, k->masks, sizeof masks);
  size_t taken = k->taken.len, memo = k->memo.len;
  int indent = k->indent;
  k->body = text_new(k->arena);
  k->indent = 8;
  print_masks(p, &k->body);
  Dim index[] = {p->batch, p->index[0], p->index[1]};
  Value v = kernel_value(k, p->right, index + (p->right->type.rank == 2));
  const char *text = kernel_cast(k, v, p->right->type.dtype), *mask = k->masks[AXIS_M];
  kernel_line(k, "weight = tl.broadcast_to(%s, %s)", text, shape);
  if (mask) kernel_line(k, "weight = tl.where(%s, weight, 0.0)", mask);
  text = k->body.data;
  k->body = before;
  k->indent = indent;
  k->memo.len = memo;
  kernel_forget(k, taken);
  memcpy(k->masks, masks, sizeof masks);
  return text;
}

PackedTile packed_tile(Kernel *k, Node *right, Dim batch, Dim kb, Dim column) {
  Packed p = {.k = k, .right = right, .batch = batch, .index = {kb, column}};
  p.axes[0] = (Digits){.symbol = kb, .name = "k", .block = "BK", .n = 1, .place = {1}};
  p.axes[1] = (Digits){.symbol = column, .name = "n", .block = "BN", .n = 1, .place = {1}};
  cut_into_digits(&p);
  uint32_t rank = p.axes[0].n + p.axes[1].n;
  Text sizes = text_new(k->arena), indices = text_new(k->arena);
  for (int a = 0; a < 2; a++) {
    print_extents(k, &sizes, &p.axes[a]);
    for (uint32_t i = 0; i < p.axes[a].n; i++)
      kernel_bind(k, p.axes[a].digit[i], arena_printf(k->arena, "%s%u", p.axes[a].name, i),
                  a ? AXIS_N : AXIS_M);
  }
  print_indices(k, &sizes, &p.axes[1], "first", p.axes[0].n, rank, "    ");
  print_indices(k, &indices, &p.axes[0], "start", 0, rank, "        ");
  const char *shape = tile_shape(&p);
  return (PackedTile){sizes.data, indices.data, tile_values(&p, shape)};
}
