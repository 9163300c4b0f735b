#include "graph/tune_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/interp.h"
#include "runtime/array.h"
#include "runtime/image.h"
#include "runtime/random.h"

enum {
  PATTERN = 1 << 16,      /* elements that are drawn; a buffer repeats them */
  COMPARED_MAX = 1 << 26, /* bytes of a buffer that are compared */
  ALIGNMENT = 256
};

/* ---- memory ---- */

static int buffer_bytes(const Sizes *sizes, const PlanBuffer *b, size_t *bytes) {
  int64_t shape[GRAPH_RANK_MAX], n = dtype_bytes(b->dtype);
  int code = sizes_shape(sizes, b, shape);
  for (uint32_t i = 0; i < b->rank && !code; i++)
    if (__builtin_mul_overflow(n, shape[i], &n))
      code = error_set(NEREID_E_MEMORY, E_GRAPH_TOO_LARGE, b->name, b->rank);
  *bytes = (size_t)n;
  return code;
}

int tune_data_new(TuneData *t, Arena *a, nereid_device *d, const Sizes *sizes, const PlanStep *s,
                  const nereid_image *image) {
  *t = (TuneData){.device = d, .buffers = ARENA_ARRAY(a, TuneBuffer, s->nargs), .n = s->nargs};
  int code = 0;
  for (uint32_t i = 0; i < s->nargs && !code; i++) {
    TuneBuffer *b = &t->buffers[i];
    if (s->args[i].kind != STEP_BUFFER) continue;
    int at = nereid_image_find_param(image, s->args[i].name);
    b->plan = &sizes->plan->buffers[s->args[i].buffer];
    b->written = at >= 0 && image->params[at].written;
    code = buffer_bytes(sizes, b->plan, &b->bytes);
    if (!code) code = nereid_alloc((void **)&b->data, d, b->bytes + ALIGNMENT);
  }
  return code;
}

void tune_data_free(TuneData *t) {
  for (uint32_t i = 0; i < t->n; i++) {
    nereid_free(t->device, t->buffers[i].data);
    free(t->buffers[i].results);
  }
}

/* ---- filling ---- */

static void draw(void *to, DType t, size_t n) {
  uint64_t words[2];
  double normals[2];
  for (size_t i = 0; i < n; i++) {
    if (i % 2 == 0) {
      random_words(words, 0, i / 2);
      random_normals(normals, words);
    }
    scalar_store(t, (Scalar){.f = scalar_round(t, normals[i % 2])},
                 (char *)to + i * dtype_bytes(t));
  }
}

/* The beginning is copied behind itself, twice as much each time. */
static int repeat(const TuneData *t, const TuneBuffer *b, size_t have) {
  int code = 0;
  for (size_t n; have < b->bytes && !code; have += n) {
    n = b->bytes - have < have ? b->bytes - have : have;
    code = nereid_copy(t->device, b->data + have, b->data, n, NULL);
  }
  return code;
}

static int fill_floats(const TuneData *t, const TuneBuffer *b) {
  size_t size = dtype_bytes(b->plan->dtype), n = b->bytes / size;
  if (n > PATTERN) n = PATTERN;
  void *drawn = malloc(n * size + 1);
  if (!drawn) return error_out_of_memory();
  draw(drawn, b->plan->dtype, n);
  int code = nereid_copy_in(t->device, b->data, drawn, n * size, NULL);
  free(drawn);
  return code ? code : repeat(t, b, n * size);
}

int tune_data_fill(TuneData *t) {
  int code = 0;
  for (uint32_t i = 0; i < t->n && !code; i++) {
    const TuneBuffer *b = &t->buffers[i];
    if (!b->data || !b->bytes) continue;
    code = dtype_is_float(b->plan->dtype) ? fill_floats(t, b)
                                          : nereid_fill(t->device, b->data, 0, b->bytes, NULL);
  }
  return code ? code : nereid_device_sync(t->device);
}

/* ---- results ---- */

static size_t compared(const TuneBuffer *b) {
  return b->bytes < COMPARED_MAX ? b->bytes : COMPARED_MAX;
}

static int read_back(void **out, const TuneData *t, const TuneBuffer *b) {
  *out = malloc(compared(b) + 1);
  if (!*out) return error_out_of_memory();
  return nereid_copy_out(t->device, *out, b->data, compared(b), NULL);
}

int tune_data_keep(TuneData *t) {
  int code = 0;
  for (uint32_t i = 0; i < t->n && !code; i++) {
    TuneBuffer *b = &t->buffers[i];
    if (b->written && !b->results) code = read_back(&b->results, t, b);
  }
  return code;
}

/* Sums in another order differ in the last places of the dtype. */
static double tolerance(DType t) { return dtype_bits(t) >= 32 ? 1e-4 : t == DT_F16 ? 4e-3 : 2e-2; }

static bool same_floats(DType t, const char *a, const char *b, size_t n) {
  double error = 0, whole = 0;
  size_t size = dtype_bytes(t);
  for (size_t i = 0; i < n; i++) {
    double x = scalar_load(t, a + i * size).f, y = scalar_load(t, b + i * size).f;
    if (isfinite(x)) whole += x * x;
    if (x == y || (isnan(x) && isnan(y))) continue;
    if (!isfinite(x) || !isfinite(y)) return false;
    error += (x - y) * (x - y);
  }
  return error == 0 || sqrt(error) <= tolerance(t) * sqrt(whole);
}

static bool same_results(const TuneBuffer *b, const void *now) {
  DType t = b->plan->dtype;
  if (dtype_is_float(t)) return same_floats(t, b->results, now, compared(b) / dtype_bytes(t));
  return !memcmp(b->results, now, compared(b));
}

int tune_data_compare(bool *same, const TuneData *t) {
  int code = 0;
  *same = true;
  for (uint32_t i = 0; i < t->n && !code && *same; i++) {
    const TuneBuffer *b = &t->buffers[i];
    void *now = NULL;
    if (!b->results) continue;
    code = read_back(&now, t, b);
    if (!code) *same = same_results(b, now);
    free(now);
  }
  return code;
}
