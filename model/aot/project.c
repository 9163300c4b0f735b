#include "model/aot/project.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "lower/target/machine.h"
#include "model/aot/project_state.h"
#include "model/messages.h"
#include "planner/compile/buffer_weight.h"
#include "planner/kernels/template_fill.h"
#include "planner/plan/buffer_pool.h"
#include "runtime/support/error.h"

/* ---- weights ---- */

/* weights.bin: a head, then tensors; model/aot/runtime/weights.c reads it. */
typedef struct {
  char magic[16];
  int64_t size;
  uint64_t sum;
  char zeros[32];
} Head;

enum { FIRST = MEMORY_ALIGNMENT };

/* ---- offsets ---- */

/* Tensors that several parameters share are there once: the one that has an offset already. */
static const ProjectBuffer *same_tensor(const Project *p, uint32_t i) {
  for (uint32_t j = 0; j < p->plan->nbuffers; j++)
    if (p->buffers[j].at && p->buffers[j].weight == p->buffers[i].weight &&
        p->plan->buffers[j].dtype == p->plan->buffers[i].dtype)
      return &p->buffers[j];
  return NULL;
}

static void assign_weight_offset(Project *p, uint32_t i) {
  ProjectBuffer *b = &p->buffers[i];
  int64_t bytes = memory_aligned(project_bytes(p, i));
  const ProjectBuffer *same = same_tensor(p, i);
  b->at = same ? same->at : p->weights_bytes;
  if (!same) p->weights_bytes += bytes;
  b->state = p->state_bytes;
  if (b->written) p->state_bytes += bytes;
}

static bool is_used(const Project *p, uint32_t i, BufferKind kind) {
  return p->buffers[i].used && p->plan->buffers[i].kind == kind;
}

/* Weights that every run reads come first: a GPU can drop the others after the first run. */
static void assign_weight_offsets(Project *p, bool kept) {
  for (uint32_t i = 0; i < p->plan->nbuffers; i++)
    if (is_used(p, i, BUFFER_WEIGHT) && p->buffers[i].kept == kept) assign_weight_offset(p, i);
}

/* The tensors of the plan's weights. */
static int project_find_weights(Project *p) {
  int code = 0;
  for (uint32_t i = 0; i < p->plan->nbuffers && !code; i++) {
    const PlanBuffer *b = &p->plan->buffers[i];
    if (is_used(p, i, BUFFER_WEIGHT))
      code = buffer_weight(&p->buffers[i].weight, p->weights, b, p->arena);
    if (is_used(p, i, BUFFER_CONSTANT) && !dim_is_int(memory_bytes(p->plan->graph->dims, b)))
      code = error_set(NEREID_E_FILE, E_BUILD_CONSTANT, b->name);
  }
  return code;
}

/* Offsets of them and of constants, once it is known which of them kernels write. */
static void assign_offsets(Project *p) {
  p->weights_bytes = FIRST;
  assign_weight_offsets(p, true);
  p->weights_kept = p->weights_bytes;
  assign_weight_offsets(p, false);
  for (uint32_t i = 0; i < p->plan->nbuffers; i++) {
    if (!is_used(p, i, BUFFER_CONSTANT)) continue;
    p->buffers[i].at = p->constant_bytes;
    p->constant_bytes += memory_aligned(project_bytes(p, i));
  }
}

/* ---- the file ---- */

typedef struct {
  FILE *file;
  uint64_t a, b; /* sums of words, and of these sums */
} Writing;

/* `size` bytes, a multiple of 8. */
static void put(Writing *w, const char *data, size_t size) {
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word;
    memcpy(&word, data + i, sizeof word);
    w->a += word;
    w->b += w->a;
  }
  fwrite(data, 1, size, w->file);
}

static void put_rounded(Writing *w, const char *data, size_t size) {
  char last[MEMORY_ALIGNMENT] = {0};
  size_t whole = size / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
  put(w, data, whole);
  if (size == whole) return;
  memcpy(last, data + whole, size - whole);
  put(w, last, sizeof last);
}

