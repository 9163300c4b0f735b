/* Right operands of products that the kernel computes where it would load them. */
#include <string.h>

#include "graph/analysis/gather.h"
#include "planner/kernels/kernel_fields.h"
#include "planner/kernels/kernel_product.h"
#include "tiling/tiling.h"

enum { RADICES_MAX = 8, PLACE_MOST = 256 };

/* ---- the indices at which memory is read ---- */

typedef struct {
  Kernel *k;
  VEC(Dim) loads; /* offsets of elements in their tensors */
  Dim most;       /* that of the tensor with most bytes */
  double bytes, elements; /* of that */
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

static void note_load(Reads *r, const Node *n, Dim at) {
  Dim elements = value_numel(r->k->graph, &n->type);
  double bytes = dim_is_int(elements) ? (double)elements->value * dtype_bytes(n->type.dtype) : 0;
  vec_push(r->k->arena, &r->loads, at);
  if (bytes <= r->bytes) return;
  r->most = at;
  r->bytes = bytes;
  r->elements = (double)elements->value;
}

static void note_reads(Reads *r, Node *n, const Dim *index) {
  Kernel *k = r->k;
  if (kernel_loads(k, n)) {
    note_load(r, n, linear_of_index(k->graph->dims, index, n->type.shape, n->type.rank));
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
  char letter; /* of its extents' names */
  uint32_t n;
  int64_t place[RADICES_MAX];
  Dim digit[RADICES_MAX];
  uint32_t axis[RADICES_MAX]; /* of the tile */
} Digits;

/* The symbol's growth where x grows by `by`; 0: not known. */
static int64_t growth(Dim x, Dim symbol, int64_t by) {
  if (x == symbol) return by;
  uint32_t i = 0;
  while (i < x->n && !dim_mentions(x->args[i], symbol)) i++;
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
    bool whole = place > 1 && is_power_of_2(place) && place <= PLACE_MOST;
    if (whole && dim_divisible(dim_index_size(dims, d->symbol), place)) add_place(d, place);
  }
  for (uint32_t i = 0; i < x->n; i++)
    if (dim_mentions(x->args[i], d->symbol)) find_places(d, dims, x->args[i]);
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
    if (dim_mentions(r->loads.data[i], a) != dim_mentions(r->loads.data[i], b)) return false;
  return true;
}

/* The most that the offset changes by where the digit does by 1. */
static double stride_of(Dim x, Dim digit) {
  double most = 0;
  if (x == digit) return 1;
  for (uint32_t i = 0; i < x->n; i++) {
    double stride = stride_of(x->args[i], digit);
    if (stride > most) most = stride;
  }
  if (x->kind == DIM_PRODUCT) return most * (double)x->value;
  bool divides = x->kind == DIM_FLOORDIV && dim_is_int(x->args[1]);
  return divides ? most / (double)x->args[1]->value : most;
}

/* Is memory as far apart along the digit as it is along the one below it? */
static bool is_even(const Reads *r, const Digits *d, uint32_t i) {
  if (!r->most) return true;
  double below = stride_of(r->most, d->digit[i - 1]), stride = stride_of(r->most, d->digit[i]);
  return stride * (double)d->place[i - 1] == below * (double)d->place[i];
}

/* Joins neighbors that no load tells apart. */
static bool join_digits(Digits *d, const Reads *r) {
  uint32_t n = 1;
  for (uint32_t i = 1; i < d->n; i++)
    if (!go_together(r, d->digit[i - 1], d->digit[i]) || !is_even(r, d, i))
      d->place[n++] = d->place[i];
  bool joined = n < d->n;
  d->n = n;
  return joined;
}

typedef struct {
  Kernel *k;
  Node *right, *row; /* row: the left operand, of one row that threads multiply; or NULL */
  Dim batch;
  Digits axes[2]; /* of the sum, and of columns */
  Dim index[2];
  bool fields;         /* the weight is computed of fields */
  FieldForm form, low; /* of it, and where the pair's digit is 0 */
  FieldPair pair;
  bool few;        /* rows: each thread has its part of the instructions' operands */
  Digits parts[2]; /* few: the same axes, cut further */
  uint32_t order[2][RADICES_MAX]; /* and their order in the matrices, the most significant first */
  bool one;     /* few: there is one row, ... */
  FieldSum sum; /* ... whose products with fields are summed up and multiplied; or NULL */
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

/* ---- fields ---- */

/* The growth of the sum x with the digit; 0: not the same everywhere. */
static int64_t coefficient(Dim x, Dim digit) {
  if (x == digit) return 1;
  if (x->kind == DIM_PRODUCT && x->n == 1) return x->value * coefficient(x->args[0], digit);
  for (uint32_t i = 0; x->kind == DIM_SUM && i < x->n; i++)
    if (dim_mentions(x->args[i], digit)) return coefficient(x->args[i], digit);
  return 0;
}

static bool read_form(Packed *p, Dim sum, Dim column, FieldForm *form) {
  Dim index[] = {p->batch, sum, column};
  return fields_form(p->k, p->right, index + (p->right->type.rank == 2), form);
}

/* Takes digit i of axis a as the pair's, if nothing but the shift of a word depends on it. */
static void take_pair(Packed *p, int a, uint32_t i, int64_t apart) {
  Dims *d = p->k->graph->dims;
  Digits *x = &p->axes[a];
  Dim digit = x->digit[i], at[] = {p->index[0], p->index[1]};
  at[a] = dim_sub(d, at[a], dim_mul(d, digit, dim_int(d, x->place[i])));
  if (!read_form(p, at[0], at[1], &p->low) || !p->form.shift || !p->low.shift) return;
  Dim grows = dim_sub(d, p->form.shift, p->low.shift);
  bool alone = grows == dim_mul(d, digit, dim_int(d, apart)) &&
               fields_same_element(&p->form.word, &p->low.word);
  bool in_byte = p->low.word.node->type.dtype == DT_U8 && dim_is(p->low.shift, 0) &&
                 p->form.mask < 1 << apart && apart <= 8;
  bool in_word = dtype_bits(p->low.word.node->type.dtype) == 32 && apart == FIELD_BITS;
  if (alone && (in_byte || in_word)) p->pair = (FieldPair){.digit = digit, .apart = apart};
}

/* A table's numbers are chosen for two bytes at once, which are neighbors along the next digit.
 * Without it they are loaded one by one. */
static void take_bytes(Packed *p, const Digits *x, uint32_t i) {
  bool next = p->pair.apart == 4 && i + 1 < x->n && x->place[i + 1] == 2 * x->place[i];
  Dim size = next ? dim_index_size(p->k->graph->dims, x->digit[i + 1]) : NULL;
  if (size && dim_divisible(size, 2)) p->pair.second = x->digit[i + 1];
  else p->pair = (FieldPair){0};
}

/* Without such fields, those at the same place of two words that are neighbors along the sum. */
static void pair_words(Packed *p) {
  Digits *x = &p->axes[0];
  Dim size = dim_index_size(p->k->graph->dims, x->digit[0]);
  bool splits = p->fields && !p->form.table && dim_divisible(size, 2) &&
                dtype_bits(p->form.masked.node->type.dtype) == 32;
  if (!splits || (p->form.shift && dim_mentions(p->form.shift, x->digit[0]))) return;
  uint32_t n = x->n;
  add_place(x, 2 * x->place[0]);
  if (x->n == n && !dim_is(size, 2)) return;
  for (int a = 0; a < 2; a++) p->index[a] = index_of_digits(p->k, &p->axes[a]);
  p->fields = read_form(p, p->index[0], p->index[1], &p->form);
  p->pair = (FieldPair){.digit = x->digit[0]};
}

/* Cuts the digit of a word's fields in two, the upper one of which moves the shift by 16; that of
 * a byte's fields has two values. */
static void find_pair(Packed *p) {
  p->fields = read_form(p, p->index[0], p->index[1], &p->form);
  if (!p->fields || !p->form.shift) return;
  for (int a = 0; a < 2; a++)
    for (uint32_t i = 0; i < p->axes[a].n; i++) {
      Digits *x = &p->axes[a];
      int64_t grows = coefficient(p->form.shift, x->digit[i]);
      Dim size = dim_index_size(p->k->graph->dims, x->digit[i]);
      if (grows <= 0 || !dim_is_int(size) || size->value * grows > 2 * FIELD_BITS) continue;
      int64_t step = size->value / 2;
      uint32_t n = x->n;
      if (size->value % 2) continue;
      add_place(x, x->place[i] * step);
      if (step > 1 && x->n == n) return;
      for (int b = 0; b < 2; b++) p->index[b] = index_of_digits(p->k, &p->axes[b]);
      p->fields = read_form(p, p->index[0], p->index[1], &p->form);
      take_pair(p, a, i + (step > 1), step * grows);
      if (p->pair.digit && p->form.table) take_bytes(p, x, i + (step > 1));
      if (p->pair.digit) return;
    }
}

static uint32_t tile_rank(const Packed *p) { return p->axes[0].n + p->axes[1].n; }

/* Where the digits are too many for a tile, elements are computed one by one. */
static void keep_rank(Packed *p) {
  if (tile_rank(p) <= MAX_RANK) return;
  p->pair = (FieldPair){0};
  for (int a = 0; a < 2; a++) {
    p->axes[a].n = 1;
    p->index[a] = index_of_digits(p->k, &p->axes[a]);
  }
  p->fields = read_form(p, p->index[0], p->index[1], &p->form);
}

static void find_pairs(Packed *p, bool few) {
  find_pair(p);
  if (few && !p->pair.digit) pair_words(p);
  keep_rank(p);
}

/* ---- the order of axes ---- */

/* The axes get the order of what most bytes are loaded of: so neighbors in a warp are neighbors in
 * memory.  Digits of the sum come before those of columns where that does not decide. */
static void order_axes(Packed *p) {
  Reads r = reads_of(p);
  struct {
    uint32_t *axis;
    double stride;
  } list[2 * RADICES_MAX];
  uint32_t n = 0;
  for (int a = 0; a < 2; a++)
    for (uint32_t i = p->axes[a].n; i-- > 0;) {
      Dim digit = p->axes[a].digit[i];
      double stride = r.most ? stride_of(r.most, digit) : 0;
      if (digit == p->pair.digit) stride = -2;
      if (digit == p->pair.second) stride = -1;
      uint32_t at = n++;
      for (; at > 0 && list[at - 1].stride < stride; at--) list[at] = list[at - 1];
      list[at].axis = &p->axes[a].axis[i];
      list[at].stride = stride;
    }
  for (uint32_t i = 0; i < n; i++) *list[i].axis = i;
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
  return arena_printf(k->arena, "%c%u", d->letter, i);
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

/* Lines that give each digit its indices in a tile that begins at `first`, a multiple of its size.
 */
static void print_indices(Kernel *k, Text *out, const Digits *d, const char *first, uint32_t rank,
                          const char *indent) {
  for (uint32_t i = 0; i < d->n; i++) {
    long long place = d->place[i], past = i + 1 < d->n ? d->place[i + 1] : 0;
    const char *at = subscript(k->arena, d->axis[i], rank);
    text_printf(out, "%s%s%u = ", indent, d->name, i);
    if (past) text_puts(out, "(");
    text_puts(out, first);
    if (place > 1) text_printf(out, " // %lld", place);
    if (past) text_printf(out, " %% %lld if %s < %lld else 0)", past / place, d->block, past);
    text_printf(out, " + tl.arange(0, %s)%s%s\n", extent_name(k, d, i), at, kernel_wide(k));
  }
}

/* Does the field depend on the digit? */
static bool depends_on(const FieldForm *f, Dim digit) {
  bool depends = f->shift && dim_mentions(f->shift, digit);
  const Element *of = f->shift ? &f->word : &f->masked;
  for (uint32_t i = 0; i < of->node->type.rank; i++) depends |= dim_mentions(of->at[i], digit);
  return depends;
}

/* Of the whole tile, or, where `of` is there, of a part that depends on it alone; `halved`: the
 * last axis but one becomes two, the second of two elements, instead of the last one. */
static const char *tile_shape(Packed *p, const FieldForm *of, bool halved) {
  const char *names[2 * RADICES_MAX];
  Text t = text_new(p->k->arena);
  for (int a = 0; a < 2; a++)
    for (uint32_t i = 0; i < p->axes[a].n; i++) {
      bool has = !of || depends_on(of, p->axes[a].digit[i]);
      names[p->axes[a].axis[i]] = has ? extent_name(p->k, &p->axes[a], i) : "1";
    }
  uint32_t rank = tile_rank(p) - halved;
  for (uint32_t i = 0; i < rank; i++) text_printf(&t, "%s%s", i ? ", " : "[", names[i]);
  if (halved) text_puts(&t, " // 2, 2");
  text_puts(&t, "]");
  return t.data;
}

/* The tile as one of BK by BN elements. */
static const char *as_matrix(Packed *p, const char *tile) {
  Text order = text_new(p->k->arena);
  uint32_t next = 0;
  bool same = true;
  for (int a = 0; a < 2; a++)
    for (uint32_t i = p->axes[a].n; i-- > 0; next++) {
      same &= p->axes[a].axis[i] == next;
      text_printf(&order, "%s%u", next ? ", " : "", p->axes[a].axis[i]);
    }
  if (!same) tile = arena_printf(p->k->arena, "tl.permute(%s, [%s])", tile, order.data);
  return arena_printf(p->k->arena, "tl.reshape(%s, [BK, BN])", tile);
}

/* Is the axis made of whole tiles? */
static bool is_whole(const Packed *p, int a) {
  Dim size = dim_index_size(p->k->graph->dims, p->axes[a].symbol);
  return dim_is_int(size) && tiling_packed_most(size->value, a);
}

static void print_mask(Packed *p, Text *out, int a, const char *indent) {
  Kernel *k = p->k;
  Dim size = dim_index_size(k->graph->dims, p->axes[a].symbol);
  if (!is_whole(p, a))
    text_printf(out, "%s%s = %s < %s\n", indent, a ? "beside" : "within",
                kernel_index(k, p->index[a], NULL), kernel_index(k, size, NULL));
}

/* The indices of the step at `at`. */
static void print_step(Packed *p, Text *out, const char *at, const char *indent) {
  print_indices(p->k, out, &p->axes[0], at, tile_rank(p), indent);
  print_mask(p, out, 0, indent);
}

static void bind_digits(Packed *p) {
  for (int a = 0; a < 2; a++) {
    const Digits *d = &p->axes[a];
    for (uint32_t i = 0; i < d->n; i++)
      kernel_bind(p->k, d->digit[i], arena_printf(p->k->arena, "%s%u", d->name, i),
                  a ? AXIS_N : AXIS_M);
  }
}

/* ---- operands of instructions ---- */

/* A matrix instruction for 16 rows, 16 of the sum and 8 columns: of a column a thread has pairs
 * along the sum, four threads those beside each other, and eight have the columns.  In whatever
 * order a step's elements are added up, and columns are, a word's fields stay where they are
 * loaded if they are the pair, or belong to other instructions. */
enum { PAIR = 2, PAIR_THREADS = 4, COLUMN_THREADS = 8, SEGMENT = 128 };

/* Which parts those are; -1: the order of an axis is its own. */
typedef struct {
  int pair, pair_threads, column_threads;
} Roles;

static int find_place(const Digits *d, int64_t place) {
  for (uint32_t i = 0; i < d->n; i++)
    if (d->place[i] == place) return (int)i;
  return -1;
}

/* Does the place of a field in its element depend on the digit? */
static bool is_field(const Packed *p, int a, uint32_t i) {
  Dim digit = p->axes[a].digit[i];
  return p->fields && p->form.shift &&
         (digit == p->pair.digit || dim_mentions(p->form.shift, digit));
}

static int lowest_element(const Packed *p, int a) {
  for (uint32_t i = 0; i < p->axes[a].n; i++)
    if (!is_field(p, a, i)) return (int)i;
  return -1;
}

/* Elements along the digit that a thread loads at once. */
static int64_t run_of(Packed *p, uint32_t digit) {
  enum { CHUNK = 16 };
  Reads r = reads_of(p);
  double stride = r.most ? stride_of(r.most, p->axes[0].digit[digit]) : 0;
  double bytes = r.most ? r.bytes / r.elements : CHUNK;
  return stride == 1 && bytes < 4 ? (int64_t)(CHUNK / bytes) : 1;
}

/* Cuts the sum; false: it has too few elements for that. */
static bool cut_sum(Packed *p, Roles *roles) {
  Digits *x = &p->parts[0];
  int first = lowest_element(p, 0);
  if (first < 0) return false;
  int64_t at = p->axes[0].place[first], pair = at, run = run_of(p, (uint32_t)first);
  for (uint32_t i = 0; i < p->axes[0].n; i++)
    if (p->pair.digit && p->axes[0].digit[i] == p->pair.digit) pair = p->axes[0].place[i];
  if (pair == at) {
    add_place(x, at * PAIR);
    if (run < PAIR) run = PAIR;
  }
  int64_t threads = at * run;
  add_place(x, threads);
  add_place(x, threads * PAIR_THREADS);
  add_place(x, SEGMENT);
  roles->pair = find_place(x, pair);
  roles->pair_threads = find_place(x, threads);
  return find_place(x, threads * PAIR_THREADS) == roles->pair_threads + 1 &&
         find_place(x, SEGMENT) > roles->pair_threads;
}

static bool cut_columns(Packed *p, Roles *roles) {
  Digits *x = &p->parts[1];
  bool fields = false;
  for (uint32_t i = 0; i < p->axes[1].n; i++) fields |= is_field(p, 1, i);
  if (!fields) return true;
  int first = lowest_element(p, 1);
  if (first < 0) return false;
  int64_t at = p->axes[1].place[first];
  add_place(x, at * COLUMN_THREADS);
  roles->column_threads = find_place(x, at);
  return find_place(x, at * COLUMN_THREADS) == roles->column_threads + 1;
}

/* Numbers the parts in the order in which the tile has them; returns how many they are. */
static uint32_t number_parts(Packed *p) {
  uint32_t next = 0;
  for (uint32_t axis = 0; axis < tile_rank(p); axis++)
    for (int a = 0; a < 2; a++)
      for (uint32_t i = 0; i < p->axes[a].n; i++) {
        const Digits *d = &p->axes[a];
        Digits *x = &p->parts[a];
        if (d->axis[i] != axis) continue;
        for (uint32_t j = x->n; j-- > 0;)
          if (x->place[j] >= d->place[i] && (i + 1 == d->n || x->place[j] < d->place[i + 1]))
            x->axis[j] = next++;
      }
  return next;
}

static void put(Packed *p, int a, uint32_t *n, int part) {
  if (part >= 0) p->order[a][(*n)++] = (uint32_t)part;
}

/* The sum: segments, then instructions, then what one has.  Columns of a word's fields are those of
 * different instructions. */
static void order_parts(Packed *p, const Roles *roles) {
  uint32_t n = 0;
  const Digits *x = &p->parts[0];
  for (int i = (int)x->n - 1; i >= 0; i--)
    if (i != roles->pair && i != roles->pair_threads) put(p, 0, &n, i);
  put(p, 0, &n, roles->pair_threads);
  put(p, 0, &n, roles->pair);
  n = 0;
  for (int i = (int)p->parts[1].n - 1; i >= 0; i--)
    if (i != roles->column_threads) put(p, 1, &n, i);
  put(p, 1, &n, roles->column_threads);
}

static void cut_into_parts(Packed *p) {
  Roles roles = {-1, -1, -1};
  for (int a = 0; a < 2; a++) p->parts[a] = p->axes[a];
  p->parts[0].letter = 'P';
  p->parts[1].letter = 'Q';
  p->few = cut_sum(p, &roles) && cut_columns(p, &roles) && number_parts(p) <= MAX_RANK &&
           p->parts[0].n + 1 <= MAX_RANK;
  if (p->few) order_parts(p, &roles);
}

/* ---- values ---- */

static void set_masks(Packed *p) {
  const char *within = is_whole(p, 0) ? NULL : "within", *beside = is_whole(p, 1) ? NULL : "beside";
  const char *both = within && beside ? "within & beside" : within ? within : beside;
  const char *const all[] = {NULL, within, beside, both};
  for (unsigned axes = 0; axes < 8; axes++) p->k->masks[axes] = all[axes & 3];
}

/* A number of each segment and column, as sums have them. */
static const char *of_segments(Packed *p, const char *text) {
  Arena *a = p->k->arena;
  Text shape = text_new(a), parts = text_new(a), order = text_new(a);
  uint32_t at[2 * RADICES_MAX] = {0}, n = 0;
  for (uint32_t axis = 0; axis < tile_rank(p); axis++)
    for (int x = 0; x < 2; x++)
      for (uint32_t i = 0; i < p->axes[x].n; i++)
        if (p->axes[x].axis[i] == axis) {
          bool has = x || p->axes[x].place[i] >= SEGMENT;
          text_printf(&shape, "%s%s", axis ? ", " : "[",
                      has ? extent_name(p->k, &p->axes[x], i) : "1");
        }
  for (uint32_t axis = 0; axis < p->parts[0].n + p->parts[1].n; axis++)
    for (int x = 0; x < 2; x++)
      for (uint32_t i = 0; i < p->parts[x].n; i++) {
        if (p->parts[x].axis[i] != axis || (!x && p->parts[x].place[i] < SEGMENT)) continue;
        text_printf(&parts, "%s%s", n ? ", " : "[", extent_name(p->k, &p->parts[x], i));
        at[axis] = n++;
      }
  for (int x = 0; x < 2; x++)
    for (uint32_t i = 0; i < p->parts[x].n; i++) {
      uint32_t part = p->order[x][i];
      if (x || p->parts[x].place[part] >= SEGMENT)
        text_printf(&order, "%s%u", order.len ? ", " : "[", at[p->parts[x].axis[part]]);
    }
  return arena_printf(a,
                      "tl.reshape(tl.permute(tl.reshape(tl.broadcast_to(%s, %s]), %s]), %s]), "
                      "[SEGMENTS, BN, 1])",
                      text, shape.data, parts.data, order.data);
}

/* Sums of one row's products with fields are multiplied, once a segment, where the weights'
 * scales and zero points are those of whole segments.  The sums of the row's numbers, which that
 * needs as well, take a barrier a step: weights that an instruction scales are multiplied. */
static bool sums_fields(Packed *p, const Dim *at) {
  const Digits *x = &p->axes[0];
  uint32_t n = 0;
  if (!p->few || !p->one || !p->fields) return false;
  if (fields_scaled_at_once(p->k, p->right, at, &p->form)) return false;
  for (uint32_t i = 0; i < x->n && x->place[i] < SEGMENT; i++, n++)
    if (i + 1 < x->n && x->place[i + 1] > SEGMENT) return false;
  return n < x->n && fields_sum(p->k, p->right, at, &p->form, &p->low, &p->pair, x->digit, n,
                                &p->sum);
}

static void write_factors(Packed *p) {
  if (p->sum.scale) kernel_line(p->k, "factor = %s", of_segments(p, p->sum.scale));
  kernel_line(p->k, "offset = %s", of_segments(p, p->sum.offset));
}

/* The lines that compute `weight`, as a tile for a product of tiles, or for a sum of products. */
static void write_weight(Packed *p, bool rounds) {
  Kernel *k = p->k;
  Dim index[] = {p->batch, p->index[0], p->index[1]};
  const ValueType *t = &p->right->type;
  const Dim *at = index + (t->rank == 2);
  const char *text = NULL;
  /* What is loaded or computed in pairs is joined along one axis more. */
  bool joins = !k->masks[AXIS_M] && !k->masks[AXIS_N] && tile_rank(p) < MAX_RANK;
  p->form.rank = joins ? tile_rank(p) : 0;
  if (!joins && !p->pair.apart) p->pair.digit = NULL;
  if (p->pair.digit && joins) {
    p->pair.shape = tile_shape(p, &p->form, false);
    if (p->form.table) p->pair.bytes = tile_shape(p, &p->form, true);
  }
  if (sums_fields(p, at)) {
    write_factors(p);
    text = p->sum.field;
  } else if (p->fields) {
    text = fields_value(k, p->right, at, &p->form, &p->low, &p->pair);
  }
  if (!text && rounds) text = fields_of_bytes(k, p->right, at);
  if (!text) {
    Value v = kernel_value(k, p->right, at);
    text = kernel_cast(k, v, rounds ? t->dtype : kernel_held(t->dtype));
  }
  if (rounds)
    text = arena_printf(k->arena, "tl.broadcast_to(%s, %s)", text, tile_shape(p, NULL, false));
  kernel_line(k, "weight = %s", text);
  if (k->masks[AXIS_M]) kernel_line(k, "weight = tl.where(within, weight, 0.0)");
}

/* The left operand's only row as a value that is loaded ahead. */
static void write_row(Packed *p, Node *left) {
  Dim index[] = {p->batch, dim_int(p->k->graph->dims, 0), p->index[0]};
  Value v = kernel_value(p->k, left, index + (left->type.rank == 2));
  const char *text = v.text;
  if (!is_whole(p, 0)) text = arena_printf(p->k->arena, "tl.where(within, %s, 0.0)", text);
  kernel_line(p->k, "left = %s", text);
}

/* Lines of the loop's body in a text of their own, with what they load ahead in k->ahead. */
static const char *tile_values(Packed *p) {
  Kernel *k = p->k;
  Text before = k->body;
  const char *masks[8];
  memcpy(masks, k->masks, sizeof masks);
  size_t taken = k->taken.len, memo = k->memo.len;
  int indent = k->indent;
  k->body = text_new(k->arena);
  k->indent = 8;
  k->loads_ahead = p->row != NULL;
  set_masks(p);
  if (p->row) write_row(p, p->row);
  write_weight(p, !p->row);
  const char *text = k->body.data;
  k->loads_ahead = false;
  k->body = before;
  k->indent = indent;
  k->memo.len = memo;
  kernel_forget(k, taken);
  memcpy(k->masks, masks, sizeof masks);
  return text;
}

static void print_loads(const Kernel *k, Text *out, const char *indent, const char *suffix) {
  for (size_t i = 0; i < k->ahead.len; i++)
    text_printf(out, "%s%s%s = %s\n", indent, k->ahead.data[i].name, suffix,
                k->ahead.data[i].load);
}

/* The first element of a step: `from` or, where that is beyond the sum, of the last step. */
static void print_following(Packed *p, Text *out, const char *from, const char *indent) {
  Dim size = dim_index_size(p->k->graph->dims, p->axes[0].symbol);
  text_printf(out, "%sfollowing = tl.minimum(%s, (tl.cdiv(%s, BK) - 1) * BK)\n", indent, from,
              kernel_index(p->k, size, NULL));
}

/* ---- the matrices of few rows ---- */

static const char *numbers(Arena *a, const uint32_t *list, uint32_t n) {
  Text t = text_new(a);
  for (uint32_t i = 0; i < n; i++) text_printf(&t, "%s%u", i ? ", " : "[", list[i]);
  text_puts(&t, "]");
  return t.data;
}

/* How many of the sum's parts are whole segments; these come first. */
static uint32_t segment_parts(const Packed *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->parts[0].n; i++) n += p->parts[0].place[i] >= SEGMENT;
  return n;
}

/* The weight's tile as matrices of columns, one for each segment of the sum: a column's elements
 * are a row of an instruction's left operand, which has 16 of them and 8 rows of ours. */
static const char *right_in_parts(Packed *p) {
  uint32_t order[2 * RADICES_MAX], n = 0, segments = segment_parts(p);
  const char *extents[2 * RADICES_MAX];
  Text shape = text_new(p->k->arena);
  for (int a = 0; a < 2; a++)
    for (uint32_t i = 0; i < p->parts[a].n; i++)
      extents[p->parts[a].axis[i]] = extent_name(p->k, &p->parts[a], i);
  for (uint32_t i = 0; i < segments; i++) order[n++] = p->parts[0].axis[p->order[0][i]];
  for (uint32_t i = 0; i < p->parts[1].n; i++) order[n++] = p->parts[1].axis[p->order[1][i]];
  for (uint32_t i = segments; i < p->parts[0].n; i++)
    order[n++] = p->parts[0].axis[p->order[0][i]];
  for (uint32_t i = 0; i < n; i++) text_printf(&shape, "%s%s", i ? ", " : "[", extents[i]);
  return arena_printf(p->k->arena,
                      "tl.reshape(tl.permute(tl.reshape(weight, %s]), %s), "
                      "[SEGMENTS, BN, BK // SEGMENTS])",
                      shape.data, numbers(p->k->arena, order, n));
}

/* Rows of the left operand as columns, in the sum's order; one row is all of an instruction's. */
static const char *left_in_parts(Packed *p) {
  bool one = p->one;
  const Digits *x = &p->parts[0];
  uint32_t order[RADICES_MAX + 1], n = 0;
  Text natural = text_new(p->k->arena), whole = text_new(p->k->arena);
  text_puts(&natural, one ? "[1" : "[BM");
  for (uint32_t i = x->n; i-- > 0;) text_printf(&natural, ", %s", extent_name(p->k, x, i));
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t part = p->order[0][i];
    text_printf(&whole, "%s%s", n ? ", " : "[", extent_name(p->k, x, part));
    order[n++] = x->n - part;
  }
  order[n++] = 0;
  const char *turned = arena_printf(p->k->arena, "tl.permute(tl.reshape(left, %s]), %s)",
                                    natural.data, numbers(p->k->arena, order, n));
  if (one) turned = arena_printf(p->k->arena, "tl.broadcast_to(%s, %s, BM])", turned, whole.data);
  const char *sums = "        sums = tl.sum(tl.reshape(left.to(tl.float32), "
                     "[SEGMENTS, BK // SEGMENTS]), 1)[:, None, None]\n";
  return arena_printf(p->k->arena,
                      "%s        left = tl.reshape(%s, [SEGMENTS, BK // SEGMENTS, BM])\n",
                      p->sum.field ? sums : "", turned);
}

/* The sums of the segments, columns in their own order. */
static const char *sums_in_order(Packed *p) {
  const Digits *x = &p->parts[1];
  uint32_t back[RADICES_MAX + 1] = {0};
  bool same = true;
  Text shape = text_new(p->k->arena);
  text_puts(&shape, "[BM");
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t part = p->order[1][i];
    text_printf(&shape, ", %s", extent_name(p->k, x, part));
    back[x->n - part] = i + 1;
    same &= x->n - part == i + 1;
  }
  if (same) return "    acc = tl.trans(tl.sum(acc, 0))\n";
  return arena_printf(p->k->arena,
                      "    acc = tl.reshape(tl.trans(tl.sum(acc, 0)), %s])\n"
                      "    acc = tl.reshape(tl.permute(acc, %s), [BM, BN])\n",
                      shape.data, numbers(p->k->arena, back, x->n + 1));
}

