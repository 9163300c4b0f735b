#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "model/aot/project_state.h"
#include "model/messages.h"
#include "runtime/device/assembler.h"
#include "runtime/image/image.h"
#include "runtime/support/parallel.h"
#include "runtime/support/tool.h"

/* ---- which kernels there are ---- */

static nereid_kind kind_of(const Project *p) { return p->gpu ? NEREID_PTX : NEREID_C; }

static uint32_t add_kernel(Project *p, PlanKernel *of, const nereid_request *r) {
  ProjectKernel k = {.request = *r, .name = r->symbol, .of = of};
  if (p->options->name)
    k.request.symbol = arena_printf(p->arena, "%s_%s", p->options->name, k.name);
  vec_push(p->arena, &p->kernels, k);
  return (uint32_t)p->kernels.len - 1;
}

static ProjectChoice choice_of(Project *p, PlanKernel *of) {
  ProjectChoice c;
  for (uint32_t i = 0; i < p->kernels.len; i++)
    if (p->kernels.data[i].of == of) return (ProjectChoice){i, of->aligned.kernel ? i + 1 : i};
  c.general = c.aligned = add_kernel(p, of, &of->request);
  if (of->aligned.kernel) c.aligned = add_kernel(p, of, &of->aligned);
  return c;
}

/* Constexprs that depend on sizes would need a kernel for each of them. */
static int find_kernels(Project *p) {
  int code = kernels_open(&p->found, p->arena, p->plan, NULL);
  p->found.source.path = "kernels.py";
  p->found.aligns = p->gpu;
  for (uint32_t i = 0; i < p->plan->nsteps && !code; i++) {
    const PlanStep *s = &p->plan->steps[i];
    PlanKernel *found;
    if (s->library) return error_set(NEREID_E_USAGE, E_BUILD_LIBRARY, s->kernel);
    if (kernels_depend(s)) return error_set(NEREID_E_FILE, E_BUILD_CONSTEXPR, s->kernel);
    code = kernels_find(&p->found, s, NULL, &found);
    if (!code) p->of_step[i] = choice_of(p, found);
  }
  return code;
}

/* ---- compiling: each kernel for each target ---- */

int project_arguments(const ImageVariant *v) {
  int n = 0;
  while (n < v->nslots && v->slots[n].kind == SLOT_ARG) n++;
  for (int i = n; i < v->nslots; i++)
    BUG_IF(v->slots[i].kind != SLOT_MAP, "kernel %s has derived parameters", v->entry);
  return n;
}

static const ImageVariant *variant(const ProjectTarget *t, size_t i) {
  return t->codes[i].image->variants[0];
}

typedef struct {
  Project *p;
  bool assemble;
  CompileCount *count;
  int *codes;      /* by target and kernel */
  char **messages; /* of failures, malloc'ed */
} Work;

static int compile_code(const Work *w, ProjectCode *out, const nereid_request *r) {
  int code = nereid_compile(&out->image, r, kind_of(w->p));
  if (code || !w->assemble) return code;
  const ImageVariant *v = out->image->variants[0];
  return cubin_assemble(&out->cubin, &out->cubin_size, v->code, v->size, r->target, NULL, NULL);
}

static int count_maps(const ImageVariant *v) { return v->nslots - project_arguments(v); }

static void compile_one(void *context, size_t at) {
  const Work *w = context;
  size_t n = w->p->kernels.len, i = at % n;
  ProjectTarget *t = &w->p->targets[at / n];
  nereid_request r = w->p->kernels.data[i].request;
  r.target = t->name;
  int code = compile_code(w, &t->codes[i], &r);
  r.no_tensor_maps = 1;
  if (!code && count_maps(variant(t, i))) code = compile_code(w, &t->plain[i], &r);
  w->codes[at] = code;
  /* The message is this thread's, and shall be the caller's. */
  if (w->codes[at]) w->messages[at] = error_keep();
  compile_count_add(w->count);
}

static int first_failure(const Work *w, size_t n) {
  int code = 0;
  for (size_t i = 0; i < n; i++) {
    if (w->codes[i] && !code) code = error_again(w->codes[i], w->messages[i]);
    free(w->messages[i]);
  }
  return code;
}

static int compile_all(Project *p) {
  char tool[TOOL_PATH];
  size_t n = p->kernels.len * p->ntargets;
  CompileCount count = p->options->count;
  Work w = {p, p->gpu && !p->options->ptx_only && tool_find_ptxas(tool), &count,
            ARENA_ARRAY(p->arena, int, n), ARENA_ARRAY(p->arena, char *, n)};
  compile_count_start(&count, n);
  parallel_for(n, compile_one, &w);
  return first_failure(&w, n);
}

