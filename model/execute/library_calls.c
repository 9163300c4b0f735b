#include "model/execute/library_calls.h"

#include "planner/messages.h"
#include "runtime/support/error.h"

/* The buffer that is that argument; NULL: there is none. */
static const PlanBuffer *call_buffer(const Plan *p, const PlanStep *step, CallArg a) {
  for (uint32_t i = 0; i < step->nargs; i++)
    if (call_arg_find(step->args[i].name) == a) return &p->buffers[step->args[i].buffer];
  return NULL;
}

static LibraryMatrix matrix_of(const PlanBuffer *b, const int64_t *numbers) {
  return (LibraryMatrix){.dtype = b->dtype,
                         .offset = numbers[0],
                         .batch = numbers[1],
                         .row = numbers[2],
                         .column = numbers[3]};
}

static LibraryProduct product_of(const Plan *p, const PlanStep *step, const int64_t *numbers) {
  const PlanBuffer *bias = call_buffer(p, step, CALL_BIAS);
  return (LibraryProduct){.a = matrix_of(call_buffer(p, step, CALL_A), numbers + CALL_A_OFFSET),
                          .b = matrix_of(call_buffer(p, step, CALL_B), numbers + CALL_B_OFFSET),
                          .out = call_buffer(p, step, CALL_OUT)->dtype,
                          .bias = bias ? bias->dtype : DT_NONE,
                          .batch = numbers[CALL_BATCH],
                          .m = numbers[CALL_M],
                          .n = numbers[CALL_N],
                          .k = numbers[CALL_K],
                          .scales = (LibraryScales)numbers[CALL_SCALES],
                          .fast = numbers[CALL_FAST] != 0,
                          .activation = (LibraryActivation)numbers[CALL_ACTIVATION],
                          .tf32 = numbers[CALL_TF32] != 0};
}

static LibraryConvolution convolution_of(const Plan *p, const PlanStep *step,
                                         const int64_t *numbers) {
  return (LibraryConvolution){.dtype = call_buffer(p, step, CALL_OUT)->dtype,
                              .images = numbers[CALL_IMAGES],
                              .size = {numbers[CALL_HEIGHT], numbers[CALL_WIDTH]},
                              .channels = numbers[CALL_CHANNELS],
                              .features = numbers[CALL_FEATURES],
                              .window = {numbers[CALL_WINDOW_H], numbers[CALL_WINDOW_W]},
                              .out = {numbers[CALL_OUT_H], numbers[CALL_OUT_W]},
                              .stride = {numbers[CALL_STRIDE_H], numbers[CALL_STRIDE_W]},
                              .padding = {numbers[CALL_PADDING_H], numbers[CALL_PADDING_W]},
                              .dilation = {numbers[CALL_DILATION_H], numbers[CALL_DILATION_W]},
                              .groups = numbers[CALL_GROUPS],
                              .tf32 = numbers[CALL_TF32] != 0};
}

static int eval_numbers(int64_t *numbers, const PlanStep *step, const Sizes *s) {
  for (uint32_t i = 0; i < step->nargs; i++) {
    const StepArg *a = &step->args[i];
    if (a->kind == STEP_INT && !sizes_eval(s, a->value, &numbers[call_arg_find(a->name)]))
      return error_set(NEREID_E_USAGE, E_GRAPH_STEP_VALUE, step->kernel, a->name);
  }
  return 0;
}

int call_sizes(CallSizes *out, const Plan *p, const PlanStep *step, const Sizes *s) {
  *out = (CallSizes){0};
  int64_t *numbers = out->numbers;
  const PlanBuffer *workspace = call_buffer(p, step, CALL_WORKSPACE);
  int code = eval_numbers(numbers, step, s);
  if (!code && workspace) code = sizes_shape(s, workspace, &out->workspace);
  if (code) return code;
  if (library_work(step->library) == LIBRARY_PRODUCT) {
    out->empty = !numbers[CALL_BATCH] || !numbers[CALL_M] || !numbers[CALL_N];
    out->shape.product = product_of(p, step, numbers);
  } else {
    out->empty = !numbers[CALL_IMAGES];
    out->shape.convolution = convolution_of(p, step, numbers);
  }
  return 0;
}

int calls_refused(const PlanStep **out, Arena *a, const Plan *p, nereid_device *d) {
  enum { SIZE_MOST = 1024 };
  Sizes *s = sizes_new(a, p);
  int code = sizes_bind_large(s, SIZE_MOST);
  *out = NULL;
  for (uint32_t i = 0; i < p->nsteps && !code; i++) {
    CallSizes x;
    LibraryCall *call = NULL;
    if (!p->steps[i].library) continue;
    code = call_sizes(&x, p, &p->steps[i], s);
    if (code || x.empty) continue;
    code = library_prepare(&call, d, p->steps[i].library, &x.shape, x.workspace);
    library_end(call);
    if (code) *out = &p->steps[i];
  }
  return *out ? 0 : code;
}
