/* Kernels: images loaded on a device. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/device.h"
#include "runtime/messages.h"
#include "runtime/support/parallel.h"

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
  pthread_mutex_init(&k->ordered_lock, NULL);
  k->nloaded = count_fitting(d, image);
  k->loaded = calloc((size_t)k->nloaded + 1, sizeof *k->loaded);
  k->ordered = calloc((size_t)k->nloaded + 1, sizeof *k->ordered);
  k->ordered_images = calloc((size_t)k->nloaded + 1, sizeof *k->ordered_images);
  if (!k->loaded || !k->ordered || !k->ordered_images) return error_out_of_memory();
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
                               .programs = like.programs};
  }
  items[*n - 1].watch = like.watch; /* one at least fits */
  return 0;
}

/* ---- loading ---- */

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

static int load_items(nereid_device *d, LoadItem *items, int n) {
  Loading l = {d, items};
  int code = d->ops->load_all ? d->ops->load_all(d, items, n) : 0;
  if (code) return code;
  if (!d->ops->load_all) parallel_for((size_t)n, load_on_device, &l);
  return first_item_failure(items, n);
}

static int load_kernels(nereid_kernel **out, nereid_device *d, const nereid_image *const *images,
                        const uint64_t *programs, int n, LoadItem *items, const LoadWatch *watch) {
  int nitems = 0, code = 0;
  for (int i = 0; i < n && !code; i++) {
    LoadItem like = {.programs = programs ? programs[i] : 0, .watch = watch};
    code = kernel_alloc(&out[i], d, images[i]);
    if (!code) code = add_items(out[i], images[i], items, &nitems, like);
  }
  return code ? code : load_items(d, items, nitems);
}

int device_load_all(nereid_kernel **out, nereid_device *d, const nereid_image *const *images,
                    const uint64_t *programs, int n, const LoadWatch *watch) {
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
  if (!code) code = load_kernels(out, d, images, programs, n, items, watch);
  free(items);
  for (int i = 0; i < n && code; i++) {
    nereid_kernel_free(out[i]);
    out[i] = NULL;
  }
  return code;
}

int nereid_kernel_load_all(nereid_kernel **out, nereid_device *d, const nereid_image *const *images,
                           int n) {
  return device_load_all(out, d, images, NULL, n, NULL);
}

int nereid_kernel_load(nereid_kernel **out, nereid_device *d, const nereid_image *image) {
  REQUIRE_OUT(out);
  REQUIRE(d);
  REQUIRE(image);
  return nereid_kernel_load_all(out, d, &image, 1) ? error_of_kernel(image->name) : 0;
}

/* ---- code for overlapping arguments ---- */

/* The variant's tile IR, compiled to keep the order; its parameters are the variant's, in order. */
static int compile_ordered(nereid_image **out, const nereid_kernel *k, const ImageVariant *v) {
  nereid_request r = {
      .source = {.text = v->ordered, .size = v->ordered_size, .path = "ordered.tile"},
      .target = v->target,
      .alias = NEREID_ALIAS_ORDERED};
  nereid_image *image;
  int code = nereid_compile(&image, &r, v->kind);
  if (code) return code;
  ImageVariant own = *v, *made = image->variants[0];
  own.ordered = NULL;
  own.nnoalias = 0;
  own.entry = made->entry;
  own.code = made->code;
  own.size = made->size;
  own.threads = made->threads;
  own.shared = made->shared;
  own.nslots = 0; /* maps are the last ones */
  while (own.nslots < v->nslots && v->slots[own.nslots].kind != SLOT_MAP) own.nslots++;
  assert(made->nslots == own.nslots);
  code = image_like(out, k->image);
  if (!code) code = image_add_variant(*out, &own, true);
  nereid_image_free(image);
  return code;
}

static int load_ordered(nereid_kernel *k, int i) {
  nereid_image *image = NULL;
  int code = compile_ordered(&image, k, k->loaded[i].variant);
  if (!code) {
    LoadItem item = {.image = image,
                     .variant = image->variants[0],
                     .own = image->variants[0],
                     .out = &k->ordered[i]};
    code = load_items(k->device, &item, 1);
  }
  if (code) nereid_image_free(image);
  else k->ordered_images[i] = image;
  return code;
}

int kernel_load_ordered(const Loaded **out, nereid_kernel *k, int i) {
  pthread_mutex_lock(&k->ordered_lock);
  int code = k->ordered_images[i] ? 0 : load_ordered(k, i);
  pthread_mutex_unlock(&k->ordered_lock);
  *out = &k->ordered[i];
  return code;
}

/* ---- the rest of its life ---- */

static void unload_kernel(const nereid_kernel *k, Loaded *l) {
  if (l->variant) k->device->ops->unload(k->device, l);
}

void nereid_kernel_free(nereid_kernel *k) {
  if (!k) return;
  for (int i = 0; i < k->nloaded && k->loaded; i++) unload_kernel(k, &k->loaded[i]);
  for (int i = 0; i < k->nloaded && k->ordered; i++) unload_kernel(k, &k->ordered[i]);
  for (int i = 0; i < k->nloaded && k->ordered_images; i++) nereid_image_free(k->ordered_images[i]);
  pthread_mutex_destroy(&k->ordered_lock);
  free(k->ordered);
  free(k->ordered_images);
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
