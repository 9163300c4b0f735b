/* Kernels: images loaded on a device. */
#include <stdlib.h>
#include <string.h>

#include "runtime/device/device.h"
#include "runtime/messages.h"

/* ---- a kernel, and the variants that it is to have ---- */

static int count_fitting(const nereid_device *d, const nereid_image *image) {
  int n = 0;
  for (int i = 0; i < image->nvariants; i++) n += d->ops->fits(d, image->variants[i]);
  return n;
}

static int kernel_alloc(nereid_kernel **out, nereid_device *d, const nereid_image *image) {
  nereid_kernel *k = *out = calloc(1, sizeof *k);
  if (!k) return error_out_of_memory();
  k->device = d;
  pthread_mutex_init(&k->late_lock, NULL);
  k->nloaded = count_fitting(d, image);
  k->loaded = calloc((size_t)k->nloaded + 1, sizeof *k->loaded);
  if (!k->loaded) return error_out_of_memory();
  if (k->nloaded) return image_like(&k->image, image);
  return error_set(NEREID_E_USAGE, E_RUN_NO_FITTING, image->name, d->name,
                   d->target[0] ? d->target : nereid_kind_name(d->ops->kind));
}

static int add_items(nereid_kernel *k, const nereid_image *image, LoadItem *items, int *n,
                     LoadItem like) {
  for (int i = 0; i < image->nvariants; i++) {
    const ImageVariant *v = image->variants[i];
    if (!k->device->ops->fits(k->device, v)) continue;
    int code = image_add_variant(k->image, v, false);
    if (code) return code;
    int which = k->image->nvariants - 1;
    items[(*n)++] = (LoadItem){.image = image,
                               .variant = v,
                               .own = k->image->variants[which],
                               .out = &k->loaded[which],
                               .use = like.use};
  }
  items[*n - 1].watch = like.watch; /* one at least fits */
  return 0;
}

/* ---- loading ---- */

static int load_kernels(nereid_kernel **out, nereid_device *d, const nereid_image *const *images,
                        const LoadUse *uses, int n, LoadItem *items, const LoadWatch *watch,
                        int *codes) {
  int nitems = 0, code = 0;
  for (int i = 0; i < n && !code; i++) {
    LoadItem like = {.use = uses ? uses[i] : (LoadUse){0}, .watch = watch};
    code = kernel_alloc(&out[i], d, images[i]);
    if (!code) code = add_items(out[i], images[i], items, &nitems, like);
  }
  if (!code) code = load_items(d, items, nitems);
  for (int i = 0, at = 0; i < n && codes; i++)
    for (codes[i] = 0; at < nitems && items[at].image == images[i]; at++)
      if (items[at].code) codes[i] = items[at].code;
  return code;
}

int device_load_all(nereid_kernel **out, nereid_device *d, const nereid_image *const *images,
                    const LoadUse *uses, int n, const LoadWatch *watch, int *codes) {
  REQUIRE(out);
  for (int i = 0; i < n; i++) out[i] = NULL;
  REQUIRE(d);
  if (n) REQUIRE(images);
  size_t most = 0;
  for (int i = 0; i < n; i++) {
    REQUIRE(images[i]);
    most += (size_t)images[i]->nvariants;
  }
  LoadItem *items = calloc(most + 1, sizeof *items);
  int code = items ? 0 : error_out_of_memory();
  if (!code) code = load_kernels(out, d, images, uses, n, items, watch, codes);
  free(items);
  for (int i = 0; i < n && code; i++) {
    nereid_kernel_free(out[i]);
    out[i] = NULL;
  }
  return code;
}

int nereid_kernel_load_all(nereid_kernel **out, nereid_device *d, const nereid_image *const *images,
                           int n) {
  return device_load_all(out, d, images, NULL, n, NULL, NULL);
}

int nereid_kernel_load(nereid_kernel **out, nereid_device *d, const nereid_image *image) {
  REQUIRE_OUT(out);
  REQUIRE(d);
  REQUIRE(image);
  return nereid_kernel_load_all(out, d, &image, 1) ? error_of_kernel(image->name) : 0;
}

/* ---- the rest of its life ---- */

void nereid_kernel_free(nereid_kernel *k) {
  if (!k) return;
  for (int i = 0; i < k->nloaded && k->loaded; i++)
    if (k->loaded[i].variant) k->device->ops->unload(k->device, &k->loaded[i]);
  kernel_free_late(k);
  pthread_mutex_destroy(&k->late_lock);
  free(k->loaded);
  nereid_image_free(k->image);
  free(k);
}

int nereid_kernel_get_resources(nereid_kernel_resources *out, const nereid_kernel *k) {
  REQUIRE_OUT(out);
  REQUIRE(k);
  *out = k->loaded[0].resources;
  return 0;
}
