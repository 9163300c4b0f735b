/* From a compilation to an image. */
#include <stdlib.h>
#include <string.h>

#include "lower/analysis/lone_programs.h"
#include "lower/analysis/pointer_bounds.h"
#include "lower/analysis/writes.h"
#include "lower/cost/launch_code.h"
#include "runtime/compile/compilation.h"
#include "runtime/device/assembler.h"
#include "runtime/device/device.h"
#include "runtime/image/image.h"
#include "runtime/messages.h"
#include "runtime/support/parallel.h"

/* A parameter of the compiled kernel, tile or nest. */
typedef struct {
  Name name;
  Type type;
  uint32_t arg;
  int64_t div;
} Taken;

typedef struct {
  Compilation *c;
  nereid_kind kind;
  Taken *taken;
  uint32_t ntaken;
  ImageParam *params;
  uint32_t nparams;
  const KernelInput *inputs;
  uint32_t ninputs;
  uint32_t *from; /* of each taken one: which param it is */
  ImageVariant variant;
  char *assembled; /* malloc'ed cubin */
  bool as_written; /* IR text that is at the wanted stage already */
  bool source;     /* is in memory: no file has its lines */
} Maker;

static Taken taken_at(const Unit *u, uint32_t i) {
  if (!u->nest) {
    const TileParam *p = &u->tile->params[i];
    return (Taken){p->value->name, p->value->type, p->arg, p->div};
  }
  const NestVar *v = u->nest->params[i];
  Type type = v->dtype == DT_PTR ? type_ptr(v->elem) : type_scalar(v->dtype);
  return (Taken){v->name, type, v->arg, v->div};
}

static void read_taken(Maker *m) {
  const Unit *u = m->c->unit;
  m->ntaken = u->nest ? u->nest->nparams : u->tile->nparams;
  m->taken = ARENA_ARRAY(m->c->arena, Taken, m->ntaken);
  for (uint32_t i = 0; i < m->ntaken; i++) {
    m->taken[i] = taken_at(u, i);
    if (m->taken[i].name && *m->taken[i].name == '%') m->taken[i].name++;
    if (!m->taken[i].name) m->taken[i].name = arena_printf(m->c->arena, "p%u", i);
  }
}

/* The one that comes from a declared parameter; ntaken if the kernel takes none. */
static uint32_t taken_of_arg(const Maker *m, uint32_t arg) {
  uint32_t i = 0;
  while (i < m->ntaken && m->taken[i].arg != arg) i++;
  return i;
}

static void add_param(Maker *m, const char *name, Type type) {
  m->params[m->nparams++] = (ImageParam){.name = name, .type = type};
}

/* The run-time parameters: of source, those that were given a type, or that the kernel takes
 * nevertheless; of IR text, what it takes. */
static void find_params(Maker *m) {
  const Compilation *c = m->c;
  uint32_t n = 0;
  if (c->kernel) n = m->ninputs = sema_inputs(c->arena, c->kernel, c->args, c->nargs, &m->inputs);
  const KernelInput *in = m->inputs;
  m->params = ARENA_ARRAY(c->arena, ImageParam, (size_t)n + m->ntaken);
  m->from = ARENA_ARRAY(c->arena, uint32_t, m->ntaken);
  for (uint32_t i = 0; !c->kernel && i < m->ntaken; i++) {
    m->from[i] = i;
    add_param(m, m->taken[i].name, m->taken[i].type);
  }
  for (uint32_t i = 0; i < n; i++) {
    const KernelArg *a = in[i].arg;
    uint32_t t = taken_of_arg(m, i);
    if (t < m->ntaken) m->from[t] = m->nparams;
    if (t < m->ntaken) add_param(m, in[i].name, m->taken[t].type);
    else if (a && (a->kind == ARG_TYPE || a->kind == ARG_ONE)) add_param(m, in[i].name, a->type);
  }
}

static void mark_written_params(Maker *m) {
  bool *written = ARENA_ARRAY(m->c->arena, bool, m->ntaken);
  lower_written(m->c->unit, written);
  for (uint32_t i = 0; i < m->ntaken; i++)
    if (written[i]) m->params[m->from[i]].written = true;
}

/* Facts that the kernel was specialized on must hold at every launch. */
static void add_guards(Maker *m) {
  Arena *a = m->c->arena;
  ImageVariant *v = &m->variant;
  v->guards = ARENA_ARRAY(a, IntExpr, (size_t)m->ntaken + m->ninputs);
  for (uint32_t i = 0; i < m->ntaken; i++) {
    const char *name = m->params[m->from[i]].name;
    long long div = m->taken[i].div;
    if (div > 1) v->guards[v->nguards++].text = arena_printf(a, "%s %% %lld == 0", name, div);
  }
  for (uint32_t i = 0; i < m->ninputs; i++)
    if (m->inputs[i].arg && m->inputs[i].arg->kind == ARG_ONE)
      v->guards[v->nguards++].text = arena_printf(a, "%s == 1", m->inputs[i].name);
}

