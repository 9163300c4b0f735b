/* Many kernels at once.
 *
 * The driver assembles PTX one kernel after the other, whoever calls it: a model's kernels take
 * seconds.  Where there is ptxas, it assembles them on all cores before the driver loads them, and
 * its machine code is kept in the cache, where a single kernel finds it, such as the one that a
 * tuning chose in an earlier process.  After any failure on this way, the driver gets the PTX. */
#include <stdlib.h>
#include <string.h>

#include "runtime/device/assembler.h"
#include "runtime/device/cuda_state.h"
#include "runtime/support/parallel.h"

/* The driver compiles fewer kernels as fast. */
enum { ASSEMBLED_MIN = 2 };

typedef struct {
  nereid_device *device;
  Assembler assembler;
  LoadItem **items;
  Assembled *assembled; /* of each */
  size_t n;
} Loading;

static void assemble_item(void *context, size_t i) {
  const Loading *l = context;
  const ImageVariant *v = l->items[i]->variant;
  if (v->kind == NEREID_PTX && l->n < ASSEMBLED_MIN)
    assembler_find(&l->assembler, &l->assembled[i], v, l->device->target);
  else if (v->kind == NEREID_PTX)
    assembler_run(&l->assembler, &l->assembled[i], v, l->device->target, NULL);
  /* Loading machine code, the remaining work, takes little time. */
  if (l->assembled[i].code) load_ready(l->items[i]);
}

/* An older driver may refuse the code of a newer ptxas. */
static int load_machine_code(nereid_device *d, const LoadItem *item, const Assembled *made) {
  ImageVariant assembled = *item->variant;
  assembled.kind = NEREID_CUBIN;
  assembled.code = made->code;
  assembled.size = made->size;
  int code = made->code ? cuda_load(d, item->image, &assembled, item->out) : NEREID_E_TOOL;
  if (code) return cuda_load(d, item->image, item->variant, item->out);
  item->out->resources.from_cache = made->from_cache;
  return 0;
}

static void load_one_item(void *context, size_t i) {
  const Loading *l = context;
  LoadItem *item = l->items[i];
  item->code = load_machine_code(l->device, item, &l->assembled[i]);
  /* The message is this thread's, and shall be the caller's. */
  if (item->code) item->message = error_keep();
  else if (!l->assembled[i].code) load_ready(item);
}

static int larger_ptx_first(const void *a, const void *b) {
  const LoadItem *x = *(LoadItem *const *)a, *y = *(LoadItem *const *)b;
  if (x->variant->size != y->variant->size) return x->variant->size < y->variant->size ? 1 : -1;
  return x < y ? -1 : 1;
}

static void load_sorted(Loading *l) {
  nereid_device *d = l->device;
  qsort(l->items, l->n, sizeof *l->items, larger_ptx_first);
  if (l->n && assembler_open(&l->assembler, d->on_message, d->context)) {
    parallel_for(l->n, assemble_item, l);
    assembler_keep(&l->assembler, l->assembled, l->n);
    assembler_close(&l->assembler);
  }
  parallel_for(l->n, load_one_item, l);
  for (size_t i = 0; i < l->n; i++) free(l->assembled[i].code);
}

int cuda_load_all(nereid_device *d, LoadItem *items, int n) {
  Loading l = {.device = d, .n = (size_t)n};
  l.items = calloc(l.n + 1, sizeof *l.items);
  l.assembled = calloc(l.n + 1, sizeof *l.assembled);
  bool good = l.items && l.assembled;
  for (int i = 0; i < n && good; i++) l.items[i] = &items[i];
  if (good) load_sorted(&l);
  free(l.items);
  free(l.assembled);
  return good ? 0 : error_out_of_memory();
}
