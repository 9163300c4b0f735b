#include "runtime/image/image.h"
#include "runtime/image/cubin.h"
#include "runtime/messages.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

typedef struct {
  nereid_image *image;
  const char *name;
  const ImageParam *params;
  int nparams;
} Making;

static int image_body(void *arg) {
  static const char *const extra[IMAGE_EXTRA_NAMES] = {"grid_x", "grid_y", "grid_z", "processors"};
  static const char *const of_programs[IMAGE_BOUND_NAMES] = {"pid.x",  "pid.y",  "pid.z",
                                                             "grid.x", "grid.y", "grid.z"};
  Making *m = arg;
  nereid_image *image = m->image;
  Arena *a = image->arena;
  image->name = arena_strndup(a, m->name, strlen(m->name));
  image->nparams = m->nparams;
  image->params = ARENA_ARRAY(a, ImageParam, (size_t)m->nparams);
  image->names = ARENA_ARRAY(a, const char *, (size_t)image_nnames(image));
  for (int i = 0; i < m->nparams; i++) {
    image->params[i] = m->params[i];
    image->params[i].name = arena_strndup(a, m->params[i].name, strlen(m->params[i].name));
    image->names[i] = image->params[i].name;
  }
  memcpy(image->names + m->nparams, extra, sizeof extra);
  image->bound_names = ARENA_ARRAY(a, const char *, (size_t)image_nbound_names(image));
  memcpy(image->bound_names, image->names, (size_t)m->nparams * sizeof *image->names);
  memcpy(image->bound_names + m->nparams, of_programs, sizeof of_programs);
  return 0;
}

int image_new(nereid_image **out, const char *name, const ImageParam *params, int nparams) {
  *out = NULL;
  if (nparams > IMAGE_MAX_PARAMS)
    return error_set(NEREID_E_KERNEL, E_RUN_MANY_PARAMS, nparams, IMAGE_MAX_PARAMS);
  nereid_image *image = calloc(1, sizeof *image);
  if (!image) return error_out_of_memory();
  image->arena = arena_new();
  Making m = {image, name, params, nparams};
  int code = image->arena ? error_guard(image->arena, image_body, &m) : error_out_of_memory();
  if (code) nereid_image_free(image);
  else *out = image;
  return code;
}

int image_like(nereid_image **out, const nereid_image *image) {
  return image_new(out, image->name, image->params, image->nparams);
}

void nereid_image_free(nereid_image *image) {
  if (!image) return;
  arena_free(image->arena);
  free(image);
}

/* ---- variants ---- */

static int copy_expr(nereid_image *image, IntExpr *out, const IntExpr *from) {
  return intexpr_parse(image->arena, out, from->text, image->names, image_nnames(image));
}

static int copy_map(nereid_image *image, ImageSlot *out, const ImageMap *from) {
  ImageMap *m = out->map = ARENA_NEW(image->arena, ImageMap);
  int code = 0;
  *m = *from;
  for (int i = 0; i < m->rank && !code; i++) {
    code = copy_expr(image, &m->extent[i], &from->extent[i]);
    if (!code) code = copy_expr(image, &m->stride[i], &from->stride[i]);
  }
  return code;
}

static int copy_slot(nereid_image *image, ImageSlot *out, const ImageSlot *from) {
  *out = (ImageSlot){.kind = from->kind, .param = from->param};
  if (from->kind == SLOT_MAP) return copy_map(image, out, from->map);
  return from->kind == SLOT_ARG ? 0 : copy_expr(image, &out->expr, &from->expr);
}

