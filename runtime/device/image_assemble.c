/* Images of machine code, made without a device. */
#include <stdlib.h>
#include <string.h>

#include "lower/target/machine.h"
#include "runtime/device/assembler.h"
#include "runtime/device/gpu_target.h"
#include "runtime/messages.h"
#include "runtime/support/parallel.h"

typedef struct {
  const nereid_image *image;
  const char *target; /* NULL: each variant's own */
  Assembler assembler;
  Assembled *made; /* of each variant */
  int *codes;
  char **messages;
} Assembly;

static const char *target_of(const Assembly *x, const ImageVariant *v) {
  return x->target ? x->target : v->target;
}

static bool is_wanted(const Assembly *x, const ImageVariant *v) {
  bool exact;
  int sm = gpu_target_sm(target_of(x, v), &exact);
  if (v->kind == NEREID_CUBIN) return !strcmp(v->target, target_of(x, v));
  return v->kind == NEREID_PTX && gpu_target_runs_on(v->target, sm);
}

static void assemble_variant(void *context, size_t i) {
  Assembly *x = context;
  const ImageVariant *v = x->image->variants[i];
  if (v->kind != NEREID_PTX || !is_wanted(x, v)) return;
  x->codes[i] = assembler_run(&x->assembler, &x->made[i], v, target_of(x, v), NULL);
  /* The message is this thread's, and shall be the caller's. */
  if (x->codes[i]) x->messages[i] = error_keep();
}

static int add_assembled(nereid_image *out, const Assembly *x, int i) {
  ImageVariant own = *x->image->variants[i];
  if (!is_wanted(x, &own)) return 0;
  if (x->codes[i]) return error_again(x->codes[i], x->messages[i]);
  own.target = target_of(x, &own);
  if (own.kind == NEREID_PTX) {
    own.kind = NEREID_CUBIN;
    own.code = x->made[i].code;
    own.size = x->made[i].size;
  }
  return image_add_variant(out, &own, true);
}

static int collect(nereid_image **out, const Assembly *x) {
  int code = image_like(out, x->image);
  for (int i = 0; i < x->image->nvariants && !code; i++) code = add_assembled(*out, x, i);
  if (!code && !(*out)->nvariants)
    code = error_set(NEREID_E_USAGE, E_RUN_NOTHING_TO_ASSEMBLE, x->image->name,
                     x->target ? x->target : "a GPU");
  return code;
}

static int assemble_all(nereid_image **out, Assembly *x) {
  const size_t n = (size_t)x->image->nvariants;
  x->made = calloc(n + 1, sizeof *x->made);
  x->codes = calloc(n + 1, sizeof *x->codes);
  x->messages = calloc(n + 1, sizeof *x->messages);
  if (!x->made || !x->codes || !x->messages) return error_out_of_memory();
  parallel_for(n, assemble_variant, x);
  assembler_keep(&x->assembler, x->made, n);
  return collect(out, x);
}

static void free_assembly(Assembly *x) {
  for (int i = 0; i < x->image->nvariants; i++) {
    if (x->made) free(x->made[i].code);
    if (x->messages) free(x->messages[i]);
  }
  free(x->made);
  free(x->codes);
  free(x->messages);
}

static int check_gpu_target(const char *target) {
  const Machine *m = machine_find(target);
  return m && m->kind == MACHINE_GPU ? 0 : error_target(target);
}

int nereid_image_assemble(nereid_image **out, const nereid_image *image, const char *target) {
  REQUIRE_OUT(out);
  REQUIRE(image);
  Assembly x = {.image = image, .target = target};
  int code = target ? check_gpu_target(target) : 0;
  if (code) return code;
  if (!assembler_open(&x.assembler, NULL, NULL))
    return error_set(NEREID_E_TOOL, E_RUN_NO_ASSEMBLER);
  code = assemble_all(out, &x);
  free_assembly(&x);
  assembler_close(&x.assembler);
  if (code) {
    nereid_image_free(*out);
    *out = NULL;
  }
  return code;
}
