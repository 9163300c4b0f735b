/* Expansions of pooling over windows that begin at random places, which samples say. */
#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

typedef struct {
  Build *b;
  Node *x;
  uint32_t n, lead; /* axes that are pooled, and those before them */
  int64_t size[3], count[3], window[3];
} Fractional;

static Fractional fractional_of(Build *b) {
  Node *x = build_input(b, "self");
  Dim window[GRAPH_RANK_MAX], count[GRAPH_RANK_MAX];
  Fractional f = {.b = b, .x = x, .n = infer_sizes(&b->in, "kernel_size", window)};
  infer_need_float(&b->in, x->type.dtype);
  uint32_t counts = infer_sizes(&b->in, "output_size", count);
  if (f.n < 2 || f.n > 3) infer_fail(&b->in, E_GRAPH_PER_AXIS, "kernel_size", f.n, 2);
  if (counts != f.n) infer_fail(&b->in, E_GRAPH_PER_AXIS, "output_size", counts, f.n);
  infer_rank(&b->in, &x->type, f.n + 1, f.n + 2);
  f.lead = rank_of(x) - f.n;
  for (uint32_t i = 0; i < f.n; i++) {
    Dim size = x->type.shape[f.lead + i];
    if (!dim_is_int(size) || !dim_is_int(window[i]) || !dim_is_int(count[i]))
      infer_fail(&b->in, E_GRAPH_FIXED, f.lead + i, infer_type_text(&b->in, &x->type));
    f.size[i] = size->value;
    f.window[i] = window[i]->value;
    f.count[i] = count[i]->value;
    if (f.window[i] < 1 || f.count[i] < 1)
      infer_fail(&b->in, E_GRAPH_STEP, (long long)(f.window[i] < 1 ? f.window[i] : f.count[i]));
    if (f.window[i] > f.size[i] || f.count[i] > f.size[i] - f.window[i] + 1)
      infer_fail(&b->in, E_GRAPH_WINDOW, infer_dim_text(&b->in, window[i]),
                 infer_dim_text(&b->in, size));
  }
  return f;
}

/* Each number is rounded to the samples' dtype, as PyTorch's are on a CPU. */
static Node *rounded(Build *b, Node *x, DType t) { return build_widen(b, build_to(b, x, t)); }

static Node *whole(Build *b, Node *x) { return build_to(b, x, DT_I64); }

/* Where the windows of axis i begin: [lead.., count]. */
static Node *starts(const Fractional *f, Node *sample, uint32_t i) {
  Build *b = f->b;
  DType t = sample->type.dtype;
  Node *wide = build_unsqueeze(b, build_widen(b, sample), rank_of(sample));
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(&wide->type, shape);
  Node *last = build_full(b, f->lead + 1, shape, build_int(b, f->size[i] - f->window[i]), DT_I64);
  if (f->count[i] == 1) return last;
  double step = (double)(f->size[i] - f->window[i]) / (double)(f->count[i] - 1);
  Node *alpha = rounded(b, build_full(b, 0, NULL, arg_float(step), wide->type.dtype), t);
  Node *k = build_to(b, build_arange(b, build_const(b, f->count[i] - 1)), wide->type.dtype);
  Node *begin = rounded(b, build_mul(b, rounded(b, build_add(b, k, wide), t), alpha), t);
  Node *first = rounded(b, build_mul(b, wide, alpha), t);
  begin = build_sub(b, whole(b, begin), whole(b, first));
  return build_cat(b, 2, (Node *[]){begin, last}, f->lead);
}

/* Places of the elements of all windows in the flat image: [lead.., count.., window..]. */
static Node *window_places(const Fractional *f, Node *samples) {
  Build *b = f->b;
  uint32_t rank = f->lead + 2 * f->n;
  Node *place = NULL;
  for (uint32_t i = 0; i < f->n; i++) {
    /* The first sample of an image is along the last axis. */
    int64_t column = f->n == 2 ? f->n - 1 - i : i;
    Node *begin = starts(f, build_select(b, samples, f->lead, build_const(b, column)), i);
    Dim shape[GRAPH_RANK_MAX];
    for (uint32_t k = 0; k < rank; k++)
      shape[k] = k < f->lead ? begin->type.shape[k] : build_const(b, 1);
    shape[f->lead + i] = build_const(b, f->count[i]);
    begin = build_view(b, begin, rank, shape);
    Node *within = build_arange(b, build_const(b, f->window[i]));
    Node *at = build_add(b, begin, build_along(b, within, f->lead + f->n + i, rank));
    if (place) place = build_with(b, OP_aten_mul_Tensor, place, build_int(b, f->size[i]));
    place = place ? build_add(b, place, at) : at;
  }
  return place;
}

static Node *gathered(Build *b, Node *x, Node *index) {
  return build(b, OP_aten_gather_default, ARGS(arg_node(x), build_int(b, -1), arg_node(index)));
}

/* x with the axes from `lead` on as one. */
static Node *flat_from(Build *b, Node *x, uint32_t lead) {
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(&x->type, shape);
  shape[lead] = infer_product(&b->in, shape + lead, rank_of(x) - lead);
  return build_view(b, x, lead + 1, shape);
}

Node *expand_fractional_max_pool(Build *b) {
  Fractional f = fractional_of(b);
  Node *samples = build_input(b, "random_samples"), *x = f.x;
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(&x->type, shape);
  for (uint32_t i = 0; i < f.n; i++) shape[f.lead + i] = build_const(b, f.count[i]);
  if (is_empty(x))
    return build_pair(b, zeros(b, rank_of(x), shape, x->type.dtype),
                      zeros(b, rank_of(x), shape, DT_I64));
  Dim drawn[] = {shape[0], shape[f.lead - 1], build_const(b, f.n)};
  if (f.lead == 1) drawn[1] = drawn[2];
  Dim count = value_numel(b->in.g, &samples->type);
  infer_same_size(&b->in, count, infer_product(&b->in, drawn, f.lead + 1), "random_samples");
  samples = build_view(b, samples, f.lead + 1, drawn);
  Node *place = flat_from(b, window_places(&f, samples), rank_of(x));
  Node *values = gathered(b, flat_from(b, x, f.lead), flat_from(b, place, f.lead));
  values = build_view(b, values, rank_of(place), place->type.shape);
  Node *best = build(b, OP_aten_argmax_default,
                     ARGS(arg_node(values), build_int(b, -1), arg_bool(true)));
  uint32_t last = 1u << rank_of(x);
  return build_pair(b, build_squeeze(b, gathered(b, values, best), last),
                    build_squeeze(b, gathered(b, place, best), last));
}

Node *expand_fractional_max_pool_backward(Build *b) {
  Fractional f = fractional_of(b);
  Node *grad = build_input(b, "grad_output"), *indices = build_input(b, "indices");
  infer_rank(&b->in, &grad->type, rank_of(f.x), rank_of(f.x));
  infer_rank(&b->in, &indices->type, rank_of(f.x), rank_of(f.x));
  Node *flat = flat_from(b, zeros_like(b, f.x), f.lead);
  if (is_empty(f.x)) return zeros_like(b, f.x);
  flat = build(b, OP_aten_scatter_add_default,
               ARGS(arg_node(flat), build_int(b, -1), arg_node(flat_from(b, indices, f.lead)),
                    arg_node(flat_from(b, grad, f.lead))));
  return build_view(b, flat, rank_of(f.x), f.x->type.shape);
}
