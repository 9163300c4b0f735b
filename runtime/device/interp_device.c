/* The two devices that interpret: `interp` the tile IR, `nest` loop nests of level thread; and the
 * kernels that device cpu interprets. */
#include <stdlib.h>
#include <string.h>

#include "lang/interp/interp.h"
#include "lower/interp/nest_interp.h"
#include "lower/lower.h"
#include "lower/target/atoms.h"
#include "runtime/device/device.h"
#include "runtime/messages.h"
#include "runtime/support/files.h"

/* A kernel as it was read from the image's text. */
typedef struct {
  Arena *arena;
  Diags *diags;
  Unit *unit;
  bool remarked; /* atomic: some launch gave remarks, later ones give none */
  bool told;     /* atomic: the same of the precision of products */
} Parsed;

/* ---- loading ---- */

typedef struct {
  Parsed *parsed;
  const nereid_image *image;
  const ImageVariant *variant;
} Loading;

/* The source lines in findings come from the kernel's file, if it still exists. */
static void attach_sources(Parsed *p) {
  uint32_t n = diag_file_count(p->diags);
  for (uint32_t i = 1; i <= n; i++) {
    const Source *s = diag_file(p->diags, i);
    const char *text;
    size_t len;
    if (!s->text && files_read(p->arena, s->name, &text, &len) == 0)
      diag_source(p->diags, s->name, text, len);
  }
}

static int parse_body(void *arg) {
  Loading *l = arg;
  Parsed *p = l->parsed;
  Pool *names = pool_new(p->arena);
  p->diags = diags_new(p->arena);
  /* The image may be freed before the kernel is. */
  const char *text = arena_strndup(p->arena, l->variant->code, l->variant->size);
  const char *name = l->variant->file ? l->variant->file : l->image->name;
  uint32_t file = diag_source(p->diags, pool_name(names, name), text, l->variant->size);
  const ImageVariant *v = l->variant;
  size_t at = 0;
  if (v->source)
    diag_source(p->diags, pool_name(names, v->source_name),
                arena_strndup(p->arena, v->source, v->source_size), v->source_size);
  p->unit = lower_parse(p->arena, names, p->diags, file, &at);
  if (!p->unit || diag_errors(p->diags)) {
    return error_set_diags(NEREID_E_KERNEL, p->arena, p->diags);
  }
  attach_sources(p);
  return 0;
}

static int load_parsed(nereid_device *d, const nereid_image *image, const ImageVariant *v,
                       Loaded *out) {
  (void)d;
  Parsed *p = calloc(1, sizeof *p);
  if (!p) return error_out_of_memory();
  p->arena = arena_new();
  Loading l = {p, image, v};
  int code = p->arena ? error_guard(p->arena, parse_body, &l) : error_out_of_memory();
  if (code) {
    arena_free(p->arena);
    free(p);
    return code;
  }
  out->code = p;
  out->entry = NULL;
  out->resources = (nereid_kernel_resources){.shared_bytes = v->shared, .threads = v->threads};
  return 0;
}

static void unload_parsed(nereid_device *d, Loaded *l) {
  (void)d;
  Parsed *p = l->code;
  if (!p) return;
  arena_free(p->arena);
  free(p);
}

/* ---- launching ---- */

typedef struct {
  const Start *start;
  Parsed *parsed;
  Arena *arena;
  Diags *diags;
  Memory *memory;
  InterpArg *args;
} Running;

/* Copies the sources in the order of the file numbers in the spans. */
static void copy_sources(Running *r) {
  uint32_t n = diag_file_count(r->parsed->diags);
  for (uint32_t i = 1; i <= n; i++) {
    const Source *s = diag_file(r->parsed->diags, i);
    diag_source(r->diags, s->name, s->text, s->len);
  }
}

static const ImageParam *pointer_param(const Running *r, int slot) {
  const ImageSlot *s = &r->start->chosen->variant->slots[slot];
  if (s->kind != SLOT_ARG) return NULL;
  const ImageParam *p = &r->start->kernel->image->params[s->param];
  return p->type.dtype == DT_PTR ? p : NULL;
}

