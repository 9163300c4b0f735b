/* Names that the text of a kernel does not bind, asked of the caller, as Python does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/nereid.h"
#include "tests/support/calls.h"

/* ---- a caller: scopes are tables ---- */

typedef struct {
  const char *name;
  nereid_name_kind kind;
  const char *text;   /* of definitions: what they are called */
  const char *source; /* of definitions */
  const void *scope;  /* of definitions and scopes */
  int line, column;
  const char *path; /* NULL: "lib.py" */
} Entry;

static int asked, failing;

static int look_up(void *context, const void *scope, const char *name, nereid_name *out) {
  const Entry *const *all = context; /* what every scope has, last */
  asked++;
  if (failing && !strcmp(name, "raises")) return 7;
  const Entry *tables[] = {scope, *all};
  for (int t = 0; t < 2; t++)
    for (const Entry *e = tables[t]; e && e->name; e++) {
      if (strcmp(e->name, name)) continue;
      out->kind = e->kind;
      out->text = e->text;
      out->source.text = e->source;
      out->source.path = e->path ? e->path : "lib.py";
      out->source.scope = e->scope;
      out->source.line = e->line;
      out->source.column = e->column;
      return 0;
    }
  return 0;
}

static const Entry usual[] = {{"tl", NEREID_NAME_VALUE, "triton.language", NULL, NULL, 0, 0, NULL},
                              {"triton", NEREID_NAME_VALUE, "triton", NULL, NULL, 0, 0, NULL},
                              {"math", NEREID_NAME_VALUE, "math", NULL, NULL, 0, 0, NULL},
                              {0}};
static const Entry *const everywhere = usual;

static nereid_source source_of(const char *text, const Entry *scope) {
  return (nereid_source){.path = "app.py",
                         .text = text,
                         .line = 11,
                         .lookup = look_up,
                         .lookup_context = (void *)(uintptr_t)&everywhere,
                         .scope = scope};
}

static int emit(const char *text, const Entry *scope, nereid_arg *args, int nargs, char **out) {
  size_t size;
  nereid_request r = {.source = source_of(text, scope), .args = args, .nargs = nargs};
  asked = 0;
  return nereid_emit(out, &size, &r, NEREID_TILE);
}

/* The kernel, whose asserts are about what it finds, compiles. */
static void accept(const char *text, const Entry *scope) {
  nereid_arg args[] = {{"x", "*fp32", NULL}};
  char *out;
  int code = emit(text, scope, args, 1, &out);
  check_call(!code, text);
  nereid_text_free(out);
}

static void refuse(const char *text, const Entry *scope, int code, const char *message) {
  nereid_arg args[] = {{"x", "*fp32", NULL}};
  char *out;
  X(emit(text, scope, args, 1, &out), code, message);
}

#define VALUE_OF(name, text) \
  { name, NEREID_NAME_VALUE, text, NULL, NULL, 0, 0, NULL }
#define OTHER_OF(name, text) \
  { name, NEREID_NAME_OTHER, text, NULL, NULL, 0, 0, NULL }
#define KERNEL "def k(x):\n    "

/* ---- values ---- */

