/* Kernel files: lexer, grammar and sema, and then all that a compiled kernel goes through.
 *
 * Types and constexprs come from the text itself: `--sig a=TYPE,...` and `-D NAME=VALUE` anywhere
 * in it, as golden tests have them in their first line.  What nothing is said about is a pointer
 * if it is named *_ptr, else an i32, or 16 if it is a constexpr. */
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compilation.h"
#include "runtime/launch/decorators.h"
#include "tests/fuzz/common/fuzz.h"
#include "tests/fuzz/common/pipeline.h"

static const char *const corpus[] = {"tests/fuzz/source/*",        "examples/kernels/*.py",
                                     "tests/codegen/*.py",         "tests/codegen/*/*.py",
                                     "tests/sema/constructs/*.py", "tests/parser/syntax/*.py",
                                     "tests/sema/errors/*.py",     "tests/lower/errors/*.py",
                                     "lang/std/*.py",              "bench/tune_kernels/*.py",
                                     "tests/conformance/std/*.py", "tests/sema/autotune/*.py",
                                     NULL};
static const char *const words[] = {"def f(x):\n",
                                    "return ",
                                    "if ",
                                    "elif ",
                                    "else:\n",
                                    "for i in range(",
                                    "while ",
                                    "lambda x: ",
                                    "tl.load(",
                                    "tl.store(",
                                    "tl.arange(0, 16)",
                                    "tl.program_id(0)",
                                    "tl.dot(",
                                    "tl.sum(",
                                    "tl.where(",
                                    "tl.constexpr",
                                    "tl.static_range(",
                                    "tl.full((16,), 1, tl.float32)",
                                    "tl.zeros((16, 16), tl.float16)",
                                    "tl.reshape(",
                                    "tl.trans(",
                                    "tl.sort(",
                                    "tl.associative_scan(",
                                    "tl.reduce(",
                                    "tl.atomic_add(",
                                    "tl.make_block_ptr(",
                                    "tl.advance(",
                                    ".to(tl.float16)",
                                    "[:, None]",
                                    "[None, :]",
                                    "[0]",
                                    "mask=",
                                    "other=0.0",
                                    "axis=",
                                    "@triton.jit\n",
                                    "@triton.autotune(configs=[], key=[])\n",
                                    "import triton\n",
                                    "from . import x\n",
                                    "\"\"\"",
                                    "'''",
                                    "f\"{x}\"",
                                    "\\\n",
                                    "\n    ",
                                    "\n        ",
                                    "\t",
                                    "#",
                                    "*args",
                                    "**kw",
                                    "->",
                                    ":=",
                                    "...",
                                    "None",
                                    "True",
                                    "(",
                                    ")",
                                    "[",
                                    "]",
                                    "{",
                                    "}",
                                    ":",
                                    ",",
                                    "=",
                                    "==",
                                    "<",
                                    ">>",
                                    "//",
                                    "%",
                                    "@",
                                    "~",
                                    "not ",
                                    " and ",
                                    " or ",
                                    " is None",
                                    " in ",
                                    "0x",
                                    "1e400",
                                    "1_0",
                                    "1j",
                                    "99999999999999999999",
                                    "-1",
                                    "x",
                                    "break\n",
                                    "continue\n",
                                    "pass\n",
                                    "match x:\n",
                                    "class A:\n",
                                    "assert ",
                                    "del x\n",
                                    "global x\n",
                                    "with a:\n",
                                    "try:\n",
                                    "except:\n",
                                    "async ",
                                    "await ",
                                    "yield ",
                                    "\xef\xbb\xbf",
                                    "\xc3\xa9",
                                    "\r\n",
                                    "\f",
                                    "--sig x=*fp16,n=i64",
                                    "-D BLOCK=64",
                                    "triton.Config({",
                                    "@triton.autotune([",
                                    "@triton.heuristics({",
                                    "lambda args: ",
                                    ".append(",
                                    NULL};

const FuzzTarget fuzz_target = {"source", corpus, words, 10000, 150};

enum { MOST_ARGS = 64, MOST_KERNELS = 3 };

typedef struct {
  Arena *arena;
  nereid_arg args[MOST_ARGS];
  int n;
} Signature;

