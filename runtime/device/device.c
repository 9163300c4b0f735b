/* The API of devices, memory, streams and events: checks, then the device's own function. */
#include "runtime/device/device.h"
#include "runtime/messages.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct nereid_event {
  nereid_device *device;
  void *handle;
};

static const DeviceOps *const all_ops[] = {&device_cuda, &device_cpu, &device_interp, &device_nest};

/* ---- opening ---- */

/* Splits "cuda:1".  NULL if there is no such kind of device. */
static const DeviceOps *find_ops(const char *name, int *ordinal) {
  size_t len = strcspn(name, ":");
  *ordinal = 0;
  if (name[len]) {
    char *end;
    long v = strtol(name + len + 1, &end, 10);
    if (*end || end == name + len + 1 || v < 0 || v > 1023) return NULL;
    *ordinal = (int)v;
  }
  for (size_t i = 0; i < sizeof all_ops / sizeof *all_ops; i++)
    if (strlen(all_ops[i]->name) == len && !memcmp(all_ops[i]->name, name, len)) return all_ops[i];
  return NULL;
}

static nereid_device *new_device(const DeviceOps *ops, bool described) {
  nereid_device *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  d->ops = ops;
  d->described = described;
  d->log = log_read();
  snprintf(d->name, sizeof d->name, "%s", ops->name);
  pthread_mutex_init(&d->lock, NULL);
  pthread_mutex_init(&d->library_lock, NULL);
  return d;
}

static void point_info(nereid_device *d) {
  d->info.name = d->name;
  d->info.description = d->description;
  d->info.target = d->target;
  d->info.kind = d->ops->kind;
}

static int open_device_as(nereid_device **out, const char *name, bool described) {
  *out = NULL;
  int ordinal;
  const DeviceOps *ops = find_ops(name, &ordinal);
  if (!ops || (ordinal && ops != &device_cuda))
    return error_set(NEREID_E_USAGE, E_RUN_UNKNOWN_DEVICE, name);
  nereid_device *d = new_device(ops, described);
  if (!d) return error_out_of_memory();
  int code = ops->open(d, ordinal);
  if (code) {
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->library_lock);
    free(d);
    return code;
  }
  point_info(d);
  if (!described) temp_sweep();
  *out = d;
  return 0;
}

int nereid_device_open(nereid_device **out, const char *name) {
  REQUIRE_OUT(out);
  REQUIRE(name);
  return open_device_as(out, name, false);
}

int device_describe(nereid_device **out, const char *name) {
  return open_device_as(out, name, true);
}

int device_of_target(nereid_device **out, const char *target) {
  nereid_device *d = *out = new_device(&device_cuda, true);
  if (!d) return error_out_of_memory();
  snprintf(d->target, sizeof d->target, "%s", target);
  point_info(d);
  return 0;
}

void nereid_device_close(nereid_device *d) {
  if (!d) return;
  device_forget_faults(d);
  while (d->allocations) {
    Allocation *a = d->allocations;
    d->allocations = a->next;
    if (!a->borrowed) d->ops->free(d, a->data);
    free(a);
  }
  if (d->libraries) d->close_libraries(d);
  d->ops->close(d);
  pthread_mutex_destroy(&d->lock);
  pthread_mutex_destroy(&d->library_lock);
  free(d);
}

int nereid_device_get_info(nereid_device_info *out, const nereid_device *d) {
  REQUIRE_OUT(out);
  REQUIRE(d);
  *out = d->info;
  return 0;
}

void nereid_device_on_message(nereid_device *d, nereid_message_fn fn, void *context) {
  if (!d) {
    error_null(__func__, "d");
    return;
  }
  d->on_message = fn;
  d->context = context;
}

void nereid_device_on_print(nereid_device *d, nereid_message_fn fn, void *context) {
  if (!d) {
    error_null(__func__, "d");
    return;
  }
  d->on_print = fn;
  d->print_context = context;
}

