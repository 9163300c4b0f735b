/* Expansions of gradients of torchvision's operators. */
#include "graph/builders/boxes_builder.h"
#include "graph/expand/expansion.h"
#include "graph/messages.h"

Node *expand_roi_align_backward(Build *b) {
  enum { SIZE_MOST = 1 << 20, COUNT_MOST = 1 << 10 };
  Node *grad = build_input(b, "grad"), *rois = build_input(b, "rois");
  RoiAlign r = {.scale = infer_number(&b->in, "spatial_scale"),
                .half = infer_bool(&b->in, "aligned"),
                .height = infer_int(&b->in, "pooled_height"),
                .width = infer_int(&b->in, "pooled_width"),
                .count = infer_int(&b->in, "sampling_ratio")};
  if (r.count < 1 || r.count > COUNT_MOST || r.height < 1 || r.height > SIZE_MOST || r.width < 1 ||
      r.width > SIZE_MOST)
    infer_fail(&b->in, E_GRAPH_ROI, (long long)r.count, (long long)r.height, (long long)r.width);
  infer_rank(&b->in, &grad->type, 4, 4);
  infer_rank(&b->in, &rois->type, 2, 2);
  infer_need_float(&b->in, grad->type.dtype);
  infer_same_dtype(&b->in, &grad->type, &rois->type);
  Dim shape[] = {infer_size(&b->in, "batch_size"), infer_size(&b->in, "channels"),
                 infer_size(&b->in, "height"), infer_size(&b->in, "width")};
  Dim boxes_all[] = {rois->type.shape[0], shape[1], build_const(b, r.height),
                     build_const(b, r.width)};
  for (uint32_t i = 0; i < 4; i++)
    infer_same_size(&b->in, grad->type.shape[i], boxes_all[i], "boxes and their gradient");
  infer_same_size(&b->in, rois->type.shape[1], build_const(b, 5),
                  "an image's number and corners");
  Node *batch = build_to(b, build_select(b, rois, 1, build_const(b, 0)), DT_I64);
  Node *boxes = build_slice(b, rois, 1, build_const(b, 1), rois->type.shape[1], 1);
  Node *y = build_roi_align_gradient(b, build_widen(b, grad), build_widen(b, boxes), batch, shape,
                                     &r);
  return build_to(b, y, grad->type.dtype);
}

Node *expand_deform_conv2d_backward(Build *b) {
  Node *grad = build_input(b, "grad"), *x = build_input(b, "input");
  Node *weight = build_input(b, "weight"), *offset = build_input(b, "offset");
  infer_rank(&b->in, &grad->type, 4, 4);
  infer_rank(&b->in, &x->type, 4, 4);
  infer_rank(&b->in, &weight->type, 4, 4);
  infer_need_float(&b->in, x->type.dtype);
  infer_same_dtype(&b->in, &x->type, &weight->type);
  DeformConv d = build_deform_options(b);
  Node *mask = infer_bool(&b->in, "use_mask") ? build_input(b, "mask") : NULL;
  return build_deform_conv_gradients(b, grad, x, weight, offset, mask, build_input(b, "bias"), &d);
}
