#include "runtime/library/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/library/library_rows.h"
#include "runtime/messages.h"
#include "runtime/support/error.h"

static const LibraryFile *const library_files[] = {&library_cublas, &library_cudnn, &library_blas,
                                                   &library_dnnl, &library_torch};
static const LibraryFunction *const library_functions[] = {
    &library_cublas_matmul,         &library_cudnn_convolution, &library_cudnn_input_gradient,
    &library_cudnn_weight_gradient, &library_blas_gemm,         &library_dnnl_gemm,
    &library_torch_gemm};
enum {
  FILES = sizeof library_files / sizeof *library_files,
  FUNCTIONS = sizeof library_functions / sizeof *library_functions,
  PATH_MOST = 4096,
  /* A library that has used a GPU is not unloaded: the driver may still call it when the process
   * ends. */
  OPEN = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE
};

struct DeviceLibraries {
  char *folders; /* NULL: none were given */
  Library list[FILES];
};

/* ---- the table ---- */

const LibraryFunction *library_find(const char *name) {
  for (int i = 0; i < FUNCTIONS; i++)
    if (!strcmp(library_functions[i]->name, name)) return library_functions[i];
  return NULL;
}

const LibraryFunction *library_of_kind(nereid_kind kind, int i) {
  for (int at = 0; at < FUNCTIONS; at++)
    if (library_functions[at]->kind == kind && i-- == 0) return library_functions[at];
  return NULL;
}

static const char *const activations[] = {
    [ACTIVATION_NONE] = "none", [ACTIVATION_RELU] = "relu", [ACTIVATION_GELU_TANH] = "gelu_tanh"};

const char *library_activation_name(LibraryActivation a) { return activations[a]; }

LibraryActivation library_activation(const char *name) {
  for (LibraryActivation a = ACTIVATION_RELU; a <= ACTIVATION_GELU_TANH; a++)
    if (!strcmp(activations[a], name)) return a;
  return ACTIVATION_NONE;
}

static const char *const scales[] = {[SCALES_NONE] = "none",
                                     [SCALES_WHOLE] = "whole",
                                     [SCALES_ROWS] = "rows",
                                     [SCALES_BLOCKS] = "blocks"};

const char *library_scales_name(LibraryScales s) { return scales[s]; }

LibraryScales library_scales(const char *name) {
  for (LibraryScales s = SCALES_WHOLE; s <= SCALES_BLOCKS; s++)
    if (!strcmp(scales[s], name)) return s;
  return SCALES_NONE;
}

const char *library_name(const LibraryFunction *f) { return f->name; }
nereid_kind library_kind(const LibraryFunction *f) { return f->kind; }
int64_t library_workspace(const LibraryFunction *f) { return f->workspace; }

LibraryWork library_work(const LibraryFunction *f) { return f->work; }

bool library_convolves(const LibraryFunction *f, DType dtype) {
  return f->work != LIBRARY_PRODUCT && f->convolves(dtype);
}

bool library_takes(const LibraryFunction *f, DType operands, DType out, DType bias,
                   LibraryActivation activation) {
  return f->work == LIBRARY_PRODUCT && f->takes(operands, out, bias, activation);
}

/* ---- files ---- */

typedef struct {
  const LibraryFile *file;
  void *handle;
} Search;

static bool open_in_folder(Search *s, const char *folder, size_t len) {
  char path[2 * PATH_MOST];
  for (const char *const *name = s->file->files; *name && !s->handle; name++) {
    snprintf(path, sizeof path, "%.*s/%s", (int)len, folder, *name);
    s->handle = dlopen(path, OPEN);
  }
  return s->handle != NULL;
}

static bool open_in_folders(Search *s, const char *folders) {
  while (folders && *folders && !s->handle) {
    size_t len = strcspn(folders, ":");
    if (len) open_in_folder(s, folders, len);
    folders += len + (folders[len] == ':');
  }
  return s->handle != NULL;
}

/* Each name, where the loader finds it; with RTLD_NOLOAD what the process has already. */
static bool open_by_name(Search *s, int flags) {
  for (const char *const *name = s->file->files; *name && !s->handle; name++)
    s->handle = dlopen(*name, OPEN | flags);
  return s->handle != NULL;
}

