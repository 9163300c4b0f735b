#include "runtime/compile/compilation.h"

#include <stdlib.h>
#include <string.h>

#include "lang/messages.h"
#include "lower/analysis/writes.h"
#include "runtime/compile/config.h"
#include "runtime/compile/language.h"
#include "runtime/compile/spec.h"
#include "runtime/messages.h"
#include "runtime/support/files.h"
#include "runtime/support/host_machine.h"
#include "sema/messages.h"
#include "sema/tuned.h"

enum { MEMORY_MIB = 1024, MILLION_STEPS = 400 };

/* Bytes of a compilation, and steps of each of its stages. */
static ArenaUse compile_limits(void) {
  return (ArenaUse){(size_t)MEMORY_MIB << 20, (uint64_t)MILLION_STEPS * 1000000};
}

/* ---- the line that grew ---- */

typedef struct {
  Span at;
  uint64_t count;
} Line;

typedef VEC(Line) Lines;

static void add_op(Arena *a, Lines *lines, Span at) {
  Line *last = lines->len ? &vec_last(lines) : NULL;
  if (last && last->at.file == at.file && last->at.line == at.line) {
    last->count++;
    return;
  }
  Line line = {at, 1};
  vec_push(a, lines, line);
}

static void add_block(Arena *a, Lines *lines, const TileBlock *b) {
  for (const TileOp *op = b->first; op; op = op->next) {
    add_op(a, lines, op->span);
    for (uint32_t r = 0; r < op->nregions; r++) add_block(a, lines, op->regions[r]);
  }
}

static int by_location(const void *x, const void *y) {
  const Span *a = &((const Line *)x)->at, *b = &((const Line *)y)->at;
  if (a->file != b->file) return a->file < b->file ? -1 : 1;
  return (a->line > b->line) - (a->line < b->line);
}

/* The line with most operations, and the number of all; count 0 for an empty kernel. */
static Line largest_line(Arena *a, const TileFunc *f, uint64_t *all) {
  Lines lines = {0};
  add_block(a, &lines, f->body);
  if (lines.len) qsort(lines.data, lines.len, sizeof *lines.data, by_location);
  Line most = {0}, line = {0};
  *all = 0;
  for (size_t i = 0; i < lines.len; i++) {
    if (!i || by_location(&line, &lines.data[i])) line = (Line){lines.data[i].at, 0};
    line.count += lines.data[i].count;
    *all += lines.data[i].count;
    if (line.count > most.count) most = line;
  }
  return most;
}

/* ---- the message ---- */

typedef struct {
  Compilation *c;
  CompileStage stage;
} LimitReport;

static const char *activity(const LimitReport *r) {
  const Unit *u = r->c->unit;
  switch (r->stage) {
    case COMPILE_PARSE: return "the parser";
    case COMPILE_SEMA: return "evaluation";
    case COMPILE_PASSES: return arena_printf(r->c->arena, "pass %s", u->pass ? u->pass : "?");
    default: return "the code's printer";
  }
}

static Span kernel_span(const Compilation *c) {
  if (c->unit && c->unit->nest) return c->unit->nest->span;
  if (c->unit && c->unit->tile) return c->unit->tile->span;
  if (c->kernel) return c->kernel->span;
  return (Span){.file = diag_file_count(c->diags) ? 1 : 0, .line = 1, .col = 1, .len = 1};
}

/* Notes the line that makes most of the operations, if its part is large: it tells more than the
 * kernel's line. */
static void note_largest(const Compilation *c) {
  enum { PART = 20 };
  const TileFunc *f = c->unit ? c->unit->tile : c->program ? sema_unfinished(c->program) : NULL;
  uint64_t all = 0;
  Line most = f ? largest_line(c->arena, f, &all) : (Line){0};
  if (most.count * PART >= all && all)
    diag_note(c->diags, most.at, N_RUN_COMPILE_LINE, (unsigned long long)most.count,
              (unsigned long long)all);
}

