/* The builder of nodes for boxes in images, and for images that are read between their elements:
 * operators of ATen and of ONNX share it. */
#ifndef NEREID_GRAPH_BUILDERS_BOXES_BUILDER_H
#define NEREID_GRAPH_BUILDERS_BOXES_BUILDER_H

#include "graph/builders/node_builder.h"

/* For each row of `chosen`, numbers that nereid.suppress gives, the indices of the chosen boxes in
 * their order, padded with -1 to `most`: all rows in one axis. */
Node *build_chosen_boxes(Build *b, Node *chosen, Dim most);

typedef struct {
  double scale;          /* of the boxes' coordinates to the image's */
  bool half;             /* elements are at halves; else boxes are 1 wide at least */
  bool max;              /* of the weighted elements, as ONNX has it; else the mean */
  int64_t height, width; /* of the result */
  int64_t count;         /* of samples along an axis in each element of the result */
} RoiAlign;

/* x is [batch, channels, rows, columns]; boxes are [n, 4], x before y; batch has n i64. */
Node *build_roi_align(Build *b, Node *x, Node *boxes, Node *batch, const RoiAlign *r);

/* The gradient of x, of that shape, from that of the result, [n, channels, height, width]. */
Node *build_roi_align_gradient(Build *b, Node *grad, Node *boxes, Node *batch, const Dim *shape,
                               const RoiAlign *r);

typedef struct {
  int64_t stride[2], pad[2], dilation[2], groups, offset_groups;
} DeformConv;

/* A convolution that reads x between its elements: each element of the window is moved by an
 * offset, [batch, offset groups * kernel * 2, rows, columns], and counts as much as the mask, of
 * the same shape without the 2, says.  Mask and bias may be NULL. */
Node *build_deform_conv(Build *b, Node *x, Node *weight, Node *offset, Node *mask, Node *bias,
                        const DeformConv *d);

/* The options of the Build's node, by torchvision's names. */
DeformConv build_deform_options(Build *b);

/* The gradients of x, weight, offset, mask and bias become the items of the Build's node; its
 * argument `mask` has that of the mask, which may be NULL here: it counts nothing then. */
Node *build_deform_conv_gradients(Build *b, Node *grad, Node *x, Node *weight, Node *offset,
                                  Node *mask, Node *bias, const DeformConv *d);

#endif