static int put_weight(Writing *w, const Project *p, uint32_t i) {
  const Weight *weight = p->buffers[i].weight;
  DType dtype = p->plan->buffers[i].dtype;
  size_t size = (size_t)project_bytes(p, i);
  if (size == 0) return 0;
  if (weight_is_dense(weight) && weight->dtype == dtype) {
    put_rounded(w, weight->data, size);
    return 0;
  }
  char *packed = malloc(size);
  int code = packed && weight_convert(packed, dtype, weight) ? 0 : error_out_of_memory();
  if (!code) put_rounded(w, packed, size);
  free(packed);
  return code;
}

static void put_head(Project *p, Writing *w) {
  Head head = {.magic = "nereid weights\n", .size = p->weights_bytes};
  p->weights_sum = head.sum = w->b ^ (w->a << 1);
  /* rewind would forget that something could not be written. */
  fseek(w->file, 0, SEEK_SET);
  fwrite(&head, sizeof head, 1, w->file);
}

/* Weights in the order of their offsets; each offset once. */
static int put_weights(Writing *w, const Project *p, bool kept, int64_t *at) {
  int code = 0;
  for (uint32_t i = 0; i < p->plan->nbuffers && !code; i++) {
    if (!p->buffers[i].weight || p->buffers[i].kept != kept || p->buffers[i].at != *at) continue;
    code = put_weight(w, p, i);
    *at += memory_aligned(project_bytes(p, i));
  }
  return code;
}

static int project_write_weights(Project *p) {
  static const char zeros[FIRST];
  Writing w = {.a = 1};
  int64_t at = FIRST;
  int code = project_file_open(&w.file, &p->folder, "weights.bin");
  if (code) return code;
  fwrite(zeros, 1, sizeof(Head), w.file);
  put(&w, zeros, sizeof zeros - sizeof(Head));
  code = put_weights(&w, p, true, &at);
  if (!code) code = put_weights(&w, p, false, &at);
  put_head(p, &w);
  int closed = project_file_close(&p->folder, w.file);
  return code ? code : closed;
}

/* ---- targets ---- */

enum { TARGET_NAME_MAX = 32 };

/* The next name of the list, in `out`; false at its end. */
static bool next_target(const char **list, char out[TARGET_NAME_MAX]) {
  size_t n = strcspn(*list, ","), kept = n < TARGET_NAME_MAX ? n : TARGET_NAME_MAX - 1;
  if (!**list) return false;
  memcpy(out, *list, kept);
  out[kept] = 0;
  *list += n + ((*list)[n] == ',');
  return true;
}

static bool in_list(const char *list, const char *end, const char *name) {
  char other[TARGET_NAME_MAX];
  while (list < end && next_target(&list, other))
    if (list <= end && !strcmp(other, name)) return true;
  return false;
}

const char *project_cpu_options(const char *target) {
  static const struct {
    const char *target, *options;
  } cpus[] = {{"cpu:4", "-march=x86-64"},
              {"cpu:8", "-march=x86-64-v3"},
              {"cpu:16", "-march=x86-64-v4"}};
  for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
    if (!strcmp(cpus[i].target, target)) return cpus[i].options;
  return NULL;
}

int project_targets(const char *targets, bool *gpu) {
  char name[TARGET_NAME_MAX];
  int cpus = 0, gpus = 0, beside = 0;
  for (const char *at = targets; *at;) {
    const char *before = at;
    next_target(&at, name);
    const Machine *m = machine_find(name);
    if (!m) return error_target(name);
    if (in_list(targets, before, name)) return error_set(NEREID_E_USAGE, E_BUILD_TWICE, name);
    *(m->kind == MACHINE_CPU ? &cpus : &gpus) += 1;
    beside += project_cpu_options(m->name) != NULL;
  }
  if (!cpus && !gpus) return error_target(targets);
  if ((cpus > 1 && cpus != beside) || (cpus && gpus))
    return error_set(NEREID_E_USAGE, E_BUILD_MIXED, targets);
  if (gpus > PROJECT_TARGETS_MAX) return error_set(NEREID_E_USAGE, E_BUILD_MIXED, targets);
  *gpu = gpus > 0;
  return 0;
}

