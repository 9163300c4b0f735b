/* The parser against texts that no golden file should hold: nesting of any depth, mutations of the
 * files in tests/parser/syntax/, and a file that is too big.
 * `parse [ROUNDS [SEED [FOLDER]]]` makes that many mutations of each file; `make stress` runs it
 * with sanitizers. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ast.h"
#include "tests/support/tally.h"

enum { LONGEST = 40000, MUTATIONS = 4, REPEAT = 50000 };

/* What parsing `text` prints: messages, or "" if there are none.  The tree is printed too. */
static char *messages(Arena *a, const char *text, size_t len) {
  Pool *names = pool_new(a);
  Diags *d = diags_new(a);
  Module *m = parse(a, names, d, diag_source(d, "f.py", text, len));
  Text tree = text_new(a), out = text_new(a);
  ast_print(&tree, m);
  diag_print(d, &out);
  return out.data;
}

/* ---- expressions as text ---- */

/* These are printed as they are written. */
static const char *const exprs[] = {
    "a + b * c",
    "(a + b) * c",
    "a - (b - c)",
    "-a ** -b",
    "(-a) ** b",
    "(a ** b) ** c",
    "not (a or b) and c",
    "a < b <= c",
    "(a < b) < c",
    "a if b else c",
    "(a if b else c) if d else e",
    "lambda x, *y, z=1, **w: x + 1",
    "f(a, *b, k=lambda: 0, **c)",
    "f(x for x in y if z)",
    "[(x, y) for (x,) in z]",
    "{a: b, **c}",
    "{a, *b}",
    "x[a:b, ::c, ..., None]",
    "x[(a + b).c:]",
    "(1).real + (1.5).real",
    "(x := 3) + 1",
    "f\"a{b!r:>{c}}{{}}\"",
    "\"\\\"\\n\\x00\"",
    "1e+30 + 0.1",
    "()",
    "(a,)",
};

static void test_exprs(void) {
  for (size_t i = 0; i < sizeof exprs / sizeof *exprs; i++) {
    Arena *a = arena_new();
    Diags *d = diags_new(a);
    uint32_t file = diag_source(d, "f.py", exprs[i], strlen(exprs[i]));
    Module *m = parse(a, pool_new(a), d, file);
    Text out = text_new(a);
    if (m->body.len == 1 && m->body.data[0]->value) ast_print_expr(&out, m->body.data[0]->value);
    check(!strcmp(out.data, exprs[i]), out.data);
    arena_free(a);
  }
}

/* ---- depth ---- */

/* `head`, `many` REPEAT times, `tail`; and what the message must hold. */
static const struct {
  const char *head, *many, *tail, *message;
} deep[] = {
    {"x = ", "(", "1", "more than 200 brackets"},
    {"x = ", "[{(", "", "more than 200 brackets"},
    {"x = ", "f\"{", "", "more than 200 brackets"},
    {"x = f\"", "{a:", "", "more than 200 brackets"},
    {"x = ", "-", "1", "nested too deep"},
    {"x = ", "not ", "1", "nested too deep"},
    {"x = ", "lambda:", "1", "nested too deep"},
    {"x = ", "a if b else ", "1", "nested too deep"},
    {"x = ", "a ** ", "1", "nested too deep"},
    {"x = ", "a + ", "1", "nested too deep"},
    {"x = a", ".b", "", "nested too deep"},
    {"x = a", "()", "", "nested too deep"},
    {"x = a", "[0]", "", "nested too deep"},
    {"if a: pass\n", "  elif a: pass\n", "", "nested too deep"},
    {"x = ", "a < ", "1", ""},
    {"x = ", "a or ", "1", ""},
    {"x = [", "a,", "]", ""},
    {"x = ", "'a' ", "", ""},
    {"x = ", "f'{a}'", "", ""},
    {"", "x = ", "1", ""},
    {"", "a;", "", ""},
    {"x = (a", ")", "", "unmatched"},
    {"x = ((", "]", "", "does not close"},
};

