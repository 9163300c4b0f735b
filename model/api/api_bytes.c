/* Executables as bytes: nereid_executable_bytes() and nereid_executable_from_bytes().
 *
 *   "nereid executable 1\n"                  which is `head`
 *   hash                                     xxh3 of all bytes after it
 *   version, build id, device, processor     texts
 *   mode, which runs are replayed            a text, a number (ReplayUse)
 *   plan                                     a text (planner/plan/plan_text.c)
 *   libraries                                a number; of each its bytes
 *   kernels                                  a number; of each its key, its image and the library
 *                                            that has its code (or IN_IMAGE)
 *   files                                    a number; of each its path, size and sample
 *   weights                                  a number; of each its name, dtype, sizes, strides,
 *                                            file (or NO_FILE), where it begins, its bytes
 *   the bytes of embedded weights, each at a multiple of ALIGNMENT
 *
 * Numbers have 64 bits; a text has its length before it and a NUL after it.  Reading checks that
 * all of it is there; the code is run as it is. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "import/archives/map.h"
#include "model/api/api.h"
#include "model/messages.h"
#include "planner/compile/buffer_weight.h"
#include "planner/plan/plan.h"
#include "runtime/device/assembler.h"
#include "runtime/device/cpu_device.h"
#include "runtime/messages.h"
#include "runtime/support/parallel.h"

static const char head[] = "nereid executable 1\n";
enum { ALIGNMENT = 64, HASHED_FROM = sizeof head - 1 + 8 };
#define NO_FILE UINT64_MAX
#define IN_IMAGE UINT64_MAX

/* ---- a file that shall not have changed ----
 *
 * Some blocks of it and its end, where an archive has its directory with the checksums of all
 * entries: a whole file of weights takes long to read. */
static uint64_t sample_of(const uint8_t *bytes, size_t size) {
  enum { BLOCKS = 64, BLOCK = 4096 };
  XXH3_state_t *state = XXH3_createState();
  if (!state) return 0;
  XXH3_64bits_reset(state);
  for (size_t i = 0; i < BLOCKS; i++) {
    size_t at = size / BLOCKS * i, n = size - at < BLOCK ? size - at : BLOCK;
    XXH3_64bits_update(state, bytes + at, n);
  }
  size_t tail = size < (size_t)BLOCKS * BLOCK ? size : (size_t)BLOCKS * BLOCK;
  XXH3_64bits_update(state, bytes + size - tail, tail);
  uint64_t sample = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return sample;
}

/* ---- the device that code is for ---- */

/* The processor of device cpu, since the C compiler uses all of its features. */
static const char *processor_of(Arena *a, const nereid_device *d) {
  if (d->ops != &device_cpu) return "";
  const Cpu *cpu = d->state;
  Text t = text_new(a);
  for (int i = 0; i < CPU_IDENTITY; i++) text_printf(&t, "%02x", cpu->processor[i]);
  return t.data;
}

static const char *device_text(Arena *a, const nereid_device *d) {
  const char *target = device_target(d);
  return arena_printf(a, "%s%s%s", d->ops->name, target ? " " : "", target ? target : "");
}

/* ---- machine code ---- */

typedef struct {
  nereid_device *device;
  nereid_image **images;
  int *codes;
  char **messages; /* of failures, malloc'ed */
} MachineCode;

/* The variants that the device takes, as its machine code. */
static int assemble_image(nereid_image **image, nereid_device *d) {
  nereid_image *made;
  int code = image_like(&made, *image);
  for (int i = 0; i < (*image)->nvariants && !code; i++) {
    ImageVariant v = *(*image)->variants[i];
    char *machine = NULL;
    if (!d->ops->fits(d, &v)) continue;
    if (v.kind == NEREID_PTX) {
      code =
          cubin_assemble(&machine, &v.size, v.code, v.size, d->target, d->on_message, d->context);
      v.code = machine;
      v.kind = NEREID_CUBIN;
    }
    if (!code) code = image_add_variant(made, &v, true);
    free(machine);
  }
  if (code) {
    nereid_image_free(made);
    return code;
  }
  nereid_image_free(*image);
  *image = made;
  return 0;
}

