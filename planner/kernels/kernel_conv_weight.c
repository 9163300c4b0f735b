/* Kernels of GROUP_MATMUL: one nereid.conv_weight, the gradient of a convolution's weight.
 *
 * A product of matrices whose rows are output channels and whose columns are the input channels at
 * a position of the window.  A step sums up a part of some images, which is a box of either operand
 * (planner/fuse/image_tiles.c): the part's windows, and their elements at the position. */
#include <string.h>

#include "planner/kernels/kernel_product.h"

typedef struct {
  Kernel *k;
  const Node *node;
  Window w;
  Dim position[WINDOW_AXES];    /* of the window, of the tile's columns */
  Strides strides[WINDOW_AXES]; /* where the window has a stride */
  Dim channel, output;
  int64_t images; /* of a part, where parts are whole images: program_id(1) is one; else 0 */
} WeightGradient;

/* A window of an operand: its image, and its place there. */
typedef struct {
  Dim at[WINDOW_AXES + 1];
  const char *lines;
} Place;

/* ---- parts of variables that other kernels have, too ---- */

static Dim variable(Kernel *k, Text *lines, int indent, const char *base, Dim x) {
  const char *name = kernel_fresh(k, base), *text = kernel_index(k, x, NULL);
  text_printf(lines, "%*s%s = %s\n", indent, "", name, text);
  Dim v = dim_shared_index(k->graph->dims, name, dim_huge(k->graph->dims));
  kernel_bind(k, v, name, AXIS_K);
  return v;
}

Strides product_strided(Kernel *k, Text *lines, int indent, const Window *w, uint32_t i, Dim at) {
  Dims *d = k->graph->dims;
  Dim stride = w->stride[i], before = w->before[i], one = dim_int(d, 1);
  /* So many strides make the position a natural number. */
  Dim more = dim_floordiv(d, dim_add(d, before, dim_sub(d, stride, one)), stride);
  Dim x = dim_add(d, dim_mul(d, at, w->dilation[i]), dim_mul(d, more, stride));
  x = dim_sub(d, x, before);
  return (Strides){
      variable(k, lines, indent, "over", dim_sub(d, dim_floordiv(d, x, stride), more)),
      variable(k, lines, indent, "rest", dim_mod(d, x, stride))};
}

/* ---- the tile's columns ---- */

static const char *window_lines(WeightGradient *c) {
  Kernel *k = c->k;
  Dims *d = k->graph->dims;
  Text lines = text_new(k->arena);
  Dim position = dim_shared_index(d, "position", window_count(k->graph, &c->w));
  c->channel = dim_shared_index(d, "c", c->w.input->type.shape[c->w.n + 1]);
  kernel_bind(k, position, "position", AXIS_K);
  kernel_bind(k, c->channel, "c", AXIS_N);
  index_of_linear(d, position, c->w.size, c->w.n, c->position);
  for (uint32_t i = 0; i < c->w.n; i++)
    if (!dim_is(c->w.stride[i], 1))
      c->strides[i] = product_strided(k, &lines, 4, &c->w, i, c->position[i]);
  return lines.len ? lines.data : "";
}

/* ---- the parts of images ---- */

/* The number of parts along each axis, and the windows of a part, the last axis first.  A `ragged`
 * part has windows beyond the gradient. */
typedef struct {
  Text sides, counts, size, all, ragged;
} Parts;

static const char *const counts[] = {"across", "down", "deep"};

/* Parts of one window along an axis are left out whose element, at the tile's position of
 * the window, is outside of the image. */
static void leave_out_outside(WeightGradient *c, Text *lines, uint32_t i) {
  Kernel *k = c->k;
  Dims *d = k->graph->dims;
  uint32_t axis = c->w.n - 1 - i;
  if (!dim_is(c->w.stride[axis], 1)) return;
  Dim least = dim_sub(d, c->w.before[axis], dim_mul(d, c->position[axis], c->w.dilation[axis]));
  Dim end = dim_add(d, least, c->w.input->type.shape[axis + 1]);
  const char *extent = kernel_extent(k, c->node->args[0].node->type.shape[axis + 1]);
  text_printf(lines, "    if %s == 1:\n", image_side(i));
  text_printf(lines, "        %s_first = tl.maximum(%s, 0)\n", counts[i],
              kernel_index(k, least, NULL));
  text_printf(lines, "        %s = tl.maximum(tl.minimum(%s, %s) - %s_first, 1)\n", counts[i],
              extent, kernel_index(k, end, NULL), counts[i]);
}