static void test_values(void) {
  const Entry names[] = {VALUE_OF("N", "128"),
                         VALUE_OF("M", "-3"),
                         VALUE_OF("BIG", "340282366920938463"),
                         VALUE_OF("F", "0.5"),
                         VALUE_OF("P", "'tf32'"),
                         VALUE_OF("T", "(1, None, (2, 'a'))"),
                         VALUE_OF("NO", "None"),
                         VALUE_OF("YES", "True"),
                         VALUE_OF("HALF", "triton.language.float16"),
                         VALUE_OF("BYTE", "nereid.language.core.int8"),
                         VALUE_OF("ld", "triton.language.core.load"),
                         VALUE_OF("C", "triton.language.constexpr(4)"),
                         VALUE_OF("pi", "math.pi"),
                         VALUE_OF("INF", "-math.inf"),
                         VALUE_OF("T32", "torch.float32"),
                         VALUE_OF("nl", "nereid.language"),
                         VALUE_OF("nereid", "nereid"),
                         VALUE_OF("libdevice", "triton.language.extra.cuda.libdevice"),
                         VALUE_OF("range", "triton.language.static_range"),
                         {0}};
  accept(KERNEL "tl.static_assert(N == 128 and M == -3 and F == 0.5 and P == 'tf32')\n", names);
  accept(KERNEL "tl.static_assert(BIG == 340282366920938463)\n", names);
  accept(KERNEL "tl.static_assert(T[0] == 1 and T[1] is None and T[2][1] == 'a')\n", names);
  accept(KERNEL "tl.static_assert(NO is None and YES and HALF == tl.float16)\n", names);
  accept(KERNEL "tl.static_assert(BYTE == tl.int8 and T32 == tl.float32)\n", names);
  accept(KERNEL "tl.static_assert(C + 1 == 5 and 3.14 < pi and INF < -1e300)\n", names);
  accept(KERNEL "tl.store(x, ld(x) + libdevice.exp(nl.load(x)) + tl.math.abs(1.5))\n", names);
  accept(KERNEL "tl.static_assert(nereid.language.float32 == tl.float32)\n", names);
  accept(KERNEL "tl.static_assert(nereid.cdiv(5, 2) == triton.cdiv(5, 2))\n", names);
  /* Another value of a name that Python has too. */
  accept(KERNEL "for i in range(0, 3):\n        tl.static_assert(i < 3)\n", names);
  accept(KERNEL "tl.static_assert(max(1, 2) == 2 and len(T) == 3)\n", names);
  /* An annotation, a default, a cast. */
  accept(
      "def k(x, A: tl.constexpr = N, B: 'tl.constexpr' = C, D=HALF):\n"
      "    tl.static_assert(A == 128 and B == 4 and D == tl.float16)\n",
      names);
}

static void test_imports(void) {
  /* The text's own imports: `nereid` is the language there too. */
  accept(
      "def k(x):\n"
      "    import nereid.language as nl\n"
      "    from nereid.language import float16 as h\n"
      "    nl.static_assert(h == tl.float16)\n",
      NULL);
  accept(
      "import nereid\n"
      "import nereid.language as tl\n"
      "@nereid.jit\n"
      "def k(x, B: tl.constexpr = nereid.next_power_of_2(5)):\n"
      "    tl.static_assert(B == 8)\n",
      usual + 3);
}

/* What the text binds comes first: parameters, variables, its own functions. */
static void test_shadows(void) {
  const Entry names[] = {VALUE_OF("N", "128"),
                         VALUE_OF("x", "3"),
                         OTHER_OF("k", "a list"),
                         OTHER_OF("tl", "a list"),
                         VALUE_OF("L", "triton.language"),
                         VALUE_OF("cx", "triton.language.core.constexpr"),
                         {0}};
  accept(KERNEL "N = 5\n    L.static_assert(N == 5)\n    L.store(x, 1.0)\n", names);
  accept(KERNEL "tl = 3\n    L.static_assert(tl == 3)\n", names);
  accept(
      "def k(x, B: L.constexpr = 2, C: cx = 3):\n"
      "    D: cx = C\n"
      "    L.static_assert(B == 2 and D == 3)\n"
      "    L.zeros((2, D + 1), L.float32)\n",
      names);
  accept("N = 7\ndef k(x):\n    L.static_assert(N == 7)\n", names);
  refuse(KERNEL "tl.store(x, 1.0)\n", names, NEREID_E_KERNEL,
         "app.py:12:5: error: 'tl' is a list, which a kernel can't use\n"
         "        tl.store(x, 1.0)\n"
         "        ^~\n"
         "  hint: pass it to the kernel as an argument, or make it a tl.constexpr\n");
}

/* ---- functions ---- */

static const Entry lib[];
static const Entry closure[] = {
    VALUE_OF("factor", "3"),
    VALUE_OF("by=", "5"),
    VALUE_OF("scaled(7,)", "-1"),
    VALUE_OF("scaled('a\\x27',(1.5,True,None,),by=triton.language.float16,)", "7"),
    {0}};