static bool is_taken(const Project *p, const char *name) {
  bool taken = false;
  for (uint32_t i = 0; i < p->ntargets; i++) taken |= !strcmp(p->targets[i].name, name);
  return taken;
}

/* "cpu" may be another name of one that is there. */
static void take_targets(Project *p) {
  char name[TARGET_NAME_MAX];
  for (const char *at = p->options->targets; next_target(&at, name);) {
    const Machine *m = machine_find(name);
    p->gpu = m->kind == MACHINE_GPU;
    if (!is_taken(p, m->name)) p->targets[p->ntargets++].name = m->name;
  }
}

/* ---- buffers in use ---- */

static const char *buffer_name(Project *p, uint32_t i) {
  const char *name = p->plan->buffers[i].name;
  for (const char *s = name; *s; s++)
    if (!isalnum((unsigned char)*s) && *s != '_') return arena_printf(p->arena, "B_%u", i);
  return arena_printf(p->arena, "B_%s", name);
}

static void use(Project *p, uint32_t buffer, bool kept) {
  p->buffers[buffer].used = true;
  p->buffers[buffer].kept |= kept;
}

static void find_used(Project *p) {
  const Plan *plan = p->plan;
  for (uint32_t i = 0; i < plan->nsteps; i++)
    for (uint32_t j = 0; j < plan->steps[i].nargs; j++) {
      const StepArg *a = &plan->steps[i].args[j];
      if (a->kind == STEP_BUFFER) use(p, a->buffer, !plan->steps[i].once);
    }
  for (uint32_t i = 0; i < plan->noutputs; i++) use(p, plan->outputs[i], true);
  for (uint32_t i = 0; i < plan->nupdates; i++) {
    use(p, plan->updates[i].to, true);
    use(p, plan->updates[i].from, true);
    p->buffers[plan->updates[i].to].written = true;
  }
  for (uint32_t i = 0; i < plan->nloops; i++) {
    use(p, plan->loops[i].condition, true);
    for (uint32_t j = 0; j < plan->loops[i].ncopies; j++)
      use(p, plan->loops[i].copies[j].from, true);
  }
  for (uint32_t i = 0; i < plan->nbuffers; i++) p->buffers[i].name = buffer_name(p, i);
}

static void find_inputs(Project *p) {
  const Plan *plan = p->plan;
  for (uint32_t i = 0; i < plan->nbuffers; i++)
    if (plan->buffers[i].kind == BUFFER_INPUT && plan->buffers[i].number >= p->ninputs)
      p->ninputs = plan->buffers[i].number + 1;
  p->inputs = ARENA_ARRAY(p->arena, const PlanBuffer *, p->ninputs);
  for (uint32_t i = 0; i < plan->nbuffers; i++)
    if (plan->buffers[i].kind == BUFFER_INPUT)
      p->inputs[plan->buffers[i].number] = &plan->buffers[i];
}

/* Every tensor that the plan names decides sizes, and is checked. */
static void use_inputs(Project *p) {
  for (uint32_t i = 0; i < p->ninputs; i++)
    if (p->inputs[i] && !p->inputs[i]->value)
      p->buffers[p->inputs[i] - p->plan->buffers].used = true;
}

/* Buffers that kernels write, by their images. */
static void find_written(Project *p) {
  for (uint32_t i = 0; i < p->plan->nsteps; i++) {
    const PlanStep *s = &p->plan->steps[i];
    const nereid_image *image = project_image(p, p->of_step[i].general);
    for (uint32_t j = 0; j < s->nargs; j++) {
      nereid_image_param param;
      int at = nereid_image_find_param(image, s->args[j].name);
      if (s->args[j].kind != STEP_BUFFER || at < 0) continue;
      if (!nereid_image_get_param(&param, image, at) && param.written)
        p->buffers[s->args[j].buffer].written = true;
    }
  }
}

