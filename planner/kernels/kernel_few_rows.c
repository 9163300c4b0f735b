/* Kernels of GROUP_MATMUL: few rows times a weight that memory has along the sum or across it
 * (tiling/few_rows.h), whose elements may be computed from fields of a few bits. */
#include <string.h>

#include "planner/kernels/kernel_fields.h"
#include "planner/kernels/kernel_product.h"
#include "tiling/few_rows.h"

/* AT_ONCE: columns; a weight is multiplied by SCALES at most after sums. */
enum { AT_ONCE = 2, SCALES = 4 };
/* Indents of lines: of a column, of a group, of a step.  Across there is no loop over columns. */
enum { OUTER = 12, GROUP = 16, STEP = 20, ACROSS_GROUP = 8, ACROSS_STEP = 12 };

typedef struct {
  Kernel *k;
  FewRows f;
  int at_once;
  int64_t part; /* so many groups, one after the other for all columns; 0: all groups */
  Dim group, step, lane, column[AT_ONCE];
  Element inner[FEW_ROWS_FIELDS]; /* of the weight of a column: of each field, ... */
  Element scale[SCALES];          /* ... and what multiplies all of them in a group */
  uint32_t scales;
  bool whole; /* weights are scaled before they are multiplied */
} Few;

/* The elements of a vector's field along the sum. */
static Dim sum_index(const Few *x, int64_t field) {
  Dims *d = x->k->graph->dims;
  Dim block = x->group, steps = dim_index_size(d, x->step);
  if (!dim_is(steps, 1)) block = dim_add(d, dim_mul(d, block, steps), x->step);
  Dim at = dim_add(d, dim_mul(d, block, dim_int(d, x->f.fields)), dim_int(d, field));
  if (x->f.across) return at;
  return dim_add(d, dim_mul(d, at, dim_int(d, x->f.width)), x->lane);
}

/* ---- scales of groups ---- */

static bool is_same_in_group(const Few *x, Node *n, const Dim *at);

typedef struct {
  const Few *x;
  const Node *user;
  const Dim *at;
  bool same;
} Operands;

static void look_at_operand(Node **operand, void *ctx) {
  Operands *o = ctx;
  Dim at[GRAPH_RANK_MAX];
  if ((*operand)->type.kind != VALUE_TENSOR) return;
  broadcast_index(o->x->k->graph, o->user, o->at, *operand, at);
  o->same &= is_same_in_group(o->x, *operand, at);
}

/* Has the memory fewer elements than words of the weight's fields?  Lanes may differ in one then,
 * as scales of short groups do. */
static bool is_shared(const Few *x, Node *n) {
  Graph *g = x->k->graph;
  Dim all = value_numel(g, &n->type);
  Dim weight = value_numel(g, &x->k->group->nodes.data[0]->args[1].node->type);
  return x->f.fields > 1 && kernel_loads(x->k, n) && dim_is_int(all) && dim_is_int(weight) &&
         all->value * x->f.fields < weight->value;
}

/* Is the element the same for all steps of a group and fields of a lane? */
static bool is_same_in_group(const Few *x, Node *n, const Dim *at) {
  bool varies = false, lanes = is_shared(x, n);
  for (uint32_t i = 0; i < n->type.rank; i++)
    varies |= dim_mentions(at[i], x->step) || (!lanes && dim_mentions(at[i], x->lane));
  if (!varies) return true;
  if (n->kind != NODE_CALL || kernel_loads(x->k, n) || prim_reads_size(n)) return false;
  if (prim_is_view(n)) {
    Dim from[GRAPH_RANK_MAX];
    view_index(x->k->graph, n, at, from);
    return is_same_in_group(x, view_operand(n), from);
  }
  if (prim_kind(n->op) != PRIM_POINTWISE) return false;
  Operands o = {x, n, at, true};
  graph_each_use(n, look_at_operand, &o);
  return o.same;
}

static bool is_wider_float(const Node *n) {
  if (!graph_is(n, OP_aten_to_dtype)) return false;
  DType from = n->args[0].node->type.dtype, to = n->type.dtype;
  return dtype_is_float(from) && dtype_is_float(to) && dtype_bits(from) <= dtype_bits(to);
}

