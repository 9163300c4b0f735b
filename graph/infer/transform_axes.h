/* The axes of a Fourier transform, as the operators' arguments say them. */
#ifndef NEREID_GRAPH_INFER_TRANSFORM_AXES_H
#define NEREID_GRAPH_INFER_TRANSFORM_AXES_H

#include "graph/ops/infer_rules.h"

typedef struct {
  uint32_t n;
  uint32_t axes[GRAPH_RANK_MAX];
  /* What the operand is cut or filled up to; of the last axis of one whose result is real, the
   * length of the result. */
  Dim sizes[GRAPH_RANK_MAX];
} TransformAxes;

/* From `n` and `dim`, or from `s` and `dim`, or from a list `dim`. */
TransformAxes infer_transform_axes(Infer *in);
/* n // 2 + 1, the elements that say all of the transform of n real ones. */
Dim infer_half_size(Infer *in, Dim n);

/* The lengths of stft and istft. */
typedef struct {
  int64_t length, hop, window; /* of a transform, between two, of the window */
  bool onesided, center;
} ShortTransform;

ShortTransform infer_short_transform(Infer *in);

#endif