/* The bytes that the caller says belong to the tensor of a slot; false: it says nothing. */
static bool lent_bytes(const Running *r, int slot, char **data, size_t *size) {
  const Start *s = r->start;
  if (!s->borrows || !pointer_param(r, slot)) return false;
  IntRange extent = s->extent[s->chosen->variant->slots[slot].param];
  if (extent.lo == INT64_MIN) return false;
  *data = (char *)(uintptr_t)s->slots[slot] + extent.lo;
  *size = extent.lo > extent.hi ? 0 : (size_t)(extent.hi - extent.lo) + 1;
  return true;
}

/* The bytes of a slot's tensor; false: nothing is known of them. */
static bool slot_bytes(const Running *r, int slot, char **data, size_t *size) {
  if (lent_bytes(r, slot, data, size)) return true;
  if (!pointer_param(r, slot)) return false;
  const Allocation *a =
      device_find(r->start->kernel->device, (const void *)(uintptr_t)r->start->slots[slot]);
  if (a) *data = a->data, *size = a->size;
  return a != NULL;
}

/* Is memory that once was borrowed in that of another tensor of this launch?  Then its tensor is
 * gone, unless the launch has that, too. */
static bool is_outdated(const Running *r, const Allocation *a) {
  char *data;
  size_t size;
  bool outdated = false;
  for (int i = 0; a->borrowed && i < r->start->chosen->variant->nslots; i++) {
    if (!slot_bytes(r, i, &data, &size)) continue;
    if (data == a->data && size == a->size) return false;
    outdated |= a->data < data + size && data < a->data + a->size;
  }
  return outdated;
}

/* The allocation of each slot that the device knows and nobody has lent. */
static const Allocation **slot_allocations(Running *r) {
  int n = r->start->chosen->variant->nslots;
  const Allocation **found = ARENA_ARRAY(r->arena, const Allocation *, (size_t)n);
  char *data;
  size_t size;
  for (int i = 0; i < n; i++) {
    const void *p = (const void *)(uintptr_t)r->start->slots[i];
    bool known = pointer_param(r, i) && !lent_bytes(r, i, &data, &size);
    found[i] = known ? device_find(r->start->kernel->device, p) : NULL;
  }
  return found;
}

/* `of_slots`: the first allocation that has the address of a slot is the slot's. */
static void map_allocation(Running *r, Pool *names, const Allocation *a,
                           const Allocation *const *of_slots) {
  bool reached = false;
  for (int i = 0; i < r->start->chosen->variant->nslots; i++) {
    if (of_slots[i] != a) continue;
    Name name = pool_name(names, pointer_param(r, i)->name);
    memory_add(r->memory, name, (uint32_t)i, a->data, a->size, a->written);
    reached = true;
  }
  if (!reached)
    memory_add(r->memory, pool_name(names, "memory"), (uint32_t)MEMORY_NO_ARG, a->data, a->size,
               a->written);
}

/* A slot's own bytes, if they are lent, or nothing if nothing is known there. */
static void map_slot(Running *r, Pool *names, int slot) {
  nereid_device *d = r->start->kernel->device;
  const ImageParam *param = pointer_param(r, slot);
  char *data;
  size_t size;
  if (!param) return;
  const void *p = (const void *)(uintptr_t)r->start->slots[slot];
  const Allocation *a = device_find(d, p);
  Name name = pool_name(names, param->name);
  if (lent_bytes(r, slot, &data, &size))
    memory_add(r->memory, name, (uint32_t)slot, data, size, !a || a->borrowed || a->written);
  else if (p && !a) memory_add_foreign(r->memory, name, (uint32_t)slot);
}

/* A compiled kernel may have written memory, and it may be a file's, which the device knows not:
 * any address is then the argument's. */
static bool map_unchecked(void *running) {
  Running *r = running;
  Pool *names = pool_new(r->arena);
  for (int i = 0; i < r->start->chosen->variant->nslots; i++) {
    const ImageParam *param = pointer_param(r, i);
    char *data = NULL;
    size_t size = SIZE_MAX;
    if (!param) continue;
    slot_bytes(r, i, &data, &size);
    memory_add(r->memory, pool_name(names, param->name), (uint32_t)i, data, size, true);
  }
  return true;
}

/* The bytes of the arguments, and all other memory that the device knows: tables of pointers may
 * lead there. */
static bool map_locked(void *running) {
  Running *r = running;
  nereid_device *d = r->start->kernel->device;
  Pool *names = pool_new(r->arena);
  for (int i = 0; i < r->start->chosen->variant->nslots; i++) map_slot(r, names, i);
  const Allocation **of_slots = slot_allocations(r);
  for (Allocation *a = d->allocations; a; a = a->next)
    if (!is_outdated(r, a)) map_allocation(r, names, a, of_slots);
  return true;
}