/* Goes through a product of floats one of which is the same in a group, which becomes `scale`. */
static bool take_factor(const Few *x, Element *e, Element *scale) {
  const Node *n = e->node;
  Element by[2] = {{.node = NULL}};
  bool same[2];
  if (!graph_is(n, OP_aten_mul_Tensor)) return false;
  for (int i = 0; i < 2; i++) {
    by[i].node = n->args[i].kind == ARG_NODE ? n->args[i].node : NULL;
    if (!by[i].node || by[i].node->type.kind != VALUE_TENSOR ||
        !dtype_is_float(by[i].node->type.dtype))
      return false;
    broadcast_index(x->k->graph, n, e->at, by[i].node, by[i].at);
    same[i] = is_same_in_group(x, by[i].node, by[i].at);
  }
  if (same[0] == same[1]) return false;
  *scale = by[same[1]];
  *e = by[same[0]];
  return true;
}

/* Goes from an element to the factor of it that varies in a group; returns how many others `scale`
 * has.  Casts to wider floats change nothing. */
static uint32_t take_factors(const Few *x, Element *e, Element *scale) {
  Graph *g = x->k->graph;
  uint32_t n = 0;
  for (;;) {
    Node *node = e->node;
    Dim from[GRAPH_RANK_MAX];
    if (node->kind != NODE_CALL || kernel_loads(x->k, node) || prim_reads_size(node)) return n;
    if (n < SCALES && take_factor(x, e, &scale[n])) {
      n++;
      continue;
    }
    if (prim_is_view(node)) {
      view_index(g, node, e->at, from);
      e->node = view_operand(node);
    } else if (is_wider_float(node)) {
      broadcast_index(g, node, e->at, node->args[0].node, from);
      e->node = node->args[0].node;
    } else {
      return n;
    }
    memcpy(e->at, from, sizeof from);
  }
}

/* Sets the weight's elements with their scales; gives false. */
static bool take_whole(Few *x, int column) {
  Node *right = x->k->group->nodes.data[0]->args[1].node;
  x->scales = 0;
  for (int64_t i = 0; i < x->f.fields; i++)
    x->inner[i] = (Element){.node = right, .at = {sum_index(x, i), x->column[column]}};
  return false;
}

/* Sets the weight's elements in groups of so many steps; false: its scales are not the same for all
 * fields. */
static bool find_elements(Few *x, int column) {
  Node *right = x->k->group->nodes.data[0]->args[1].node;
  x->scales = 0;
  for (int64_t i = 0; i < x->f.fields; i++) {
    Element scale[SCALES];
    Element whole = {.node = right, .at = {sum_index(x, i), x->column[column]}};
    x->inner[i] = whole;
    uint32_t n = x->whole ? 0 : take_factors(x, &x->inner[i], scale);
    bool same = i == 0 || n == x->scales;
    for (uint32_t s = 0; s < n && same && i > 0; s++)
      same = fields_same_element(&scale[s], &x->scale[s]);
    if (!same) return take_whole(x, column);
    memcpy(x->scale, scale, sizeof scale);
    x->scales = n;
  }
  return true;
}

static void bind_groups(Few *x, int64_t blocks, int64_t steps) {
  Dims *d = x->k->graph->dims;
  x->group = dim_shared_index(d, "group", dim_int(d, blocks / steps));
  x->step = dim_shared_index(d, "step", dim_int(d, steps));
}

/* Parts have some groups (few_rows_part); a group may end with a part. */
static void find_parts(Few *x, int64_t blocks, int64_t *steps) {
  int64_t most = few_rows_part(x->k->group->extent[1]->value, &x->f), part = *steps;
  if (most < 1 || 2 * blocks <= 3 * most) return; /* as much as the cache, at most */
  while (part > most || *steps % part) part--;
  if (2 * part > most || part == *steps) *steps = part;
  int64_t groups = blocks / *steps, parts = (blocks + most - 1) / most;
  x->part = (groups + parts - 1) / parts;
}

/* Groups are as large as the scales with which they have most.  Short ones would scale more sums,
 * one a row, than weights. */
