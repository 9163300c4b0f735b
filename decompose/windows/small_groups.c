/* Convolutions of groups of a few channels, on a CPU: sums of depthwise ones, of which a thread
 * computes strips along a row of the image (planner/fuse/strips.h).  A vector has all results of
 * some groups; each of them meets the same channel of its group's input.  Joined to groups of a
 * whole vector, as products of panels take them, four of five products would be with zeros. */
#include <string.h>

#include "decompose/decompose.h"

enum { VECTOR = 16 };

/* Do lanes of a vector meet the same channel, or, in groups of equal size, neighbours? */
static bool suits_vectors(int64_t channels, int64_t results) {
  enum { CHANNELS_MOST = 32, GROUP_MOST = 8 };
  if (results % VECTOR == 0) return channels <= CHANNELS_MOST;
  return channels == results && channels <= GROUP_MOST && VECTOR % channels == 0;
}

int64_t decompose_small_groups(const Graph *g, const ValueType *x, const Dim *w, Dim groups) {
  /* The first as strips have it.  Each row of an image reads all of the weight: of eager's speed on
   * a Sapphire Rapids, 16x16 patches with 2.4 MB had 0.73 so, and 0.84 as a product of patches. */
  enum { ROW_MOST = 16, WEIGHT_MOST = 1 << 20 };
  bool known = g->host && x->dtype == DT_F32 && dim_is_int(w[0]) && dim_is_int(w[1]) &&
               dim_is_int(groups) && groups->value > 0;
  if (!known || w[1]->value < 1 || w[0]->value < VECTOR) return 0;
  int64_t positions = 1;
  for (uint32_t i = 2; i < x->rank; i++) {
    if (!dim_is_int(w[i]) || !dim_is_int(x->shape[i])) return 0;
    positions *= w[i]->value;
  }
  if (w[x->rank - 1]->value > ROW_MOST) return 0;
  int64_t weight = positions * w[0]->value * w[1]->value * dtype_bytes(x->dtype);
  bool suits = positions > 1 && weight <= WEIGHT_MOST &&
               suits_vectors(w[1]->value, w[0]->value / groups->value);
  return suits ? w[1]->value : 0;
}

/* x[.., C] as [.., groups, channels of a group]. */
static Node *in_groups(Build *b, Node *x, int64_t each, Dim *shape) {
  uint32_t last = rank_of(x) - 1;
  memcpy(shape, x->type.shape, last * sizeof *shape);
  shape[last] = build_const(b, x->type.shape[last]->value / each);
  shape[last + 1] = build_const(b, each);
  return build_view(b, x, last + 2, shape);
}

Node *decompose_channel_of_groups(Build *b, Node *x, int64_t each, int64_t i) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t last = rank_of(x) - 1;
  Node *y = in_groups(b, x, each, shape);
  y = build_slice(b, y, last + 1, build_const(b, i), build_const(b, i + 1), 1);
  return build_view(b, build_expand(b, y, last + 2, shape), last + 1, x->type.shape);
}

Node *decompose_channels_of_groups(Build *b, Node *x, int64_t each, Dim results) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t axes[GRAPH_RANK_MAX], last = rank_of(x) - 1;
  Node *y = build_unsqueeze(b, in_groups(b, x, each, shape), last + 1);
  for (uint32_t axis = 0; axis < last + 3; axis++)
    axes[axis] = axis == 0 ? 0 : axis == 1 ? last + 2 : axis - 1;
  y = build_permute(b, y, axes); /* [N, channels of a group, sizes, groups, 1] */
  memcpy(shape, y->type.shape, (last + 2) * sizeof *shape);
  shape[last + 2] = build_const(b, results->value / shape[last + 1]->value);
  y = build_expand(b, y, last + 3, shape);
  shape[last + 1] = results;
  return build_view(b, y, last + 2, shape);
}
