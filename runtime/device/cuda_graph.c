/* Replays on a GPU: a CUDA graph with a node for each item, each behind the one before it.
 *
 * Nodes are added one by one, rather than by capturing a stream: so each has a handle by which its
 * arguments are changed, and no other use of the stream can get into it. */
#include <stdlib.h>

#include "runtime/device/cuda_state.h"
#include "runtime/device/replay.h"

typedef struct {
  CuGraph graph;
  CuGraphExec exec;
  CuGraphNode *nodes;
} CudaReplay;

static const CudaGraphApi *graphs_of(const nereid_device *d) {
  return &((const Cuda *)d->state)->graphs;
}

bool cuda_replay_supported(const nereid_device *d) { return ((const Cuda *)d->state)->has_graphs; }

/* ---- nodes ---- */

static CuKernelNode kernel_node(const nereid_launch *l) {
  const Loaded *k = l->chosen;
  return (CuKernelNode){.function = k->entry,
                        .grid = {l->launched[0], l->launched[1], l->launched[2]},
                        .block = {(unsigned)k->resources.threads, 1, 1},
                        .shared = (unsigned)k->resources.shared_bytes,
                        .params = l->pointers};
}

static CuCopyNode copy_node(const ReplayItem *item) {
  return (CuCopyNode){.from_type = CU_MEMORY_DEVICE,
                      .from = (uintptr_t)item->from,
                      .to_type = CU_MEMORY_DEVICE,
                      .to = (uintptr_t)item->to,
                      .width = item->size,
                      .height = 1,
                      .depth = 1};
}

static CuResult add_node(nereid_device *d, CudaReplay *r, int i, const ReplayItem *item) {
  const CudaGraphApi *api = graphs_of(d);
  const CuGraphNode *before = i ? &r->nodes[i - 1] : NULL;
  size_t nbefore = i ? 1 : 0;
  if (item->launch) {
    CuKernelNode kernel = kernel_node(item->launch);
    return api->add_kernel(&r->nodes[i], r->graph, before, nbefore, &kernel);
  }
  CuCopyNode copy = copy_node(item);
  CuContext context = ((const Cuda *)d->state)->context;
  return api->add_copy(&r->nodes[i], r->graph, before, nbefore, &copy, context);
}

/* ---- replays ---- */

static CuResult make(nereid_device *d, CudaReplay *r, const ReplayItem *items, int n) {
  const CudaGraphApi *api = graphs_of(d);
  CuResult result = api->graph_new(&r->graph, 0);
  for (int i = 0; i < n && result == CU_OK; i++) result = add_node(d, r, i, &items[i]);
  return result == CU_OK ? api->instantiate(&r->exec, r->graph, 0) : result;
}

int cuda_replay_new(nereid_device *d, void **out, const ReplayItem *items, int n) {
  const CudaApi *api = cuda_enter(d);
  CudaReplay *r = calloc(1, sizeof *r);
  if (!r) return error_out_of_memory();
  r->nodes = calloc((size_t)n + 1, sizeof(CuGraphNode));
  int code = r->nodes ? cuda_failed(api, make(d, r, items, n), "recording a CUDA graph")
                      : error_out_of_memory();
  if (code) cuda_replay_free(d, r);
  else *out = r;
  return code;
}

int cuda_replay_set(nereid_device *d, void *replay, int i, const ReplayItem *item) {
  const CudaApi *api = cuda_enter(d);
  const CudaGraphApi *graphs = graphs_of(d);
  const CudaReplay *r = replay;
  CuResult result;
  if (item->launch) {
    CuKernelNode kernel = kernel_node(item->launch);
    result = graphs->set_kernel(r->exec, r->nodes[i], &kernel);
  } else {
    CuCopyNode copy = copy_node(item);
    result = graphs->set_copy(r->exec, r->nodes[i], &copy, ((const Cuda *)d->state)->context);
  }
  return cuda_failed(api, result, "changing a CUDA graph");
}

int cuda_replay_run(nereid_device *d, void *replay, void *stream) {
  const CudaApi *api = cuda_enter(d);
  const CudaReplay *r = replay;
  return cuda_failed(api, graphs_of(d)->graph_launch(r->exec, stream), "launching a CUDA graph");
}

/* One that is running is freed by the driver when it is over. */
void cuda_replay_free(nereid_device *d, void *replay) {
  CudaReplay *r = replay;
  cuda_enter(d);
  if (r->exec) graphs_of(d)->exec_free(r->exec);
  if (r->graph) graphs_of(d)->graph_free(r->graph);
  free(r->nodes);
  free(r);
}
