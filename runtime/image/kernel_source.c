/* An image as C: a source with its machine code, and a header with functions that load and launch
 * it.  They need the GPU's driver and nothing of Nereid.
 *
 * Launching is that of runtime/launch/start.c with everything known beforehand: guards, slots and
 * grids are C expressions over `v`, which has what the image's expressions see. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "lang/base/strings.h"
#include "runtime/image/image.h"
#include "runtime/messages.h"

typedef struct {
  Arena *arena;
  const nereid_image *image;
  const char *name;
  const char **names; /* of the launching function's parameters */
  Text source, header;
} Writer;

/* ---- names ---- */

/* Names of the launching function, and words of C++: c_identifier knows those of C. */
static bool is_taken_name(const char *name) {
  static const char words[] =
      " k v slots params cdiv least most floor_div floor_mod stream grid_x grid_y grid_z "
      "cuLaunchKernel CUstream CUdeviceptr and and_eq bitand bitor or or_eq not not_eq xor xor_eq "
      "maps r make_map "
      "compl class new delete this template typename try catch throw private public protected "
      "operator namespace using virtual friend explicit export mutable concept requires consteval "
      "constinit decltype noexcept typeid const_cast dynamic_cast reinterpret_cast static_cast ";
  size_t n = strlen(name);
  for (const char *at = strstr(words, name); at; at = strstr(at + 1, name))
    if (at[-1] == ' ' && at[n] == ' ') return true;
  return false;
}

static bool is_used_name(const Writer *w, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (!strcmp(w->names[i], name)) return true;
  return is_taken_name(name);
}

static const char *parameter_name(const Writer *w, int i) {
  const char *name = c_identifier(w->arena, w->image->params[i].name);
  while (is_used_name(w, i, name)) name = arena_printf(w->arena, "%s_", name);
  return name;
}

static bool is_identifier(const char *name) {
  bool ok = *name && !isdigit((unsigned char)*name);
  for (const char *p = name; *p; p++) ok &= isalnum((unsigned char)*p) || *p == '_';
  return ok;
}

/* The type by which the caller hands a parameter over; of floats of fewer than 32 bits their
 * bits. */
static const char *c_type(Type t) {
  DType d = (DType)t.dtype;
  if (d == DT_PTR) return "CUdeviceptr";
  if (d == DT_F32) return "float";
  if (d == DT_F64) return "double";
  bool is_signed = dtype_kind(d) == DK_INT;
  switch (dtype_bits(d)) {
    case 64: return is_signed ? "int64_t" : "uint64_t";
    case 32: return is_signed ? "int32_t" : "uint32_t";
    case 16: return is_signed ? "int16_t" : "uint16_t";
    default: return is_signed ? "int8_t" : "uint8_t";
  }
}

/* ---- the header ---- */

static const char *target_list(const Writer *w) {
  const char *list = "";
  for (int i = 0; i < w->image->nvariants; i++)
    list = arena_printf(w->arena, "%s%s%s", list, i ? ", " : "", w->image->variants[i]->target);
  return list;
}

static void put_prototype(Text *t, const Writer *w) {
  text_printf(t, "int %s_launch(const %s_kernel *k, CUstream stream,\n", w->name, w->name);
  text_puts(t, "    uint32_t grid_x, uint32_t grid_y, uint32_t grid_z");
  for (int i = 0; i < w->image->nparams; i++)
    text_printf(t, ",\n    %s %s", c_type(w->image->params[i].type), w->names[i]);
  text_puts(t, ")");
}

