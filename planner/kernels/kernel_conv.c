/* Kernels of GROUP_MATMUL: one nereid.conv, a product of patches of the input with the weight.
 *
 * What is summed up are the positions of the window and the channels at each.  If channels come in
 * whole blocks, a step takes one position and one block: then all of a row's addresses differ from
 * those of the step before by one number, and only what the row adds is a tile.  Few channels are
 * taken with the positions as one index.
 *
 * Where tiles are parts of images (convolution_reads_images), a row's image and position are
 * variables, of which its number `m` is made.  Positions of the input that the rows of a tile meet
 * are then next to each other, as a box has them:
 *   windows `stride` apart  a window's position is a quotient by the stride, which moves the box,
 *                           and a remainder, which says where a box of every stride'th row begins
 *   elements spread apart   program_id(2) is a phase: the first position of the window that meets
 *                           an element, and rows are those of the result for which it is the first.
 *                           Further ones are `spread` positions apart, and the others are zeros */
#include <string.h>

#include "graph/ops/window.h"
#include "planner/kernels/kernel_product.h"

typedef struct {
  Kernel *k;
  Node *node;
  Window w;
  Dim channels;    /* of a group */
  bool blocks;     /* a step takes a block of channels, ... */
  bool partial;    /* ... which they fill in part */
  bool images;     /* rows are parts of images */
  Dim place[WINDOW_AXES + 1]; /* images: the row's image and position, in a phase */
  Dim first[WINDOW_AXES];     /* images: the phase; 0 where elements are not spread */
  Dim met[WINDOW_AXES];       /* the positions of the window that are summed up; of a phase */
  Dim count[WINDOW_AXES];     /* the same for indices, 1 at least */
  Strides met_by[WINDOW_AXES]; /* images: a step's position by the stride */
  Dim at[2];       /* blocks: the position; else 0 */
  Dim index[2];    /* blocks: the channel; else channel and position; of the left and the right */
  bool right;      /* the right operand's turn, which has no rows of the result */
  Text rows, step; /* statements before the loop and in it */
} Conv;

/* ---- sums, split by the symbols of their terms ---- */

typedef struct {
  Dim row;  /* what depends on the row alone */
  Dim step; /* what is one number in a step */
  Dim rest;
} Split;

static void add_split_term(Conv *c, Split *s, Dim term) {
  unsigned axes = 0;
  kernel_index(c->k, term, &axes);
  bool row = axes == AXIS_M && !c->right;
  Dim *to = row ? &s->row : axes & (AXIS_M | AXIS_N) ? &s->rest : &s->step;
  *to = dim_add(c->k->graph->dims, *to, term);
}

static Split split_terms(Conv *c, Dim x) {
  Dims *d = c->k->graph->dims;
  Split s = {dim_int(d, 0), dim_int(d, 0), dim_int(d, 0)};
  if (x->kind != DIM_SUM) {
    add_split_term(c, &s, x);
    return s;
  }
  for (uint32_t i = 0; i < x->n; i++) add_split_term(c, &s, x->args[i]);
  s.step = dim_add(d, s.step, dim_int(d, x->value));
  return s;
}

/* A variable for x in those statements, unless it is as short itself; NULL for 0. */
static const char *variable(Conv *c, Text *lines, int indent, const char *base, Dim x) {
  Kernel *k = c->k;
  if (dim_is(x, 0)) return NULL;
  const char *text = kernel_index(k, x, NULL);
  if (dim_is_int(x)) return arena_printf(k->arena, "(%s)", text);
  const char *name = kernel_fresh(k, base);
  text_printf(lines, "%*s%s = %s\n", indent, "", name, text);
  return name;
}

/* The sum of the parts that are not NULL; "0" without any. */
static const char *sum_parts(Conv *c, const char *const *parts, uint32_t n) {
  Text t = text_new(c->k->arena);
  for (uint32_t i = 0; i < n; i++)
    if (parts[i]) text_printf(&t, "%s%s", t.len ? " + " : "", parts[i]);
  return t.len ? t.data : "0";
}

static const char *split_sum_text(Conv *c, Dim x, const char *row, const char *step) {
  Split s = split_terms(c, x);
  const char *parts[] = {variable(c, &c->rows, 4, row, s.row),
                         variable(c, &c->step, 8, step, s.step),
                         dim_is(s.rest, 0) ? NULL : kernel_index(c->k, s.rest, NULL)};
  return sum_parts(c, parts, 3);
}

/* ---- operands ---- */

