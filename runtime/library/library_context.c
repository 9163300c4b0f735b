/* Contexts of libraries of GPUs: made by the first call that is prepared, and ended with the
 * device. */
#include "runtime/device/cuda_state.h"
#include "runtime/library/library_rows.h"

typedef int Create(void **out);
typedef int Destroy(void *context);

static bool create_context(Library *l) {
  CUDA_ENTER_OR(l->device, false);
  CUDA_RELAX(l->device);
  Create *create;
  *(void **)&create = l->functions[0];
  (void)api;
  bool made = create(&l->context) == 0;
  if (!made) l->context = NULL;
  return made;
}

bool library_start(Library *l) {
  pthread_mutex_lock(&l->lock);
  bool made = l->context || create_context(l);
  pthread_mutex_unlock(&l->lock);
  return made;
}

void library_stop(Library *l) {
  if (!l->context) return;
  CUDA_ENTER_OR(l->device, );
  CUDA_RELAX(l->device);
  Destroy *destroy;
  *(void **)&destroy = l->functions[1];
  (void)api;
  destroy(l->context);
}