static const Entry lib[] = {
    VALUE_OF("N", "1"),
    {"twice", NEREID_NAME_JIT, "twice", "def twice(v):\n    return add(v, v) * N\n", lib, 30, 0,
     NULL},
    {"add", NEREID_NAME_JIT, "add", "def add(a, b):\n    return a + b\n", lib, 20, 0, NULL},
    {"even", NEREID_NAME_HOST, "even", "def even(n):\n    return n == 0 or odd(n - N)\n", lib, 40,
     0, NULL},
    {"odd", NEREID_NAME_HOST, "odd", "def odd(n):\n    return n != 0 and even(n - N)\n", lib, 50, 0,
     NULL},
    {"loops", NEREID_NAME_JIT, "loops", "def loops(v):\n    return loops(v)\n", lib, 60, 0, NULL},
    {"scaled", NEREID_NAME_HOST, "scaled",
     "def scaled(n, by=factor):\n    return n * factor * by\n", closure, 70, 4, NULL},
    {"wrong", NEREID_NAME_JIT, "wrong", "def wrong(v):\n    return v +\n", lib, 80, 4, NULL},
    {"fails", NEREID_NAME_JIT, "fails", "def fails(v):\n    return missing(v)\n", lib, 90, 2, NULL},
    {"nothing", NEREID_NAME_JIT, "nothing", "x = 1\n", lib, 95, 0, NULL},
    {0}};

static void test_functions(void) {
  const Entry names[] = {
      VALUE_OF("N", "1000"),
      {"f", NEREID_NAME_JIT, "twice", lib[1].source, lib, 30, 0, NULL},
      {"even", NEREID_NAME_HOST, "even", lib[3].source, lib, 40, 0, NULL},
      {"lib", NEREID_NAME_SCOPE, "lib", NULL, lib, 0, 0, NULL},
      {"two", NEREID_NAME_VALUE, "(twice, (add, N), 'N')", NULL, lib, 0, 0, NULL},
      {0}};
  accept(KERNEL "tl.store(x, f(2.0))\n    tl.static_assert(even(10) and not even(7))\n", names);
  accept(KERNEL "tl.store(x, lib.twice(tl.load(x)))\n    tl.static_assert(lib.N == 1)\n", names);
  accept(KERNEL "tl.static_assert(lib.scaled(2) == 30 and lib.scaled(2, by=1) == 6)\n", names);
  /* Calls that the caller has made. */
  accept(KERNEL
         "tl.static_assert(lib.scaled(7) == -1)\n"
         "    tl.static_assert(lib.scaled(\"a'\", (1.5, True, None), by=tl.float16) == 7)\n",
         names);
  accept(KERNEL "tl.static_assert(lib.twice == f and lib.even == even)\n", names);
  /* An expression with names of its own. */
  accept(KERNEL
         "tl.store(x, two[0](3.0))\n    tl.static_assert(two[1][1] == 1 and two[2] == 'N')\n",
         names);
  /* Each name of a scope is asked for once. */
  accept(KERNEL "for i in tl.static_range(9):\n        tl.store(x, f(2.0) + f(1.0))\n", names);
  check_got(asked == 4, "asked once: tl, f, add, N of lib", names[0].text);
  refuse(KERNEL "lib.loops(1)\n", names, NEREID_E_KERNEL, "*a kernel can't recurse*");
  refuse(KERNEL "lib.fails(1)\n", names, NEREID_E_KERNEL,
         "lib.py:91:14: error: 'missing' is not defined\n"
         "          return missing(v)\n"
         "                 ^~~~~~~\n"
         "app.py:12:5: note: in the call of 'fails' here\n"
         "        lib.fails(1)\n"
         "        ^~~~~~~~~~~~\n");
  refuse(KERNEL "lib.wrong(1)\n", names, NEREID_E_KERNEL,
         "lib.py:81:19: error: *\n            return v +\n                      ^\n*");
  refuse(KERNEL "lib.nothing(1)\n", names, NEREID_E_KERNEL,
         "*the text for 'nothing' does not define 'nothing'\n*");
  refuse(KERNEL "lib.absent(1)\n", names, NEREID_E_KERNEL,
         "app.py:12:*error: 'lib' has no attribute 'absent'\n*");
}