/* The position and channel of an index of the sum; `at` has room for both.  A phase's
 * positions are numbered. */
static void window_position(Conv *c, uint32_t side, Dim *at) {
  Dims *d = c->k->graph->dims;
  if (c->blocks) {
    index_of_linear(d, c->at[side], c->count, c->w.n, at);
    at[c->w.n] = c->index[side];
    return;
  }
  Dim shape[WINDOW_AXES + 1];
  memcpy(shape, c->w.size, c->w.n * sizeof *shape);
  shape[c->w.n] = c->channels;
  index_of_linear(d, c->index[side], shape, c->w.n + 1, at);
}

/* The limit of a step's indices. */
static const char *sum_limit(const Conv *c) {
  return kernel_index(c->k, c->blocks ? c->channels : c->k->group->extent[3], NULL);
}

static const char *left_condition(Conv *c, const ConcatSource *p) {
  Kernel *k = c->k;
  Text t = text_new(k->arena);
  if (c->images) text_printf(&t, "(image < %s)", kernel_extent(k, c->node->type.shape[0]));
  else text_puts(&t, "mmask");
  for (uint32_t i = 0; i < p->nlimits; i++) {
    const char *x = split_sum_text(c, p->limits[i].x, "edge", "at");
    product_limit(k, &t, x, p->limits[i].lo, p->limits[i].hi);
  }
  if (!c->blocks || c->partial) text_printf(&t, " & (ka < %s)", sum_limit(c));
  return t.data;
}

static const char *conv_pointers(Conv *c, const ConcatSource *p, const char *first,
                                 const char *second) {
  Kernel *k = c->k;
  const Node *n = p->operand;
  Dim offset = linear_of_index(k->graph->dims, p->index, n->type.shape, n->type.rank);
  unsigned axes = 0;
  kernel_index(k, offset, &axes);
  const char *text = split_sum_text(c, offset, "row", "move");
  text = arena_printf(k->arena, "%s + (%s)", kernel_buffer(k, p->operand), text);
  return product_pointers(k, text, axes, first, second);
}

/* ---- parts of images ---- */

static bool is_strided(const Conv *c, uint32_t i) { return !dim_is(c->w.stride[i], 1); }

static bool is_spread(const Conv *c, uint32_t i) { return !dim_is(c->w.spread[i], 1); }

/* Variables of a step, so that sums do not join them to the position again. */
static void divide_by_stride(Conv *c, const Dim *at) {
  for (uint32_t i = 0; i < c->w.n; i++)
    if (is_strided(c, i))
      c->met_by[i] = product_strided(c->k, &c->step, 8, &c->w, i, at[i]);
}

/* The element along axis i that a row meets at a step, and its limits: rows may be beyond the
 * result. */
static Dim place_of_image(Conv *c, uint32_t i, Dim at, ConcatSource *p) {
  Dims *d = c->k->graph->dims;
  Dim x, size = c->w.input->type.shape[i + 1], stride = c->w.stride[i], before = c->w.before[i];
  if (is_strided(c, i)) {
    x = dim_add(d, c->place[i + 1], c->met_by[i].over);
  } else if (is_spread(c, i)) {
    Dim spread = c->w.spread[i];
    Dim back = dim_sub(d, dim_add(d, before, spread), c->first[i]);
    x = dim_add(d, dim_add(d, c->place[i + 1], at), dim_int(d, 1));
    x = dim_sub(d, x, dim_floordiv(d, back, spread));
  } else {
    x = dim_sub(d, dim_add(d, c->place[i + 1], dim_mul(d, at, c->w.dilation[i])), before);
  }
  p->limits[p->nlimits].x = x;
  p->limits[p->nlimits].lo = dim_int(d, 0);
  p->limits[p->nlimits++].hi = dim_floordiv(d, size, stride);
  return is_strided(c, i) ? dim_add(d, dim_mul(d, x, stride), c->met_by[i].rest) : x;
}

static void image_piece(Conv *c, const Dim *index, const Dim *at, ConcatSource *p) {
  p->operand = c->w.input;
  p->nlimits = 0;
  memcpy(p->index, index, c->w.input->type.rank * sizeof *index);
  divide_by_stride(c, at);
  for (uint32_t i = 0; i < c->w.n; i++) p->index[i + 1] = place_of_image(c, i, at[i], p);
}

/* ---- operands ---- */

