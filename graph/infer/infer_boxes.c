/* Boxes in images, deformable convolutions: torchvision's operators. */
#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

void infer_nms(Infer *in) {
  const ValueType *boxes = infer_tensor(in, "dets"), *scores = infer_tensor(in, "scores");
  infer_rank(in, boxes, 2, 2);
  infer_rank(in, scores, 1, 1);
  infer_need_float(in, boxes->dtype);
  infer_need_float(in, scores->dtype);
  infer_same_size(in, boxes->shape[1], infer_const(in, 4), "the corners of a box");
  infer_same_size(in, boxes->shape[0], scores->shape[0], "boxes and scores");
  infer_set(in, DT_I64, 1, (Dim[]){infer_unknown(in)});
}

void infer_roi_align(Infer *in) {
  const ValueType *x = infer_tensor(in, "input"), *rois = infer_tensor(in, "rois");
  infer_rank(in, x, 4, 4);
  infer_rank(in, rois, 2, 2);
  infer_need_float(in, x->dtype);
  infer_same_dtype(in, x, rois);
  infer_same_size(in, rois->shape[1], infer_const(in, 5), "an image's number and corners");
  int64_t height = infer_int(in, "pooled_height"), width = infer_int(in, "pooled_width");
  int64_t count = infer_int(in, "sampling_ratio");
  if (count <= 0 || height < 1 || width < 1 || count > 1 << 10 || height > 1 << 20 ||
      width > 1 << 20)
    infer_fail(in, E_GRAPH_ROI, (long long)count, (long long)height, (long long)width);
  Dim shape[] = {rois->shape[0], x->shape[1], infer_const(in, height), infer_const(in, width)};
  infer_set(in, x->dtype, 4, shape);
}

void infer_deform_conv2d(Infer *in) {
  const ValueType *x = infer_tensor(in, "input"), *w = infer_tensor(in, "weight");
  const ValueType *offset = infer_tensor(in, "offset");
  infer_rank(in, x, 4, 4);
  infer_rank(in, w, 4, 4);
  infer_rank(in, offset, 4, 4);
  infer_need_float(in, x->dtype);
  infer_same_dtype(in, x, w);
  Dim shape[] = {x->shape[0], w->shape[0], offset->shape[2], offset->shape[3]};
  infer_same_size(in, x->shape[0], offset->shape[0], "images and offsets");
  infer_set(in, x->dtype, 4, shape);
}