static void find_groups(Few *x, int64_t k) {
  int64_t rows = x->k->group->extent[1]->value;
  int64_t blocks = k / x->f.fields / (x->f.across ? 1 : x->f.width), best = blocks;
  uint32_t most = 0;
  for (int64_t steps = blocks; steps > 0; steps--) {
    if (blocks % steps || (steps < blocks && steps * x->f.fields < rows)) continue;
    bind_groups(x, blocks, steps);
    if (!find_elements(x, 0) || x->scales <= most) continue;
    most = x->scales;
    best = steps;
  }
  if (!x->f.across) find_parts(x, blocks, &best);
  if (!x->part) x->part = blocks / best;
  bind_groups(x, blocks, best);
}

/* ---- words of bytes ---- */

/* Byte `number` of a lane's word, an element of memory. */
typedef struct {
  Element byte; /* .node: NULL: not found */
  Dim word;     /* which word of memory: lanes have neighbours */
  int number;
} WordByte;

typedef struct {
  const Few *x;
  const Node *user;
  const Dim *at;
  WordByte *byte;
} Bytes;

static void find_byte(const Few *x, Node *n, const Dim *at, WordByte *byte);

/* Is an element of memory that byte of words that lanes have one after the other?  Of several
 * tensors some may be read in another order. */
static bool is_byte(const Few *x, const Node *n, const Dim *at, WordByte *byte) {
  Dims *d = x->k->graph->dims;
  Dim first = dim_sub(d, linear_of_index(d, at, n->type.shape, n->type.rank),
                      dim_int(d, byte->number));
  byte->word = dim_floordiv(d, first, dim_int(d, FEW_ROWS_BYTES));
  return dim_divisible(first, FEW_ROWS_BYTES) &&
         !dim_mentions(dim_sub(d, byte->word, x->lane), x->lane);
}

static void find_byte_of_operand(Node **operand, void *ctx) {
  const Bytes *b = ctx;
  Dim at[GRAPH_RANK_MAX];
  if ((*operand)->type.kind != VALUE_TENSOR) return;
  broadcast_index(b->x->k->graph, b->user, b->at, *operand, at);
  find_byte(b->x, *operand, at, b->byte);
}

/* The element of memory, a byte of FEW_ROWS_BYTE fields, of which n's is computed. */
static void find_byte(const Few *x, Node *n, const Dim *at, WordByte *byte) {
  Graph *g = x->k->graph;
  if (kernel_loads(x->k, n)) {
    Dim all = value_numel(g, &n->type);
    Dim weight = value_numel(g, &x->k->group->nodes.data[0]->args[1].node->type);
    if (n->type.dtype != DT_U8 || all->value * FEW_ROWS_BYTE != weight->value) return;
    WordByte found = {{.node = n}, NULL, byte->number};
    if (!is_byte(x, n, at, &found)) return;
    memcpy(found.byte.at, at, n->type.rank * sizeof *at);
    *byte = found;
  } else if (n->kind == NODE_CALL && prim_is_view(n) && !prim_reads_size(n)) {
    Dim from[GRAPH_RANK_MAX];
    view_index(g, n, at, from);
    find_byte(x, view_operand(n), from, byte);
  } else if (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_POINTWISE) {
    Bytes b = {x, n, at, byte};
    graph_each_use(n, find_byte_of_operand, &b);
  }
}

/* Loads a vector of words, whose bytes become elements of memory that were loaded. */
static void load_words(Few *x, int column) {
  Kernel *k = x->k;
  Node *right = k->group->nodes.data[0]->args[1].node;
  WordByte bytes[FEW_ROWS_BYTES];
  unsigned axes = 0;
  if (x->f.fields != FEW_ROWS_BYTE * FEW_ROWS_BYTES) return;
  for (int i = 0; i < FEW_ROWS_BYTES; i++) {
    Dim at[] = {sum_index(x, (int64_t)FEW_ROWS_BYTE * i), x->column[column]};
    bytes[i] = (WordByte){.number = i};
    find_byte(x, right, at, &bytes[i]);
    if (!bytes[i].byte.node || bytes[i].byte.node != bytes[0].byte.node ||
        bytes[i].word != bytes[0].word)
      return;
  }
  Node *memory = bytes[0].byte.node;
  const char *index = kernel_index(k, bytes[0].word, &axes), *word = kernel_fresh(k, "word");
  kernel_line(k, "%s = tl.load(%s.to(tl.pointer_type(tl.int32)) + %s%s)", word,
              kernel_buffer(k, memory), index, kernel_hint(k, memory, axes));
  for (int i = 0; i < FEW_ROWS_BYTES; i++) {
    const char *byte = kernel_fresh(k, "byte");
    kernel_line(k, "%s = (%s >> %d) & 255", byte, word, 8 * i);
    kernel_remember(k, memory, bytes[i].byte.at, (Value){byte, DT_I32});
  }
}