/* ---- waiting ---- */

void device_watch(nereid_device *d, DeviceWatch *w) {
  pthread_mutex_lock(&d->lock);
  w->next = d->watches;
  d->watches = w;
  pthread_mutex_unlock(&d->lock);
}

void device_unwatch(nereid_device *d, DeviceWatch *w) {
  pthread_mutex_lock(&d->lock);
  DeviceWatch **link = &d->watches;
  while (*link && *link != w) link = &(*link)->next;
  if (*link) *link = w->next;
  pthread_mutex_unlock(&d->lock);
}

/* The code of a wait: `code` if it failed, else that of the first watch that finds a failure. */
static int waited(nereid_device *d, int code) {
  if (code) return code;
  pthread_mutex_lock(&d->lock);
  for (DeviceWatch *w = d->watches; w && !code; w = w->next) code = w->check(w->context);
  pthread_mutex_unlock(&d->lock);
  return code;
}

int nereid_device_sync(nereid_device *d) {
  REQUIRE(d);
  return waited(d, d->ops->sync(d, NULL, true));
}

int device_wait(nereid_device *d) { return waited(d, d->ops->sync(d, NULL, false)); }

nereid_kind device_kind(const nereid_device *d) { return d->ops->kind; }

const char *device_target(const nereid_device *d) { return d->target[0] ? d->target : NULL; }

void device_note(nereid_device *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  error_vtell_note(d->on_message, d->context, fmt, ap);
  va_end(ap);
}

/* ---- memory ---- */

Allocation *device_find(nereid_device *d, const void *p) {
  const char *at = p;
  for (Allocation *a = d->allocations; a; a = a->next)
    if (at >= a->data && (at < a->data + a->size || at == a->data)) return a;
  return NULL;
}

/* Forgets borrowed memory that overlaps the bytes or, with `inside`, is within them. */
static void forget_borrowed(nereid_device *d, const char *data, size_t size, bool inside) {
  for (Allocation **link = &d->allocations; *link;) {
    Allocation *a = *link;
    bool overlaps = a->data < data + size && data < a->data + a->size;
    bool lies_in = data <= a->data && a->data + a->size <= data + size;
    if (a->borrowed && !a->lasting && (inside ? lies_in : overlaps)) {
      *link = a->next;
      free(a);
    } else {
      link = &a->next;
    }
  }
}

/* The caller has freed what is allocated anew: borrowed memory there is no more.  Tensors may
 * overlap each other. */
static void remember_allocation(nereid_device *d, Allocation *a, bool borrowed) {
  pthread_mutex_lock(&d->lock);
  forget_borrowed(d, a->data, a->size, borrowed);
  a->next = d->allocations;
  d->allocations = a;
  pthread_mutex_unlock(&d->lock);
}

bool device_checks_accesses(const nereid_device *d) {
  return d->ops->kind == NEREID_TILE || d->ops->kind == NEREID_THREAD;
}

/* A part of a tensor, or of memory of ours, is known; of tensors that may be gone, `whole` ones are
 * known for themselves. */
static int borrow(nereid_device *d, const void *p, size_t size, bool whole) {
  if (!device_checks_accesses(d)) return 0;
  char *data = (char *)(uintptr_t)p;
  pthread_mutex_lock(&d->lock);
  const Allocation *known = device_find(d, p);
  bool holds = known && data + size <= known->data + known->size;
  if (whole && holds && known->borrowed && !known->lasting)
    holds = known->data == data && known->size == size;
  pthread_mutex_unlock(&d->lock);
  if (holds) return 0;
  Allocation *a = malloc(sizeof *a);
  if (!a) return error_out_of_memory();
  *a = (Allocation){NULL, data, size, true, true, false};
  remember_allocation(d, a, true);
  return 0;
}

int device_borrow(nereid_device *d, const void *p, size_t size) {
  return borrow(d, p, size, false);
}

int device_borrow_whole(nereid_device *d, const void *p, size_t size) {
  return borrow(d, p, size, true);
}