static const char *find(const char *text, size_t size, const char *what) {
  return memmem(text, size, what, strlen(what));
}

/* NAME=TEXT, up to a comma or white space. */
static const char *take_pair(Signature *s, const char *at, const char *stops, bool type) {
  size_t name = strcspn(at, "= \n"), rest = at[name] == '=' ? strcspn(at + name + 1, stops) : 0;
  if (rest && s->n < MOST_ARGS) {
    nereid_arg *arg = &s->args[s->n++];
    const char *text = arena_strndup(s->arena, at + name + 1, rest);
    arg->name = arena_strndup(s->arena, at, name);
    *(type ? &arg->type : &arg->value) = text;
  }
  at += name + (at[name] == '=') + rest;
  return *at == ',' ? at + 1 : NULL;
}

static void read_signature(Signature *s, const char *text) {
  const char *at = strstr(text, "--sig ");
  for (at = at ? at + 6 : NULL; at;) at = take_pair(s, at, ", \n", true);
  for (at = text; (at = strstr(at, "-D ")); at += 3) take_pair(s, at + 3, " \n", false);
}

/* The given arguments that this kernel has, and a default for each other parameter. */
static int arguments_of(nereid_arg *out, const Signature *s, const Kernel *k) {
  int n = 0;
  for (uint32_t i = 0; i < k->nparams && n < MOST_ARGS; i++) {
    const KernelParam *p = &k->params[i];
    nereid_arg arg = {.name = p->name};
    for (int j = 0; j < s->n; j++)
      if (!strcmp(s->args[j].name, p->name)) arg = s->args[j];
    size_t len = strlen(p->name);
    bool pointer = len > 3 && !strcmp(p->name + len - 4, "_ptr");
    bool given = arg.type || arg.value;
    if (!given && p->has_default) continue;
    if (!given && p->kind == KP_CONSTEXPR) arg.value = "16";
    else if (!given) arg.type = pointer ? "*fp32:16" : "i32";
    out[n++] = arg;
  }
  return n;
}

/* What the file says of configurations, and what is derived where it says nothing. */
static void list_configs(const nereid_request *of) {
  Decorators *d;
  DecoratorSpace space;
  Config c;
  nereid_arg args[MOST_ARGS];
  nereid_request r = *of;
  r.args = args;
  r.nargs = 0;
  for (int i = 0; i < of->nargs; i++) /* constexprs are to be chosen */
    if (of->args[i].type) args[r.nargs++] = of->args[i];
  if (decorators_open(&d, &r, NULL, 0, NULL)) return;
  if (!decorators_space(&space, d))
    for (size_t i = 0; i < space.configs.len && i < 4; i++)
      decorators_complete(&c, d, &space.configs.data[i]);
  decorators_free(d);
}

static void compile_one(const nereid_source *source, const Signature *s, uint32_t which) {
  Compilation c;
  nereid_arg args[MOST_ARGS];
  if (!compile_open(&c, source, false) && c.program) {
    const Kernel *kernels;
    uint32_t n = sema_kernels(c.program, &kernels);
    nereid_request r = {.source = *source, .args = args};
    if (which < n) {
      r.kernel = kernels[which].name;
      r.nargs = arguments_of(args, s, &kernels[which]);
      list_configs(&r);
      int code = compile_specialize(&c, &r);
      if (code) compile_report(&c, code, NULL, NULL);
      else fuzz_unit(c.unit);
    }
  }
  compile_close(&c);
}

static void compile_source(Arena *a, const uint8_t *data, size_t size) {
  char *out;
  size_t len;
  const char *text = arena_strndup(a, (const char *)data, size);
  nereid_source source = {.path = "fuzz.py", .text = text, .size = size};
  nereid_request r = {.source = source};
  if (find(text, size, "kernel @") || find(text, size, "nest @")) return;
  nereid_emit(&out, &len, &r, NEREID_AST);
  nereid_text_free(out);
  Signature s = {.arena = a};
  read_signature(&s, text);
  for (uint32_t i = 0; i < MOST_KERNELS; i++) compile_one(&source, &s, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_in_arena(compile_source, data, size);
  return 0;
}