static const char *kernel_name(const Compilation *c) {
  if (c->unit) return lower_name(c->unit);
  return c->kernel ? c->kernel->name : "";
}

/* The diagnostics so far as the thread's last failure. */
static int set_kernel_error(const Compilation *c, int code) {
  error_set_diags(code, c->arena, c->diags);
  return error_of_kernel(kernel_name(c));
}

static int refuse_body(void *arg) {
  const LimitReport *r = arg;
  Compilation *c = r->c;
  bool memory = arena_excess(c->arena) == ARENA_BYTES;
  arena_limit(c->arena, (ArenaUse){0}); /* the message may take what it needs */
  if (!c->diags) return error_set(NEREID_E_RESOURCES, E_LANG_OUT_OF_MEMORY);
  diag_rewind(c->diags, 0);
  Span at = kernel_span(c);
  Resource bytes = {"memory of the compiler", 0, (int64_t)c->limits.bytes};
  Resource steps = {"steps of the compiler", 0, (int64_t)c->limits.steps};
  if (memory)
    diag_resource_limit(c->diags, at, bytes, E_RUN_COMPILE_MEMORY, c->limits.bytes >> 20,
                        activity(r));
  else
    diag_resource_limit(c->diags, at, steps, E_RUN_COMPILE_STEPS, c->limits.steps / 1e6,
                        activity(r));
  note_largest(c);
  diag_hint(c->diags, H_RUN_COMPILE_LIMIT);
  return set_kernel_error(c, NEREID_E_RESOURCES);
}

/* Reports that a limit was passed in this stage: NEREID_E_RESOURCES. */
static int compile_report_limit(Compilation *c, CompileStage stage) {
  LimitReport r = {c, stage};
  return error_guard(c->arena, refuse_body, &r);
}

/* True if the text is IR: its first word, after comments, is `kernel @` or `nest @`. */
static bool compile_is_ir(const char *text, size_t len) {
  size_t i = 0;
  while (i < len) {
    if (text[i] == '#') {
      while (i < len && text[i] != '\n') i++;
    } else if (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
      i++;
    } else {
      break;
    }
  }
  const char *const words[] = {"kernel @", "nest @"};
  for (size_t w = 0; w < 2; w++) {
    size_t n = strlen(words[w]);
    if (len - i >= n && !memcmp(text + i, words[w], n)) return true;
  }
  return false;
}

/* ---- kernels of IR text ---- */

/* All of a file, so that an error in any of them is seen.  False after errors, which are in `d`. */
static bool units_read(Units *out, Arena *a, Pool *names, Diags *d, uint32_t file) {
  VEC(Unit *) list = {0};
  size_t at = 0;
  for (Unit *u; (u = lower_parse(a, names, d, file, &at));) vec_push(a, &list, u);
  *out = (Units){list.data, (uint32_t)list.len, file};
  return diag_errors(d) == 0;
}

bool units_shadowed(const Units *units, uint32_t i) {
  for (uint32_t j = i + 1; j < units->len; j++)
    if (lower_name(units->data[j]) == lower_name(units->data[i])) return true;
  return false;
}

static void list_units(const Units *units, Diags *d) {
  for (uint32_t i = 0; i < units->len; i++)
    if (!units_shadowed(units, i))
      diag_note(d, units->data[i]->span, N_SEMA_KERNEL, lower_name(units->data[i]));
}

static Unit *only_unit(const Units *units, Diags *d) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < units->len; i++) n += !units_shadowed(units, i);
  if (n == 1) return units->data[units->len - 1];
  diag_error(d, (Span){0}, E_SEMA_SEVERAL_KERNELS, diag_file(d, units->file)->name);
  list_units(units, d);
  return NULL;
}

static bool is_unit_named(const Unit *u, const char *which) {
  const char *name = lower_name(u);
  size_t n = strlen(name);
  if (strncmp(name, which, n)) return false;
  return !which[n] || (which[n] == '@' && strtoul(which + n + 1, NULL, 10) == u->span.line);
}

