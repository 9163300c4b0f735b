/* nereid compile: the text of any stage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/request.h"
#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "lower/passes.h"

enum { OPT_EMIT = REQUEST_OPTIONS_END, OPT_SIG, OPT_DUMP, OPT_PASSES, OPT_OUTPUT };

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
    {OPT_OUTPUT, "-o", "PATH", "the output file; standard output is the default"},
    {0},
};

typedef struct {
  Request request;
  const char *emit, *output;
} Compile;

static int take_compile_option(Compile *c, int id, const char *value) {
  switch (id) {
    case OPT_SIG: return request_signature(&c->request, value);
    case OPT_EMIT: c->emit = value; return STATUS_OK;
    case OPT_DUMP: c->request.api.dump_after = value; return STATUS_OK;
    case OPT_PASSES: c->request.api.run_passes = value; return STATUS_OK;
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

static int run_compile(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Compile c = {.emit = "ptx"};
  c.request.api.on_pass = output_pass;
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take_compile_option(&c, id, value);
  if (status == STATUS_OK) status = request_finish(&c.request);
  if (status == STATUS_OK) status = compile_kernel(&c);
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
