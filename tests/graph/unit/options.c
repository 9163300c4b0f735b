/* The table of options (model/nereid_graph_options.h): a row that decides what is compiled changes
 * the key of the cache, one that keeps an executable out of the cache says so, and all others leave
 * the executable as it is. */
#include <stdlib.h>
#include <string.h>

#include "model/api/api.h"
#include "model/api/graph_options.h"
#include "tests/support/tally.h"

enum { PLAN = 1, SIZES = 2, UNSTORED = 4, ASIDE = 8 };

static const char ADD[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[s0, 4]\", y: \"f32[s0, 4]\"):\n"
    "        add: \"f32[s0, 4]\" = torch.ops.aten.add.Tensor(x, y)\n"
    "        return (add,)\n";

static nereid_graph *open_add(void) {
  nereid_graph *g = NULL;
  nereid_graph_source s = {.path = "add.py", .data = ADD, .size = sizeof ADD - 1};
  check_got(!nereid_graph_open(&g, &s, NULL, NULL), "a graph", nereid_error_message());
  return g;
}

/* ---- values other than the defaults ---- */

static const nereid_graph_range ranges[] = {{"s0", 2, 64, 8}};
static const int places[] = {1};
static const char *const files[] = {"rules.py"};

/* The second of several words. */
static const char *second(const char *words) {
  static char word[32];
  const char *from = strchr(words, ' ') + 1;
  size_t len = strcspn(from, " ");
  memcpy(word, from, len);
  word[len] = 0;
  return word;
}

static void on_pass(void *context, const char *pass, const char *graph, double seconds) {
  (void)context, (void)pass, (void)graph, (void)seconds;
}

static void on_compile(void *context, int done, int total) {
  (void)context, (void)done, (void)total;
}

static void on_tune(void *context, const nereid_tune_progress *p) {
  (void)context, (void)p;
}

#define SET_WORD(name, words) o.name = second(words)
#define SET_TEXT(name, words) o.name = "cpu"
#define SET_FLAG(name, words) o.name = 1
#define SET_BITS(name, words) o.name = 1
#define SET_REPLAY(name, words) o.name = NEREID_REPLAY_NEVER
#define SET_LIST(name, to) (o.name = to, o.n##name = sizeof to / sizeof *to)
#define SET_RANGES(name, words) SET_LIST(name, ranges)
#define SET_PLACES(name, words) SET_LIST(name, places)
#define SET_FILES(name, words) SET_LIST(name, files)
#define SET_PASS_CALL(name, words) o.name = on_pass
#define SET_TUNE_CALL(name, words) o.name = on_tune
#define SET_COMPILE_CALL(name, words) o.name = on_compile

/* ---- keys ---- */

static bool same_keys(const StoredKey *a, const StoredKey *b) {
  return a->known && b->known && !memcmp(&a->key, &b->key, sizeof a->key);
}

static void check_key(const nereid_graph *g, nereid_device *d, const nereid_graph_options *o,
                      unsigned uses, const char *name) {
  nereid_graph_options plain = {.keep = 1};
  StoredKey base = api_stored_key(g, d, &plain), key = api_stored_key(g, d, o);
  check(base.known, "an executable with the defaults is kept");
  if (uses & UNSTORED) check_got(!key.known, "an executable with the option is not kept", name);
  else if (uses & PLAN)
    check_got(key.known && !same_keys(&base, &key), "the option changes the key", name);
  else check_got(same_keys(&base, &key), "the option leaves the key as it is", name);
}

/* ---- executables ---- */

static char *bytes_of(nereid_device *d, const nereid_graph_options *o, size_t *size) {
  nereid_graph *g = open_add();
  nereid_executable *e = NULL;
  char *bytes = NULL;
  int code = nereid_executable_new(&e, g, d, o);
  if (!code) code = nereid_executable_bytes(&bytes, size, e, NULL);
  check_got(!code, "an executable as bytes", nereid_error_message());
  nereid_executable_free(e);
  nereid_graph_free(g);
  return bytes;
}

/* What the key lacks, and the cache doesn't refuse, changes nothing. */
static void check_aside(nereid_device *d, const nereid_graph_options *o, const char *name) {
  size_t before = 0, after = 0;
  char *a = bytes_of(d, &(nereid_graph_options){0}, &before), *b = bytes_of(d, o, &after);
  bool same = a && b && before == after && !memcmp(a, b, before);
  check_got(same, "the option leaves the executable as it is", name);
  nereid_text_free(a);
  nereid_text_free(b);
}

/* A plan for fixed sizes has what decides it, but for what is of open sizes. */
static void check_kept(const nereid_graph_options *o, unsigned uses, const char *name) {
  static const nereid_graph_options zeros;
  Arena *a = arena_new();
  nereid_graph_options plan = graph_options_of_plan(o), sizes = graph_options_of_sizes(a, o);
  bool in_plan = memcmp(&plan, &zeros, sizeof plan) != 0;
  bool in_sizes = memcmp(&sizes, &zeros, sizeof sizes) != 0;
  check_got(in_plan == ((uses & PLAN) != 0), "what decides a plan", name);
  check_got(in_sizes == ((uses & (PLAN | SIZES)) == PLAN), "what decides a plan of sizes", name);
  arena_free(a);
}

static void check_rows(const nereid_graph *g, nereid_device *d) {
#define X(kind, row, uses, flag, value, choices, meaning)          \
  {                                                                \
    nereid_graph_options o = {0};                                  \
    SET_##kind(row, choices);                                      \
    check_kept(&o, uses, #row);                                    \
    if ((uses) & ASIDE) check_aside(d, &o, #row);                  \
    o.keep = 1;                                                    \
    check_key(g, d, &o, uses, #row);                               \
  }
  NEREID_GRAPH_OPTIONS(X, X, X)
#undef X
}

/* A list with a length and without elements is an error of the call, also where it is kept. */
static void check_missing(nereid_device *d) {
  nereid_graph_options wrong[] = {{.keep = 1, .nranges = 1}, {.keep = 1, .nreleased = 1},
                                  {.keep = 1, .nrewrites = 1}};
  const char *const names[] = {"ranges", "released", "rewrites"};
  for (int i = 0; i < 3; i++) {
    nereid_graph *g = open_add();
    nereid_executable *e = NULL;
    int code = nereid_executable_new(&e, g, d, &wrong[i]);
    check_got(code == NEREID_E_USAGE && strstr(nereid_error_message(), names[i]),
              "a list without elements", nereid_error_message());
    nereid_executable_free(e);
    nereid_graph_free(g);
  }
}

int main(void) {
  nereid_device *d = NULL;
  check_got(!nereid_device_open(&d, "cpu"), "device cpu", nereid_error_message());
  nereid_graph *g = open_add();
  check_rows(g, d);
  check_missing(d);
  nereid_graph_free(g);
  nereid_device_close(d);
  return report();
}