Unit *units_find(const Units *units, Diags *d, const char *which) {
  if (!which || !*which) return only_unit(units, d);
  for (uint32_t i = units->len; i-- > 0;)
    if (is_unit_named(units->data[i], which)) return units->data[i];
  diag_error(d, (Span){0}, E_SEMA_NO_KERNEL, diag_file(d, units->file)->name, which);
  list_units(units, d);
  return NULL;
}

/* ---- texts and names of the caller's ---- */

static int read_source_text(SourceText *out, const nereid_source *s) {
  enum { PLACE_MAX = 1 << 24 };
  *out = (SourceText){.path = s->path ? s->path : "<text>",
                      .text = s->text,
                      .len = s->size ? s->size : strlen(s->text),
                      .line = s->line ? (uint32_t)s->line : 1,
                      .column = (uint32_t)s->column,
                      .scope = s->scope};
  bool ok = s->line >= 0 && s->line <= PLACE_MAX && s->column >= 0 && s->column <= PLACE_MAX;
  if (ok) return 0;
  return error_set(NEREID_E_USAGE, E_RUN_SOURCE_PLACE, out->path, s->line, s->column, PLACE_MAX);
}

/* A NameLookup whose context is the caller's nereid_source. */
static int look_up(void *context, const void *scope, const char *name, OutsideName *out) {
  const nereid_source *of = context;
  nereid_name n = {0};
  if (of->lookup(of->lookup_context, scope, name, &n))
    return error_set(NEREID_E_CALLER, E_RUN_LOOKUP, name);
  bool defines =
      n.kind == NEREID_NAME_JIT || n.kind == NEREID_NAME_HOST || n.kind == NEREID_NAME_CLASS;
  if ((unsigned)n.kind > NEREID_NAME_OTHER)
    return error_set(NEREID_E_USAGE, E_RUN_LOOKUP_KIND, name, (int)n.kind);
  if ((n.kind && !n.text) || (defines && !n.source.text))
    return error_set(NEREID_E_USAGE, E_RUN_LOOKUP_TEXT, name, (int)n.kind);
  *out = (OutsideName){.kind = (OutsideKind)n.kind, .text = n.text};
  out->source.scope = n.source.scope;
  return defines ? read_source_text(&out->source, &n.source) : 0;
}

_Static_assert((int)OUTSIDE_OTHER == (int)NEREID_NAME_OTHER, "the kinds of names are the same");

/* The message of a failed lookup is set: what was reported after it does not count. */
static int lookup_failure(Compilation *c) {
  const char *name;
  int code = sema_lookup_failure(c->program, &name);
  if (code) diag_rewind(c->diags, 0);
  if (code == NEREID_E_CALLER) error_set(code, E_RUN_LOOKUP, name);
  return code;
}

/* ---- opening ---- */

typedef struct {
  Compilation *c;
  const nereid_source *source;
  bool syntax_only;
} Opening;

static int open_ir(Compilation *c, const char *name, const char *text, size_t len) {
  c->from_ir = true;
  uint32_t file = diag_source(c->diags, pool_name(c->names, name), text, len);
  return units_read(&c->units, c->arena, c->names, c->diags, file) ? 0 : NEREID_E_KERNEL;
}

static int open_source_body(void *arg) {
  Opening *o = arg;
  Compilation *c = o->c;
  c->names = pool_new(c->arena);
  c->diags = diags_new(c->arena);
  const nereid_source *s = o->source;
  SourceText text = {.path = s->path, .line = 1, .scope = s->scope};
  int code =
      s->text ? read_source_text(&text, s) : files_read(c->arena, s->path, &text.text, &text.len);
  if (code) return code;
  if (files_is_npy(text.text, text.len))
    return error_set(NEREID_E_FILE, E_RUN_NPY_KERNEL, text.path, text.path);
  if (compile_is_ir(text.text, text.len)) return open_ir(c, text.path, text.text, text.len);
  if (o->syntax_only) {
    uint32_t file = diag_part(c->diags, pool_name(c->names, text.path), text.text, text.len,
                              text.line, text.column);
    c->module = (s->lookup ? parse_kernel : parse)(c->arena, c->names, c->diags, file);
    return 0;
  }
  nereid_source *kept = ARENA_NEW(c->arena, nereid_source);
  *kept = *s;
  c->program = program_from_text(c->arena, c->names, c->diags, &text, s->lookup ? look_up : NULL,
                                 kept, s->import_path, s->n_import_path);
  code = lookup_failure(c);
  if (code) return code;
  /* After a syntax error a kernel may be in the part that was skipped: none is looked up. */
  return c->program && !diag_errors(c->diags) ? 0 : NEREID_E_KERNEL;
}