/* ---- text ---- */

/* The lines that kernel_value adds, taken from the body. */
static void take_lines(Kernel *k, Text *out) {
  if (k->body.len) text_puts(out, k->body.data);
  k->body = text_new(k->arena);
}

static void load_left(Few *x, Text *out) {
  Kernel *k = x->k;
  Node *left = k->group->nodes.data[0]->args[0].node;
  for (int64_t i = 0; i < x->f.fields; i++) {
    ConcatSource p = {.operand = left, .index = {k->group->index[1], sum_index(x, i)}};
    Access a = kernel_access(k, &p, "m", "lane");
    text_printf(out, "%*sx%lld = tl.load(%s)\n", STEP, "", (long long)i, a.pointers);
  }
}

/* Many fields of few sums are added up by themselves, so that a step does not wait for the one
 * before. */
static const char *products_of_step(Few *x) {
  enum { FIELDS_MANY = 8, SUMS_FEW = 4 };
  Kernel *k = x->k;
  bool waits = x->f.fields >= FIELDS_MANY && k->group->extent[1]->value * x->at_once <= SUMS_FEW;
  Text out = text_new(k->arena);
  load_left(x, &out);
  k->indent = STEP;
  for (int c = 0; c < x->at_once; c++) {
    if (!find_elements(x, c)) x->scales = 0;
    load_words(x, c);
    for (int64_t i = 0; i < x->f.fields; i++) {
      Element *e = &x->inner[i];
      const char *w = kernel_cast(k, kernel_value(k, e->node, e->at), DT_F32);
      take_lines(k, &out);
      text_printf(&out, "%*s%s%d %s %s * x%lld\n", STEP, "", waits ? "sum" : "part", c,
                  waits && i == 0 ? "=" : "+=", w, (long long)i);
    }
    if (waits) text_printf(&out, "%*spart%d += sum%d\n", STEP, "", c, c);
  }
  return out.data;
}

static const char *sums_of_group(Few *x) {
  Kernel *k = x->k;
  Text out = text_new(k->arena);
  k->indent = GROUP;
  for (int c = 0; c < x->at_once; c++) {
    Text factors = text_new(k->arena);
    if (!find_elements(x, c)) x->scales = 0;
    for (uint32_t i = 0; i < x->scales; i++) {
      Element *e = &x->scale[i];
      text_printf(&factors, " * %s", kernel_cast(k, kernel_value(k, e->node, e->at), DT_F32));
    }
    take_lines(k, &out);
    text_printf(&out, "%*stotal%d += part%d%s\n", GROUP, "", c, c, factors.len ? factors.data : "");
  }
  return out.data;
}

/* A line for each column of those that are computed at once. */
static const char *each_column(const Few *x, const char *line) {
  Text out = text_new(x->k->arena);
  for (int c = 0; c < x->at_once; c++) {
    for (const char *s = line; *s; s++)
      if (*s == '#') text_printf(&out, "%d", c);
      else text_putn(&out, s, 1);
  }
  return out.data;
}

static void bind_columns(Few *x) {
  Kernel *k = x->k;
  Dims *d = k->graph->dims;
  Dim columns = k->group->extent[2];
  for (unsigned axes = 0; axes < 8; axes++) k->masks[axes] = NULL;
  x->lane = dim_shared_index(d, "lane", dim_int(d, x->f.width));
  kernel_bind(k, x->lane, "lane", AXIS_N);
  for (int c = 0; c < x->at_once; c++) {
    const char *name = arena_printf(k->arena, "row%d", c);
    x->column[c] = dim_shared_index(d, name, columns);
    kernel_bind(k, x->column[c], name, 0);
  }
}

