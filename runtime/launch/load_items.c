/* Variants of images to a device, many at once. */
#include <stdlib.h>

#include "runtime/device/device.h"
#include "runtime/support/parallel.h"

typedef struct {
  nereid_device *device;
  LoadItem *items;
} Loading;

void load_ready(const LoadItem *item) {
  if (item->watch) item->watch->ready(item->watch->context);
}

static void load_on_device(void *context, size_t i) {
  const Loading *l = context;
  LoadItem *item = &l->items[i];
  item->code = l->device->ops->load(l->device, item->image, item->variant, item->out);
  if (item->code) item->message = error_keep();
  else load_ready(item);
}

static int first_item_failure(LoadItem *items, int n) {
  int code = 0;
  for (int i = 0; i < n; i++) {
    if (!items[i].code) items[i].out->variant = items[i].own;
    else if (!code) code = error_again(items[i].code, items[i].message);
    free(items[i].message);
  }
  return code;
}

int load_items(nereid_device *d, LoadItem *items, int n) {
  Loading l = {d, items};
  int code = d->ops->load_all ? d->ops->load_all(d, items, n) : 0;
  if (code) return code;
  if (!d->ops->load_all) parallel_for((size_t)n, load_on_device, &l);
  return first_item_failure(items, n);
}