static bool is_returned(const Plan *plan, uint32_t buffer) {
  for (uint32_t i = 0; i < plan->noutputs; i++)
    if (plan->outputs[i] == buffer) return true;
  return false;
}

static bool is_in_pool(const Plan *plan, const PlanBuffer *b) {
  Dim size = memory_bytes(plan->graph->dims, b);
  if (!b->offset || !dim_is_int(b->offset) || !dim_is_int(size)) return false;
  return b->offset->value >= 0 && b->offset->value % MEMORY_ALIGNMENT == 0 &&
         size->value <= plan->pool->value && b->offset->value <= plan->pool->value - size->value;
}

/* A plan may come from a text that someone wrote. */
static int check_buffer(const Project *p, uint32_t i) {
  const PlanBuffer *b = &p->plan->buffers[i];
  if (b->kind == BUFFER_OUTPUT && !is_returned(p->plan, i))
    return error_set(NEREID_E_FILE, E_BUILD_OUTPUT, b->name);
  if (b->kind == BUFFER_TEMPORARY && p->plan->pool && !is_in_pool(p->plan, b))
    return error_set(NEREID_E_FILE, E_GRAPH_POOL, b->name);
  return 0;
}

/* Offsets that depend on sizes are found when the model runs, like those that are not there. */
static int check_buffers(Project *p) {
  int code = 0;
  if (p->plan->pool && !dim_is_int(p->plan->pool)) p->plan->pool = NULL;
  for (uint32_t i = 0; i < p->plan->nbuffers && !code; i++)
    if (p->buffers[i].used) code = check_buffer(p, i);
  return code;
}

static int check_written(const Project *p) {
  for (uint32_t i = 0; i < p->plan->nbuffers; i++) {
    const PlanBuffer *b = &p->plan->buffers[i];
    bool made = b->kind != BUFFER_INPUT && b->kind != BUFFER_WEIGHT && b->kind != BUFFER_RECORDS;
    if (p->buffers[i].used && made && !p->buffers[i].written)
      return error_set(NEREID_E_FILE, E_GRAPH_NOT_WRITTEN, b->name);
  }
  return 0;
}

/* ---- texts ---- */

static void summarize_value(Project *p, Text *out, const char *what, uint32_t i,
                            const PlanBuffer *b) {
  if (b) text_printf(out, "\n *   %s %u  %s  %s", what, i, b->name, project_type(p, b));
  else text_printf(out, "\n *   %s %u  (not used)", what, i);
}

static void summarize_measured(const Project *p, Text *out) {
  uint32_t measured = 0;
  for (uint32_t i = 0; i < p->plan->nsteps; i++) measured += p->plan->steps[i].measured != NULL;
  if (measured)
    text_printf(
        out, "\n *\n * Tiles of %u of %u launches are the fastest that were measured: see plan.c.",
        measured, p->plan->nsteps);
}

static const char *summary(Project *p) {
  Text out = text_new(p->arena);
  text_printf(&out, "%s, as a C library: written by `nereid build` for %s.\n *",
              project_comment(p->arena, p->options->model), p->options->targets);
  for (uint32_t i = 0; i < p->ninputs; i++) summarize_value(p, &out, "input", i, p->inputs[i]);
  for (uint32_t i = 0; i < p->plan->noutputs; i++)
    summarize_value(p, &out, "output", i, &p->plan->buffers[p->plan->outputs[i]]);
  summarize_measured(p, &out);
  return out.data;
}

static const char MEANING[] =
    "# The meaning of the kernels depends on -ffp-contract and -fwrapv.\n"
    "KERNEL_FLAGS ?= -O2 $(NATIVE) " C_MEANING_FLAGS "\n";