static Parts parts_of(WeightGradient *c) {
  Kernel *k = c->k;
  const ValueType *t = &c->node->args[0].node->type;
  Arena *a = k->arena;
  Parts p = {text_new(a), text_new(a), text_new(a), text_new(a), text_new(a)};
  text_puts(&p.sides, "BI: tl.constexpr");
  text_puts(&p.size, "BI");
  Dim images = c->images ? dim_int(k->graph->dims, c->images) : t->shape[0];
  text_printf(&p.all, "tl.cdiv(%s, BI)", kernel_extent(k, images));
  for (uint32_t i = 0; i < c->w.n; i++) {
    const char *side = image_side(i), *extent = kernel_extent(k, t->shape[c->w.n - i]);
    text_printf(&p.sides, ", %s: tl.constexpr", side);
    text_printf(&p.counts, "    %s_first, %s = 0, tl.cdiv(%s, %s)\n", counts[i], counts[i], extent,
                side);
    leave_out_outside(c, &p.counts, i);
    text_printf(&p.size, " * %s", side);
    text_printf(&p.all, " * %s", counts[i]);
    text_printf(&p.ragged, "%s%s %% %s != 0", i ? " or " : "", extent, side);
  }
  return p;
}

/* The windows of a step's part, as columns of the left operand or rows of the right one. */
static Place place_of_part(WeightGradient *c, const Parts *p, bool left) {
  static const char *const names[] = {"x", "y", "z"};
  Kernel *k = c->k;
  Dims *d = k->graph->dims;
  const ValueType *t = &c->node->args[0].node->type;
  const char *side = left ? "left" : "right";
  unsigned axis = left ? AXIS_N : AXIS_M;
  Place place = {.lines = ""};
  Text lines = text_new(k->arena);
  text_printf(&lines, "        part = step\n        r = tl.arange(0, %s)[%s]\n", p->size.data,
              left ? "None, :" : ":, None");
  for (uint32_t i = 0; i <= c->w.n; i++) {
    uint32_t at = c->w.n - i;
    const char *base = arena_printf(k->arena, "%s_%s", at ? names[i] : "image", side);
    const char *name = kernel_fresh(k, base);
    place.at[at] = dim_shared_index(d, name, t->shape[at]);
    kernel_bind(k, place.at[at], name, axis);
    if (!at) {
      text_printf(&lines, "        %s = ", name);
      if (c->images) text_printf(&lines, "batch * %lld + ", (long long)c->images);
      text_puts(&lines, "part * BI + r\n");
      break;
    }
    text_printf(&lines, "        %s = %s_first + part %% %s * %s + r %% %s\n", name, counts[i],
                counts[i], image_side(i), image_side(i));
    text_printf(&lines, "        part, r = part // %s, r // %s\n", counts[i], image_side(i));
  }
  place.lines = lines.data;
  return place;
}

/* ---- operands ---- */

/* The load of an operand, whose limits along images are added. */
static const char *load_of(WeightGradient *c, const Place *at, ConcatSource *p, bool left) {
  Kernel *k = c->k;
  Text mask = text_new(k->arena);
  Dim images = c->node->args[0].node->type.shape[0];
  text_printf(&mask, "%s & (%s < ", left ? "mmask" : "nmask", kernel_index(k, at->at[0], NULL));
  if (c->images) text_printf(&mask, "batch * %lld + %lld)", (long long)c->images,
                             (long long)c->images);
  else text_printf(&mask, "%s)", kernel_extent(k, images));
  for (uint32_t i = 0; i < p->nlimits; i++)
    product_limit(k, &mask, kernel_index(k, p->limits[i].x, NULL), p->limits[i].lo,
                  p->limits[i].hi);
  product_source(k, p);
  const ValueType *t = &p->operand->type;
  Dim offset = linear_of_index(k->graph->dims, p->index, t->shape, t->rank);
  unsigned axes = 0;
  const char *index = kernel_index(k, offset, &axes);
  const char *pointers = arena_printf(k->arena, "%s + (%s)", kernel_buffer(k, p->operand), index);
  const char *window = kernel_index(k, at->at[0], NULL);
  pointers = product_pointers(k, pointers, axes, left ? "m" : window, left ? window : "c");
  return arena_printf(k->arena, "tl.load(%s, mask=%s, other=0.0)", pointers, mask.data);
}