static void test_depth(void) {
  const char *def = "@jit\ndef f():\n  ";
  for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
    Arena *a = arena_new();
    Text t = text_new(a);
    text_printf(&t, "%s%s", def, deep[i].head);
    for (int n = 0; n < REPEAT; n++) text_puts(&t, deep[i].many);
    text_printf(&t, "%s\n", deep[i].tail);
    const char *got = messages(a, t.data, t.len);
    bool ok = *deep[i].message ? strstr(got, deep[i].message) != NULL : !*got;
    check(ok, deep[i].many);
    arena_free(a);
  }
}

/* Blocks in blocks, past the limit of indentation. */
static void test_blocks(void) {
  Arena *a = arena_new();
  Text t = text_new(a);
  text_puts(&t, "@jit\ndef f():\n");
  for (int n = 1; n < 2000; n++) text_printf(&t, "%*sif a:\n", n, "");
  const char *got = messages(a, t.data, t.len);
  check(strstr(got, "more than 100 levels of indentation") != NULL, "blocks");
  arena_free(a);
}

/* Only its length is looked at. */
static void test_size(void) {
  Arena *a = arena_new();
  const char *got = messages(a, "\n", (size_t)1 << 30);
  check(strstr(got, "the file is larger than 1024 MiB") != NULL, "size");
  arena_free(a);
}

/* ---- mutations ---- */

static unsigned long long state = 1;

static size_t random_below(size_t n) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return n ? (size_t)((state >> 11) % n) : 0;
}

static const char *const pieces[] = {
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "\"\"\"",
    "f\"",
    "f'''",
    "{x!r",
    ":>{w}",
    "\\",
    "\\\n",
    "\n",
    "\r\n",
    "\t",
    "\n    ",
    "\n@jit\n",
    "def ",
    "class ",
    "if ",
    "else:",
    "elif ",
    "for ",
    "lambda ",
    "import ",
    "with (",
    "as ",
    "yield ",
    "await ",
    "async ",
    "*",
    "**",
    "=",
    ":=",
    ":",
    ",",
    ".",
    "...",
    "0x",
    "1_",
    "1e",
    "\xff",
    "\xc3",
    "\xe2\x80\x9c",
    "#",
    ";",
    "not ",
    "jit(f)",
    "match x:",
    "\f",
    "\\N{",
    "\\x",
    "rb'",
    "@",
    "->",
    "try:",
    "except A:",
    "0777",
    "\xef\xbb\xbf",
};

/* Changes a place of `text`, which has room. */
static size_t mutate(char *text, size_t len) {
  size_t at = random_below(len + 1), n = random_below(12);
  const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];
  if (random_below(3) == 0) { /* take some out */
    if (n > len - at) n = len - at;
    memmove(text + at, text + at + n, len - at - n);
    return len - n;
  }
  if (random_below(8) == 0 && len) { /* one byte */
    text[random_below(len)] = (char)random_below(256);
    return len;
  }
  n = strlen(piece);
  if (len + n > LONGEST) return len;
  memmove(text + at + n, text + at, len - at);
  memcpy(text + at, piece, n);
  return len + n;
}

static void fuzz_file(const char *path, long rounds) {
  static char text[LONGEST + 1], work[LONGEST + 1];
  FILE *f = fopen(path, "rb");
  size_t len = f ? fread(text, 1, LONGEST, f) : 0;
  if (f) fclose(f);
  for (long i = 0; i < rounds; i++) {
    size_t n = len;
    memcpy(work, text, len);
    for (size_t k = 0; k <= random_below(MUTATIONS); k++) n = mutate(work, n);
    char *exact = malloc(n ? n : 1); /* so that a sanitizer sees reads past its end */
    memcpy(exact, work, n);
    Arena *a = arena_new();
    messages(a, exact, n);
    arena_free(a);
    free(exact);
  }
  passed++;
}

static void fuzz(const char *folder, long rounds) {
  DIR *dir = opendir(folder);
  check(dir != NULL, folder);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    size_t n = strlen(e->d_name);
    char path[4096];
    if (n < 3 || strcmp(e->d_name + n - 3, ".py")) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    fuzz_file(path, rounds);
  }
  if (dir) closedir(dir);
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 20;
  if (argc > 2) state = strtoull(argv[2], NULL, 10) | 1;
  test_exprs();
  test_depth();
  test_blocks();
  test_size();
  fuzz(argc > 3 ? argv[3] : "tests/parser/syntax", rounds);
  return report();
}