/* The rules of several CPUs: the files of each have options of their own. */
static const char *flags_of_cpus(const Project *p) {
  Text out = text_new(p->arena);
  text_puts(&out, "# A run takes the kernels of the widest processor that it has.\n"
                  "X86 := $(shell $(CC) $(CFLAGS) -march=x86-64-v4 -E -x c /dev/null "
                  ">/dev/null 2>&1 && echo yes)\n");
  for (uint32_t i = 0; i < p->ntargets; i++)
    text_printf(&out, "kernels_%s_%%.o: NATIVE = $(if $(X86),%s)\n",
                project_cpu_tag(p->arena, p->targets[i].name),
                project_cpu_options(p->targets[i].name));
  text_puts(&out, MEANING);
  return out.data;
}

static const char *kernel_flags(const Project *p) {
  if (p->gpu) return "";
  if (p->ntargets > 1) return flags_of_cpus(p);
  return arena_printf(p->arena,
                      "# Kernels are for this machine's processor, unless the compiler is for "
                      "others: then\n"
                      "# CFLAGS may name one, as in CFLAGS='-O2 -march=armv8.2-a'.\n"
                      "NATIVE := $(shell $(CC) $(CFLAGS) -march=native -E -x c /dev/null "
                      ">/dev/null 2>&1 && echo -march=native)\n%s", MEANING);
}

/* GCC 12 and 13 break down over some vectors of 512 bits, 12 not without its vectorizer. */
static const char *retry(const Project *p) {
  if (p->gpu) return "";
  return " || \\\n"
         "\t  $(COMPILE) $(KERNEL_FLAGS) -fno-tree-vectorize $(KERNEL_CFLAGS) -c -o $@ $< || \\\n"
         "\t  $(COMPILE) $(KERNEL_FLAGS) -mno-avx512f $(KERNEL_CFLAGS) -c -o $@ $<";
}

static uint32_t most_axes(const Project *p) {
  uint32_t most = 1;
  for (uint32_t i = 0; i < p->plan->nbuffers; i++)
    if (p->buffers[i].used && p->plan->buffers[i].rank > most) most = p->plan->buffers[i].rank;
  return most;
}

static const char *project_file_text(const char *name) {
  const EmbeddedFile *f = project_files;
  while (f->name && strcmp(f->name, name) != 0) f++;
  BUG_IF(!f->name, "no file %s", name);
  return f->text;
}

static int write_filled(Project *p, const char *name, const char *file, const Slot *slots,
                        size_t n) {
  const char *dot = strrchr(name, '.'), *text = project_file_text(file);
  Text out = text_new(p->arena);
  if (n) template_fill_text(&out, text, slots, n);
  else text_puts(&out, text);
  const char *named = dot ? project_rename(p, out.data, true) : out.data;
  return project_file_write(&p->folder, name, named, strlen(named));
}

static int write_makefile(Project *p) {
  const char *model =
      arena_printf(p->arena, "%s: written by `nereid build` for %s",
                   project_comment(p->arena, p->options->model), p->options->targets);
  const Slot slots[] = {{"summary", model},
                        {"name", project_name(p)},
                        {"flags", kernel_flags(p)},
                        {"embed", p->options->embed_weights ? " 1" : ""},
                        {"kernels", p->kernel_files},
                        {"replay", p->gpu ? "replay.o maps.o " : ""},
                        {"retry", retry(p)}};
  return write_filled(p, "Makefile", "Makefile", slots, sizeof slots / sizeof *slots);
}

static int write_headers(Project *p) {
  const Slot slots[] = {{"summary", summary(p)},
                        {"inputs", arena_printf(p->arena, "%u", p->ninputs)},
                        {"outputs", arena_printf(p->arena, "%u", p->plan->noutputs)},
                        {"places", arena_printf(p->arena, "%u", p->plan->nreturned)},
                        {"rank", arena_printf(p->arena, "%u", most_axes(p))}};
  const char *header = arena_printf(p->arena, "%s.h", project_name(p));
  int code = write_filled(p, header, "model.h", slots, sizeof slots / sizeof *slots);
  if (code) return code;
  return write_filled(p, "kernels.h", p->gpu ? "kernels_cuda.h" : "kernels_cpu.h", NULL, 0);
}

