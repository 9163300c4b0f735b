/* Code of a kernel's variant that few launches need: it is compiled from the variant's tile IR when
 * the first of them comes, and kept.
 *
 * A variant takes for granted that some arguments' memory is apart, and that its tensor maps can be
 * made.  For launches of others there is code that keeps the order of all accesses, code without
 * maps, and code for the divisors that a launch's strides have.  Launches of few programs have code
 * with deeper rings, those of many with a loop over programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/device.h"
#include "runtime/messages.h"

struct LateCode {
  LateCode *next;
  int variant;
  LateKind kind;
  uint8_t *divisors;   /* of LATE_DIVIDED: by parameter */
  nereid_image *image; /* to which the code belongs; NULL: there is no such code */
  Loaded loaded;
};

/* ---- requests ---- */

/* What is known of the arguments: one for each parameter with a divisor. */
typedef struct {
  nereid_arg *list;
  char (*types)[32];
  int n;
} Divided;

static int divided_make(Divided *d, const nereid_image *image, const ImageVariant *v,
                        const uint8_t *divisors) {
  d->list = calloc((size_t)v->nslots + 1, sizeof *d->list);
  d->types = calloc((size_t)v->nslots + 1, sizeof *d->types);
  if (!d->list || !d->types) return error_out_of_memory();
  for (int i = 0; i < v->nslots; i++) {
    const ImageSlot *s = &v->slots[i];
    if (s->kind != SLOT_ARG || divisors[s->param] < 2) continue;
    const ImageParam *p = &image->params[s->param];
    char *type = d->types[d->n];
    snprintf(type, sizeof *d->types, "%s:%d", dtype_name((DType)p->type.dtype),
             divisors[s->param]);
    d->list[d->n++] = (nereid_arg){.name = p->name, .type = type};
  }
  return 0;
}

static int compile_late(nereid_image **out, const nereid_kernel *k, const ImageVariant *v,
                        const LateCode *l) {
  nereid_request r = {.source = {.text = v->ordered, .size = v->ordered_size, .path = "late.tile"},
                      .target = v->target};
  Divided d = {0};
  int code = l->kind == LATE_DIVIDED ? divided_make(&d, k->image, v, l->divisors) : 0;
  r.args = d.list;
  r.nargs = d.n;
  r.known_rows = l->kind == LATE_DIVIDED;
  r.no_tensor_maps = l->kind == LATE_PLAIN;
  if (l->kind == LATE_DEEP) r.num_stages = v->deep;
  r.loops = l->kind == LATE_LOOPS;
  if (l->kind == LATE_ORDERED) r.alias = NEREID_ALIAS_ORDERED;
  if (!code) code = nereid_compile(out, &r, v->kind);
  free(d.list);
  free(d.types);
  return code;
}

/* ---- the variant of the code ---- */

static int arg_slots(const ImageVariant *v) {
  int n = 0;
  while (n < v->nslots && v->slots[n].kind == SLOT_ARG) n++;
  return n;
}

/* Have expressions the grid by its name? */
static bool names_grid(const nereid_image *image) {
  for (int i = 0; i < image->nparams; i++) {
    const char *name = image->params[i].name;
    if (!strcmp(name, "grid_x") || !strcmp(name, "processors")) return false;
  }
  return true;
}

static int count_maps(const ImageVariant *v) {
  int n = 0;
  for (int i = 0; i < v->nslots; i++) n += v->slots[i].kind == SLOT_MAP;
  return n;
}

/* A loop over programs gains where boxes are stored, too. */
static bool fits_loops(const nereid_kernel *k, const ImageVariant *v, const ImageVariant *made) {
  return names_grid(k->image) && count_maps(made) > count_maps(v);
}

/* The parameters of IR text are the slots of the variant that it was printed for, in order.  Do
 * expressions of the one image mean the same in the other, and has a launch room for its slots?
 * Code in order has neither expressions nor maps. */
static bool is_alike(const nereid_kernel *k, const ImageVariant *v, const nereid_image *made,
                     LateKind kind) {
  int n = arg_slots(v), more = kind == LATE_LOOPS;
  bool alike = n + more == made->nparams && made->variants[0]->nslots <= v->nslots + LATE_SLOTS;
  if (more) alike = alike && fits_loops(k, v, made->variants[0]);
  for (int i = 0; i < n && alike; i++)
    alike = !strcmp(made->params[i].name, k->image->params[v->slots[i].param].name);
  return alike;
}

static void name_naturals(ImageMap *m, const ImageVariant *v) {
  for (int i = 0; i < m->nnatural; i++) m->natural[i] = v->slots[m->natural[i]].param;
}

/* Slots and operands of the alias check, in the kernel's parameters. */
static void take_interface(ImageVariant *own, Arena *a, const nereid_kernel *k,
                           const ImageVariant *v, const ImageVariant *made) {
  own->nslots = made->nslots;
  own->slots = ARENA_ARRAY(a, ImageSlot, (size_t)made->nslots);
  for (int i = 0; i < made->nslots; i++) {
    own->slots[i] = made->slots[i];
    if (made->slots[i].param == arg_slots(v)) continue; /* the number of the grid's programs */
    own->slots[i].param = v->slots[made->slots[i].param].param;
    if (made->slots[i].kind == SLOT_MAP) name_naturals(own->slots[i].map, v);
  }
  own->nnoalias = made->nnoalias;
  own->noalias = ARENA_ARRAY(a, ImageNoAlias, (size_t)made->nnoalias);
  for (int i = 0; i < made->nnoalias; i++) {
    const ImageNoAlias *x = &made->noalias[i];
    own->noalias[i] = (ImageNoAlias){v->slots[x->a].param, v->slots[x->b].param, x->or_same};
  }
  own->bounds = made->bounds ? ARENA_ARRAY(a, IntExpr, (size_t)k->image->nparams) : NULL;
  for (int i = 0; made->bounds && i < arg_slots(v); i++)
    own->bounds[v->slots[i].param] = made->bounds[i];
}