/* The loader's list is locked while it is gone through: libraries are opened after that. */
static int find_torch(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  char *site = context;
  const char *at = info->dlpi_name ? strstr(info->dlpi_name, "torch/lib/libtorch") : NULL;
  if (!at || at == info->dlpi_name || at[-1] != '/' || at - info->dlpi_name >= PATH_MOST) return 0;
  snprintf(site, PATH_MOST, "%.*s", (int)(at - info->dlpi_name) - 1, info->dlpi_name);
  return 1;
}

/* PyTorch's own libraries are in SITE/torch/lib, and those that its wheel requires in
 * SITE/nvidia/NAME/lib. */
static bool open_wheel(Search *s) {
  char site[PATH_MOST], folder[PATH_MOST + 64];
  if (!s->file->wheels[0] || !dl_iterate_phdr(find_torch, site)) return false;
  for (const char *const *wheel = s->file->wheels; *wheel && !s->handle; wheel++) {
    snprintf(folder, sizeof folder, "%s/%s", site, *wheel);
    open_in_folder(s, folder, strlen(folder));
  }
  return s->handle != NULL;
}

static void *find_file(const LibraryFile *file, const char *folders) {
  Search s = {.file = file};
  const char *own = getenv("NEREID_LIBRARY_PATH");
  if (file->loaded) return open_by_name(&s, RTLD_NOLOAD) ? s.handle : NULL;
  if (open_in_folders(&s, folders) || open_in_folders(&s, own)) return s.handle;
  if (own && !*own) return NULL;
  if (open_by_name(&s, RTLD_NOLOAD) || open_wheel(&s) || open_by_name(&s, 0)) return s.handle;
  return NULL;
}

/* ---- the libraries of a device ---- */

static void close_libraries(nereid_device *d) {
  for (int i = 0; i < FILES; i++) {
    Library *l = &d->libraries->list[i];
    if (!l->tried) continue;
    if (l->handle && library_files[i]->has_context) library_stop(l);
    if (l->handle) dlclose(l->handle);
    pthread_mutex_destroy(&l->lock);
  }
  free(d->libraries->folders);
  free(d->libraries);
}

/* The caller has the lock; NULL: out of memory. */
static DeviceLibraries *libraries_of(nereid_device *d) {
  if (d->libraries) return d->libraries;
  d->libraries = calloc(1, sizeof *d->libraries);
  d->close_libraries = close_libraries;
  return d->libraries;
}

size_t library_version_number(const Library *l, const char *symbol) {
  size_t (*get)(void) = NULL;
  *(void **)&get = dlsym(l->handle, symbol);
  return get ? get() : 0;
}

static bool find_functions(Library *l, const char *const *symbols) {
  for (int i = 0; symbols[i]; i++)
    if (!(l->functions[i] = dlsym(l->handle, symbols[i]))) return false;
  return true;
}

static Library *open_library(nereid_device *d, const LibraryFile *file) {
  DeviceLibraries *all = libraries_of(d);
  int i = 0;
  while (library_files[i] != file) i++;
  if (!all) return NULL;
  Library *l = &all->list[i];
  if (l->tried) return l->handle ? l : NULL;
  l->tried = true;
  l->device = d;
  pthread_mutex_init(&l->lock, NULL);
  l->handle = find_file(file, all->folders);
  if (l->handle && !find_functions(l, file->symbols)) {
    dlclose(l->handle);
    l->handle = NULL;
  }
  if (l->handle) file->write_version(l);
  LOG(d->log, LOG_TUNE, "library %s: %s", file->name, l->handle ? l->version : "not found");
  return l->handle ? l : NULL;
}

/* The kind of code decides: interpreters define what is right, and call no library. */
static Library *library_on(nereid_device *d, const LibraryFunction *f) {
  if (device_kind(d) != f->kind || d->described) return NULL;
  pthread_mutex_lock(&d->library_lock);
  Library *l = open_library(d, f->file);
  pthread_mutex_unlock(&d->library_lock);
  return l;
}

const char *library_version(nereid_device *d, const LibraryFunction *f) {
  const Library *l = library_on(d, f);
  return l ? l->version : NULL;
}