static void put_header(Writer *w) {
  Text *t = &w->header;
  int n = w->image->nvariants;
  text_printf(t, "/* Kernel %s for %s, by Nereid %s.\n", w->image->name, target_list(w),
              nereid_version());
  text_printf(
      t, " *\n * %s.c goes into a program that is linked with -lcuda.  All functions return 0 or\n",
      w->name);
  text_puts(t, " * a CUresult, and work in the CUDA context that is current. */\n");
  text_printf(t, "#ifndef NEREID_%s_H\n#define NEREID_%s_H\n\n#include <stdint.h>\n\n", w->name,
              w->name);
  text_puts(t, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  text_puts(t,
            "/* As in cuda.h, which may be included too. */\n"
            "typedef struct CUstream_st *CUstream;\n"
            "typedef unsigned long long CUdeviceptr;\n\n");
  text_puts(t, "/* The kernel in one context.  Its members are for the functions below. */\n");
  text_printf(t, "typedef struct {\n  void *modules[%d], *functions[%d];\n  int processors;\n", n,
              n);
  text_printf(t, "} %s_kernel;\n\n", w->name);
  text_puts(t, "/* 209 (CUDA_ERROR_NO_BINARY_FOR_GPU): there is no code for this GPU. */\n");
  text_printf(t, "int %s_load(%s_kernel *k);\n", w->name, w->name);
  text_printf(t, "void %s_unload(%s_kernel *k);\n", w->name, w->name);
  text_puts(t,
            "/* Starts it; any number of threads may.  An empty grid starts nothing.\n"
            " * 1 (CUDA_ERROR_INVALID_VALUE): it was compiled for other arguments. */\n");
  put_prototype(t, w);
  text_puts(t, ";\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

/* ---- the source ---- */

static const char driver[] =
    "/* Of the driver's API. */\n"
    "int cuCtxGetDevice(int *device);\n"
    "int cuDeviceGetAttribute(int *out, int attribute, int device);\n"
    "int cuModuleLoadData(void **out, const void *image);\n"
    "int cuModuleUnload(void *module);\n"
    "int cuModuleGetFunction(void **out, void *module, const char *name);\n"
    "int cuFuncSetAttribute(void *function, int attribute, int value);\n"
    "int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,\n"
    "                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,\n"
    "                   CUstream stream, void **params, void **extra);\n\n"
    "enum { INVALID_VALUE = 1, NO_BINARY = 209 };\n"
    "enum { PROCESSORS = 16, MAJOR = 75, MINOR = 76, MAX_DYNAMIC_SHARED = 8, ALLOWED = 49152 };\n\n"
    "/* Whole division as Python's, towards minus infinity. */\n"
    "static inline int64_t floor_div(int64_t a, int64_t b) {\n"
    "  return !b ? 0 : a / b - (a % b && (a < 0) != (b < 0));\n"
    "}\n"
    "static inline int64_t floor_mod(int64_t a, int64_t b) {\n"
    "  return !b ? 0 : a - floor_div(a, b) * b;\n"
    "}\n"
    "static inline int64_t cdiv(int64_t a, int64_t b) { return -floor_div(-a, b); }\n"
    "static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }\n"
    "static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }\n\n";

static const char mapping[] =
    "int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,\n"
    "                           const uint64_t *extents, const uint64_t *strides,\n"
    "                           const unsigned *box, const unsigned *steps, int interleave,\n"
    "                           int swizzle, int promotion, int fill);\n\n"
    "/* The tensor of which the kernel copies boxes; strides are those of axis 1 on. */\n"
    "static int make_map(void *out, unsigned bytes, unsigned rank, uint64_t address,\n"
    "                    const uint64_t *extents, const uint64_t *strides,\n"
    "                    const unsigned *box) {\n"
    "  static const unsigned steps[] = {1, 1, 1, 1, 1};\n"
    "  unsigned row = box[0] * bytes;\n"
    "  for (unsigned i = 0; i < rank; i++)\n"
    "    if (extents[i] - 1 > INT32_MAX) return INVALID_VALUE; /* coordinates are i32 */\n"
    "  return cuTensorMapEncodeTiled(out, bytes == 4 ? 2 : bytes == 2, rank,\n"
    "                                (void *)(uintptr_t)address, extents, strides, box, steps, 0,\n"
    "                                row == 128 ? 3 : row == 64 ? 2 : 1, 2, 0);\n"
    "}\n\n";

static const char loading[] =
    "/* Code for one architecture alone, or for it and later ones: of machine code of the same\n"
    " * generation. */\n"
    "static int runs_on(int i, int sm) {\n"
    "  if (variants[i].exact) return sm == variants[i].sm;\n"
    "  return sm >= variants[i].sm && (!variants[i].machine || sm / 10 == variants[i].sm / 10);\n"
    "}\n\n"
    "/* Is there code already for all arguments that this is for? */\n"
    "static int is_covered(const NAME_kernel *k, int i) {\n"
    "  for (int j = 0; j < i; j++)\n"
    "    if (k->functions[j] && variants[j].guards == variants[i].guards) return 1;\n"
    "  return 0;\n"
    "}\n\n"
    "static int load_variant(NAME_kernel *k, int i) {\n"
    "  int r = cuModuleLoadData(&k->modules[i], variants[i].code);\n"
    "  if (!r) r = cuModuleGetFunction(&k->functions[i], k->modules[i], variants[i].entry);\n"
    "  if (!r && variants[i].shared > ALLOWED)\n"
    "    r = cuFuncSetAttribute(k->functions[i], MAX_DYNAMIC_SHARED, (int)variants[i].shared);\n"
    "  return r;\n"
    "}\n\n"
    "int NAME_load(NAME_kernel *k) {\n"
    "  int device, major = 0, minor = 0, found = 0;\n"
    "  memset(k, 0, sizeof *k);\n"
    "  int r = cuCtxGetDevice(&device);\n"
    "  if (!r) r = cuDeviceGetAttribute(&major, MAJOR, device);\n"
    "  if (!r) r = cuDeviceGetAttribute(&minor, MINOR, device);\n"
    "  if (!r) r = cuDeviceGetAttribute(&k->processors, PROCESSORS, device);\n"
    "  for (int i = 0; i < VARIANTS && !r; i++) {\n"
    "    if (!runs_on(i, 10 * major + minor) || is_covered(k, i)) continue;\n"
    "    r = load_variant(k, i);\n"
    "    found = 1;\n"
    "  }\n"
    "  if (!r && !found) r = NO_BINARY;\n"
    "  if (r) NAME_unload(k);\n"
    "  return r;\n"
    "}\n\n"
    "void NAME_unload(NAME_kernel *k) {\n"
    "  for (int i = 0; i < VARIANTS; i++)\n"
    "    if (k->modules[i]) cuModuleUnload(k->modules[i]);\n"
    "  memset(k, 0, sizeof *k);\n"
    "}\n\n";

/* `text` with the kernel's name for NAME. */
static void put_named(Text *t, const char *text, const char *name) {
  for (const char *at; (at = strstr(text, "NAME")); text = at + strlen("NAME")) {
    text_putn(t, text, (size_t)(at - text));
    text_puts(t, name);
  }
  text_puts(t, text);
}

static void put_code(Text *t, const ImageVariant *v, int i) {
  enum { A_LINE = 20 };
  text_printf(t, "static const unsigned char code_%d[] __attribute__((aligned(16))) = {", i);
  for (size_t at = 0; at < v->size; at++)
    text_printf(t, "%s%u,", at % A_LINE ? "" : "\n  ", (unsigned char)v->code[at]);
  text_puts(t, "\n  0};\n\n");
}

static int count_maps(const ImageVariant *v) {
  int n = 0;
  for (int i = 0; i < v->nslots; i++) n += v->slots[i].kind == SLOT_MAP;
  return n;
}

/* The first variant that has the same conditions; whether maps can be made is one of them. */
static int first_with_guards(const nereid_image *image, const ImageVariant *v) {
  for (int i = 0; i < image->nvariants; i++) {
    const ImageVariant *x = image->variants[i];
    bool same = x == v || (x->nguards == v->nguards && !count_maps(x) && !count_maps(v));
    for (int g = 0; g < v->nguards && same; g++)
      same = !strcmp(x->guards[g].text, v->guards[g].text);
    if (same) return i;
  }
  return 0;
}

/* "sm_90a": 90, and the a. */
static void put_table(Text *t, const nereid_image *image) {
  text_puts(
      t,
      "static const struct {\n  const unsigned char *code;\n  const char *entry;\n"
      "  int sm, exact, machine, guards;\n  unsigned threads, shared;\n} variants[VARIANTS] = {\n");
  for (int i = 0; i < image->nvariants; i++) {
    const ImageVariant *v = image->variants[i];
    char *end;
    long sm = strtol(v->target + strlen("sm_"), &end, 10);
    text_printf(t, "  {code_%d, \"%s\", %ld, %d, %d, %d, %d, %lld},\n", i, v->entry, sm,
                *end == 'a', v->kind == NEREID_CUBIN, first_with_guards(image, v), v->threads,
                (long long)v->shared);
  }
  text_puts(t, "};\n\n");
}

/* ---- the launching function ---- */

static void put_arguments(Text *t, const Writer *w) {
  const nereid_image *m = w->image;
  text_puts(t, "  const int64_t v[] = {");
  for (int i = 0; i < m->nparams; i++) {
    bool is_float = dtype_is_float((DType)m->params[i].type.dtype);
    text_printf(t, is_float ? "0, " : "(int64_t)%s, ", w->names[i]);
  }
  text_puts(t, "grid_x, grid_y, grid_z, k->processors};\n");
  text_printf(t, "  uint64_t args[%d] = {0};\n", m->nparams + 1);
  for (int i = 0; i < m->nparams; i++) {
    bool copied = m->params[i].type.dtype == DT_F32 || m->params[i].type.dtype == DT_F64;
    text_printf(t,
                copied ? "  memcpy(&args[%d], &%s, sizeof %s);\n" : "  args[%d] = (uint64_t)%s;\n",
                i, w->names[i], w->names[i]);
  }
}

static void put_slots(Text *t, const Writer *w, const ImageVariant *v) {
  text_printf(t, "    uint64_t slots[%d] = {", v->nslots + 1);
  for (int i = 0; i < v->nslots; i++) {
    const ImageSlot *s = &v->slots[i];
    text_puts(t, i ? ", " : "");
    if (s->kind == SLOT_ARG) text_printf(t, "args[%d]", s->param);
    else if (s->kind == SLOT_MAP) text_puts(t, "0");
    else text_printf(t, "(uint64_t)%s", intexpr_c(w->arena, &s->expr));
  }
  text_puts(t, v->nslots ? "};\n" : "0};\n");
  text_printf(t, "    void *params[%d] = {", v->nslots + 1);
  for (int i = 0, map = 0; i < v->nslots; i++) {
    if (v->slots[i].kind == SLOT_MAP) text_printf(t, ", maps[%d]", map++);
    else text_printf(t, "%s&slots[%d]", i ? ", " : "", i);
  }
  text_puts(t, v->nslots ? "};\n" : "0};\n");
}

/* start.c and device cuda make the same maps; the driver refuses others than the hardware takes. */
static void put_maps(Text *t, const Writer *w, const ImageVariant *v) {
  int n = count_maps(v), map = 0;
  if (!n) return;
  text_printf(t, "    char maps[%d][128] __attribute__((aligned(64)));\n    int r = 0;\n", n);
  for (int i = 0; i < v->nslots; i++) {
    const ImageMap *m = v->slots[i].map;
    if (v->slots[i].kind != SLOT_MAP) continue;
    for (int k = 0; k < m->nnatural; k++)
      text_printf(t, "    r |= v[%d] < 0 || v[%d] > 1 << 30;\n", m->natural[k], m->natural[k]);
    text_printf(t, "    if (!r)\n      r = make_map(maps[%d], %d, %d, args[%d],\n", map++, m->bytes,
                m->rank, v->slots[i].param);
    text_puts(t, "                   (const uint64_t[]){");
    for (int k = 0; k < m->rank; k++)
      text_printf(t, "%s(uint64_t)%s", k ? ", " : "", intexpr_c(w->arena, &m->extent[k]));
    text_puts(t, "},\n                   (const uint64_t[]){");
    for (int k = 1; k < m->rank; k++)
      text_printf(t, "%s(uint64_t)%s", k > 1 ? ", " : "", intexpr_c(w->arena, &m->stride[k]));
    text_puts(t, m->rank > 1 ? "},\n" : "0},\n");
    text_puts(t, "                   (const unsigned[]){");
    for (int k = 0; k < m->rank; k++) text_printf(t, "%s%d", k ? ", " : "", m->box[k]);
    text_puts(t, "});\n");
  }
}

/* A launch whose maps can't be made goes on to the next variant. */
static void put_variant(Text *t, const Writer *w, int i) {
  static const char *const axes[] = {"grid_x", "grid_y", "grid_z"};
  const ImageVariant *v = w->image->variants[i];
  bool maps = count_maps(v) > 0;
  text_printf(t, "  if (k->functions[%d]", i);
  for (int g = 0; g < v->nguards; g++)
    text_printf(t, " &&\n      %s", intexpr_c(w->arena, &v->guards[g]));
  text_puts(t, ") {\n");
  put_maps(t, w, v);
  put_slots(t, w, v);
  if (maps) text_puts(t, "    if (!r)\n  ");
  text_printf(t, "    return cuLaunchKernel(k->functions[%d],\n", i);
  for (int axis = 0; axis < 3; axis++)
    if (v->has_grid) text_printf(t, "        (unsigned)%s,\n", intexpr_c(w->arena, &v->grid[axis]));
    else if (!axis && v->cluster > 1) text_printf(t, "        %d * %s,\n", v->cluster, axes[axis]);
    else text_printf(t, "        %s,\n", axes[axis]);
  text_printf(t, "        %d, 1, 1, %lld, stream, params, 0);\n  }\n", v->threads,
              (long long)v->shared);
}

static void put_source(Writer *w) {
  Text *t = &w->source;
  const nereid_image *m = w->image;
  text_printf(t, "/* See %s.h. */\n#include \"%s.h\"\n\n#include <string.h>\n\n", w->name, w->name);
  text_puts(t, driver);
  bool maps = false;
  for (int i = 0; i < m->nvariants; i++) maps |= count_maps(m->variants[i]) > 0;
  if (maps) text_puts(t, mapping);
  text_printf(t, "enum { VARIANTS = %d };\n\n", m->nvariants);
  for (int i = 0; i < m->nvariants; i++) put_code(t, m->variants[i], i);
  put_table(t, m);
  put_named(t, loading, w->name);
  put_prototype(t, w);
  text_puts(t, " {\n  if (!grid_x || !grid_y || !grid_z) return 0;\n");
  put_arguments(t, w);
  text_puts(t, "  (void)v;\n");
  for (int i = 0; i < m->nvariants; i++) put_variant(t, w, i);
  text_puts(t, "  return INVALID_VALUE;\n}\n");
}

/* ---- all of it ---- */

static int check_variant(const nereid_image *m, const ImageVariant *v) {
  bool is_gpu = v->kind == NEREID_PTX || v->kind == NEREID_CUBIN;
  if (!is_gpu || strncmp(v->target, "sm_", 3))
    return error_set(NEREID_E_USAGE, E_RUN_SOURCE_TARGET, m->name, nereid_kind_name(v->kind));
  if (v->nnoalias) return error_set(NEREID_E_USAGE, E_RUN_SOURCE_ALIAS, m->name);
  for (int i = 0; i < v->nslots; i++)
    if (v->slots[i].kind == SLOT_SCRATCH || v->slots[i].kind == SLOT_ZEROED)
      return error_set(NEREID_E_USAGE, E_RUN_SOURCE_SCRATCH, m->name);
  return 0;
}

static int write_body(void *arg) {
  Writer *w = arg;
  const nereid_image *m = w->image;
  w->source = text_new(w->arena);
  w->header = text_new(w->arena);
  w->names = ARENA_ARRAY(w->arena, const char *, (size_t)m->nparams);
  for (int i = 0; i < m->nparams; i++) w->names[i] = parameter_name(w, i);
  put_header(w);
  put_source(w);
  return 0;
}

static int copy_texts(char **source, char **header, const Writer *w) {
  size_t size;
  int code = owned_copy(source, &size, w->source.data, w->source.len);
  if (!code) code = owned_copy(header, &size, w->header.data, w->header.len);
  if (!code) return 0;
  nereid_text_free(*source);
  *source = NULL;
  return code;
}

int nereid_image_source(char **source, char **header, const nereid_image *image, const char *name) {
  REQUIRE_OUT(source);
  REQUIRE_OUT(header);
  REQUIRE(image);
  if (!name) name = image->name;
  if (!is_identifier(name)) return error_set(NEREID_E_USAGE, E_RUN_SOURCE_NAME, name);
  int code =
      image->nvariants ? 0 : error_set(NEREID_E_USAGE, E_RUN_SOURCE_TARGET, image->name, "no");
  for (int i = 0; i < image->nvariants && !code; i++)
    code = check_variant(image, image->variants[i]);
  if (code) return code;
  Writer w = {.arena = arena_new(), .image = image, .name = name};
  if (!w.arena) return error_out_of_memory();
  code = error_guard(w.arena, write_body, &w);
  if (!code) code = copy_texts(source, header, &w);
  arena_free(w.arena);
  return code;
}
