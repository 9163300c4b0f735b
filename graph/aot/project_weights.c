#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/aot/project_state.h"
#include "graph/compile/buffer_weight.h"
#include "graph/messages.h"
#include "graph/plan/buffer_pool.h"

/* weights.bin: a head, then tensors; graph/aot/runtime/weights.c reads it. */
typedef struct {
  char magic[16];
  int64_t size;
  uint64_t sum;
  char zeros[32];
} Head;

enum { FIRST = MEMORY_ALIGNMENT };

/* ---- places ---- */

static int64_t aligned_size(int64_t size) {
  return (size + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
}

int64_t project_bytes(const Project *p, uint32_t buffer) {
  return memory_bytes(p->plan->graph->dims, &p->plan->buffers[buffer])->value;
}

/* Tensors that several parameters share are there once: the one that was placed before. */
static const ProjectBuffer *same_tensor(const Project *p, uint32_t i) {
  for (uint32_t j = 0; j < p->plan->nbuffers; j++)
    if (p->buffers[j].at && p->buffers[j].weight == p->buffers[i].weight &&
        p->plan->buffers[j].dtype == p->plan->buffers[i].dtype)
      return &p->buffers[j];
  return NULL;
}

static void place_weight(Project *p, uint32_t i) {
  ProjectBuffer *b = &p->buffers[i];
  int64_t bytes = aligned_size(project_bytes(p, i));
  const ProjectBuffer *same = same_tensor(p, i);
  b->at = same ? same->at : p->weights_bytes;
  if (!same) p->weights_bytes += bytes;
  b->state = p->state_bytes;
  if (b->written) p->state_bytes += bytes;
}

static bool is_used(const Project *p, uint32_t i, BufferKind kind) {
  return p->buffers[i].used && p->plan->buffers[i].kind == kind;
}

/* Weights that every run reads come first: a GPU can drop the others after the first run. */
static void place_weights(Project *p, bool kept) {
  for (uint32_t i = 0; i < p->plan->nbuffers; i++)
    if (is_used(p, i, BUFFER_WEIGHT) && p->buffers[i].kept == kept) place_weight(p, i);
}

int project_find_weights(Project *p) {
  int code = 0;
  for (uint32_t i = 0; i < p->plan->nbuffers && !code; i++) {
    const PlanBuffer *b = &p->plan->buffers[i];
    if (is_used(p, i, BUFFER_WEIGHT))
      code = buffer_weight(&p->buffers[i].weight, p->weights, b, p->arena);
    if (is_used(p, i, BUFFER_CONSTANT) && !dim_is_int(memory_bytes(p->plan->graph->dims, b)))
      code = error_set(NEREID_E_FILE, E_BUILD_CONSTANT, b->name);
  }
  return code;
}

void project_place_weights(Project *p) {
  p->weights_bytes = FIRST;
  place_weights(p, true);
  p->weights_kept = p->weights_bytes;
  place_weights(p, false);
  for (uint32_t i = 0; i < p->plan->nbuffers; i++) {
    if (!is_used(p, i, BUFFER_CONSTANT)) continue;
    p->buffers[i].at = p->constant_bytes;
    p->constant_bytes += aligned_size(project_bytes(p, i));
  }
}

/* ---- the file ---- */

typedef struct {
  FILE *file;
  uint64_t a, b; /* sums of words, and of these sums */
} Writing;

/* `size` bytes, a multiple of 8. */
static void put(Writing *w, const char *data, size_t size) {
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word;
    memcpy(&word, data + i, sizeof word);
    w->a += word;
    w->b += w->a;
  }
  fwrite(data, 1, size, w->file);
}

static void put_rounded(Writing *w, const char *data, size_t size) {
  char last[MEMORY_ALIGNMENT] = {0};
  size_t whole = size / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
  put(w, data, whole);
  if (size == whole) return;
  memcpy(last, data + whole, size - whole);
  put(w, last, sizeof last);
}

static int put_weight(Writing *w, const Project *p, uint32_t i) {
  const Weight *weight = p->buffers[i].weight;
  DType dtype = p->plan->buffers[i].dtype;
  size_t size = (size_t)project_bytes(p, i);
  if (size == 0) return 0;
  if (weight_is_dense(weight) && weight->dtype == dtype) {
    put_rounded(w, weight->data, size);
    return 0;
  }
  char *packed = malloc(size);
  int code = packed && weight_convert(packed, dtype, weight) ? 0 : error_out_of_memory();
  if (!code) put_rounded(w, packed, size);
  free(packed);
  return code;
}

static void put_head(Project *p, Writing *w) {
  Head head = {.magic = "nereid weights\n", .size = p->weights_bytes};
  p->weights_sum = head.sum = w->b ^ (w->a << 1);
  /* rewind would forget that something could not be written. */
  fseek(w->file, 0, SEEK_SET);
  fwrite(&head, sizeof head, 1, w->file);
}

/* Weights in the order of their places; each place once. */
static int put_weights(Writing *w, const Project *p, bool kept, int64_t *at) {
  int code = 0;
  for (uint32_t i = 0; i < p->plan->nbuffers && !code; i++) {
    if (!p->buffers[i].weight || p->buffers[i].kept != kept || p->buffers[i].at != *at) continue;
    code = put_weight(w, p, i);
    *at += aligned_size(project_bytes(p, i));
  }
  return code;
}

int project_write_weights(Project *p) {
  static const char zeros[FIRST];
  Writing w = {.a = 1};
  int64_t at = FIRST;
  int code = project_file_open(&w.file, &p->folder, "weights.bin");
  if (code) return code;
  fwrite(zeros, 1, sizeof(Head), w.file);
  put(&w, zeros, sizeof zeros - sizeof(Head));
  code = put_weights(&w, p, true, &at);
  if (!code) code = put_weights(&w, p, false, &at);
  put_head(p, &w);
  int closed = project_file_close(&p->folder, w.file);
  return code ? code : closed;
}