/* Operands of the runtime alias check. */
static int copy_alias_check(nereid_image *image, ImageVariant *v, const ImageVariant *from) {
  Arena *a = image->arena;
  int code = 0;
  v->noalias = ARENA_ARRAY(a, ImageNoAlias, (size_t)from->nnoalias);
  if (from->nnoalias)
    memcpy(v->noalias, from->noalias, (size_t)from->nnoalias * sizeof *v->noalias);
  if (from->ordered) v->ordered = arena_strndup(a, from->ordered, from->ordered_size);
  if (from->deep || from->loops)
    code = intexpr_parse_bounds(a, &v->turns, from->turns.text, image->bound_names,
                                image_nbound_names(image));
  v->bounds = from->bounds ? ARENA_ARRAY(a, IntExpr, (size_t)image->nparams) : NULL;
  for (int i = 0; from->bounds && i < image->nparams && !code; i++)
    if (from->bounds[i].text)
      code = intexpr_parse_bounds(a, &v->bounds[i], from->bounds[i].text, image->bound_names,
                                  image_nbound_names(image));
  return code;
}

static int copy_certain(nereid_image *image, ImageVariant *v, const ImageVariant *from) {
  int code = 0;
  if (!from->certain) return 0;
  v->certain = ARENA_ARRAY(image->arena, IntExpr, (size_t)image->nparams);
  for (int i = 0; i < image->nparams && !code; i++)
    if (from->certain[i].text) code = copy_expr(image, &v->certain[i], &from->certain[i]);
  return code;
}

/* Guards, slots and grid. */
static int copy_expressions(nereid_image *image, ImageVariant *v, const ImageVariant *from) {
  int code = 0;
  v->guards = ARENA_ARRAY(image->arena, IntExpr, (size_t)from->nguards);
  v->slots = ARENA_ARRAY(image->arena, ImageSlot, (size_t)from->nslots);
  for (int i = 0; i < from->nguards && !code; i++)
    code = copy_expr(image, &v->guards[i], &from->guards[i]);
  for (int i = 0; i < from->nslots && !code; i++)
    code = copy_slot(image, &v->slots[i], &from->slots[i]);
  for (int i = 0; i < 3 && from->has_grid && !code; i++)
    code = copy_expr(image, &v->grid[i], &from->grid[i]);
  if (!code) code = copy_certain(image, v, from);
  return code;
}

typedef struct {
  nereid_image *image;
  const ImageVariant *from;
  bool with_code;
} Adding;

static int add_body(void *arg) {
  Adding *x = arg;
  Arena *a = x->image->arena;
  int n = x->image->nvariants;
  ImageVariant *v = ARENA_NEW(a, ImageVariant);
  *v = *x->from;
  v->target = arena_strndup(a, v->target, strlen(v->target));
  v->entry = arena_strndup(a, v->entry, strlen(v->entry));
  if (v->file) v->file = arena_strndup(a, v->file, strlen(v->file));
  v->source = x->with_code && v->source ? arena_strndup(a, v->source, v->source_size) : NULL;
  if (v->source) v->source_name = arena_strndup(a, v->source_name, strlen(v->source_name));
  v->code = x->with_code ? arena_strndup(a, v->code, v->size) : NULL;
  if (!x->with_code) v->size = 0;
  int code = copy_expressions(x->image, v, x->from);
  if (!code) code = copy_alias_check(x->image, v, x->from);
  if (code) return code;
  ImageVariant **list = ARENA_ARRAY(a, ImageVariant *, (size_t)n + 1);
  if (n) memcpy(list, x->image->variants, sizeof *list * (size_t)n);
  list[n] = v;
  x->image->variants = list;
  x->image->nvariants = n + 1;
  return 0;
}

int image_add_variant(nereid_image *image, const ImageVariant *v, bool with_code) {
  Adding x = {image, v, with_code};
  return error_guard(image->arena, add_body, &x);
}

static int check_same_params(const nereid_image *a, const nereid_image *b) {
  bool same = a->nparams == b->nparams;
  for (int i = 0; same && i < a->nparams; i++)
    same = !strcmp(a->params[i].name, b->params[i].name) &&
           type_eq(a->params[i].type, b->params[i].type);
  return same ? 0 : error_set(NEREID_E_USAGE, E_RUN_IMAGE_PARAMS, a->name, b->name);
}

