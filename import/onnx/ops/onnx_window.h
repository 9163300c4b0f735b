/* Windows that slide over the axes after the first two: of convolutions and pools. */
#ifndef NEREID_IMPORT_ONNX_OPS_ONNX_WINDOW_H
#define NEREID_IMPORT_ONNX_OPS_ONNX_WINDOW_H

#include "import/onnx/onnx_op.h"

enum { ONNX_AXES_MAX = 3 }; /* that windows slide along */

typedef struct {
  uint32_t n; /* axes */
  int64_t kernel[ONNX_AXES_MAX], stride[ONNX_AXES_MAX], dilation[ONNX_AXES_MAX];
  int64_t before[ONNX_AXES_MAX], after[ONNX_AXES_MAX]; /* padding */
  int64_t extra[ONNX_AXES_MAX]; /* further padding at the end, for windows that ceil_mode adds */
} OnnxWindow;

/* Attributes strides, dilations, pads, auto_pad and ceil_mode; the kernel is `kernel`, or if that
 * is NULL attribute kernel_shape. */
OnnxWindow onnx_window(OnnxCall *c, const Node *x, const Dim *kernel);
/* The size of the i-th axis along which windows slide: it must be known, and not huge. */
int64_t onnx_window_size(OnnxCall *c, const Node *x, uint32_t i);
/* Can ATen express it: is padding the same before and after all axes? */
bool onnx_window_is_even(const OnnxWindow *w);
/* x with the window's padding, which is filled with `value`; `extra` too if it says so. */
Node *onnx_window_pad(OnnxCall *c, const OnnxWindow *w, Node *x, Arg value, bool extra);
Arg onnx_window_arg(OnnxCall *c, const OnnxWindow *w, const int64_t *values);

#endif