static const char *lines_before(Packed *p) {
  Kernel *k = p->k;
  Text t = text_new(k->arena);
  for (int a = 0; a < 2; a++) print_extents(k, &t, &p->axes[a]);
  for (int a = 0; a < 2 && p->few; a++) print_extents(k, &t, &p->parts[a]);
  if (p->few) text_printf(&t, "    SEGMENTS: tl.constexpr = max(1, BK // %d)\n", (int)SEGMENT);
  print_indices(k, &t, &p->axes[1], "column", tile_rank(p), "    ");
  print_mask(p, &t, 1, "    ");
  if (p->pair.bytes) text_puts(&t, fields_table(k, &p->form));
  if (!p->row) return t.data;
  print_following(p, &t, "0", "    ");
  print_step(p, &t, "following", "    ");
  print_loads(k, &t, "    ", "");
  return t.data;
}

/* A row's step: it loads for the next iteration while it computes. */
static const char *lines_of_row(Packed *p, const char *values) {
  Kernel *k = p->k;
  Text t = text_new(k->arena);
  const char *indent = "        ";
  print_following(p, &t, "start + BK", indent);
  print_step(p, &t, "following", indent);
  print_loads(k, &t, indent, "_next");
  print_step(p, &t, "start", indent);
  text_puts(&t, values);
  for (size_t i = 0; i < k->ahead.len; i++)
    text_printf(&t, "%s%s = %s_next\n", indent, k->ahead.data[i].name, k->ahead.data[i].name);
  return t.data;
}

