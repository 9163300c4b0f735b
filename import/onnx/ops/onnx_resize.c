/* Resize and Upsample.
 *
 * Axes are independent of each other.  Along an axis each element of the result is a sum of a few
 * elements, the taps, times their weights; which ones they are depends on sizes alone, so that
 * they are computed here, and the graph has tables of them. */
#include <math.h>
#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/onnx_op.h"

enum { TAPS_MAX = 64 };

typedef enum { NEAREST, LINEAR, CUBIC } Interpolation;

typedef struct {
  Interpolation mode;
  const char *coordinates, *nearest; /* attributes of the same names */
  double cubic;                      /* cubic_coeff_a */
  bool exclude_outside, antialias;
  double extrapolation;
} Resizing;

/* How one axis is resized. */
typedef struct {
  int64_t from, to;
  double scale;      /* of the result to the input */
  double start, end; /* the region, of tf_crop_and_resize */
} Axis;

/* ---- coordinates ---- */

/* The input's coordinate of element x of the result, as coordinate_transformation_mode says. */
static double source_coordinate(const Resizing *r, const Axis *a, int64_t x) {
  const char *how = r->coordinates;
  double n = (double)a->from, m = (double)a->to, i = (double)x;
  if (!strcmp(how, "asymmetric")) return i / a->scale;
  if (!strcmp(how, "align_corners")) return a->to == 1 ? 0 : i * (n - 1) / (n * a->scale - 1);
  if (!strcmp(how, "pytorch_half_pixel")) return m > 1 ? (i + 0.5) / a->scale - 0.5 : 0;
  if (!strcmp(how, "tf_half_pixel_for_nn")) return (i + 0.5) / a->scale;
  if (!strcmp(how, "tf_crop_and_resize")) {
    if (a->to == 1) return 0.5 * (a->start + a->end) * (n - 1);
    return a->start * (n - 1) + i * (a->end - a->start) * (n - 1) / (m - 1);
  }
  if (!strcmp(how, "half_pixel_symmetric")) {
    double adjusted = m / (a->scale * n), center = n / 2;
    return center * (1 - adjusted) + (i + 0.5) / a->scale - 0.5;
  }
  return (i + 0.5) / a->scale - 0.5;
}

static double nearest_of(const Resizing *r, double x) {
  const char *how = r->nearest;
  if (!strcmp(how, "floor")) return floor(x);
  if (!strcmp(how, "ceil")) return ceil(x);
  if (!strcmp(how, "round_prefer_ceil")) return floor(x + 0.5);
  return ceil(x - 0.5); /* round_prefer_floor */
}

/* ---- weights ---- */