int compile_check(const nereid_request *r) {
  if (r->nargs && !r->args) return error_null("nereid_request", "args");
  for (int i = 0; i < r->nargs; i++)
    if (!r->args[i].name) return error_null("nereid_arg", "name");
  return 0;
}

static const char *const stage_names[] = {"parse", "sema", "passes", "code"};
_Static_assert(sizeof stage_names / sizeof *stage_names == COMPILE_STAGES, "a name a stage");

int compile_guard(Compilation *c, CompileStage stage, int (*body)(void *), void *arg) {
  bool timed = log_has(c->log, LOG_COMPILE);
  double begin = timed ? host_now() : 0;
  uint64_t steps = c->limits.steps ? arena_use(c->arena).steps + c->limits.steps : 0;
  arena_limit(c->arena, (ArenaUse){c->limits.bytes, steps});
  int code = error_guard_stage(c->arena, stage_names[stage], body, arg);
  if (code == NEREID_E_MEMORY && arena_excess(c->arena)) code = compile_report_limit(c, stage);
  if (code == NEREID_E_INTERNAL) compile_add_repeat(c);
  if (timed) c->seconds[stage] += host_now() - begin;
  return code;
}

int compile_open(Compilation *c, const nereid_source *source, bool syntax_only) {
  *c = (Compilation){.log = log_read()};
  if (!source->path && !source->text) return error_set(NEREID_E_USAGE, E_RUN_NO_SOURCE);
  if (source->n_import_path && !source->import_path)
    return error_null("nereid_source", "import_path");
  c->limits = compile_limits();
  c->path = source->path ? source->path : "<text>";
  c->arena = arena_new();
  if (!c->arena) return error_out_of_memory();
  Opening o = {c, source, syntax_only};
  return compile_guard(c, COMPILE_PARSE, open_source_body, &o);
}

static void log_stages(const Compilation *c) {
  const Unit *u = c->unit;
  char times[128];
  size_t n = 0;
  for (int i = 0; i < COMPILE_STAGES; i++)
    if (c->seconds[i] > 0)
      n += (size_t)snprintf(times + n, sizeof times - n, "%s%s %.1f ms", n ? ", " : "",
                            stage_names[i], c->seconds[i] * 1e3);
  log_print(LOG_COMPILE, "%s for %s: %s; %llu steps", u->nest ? u->nest->name : u->tile->name,
            u->machine ? u->machine->name : "any target", times,
            (unsigned long long)arena_use(c->arena).steps);
}

void compile_close(Compilation *c) {
  if (c->unit && log_has(c->log, LOG_COMPILE)) log_stages(c);
  arena_free(c->arena);
  *c = (Compilation){0};
}

/* ---- reporting ---- */

typedef struct {
  Compilation *c;
  nereid_message_fn fn;
  void *context;
  int code;
} Report;

static int report_body(void *arg) {
  Report *r = arg;
  if (diag_only_resource_limits(r->c->diags)) return set_kernel_error(r->c, NEREID_E_RESOURCES);
  if (diag_errors(r->c->diags)) return set_kernel_error(r->c, r->code ? r->code : NEREID_E_KERNEL);
  error_tell(r->fn, r->context, r->c->arena, r->c->diags);
  return r->code;
}

