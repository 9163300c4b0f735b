/* The table of options (lang/base/nereid_options.h): a row changes the keys of caches and the IR,
 * and IR text keeps it. */
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/code_key.h"
#include "runtime/compile/config.h"
#include "tests/support/tally.h"

/* Each option changes what sema makes of it. */
static const char source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def k(p, n):\n"
    "    i = tl.arange(0, 16)\n"
    "    x = tl.load(p + i[:, None] * 16 + i[None, :])\n"
    "    tl.store(p + i[:, None] * 16 + i[None, :] + (n + n), tl.dot(x, x) * x + x)\n";

static nereid_arg args[] = {{"p", "*fp32", NULL}, {"n", "i32", NULL}};

static nereid_request request(void) {
  return (nereid_request){.source = {.path = "k.py", .text = source, .size = sizeof source - 1},
                          .args = args,
                          .nargs = 2};
}

/* Sets the option to a value that is not its default; false if there is none. */
static bool set_other(nereid_request *r, const OptionRow *row) {
  const char **word = request_word(r, row);
  int *number = request_number(r, row);
  if (word) *word = "ieee";
  else *number = row->dflt == 1 ? 2 : 1;
  return word || *number <= row->most;
}

static CacheKey key_of(const nereid_request *r) {
  KeyMaker *k = cache_key_start();
  request_key_add(k, r);
  return cache_key_end(k);
}

static char *tile_of(const nereid_request *r) {
  char *text = NULL;
  size_t size;
  int code = nereid_emit(&text, &size, r, NEREID_TILE);
  check_got(!code, "tile IR", nereid_error_message());
  return text ? text : strdup("");
}

static void check_read_again(const char *text, const char *name) {
  nereid_request r = {.source = {.path = "k.tile", .text = text, .size = strlen(text)}};
  char *again = tile_of(&r);
  check_got(!strcmp(text, again), "IR text keeps the option", name);
  free(again);
}

static void check_row(const OptionRow *row) {
  nereid_request plain = request(), other = request();
  plain.debug = row == &option_rows[OPTION_OF_allow_overflow];
  other.debug = plain.debug;
  bool valid = set_other(&other, row);
  CacheKey a = key_of(&plain), b = key_of(&other);
  check_got(memcmp(&a, &b, sizeof a), "the option changes the key", row->name);
  if (!valid) return;
  char *before = tile_of(&plain), *after = tile_of(&other);
  check_got(strcmp(before, after), "the option changes the IR", row->name);
  bool named = strstr(after, row->kind == OPTION_ALIAS ? "ordered" : row->name);
  bool in_text = (row->uses & OPTION_IS_IR) != 0;
  check_got(named == in_text, "IR text names the options of stages after sema", row->name);
  check_read_again(after, row->name);
  free(before);
  free(after);
}

int main(void) {
  for (int i = 0; i < OPTION_COUNT; i++) check_row(&option_rows[i]);
  return report();
}
