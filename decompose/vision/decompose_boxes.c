/* Boxes in images, deformable convolutions. */
#include "decompose/decompose.h"
#include "graph/builders/boxes_builder.h"

/* ---- non-maximum suppression ---- */

/* The result has as many boxes as remain. */
Node *decompose_nms(Build *b) {
  Node *boxes = build_input(b, "dets"), *scores = build_input(b, "scores");
  Dim n = scores->type.shape[0], size = b->in.n->type.shape[0], one = build_const(b, 1);
  if (size->kind == DIM_SYMBOL)
    dim_limit(build_dims(b), size, (DimRange){0, dim_range(build_dims(b), n).hi});
  /* Numbers of the order stand for the scores: any floats have one, also infinite ones. */
  Node *best =
      build(b, OP_aten_argsort_default, ARGS(arg_node(scores), build_int(b, 0), arg_bool(true)));
  Node *order = build_op1(b, OP_aten_argsort_default, best);
  Node *rank = build_op1(b, OP_aten_neg_default, build_to(b, order, DT_F32));
  Node *state = build_full(b, 2, (Dim[]){one, n}, build_int(b, -1), DT_I32);
  Node *row = build_full(b, 1, &one, build_int(b, 0), DT_I64);
  Node *threshold = build_full(b, 0, NULL, build_arg(b, "iou_threshold"), DT_F32);
  Node *chosen = build(b, OP_nereid_suppress_default,
                       ARGS(arg_node(state), arg_node(row), arg_node(build_unsqueeze(b, rank, 0)),
                            arg_node(build_unsqueeze(b, build_to(b, boxes, DT_F32), 0)),
                            arg_node(threshold), arg_dim(n)));
  Node *kept = build_with(b, OP_aten_ge_Scalar, chosen, build_int(b, 0));
  Node *count = build_sum(b, build_to(b, kept, DT_I64), 3, false);
  return build(b, OP_nereid_counted_default,
               ARGS(arg_node(build_chosen_boxes(b, chosen, n)), arg_node(count), arg_dim(size)));
}

Node *decompose_roi_align(Build *b) {
  Node *x = build_self(b), *rois = build_input(b, "rois");
  RoiAlign r = {.scale = infer_number(&b->in, "spatial_scale"),
                .half = infer_bool(&b->in, "aligned"),
                .height = infer_int(&b->in, "pooled_height"),
                .width = infer_int(&b->in, "pooled_width"),
                .count = infer_int(&b->in, "sampling_ratio")};
  Node *batch = build_to(b, build_select(b, rois, 1, build_const(b, 0)), DT_I64);
  Node *boxes = build_slice(b, rois, 1, build_const(b, 1), rois->type.shape[1], 1);
  Node *y = build_roi_align(b, build_widen(b, x), build_widen(b, boxes), batch, &r);
  return build_to_result(b, y);
}

/* ---- deformable convolution ---- */

Node *decompose_deform_conv2d(Build *b) {
  DeformConv d = build_deform_options(b);
  Node *mask = infer_bool(&b->in, "use_mask") ? build_input(b, "mask") : NULL;
  return build_deform_conv(b, build_input(b, "input"), build_input(b, "weight"),
                           build_input(b, "offset"), mask, build_input(b, "bias"), &d);
}