/* On a CPU, where an access outside of an array is no error of its own. */
static void add_certain_reach(Maker *m) {
  const Unit *u = m->c->unit;
  if (!u->tile || m->kind != NEREID_C) return;
  Arena *a = m->c->arena;
  const char **names = ARENA_ARRAY(a, const char *, m->ntaken + 1);
  const char **texts = ARENA_ARRAY(a, const char *, m->ntaken + 1);
  for (uint32_t i = 0; i < m->ntaken; i++) names[i] = m->params[m->from[i]].name;
  certain_reach(texts, u->tile, names, a);
  m->variant.certain = ARENA_ARRAY(a, IntExpr, m->nparams + 1);
  for (uint32_t i = 0; i < m->ntaken; i++) m->variant.certain[m->from[i]].text = texts[i];
}

/* A product of boxes, of which a multiprocessor has one program at a time: with others beside it,
 * they fill the time between two. */
static bool may_loop(const Unit *u) {
  const Nest *n = u->nest;
  return n->nmaps && n->shared_bytes > u->machine->shared / 2 && !u->tile->options.pdl &&
         has_lone_programs(u->tile) && stores_narrow(u->tile);
}

/* Other code for launches of few programs, and of many. */
static void add_by_programs(Maker *m, const char *turns) {
  const Unit *u = m->c->unit;
  if (!turns || m->kind < NEREID_PTX || !machine_has(u->machine, HAS_ASYNC_PROXY)) return;
  m->variant.deep = launch_deep_stages(m->c->arena, u);
  m->variant.loops = may_loop(u);
  if (m->variant.deep || m->variant.loops) m->variant.turns.text = turns;
}

/* The runtime alias check of accesses that a pass has reordered, and the kernel from which one that
 * keeps their order is compiled where it fails. */
static void add_alias_check(Maker *m) {
  const Unit *u = m->c->unit;
  const Nest *n = u->nest;
  if (!n || (!n->nnoalias && !n->nmaps)) return;
  Arena *a = m->c->arena;
  ImageVariant *v = &m->variant;
  v->noalias = ARENA_ARRAY(a, ImageNoAlias, n->nnoalias);
  for (uint32_t i = 0; i < n->nnoalias; i++) {
    const NoAlias *x = &n->noalias[i];
    uint32_t p = taken_of_arg(m, x->a->arg), q = taken_of_arg(m, x->b->arg);
    v->noalias[v->nnoalias++] = (ImageNoAlias){(int)m->from[p], (int)m->from[q], x->or_same};
  }
  if (!u->tile) return;
  const char **names = ARENA_ARRAY(a, const char *, m->ntaken);
  const char **bounds = ARENA_ARRAY(a, const char *, m->ntaken);
  for (uint32_t i = 0; i < m->ntaken; i++) names[i] = m->params[m->from[i]].name;
  pointer_bounds(bounds, u->tile, names, a);
  add_by_programs(m, product_turns(u->tile, names, a));
  v->bounds = ARENA_ARRAY(a, IntExpr, m->nparams);
  for (uint32_t i = 0; i < m->ntaken; i++) v->bounds[m->from[i]].text = bounds[i];
  Text text = lower_ordered_text(u);
  v->ordered = text.data;
  v->ordered_size = text.len;
}

/* A brief kernel of a CPU may be interpreted where it runs once. */
static void add_interpreted(Maker *m) {
  const Unit *u = m->c->unit;
  ImageVariant *v = &m->variant;
  if (v->ordered || !u->tile || m->kind != NEREID_C) return;
  if (c_program_ns(v->code) > INTERPRETED_NS) return;
  Text text = lower_ordered_text(u);
  v->ordered = text.data;
  v->ordered_size = text.len;
}

static IntExpr launch_value(const Maker *m, const LaunchValue *v) {
  Arena *a = m->c->arena;
  if (!v->param) return (IntExpr){.text = arena_printf(a, "%lld", (long long)v->scale)};
  const char *name = m->params[m->from[taken_of_arg(m, v->param->arg)]].name;
  return (IntExpr){.text = arena_printf(a, "%lld * %s", (long long)v->scale, name)};
}