/* A function that was cut out of an indented block; its strings are as in the file. */
static void test_indented(void) {
  const Entry names[] = {{0}};
  nereid_source s = source_of(
      "def k(x):\n"
      "    if True:\n"
      "        y = (1 +\n"
      "  2)\n"
      "    tl.store(x, y + missing)\n"
      "    # the end\n",
      names);
  nereid_arg args[] = {{"x", "*fp32", NULL}};
  nereid_request r = {.source = s, .args = args, .nargs = 1};
  char *out;
  size_t size;
  r.source.column = 8;
  r.source.line = 100;
  X(nereid_emit(&out, &size, &r, NEREID_TILE), NEREID_E_KERNEL,
    "app.py:104:29: error: 'missing' is not defined\n"
    "                tl.store(x, y + missing)\n"
    "                                ^~~~~~~\n");
  r.source.line = -1;
  X(nereid_emit(&out, &size, &r, NEREID_TILE), NEREID_E_USAGE,
    "the text in app.py is said to begin at line -1, column 8: each may be 0 to 16777216");
  r.source.line = 0;
  r.source.column = 1 << 30;
  check_call(nereid_emit(&out, &size, &r, NEREID_TILE) == NEREID_E_USAGE, "column");
}

/* ---- classes ---- */

static const Entry library[];
static const Entry library[] = {
    VALUE_OF("NamedTuple", "typing.NamedTuple"),
    VALUE_OF("aggregate", "triton.language.core._aggregate"),
    VALUE_OF("constexpr", "triton.language.core.constexpr"),
    VALUE_OF("kernel_function", "triton.jit"),
    VALUE_OF("one", "1"),
    {"Base", NEREID_NAME_CLASS, "Base", "class Base(NamedTuple):\n    a: int\n    b: int = one\n",
     library, 5, 0, NULL},
    {"Acc", NEREID_NAME_CLASS, "Acc",
     "class Acc:\n"
     "    value: tl.tensor\n"
     "    n: constexpr\n"
     "    @kernel_function\n"
     "    def more(self, v):\n"
     "        y = 1\n"
     "        return Acc(self.value + v * y, self.n)\n"
     "    @property\n"
     "    def size(self):\n"
     "        return self.n + one\n",
     library, 20, 0, NULL},
    {"Decorated", NEREID_NAME_CLASS, "Decorated",
     "@aggregate\nclass Decorated:\n    n: constexpr\n", library, 40, 0, NULL},
    {0}};

static void test_classes(void) {
  const Entry names[] = {
      {"library", NEREID_NAME_SCOPE, "library", NULL, library, 0, 0, NULL},
      {"Point", NEREID_NAME_CLASS, "Base", library[5].source, library, 5, 0, NULL},
      VALUE_OF("Pair", "collections.namedtuple('Pair', ('u', 'v'))"),
      {"Color", NEREID_NAME_SCOPE, "Color", NULL, library, 0, 0, NULL},
      {0}};
  accept(KERNEL "p = Point(4)\n    tl.static_assert(p.a == 4 and p[1] == 1 and p.b == 1)\n", names);
  accept(KERNEL "p = Pair(u=1, v=2)\n    tl.static_assert(p.u + p[1] == 3)\n", names);
  accept(KERNEL
         "a = library.Acc(tl.load(x), 3).more(2.0)\n"
         "    tl.static_assert(a.size == 4)\n    tl.store(x, a.value)\n",
         names);
  accept(KERNEL "a = library.Decorated(3)\n    tl.static_assert(a.n == 3)\n", names);
  accept(KERNEL "tl.static_assert(Color.one == 1)\n", names);
  refuse(KERNEL "a = library.Acc(tl.load(x), 3)\n    b = a[0]\n", names, NEREID_E_KERNEL, "*");
}

/* ---- arguments ---- */