int compile_report(Compilation *c, int code, nereid_message_fn fn, void *context) {
  /* Failures that are neither the kernel's nor its caller's have their message already. */
  bool ours = code == 0 || code == NEREID_E_KERNEL || code == NEREID_E_USAGE;
  if (!ours || !c->diags || diag_count(c->diags) == 0) return code;
  Report r = {c, fn, context, code};
  return error_guard(c->arena, report_body, &r);
}

/* ---- specializing ---- */

typedef struct {
  Compilation *c;
  const nereid_request *r;
  Level until;
  bool dumped; /* the IR after a pass was handed to the caller */
} Step;

enum { MACHINE_REGISTERS = 255 };

static int check_kernel_options(const nereid_request *r, const char *target) {
  if (!machine_find(target)) return error_target(target);
  nereid_request q = *r;
  int code = 0;
  for (int i = 0; i < OPTION_COUNT && !code; i++) {
    const OptionRow *row = &option_rows[i];
    int *value = request_number(&q, row);
    if (row->kind == OPTION_INT && *value) code = config_check(row, *value);
  }
  return code;
}

static Options options_of(const nereid_request *r, Options base, const char *preferred) {
  if (preferred) base.target = preferred;
  if (r->target) base.target = r->target;
#define X(kind, name, ...) \
  if (r->name) base.name = r->name;
  NEREID_KERNEL_OPTIONS(X, X)
#undef X
  /* More than a thread can have is no limit, as for ptxas: lists of configurations have it. */
  if (base.maxnreg > MACHINE_REGISTERS) base.maxnreg = 0;
  return base;
}

/* A value that is a tensor descriptor's type: the block that a configuration gives it. */
static bool is_block_value(const nereid_arg *a) {
  return !a->type && a->value && spec_begins_descriptor(a->value);
}

/* Has the argument another block by a configuration? */
static bool is_overruled(const nereid_request *r, int i) {
  for (int j = 0; j < r->nargs; j++)
    if (is_block_value(&r->args[j]) && !is_block_value(&r->args[i]) &&
        !strcmp(r->args[j].name, r->args[i].name))
      return true;
  return false;
}

static int read_request_args(Compilation *c, const nereid_request *r) {
  KernelArg *args = ARENA_ARRAY(c->arena, KernelArg, (size_t)r->nargs);
  uint32_t n = 0;
  for (int i = 0; i < r->nargs; i++) {
    const nereid_arg *arg = &r->args[i];
    if (is_overruled(r, i)) continue;
    Name name = pool_name(c->names, arg->name);
    const char *value = arg->value ? arg->value : "None";
    int code = arg->type ? spec_type(&args[n], c->names, name, arg->type)
                         : spec_constexpr(&args[n], c->names, name, value);
    if (code) return code;
    for (uint32_t j = 0; j < n; j++)
      if (args[j].name == name) return error_set(NEREID_E_USAGE, E_RUN_ARG_TWICE, name);
    n++;
  }
  c->args = args;
  c->nargs = n;
  return 0;
}

int compile_check_name(Program *p, const Kernel *k, const char *name, bool constant, bool read) {
  const char **names = calloc(k->nparams + 1, sizeof *names);
  char hint[256];
  if (!names) return error_out_of_memory();
  for (uint32_t i = 0; i < k->nparams; i++) names[i] = k->params[i].name;
  bool similar = *error_suggest(hint, sizeof hint, name, names, k->nparams);
  bool known = constant && (sema_binds(p, k, name) || (!similar && !read));
  int code = known ? 0
                   : error_set(NEREID_E_USAGE, E_RUN_UNKNOWN_PARAM, k->name, name,
                               error_suggest_or_list(hint, sizeof hint, name, names, k->nparams));
  free(names);
  return code;
}

static int check_given(const Compilation *c, bool read) {
  int code = 0;
  for (uint32_t i = 0; i < c->ngiven && !code; i++) {
    const KernelArg *arg = &c->given[i];
    bool constant = arg->kind != ARG_TYPE && arg->kind != ARG_ONE;
    code = compile_check_name(c->program, c->kernel, arg->name, constant, read);
  }
  return code;
}