/* Interpreters read maps from the text. */
static void add_maps(Maker *m) {
  const Nest *n = m->c->unit->nest;
  ImageVariant *v = &m->variant;
  if (!n || m->kind < NEREID_PTX) return;
  for (uint32_t i = 0; i < n->nmaps; i++) {
    const TensorMap *from = n->maps[i];
    ImageMap *map = ARENA_NEW(m->c->arena, ImageMap);
    *map = (ImageMap){.bytes = (int)dtype_bytes(from->dtype), .rank = from->rank};
    for (int k = 0; k < from->rank; k++) {
      map->box[k] = from->axes[k].box;
      map->extent[k] = launch_value(m, &from->axes[k].extent);
      map->stride[k] = launch_value(m, &from->axes[k].stride);
    }
    while (map->nnatural < MAX_NATURAL && from->natural[map->nnatural]) {
      uint32_t taken = taken_of_arg(m, from->natural[map->nnatural]->arg);
      map->natural[map->nnatural++] = (int)m->from[taken];
    }
    v->slots[v->nslots++] = (ImageSlot){
        .kind = SLOT_MAP, .param = (int)m->from[taken_of_arg(m, from->base->arg)], .map = map};
  }
}

static void add_slots(Maker *m) {
  ImageVariant *v = &m->variant;
  const Nest *n = m->c->unit->nest;
  v->slots = ARENA_ARRAY(m->c->arena, ImageSlot, m->ntaken + (n ? n->nmaps : 0));
  v->nslots = (int)m->ntaken;
  for (uint32_t i = 0; i < m->ntaken; i++)
    v->slots[i] = (ImageSlot){.kind = SLOT_ARG, .param = (int)m->from[i]};
  add_maps(m);
}

static int describe_interface(void *arg) {
  Maker *m = arg;
  read_taken(m);
  find_params(m);
  mark_written_params(m);
  add_guards(m);
  add_slots(m);
  add_certain_reach(m);
  add_alias_check(m);
  add_interpreted(m);
  return 0;
}

/* The user's text of this kernel, with all others in the file as blanks: places stay true. */
static char *text_as_written(Arena *a, const Source *s, const Unit *u) {
  char *text = arena_strndup(a, s->text, s->len);
  for (size_t i = 0; i < s->len; i++)
    if ((i < u->begin || i >= u->end) && text[i] != '\n') text[i] = ' ';
  return text;
}

/* The next line of [*at, end), with its line end. */
static size_t take_line(const char **at, const char *end) {
  const char *stop = memchr(*at, '\n', (size_t)(end - *at));
  size_t len = (size_t)((stop ? stop + 1 : end) - *at);
  *at += len;
  return len;
}

static bool is_blank(const char *s, size_t n) {
  while (n && (*s == ' ' || *s == '\n')) s++, n--;
  return n == 0;
}

/* Two parts of one file, each with empty lines where the other has text. */
static Text join_parts(Arena *a, const Text *x, const Source *y) {
  Text out = text_new(a);
  const char *p = x->data, *q = y->text, *p_end = p + x->len, *q_end = q + y->len;
  while (p < p_end || q < q_end) {
    size_t n = take_line(&p, p_end), m = take_line(&q, q_end);
    bool other = m && is_blank(p - n, n);
    text_putn(&out, other ? q - m : p - n, other ? m : n);
  }
  return out;
}

/* The kernel's file, as far as functions of it were read. */
static void attach_source(Maker *m) {
  const Diags *d = m->c->diags;
  const Source *s = diag_file(d, 1);
  Text all = {.arena = m->c->arena, .data = (char *)(uintptr_t)s->text, .len = s->len};
  for (uint32_t i = 2; i <= diag_file_count(d); i++) {
    const Source *part = diag_file(d, i);
    if (part->text && !strcmp(part->name, s->name)) all = join_parts(m->c->arena, &all, part);
  }
  m->variant.source_name = s->name;
  m->variant.source = all.data;
  m->variant.source_size = all.len;
}

/* The unit as text: as the user wrote it, or printed. */
static int print_code_body(void *arg) {
  Maker *m = arg;
  const Unit *u = m->c->unit;
  const Source *written = m->as_written ? diag_file(m->c->diags, m->c->units.file) : NULL;
  Text text = text_new(m->c->arena);
  if (!written) lower_print(&text, u);
  m->variant.code = written ? text_as_written(m->c->arena, written, u) : text.data;
  m->variant.size = written ? written->len : text.len;
  m->variant.file = written ? written->name : NULL;
  if (m->source && !written) attach_source(m);
  m->variant.entry = u->nest ? u->nest->name : u->tile->name;
  m->variant.threads = u->nest ? u->nest->warps * u->nest->lanes : 0;
  m->variant.shared = u->nest ? u->nest->shared_bytes : 0;
  return 0;
}