static void test_arguments(void) {
  const Entry names[] = {{"f", NEREID_NAME_JIT, "add", lib[2].source, lib, 20, 0, NULL},
                         VALUE_OF("T", "(1, triton.language.float16)"),
                         VALUE_OF("<argument 3>", "7"),
                         OTHER_OF("$T", "a bytes"),
                         OTHER_OF("w", "a torch.Tensor"),
                         {"P", NEREID_NAME_CLASS, "Base", library[5].source, library, 5, 0, NULL},
                         {0}};
  static const char text[] =
      "def k(x, F: tl.constexpr, T: tl.constexpr, n, p):\n"
      "    tl.static_assert(T[1] == tl.float16 and p.b == 2)\n"
      "    tl.store(x, F(n, p.a) * 1.0)\n";
  nereid_arg args[] = {{"x", "*fp32", NULL},        {"F", NULL, "fn:f"},
                       {"T", NULL, "name:T"},       {"n", NULL, "name:<argument 3>"},
                       {"p", NULL, "class:P"},      {"p.0", "i32", NULL},
                       {"p.1", NULL, "2:constexpr"}};
  char *out;
  check_call(!emit(text, names, args, 7, &out), "arguments that are names");
  nereid_text_free(out);
  args[2].value = "name:w";
  X(emit(text, names, args, 7, &out), NEREID_E_KERNEL,
    "app.py:11:*error: 'w' is a torch.Tensor, which a kernel can't use\n*");
  args[2].value = "name:$T";
  X(emit(text, names, args, 7, &out), NEREID_E_KERNEL,
    "app.py:11:*error: argument 'T' is a bytes, which a kernel can't use\n*");
  args[2].value = "name:nowhere";
  X(emit(text, names, args, 7, &out), NEREID_E_KERNEL,
    "*the file has no function or class 'nowhere'\n*");
}

/* ---- answers that are no answers ---- */

static void test_failures(void) {
  const Entry names[] = {
      VALUE_OF("bad", "1 +"),
      VALUE_OF("unknown", "triton.language.lode"),
      VALUE_OF("host", "os.path.join"),
      {"kind", (nereid_name_kind)9, "x", NULL, NULL, 0, 0, NULL},
      {"bare", NEREID_NAME_JIT, "bare", NULL, NULL, 0, 0, NULL},
      {"place", NEREID_NAME_JIT, "place", "def place(): pass\n", NULL, -4, 0, NULL},
      {0}};
  refuse(KERNEL "tl.store(x, bad)\n", names, NEREID_E_KERNEL,
         "app.py:12:17: error: the value of 'bad' can't be evaluated: 1 +\n*");
  refuse(KERNEL "unknown(x)\n", names, NEREID_E_KERNEL,
         "app.py:12:5: error: triton.language has no 'lode'\n*did you mean*'load'*");
  refuse(KERNEL "host(x)\n", names, NEREID_E_KERNEL,
         "app.py:12:5: error: 'os.path.join' is not available in a kernel\n*");
  refuse(KERNEL "kind(x)\n", names, NEREID_E_USAGE,
         "the lookup of 'kind' gave a name of kind 9, which does not exist");
  refuse(KERNEL "bare(x)\n", names, NEREID_E_USAGE,
         "the lookup of 'bare' gave a name of kind 3 without its text");
  refuse(KERNEL "place(x)\n", names, NEREID_E_USAGE,
         "the text in lib.py is said to begin at line -4, column 0: *");
  refuse(KERNEL "tl.store(x, n + y)\n    lode(x)\n", names, NEREID_E_KERNEL,
         "*'n' is not defined\n*'y' is not defined\n*'lode' is not defined\n*");
  failing = 1;
  refuse(KERNEL "tl.store(x, raises + y)\n", names, NEREID_E_CALLER,
         "the lookup of 'raises' failed");
  refuse("def k(x, n: raises):\n    pass\n", names, NEREID_E_CALLER,
         "the lookup of 'raises' failed");
  /* Even where the failure of an evaluation does not matter. */
  refuse("def k(x, n=raises):\n    pass\n", names, NEREID_E_CALLER,
         "the lookup of 'raises' failed");
  failing = 0;
}

/* ---- a module of such a text, its other stages, and findings on the interpreter ---- */

static void test_module(void) {
  nereid_module *m;
  nereid_source s = source_of("def k(x, BLOCK: tl.constexpr = N):\n    pass\n", usual);
  if (nereid_module_open(&m, &s, NULL, NULL)) abort();
  const nereid_kernel_info *k = nereid_module_kernel(m, 0);
  check(nereid_module_count(m) == 1 && k && !strcmp(k->name, "k") && k->line == 11, "the kernel");
  check(k && k->params[1].kind == NEREID_PARAM_CONSTEXPR, "its constexpr");
  nereid_module_free(m);
}