static void assemble_at(void *context, size_t i) {
  const MachineCode *m = context;
  m->codes[i] = assemble_image(&m->images[i], m->device);
  if (m->codes[i]) m->messages[i] = error_keep();
}

static int assemble_all(MachineCode *m, Arena *a, size_t n) {
  int code = 0;
  m->codes = ARENA_ARRAY(a, int, n);
  m->messages = ARENA_ARRAY(a, char *, n);
  parallel_for(n, assemble_at, m);
  for (size_t i = 0; i < n; i++) {
    if (m->codes[i] && !code) code = error_again(m->codes[i], m->messages[i]);
    free(m->messages[i]);
  }
  return code;
}

/* ---- writing ---- */

typedef struct {
  nereid_executable *e;
  const nereid_bytes_options *options;
  Arena *arena;
  Text out;
  VEC(MappedFile) files;
  VEC(const Weight *) weights; /* that the plan uses */
  nereid_image **images; /* NULL: kernels have them, and their code is in libraries */
  size_t nimages;
  VEC(const CpuCode *) libraries;
  bool stored; /* kernels' code is that of the cache */
  char **bytes;
  size_t *size;
} Writer;

static void put_number(Text *t, uint64_t x) { text_putn(t, (const char *)&x, sizeof x); }

static void put_bytes(Text *t, const char *data, size_t size) {
  put_number(t, size);
  text_putn(t, data, size);
  text_putn(t, "", 1);
}

static void put_text(Text *t, const char *s) { put_bytes(t, s, strlen(s)); }

static uint64_t library_number(const Writer *w, const CpuCode *library) {
  uint64_t i = 0;
  while (i < w->libraries.len && w->libraries.data[i] != library) i++;
  return i;
}

/* Kernels that were compiled together are stored so: their libraries are those that run.  Those
 * that are interpreted have none: their images have tile IR. */
static void put_libraries(Writer *w, const PlanKernels *k) {
  for (size_t i = 0; i < k->list.len && !w->images; i++) {
    const CpuCode *library = cpu_code(&k->list.data[i]->kernel->loaded[0]);
    if (library && library_number(w, library) == w->libraries.len)
      vec_push(w->arena, &w->libraries, library);
  }
  put_number(&w->out, w->libraries.len);
  for (size_t i = 0; i < w->libraries.len; i++) {
    size_t size;
    const char *data = cpu_code_bytes(&size, w->libraries.data[i]);
    put_bytes(&w->out, data, size);
  }
}

/* Images and libraries are moved by later kernels' growth of the text no more than once. */
static int put_kernels(Writer *w, const PlanKernels *k) {
  int code = 0;
  put_number(&w->out, k->list.len);
  for (size_t i = 0; i < k->list.len && !code; i++) {
    const nereid_kernel *kernel = k->list.data[i]->kernel;
    char *data;
    size_t size;
    code = nereid_image_bytes(&data, &size, w->images ? w->images[i] : kernel->image);
    if (code) break;
    put_text(&w->out, k->list.data[i]->key);
    put_bytes(&w->out, data, size);
    const CpuCode *library = w->images ? NULL : cpu_code(&kernel->loaded[0]);
    put_number(&w->out, library ? library_number(w, library) : IN_IMAGE);
    nereid_text_free(data);
  }
  return code;
}

/* The images of kernels, but for those of a CPU, whose kernels have them.  *lacks: the cache does
 * not have all that it should. */
static int find_images(Writer *w, PlanKernels *k, bool *lacks) {
  MachineCode m = {.device = w->e->device};
  if (!w->stored && w->e->device->ops == &device_cpu) return 0;
  w->nimages = k->list.len;
  w->images = m.images = ARENA_ARRAY(w->arena, nereid_image *, w->nimages);
  if (w->stored) {
    *lacks = !kernels_cached_images(k, w->images);
    return 0;
  }
  int code = kernels_images(k, w->images);
  return code ? code : assemble_all(&m, w->arena, w->nimages);
}

