/* CUDA graphs: the launches and copies of a run as one, which starts faster than they do one by
 * one.  Each is a node after the one before it. */
#include "device.h"

bool model_device_replays(const Device *d) { return d->has_graphs; }

int model_device_record(Device *d) {
  model_cuda_enter(d);
  model_forget_recording(d);
  d->last = NULL;
  return model_cuda_failed(d, d->graphs.graph_new(&d->recording, 0), "recording a CUDA graph");
}

int model_device_record_end(Device *d, int code) {
  model_cuda_enter(d);
  if (!code)
    code = model_cuda_failed(d, d->graphs.instantiate(&d->exec, d->recording, 0),
                             "making a CUDA graph");
  if (code) d->exec = NULL;
  d->graphs.graph_free(d->recording);
  d->recording = NULL;
  return code;
}

int model_device_replay(Device *d, void *stream) {
  model_cuda_enter(d);
  return model_cuda_failed(d, d->graphs.graph_launch(d->exec, stream), "starting a CUDA graph");
}

/* One that is running is freed by the driver when it is over. */
void model_forget_recording(Device *d) {
  if (d->exec) d->graphs.exec_free(d->exec);
  d->exec = NULL;
}

CuResult model_record_kernel(Device *d, const Loaded *k, const unsigned grid[3], void **params) {
  const CuKernelNode node = {.function = k->function,
                             .grid = {grid[0], grid[1], grid[2]},
                             .block = {k->threads, 1, 1},
                             .shared = k->shared,
                             .params = params};
  CuGraphNode made;
  const CuResult r =
      d->graphs.add_kernel(&made, d->recording, d->last ? &d->last : NULL, d->last ? 1 : 0, &node);
  if (r == CU_OK) d->last = made;
  return r;
}

CuResult model_record_copy(Device *d, CuPointer to, CuPointer from, size_t n) {
  const CuCopyNode node = {.from_type = CU_MEMORY_DEVICE,
                           .from = from,
                           .to_type = CU_MEMORY_DEVICE,
                           .to = to,
                           .width = n,
                           .height = 1,
                           .depth = 1};
  CuGraphNode made;
  const CuResult r = d->graphs.add_copy(&made, d->recording, d->last ? &d->last : NULL,
                                        d->last ? 1 : 0, &node, d->context);
  if (r == CU_OK) d->last = made;
  return r;
}