static void test_stages(void) {
  nereid_arg args[] = {{"x", "*fp32", NULL}};
  const Entry names[] = {VALUE_OF("N", "4"), {0}}, others[] = {VALUE_OF("N", "5"), {0}};
  static const char text[] = KERNEL "tl.store(x, N * 1.0)\n";
  char *ast = NULL, *ptx = NULL;
  size_t size;
  nereid_request r = {.source = source_of(text, names), .args = args, .nargs = 1};
  check_call(!nereid_emit(&ast, &size, &r, NEREID_AST) && strstr(ast, "func k jit @11:5"),
             "the syntax tree");
  check_call(!nereid_emit(&ptx, &size, &r, NEREID_PTX) && strstr(ptx, "\"app.py\"") &&
                 strstr(ptx, "0f40800000"),
             "PTX");
  nereid_text_free(ast);
  nereid_text_free(ptx);
  /* Another value makes another kernel of the same text. */
  r.source.scope = others;
  check_call(!nereid_emit(&ptx, &size, &r, NEREID_PTX) && strstr(ptx, "0f40A00000"), "PTX of 5");
  nereid_text_free(ptx);
}

static int run_on(const char *device, const char *text, const Entry *scope, void *memory) {
  nereid_device *d;
  nereid_image *image;
  nereid_kernel *k;
  nereid_launch *l;
  nereid_arg args[] = {{"x", "*fp32", NULL}};
  nereid_request r = {.source = source_of(text, scope), .args = args, .nargs = 1};
  void *p;
  if (nereid_device_open(&d, device) || nereid_compile_for(&image, d, &r)) return -100;
  if (nereid_kernel_load(&k, d, image) || nereid_alloc(&p, d, 16)) return -100;
  nereid_image_free(image);
  if (nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1})) return -100;
  if (nereid_launch_set_pointer(l, 0, p)) return -100;
  int code = nereid_launch_run(l, NULL);
  if (!code) code = nereid_device_sync(d);
  if (!code) code = nereid_copy_out(d, memory, p, 16, NULL);
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_free(d, p);
  nereid_device_close(d);
  return code;
}

static void test_runs(void) {
  static const char *const devices[] = {"interp", "nest", "cpu"};
  static const Entry one[] = {VALUE_OF("N", "4"), {0}}, other[] = {VALUE_OF("N", "5"), {0}};
  static const char text[] = KERNEL "tl.store(x + tl.arange(0, 4), N * 1.0)\n";
  static const char past[] = KERNEL "tl.store(x + tl.arange(0, 8), N * 1.0)\n";
  for (int i = 0; i < 3; i++) {
    float a[4] = {0}, b[4] = {0};
    check_call(!run_on(devices[i], text, one, a) && a[3] == 4, devices[i]);
    check_call(!run_on(devices[i], text, other, b) && b[3] == 5, devices[i]);
  }
  /* Lines of another function of the file are shown, too. */
  static const Entry same_file[] = {
      {"put", NEREID_NAME_JIT, "put", "def put(x):\n    tl.store(x + tl.arange(0, 8), 1.0)\n",
       usual, 3, 2, "app.py"},
      {0}};
  check_call(run_on("interp", KERNEL "put(x)\n", same_file, NULL) == NEREID_E_FINDINGS &&
                 strstr(nereid_error_message(), "app.py:4:") &&
                 strstr(nereid_error_message(), "\n          tl.store(x + tl.arange(0, 8), 1.0)\n"),
             nereid_error_message());
  check_call(run_on("interp", past, one, NULL) == NEREID_E_FINDINGS &&
                 strstr(nereid_error_message(), "app.py:12:") &&
                 strstr(nereid_error_message(), "    tl.store(x + tl.arange(0, 8), N * 1.0)\n"),
             nereid_error_message());
}

int main(void) {
  test_values();
  test_imports();
  test_shadows();
  test_functions();
  test_indented();
  test_classes();
  test_arguments();
  test_failures();
  test_module();
  test_stages();
  test_runs();
  return report();
}