static void find_files(Writer *w) {
  const Model *m = w->e->model;
  const Archive *archives[] = {m->file, m->weights_file};
  const OnnxFile *models[] = {m->onnx, m->weights_onnx};
  MappedFile f;
  if (m->tensors && tensor_file_mapped(m->tensors, &f)) vec_push(w->arena, &w->files, f);
  for (int i = 0; i < 2; i++) {
    if (archives[i] && archive_mapped(archives[i], &f)) vec_push(w->arena, &w->files, f);
    for (size_t j = 0; models[i] && onnx_mapped(models[i], j, &f); j++)
      vec_push(w->arena, &w->files, f);
  }
}

static void put_files(Writer *w) {
  char path[PATH_MAX];
  put_number(&w->out, w->files.len);
  for (size_t i = 0; i < w->files.len; i++) {
    const MappedFile *f = &w->files.data[i];
    put_text(&w->out, realpath(f->path, path) ? path : f->path);
    put_number(&w->out, f->size);
    put_number(&w->out, sample_of(f->bytes, f->size));
  }
}

/* The file whose mapping has the weight; NO_FILE: none, or the weight is to be embedded. */
static uint64_t file_of(const Writer *w, const Weight *x) {
  const uint8_t *data = x->data;
  for (size_t i = 0; i < w->files.len && !w->options->embed_weights; i++) {
    const MappedFile *f = &w->files.data[i];
    if (data >= f->bytes && data < f->bytes + f->size) return i;
  }
  return NO_FILE;
}

static void find_used_weights(Writer *w) {
  const Plan *p = w->e->model->plan;
  NameMap seen = {0};
  for (uint32_t i = 0; i < p->nbuffers; i++) {
    const PlanBuffer *b = &p->buffers[i];
    if (b->kind != BUFFER_WEIGHT) continue;
    void **slot = namemap_put(w->arena, &seen, b->tensor);
    const Weight *x = weights_find(w->e->model->weights, b->tensor);
    if (!*slot && x) vec_push(w->arena, &w->weights, x);
    *slot = w;
  }
}

/* Embedded elements are in row-major order. */
static void put_weight(Writer *w, const Weight *x, uint64_t *embedded) {
  uint64_t file = x->data ? file_of(w, x) : NO_FILE, bytes = (uint64_t)weight_bytes(x), step = 1;
  int64_t strides[GRAPH_RANK_MAX];
  for (uint32_t i = x->rank; i--;) {
    strides[i] = file == NO_FILE ? (int64_t)step : x->strides[i];
    step *= (uint64_t)x->shape[i];
  }
  put_text(&w->out, x->name);
  put_number(&w->out, x->dtype);
  put_number(&w->out, x->rank);
  text_putn(&w->out, (const char *)x->shape, x->rank * sizeof *x->shape);
  text_putn(&w->out, (const char *)strides, x->rank * sizeof *strides);
  put_number(&w->out, file);
  if (file == NO_FILE) {
    put_number(&w->out, *embedded);
    *embedded += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  } else {
    put_number(&w->out, (uint64_t)((const uint8_t *)x->data - w->files.data[file].bytes));
  }
  put_number(&w->out, bytes);
}