static void unlock_device(void *running) {
  const Running *r = running;
  pthread_mutex_unlock(&r->start->kernel->device->lock);
}

static void map_memory(Running *r) {
  const bool checks = device_checks_accesses(r->start->kernel->device);
  pthread_mutex_lock(&r->start->kernel->device->lock);
  arena_guard(r->arena, checks ? map_locked : map_unchecked, unlock_device, r);
  unlock_device(r);
}

static void note_written_args(Running *r) {
  const ImageVariant *v = r->start->chosen->variant;
  nereid_device *d = r->start->kernel->device;
  pthread_mutex_lock(&d->lock);
  for (int i = 0; i < v->nslots; i++) {
    Allocation *a = device_find(d, (const void *)(uintptr_t)r->start->slots[i]);
    if (a && memory_was_written(r->memory, (uint32_t)i)) a->written = true;
  }
  pthread_mutex_unlock(&d->lock);
}

/* Remarks on a launch by the user: kernels of a model share memory with others, so remarks would
 * mislead. */
static void remark(Running *r, Span kernel) {
  const nereid_kernel *k = r->start->kernel;
  const ImageVariant *v = r->start->chosen->variant;
  if (!k->device->on_message || r->start->part_of_model) return;
  for (int i = 0; i < v->nslots; i++) {
    const ImageParam *param = &k->image->params[v->slots[i].param];
    if (v->slots[i].kind != SLOT_ARG || param->type.dtype != DT_PTR) continue;
    memory_remarks(r->memory, r->diags, (uint32_t)i, dtype_bytes((DType)param->type.elem), kernel);
  }
  bool some = diag_count(r->diags) > 0;
  if (!some || __atomic_exchange_n(&r->parsed->remarked, true, __ATOMIC_RELAXED)) return;
  error_tell(k->device->on_message, k->device->context, r->arena, r->diags);
}

/* ---- the precision of products ---- */

static void find_tf32(TileOp *op, void *first) {
  bool rounds = op->code == TILE_DOT && op->args[0]->type.dtype == DT_F32 && tile_dot_tf32(op);
  const TileOp **found = first;
  if (rounds && !*found) *found = op;
}

static const NestStmt *find_tf32_atom(const NestBlock *b) {
  const NestStmt *found = NULL;
  for (const NestStmt *s = b->first; s && !found; s = s->next) {
    bool product = nest_flags(s) & NEST_IS_PRODUCT;
    const Atom *atom = product ? atom_find(nest_str(s, NA_atom, "")) : NULL;
    if (atom && atom->tf32) found = s;
    for (uint32_t i = 0; i < s->nregions && !found; i++) found = find_tf32_atom(s->regions[i]);
  }
  return found;
}

/* Once a kernel: a user may compare with other devices, or with NumPy. */
static void tell_precision(Running *r) {
  const Unit *u = r->parsed->unit;
  nereid_device *d = r->start->kernel->device;
  if (!d->on_message || r->start->part_of_model) return;
  if (__atomic_exchange_n(&r->parsed->told, true, __ATOMIC_RELAXED)) return;
  const TileOp *dot = NULL;
  if (u->tile) tile_walk(u->tile->body, find_tf32, &dot);
  const NestStmt *atom = u->nest ? find_tf32_atom(u->nest->body) : NULL;
  if (!dot && !atom) return;
  Span at = dot ? dot->span : atom->span;
  const Source *file = diag_file(r->parsed->diags, at.file);
  device_note(d, N_RUN_TF32, file ? file->name : r->start->kernel->image->name, at.line);
}

static int run_launch_body(void *arg) {
  Running *r = arg;
  const Unit *u = r->parsed->unit;
  bug_stage(u->nest ? "nest" : "interp");
  int n = r->start->chosen->variant->nslots;
  r->diags = diags_new(r->arena);
  r->memory = memory_new(r->arena, r->diags);
  r->args = ARENA_ARRAY(r->arena, InterpArg, (size_t)n);
  copy_sources(r);
  map_memory(r);
  for (int i = 0; i < n; i++) r->args[i].bits = r->start->slots[i];
  const uint32_t *grid = r->start->launched;
  const nereid_device *d = r->start->kernel->device;
  InterpOptions o = {.print = d->on_print, .context = d->print_context};
  int code = u->nest ? nest_interp(u->nest, r->args, grid, r->memory, r->diags, o)
                     : tile_interp(u->tile, r->args, grid, r->memory, r->diags, o);
  note_written_args(r);
  tell_precision(r);
  if (code == 0 && diag_count(r->diags) == 0) {
    remark(r, u->nest ? u->nest->span : u->tile->span);
    return 0;
  }
  error_set_diags(NEREID_E_FINDINGS, r->arena, r->diags);
  return error_of_kernel(r->start->kernel->image->name);
}