/* Do both take the same arguments?  Each makes its own maps of them. */
static bool same_arguments(const nereid_image *a, const nereid_image *b) {
  const ImageVariant *v = a->variants[0], *w = b->variants[0];
  int n = project_arguments(v);
  bool same = n == project_arguments(w);
  for (int i = 0; i < n && same; i++) same = v->slots[i].param == w->slots[i].param;
  return same;
}

/* A step has one list of arguments. */
static void drop_other_arguments(Project *p) {
  for (uint32_t i = 0; i < p->plan->nsteps; i++) {
    ProjectChoice *c = &p->of_step[i];
    if (!same_arguments(project_image(p, c->general), project_image(p, c->aligned)))
      c->aligned = c->general;
  }
}

int project_compile(Project *p) {
  int code = find_kernels(p);
  size_t n = p->kernels.len;
  for (uint32_t i = 0; i < p->ntargets && !code; i++) {
    p->targets[i].codes = ARENA_ARRAY(p->arena, ProjectCode, n);
    p->targets[i].plain = ARENA_ARRAY(p->arena, ProjectCode, n);
  }
  if (!code) code = compile_all(p);
  if (!code) drop_other_arguments(p);
  return code;
}

static void free_codes(ProjectCode *codes, size_t n) {
  for (size_t i = 0; codes && i < n; i++) {
    nereid_image_free(codes[i].image);
    free(codes[i].cubin);
  }
}

void project_free_kernels(Project *p) {
  for (uint32_t i = 0; i < p->ntargets; i++) {
    free_codes(p->targets[i].codes, p->kernels.len);
    free_codes(p->targets[i].plain, p->kernels.len);
  }
  kernels_close(&p->found);
}

const nereid_image *project_image(const Project *p, uint32_t kernel) {
  return p->targets[0].codes[kernel].image;
}

/* ---- GPUs ---- */

/* A text as C strings, a line each. */
static void quote_lines(FILE *f, const char *text, size_t len) {
  fputs("    \"", f);
  for (size_t i = 0; i < len; i++) {
    char c = text[i];
    if (c == '"' || c == '\\' || c == '?') fputc('\\', f);
    if (c != '\n') fputc(c, f);
    else fputs(i + 1 < len ? "\\n\"\n    \"" : "\\n", f);
  }
  fputs("\"", f);
}

static void put_bytes(FILE *f, const char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    fprintf(f, "%s%u,", i % 24 ? "" : "\n    ", (unsigned char)bytes[i]);
}

/* The code k<i><suffix>. */
static void put_code(FILE *f, const ProjectCode *c, size_t i, const char *suffix) {
  const ImageVariant *v = c->image->variants[0];
  fprintf(f, "\nstatic const char k%zu%s_ptx[] =\n", i, suffix);
  quote_lines(f, v->code, v->size);
  fputs(";\n", f);
  if (!c->cubin) return;
  fprintf(f, "\n_Alignas(16) static const unsigned char k%zu%s_cubin[] = {", i, suffix);
  put_bytes(f, c->cubin, c->cubin_size);
  fputs("\n};\n", f);
}

/* Its entry in the table, up to the maps. */
static void put_entry(FILE *f, const ProjectCode *c, size_t i, const char *suffix) {
  const ImageVariant *v = c->image->variants[0];
  fprintf(f, "{\"%s\", k%zu%s_ptx, ", v->entry, i, suffix);
  if (c->cubin) fprintf(f, "k%zu%s_cubin, ", i, suffix);
  else fputs("NULL, ", f);
  fprintf(f, "%d, %d, ", v->threads, v->cluster > 1 ? v->cluster : 1);
  fprintf(f, "%lld, ", (long long)v->shared);
}

static int argument_of(const ImageVariant *v, int param) {
  int i = 0;
  while (v->slots[i].param != param) i++;
  return i;
}

/* {scale, argument}: a launch's number is one, or one times an integer. */
static void put_number(FILE *f, Project *p, const nereid_image *image, const IntExpr *e) {
  const ImageVariant *v = image->variants[0];
  int64_t *values = ARENA_ARRAY(p->arena, int64_t, (size_t)image_nnames(image)), scale = 0;
  int param = 0;
  while (param < image->nparams && !intexpr_uses(e, param)) param++;
  values[param] = 1;
  BUG_IF(intexpr_eval(&scale, e, values), "a tensor map of %s", e->text);
  fprintf(f, "{%lld, %d}, ", (long long)scale,
          param < image->nparams ? argument_of(v, param) : -1);
}