static const char *gradient(WeightGradient *c, const Place *at) {
  ConcatSource p = {.operand = c->node->args[0].node};
  const ValueType *t = &p.operand->type;
  memcpy(p.index, at->at, (c->w.n + 1) * sizeof *p.index);
  p.index[c->w.n + 1] = c->output;
  for (uint32_t i = 1; i <= c->w.n; i++) {
    p.limits[p.nlimits].x = at->at[i];
    p.limits[p.nlimits++].hi = t->shape[i];
  }
  return load_of(c, at, &p, true);
}

/* Are the windows of the right operand's rows windows of the gradient? */
static const char *within_gradient(WeightGradient *c, const Place *at) {
  Kernel *k = c->k;
  const ValueType *t = &c->node->args[0].node->type;
  Text all = text_new(k->arena);
  for (uint32_t i = 1; i <= c->w.n; i++)
    text_printf(&all, "%s(%s < %s)", i > 1 ? " & " : "", kernel_index(k, at->at[i], NULL),
                kernel_extent(k, t->shape[i]));
  return all.data;
}

/* The windows' elements at the tile's position. */
static const char *input(WeightGradient *c, const Place *at) {
  Dims *d = c->k->graph->dims;
  ConcatSource p = {.operand = c->w.input};
  p.index[0] = at->at[0];
  p.index[c->w.n + 1] = c->channel;
  for (uint32_t i = 0; i < c->w.n; i++) {
    bool strided = !dim_is(c->w.stride[i], 1);
    Dim x = dim_mul(d, c->position[i], c->w.dilation[i]);
    x = strided ? c->strides[i].over : dim_sub(d, x, c->w.before[i]);
    x = dim_add(d, at->at[i + 1], x);
    p.limits[p.nlimits].x = x;
    p.limits[p.nlimits].lo = dim_int(d, 0);
    p.limits[p.nlimits++].hi =
        dim_floordiv(d, c->w.input->type.shape[i + 1], c->w.stride[i]);
    if (strided) x = dim_add(d, dim_mul(d, x, c->w.stride[i]), c->strides[i].rest);
    p.index[i + 1] = x;
  }
  return load_of(c, at, &p, false);
}

/* Names that the template has, and others do not. */
static void take_names(Kernel *k) {
  static const char *const names[] = {"c",            "steps",      "each",      "last",
                                      "across_first", "down_first", "deep_first"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    kernel_take(k, pool_name(k->graph->names, names[i]));
}

/* The images of a part; 0: parts are any steps. */
static int64_t images_of_part(Graph *g, const Node *n) {
  Dim images = n->args[0].node->type.shape[0], parts = n->type.shape[0];
  bool whole = (g->host || window_outputs_last(g, n)) && dim_is_int(images) && dim_is_int(parts) &&
               parts->value > 1 && images->value % parts->value == 0;
  return whole ? images->value / parts->value : 0;
}

void kernel_conv_weight(Text *out, Kernel *k) {
  WeightGradient c = {.k = k, .node = k->group->nodes.data[0]};
  const Dim *extent = k->group->extent;
  bool last = window_outputs_last(k->graph, c.node);
  c.w = window_of(k->graph, c.node);
  c.output = k->group->index[last ? 2 : 1];
  c.images = images_of_part(k->graph, c.node);
  take_names(k);
  if (last) product_bind_turned(k);
  else product_bind(k);
  const char *window = window_lines(&c);
  Parts parts = parts_of(&c);
  Place left = place_of_part(&c, &parts, true), right = place_of_part(&c, &parts, false);
  const char *grad = gradient(&c, &left), *x = input(&c, &right);
  product_epilogue(k);
  Slot slots[] = {{"m", kernel_extent(k, extent[last ? 2 : 1])},
                  {"channels", kernel_extent(k, c.w.input->type.shape[c.w.n + 1])},
                  {"sides", parts.sides.data},
                  {"precision", product_precision(k->graph, c.w.input->type.dtype,
                                                  ROUNDS_AS_CONVOLUTION)},
                  {"counts", parts.counts.data},
                  {"steps", parts.all.data},
                  {"parts", c.images ? "1" : kernel_extent(k, extent[0])},
                  {"turn", c.images ? "0" : "batch"},
                  {"window", window},
                  {"left_place", left.lines},
                  {"right_place", right.lines},
                  {"ragged", parts.ragged.data},
                  {"left_again", product_indented(k, left.lines, 8)},
                  {"right_again", product_indented(k, right.lines, 8)},
                  {"within", within_gradient(&c, &right)},
                  {"left", grad},
                  {"right", x}};
  kernel_emit(out, k, "convolution_weight.py", slots, sizeof slots / sizeof *slots);
}