/* The arguments that are no parameters, to c->given. */
static int separate_given(Compilation *c) {
  KernelArg *args = ARENA_ARRAY(c->arena, KernelArg, c->nargs);
  KernelArg *given = ARENA_ARRAY(c->arena, KernelArg, c->nargs);
  uint32_t n = 0, ngiven = 0;
  for (uint32_t i = 0; i < c->nargs; i++)
    if (sema_param_of(c->kernel, c->args[i].name)) args[n++] = c->args[i];
    else given[ngiven++] = c->args[i];
  c->args = args;
  c->nargs = n;
  c->given = given;
  c->ngiven = ngiven;
  sema_give(c->program, given, ngiven);
  return check_given(c, false);
}

/* A number as a run-time parameter's constant would promote as constexprs do. */
static int check_constant_arg(const Kernel *k, const KernelArg *arg) {
  const KernelParam *p = sema_param_of(k, arg->name);
  bool number = arg->kind == ARG_INT || arg->kind == ARG_BOOL || arg->kind == ARG_FLOAT;
  if (!number || arg->is_constexpr || p->kind == KP_CONSTEXPR || p->tuned) return 0;
  return error_set(NEREID_E_USAGE, E_RUN_ARG_RUNTIME_TYPE, arg->name, arg->name);
}

static bool is_arg_given(const Compilation *c, Name name) {
  for (uint32_t i = 0; i < c->nargs; i++)
    if (sema_is_item(c->args[i].name, name)) return true;
  return false;
}

/* A constexpr with the name of an option has the option's value. */
static void add_option_constexprs(Compilation *c, const nereid_request *of) {
  nereid_request r = *of;
  KernelArg *all = ARENA_ARRAY(c->arena, KernelArg, c->nargs + c->kernel->nparams);
  uint32_t n = c->nargs;
  for (uint32_t i = 0; i < n; i++) all[i] = c->args[i];
  for (uint32_t i = 0; i < c->kernel->nparams; i++) {
    const KernelParam *p = &c->kernel->params[i];
    const int *option = p->kind == KP_CONSTEXPR ? config_option(&r, p->name) : NULL;
    if (option && *option && !is_arg_given(c, p->name))
      all[n++] = (KernelArg){.name = p->name, .kind = ARG_INT, .i = *option, .div = 1};
  }
  c->args = all;
  c->nargs = n;
}

static bool has_open_param(const Compilation *c) {
  for (uint32_t i = 0; i < c->kernel->nparams; i++)
    if (c->kernel->params[i].tuned && !is_arg_given(c, c->kernel->params[i].name)) return true;
  return false;
}

/* Constexprs that the file's heuristics give for these arguments, as far as types tell. */
static void add_heuristics(Compilation *c, const char *target) {
  TunedArg *given = ARENA_ARRAY(c->arena, TunedArg, c->nargs);
  TunedQuery query = {.device.target = target, .args = given, .nargs = c->nargs};
  TunedConfig more;
  for (uint32_t i = 0; i < c->nargs; i++) given[i].arg = c->args[i];
  tuned_known(c->program, c->kernel, &query, &more);
  KernelArg *all = ARENA_ARRAY(c->arena, KernelArg, c->nargs + more.len);
  for (uint32_t i = 0; i < c->nargs; i++) all[i] = c->args[i];
  for (size_t i = 0; i < more.len; i++)
    if (!tuned_is_option(more.data[i].name)) all[c->nargs++] = more.data[i];
  c->args = all;
}

int compile_not_found(Program *p) {
  const Kernel *list;
  return sema_kernels(p, &list) ? NEREID_E_USAGE : NEREID_E_KERNEL;
}

static bool verifies(void) {
  const char *text = getenv("NEREID_VERIFY");
  return text && *text && strcmp(text, "0");
}