int nereid_image_add(nereid_image *image, const nereid_image *other) {
  REQUIRE(image);
  REQUIRE(other);
  int code = check_same_params(image, other);
  for (int i = 0; i < other->nvariants && !code; i++)
    code = image_add_variant(image, other->variants[i], true);
  for (int i = 0; i < image->nparams && !code; i++)
    image->params[i].written |= other->params[i].written;
  return code;
}

/* ---- looking ---- */

const char *nereid_image_name(const nereid_image *image) {
  REQUIRE_OR(image, NULL);
  return image->name;
}
int nereid_image_nparams(const nereid_image *image) {
  REQUIRE(image);
  return image->nparams;
}
int nereid_image_nvariants(const nereid_image *image) {
  REQUIRE(image);
  return image->nvariants;
}

/* Types are few: their texts are made once. */
static const char *param_type(Type t) {
#define X(id, name, kind, bits, lang, aliases) [DT_##id] = name,
  static const char *const scalars[DT_COUNT] = {DTYPES(X)};
#undef X
#define X(id, name, kind, bits, lang, aliases) [DT_##id] = "*" name,
  static const char *const pointers[DT_COUNT] = {DTYPES(X)[DT_PTR] = "**i8"};
#undef X
  return t.dtype == DT_PTR ? pointers[t.elem] : scalars[t.dtype];
}

int nereid_image_get_param(nereid_image_param *out, const nereid_image *image, int i) {
  REQUIRE_OUT(out);
  REQUIRE(image);
  if (i < 0 || i >= image->nparams)
    return error_set(NEREID_E_USAGE, E_RUN_NO_PARAM, i, image->name);
  const ImageParam *p = &image->params[i];
  *out = (nereid_image_param){.name = p->name,
                              .type = param_type(p->type),
                              .is_pointer = p->type.dtype == DT_PTR,
                              .is_float = dtype_is_float((DType)p->type.dtype),
                              .written = p->written};
  return 0;
}

int nereid_image_find_param(const nereid_image *image, const char *name) {
  REQUIRE(image);
  REQUIRE(name);
  for (int i = 0; i < image->nparams; i++)
    if (!strcmp(image->params[i].name, name)) return i;
  return -1;
}

int nereid_image_get_variant(nereid_variant *out, const nereid_image *image, int i) {
  REQUIRE_OUT(out);
  REQUIRE(image);
  if (i < 0 || i >= image->nvariants)
    return error_set(NEREID_E_USAGE, E_RUN_NO_VARIANT, i, image->name);
  const ImageVariant *v = image->variants[i];
  CubinUse use = {0, 0};
  if (v->kind == NEREID_CUBIN) cubin_use(&use, v->code, v->size, v->entry);
  *out = (nereid_variant){.target = v->target,
                          .kind = v->kind,
                          .entry = v->entry,
                          .code = v->code,
                          .size = v->size,
                          .threads = v->threads,
                          .shared_bytes = v->shared,
                          .nguards = v->nguards,
                          .registers = use.registers,
                          .spill_bytes = use.spill_bytes};
  return 0;
}

const char *nereid_image_guard(const nereid_image *image, int variant, int i) {
  REQUIRE_OR(image, NULL);
  if (variant < 0 || variant >= image->nvariants) return NULL;
  const ImageVariant *v = image->variants[variant];
  return i >= 0 && i < v->nguards ? v->guards[i].text : NULL;
}

/* ---- kinds ---- */

static const char *const kind_names[] = {"ast", "tile", "nest", "thread", "ptx", "c", "cubin"};
_Static_assert(sizeof kind_names / sizeof *kind_names == NEREID_KIND_COUNT, "one name a kind");

const char *nereid_kind_name(nereid_kind k) {
  return (unsigned)k < NEREID_KIND_COUNT ? kind_names[k] : "?";
}