static void put_map(FILE *f, Project *p, const nereid_image *image, const ImageSlot *s) {
  const ImageMap *m = s->map;
  fprintf(f, "    {%d, %d, %d, {", argument_of(image->variants[0], s->param), m->bytes, m->rank);
  for (int i = 0; i < m->rank; i++) fprintf(f, "%d, ", m->box[i]);
  fputs("}, {", f);
  for (int i = 0; i < m->rank; i++) put_number(f, p, image, &m->extent[i]);
  fputs("}, {", f);
  for (int i = 0; i < m->rank; i++) put_number(f, p, image, &m->stride[i]);
  fputs("}, {", f);
  for (int i = 0; i < m->nnatural; i++)
    fprintf(f, "%d, ", argument_of(image->variants[0], m->natural[i]));
  fprintf(f, "%s}, %d},\n", m->nnatural ? "" : "0", m->nnatural);
}

static void put_gpu_kernel(FILE *f, Project *p, const ProjectTarget *t, size_t i) {
  const ImageVariant *v = variant(t, i);
  put_code(f, &t->codes[i], i, "");
  if (!t->plain[i].image) return;
  fprintf(f, "\nstatic const Map k%zu_maps[] = {\n", i);
  for (int k = project_arguments(v); k < v->nslots; k++)
    put_map(f, p, t->codes[i].image, &v->slots[k]);
  fputs("};\n", f);
  put_code(f, &t->plain[i], i, "_plain");
  fprintf(f, "\nstatic const Kernel k%zu_plain = ", i);
  put_entry(f, &t->plain[i], i, "_plain");
  fputs("NULL, 0, NULL};\n", f);
}

static void put_gpu_table(FILE *f, const ProjectTarget *t, size_t n, const char *prefix) {
  fprintf(f, "\nconst Kernel %s_kernels_%s[] = {\n", prefix, t->name);
  for (size_t i = 0; i < n; i++) {
    fputs("    ", f);
    put_entry(f, &t->codes[i], i, "");
    int maps = count_maps(variant(t, i));
    if (maps) fprintf(f, "k%zu_maps, %d, &k%zu_plain},\n", i, maps, i);
    else fputs("NULL, 0, NULL},\n", f);
  }
  fputs("    {NULL, NULL, NULL, 0, 0, 0, NULL, 0, NULL},\n};\n", f);
}

static int write_target(Project *p, const ProjectTarget *t) {
  FILE *f;
  size_t n = p->kernels.len;
  int code = project_file_open(&f, &p->folder, arena_printf(p->arena, "kernels_%s.c", t->name));
  if (code) return code;
  fprintf(f, "/* Kernels of kernels.py for %s. */\n#include \"kernels.h\"\n\n", t->name);
  fprintf(f, "extern const Kernel %s_kernels_%s[];\n", project_prefix(p), t->name);
  for (size_t i = 0; i < n; i++) put_gpu_kernel(f, p, t, i);
  put_gpu_table(f, t, n, project_prefix(p));
  return project_file_close(&p->folder, f);
}

/* kernels_targets.c: the list of all. */
static int write_targets(Project *p) {
  Text t = text_new(p->arena);
  text_puts(&t, "/* The targets of the kernels. */\n#include \"kernels.h\"\n\n");
  for (uint32_t i = 0; i < p->ntargets; i++)
    text_printf(&t, "extern const Kernel model_kernels_%s[];\n", p->targets[i].name);
  text_puts(&t, "\nconst Target model_targets[] = {\n");
  for (uint32_t i = 0; i < p->ntargets; i++) {
    const char *name = p->targets[i].name;
    int sm = atoi(name + 3);
    text_printf(&t, "    {\"%s\", %d, %d, model_kernels_%s},\n", name, sm,
                name[strlen(name) - 1] == 'a', name);
  }
  text_puts(&t, "    {NULL, 0, 0, NULL},\n};\n");
  const char *named = project_rename(p, t.data, false);
  return project_file_write(&p->folder, "kernels_targets.c", named, strlen(named));
}

static int write_gpu(Project *p) {
  Text files = text_new(p->arena);
  text_puts(&files, "kernels_targets.o");
  int code = write_targets(p);
  for (uint32_t i = 0; i < p->ntargets && !code; i++) {
    code = write_target(p, &p->targets[i]);
    text_printf(&files, " kernels_%s.o", p->targets[i].name);
  }
  p->kernel_files = files.data;
  return code;
}

/* ---- CPUs ---- */

/* Kernels of one file; the files are compiled in parallel. */
enum { KERNELS_A_FILE = 16 };

/* Warnings on purpose: parameters and lanes that not every kernel needs, and uninitialized values
 * that masks keep from being used. */
static const char WARNINGS[] =
    "#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wuninitialized\"\n"
    "#pragma GCC diagnostic ignored \"-Wunknown-pragmas\"\n"
    "#ifndef __clang__\n"
    "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n"
    "#endif\n\n";

/* Kernels of as many lanes, which make a file together. */
typedef struct {
  uint32_t kernels[KERNELS_A_FILE], n;
  int lanes;
} Part;