static const char *lines_of_tile(Packed *p, const char *values) {
  Text t = text_new(p->k->arena);
  print_step(p, &t, "start", "        ");
  text_puts(&t, values);
  return t.data;
}

PackedTile packed_tile(Kernel *k, const PackedRows *rows, Node *right, Dim batch, Dim kb,
                       Dim column) {
  Packed p = {.k = k, .right = right, .row = rows->row, .batch = batch, .index = {kb, column},
              .one = rows->one};
  p.axes[0] = (Digits){
      .symbol = kb, .name = "k", .block = "BK", .letter = 'K', .n = 1, .place = {1}};
  p.axes[1] = (Digits){
      .symbol = column, .name = "n", .block = "BN", .letter = 'N', .n = 1, .place = {1}};
  cut_into_digits(&p);
  find_pairs(&p, rows->few && !p.row);
  order_axes(&p);
  bind_digits(&p);
  if (rows->few && !p.row) cut_into_parts(&p);
  const char *values = tile_values(&p);
  PackedTile t = {.before = lines_before(&p), .sums = tile_shape(&p, NULL, false), .after = ""};
  t.right = p.row ? lines_of_row(&p, values) : lines_of_tile(&p, values);
  t.few = p.few;
  if (p.row) {
    t.after = arena_printf(k->arena, "    acc = tl.sum(%s, 0)[None, :]\n", as_matrix(&p, "acc"));
  } else {
    const char *matrix = p.few ? right_in_parts(&p) : as_matrix(&p, "weight");
    t.right = arena_printf(k->arena, "%s        right = %s\n", t.right, matrix);
    t.sums = p.few ? "[SEGMENTS, BN, BM]" : "[BM, BN]";
  }
  if (!p.few) return t;
  t.left = left_in_parts(&p);
  t.multiply = "        acc = tl.dot(right, left, acc)";
  if (p.sum.field)
    t.multiply = arena_printf(k->arena,
                              "        part = tl.dot(right, left)\n"
                              "        acc += part%s + sums * offset",
                              p.sum.scale ? " * factor" : "");
  t.after = sums_in_order(&p);
  return t;
}
