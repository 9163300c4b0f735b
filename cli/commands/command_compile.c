/* nereid compile: the text of any stage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/request.h"
#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/report/explain_page.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "lower/passes.h"
#include "runtime/compile/explain_request.h"

enum { MOST_VALUES = 64 };

enum {
  OPT_EMIT = REQUEST_OPTIONS_END,
  OPT_SIG,
  OPT_DUMP,
  OPT_PASSES,
  OPT_EXPLAIN,
  OPT_HTML,
  OPT_GRID,
  OPT_VALUE,
  OPT_OUTPUT
};

static const Option options[] = {
    {OPT_SIG, "--sig", "NAME=TYPE,...",
     "types of arguments: *fp32, *bf16:16, i32:16, none, (i32,*u8)", .repeats = true},
    REQUEST_OPTIONS,
    {OPT_EMIT, "--emit", "STAGE", "ast, tile, nest, thread, ptx (the default), c or cubin",
     .choices = "ast tile nest thread ptx c cubin"},
    {OPT_DUMP, "--dump-after", "PASS",
     "prints the IR after a pass to stderr: all" KERNEL_PASSES(PASS_LISTED),
     .choices = "all" KERNEL_PASSES(PASS_CHOICE)},
    {OPT_PASSES, "--run-passes", "P1,P2", "applies only these passes and prints the IR"},
    {OPT_EXPLAIN, "--explain", NULL,
     "prints what each line of the source becomes, and what that costs"},
    {OPT_HTML, "--html", "FILE", "writes the explanation as a page, with the texts of all stages"},
    {OPT_GRID, "--grid", "X[,Y[,Z]]",
     "explains a launch of so many programs: expressions such as cdiv(n, BLOCK)"},
    {OPT_VALUE, "--value", "NAME=N", "explains a launch with that integer argument",
     .repeats = true},
    {OPT_OUTPUT, "-o", "PATH", "the output file; standard output is the default"},
    {0},
};

typedef struct {
  Request request;
  const char *emit, *output, *html, *grid;
  bool explains;
  nereid_binding values[MOST_VALUES]; /* names are cut off the command line */
  int nvalues;
} Compile;

/* NAME=N */
static int take_value(Compile *c, const char *pair) {
  const char *eq = strchr(pair, '=');
  char *end = NULL;
  long long v = eq ? strtoll(eq + 1, &end, 0) : 0;
  if (!eq || eq == pair || !eq[1] || *end || c->nvalues == MOST_VALUES)
    return args_error(E_CLI_NAME_VALUE, pair, "N");
  char *name = strndup(pair, (size_t)(eq - pair));
  if (!name) return args_failed(error_out_of_memory());
  c->values[c->nvalues++] = (nereid_binding){name, v};
  return STATUS_OK;
}

static int take_compile_option(Compile *c, int id, const char *value) {
  switch (id) {
    case OPT_SIG: return request_signature(&c->request, value);
    case OPT_EMIT: c->emit = value; return STATUS_OK;
    case OPT_DUMP: c->request.api.dump_after = value; return STATUS_OK;
    case OPT_PASSES: c->request.api.run_passes = value; return STATUS_OK;
    case OPT_EXPLAIN: c->explains = true; return STATUS_OK;
    case OPT_HTML: c->html = value; return STATUS_OK;
    case OPT_GRID: c->grid = value; return STATUS_OK;
    case OPT_VALUE: return take_value(c, value);
    case OPT_OUTPUT:
      if (!*value) return args_error(E_CLI_OPTION_VALUE, "-o", "-o", "PATH");
      c->output = value;
      return STATUS_OK;
    case ARGS_POSITIONAL: return request_file(&c->request, value);
    default: return request_option(&c->request, id, value);
  }
}

static int find_kind(nereid_kind *out, const char *name) {
  const char *names[NEREID_KIND_COUNT];
  for (int i = 0; i < NEREID_KIND_COUNT; i++) {
    names[i] = nereid_kind_name((nereid_kind)i);
    *out = (nereid_kind)i;
    if (!strcmp(names[i], name)) return STATUS_OK;
  }
  char hint[64];
  return args_error(E_CLI_EMIT, name,
                    error_suggest(hint, sizeof hint, name, names, NEREID_KIND_COUNT));
}

static int compile_kernel(Compile *c) {
  nereid_kind kind;
  char *text;
  size_t size;
  int status = find_kind(&kind, c->emit);
  if (status) return status;
  Progress *p = progress_start("compiling", c->request.file);
  int code = nereid_emit(&text, &size, &c->request.api, kind);
  progress_stop(p);
  if (code) return args_failed(code);
  status = output_write(c->output, text, size);
  nereid_text_free(text);
  return status;
}

/* ---- --explain ---- */

static void show_text(Text *out, const Explained *e) { explanation_print(out, e->explanation); }

/* Grids may name constexprs, too. */
static int bind_launch(const Compile *c, EstimateLaunch *l, nereid_binding *names) {
  const nereid_request *r = &c->request.api;
  static const Arguments none;
  memcpy(names, c->values, (size_t)c->nvalues * sizeof *names);
  l->nints = c->nvalues + arguments_bind(names + c->nvalues, &none, r);
  l->ints = names;
  return c->grid ? arguments_grid(l->grid, c->grid, l->ints, l->nints) : 0;
}

static int explain(const Compile *c) {
  DevicePeaks peaks;
  EstimateLaunch l = {.request = &c->request.api, .peaks = &peaks};
  size_t size, n = (size_t)(c->nvalues + c->request.api.nargs) + 1;
  nereid_binding *names = calloc(n, sizeof *names);
  char *text;
  if (!names) return args_failed(error_out_of_memory());
  estimate_peaks(&peaks, c->request.api.target);
  int code = bind_launch(c, &l, names);
  if (!code) code = explain_kernel(&l, c->html ? explain_page : show_text, &text, &size);
  free(names);
  if (code) return args_failed(code);
  int status = output_write(c->html ? c->html : c->output, text, size);
  nereid_text_free(text);
  return status;
}

static int run_compile(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Compile c = {.emit = "ptx"};
  c.request.api.on_pass = output_pass;
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take_compile_option(&c, id, value);
  bool explains = c.explains || c.html;
  if (status == STATUS_OK && !explains && (c.grid || c.nvalues))
    status = args_error(E_CLI_LAUNCH, c.grid ? "--grid" : "--value");
  if (status == STATUS_OK) status = request_finish(&c.request);
  if (status == STATUS_OK) status = explains ? explain(&c) : compile_kernel(&c);
  for (int i = 0; i < c.nvalues; i++) free((char *)c.values[i].name);
  request_free(&c.request);
  return status;
}

static const Operand operands[] = {OPERAND_KERNEL, {0}};

const Command command_compile = {
    "compile",
    "FILE[:KERNEL] --sig NAME=TYPE,... [-D NAME=VALUE]... [OPTION]...",
    "Compiles a kernel and prints its code at any stage.",
    options,
    run_compile,
    operands,
};