static const char *left(Conv *c, const char **condition) {
  Kernel *k = c->k;
  Dims *d = k->graph->dims;
  Dim at[WINDOW_AXES + 1], index[GRAPH_RANK_MAX];
  uint32_t last = c->node->type.rank - 1;
  ConcatSource p;
  window_position(c, 0, at);
  memcpy(index, c->images ? c->place : k->group->element, last * sizeof *index);
  index[last] = dim_add(d, dim_mul(d, k->group->index[0], c->channels), at[c->w.n]);
  if (c->images) image_piece(c, index, at, &p);
  else window_piece(k->graph, &c->w, index, at, &p);
  *condition = left_condition(c, &p);
  product_source(k, &p);
  return conv_pointers(c, &p, "m", "ka");
}

static const char *right(Conv *c, const char **condition) {
  Kernel *k = c->k;
  ConcatSource p = {.operand = c->w.weight};
  Dims *d = k->graph->dims;
  c->right = true;
  window_position(c, 1, p.index);
  for (uint32_t i = 0; i < c->w.n && c->images; i++)
    if (is_spread(c, i))
      p.index[i] = dim_add(d, c->first[i], dim_mul(d, p.index[i], c->w.spread[i]));
  p.index[c->w.n + 1] = k->group->element[c->node->type.rank - 1];
  product_source(k, &p);
  bool limited = !c->blocks || c->partial;
  *condition = limited ? arena_printf(k->arena, " & (kb < %s)", sum_limit(c)) : "";
  return conv_pointers(c, &p, "kb", "n");
}

/* ---- the loop ---- */

/* How often it goes around, and where it is. */
static const char *begin_step(Conv *c) {
  Kernel *k = c->k;
  Dims *d = k->graph->dims;
  Dim count = dim_int(d, 1);
  for (uint32_t i = 0; i < c->w.n; i++) count = dim_mul(d, count, c->met[i]);
  const char *channels = kernel_operand(k, c->channels), *steps;
  if (c->partial) {
    c->at[0] = c->at[1] = dim_shared_index(d, "position", count);
    kernel_bind(k, c->at[0], "position", AXIS_K);
    text_printf(&c->step, "%8sposition = step\n        start = 0\n", "");
    steps = kernel_operand(k, count);
  } else if (c->blocks) {
    c->at[0] = c->at[1] = dim_shared_index(d, "position", count);
    kernel_bind(k, c->at[0], "position", AXIS_K);
    text_printf(&c->step, "%8sposition = step // (%s // BK)\n", "", channels);
    text_printf(&c->step, "%8sstart = step %% (%s // BK) * BK\n", "", channels);
    steps = arena_printf(k->arena, "%s * (%s // BK)", kernel_operand(k, count), channels);
  } else {
    text_printf(&c->step, "%8sstart = step * BK\n", "");
    steps = arena_printf(k->arena, "tl.cdiv(%s, BK)", kernel_index(k, k->group->extent[3], NULL));
  }
  for (int side = 0; side < 2; side++) {
    const char *name = side ? "kb" : "ka";
    c->index[side] = dim_shared_index(d, name, c->blocks ? c->channels : k->group->extent[3]);
    kernel_bind(k, c->index[side], name, side ? AXIS_M : AXIS_N);
    text_printf(&c->step, "%8s%s = start + tl.arange(0, BK)%s\n", "", name,
                side ? "[:, None]" : "[None, :]");
  }
  return steps;
}

/* ---- rows ---- */

/* What the template says of a tile's rows: constexprs and their product, lines and expressions. */
typedef struct {
  Text sides, size, counts, tiles, place, inside;
} Rows;

static Rows new_rows(Conv *c) {
  Arena *a = c->k->arena;
  return (Rows){text_new(a), text_new(a), text_new(a), text_new(a), text_new(a), text_new(a)};
}

static Rows consecutive_rows(Conv *c) {
  Rows r = new_rows(c);
  const char *m = kernel_extent(c->k, c->k->group->extent[1]);
  text_puts(&r.sides, "BM: tl.constexpr");
  text_puts(&r.size, "BM");
  text_printf(&r.tiles, "tl.cdiv(%s, BM)", m);
  text_puts(&r.place, "    m = (band + pid % (8 * columns) % height) * BM + "
                      "tl.arange(0, BM)[:, None]\n");
  text_printf(&r.inside, "m < %s", m);
  return r;
}

static void bind_place(Conv *c, uint32_t axis, const char *name) {
  Kernel *k = c->k;
  c->place[axis] = dim_shared_index(k->graph->dims, name, c->node->type.shape[axis]);
  kernel_bind(k, c->place[axis], name, AXIS_M);
}