int device_borrow_lasting(nereid_device *d, const void *p, size_t size) {
  if (!device_checks_accesses(d)) return 0;
  Allocation *a = malloc(sizeof *a);
  if (!a) return error_out_of_memory();
  *a = (Allocation){NULL, (char *)(uintptr_t)p, size, true, true, true};
  remember_allocation(d, a, true);
  return 0;
}

void device_return(nereid_device *d, const void *p) {
  pthread_mutex_lock(&d->lock);
  Allocation **link = &d->allocations;
  while (*link && !((*link)->lasting && (*link)->data == p)) link = &(*link)->next;
  Allocation *a = *link;
  if (a) *link = a->next;
  pthread_mutex_unlock(&d->lock);
  free(a);
}

int nereid_alloc(void **out, nereid_device *d, size_t size) {
  REQUIRE_OUT(out);
  REQUIRE(d);
  Allocation *a = malloc(sizeof *a);
  if (!a) return error_out_of_memory();
  void *p;
  int code = d->ops->alloc(d, &p, size);
  if (code) {
    free(a);
    return code;
  }
  *a = (Allocation){NULL, p, size, false, false, false};
  remember_allocation(d, a, false);
  *out = p;
  return 0;
}

void nereid_free(nereid_device *d, void *p) {
  if (!d || !p) return;
  pthread_mutex_lock(&d->lock);
  Allocation **link = &d->allocations;
  while (*link && ((*link)->data != p || (*link)->borrowed)) link = &(*link)->next;
  Allocation *a = *link;
  if (a) *link = a->next;
  pthread_mutex_unlock(&d->lock);
  if (!a) return;
  d->ops->free(d, p);
  free(a);
}

static void mark_allocation_written(nereid_device *d, const void *p) {
  pthread_mutex_lock(&d->lock);
  Allocation *a = device_find(d, p);
  if (a) a->written = true;
  pthread_mutex_unlock(&d->lock);
}

static int start_copy(nereid_device *d, void *to, const void *from, size_t size, int way,
                      nereid_stream *s) {
  int code = d->ops->copy(d, to, from, size, way, device_stream(s));
  if (!code && way != COPY_OUT) mark_allocation_written(d, to);
  return code;
}

int device_copy(nereid_device *d, void *to, const void *from, size_t size, nereid_stream *s) {
  return start_copy(d, to, from, size, COPY_WITHIN, s);
}

static int copy(nereid_device *d, void *to, const void *from, size_t size, int way,
                nereid_stream *s) {
  int code = start_copy(d, to, from, size, way, s);
  return code || s ? code : device_wait(d);
}

int device_alloc_shared(nereid_device *d, void **out, const void *bytes, size_t size) {
  *out = NULL;
  if (!d->ops->alloc_shared) {
    int code = nereid_alloc(out, d, size);
    return code ? code : start_copy(d, *out, bytes, size, COPY_IN, NULL);
  }
  int code = d->ops->alloc_shared(d, out, size);
  if (!code) memcpy(*out, bytes, size);
  return code;
}

void device_free_shared(nereid_device *d, void *p) {
  if (!p) return;
  if (d->ops->free_shared) d->ops->free_shared(d, p);
  else nereid_free(d, p);
}

static int copy_uploads(nereid_device *d, const Upload *uploads, int n) {
  int code = 0;
  for (int i = 0; i < n && !code; i++)
    code = d->ops->copy(d, uploads[i].to, uploads[i].from, uploads[i].size, COPY_IN, NULL);
  return code;
}

int device_upload(nereid_device *d, const Upload *uploads, int n) {
  int code = d->ops->upload ? d->ops->upload(d, uploads, n) : copy_uploads(d, uploads, n);
  for (int i = 0; i < n && !code; i++) mark_allocation_written(d, uploads[i].to);
  return code ? code : d->ops->sync(d, NULL, false);
}