static int generate(Maker *m, const nereid_request *r) {
  Code code;
  bool cubin = m->kind == NEREID_CUBIN;
  int status = compile_generate(m->c, cubin ? NEREID_PTX : m->kind, &code);
  if (status) return status;
  ImageVariant *v = &m->variant;
  *v = (ImageVariant){.entry = code.entry,
                      .code = code.text,
                      .size = code.len,
                      .threads = code.threads,
                      .cluster = code.cluster,
                      .shared = code.shared_bytes};
  if (!cubin) return 0;
  status = cubin_assemble(&m->assembled, &v->size, code.text, code.len, m->c->unit->machine->name,
                          r->on_message, r->context);
  v->code = m->assembled;
  return status;
}

static Level stage_of(nereid_kind kind) {
  return kind == NEREID_TILE ? LEVEL_TILE : kind == NEREID_NEST ? LEVEL_NEST : LEVEL_THREAD;
}

static int lower_to_kind(Maker *m, const nereid_request *r) {
  int code = compile_specialize(m->c, r);
  /* The reference interpreter runs what sema made, before any pass. */
  if (!code && m->kind == NEREID_TILE && m->c->unit->nest)
    return error_set(NEREID_E_USAGE, E_RUN_IR_PAST);
  /* An image of threads is for the interpreter; emit.c prints what codegen gets. */
  if (!code && m->kind == NEREID_THREAD && m->c->unit->tile)
    m->c->unit->tile->options.checked = true;
  m->as_written = !code && m->c->from_ir && lower_level(m->c->unit) == stage_of(m->kind);
  if (!code && m->kind != NEREID_TILE) {
    code = compile_lower(m->c, r, stage_of(m->kind));
  }
  if (code) return code;
  bool text = m->kind <= NEREID_THREAD;
  return text ? compile_guard(m->c, COMPILE_CODE, print_code_body, m) : generate(m, r);
}

static int make_image(nereid_image **out, Maker *m, const nereid_request *r) {
  if (m->kind <= NEREID_AST || m->kind >= NEREID_KIND_COUNT)
    return error_set(NEREID_E_USAGE, E_RUN_UNKNOWN_KIND, (int)m->kind);
  int code = lower_to_kind(m, r);
  if (!code) code = compile_guard(m->c, COMPILE_CODE, describe_interface, m);
  if (code) return code;
  const Unit *u = m->c->unit;
  m->variant.kind = m->kind;
  m->variant.target = u->nest ? u->nest->options.target : u->tile->options.target;
  Name name = m->c->kernel ? m->c->kernel->name : u->nest ? u->nest->name : u->tile->name;
  code = image_new(out, name, m->params, (int)m->nparams);
  if (!code) code = image_add_variant(*out, &m->variant, true);
  return code;
}

static int compile_to_image(nereid_image **out, const nereid_request *r, nereid_kind kind,
                            const char *preferred) {
  *out = NULL;
  Compilation c;
  Maker m = {.c = &c, .kind = kind, .source = r->source.text};
  nereid_request plain = *r;
  plain.run_passes = NULL;
  int code = compile_check(r);
  if (code) return code;
  code = compile_open(&c, &r->source, false);
  c.preferred = preferred;
  if (!code) code = make_image(out, &m, &plain);
  code = compile_report(&c, code, r->on_message, r->context);
  compile_close(&c);
  free(m.assembled);
  if (code) {
    nereid_image_free(*out);
    *out = NULL;
  }
  return code;
}

int nereid_compile(nereid_image **out, const nereid_request *r, nereid_kind kind) {
  REQUIRE_OUT(out);
  REQUIRE(r);
  return compile_to_image(out, r, kind, NULL);
}

int nereid_compile_for(nereid_image **out, const nereid_device *d, const nereid_request *r) {
  REQUIRE_OUT(out);
  REQUIRE(d);
  REQUIRE(r);
  return compile_to_image(out, r, device_kind(d), device_target(d));
}

/* ---- many ---- */

typedef struct {
  nereid_compiled *out;
  const nereid_device *device;
  const nereid_request *requests;
} Many;

static void compile_one_of(void *context, size_t i) {
  const Many *m = context;
  nereid_compiled *out = &m->out[i];
  out->code = nereid_compile_for(&out->image, m->device, &m->requests[i]);
  if (out->code) out->message = strdup(nereid_error_message());
}

int nereid_compile_all(nereid_compiled *out, const nereid_device *d, const nereid_request *requests,
                       int n) {
  if (n) REQUIRE(out);
  for (int i = 0; i < n; i++) out[i] = (nereid_compiled){0};
  REQUIRE(d);
  if (n) REQUIRE(requests);
  if (n > 0) parallel_for((size_t)n, compile_one_of, &(Many){out, d, requests});
  return 0;
}