/* A variable of the program. */
static Dim program_number(Conv *c, Rows *r, const char *base, Dim extent, const char *text) {
  const char *name = kernel_fresh(c->k, base);
  text_printf(&r->counts, "    %s = %s\n", name, text);
  Dim x = dim_shared_index(c->k->graph->dims, name, extent);
  kernel_bind(c->k, x, name, 0);
  return x;
}

/* The phase along an axis; the result: its first position. */
static Dim bind_phase(Conv *c, Rows *r, uint32_t i, int64_t *inner) {
  Kernel *k = c->k;
  Dims *d = k->graph->dims;
  Dim spread = c->w.spread[i], size = c->w.size[i];
  long long by = spread->value, below = *inner;
  c->first[i] = program_number(
      c, r, "first", spread,
      arena_printf(k->arena, "tl.program_id(2) // %lld %% %lld", below, by));
  *inner *= spread->value;
  Dim met = dim_sub(d, dim_add(d, size, dim_int(d, by - 1)), c->first[i]), one = dim_int(d, 1);
  const char *text = kernel_index(k, dim_floordiv(d, met, spread), NULL);
  c->met[i] = program_number(c, r, "met", dim_add(d, size, one), text);
  c->count[i] = size->value < by ? one : c->met[i];
  Dim back = dim_sub(d, dim_add(d, c->w.before[i], spread), c->first[i]);
  text = kernel_index(k, dim_mod(d, back, spread), NULL);
  return program_number(c, r, "phase", spread, text);
}

/* Parts of images, the last axis first: what is left of the tile's and the row's number is that of
 * the others. */
static Rows rows_of_images(Conv *c) {
  static const char *const names[] = {"x", "y", "z"}, *const counts[] = {"across", "down", "deep"};
  Kernel *k = c->k;
  Dims *d = k->graph->dims;
  Rows r = new_rows(c);
  const ValueType *t = &c->node->type;
  const char *images = kernel_extent(k, t->shape[0]);
  text_puts(&r.sides, "BI: tl.constexpr");
  text_puts(&r.size, "BI");
  text_printf(&r.tiles, "tl.cdiv(%s, BI)", images);
  text_puts(&r.place, "    part = band + pid % (8 * columns) % height\n");
  text_printf(&r.inside, "(image < %s)", images);
  Dim out[WINDOW_AXES + 1];
  int64_t inner = 1;
  for (uint32_t i = 0; i < c->w.n; i++) text_printf(&r.size, " * %s", image_side(i));
  text_printf(&r.place, "    r = tl.arange(0, %s)[:, None]\n", r.size.data);
  bind_place(c, 0, "image");
  out[0] = c->place[0];
  for (uint32_t i = 0; i < c->w.n; i++) {
    const char *side = image_side(i), *x = names[i], *count = counts[i];
    uint32_t axis = c->w.n - i;
    const char *extent = kernel_extent(k, image_extent(k->graph, c->node, axis));
    bind_place(c, axis, x);
    out[axis] = c->place[axis];
    if (is_spread(c, axis - 1)) {
      Dim first = bind_phase(c, &r, axis - 1, &inner);
      out[axis] = dim_add(d, dim_mul(d, out[axis], c->w.spread[axis - 1]), first);
    }
    text_printf(&r.sides, ", %s: tl.constexpr", side);
    text_printf(&r.counts, "    %s = tl.cdiv(%s, %s)\n", count, extent, side);
    text_printf(&r.tiles, " * %s", count);
    text_printf(&r.place, "    %s = part %% %s * %s + r %% %s\n", x, count, side, side);
    text_printf(&r.place, "    part, r = part // %s, r // %s\n", count, side);
    text_printf(&r.inside, " & (%s < %s)", kernel_index(k, out[axis], NULL),
                kernel_extent(k, t->shape[axis]));
  }
  Dim m = linear_of_index(d, out, t->shape, t->rank - 1);
  text_printf(&r.place, "    image = part * BI + r\n    m = %s\n", kernel_index(k, m, NULL));
  return r;
}

/* The reads of a kernel's loop, and the number of its iterations. */
typedef struct {
  const char *steps, *left, *right, *left_condition, *right_condition, *precision;
} Loop;

/* ---- the right operand ---- */

/* On a CPU whole tiles of whole blocks have no mask: then the operand is read in place. */
static const char *right_load(Conv *c, const Loop *l) {
  Kernel *k = c->k;
  Dim n = k->group->extent[2];
  const char *load = arena_printf(k->arena, "right = tl.load(%s, mask=nmask%s, other=0.0)",
                                  l->right, l->right_condition);
  if (!k->graph->host || !c->blocks || !dim_is_int(n))
    return arena_printf(k->arena, "        %s", load);
  return arena_printf(k->arena,
                      "        if %lld %% BN == 0:\n"
                      "            right = tl.load(%s)\n"
                      "        else:\n"
                      "            %s",
                      (long long)n->value, l->right, load);
}