/* The whole: the text, then the weights that are embedded. */
static int join_bytes(Writer *w, uint64_t embedded) {
  size_t begin = (w->out.len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  char *all = calloc(1, begin + embedded + 1);
  if (!all) return error_out_of_memory();
  memcpy(all, w->out.data, w->out.len);
  char *at = all + begin;
  for (size_t i = 0; i < w->weights.len; i++) {
    const Weight *x = w->weights.data[i];
    if (x->data && file_of(w, x) != NO_FILE) continue;
    weight_copy(at, x);
    at += ((size_t)weight_bytes(x) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  *w->size = begin + embedded;
  *w->bytes = all;
  uint64_t hash = XXH3_64bits(all + HASHED_FROM, *w->size - HASHED_FROM);
  memcpy(all + sizeof head - 1, &hash, sizeof hash);
  return 0;
}

static int write_bytes_body(void *arg) {
  Writer *w = arg;
  nereid_executable *e = w->e;
  PlanKernels *k = executable_kernels(e->e);
  Text plan = text_new(w->arena);
  bool lacks = false;
  int code = find_images(w, k, &lacks);
  if (code || lacks) return code;
  w->out = text_new(w->arena);
  text_putn(&w->out, head, sizeof head - 1);
  put_number(&w->out, 0);
  put_text(&w->out, nereid_version());
  put_text(&w->out, nereid_build_id());
  put_text(&w->out, device_text(w->arena, e->device));
  put_text(&w->out, processor_of(w->arena, e->device));
  put_text(&w->out, e->mode);
  put_number(&w->out, e->replay);
  plan_print(&plan, e->model->plan);
  put_text(&w->out, plan.data);
  put_libraries(w, k);
  code = put_kernels(w, k);
  if (code) return code;
  find_files(w);
  put_files(w);
  find_used_weights(w);
  put_number(&w->out, w->weights.len);
  uint64_t embedded = 0;
  for (size_t i = 0; i < w->weights.len; i++) put_weight(w, w->weights.data[i], &embedded);
  return join_bytes(w, embedded);
}

static int write_bytes(Writer w) {
  nereid_executable *e = w.e;
  w.arena = arena_new();
  if (!w.arena) return error_out_of_memory();
  int code = api_tune(e);
  executable_lock(e->e);
  if (!code) code = executable_compile(e->e);
  if (!code) code = error_guard(w.arena, write_bytes_body, &w);
  executable_unlock(e->e);
  for (size_t i = 0; i < w.nimages && w.images; i++) nereid_image_free(w.images[i]);
  arena_free(w.arena);
  return code;
}

int nereid_executable_bytes(char **out, size_t *size, nereid_executable *e,
                            const nereid_bytes_options *o) {
  REQUIRE_OUT(out);
  REQUIRE_OUT(size);
  REQUIRE(e);
  static const nereid_bytes_options defaults = {0};
  int code = api_check_whole(e->model);
  if (code) return code;
  return write_bytes((Writer){.e = e, .options = o ? o : &defaults, .bytes = out, .size = size});
}

int api_bytes_of_stored(char **out, size_t *size, nereid_executable *e) {
  static const nereid_bytes_options options = {0};
  *out = NULL;
  return write_bytes(
      (Writer){.e = e, .options = &options, .bytes = out, .size = size, .stored = true});
}

/* ---- reading ---- */

typedef struct {
  const char *at, *end;
  bool failed;
} Reader;

typedef struct {
  const nereid_executable_source *source;
  nereid_executable *e;
  Reader r;
  const char *plan;
  size_t plan_size;
  KernelImages images;
  MappedFile *files;
  uint64_t nfiles;
} Loading;

static const char *take(Reader *r, uint64_t size) {
  static const char nothing[sizeof(uint64_t)];
  if (r->failed || size > (uint64_t)(r->end - r->at)) {
    r->failed = true;
    return nothing;
  }
  const char *p = r->at;
  r->at += size;
  return p;
}

static uint64_t take_number(Reader *r) {
  uint64_t x;
  memcpy(&x, take(r, sizeof x), sizeof x);
  return r->failed ? 0 : x;
}

static const char *take_bytes(Reader *r, size_t *size) {
  uint64_t n = take_number(r);
  const char *p = n < UINT64_MAX ? take(r, n + 1) : take(r, UINT64_MAX);
  if (!r->failed && p[n]) r->failed = true;
  *size = r->failed ? 0 : (size_t)n;
  return r->failed ? "" : p;
}

static const char *take_text(Reader *r) {
  size_t size;
  return take_bytes(r, &size);
}

/* How many things follow, each of which takes some bytes. */
static size_t take_count(Reader *r) {
  uint64_t n = take_number(r);
  if (n > (uint64_t)(r->end - r->at)) r->failed = true;
  return r->failed ? 0 : (size_t)n;
}

static int bad_bytes(void) { return error_set(NEREID_E_FILE, E_GRAPH_BYTES); }

static int check_head(Loading *l) {
  Reader *r = &l->r;
  uint64_t hash;
  bool named = l->source->size > HASHED_FROM && !memcmp(r->at, head, sizeof head - 1);
  if (!named) return bad_bytes();
  take(r, sizeof head - 1);
  hash = take_number(r);
  if (hash != XXH3_64bits(r->at, (size_t)(r->end - r->at))) return bad_bytes();
  const char *version = take_text(r), *build = take_text(r);
  if (r->failed) return bad_bytes();
  if (!strcmp(build, nereid_build_id())) return 0;
  return error_set(NEREID_E_FILE, E_GRAPH_BYTES_BUILD, version, nereid_version());
}

static int check_device(Loading *l, Arena *a) {
  const nereid_device *d = l->e->device;
  const char *device = take_text(&l->r), *processor = take_text(&l->r);
  const char *here = device_text(a, d);
  if (l->r.failed) return bad_bytes();
  if (strcmp(device, here)) return error_set(NEREID_E_FILE, E_GRAPH_BYTES_DEVICE, device, here);
  if (!strcmp(processor, processor_of(a, d))) return 0;
  return error_set(NEREID_E_FILE, E_GRAPH_BYTES_DEVICE, "another processor", d->description);
}

static void take_images(Loading *l, Arena *a) {
  size_t nlibraries = take_count(&l->r);
  KernelCode *libraries = ARENA_ARRAY(a, KernelCode, nlibraries);
  for (size_t i = 0; i < nlibraries; i++)
    libraries[i].data = take_bytes(&l->r, &libraries[i].size);
  l->images.n = take_count(&l->r);
  KernelImage *list = ARENA_ARRAY(a, KernelImage, l->images.n);
  l->images.list = list;
  for (size_t i = 0; i < l->images.n; i++) {
    list[i].key = take_text(&l->r);
    list[i].data = take_bytes(&l->r, &list[i].size);
    uint64_t library = take_number(&l->r);
    if (library < nlibraries) list[i].code = &libraries[library];
    else if (library != IN_IMAGE) l->r.failed = true;
  }
}

/* ---- weights ---- */

static int map_file(Loading *l, Arena *a, MappedFile *out) {
  const char *path = take_text(&l->r);
  uint64_t size = take_number(&l->r), sample = take_number(&l->r);
  if (l->r.failed) return bad_bytes();
  if (l->source->weights && l->nfiles == 1) path = l->source->weights;
  out->path = arena_strndup(a, path, strlen(path));
  out->bytes = map_descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), &out->size);
  if (!out->bytes) return error_set(NEREID_E_FILE, E_RUN_FILE_OPEN, path, strerror(errno));
  ApiMapping m = {(void *)(uintptr_t)out->bytes, out->size + !out->size};
  vec_push(a, &l->e->mappings, m);
  if (out->size == size && sample_of(out->bytes, out->size) == sample) return 0;
  return error_set(NEREID_E_FILE, E_GRAPH_BYTES_WEIGHTS, path);
}

static int map_files(Loading *l, Arena *a) {
  int code = 0;
  l->nfiles = take_count(&l->r);
  l->files = ARENA_ARRAY(a, MappedFile, l->nfiles);
  for (uint64_t i = 0; i < l->nfiles && !code; i++) code = map_file(l, a, &l->files[i]);
  return code;
}

typedef struct {
  Weight weight;
  uint64_t file, at, bytes;
} TakenWeight;

static TakenWeight take_weight(Loading *l, Arena *a) {
  Reader *r = &l->r;
  const char *name = take_text(r);
  TakenWeight t = {.weight.name = pool_name(l->e->model->names, name)};
  uint64_t dtype = take_number(r), rank = take_number(r);
  if (dtype == DT_NONE || dtype >= DT_COUNT || rank > GRAPH_RANK_MAX) r->failed = true;
  if (r->failed) return t;
  int64_t *sizes = ARENA_ARRAY(a, int64_t, 2 * (size_t)rank);
  size_t bytes = 2 * (size_t)rank * sizeof *sizes;
  const char *from = take(r, bytes);
  if (!r->failed && bytes) memcpy(sizes, from, bytes);
  t.weight.dtype = (DType)dtype;
  t.weight.rank = (uint32_t)rank;
  t.weight.shape = sizes;
  t.weight.strides = sizes + rank;
  t.file = take_number(r);
  t.weight.mapped = t.file != NO_FILE;
  t.at = take_number(r);
  t.bytes = take_number(r);
  return t;
}

/* The bytes from element 0 on; false if they are not there. */
static bool bytes_of(const Loading *l, const char *embedded, const TakenWeight *t,
                     WeightBytes *out) {
  const uint8_t *data = (const uint8_t *)embedded;
  uint64_t size = (uint64_t)(l->r.end - embedded);
  if (t->file != NO_FILE) {
    if (t->file >= l->nfiles) return false;
    data = l->files[t->file].bytes;
    size = l->files[t->file].size;
  }
  if (t->at > size) return false;
  *out = (WeightBytes){data + t->at, (size_t)(size - t->at), "the executable"};
  return true;
}

static int add_weights(Loading *l, Arena *a) {
  Model *m = l->e->model;
  size_t n = take_count(&l->r);
  TakenWeight *list = ARENA_ARRAY(a, TakenWeight, n);
  for (size_t i = 0; i < n; i++) list[i] = take_weight(l, a);
  size_t used = (size_t)(l->r.at - (const char *)l->source->data);
  size_t begin = (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (l->r.failed || begin > l->source->size) return bad_bytes();
  const char *embedded = (const char *)l->source->data + begin;
  m->weights = weights_new(a);
  for (size_t i = 0; i < n; i++) {
    WeightBytes bytes;
    bool good = bytes_of(l, embedded, &list[i], &bytes) &&
                weights_add(m->weights, m->diags, (Span){0}, list[i].weight, 0, bytes);
    if (!good) return bad_bytes();
  }
  return 0;
}

/* ---- all of it ---- */

static int read_plan(Loading *l) {
  nereid_executable *e = l->e;
  l->plan = take_bytes(&l->r, &l->plan_size);
  if (l->r.failed) return bad_bytes();
  nereid_graph_source s = {.path = "<executable>", .data = l->plan, .size = l->plan_size};
  int code = model_read(&e->model, &s);
  return code || e->model->plan ? code : bad_bytes();
}

static int load_parts_body(void *arg) {
  Loading *l = arg;
  Arena *a = l->e->model->arena;
  take_images(l, a);
  int code = map_files(l, a);
  if (!code) code = add_weights(l, a);
  if (code) return code;
  ExecuteOptions o = {.replay = l->e->replay, .stages = l->e->model->stages, .images = &l->images};
  code = executable_new(&l->e->e, l->e->model->plan, l->e->model->weights, l->e->device, &o);
  if (!code) l->e->main = executable_main(l->e->e);
  return code;
}

static int load_head_body(void *arg) {
  Loading *l = arg;
  Arena *a = arena_new();
  if (!a) return error_out_of_memory();
  int code = check_head(l);
  if (!code) code = check_device(l, a);
  arena_free(a);
  if (code) return code;
  l->e->mode = take_text(&l->r);
  uint64_t replay = take_number(&l->r);
  l->e->replay = replay <= REPLAY_ALWAYS ? (ReplayUse)replay : REPLAY_NEVER;
  return read_plan(l);
}

/* The executable has no images to look into once it is made: what depends on sizes is compiled. */
static int load_executable(Loading *l) {
  int code = load_head_body(l);
  if (!code) code = error_guard(l->e->model->arena, load_parts_body, l);
  if (code) return code;
  executable_forget_images(l->e->e);
  return api_describe(l->e);
}

int nereid_executable_from_bytes(nereid_executable **out, const nereid_executable_source *source,
                                 nereid_device *d) {
  REQUIRE_OUT(out);
  REQUIRE(source);
  REQUIRE(d);
  if (!source->data) return error_null(__func__, "source->data");
  nereid_executable *e = calloc(1, sizeof *e);
  if (!e) return error_out_of_memory();
  e->device = d;
  const char *data = source->data;
  Loading l = {.source = source, .e = e, .r = {data, data + source->size, false}};
  int code = load_executable(&l);
  if (!code && source->no_choices && api_may_choose_otherwise(e))
    code = error_set(NEREID_E_FILE, E_GRAPH_BYTES_CHOICE);
  if (code) nereid_executable_free(e);
  else *out = e;
  return code;
}

void api_unmap(nereid_executable *e) {
  for (size_t i = 0; i < e->mappings.len; i++)
    munmap(e->mappings.data[i].data, e->mappings.data[i].size);
}