static void bind(Few *x) {
  Kernel *k = x->k;
  k->narrows = k->widens = true;
  k->streams = !x->f.across;
  product_bind(k);
  if (!x->f.across) {
    bind_columns(x);
  } else {
    x->lane = dim_shared_index(k->graph->dims, "lane", dim_int(k->graph->dims, 1));
    x->column[0] = k->group->index[2];
    bool whole = dim_divisible(k->group->extent[2], x->f.width);
    k->masks[AXIS_N] = whole ? NULL : "nmask";
  }
  find_groups(x, k->group->extent[3]->value);
  const char *wide = kernel_wide(k);
  kernel_bind(k, x->group, arena_printf(k->arena, "group%s", wide), 0);
  kernel_bind(k, x->step, arena_printf(k->arena, "step%s", wide), 0);
}

/* ---- across ---- */

static const char *products_across(Few *x) {
  Kernel *k = x->k;
  Node *left = k->group->nodes.data[0]->args[0].node;
  Text out = text_new(k->arena);
  k->indent = ACROSS_STEP;
  if (!find_elements(x, 0)) x->scales = 0;
  for (int64_t i = 0; i < x->f.fields; i++) {
    Element *e = &x->inner[i];
    const char *w = kernel_cast(k, kernel_value(k, e->node, e->at), DT_F32);
    take_lines(k, &out);
    for (int64_t m = 0; m < k->group->extent[1]->value; m++) {
      Dim *at = ARENA_ARRAY(k->arena, Dim, 2);
      at[0] = dim_int(k->graph->dims, m);
      at[1] = sum_index(x, i);
      const char *number = kernel_cast(k, kernel_value(k, left, at), DT_F32);
      take_lines(k, &out);
      text_printf(&out, "%*spart%lld += %s * %s\n", ACROSS_STEP, "", (long long)m, w, number);
    }
  }
  return out.data;
}

static const char *sums_across(Few *x) {
  Kernel *k = x->k;
  Text out = text_new(k->arena), factors = text_new(k->arena);
  k->indent = ACROSS_GROUP;
  if (!find_elements(x, 0)) x->scales = 0;
  for (uint32_t i = 0; i < x->scales; i++) {
    Element *e = &x->scale[i];
    text_printf(&factors, " * %s", kernel_cast(k, kernel_value(k, e->node, e->at), DT_F32));
  }
  take_lines(k, &out);
  for (int64_t m = 0; m < k->group->extent[1]->value; m++)
    text_printf(&out, "%*stotal%lld += part%lld%s\n", ACROSS_GROUP, "", (long long)m, (long long)m,
                factors.len ? factors.data : "");
  return out.data;
}

/* A line for each row. */
static const char *zeros_across(const Few *x, int indent, const char *name) {
  Text out = text_new(x->k->arena);
  for (int64_t m = 0; m < x->k->group->extent[1]->value; m++)
    text_printf(&out, "%*s%s%lld = tl.zeros([1, BN], dtype=tl.float32)\n", indent, "", name,
                (long long)m);
  return out.data;
}

static const char *rows_across(const Few *x) {
  Text out = text_new(x->k->arena);
  text_puts(&out, "    acc = total0\n");
  for (int64_t m = 1; m < x->k->group->extent[1]->value; m++)
    text_printf(&out, "    acc = tl.where(m == %lld, total%lld, acc)\n", (long long)m,
                (long long)m);
  return out.data;
}

