/* Windows that slide over axes of a tensor: convolutions and pooling.
 *
 *   nereid.conv            input [N, sizes, C] and weight [window, C / groups, O]: sums over the
 *                          window and the channels of a group.  A group may be several that are
 *                          `joined`: each has its channels of the input and of the result, and the
 *                          weight is 0 where they are of different ones, which adds nothing, not
 *                          even to a number that is not finite.  Sums of bytes are in i32
 *   nereid.conv_weight     the gradient [parts, O, window, C] in f32 of the weight of such a
 *                          convolution of one group, of that of its result [N, windows, O] and the
 *                          input: each part is the sum over some of the windows of all images; or
 *                          [parts, window, C, O], with `outputs_last`.  With that, or on a CPU,
 *                          parts are whole images, if these can be divided so
 *   nereid.conv_depthwise  weight [window, C]: sums over the window, each channel for itself.  Its
 *                          input is [N, sizes, C], or [N, C, sizes] where `first` is 2
 *   nereid.conv_depthwise_weight
 *                          the gradient [parts, window, C] in f32 of the weight of such a one: each
 *                          part is the sum over the windows of as many images.  Its window goes
 *                          over images and the gradient, which is its weight, and its strides are
 *                          the convolution's dilations, its dilations the strides
 *   nereid.pool_max, _sum  over the axes from `first` on, of any tensor
 *
 * Position t of the window of output o is element o * stride + t * dilation - padding.  Padding is
 * a pair for each axis, before and after it.  A `spread` of s puts elements s apart, with zeros
 * between them: so a transposed convolution is one with its weight flipped.  Elements outside are
 * zeros of a sum, and of a maximum nothing. */
#ifndef NEREID_GRAPH_OPS_WINDOW_H
#define NEREID_GRAPH_OPS_WINDOW_H

#include "graph/ops/concat_sources.h"

enum { WINDOW_AXES = 3 };

typedef struct {
  Node *input;
  Node *weight;      /* NULL of pooling */
  uint32_t n, first; /* it slides over the axes first .. first + n */
  uint32_t channels; /* conv_depthwise: the axis of the channels */
  Dim size[WINDOW_AXES], stride[WINDOW_AXES], before[WINDOW_AXES], dilation[WINDOW_AXES];
  Dim spread[WINDOW_AXES];
  uint32_t inside; /* elements are known to be within the input along so many of the first axes */
  bool of_images; /* conv_depthwise_weight: the weight's image is that of the input's element */
} Window;

/* The window of a PRIM_WINDOW, PRIM_CONVOLUTION or PRIM_CONVOLUTION_WEIGHT. */
Window window_of(Graph *g, const Node *n);
/* Are the elements of the input that windows next to each other have at one position a box: by
 * ones, by a stride that divides the input, or spread ones, of which each phase has its own? */
bool window_meets_boxes(const Window *w);
/* Are the operands of a PRIM_CONVOLUTION, of f32, rounded to TF32 already? */
bool window_rounded(Graph *g, const Node *n);
/* How many groups a PRIM_CONVOLUTION has joined to one. */
int64_t window_joined(Graph *g, const Node *n);
/* Has the gradient of a PRIM_CONVOLUTION_WEIGHT its outputs last? */
bool window_outputs_last(Graph *g, const Node *n);
/* The positions of a window. */
Dim window_count(Graph *g, const Window *w);
/* The largest power of two of which a PRIM_CONVOLUTION has whole blocks of channels; 0: those would
 * be small, and channels are taken together with the positions of the window. */
int64_t window_block(const Node *n);
/* The element of the input that the one at `index` (of the input's rank) reads at position `at` of
 * its window, with the limits of the input. */
void window_piece(Graph *g, const Window *w, const Dim *index, const Dim *at, ConcatSource *p);
/* The element of the weight that it meets there, of a channel of the result. */
void window_weight_index(const Window *w, const ConcatSource *p, const Dim *at, Dim channel,
                         Dim *index);

#endif