static double cubic_weight(double a, double x) {
  x = fabs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double weight_at(const Resizing *r, double distance) {
  if (r->mode == CUBIC) return cubic_weight(r->cubic, distance);
  return fabs(distance) < 1 ? 1 - fabs(distance) : 0;
}

typedef struct {
  uint32_t n;
  int64_t at[TAPS_MAX];
  double weight[TAPS_MAX];
} Taps;

static int64_t clamp_to_axis(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

/* The filter is widened if an axis shrinks and `antialias` is set. */
static void find_taps(const Resizing *r, const Axis *a, double x, Taps *t) {
  double stretch = r->antialias && a->scale < 1 ? 1 / a->scale : 1, sum = 0;
  double radius = (r->mode == CUBIC ? 2 : 1) * stretch;
  int64_t first = (int64_t)floor(x - radius) + 1, last = (int64_t)ceil(x + radius) - 1;
  if (stretch == 1)
    first = (int64_t)floor(x) - (r->mode == CUBIC), last = first + 2 * (int)radius - 1;
  t->n = 0;
  for (int64_t i = first; i <= last && t->n < TAPS_MAX; i++) {
    double w = weight_at(r, ((double)i - x) / stretch);
    if (r->exclude_outside && (i < 0 || i >= a->from)) w = 0;
    t->at[t->n] = clamp_to_axis(i, a->from);
    t->weight[t->n++] = w;
    sum += w;
  }
  for (uint32_t i = 0; i < t->n && (r->exclude_outside || stretch != 1) && sum != 0; i++)
    t->weight[i] /= sum;
}

/* ---- one axis ---- */

static Node *table_constant(OnnxCall *c, OnnxKnown *k) { return onnx_constant(c, k); }

static Node *select_indices(OnnxCall *c, Node *x, uint32_t axis, OnnxKnown *indices) {
  Arg args[] = {arg_node(x), build_int(&c->b, axis), arg_node(table_constant(c, indices))};
  return build(&c->b, OP_aten_index_select_default, 3, args);
}

static OnnxKnown *weight_table_new(OnnxCall *c, DType t, int64_t n) {
  OnnxKnown *k = onnx_known_new(c, t, 1, &n);
  if (!k) onnx_lack(c, "an axis of more than %d elements", ONNX_KNOWN_MAX);
  return k;
}

/* Outside of the region there is one value. */
static Node *extrapolated(OnnxCall *c, const Resizing *r, const Axis *a, Node *x, uint32_t axis) {
  if (strcmp(r->coordinates, "tf_crop_and_resize")) return x;
  OnnxKnown *k = weight_table_new(c, DT_I1, a->to);
  for (int64_t i = 0; i < a->to; i++) {
    double at = source_coordinate(r, a, i);
    k->at[i].dim = build_const(&c->b, at < 0 || at > (double)(a->from - 1));
  }
  Node *out = build_along(&c->b, table_constant(c, k), axis, rank_of(x));
  Node *value = onnx_scalar(c, r->extrapolation, x->type.dtype);
  return build_where(&c->b, out, arg_node(value), arg_node(x));
}

static Node *resize_nearest(OnnxCall *c, const Resizing *r, const Axis *a, Node *x, uint32_t axis) {
  OnnxKnown *k = weight_table_new(c, DT_I64, a->to);
  for (int64_t i = 0; i < a->to; i++) {
    int64_t at = clamp_to_axis((int64_t)nearest_of(r, source_coordinate(r, a, i)), a->from);
    k->at[i].dim = build_const(&c->b, at);
  }
  return select_indices(c, x, axis, k);
}

static Node *resize_smooth(OnnxCall *c, const Resizing *r, const Axis *a, Node *x, uint32_t axis) {
  Build *b = &c->b;
  Taps *taps = ARENA_ARRAY(b->in.g->arena, Taps, a->to);
  Node *sum = NULL;
  uint32_t most = 0;
  for (int64_t i = 0; i < a->to; i++) {
    find_taps(r, a, source_coordinate(r, a, i), &taps[i]);
    if (taps[i].n == TAPS_MAX) onnx_lack(c, "a scale below 1/%d", TAPS_MAX / 4);
    if (taps[i].n > most) most = taps[i].n;
  }
  for (uint32_t t = 0; t < most; t++) {
    OnnxKnown *indices = weight_table_new(c, DT_I64, a->to),
              *weights = weight_table_new(c, x->type.dtype, a->to);
    for (int64_t i = 0; i < a->to; i++) {
      bool has = t < taps[i].n;
      indices->at[i].dim = build_const(b, has ? taps[i].at[t] : 0);
      weights->at[i].number = has ? taps[i].weight[t] : 0;
    }
    Node *weight = build_along(b, table_constant(c, weights), axis, rank_of(x));
    Node *part = build_mul(b, select_indices(c, x, axis, indices), weight);
    sum = sum ? build_add(b, sum, part) : part;
  }
  return sum ? sum : x;
}

static Node *resize_along(OnnxCall *c, const Resizing *r, const Axis *a, Node *x, uint32_t axis) {
  bool crops = !strcmp(r->coordinates, "tf_crop_and_resize");
  if (a->from == a->to && a->scale == 1 && !crops) return x;
  Dim zero = build_const(&c->b, 0);
  if (a->to < 1) return build_slice(&c->b, x, axis, zero, zero, 1);
  if (a->from < 1) onnx_fail(c, E_GRAPH_NOTHING, axis, infer_type_text(&c->b.in, &x->type));
  if (a->to > ONNX_KNOWN_MAX) onnx_lack(c, "an axis of more than %d elements", ONNX_KNOWN_MAX);
  x = r->mode == NEAREST ? resize_nearest(c, r, a, x, axis) : resize_smooth(c, r, a, x, axis);
  return extrapolated(c, r, a, x, axis);
}

/* ---- the operators ---- */

static void read_mode(OnnxCall *c, Resizing *r) {
  Name mode = onnx_string(c, "mode", "nearest");
  if (!strcmp(mode, "nearest")) r->mode = NEAREST;
  else if (!strcmp(mode, "linear") || !strcmp(mode, "bilinear")) r->mode = LINEAR;
  else if (!strcmp(mode, "cubic")) r->mode = CUBIC;
  else onnx_fail(c, E_ONNX_ATTR_VALUE, "mode", mode);
}

/* Scales of all axes from a list of them; sizes follow. */
static void scale_axes(OnnxCall *c, const Node *x, const double *scales, uint32_t n,
                       const uint32_t *axes, Axis *out) {
  for (uint32_t i = 0; i < n; i++) {
    Axis *a = &out[axes[i]];
    Dim size = x->type.shape[axes[i]];
    if (!(scales[i] > 0) || scales[i] > 1e6) onnx_fail(c, E_GRAPH_SCALE, scales[i]);
    if (scales[i] == 1) continue;
    if (!dim_is_int(size)) onnx_lack(c, "an axis of symbolic size");
    if (size->value > INT32_MAX) onnx_lack(c, "an axis of 2^31 elements");
    a->scale = scales[i];
    a->from = size->value;
    a->to = (int64_t)floor((double)size->value * scales[i]);
  }
}

/* Larger, or smaller: all axes get one scale, by keep_aspect_ratio_policy. */
static void keep_aspect(OnnxCall *c, const uint32_t *axes, uint32_t n, Axis *out) {
  Name how = onnx_string(c, "keep_aspect_ratio_policy", "stretch");
  if (!strcmp(how, "stretch")) return;
  bool larger = !strcmp(how, "not_smaller");
  if (!larger && strcmp(how, "not_larger"))
    onnx_fail(c, E_ONNX_ATTR_VALUE, "keep_aspect_ratio_policy", how);
  double scale = larger ? 0 : INFINITY;
  for (uint32_t i = 0; i < n; i++)
    scale = larger ? fmax(scale, out[axes[i]].scale) : fmin(scale, out[axes[i]].scale);
  for (uint32_t i = 0; i < n; i++) {
    Axis *a = &out[axes[i]];
    a->scale = scale;
    a->to = (int64_t)floor(scale * (double)a->from + 0.5);
  }
}

static void size_axes(OnnxCall *c, const Node *x, uint32_t input, const uint32_t *axes, uint32_t n,
                      Axis *out) {
  Dim sizes[GRAPH_RANK_MAX];
  uint32_t count = onnx_need_dims(c, input, sizes);
  if (count != n) onnx_fail(c, E_ONNX_ATTR_COUNT, "sizes", count, n);
  for (uint32_t i = 0; i < n; i++) {
    Dim from = x->type.shape[axes[i]];
    if (from == sizes[i]) continue;
    if (!dim_is_int(from) || !dim_is_int(sizes[i])) onnx_lack(c, "an axis of symbolic size");
    if (sizes[i]->value < 1 || from->value < 1)
      onnx_fail(c, E_GRAPH_STEP, (long long)sizes[i]->value);
    if (sizes[i]->value > INT32_MAX || from->value > INT32_MAX)
      onnx_lack(c, "an axis of 2^31 elements");
    out[axes[i]] = (Axis){.from = from->value, .to = sizes[i]->value, .end = 1};
    out[axes[i]].scale = (double)sizes[i]->value / (double)from->value;
  }
  keep_aspect(c, axes, n, out);
}

static uint32_t need_numbers(OnnxCall *c, uint32_t i, double *out) {
  const OnnxKnown *k = onnx_need(c, i);
  if (k->n > GRAPH_RANK_MAX || !dtype_is_float(k->dtype))
    onnx_fail(c, E_ONNX_VECTOR, c->in[i]->name);
  for (uint32_t j = 0; j < k->n; j++) out[j] = k->at[j].number;
  return k->n;
}

static bool is_empty_input(OnnxCall *c, uint32_t i) {
  const ValueType *t = onnx_type(c, i);
  return t->rank == 1 && dim_is(t->shape[0], 0);
}

/* The axes that attribute `axes` names, all without it. */
static uint32_t resized_axes(OnnxCall *c, uint32_t rank, uint32_t *axes) {
  uint32_t n;
  const int64_t *list = onnx_ints(c, "axes", &n);
  if (list) onnx_axis_set(c, list, n, rank);
  else n = rank;
  for (uint32_t i = 0; i < n; i++) axes[i] = list ? onnx_axis(c, list[i], rank) : i;
  return n;
}

static void read_roi(OnnxCall *c, uint32_t n, const uint32_t *axes, const Node *x, Axis *out) {
  double roi[GRAPH_RANK_MAX];
  uint32_t count = need_numbers(c, 1, roi);
  if (count != 2 * n) onnx_fail(c, E_ONNX_ATTR_COUNT, "roi", count, 2 * n);
  for (uint32_t i = 0; i < n; i++) {
    Axis *a = &out[axes[i]];
    Dim size = x->type.shape[axes[i]];
    if (a->from < 0 && !dim_is_int(size)) continue; /* not resized */
    if (a->from < 0) a->from = a->to = size->value;
    if (a->from > INT32_MAX) onnx_lack(c, "an axis of 2^31 elements");
    if (!(fabs(roi[i]) <= 1e6) || !(fabs(roi[n + i]) <= 1e6))
      onnx_lack(c, "a region from %g to %g", roi[i], roi[n + i]);
    a->start = roi[i];
    a->end = roi[n + i];
  }
}

static void resize_axes(OnnxCall *c, const Resizing *r, const Axis *axes, Node *x) {
  DType t = x->type.dtype;
  if (r->mode != NEAREST) x = build_to(&c->b, x, dtype_is_float(t) ? build_wide(t) : DT_F32);
  for (uint32_t i = 0; i < rank_of(x); i++)
    if (axes[i].from >= 0) x = resize_along(c, r, &axes[i], x, i);
  onnx_set(c, 0, build_to(&c->b, x, t));
}

void onnx_op_resize(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  uint32_t axes[GRAPH_RANK_MAX], n = resized_axes(c, rank_of(x), axes);
  Axis out[GRAPH_RANK_MAX];
  bool old = c->opset < 11; /* inputs x and scales, as Upsample */
  double scales[GRAPH_RANK_MAX];
  Resizing r = {.nearest = onnx_string(c, "nearest_mode", old ? "floor" : "round_prefer_floor")};
  read_mode(c, &r);
  r.coordinates =
      onnx_string(c, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  r.cubic = onnx_float(c, "cubic_coeff_a", -0.75);
  r.exclude_outside = onnx_flag(c, "exclude_outside", false);
  r.antialias = onnx_flag(c, "antialias", false);
  r.extrapolation = onnx_float(c, "extrapolation_value", 0);
  onnx_ignore(c, "keep_aspect_ratio_policy"); /* only of sizes */
  for (uint32_t i = 0; i < rank_of(x); i++) out[i] = (Axis){.from = -1, .scale = 1, .end = 1};
  uint32_t at = old ? 1 : 2;
  if (onnx_has(c, at) && !is_empty_input(c, at)) {
    uint32_t count = need_numbers(c, at, scales);
    if (count != n) onnx_fail(c, E_ONNX_ATTR_COUNT, "scales", count, n);
    scale_axes(c, x, scales, n, axes, out);
  } else {
    size_axes(c, x, 3, axes, n, out);
  }
  if (!strcmp(r.coordinates, "tf_crop_and_resize")) read_roi(c, n, axes, x, out);
  resize_axes(c, &r, out, x);
}

/* Scales are attributes before opset 9, and integers of com.microsoft.nchwc. */
static uint32_t upsample_scales(OnnxCall *c, double *out) {
  uint32_t n = 0, whole = 0;
  if (c->opset >= 9 && !c->op->domain) return need_numbers(c, 1, out);
  const float *list = c->op->domain ? NULL : onnx_floats(c, "scales", &n);
  const int64_t *ints = c->op->domain ? onnx_ints(c, "scales", &whole) : NULL;
  if (whole > GRAPH_RANK_MAX || n > GRAPH_RANK_MAX)
    onnx_fail(c, E_ONNX_RANK, (size_t)(n + whole), GRAPH_RANK_MAX);
  for (uint32_t i = 0; i < n + whole; i++) out[i] = list ? (double)list[i] : (double)ints[i];
  return n + whole;
}

void onnx_op_upsample(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  uint32_t axes[GRAPH_RANK_MAX], n = rank_of(x);
  Axis out[GRAPH_RANK_MAX];
  double scales[GRAPH_RANK_MAX];
  Resizing r = {.nearest = "floor"};
  read_mode(c, &r);
  r.coordinates = c->op->domain ? onnx_string(c, "coordinate_transformation_mode", "asymmetric")
                                : "asymmetric";
  uint32_t count = upsample_scales(c, scales);
  if (count != n) onnx_fail(c, E_ONNX_ATTR_COUNT, "scales", count, n);
  for (uint32_t i = 0; i < n; i++) {
    axes[i] = i;
    out[i] = (Axis){.from = -1, .scale = 1, .end = 1};
  }
  scale_axes(c, x, scales, n, axes, out);
  resize_axes(c, &r, out, x);
}