static void take_names(Kernel *k) {
  static const char *const names[] = {"first", "column", "lane",  "each",  "group", "step", "x",
                                      "row",   "part",   "total", "again", "sum",   "near"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    kernel_take(k, pool_name(k->graph->names, names[i]));
}

/* A tile of zeros for each column. */
static const char *zeros(const Few *x, int indent, const char *name) {
  return arena_printf(x->k->arena, "%*s%s# = tl.zeros([BM, %lld], dtype=tl.float32)\n", indent, "",
                      name, (long long)x->f.width);
}

static const char *begin_columns(const Few *x) {
  Kernel *k = x->k;
  const char *columns = kernel_index(k, k->group->extent[2], NULL);
  return arena_printf(k->arena, "%*srow# = tl.minimum(first + each + #, %s - 1)\n%s", OUTER, "",
                      columns, zeros(x, OUTER, "total"));
}

/* The lines of the loops; `known` values are there before them. */
typedef struct {
  const char *begin, *zeros, *products, *sums, *columns;
} Lines;

static Lines lines_of(Few *x) {
  Kernel *k = x->k;
  bool across = x->f.across;
  size_t known = k->memo.len;
  Lines l = {.products = across ? products_across(x) : products_of_step(x)};
  k->memo.len = known; /* a loop's values end with it */
  l.sums = across ? sums_across(x) : sums_of_group(x);
  k->memo.len = known;
  k->indent = 4;
  if (across) {
    l.begin = zeros_across(x, 4, "total");
    l.zeros = zeros_across(x, ACROSS_GROUP, "part");
    l.columns = rows_across(x);
    return l;
  }
  l.begin = each_column(x, begin_columns(x));
  l.zeros = each_column(x, zeros(x, GROUP, "part"));
  l.columns = each_column(x,
                          "            acc += tl.where(column == each + #, "
                          "tl.sum(total#, 1)[:, None], 0.0)\n");
  return l;
}

/* The groups of the part that begins with group `near`, or all. */
static const char *groups_of_part(Few *x, int64_t groups) {
  Arena *arena = x->k->arena;
  if (x->f.across) return arena_printf(arena, "%lld", (long long)groups);
  const char *end = arena_printf(arena, "near + %lld", (long long)x->part);
  if (groups % x->part) end = arena_printf(arena, "tl.minimum(%s, %lld)", end, (long long)groups);
  return arena_printf(arena, "near, %s", end);
}

/* All loops of the tile; with whole weights where a sum before its scale is too large. */
static const char *loops_of(Few *x, bool whole) {
  Kernel *k = x->k;
  Dims *d = k->graph->dims;
  Text out = text_new(k->arena);
  x->whole = whole;
  Lines l = lines_of(x);
  int64_t groups = dim_index_size(d, x->group)->value;
  Slot slots[] = {{"begin", l.begin},
                  {"groups", groups_of_part(x, groups)},
                  {"zeros", l.zeros},
                  {"steps", kernel_index(k, dim_index_size(d, x->step), NULL)},
                  {"products", l.products},
                  {"sums", l.sums},
                  {"columns", l.columns},
                  {"at_once", kernel_index(k, dim_int(d, x->at_once), NULL)},
                  {"part", arena_printf(k->arena, "%lld", (long long)x->part)},
                  {"all", arena_printf(k->arena, "%lld", (long long)groups)}};
  const char *template = x->f.across ? "few_rows_across_loops.py" : "few_rows_loops.py";
  template_fill(&out, template, slots, sizeof slots / sizeof *slots - 3 * x->f.across);
  return out.data;
}

/* A sum that is no number, or infinite, is made again. */
static const char *again_of(Few *x) {
  const char *loops = loops_of(x, true);
  return arena_printf(x->k->arena,
                      "    again = tl.where(mmask & nmask, acc - acc != 0.0, False)\n"
                      "    if tl.max(again.to(tl.int32)) > 0:\n%s",
                      product_indented(x->k, loops, 4));
}

void kernel_few_rows(Text *out, Kernel *k) {
  const Group *g = k->group;
  Dims *d = k->graph->dims;
  Few x = {.k = k, .f = few_rows_of(g->nodes.data[0])};
  x.at_once = x.f.across ? 1 : few_rows_at_once(g->extent[1]->value, &x.f);
  take_names(k);
  bind(&x);
  const char *loops = loops_of(&x, false), *again = x.scales ? again_of(&x) : "";
  product_bind(k);
  product_epilogue(k);
  Slot slots[] = {{"wide", kernel_wide(k)},
                  {"m", kernel_extent(k, g->extent[1])},
                  {"n", kernel_extent(k, g->extent[2])},
                  {"loops", loops},
                  {"again", again},
                  {"width", kernel_index(k, dim_int(d, x.f.width), NULL)}};
  size_t n = sizeof slots / sizeof *slots;
  if (x.f.across) kernel_emit(out, k, "few_rows_across.py", slots, n - 1);
  else kernel_emit(out, k, "few_rows.py", slots, n);
}