int library_threads(nereid_device *d, const LibraryFunction *f) {
  const Library *l = f->threads ? library_on(d, f) : NULL;
  return l ? f->threads(l) : 0;
}

bool library_is_usable(nereid_device *d, const LibraryFunction *f) {
  Library *l = library_on(d, f);
  return l && (!f->file->has_context || library_start(l));
}

uint64_t library_places(nereid_device *d) {
  char site[PATH_MOST];
  uint64_t bits = dl_iterate_phdr(find_torch, site) != 0;
  for (int i = 0; i < FILES; i++) {
    Search s = {.file = library_files[i]};
    if (!open_by_name(&s, RTLD_NOLOAD)) continue;
    bits |= (uint64_t)2 << i;
    dlclose(s.handle);
  }
  pthread_mutex_lock(&d->library_lock);
  for (const char *c = d->libraries ? d->libraries->folders : NULL; c && *c; c++)
    bits = bits * 31 + (unsigned char)*c;
  pthread_mutex_unlock(&d->library_lock);
  return bits;
}

/* ---- the C API ---- */

int nereid_device_library_path(nereid_device *d, const char *folders) {
  REQUIRE(d);
  REQUIRE(folders);
  pthread_mutex_lock(&d->library_lock);
  DeviceLibraries *all = libraries_of(d);
  char *copy = strdup(folders);
  if (all && copy) {
    free(all->folders);
    all->folders = copy;
  } else {
    free(copy);
  }
  pthread_mutex_unlock(&d->library_lock);
  return all && copy ? 0 : error_out_of_memory();
}

const char *nereid_device_library_version(nereid_device *d, const char *function) {
  REQUIRE_OR(d, NULL);
  REQUIRE_OR(function, NULL);
  const LibraryFunction *f = library_find(function);
  return f ? library_version(d, f) : NULL;
}

/* ---- calls ---- */

/* An axis of one element has any stride. */
static bool fits_rows(int64_t rows, int64_t columns, int64_t row, int64_t column, int64_t *ld) {
  if (column != 1 && columns > 1) return false;
  if (rows > 1 && row < columns) return false;
  *ld = rows > 1 ? row : columns > 1 ? columns : 1;
  return true;
}

bool library_layout(const LibraryMatrix *x, int64_t rows, int64_t columns, LibraryLayout *out) {
  out->transposed = !fits_rows(rows, columns, x->row, x->column, &out->ld);
  return !out->transposed || fits_rows(columns, rows, x->column, x->row, &out->ld);
}

int library_refused(const LibraryCall *c, const char *why) {
  const LibraryProduct *p = &c->shape.product;
  const LibraryConvolution *v = &c->shape.convolution;
  if (c->function->work != LIBRARY_PRODUCT)
    return error_set(NEREID_E_TOOL, E_RUN_LIBRARY_CONVOLUTION, c->function->name,
                     (long long)v->images, (long long)v->channels, (long long)v->size[0],
                     (long long)v->size[1], (long long)v->features, (long long)v->window[0],
                     (long long)v->window[1], dtype_name(v->dtype), why);
  return error_set(NEREID_E_TOOL, E_RUN_LIBRARY_CALL, c->function->name, (long long)p->batch,
                   (long long)p->m, (long long)p->n, (long long)p->k, dtype_name(p->a.dtype), why);
}

int library_prepare(LibraryCall **out, nereid_device *d, const LibraryFunction *f,
                    const LibraryShape *shape, int64_t workspace) {
  *out = NULL;
  if (!library_is_usable(d, f))
    return error_set(NEREID_E_TOOL, E_RUN_NO_LIBRARY, f->name, f->file->name, d->name);
  LibraryCall *c = calloc(1, sizeof *c);
  if (!c) return error_out_of_memory();
  *c = (LibraryCall){
      .function = f, .library = library_on(d, f), .shape = *shape, .workspace = workspace};
  int code = f->prepare(c);
  if (code) library_end(c);
  else *out = c;
  return code;
}

int64_t library_call_workspace(const LibraryCall *c) { return c->workspace; }

int library_run(LibraryCall *c, const LibraryPointers *at, void *stream) {
  return c->function->run(c, at, stream);
}

void library_end(LibraryCall *c) {
  if (!c) return;
  if (c->state) c->function->end(c);
  free(c);
}