int nereid_copy_in(nereid_device *d, void *to, const void *from, size_t size, nereid_stream *s) {
  REQUIRE(d);
  if (size) REQUIRE(to);
  if (size) REQUIRE(from);
  const Upload one = {to, from, size};
  return s ? copy(d, to, from, size, COPY_IN, s) : device_upload(d, &one, 1);
}

int nereid_copy_out(nereid_device *d, void *to, const void *from, size_t size, nereid_stream *s) {
  REQUIRE(d);
  if (size) REQUIRE(to);
  if (size) REQUIRE(from);
  return copy(d, to, from, size, COPY_OUT, s);
}

int nereid_copy(nereid_device *d, void *to, const void *from, size_t size, nereid_stream *s) {
  REQUIRE(d);
  if (size) REQUIRE(to);
  if (size) REQUIRE(from);
  return copy(d, to, from, size, COPY_WITHIN, s);
}

int nereid_fill(nereid_device *d, void *to, int byte, size_t size, nereid_stream *s) {
  REQUIRE(d);
  if (size) REQUIRE(to);
  int code = d->ops->fill(d, to, byte, size, device_stream(s));
  if (!code) mark_allocation_written(d, to);
  return code;
}

/* ---- streams and events ---- */

void *device_stream(const nereid_stream *s) { return s ? s->handle : NULL; }
void *nereid_stream_native(const nereid_stream *s) { return device_stream(s); }

bool device_is_capturing(nereid_device *d, const nereid_stream *s) {
  return s && d->ops->is_capturing && d->ops->is_capturing(d, s->handle);
}

int nereid_device_is_capturing(nereid_device *d, void *native) {
  REQUIRE(d);
  return native && d->ops->is_capturing && d->ops->is_capturing(d, native);
}

int nereid_stream_wrap(nereid_stream **out, nereid_device *d, void *native) {
  REQUIRE_OUT(out);
  REQUIRE(d);
  *out = calloc(1, sizeof **out);
  if (!*out) return error_out_of_memory();
  **out = (nereid_stream){d, native, false};
  return 0;
}

int nereid_stream_new(nereid_stream **out, nereid_device *d) {
  REQUIRE_OUT(out);
  REQUIRE(d);
  void *handle;
  int code = d->ops->stream_new(d, &handle);
  if (!code) code = nereid_stream_wrap(out, d, handle);
  if (!code) (*out)->owned = true;
  return code;
}

void nereid_stream_free(nereid_stream *s) {
  if (!s) return;
  if (s->owned) s->device->ops->stream_free(s->device, s->handle);
  free(s);
}

int nereid_stream_sync(nereid_stream *s) {
  REQUIRE(s);
  return waited(s->device, s->device->ops->sync(s->device, s->handle, false));
}

int nereid_event_new(nereid_event **out, nereid_device *d) {
  REQUIRE_OUT(out);
  REQUIRE(d);
  void *handle;
  int code = d->ops->event_new(d, &handle);
  if (code) return code;
  *out = calloc(1, sizeof **out);
  if (!*out) {
    d->ops->event_free(d, handle);
    return error_out_of_memory();
  }
  **out = (nereid_event){d, handle};
  return 0;
}

void nereid_event_free(nereid_event *e) {
  if (!e) return;
  e->device->ops->event_free(e->device, e->handle);
  free(e);
}

int nereid_event_record(nereid_event *e, nereid_stream *s) {
  REQUIRE(e);
  return e->device->ops->event_record(e->device, e->handle, device_stream(s));
}

int nereid_event_sync(nereid_event *e) {
  REQUIRE(e);
  return waited(e->device, e->device->ops->event_sync(e->device, e->handle));
}

int nereid_event_elapsed_us(double *out, const nereid_event *from, const nereid_event *to) {
  REQUIRE_OUT(out);
  REQUIRE(from);
  REQUIRE(to);
  return from->device->ops->event_elapsed(from->device, out, from->handle, to->handle);
}