/* A launch starts as many programs as run at once.  The last parameter has those of the grid, and
 * accesses are those of all of them. */
static void take_loops(ImageVariant *own, const ImageVariant *v, const ImageVariant *made, int n) {
  static const char *const grid[] = {"min(grid_x, processors)", "1", "1"};
  own->bounds = v->bounds;
  own->has_grid = true;
  for (int i = 0; i < 3; i++) own->grid[i] = (IntExpr){.text = grid[i]};
  for (int i = 0; i < made->nslots; i++)
    if (made->slots[i].kind == SLOT_ARG && made->slots[i].param == n)
      own->slots[i] = (ImageSlot){.kind = SLOT_VALUE, .expr = {.text = "grid_x"}};
}

/* The variant with the code that was made of its tile IR. */
static int adopt_code(nereid_image **out, const nereid_kernel *k, const ImageVariant *v,
                      const nereid_image *image, LateKind kind) {
  const ImageVariant *made = image->variants[0];
  ImageVariant own = *v;
  own.ordered = NULL;
  own.deep = 0;
  own.loops = false;
  own.entry = made->entry;
  own.code = made->code;
  own.size = made->size;
  own.threads = made->threads;
  own.cluster = made->cluster;
  own.shared = made->shared;
  take_interface(&own, image->arena, k, v, made);
  if (kind == LATE_LOOPS) take_loops(&own, v, made, arg_slots(v));
  int code = image_like(out, k->image);
  return code ? code : image_add_variant(*out, &own, true);
}

static int make_late(nereid_kernel *k, LateCode *l) {
  const ImageVariant *v = k->loaded[l->variant].variant;
  nereid_image *made, *image = NULL;
  int code = compile_late(&made, k, v, l);
  bool needed = l->kind != LATE_DEEP && l->kind != LATE_LOOPS;
  if (code) return needed ? code : 0; /* the variant's own code will do */
  bool usable = l->kind == LATE_ORDERED || is_alike(k, v, made, l->kind);
  if (usable) code = adopt_code(&image, k, v, made, l->kind);
  nereid_image_free(made);
  if (!usable) return 0;
  LoadItem item = {.image = image, .out = &l->loaded};
  if (!code) item.variant = item.own = image->variants[0];
  if (!code) code = load_items(k->device, &item, 1);
  if (code) nereid_image_free(image);
  else l->image = image;
  return code;
}

/* ---- those that were made ---- */

static bool is_asked_for(const LateCode *l, int i, LateKind kind, const uint8_t *divisors,
                         int nparams) {
  if (l->variant != i || l->kind != kind) return false;
  return kind != LATE_DIVIDED || !memcmp(l->divisors, divisors, (size_t)nparams);
}

static void free_late(LateCode *l) {
  nereid_image_free(l->image);
  free(l->divisors);
  free(l);
}

static int add_late(LateCode **out, nereid_kernel *k, int i, LateKind kind,
                    const uint8_t *divisors) {
  size_t n = kind == LATE_DIVIDED ? (size_t)k->image->nparams : 0;
  LateCode *l = *out = calloc(1, sizeof *l);
  if (!l) return error_out_of_memory();
  *l = (LateCode){.variant = i, .kind = kind, .divisors = malloc(n + 1)};
  int code = l->divisors ? 0 : error_out_of_memory();
  if (!code && n) memcpy(l->divisors, divisors, n);
  if (!code) code = make_late(k, l);
  if (code) {
    free_late(l);
    return code;
  }
  l->next = k->late;
  k->late = l;
  return 0;
}

int kernel_load_late(const Loaded **out, nereid_kernel *k, int i, LateKind kind,
                     const uint8_t *divisors) {
  int code = 0;
  pthread_mutex_lock(&k->late_lock);
  LateCode *l = k->late;
  while (l && !is_asked_for(l, i, kind, divisors, k->image->nparams)) l = l->next;
  if (!l) code = add_late(&l, k, i, kind, divisors);
  pthread_mutex_unlock(&k->late_lock);
  *out = !code && l->image ? &l->loaded : NULL;
  return code;
}

const char *kernel_late_reason(nereid_kernel *k, const Loaded *code, int *variant) {
  pthread_mutex_lock(&k->late_lock);
  const LateCode *l = k->late;
  while (l && &l->loaded != code) l = l->next;
  pthread_mutex_unlock(&k->late_lock);
  if (!l) return NULL;
  *variant = l->variant;
  static const char *const reasons[] = {", in order: arguments overlap", ", without tensor maps",
                                        ", for these strides", ", with deeper rings",
                                        ", in a loop over programs"};
  return reasons[l->kind];
}

void kernel_free_late(nereid_kernel *k) {
  for (LateCode *l = k->late, *next; l; l = next) {
    next = l->next;
    if (l->loaded.variant) k->device->ops->unload(k->device, &l->loaded);
    free_late(l);
  }
}