/* Rows of a band.  A CPU's addresses take that it is positive. */
static const char *height_text(const Conv *c) {
  return c->k->graph->host ? "tl.maximum(tl.minimum(rows - band, 8), 1)"
                           : "tl.minimum(rows - band, 8)";
}

/* ---- joined groups ---- */

/* 0 times a number that is not finite is NaN, also where the number is of another group: then the
 * tile is computed again, a group at a time. */
static const char *groups_apart(Conv *c, const char *size, const Loop *l) {
  int64_t joined = window_joined(c->k->graph, c->node);
  if (joined == 1 || c->node->type.dtype == DT_I32) return "";
  Kernel *k = c->k;
  Text t = text_new(k->arena);
  long long channels = c->channels->value / joined;
  long long features = c->k->group->extent[2]->value / joined;
  const char *of_position =
      c->blocks ? "" : arena_printf(k->arena, " %% %lld", (long long)c->channels->value);
  text_printf(&t,
              "    if tl.max((acc != acc).to(tl.int32)) > 0:\n"
              "        # A number that is not finite is a matter of its own group.\n"
              "        acc = tl.zeros([%s, BN], dtype=tl.float32)\n"
              "        for turn in tl.range(0, %lld * (%s), num_stages=1):\n"
              "            group, step = turn // (%s), turn %% (%s)\n%s",
              size, (long long)joined, l->steps, l->steps, l->steps,
              product_indented(k, c->step.data, 4));
  text_printf(&t,
              "            left = tl.load(%s, mask=%s, other=0.0)\n"
              "            right = tl.load(%s, mask=nmask%s, other=0.0)\n"
              "            left = tl.where(ka%s // %lld == group, left, 0.0)\n"
              "            own = tl.dot(left, right%s)\n"
              "            acc = tl.where(n // %lld == group, acc + own, acc)\n",
              l->left, l->left_condition, l->right, l->right_condition, of_position, channels,
              l->precision, features);
  return t.data;
}

void kernel_conv(Text *out, Kernel *k) {
  const Group *g = k->group;
  Conv c = {.k = k, .node = g->nodes.data[0]};
  Loop l;
  c.w = window_of(k->graph, c.node);
  c.channels = c.w.weight->type.shape[c.w.n];
  int64_t block = convolution_block(k->graph, c.node);
  c.blocks = block != 0;
  c.partial = c.blocks && !window_block(c.node);
  c.images = convolution_reads_images(k->f, g);
  memcpy(c.met, c.w.size, sizeof c.met);
  memcpy(c.count, c.w.size, sizeof c.count);
  c.rows = text_new(k->arena);
  c.step = text_new(k->arena);
  product_bind(k);
  Rows rows = c.images ? rows_of_images(&c) : consecutive_rows(&c);
  l.precision = window_rounded(k->graph, c.node)
                    ? ", input_precision=\"tf32\""
                    : product_precision(k->graph, c.node->type.dtype, ROUNDS_AS_CONVOLUTION);
  l.steps = begin_step(&c);
  l.left = left(&c, &l.left_condition);
  l.right = right(&c, &l.right_condition);
  product_epilogue(k);
  Slot slots[] = {
      {"n", kernel_extent(k, g->extent[2])},
      {"sides", rows.sides.data},
      {"size", rows.size.data},
      {"sums", dtype_lang_name(product_sums(c.node))},
      {"height", height_text(&c)},
      {"counts", rows.counts.len ? rows.counts.data : ""},
      {"tiles", rows.tiles.data},
      {"place", rows.place.data},
      {"inside", rows.inside.data},
      {"rows", c.rows.len ? c.rows.data : ""},
      {"steps", l.steps},
      {"step", c.step.data},
      {"left", l.left},
      {"left_condition", l.left_condition},
      {"right_load", right_load(&c, &l)},
      {"precision", l.precision},
      {"apart", groups_apart(&c, rows.size.data, &l)}};
  Text one = text_new(k->arena);
  kernel_emit(&one, k, "convolution.py", slots, sizeof slots / sizeof *slots);
  if (product_persists(k->f, g)) product_loop(out, one.data, kernel_wide(k));
  else text_puts(out, one.data);
}