static int launch_in_interp(const Start *s, void *stream) {
  (void)stream;
  Running r = {.start = s, .parsed = s->chosen->code, .arena = arena_new()};
  if (!r.arena) return error_out_of_memory();
  int code = error_guard(r.arena, run_launch_body, &r);
  arena_free(r.arena);
  return code;
}

/* ---- for device cpu ---- */

/* Ops that have the same bits in both: no approximations (roots and quotients are rounded by both),
 * no sums whose order is free, no products, whose operands are rounded here. */
static bool is_computed_otherwise(TileCode op) {
  switch (op) {
    case TILE_DIV:
    case TILE_RCP:
    case TILE_SQRT:
    case TILE_RSQRT: return false;
    case TILE_DOT:
    case TILE_DOT2:
    case TILE_DOT4:
    case TILE_REDUCE:
    case TILE_SCAN:
    case TILE_ATOMIC_RMW:
    case TILE_ATOMIC_CAS:
    case TILE_PRINT:
    case TILE_ASSERT:
    case TILE_ASM:
    case TILE_ASM_IMPURE: return true;
    default: return tile_op_flags(op) & TILE_APPROX;
  }
}

static void note_otherwise(TileOp *op, void *found) {
  bool *otherwise = found;
  *otherwise |= is_computed_otherwise(op->code);
}

bool interp_load_ordered(const nereid_image *image, const ImageVariant *v, Loaded *out) {
  if (!v->ordered) return false;
  ImageVariant tile = *v;
  tile.code = v->ordered;
  tile.size = v->ordered_size;
  tile.source = tile.file = NULL;
  if (load_parsed(NULL, image, &tile, out)) return false;
  const Parsed *p = out->code;
  bool otherwise = !p->unit->tile;
  if (!otherwise) tile_walk(p->unit->tile->body, note_otherwise, &otherwise);
  if (otherwise) interp_unload_ordered(out);
  return !otherwise;
}

void interp_unload_ordered(Loaded *l) {
  unload_parsed(NULL, l);
  l->code = NULL;
}

int interp_launch_ordered(const Start *s) { return launch_in_interp(s, NULL); }

/* ---- the two devices ---- */

static int open_interp(nereid_device *d, int ordinal) {
  (void)ordinal;
  snprintf(d->description, sizeof d->description, "reference interpreter of the tile IR");
  return 0;
}

static int open_nest_interp(nereid_device *d, int ordinal) {
  (void)ordinal;
  snprintf(d->description, sizeof d->description, "checking interpreter of loop nests");
  return 0;
}

/* Memory that nothing was written to looks like NaN, and the same in every run. */
static int alloc_interp(nereid_device *d, void **out, size_t size) {
  int code = host_alloc(d, out, size);
  return code ? code : host_fill(d, *out, 0xFF, size, NULL);
}

static void close_interp(nereid_device *d) { (void)d; }

static bool runs_ir_level(const nereid_device *d, const ImageVariant *v) {
  return v->kind == d->ops->kind;
}

/* Interpreted programs are numbered with 64 bits, but nobody waits for so many. */
static int check_interp_launch(const Start *s) { return host_check_programs(s, UINT32_MAX); }

#define INTERPRETED(level, opens)                                                       \
  .kind = level, .open = opens, .close = close_interp, .fits = runs_ir_level,           \
  .load = load_parsed, .unload = unload_parsed, .check = check_interp_launch,           \
  .launch = launch_in_interp, HOST_EVENTS_AND_COPIES, .alloc = alloc_interp

const DeviceOps device_interp = {.name = "interp", INTERPRETED(NEREID_TILE, open_interp)};
const DeviceOps device_nest = {.name = "nest", INTERPRETED(NEREID_THREAD, open_nest_interp)};