static int specialize_source(Compilation *c, const nereid_request *r) {
  Options options = options_of(r, options_default(), c->preferred);
  int code = check_kernel_options(r, options.target);
  if (!code) code = language_of_request(&options.language, r);
  if (code) return code;
  options.target = pool_name(c->names, options.target);
  c->kernel = sema_find(c->program, r->kernel, options.target);
  if (!c->kernel) return compile_not_found(c->program);
  code = read_request_args(c, r);
  if (!code) code = separate_given(c);
  for (uint32_t i = 0; !code && i < c->nargs; i++)
    code = check_constant_arg(c->kernel, &c->args[i]);
  if (code) return code;
  add_option_constexprs(c, r);
  if (has_open_param(c)) add_heuristics(c, options.target);
  TileFunc *f = sema_compile(c->program, c->kernel, c->args, c->nargs, options);
  code = lookup_failure(c);
  if (!code) code = check_given(c, true);
  if (code) return code;
  if (!f || diag_errors(c->diags)) return NEREID_E_KERNEL;
  if (r->symbol) f->name = pool_name(c->names, r->symbol);
  c->unit = ARENA_NEW(c->arena, Unit);
  *c->unit = (Unit){.arena = c->arena, .names = c->names, .diags = c->diags, .tile = f};
  c->unit->machine = machine_find(options.target);
  c->unit->verifies = verifies();
  return lower_check_const(c->unit) ? 0 : NEREID_E_KERNEL;
}

/* The parameter of tile IR of that name and type; NULL: there is none. */
static TileParam *param_of_arg(const Unit *u, const KernelArg *arg) {
  for (uint32_t i = 0; u->tile && arg->kind == ARG_TYPE && i < u->tile->nparams; i++) {
    TileParam *p = &u->tile->params[i];
    const char *name = p->value->name;
    if (name && *name == '%') name++;
    if (name && !strcmp(name, arg->name) && type_eq(p->value->type, arg->type)) return p;
  }
  return NULL;
}

/* A type of an argument may say a larger divisor than IR text does. */
static int add_divisors(Compilation *c, const nereid_request *r) {
  int code = read_request_args(c, r);
  for (uint32_t i = 0; i < c->nargs && !code; i++) {
    const KernelArg *arg = &c->args[i];
    TileParam *p = param_of_arg(c->unit, arg);
    if (!p || arg->div < 2) code = error_set(NEREID_E_USAGE, E_RUN_IR_ARGS, arg->name);
    else if (arg->div % p->div == 0) p->div = arg->div;
  }
  return code;
}

/* IR text has its arguments fixed; tile IR without a schedule may still change its options. */
static int specialize_ir(Compilation *c, const nereid_request *r) {
  Unit *u = c->unit = units_find(&c->units, c->diags, r->kernel);
  if (!u) return NEREID_E_USAGE;
  int added = add_divisors(c, r);
  if (added) return added;
  u->verifies = verifies();
  Options *options = u->nest ? &u->nest->options : &u->tile->options;
  bool open = !u->nest && !u->schedule;
  Options wanted = options_of(r, *options, open ? c->preferred : NULL);
  int code = check_kernel_options(r, wanted.target);
  if (code) return code;
  bool same = !strcmp(wanted.target, options->target);
  for (int i = 0; i < OPTION_COUNT; i++) {
    const OptionRow *row = &option_rows[i];
    if (row->uses & OPTION_IS_SCHEDULE)
      same &= *options_number(&wanted, row) == *options_number(options, row);
  }
  if (!same && !open)
    return error_set(NEREID_E_USAGE, E_RUN_IR_OPTIONS, options->target, options->num_warps,
                     options->num_stages);
  wanted.target = pool_name(c->names, wanted.target);
  *options = wanted;
  if (!u->machine || !same) u->machine = machine_find(wanted.target);
  return 0;
}

static int specialize_body(void *arg) {
  Step *s = arg;
  return s->c->from_ir ? specialize_ir(s->c, s->r) : specialize_source(s->c, s->r);
}

int compile_specialize(Compilation *c, const nereid_request *r) {
  Step s = {.c = c, .r = r, .until = LEVEL_TILE};
  c->request = r;
  return compile_guard(c, COMPILE_SEMA, specialize_body, &s);
}