const char *project_cpu_tag(Arena *a, const char *target) {
  char *tag = arena_printf(a, "%s", target), *end = tag;
  for (const char *s = target; *s; s++)
    if (*s != ':') *end++ = *s;
  *end = 0;
  return tag;
}

/* What follows the names of a target's kernels: nothing if there is one target. */
static const char *suffix(const Project *p, const ProjectTarget *t) {
  const char *tag = project_cpu_tag(p->arena, t->name);
  return p->ntargets > 1 ? arena_printf(p->arena, "_%s", tag) : "";
}

static int write_part(Project *p, const ProjectTarget *target, const Part *part,
                      const char *name) {
  Text t = text_new(p->arena);
  const char *units[KERNELS_A_FILE];
  text_puts(&t, "/* Of kernels.py, by number:");
  for (uint32_t i = 0; i < part->n; i++) {
    units[i] = variant(target, part->kernels[i])->code;
    text_printf(&t, " %u", part->kernels[i]);
  }
  text_printf(&t, ". */\n%s", WARNINGS);
  for (uint32_t i = 0; i < part->n && p->ntargets > 1; i++) {
    const char *entry = variant(target, part->kernels[i])->entry;
    text_printf(&t, "#define %s_launch %s_launch%s\n", entry, entry, suffix(p, target));
  }
  BUG_IF(!c_join(&t, p->arena, units, part->n), "kernels that can't be joined");
  return project_file_write(&p->folder, name, t.data, t.len);
}

static void put_table(Text *t, Project *p, const ProjectTarget *target) {
  const char *more = suffix(p, target);
  size_t n = p->kernels.len;
  for (size_t i = 0; i < n; i++)
    text_printf(t, "Kernel %s_launch%s;\n", variant(target, i)->entry, more);
  text_printf(t, "\nstatic Kernel *const kernels%s[] = {\n", more);
  for (size_t i = 0; i < n; i++)
    text_printf(t, "    %s_launch%s,\n", variant(target, i)->entry, more);
  text_puts(t, "    NULL,\n};\n\n");
}

static int write_table(Project *p) {
  Text t = text_new(p->arena);
  text_puts(&t, "/* The kernels of each target, by number. */\n#include \"kernels.h\"\n\n"
                "#include <stddef.h>\n\n");
  for (uint32_t i = 0; i < p->ntargets; i++) put_table(&t, p, &p->targets[i]);
  text_puts(&t, "const Target model_targets[] = {\n");
  for (uint32_t i = 0; i < p->ntargets; i++)
    text_printf(&t, "    {\"%s\", kernels%s},\n", p->targets[i].name, suffix(p, &p->targets[i]));
  text_puts(&t, "    {NULL, NULL},\n};\n");
  const char *named = project_rename(p, t.data, false);
  return project_file_write(&p->folder, "kernels_table.c", named, strlen(named));
}

/* The kernels in order, each in the last part of its number of lanes while that has room. */
static Part *divide_kernels(Project *p, const ProjectTarget *target, size_t *n) {
  Part *parts = ARENA_ARRAY(p->arena, Part, p->kernels.len);
  *n = 0;
  for (size_t i = 0; i < p->kernels.len; i++) {
    int lanes = c_lanes(variant(target, i)->code);
    Part *part = NULL;
    for (size_t k = 0; k < *n; k++)
      if (parts[k].lanes == lanes && parts[k].n < KERNELS_A_FILE) part = &parts[k];
    if (!part) part = &parts[(*n)++], part->lanes = lanes;
    part->kernels[part->n++] = (uint32_t)i;
  }
  return parts;
}

static int write_cpu_target(Project *p, const ProjectTarget *t, Text *files) {
  size_t n;
  const Part *parts = divide_kernels(p, t, &n);
  int code = 0;
  for (size_t i = 0; i < n && !code; i++) {
    const char *name = arena_printf(p->arena, "kernels%s_%zu", suffix(p, t), i + 1);
    code = write_part(p, t, &parts[i], arena_printf(p->arena, "%s.c", name));
    text_printf(files, " %s.o", name);
  }
  return code;
}

static int write_cpu(Project *p) {
  Text files = text_new(p->arena);
  text_puts(&files, "kernels_table.o");
  int code = write_table(p);
  for (uint32_t i = 0; i < p->ntargets && !code; i++)
    code = write_cpu_target(p, &p->targets[i], &files);
  p->kernel_files = files.data;
  return code;
}

int project_write_kernels(Project *p) {
  int code = project_file_write(&p->folder, "kernels.py", p->plan->source, strlen(p->plan->source));
  if (code) return code;
  return p->gpu ? write_gpu(p) : write_cpu(p);
}