/* Files that are the same for all models. */
static int write_fixed(Project *p) {
  static const char *const both[] = {
      "plan.h",    "model.c", "shapes.c",     "run.c", "checks.c", "buffer_offsets.h",
      "weights.c", "npy.h",   "npy_header.h", "npy.c", "main.c"};
  int code = 0;
  for (size_t i = 0; i < sizeof both / sizeof *both && !code; i++)
    code = write_filled(p, both[i], both[i], NULL, 0);
  if (!code) code = write_filled(p, "device.c", p->gpu ? "device_cuda.c" : "device_cpu.c", NULL, 0);
  if (!code && !p->gpu) code = write_filled(p, "team.h", "team.h", NULL, 0);
  if (!code && !p->gpu) code = write_filled(p, "cores.h", "cores.h", NULL, 0);
  if (!code && p->gpu) code = write_filled(p, "device.h", "device_cuda.h", NULL, 0);
  if (!code && p->gpu) code = write_filled(p, "cuda.h", "cuda_api.h", NULL, 0);
  if (!code && p->gpu) code = write_filled(p, "registers.h", "ptx_registers.h", NULL, 0);
  if (!code && p->gpu) code = write_filled(p, "boxed_tensor.h", "boxed_tensor.h", NULL, 0);
  if (!code && p->gpu) code = write_filled(p, "replay.c", "replay.c", NULL, 0);
  if (!code && p->gpu) code = write_filled(p, "maps.c", "maps.c", NULL, 0);
  return code;
}

/* ---- all ---- */

static int prepare(Project *p) {
  take_targets(p);
  p->buffers = ARENA_ARRAY(p->arena, ProjectBuffer, p->plan->nbuffers);
  p->of_step = ARENA_ARRAY(p->arena, ProjectChoice, p->plan->nsteps);
  memory_lifetimes(p->plan);
  find_used(p);
  find_inputs(p);
  use_inputs(p);
  int code = project_find_symbols(p);
  if (!code) code = check_buffers(p);
  return code ? code : project_find_weights(p);
}

static int compile(Project *p) {
  int code = project_limit_symbols(p);
  if (!code) code = project_compile(p);
  if (code) return code;
  find_written(p);
  assign_offsets(p);
  return check_written(p);
}

static int write_all(Project *p) {
  const char *name = project_name(p);
  const char *const products[] = {arena_printf(p->arena, "lib%s.a", name), name, NULL};
  int code = project_write_weights(p);
  if (!code) code = project_write_kernels(p);
  if (!code) code = project_write_plan(p);
  if (!code) code = write_headers(p);
  if (!code) code = write_makefile(p);
  if (!code) code = write_fixed(p);
  return code ? code : project_folder_commit(&p->folder, products);
}

static int prepare_body(void *arg) {
  Project *p = arg;
  int code = p->options->name ? project_check_name(p->options->name) : 0;
  if (!code) code = project_folder_open(&p->folder, p->arena, p->options->dir);
  return code ? code : prepare(p);
}

int project_new(Project **out, Plan *plan, const Weights *weights, const ProjectOptions *o) {
  *out = NULL;
  Project *p = calloc(1, sizeof *p);
  if (!p) return error_out_of_memory();
  *p = (Project){.arena = plan->graph->arena, .plan = plan, .weights = weights, .options = o};
  int code = error_guard(p->arena, prepare_body, p);
  if (code) project_free(p);
  else *out = p;
  return code;
}

static int write_body(void *arg) {
  Project *p = arg;
  int code = compile(p);
  return code ? code : write_all(p);
}

int project_write(Project *p) {
  return error_guard_stage(p->arena, "write project", write_body, p);
}

void project_free(Project *p) {
  if (!p) return;
  project_free_kernels(p);
  project_folder_abandon(&p->folder);
  free(p);
}