/* ---- lowering ---- */

/* Hands the IR after a pass to the caller, if it is one that he wants; false if not. */
static bool dump_pass(const nereid_request *r, const Pass *p, Unit *u, double seconds,
                      bool changed) {
  if (strcmp(r->dump_after, "all") && strcmp(r->dump_after, p->name)) return false;
  Text text = text_new(u->arena);
  if (changed) lower_print(&text, u);
  r->on_pass(r->context, p->name, changed ? text.data : NULL, seconds);
  return true;
}

static void after_pass(void *ctx, const Pass *p, Unit *u, double seconds, bool changed) {
  Step *s = ctx;
  LOG(s->c->log, LOG_PASS, "%s, %.3f ms%s", p->name, seconds * 1e3, changed ? "" : " (unchanged)");
  if (s->r->dump_after && s->r->on_pass) s->dumped |= dump_pass(s->r, p, u, seconds, changed);
}

/* "induction_variables, dce, ...", of the machine of this unit. */
static const char *pass_names(const Unit *u) {
  Text text = text_new(u->arena);
  pass_print_names(&text, lower_passes(), u->machine->has);
  return text.data;
}

/* The names of passes, with commas between. */
static int check_passes(const Unit *u, const char *names) {
  size_t n;
  for (const char *name; pass_next_name(&names, &name, &n);)
    if (!pass_find(lower_passes(), name, n))
      return error_set(NEREID_E_USAGE, E_RUN_UNKNOWN_PASS, (int)n, name, pass_names(u));
  return 0;
}

/* The pass of --dump-after, unless that is "all"; NULL: none. */
static const char *dumped_pass(const nereid_request *r) {
  bool one = r->dump_after && r->on_pass && strcmp(r->dump_after, "all");
  return one ? r->dump_after : NULL;
}

static int lower_body(void *arg) {
  Step *s = arg;
  Unit *u = s->c->unit;
  const char *named = s->r->run_passes, *dumped = dumped_pass(s->r);
  if (!named && lower_level(u) > s->until) return error_set(NEREID_E_USAGE, E_RUN_IR_PAST);
  int code = named ? check_passes(u, named) : 0;
  if (!code && dumped) code = check_passes(u, dumped);
  if (code) return code;
  bool watched = (s->r->dump_after && s->r->on_pass) || log_has(s->c->log, LOG_PASS);
  PassHook hook = watched ? after_pass : NULL;
  bool ok = named ? lower_run_named(u, named, hook, s) : lower_run(u, s->until, hook, s);
  if (!ok || (!named && diag_errors(u->diags))) return NEREID_E_KERNEL;
  if (!dumped || s->dumped) return 0;
  return error_set(NEREID_E_USAGE, E_RUN_PASS_NOT_RUN, dumped, u->machine->name, pass_names(u));
}

int compile_lower(Compilation *c, const nereid_request *r, Level until) {
  Step s = {.c = c, .r = r, .until = until};
  return compile_guard(c, COMPILE_PASSES, lower_body, &s);
}

/* ---- code ---- */

typedef struct {
  Compilation *c;
  nereid_kind kind;
  Code *out;
} Generation;

static int generate_body(void *arg) {
  Generation *g = arg;
  const Unit *u = g->c->unit;
  bool cpu = u->machine->kind == MACHINE_CPU;
  const char *kind = nereid_kind_name(g->kind);
  if (cpu != (g->kind == NEREID_C))
    return error_set(NEREID_E_USAGE, E_RUN_KIND_TARGET, kind, u->machine->name);
  bool ok = (cpu ? c_print : ptx_print)(g->c->arena, u->nest, u->machine, u->diags, g->out);
  return ok && !diag_errors(u->diags) ? 0 : NEREID_E_KERNEL;
}

int compile_generate(Compilation *c, nereid_kind kind, Code *out) {
  *out = (Code){0};
  Generation g = {c, kind, out};
  return compile_guard(c, COMPILE_CODE, generate_body, &g);
}
