#include "planner/kernels/source_functions.h"

#include <string.h>

#include "graph/ir/python_words.h"
#include "graph/ops/graph_text.h"

Functions *functions_new(Arena *a) {
  Functions *f = ARENA_NEW(a, Functions);
  *f = (Functions){.arena = a, .names = pool_new(a)};
  return f;
}

/* ---- what a step computes, as comments ---- */

/* Words with commas between, on lines that begin with "#". */
typedef struct {
  Text *out;
  size_t line; /* where it starts */
  bool any;
} Words;

static Words words(Text *out, const char *head) {
  Words w = {out, out->len, false};
  text_printf(out, "# %s", head);
  return w;
}

static void add_comment_word(Words *w, const char *text) {
  enum { COLUMNS = 100 };
  if (w->any) text_puts(w->out, ",");
  if (w->any && w->out->len - w->line + strlen(text) + 2 > COLUMNS) {
    text_puts(w->out, "\n#   ");
    w->line = w->out->len - 4;
  } else {
    text_puts(w->out, " ");
  }
  text_puts(w->out, text);
  w->any = true;
}

static void print_buffers(Text *out, const Kernel *k) {
  Words w = words(out, "with");
  for (size_t i = 0; i < k->buffers.len; i++) {
    const KernelBuffer *b = &k->buffers.data[i];
    const char *names = arena_printf(k->arena, "%s: %s", b->name, b->node->name);
    add_comment_word(&w,
                     b->then ? arena_printf(k->arena, "%s then %s", names, b->then->name) : names);
  }
  if (k->checks.len) add_comment_word(&w, "records: of its checks");
  text_puts(out, "\n");
}

/* The source lines that a node comes from, once for each run of nodes. */
static void print_comment_origin(Text *out, const Node *n, const char **last) {
  if (!n->origin || n->origin == *last) return;
  text_printf(out, "# %s\n", n->origin);
  *last = n->origin;
}

static void print_comment_node(Text *out, const Node *n, const char **origin) {
  print_comment_origin(out, n, origin);
  text_puts(out, "#   ");
  graph_print_node(out, n);
  text_puts(out, "\n");
}

/* The nodes that the kernel covers, as they stand in the graph. */
static void print_first_use(Text *out, const Kernel *k, const StepCost *cost) {
  const char *origin = NULL;
  for (size_t i = 0; i < k->group->nodes.len; i++)
    print_comment_node(out, k->group->nodes.data[i], &origin);
  if (cost->ninlined) text_puts(out, "# within:\n");
  for (uint32_t i = cost->ninlined; i-- > 0;) print_comment_node(out, cost->inlined[i], &origin);
  print_buffers(out, k);
}

static void print_further_use(Text *out, const Kernel *k, const StepCost *cost) {
  const char *origin = NULL;
  for (size_t i = 0; i < k->group->nodes.len; i++)
    print_comment_origin(out, k->group->nodes.data[i], &origin);
  Words w = words(out, "again:");
  for (size_t i = 0; i < k->group->nodes.len; i++)
    add_comment_word(&w, k->group->nodes.data[i]->name);
  text_puts(out, "\n");
  if (cost->ninlined) {
    w = words(out, "within:");
    for (uint32_t i = cost->ninlined; i-- > 0;) add_comment_word(&w, cost->inlined[i]->name);
    text_puts(out, "\n");
  }
  print_buffers(out, k);
}

/* ---- the functions ---- */

/* Launches that join steps are named after the first two, with which others may begin, too.  Parts
 * of a launch have its name and a number. */
static Name unused_name(Functions *f, Name name) {
  Name unused = pool_name(f->names, name);
  for (uint32_t n = 2; namemap_get(&f->taken, unused); n++)
    unused = pool_name(f->names, arena_printf(f->arena, "%s_form%u", name, n));
  *namemap_put(f->arena, &f->taken, unused) = f;
  return unused;
}

static Function *add_source_function(Functions *f, const char *text, Name name) {
  Function *made = ARENA_NEW(f->arena, Function);
  name = unused_name(f, name);
  *made = (Function){.name = name, .text = text, .uses = text_new(f->arena)};
  vec_push(f->arena, &f->list, made);
  return made;
}

Name functions_add(Functions *f, const Kernel *k, const char *text, const StepCost *cost,
                   Name name) {
  Name key = pool_name(f->names, text);
  void **found = namemap_put(f->arena, &f->by_text, key);
  Function *same = *found;
  if (!same) {
    *found = same = add_source_function(f, key, name);
    print_first_use(&same->uses, k, cost);
  } else {
    print_further_use(&same->uses, k, cost);
  }
  return same->name;
}

Name functions_join(Functions *f, const char *text, const Function *const *of, uint32_t n,
                    Name name) {
  Name key = pool_name(f->names, text);
  void **found = namemap_put(f->arena, &f->by_text, key);
  Function *same = *found;
  if (same) return same->name;
  *found = same = add_source_function(f, key, name);
  for (uint32_t i = 0; i < n; i++) text_putn(&same->uses, of[i]->uses.data, of[i]->uses.len);
  return same->name;
}

void functions_keep_used(Functions *f, const PlanStep *steps, uint32_t n) {
  NameMap used = {0};
  for (uint32_t i = 0; i < n; i++)
    *namemap_put(f->arena, &used, steps[i].kernel) = f;
  size_t left = 0;
  for (size_t i = 0; i < f->list.len; i++)
    if (*namemap_put(f->arena, &used, f->list.data[i]->name))
      f->list.data[left++] = f->list.data[i];
  f->list.len = left;
}

static void put_named(Text *out, const char *text, Name name) {
  for (const char *at; (at = strstr(text, KERNEL_NAME)); text = at + strlen(KERNEL_NAME)) {
    text_putn(out, text, (size_t)(at - text));
    text_puts(out, name);
  }
  text_puts(out, text);
}

static uint32_t count_source_lines(const char *s, const char *end) {
  uint32_t n = 0;
  for (; (s = memchr(s, '\n', (size_t)(end - s))); s++) n++;
  return n;
}

void functions_print(Text *out, const Functions *f, PlanFunction *spans) {
  uint32_t line = count_source_lines(out->data, out->data + out->len);
  for (size_t i = 0; i < f->list.len; i++) {
    const Function *x = f->list.data[i];
    spans[i] = (PlanFunction){.kernel = x->name, .begin = out->len, .line = line};
    text_puts(out, "\n\n");
    text_putn(out, x->uses.data, x->uses.len);
    put_named(out, x->text, x->name);
    spans[i].end = out->len;
    line += count_source_lines(out->data + spans[i].begin, out->data + out->len);
  }
}

/* ---- helpers: functions that kernels call ---- */

/* poly.py is the last: the others name its functions. */
static const char *const files[] = {"airy.py",       "assert.py",   "bessel.py",
                                    "check.py",      "draws.py",    "fields.py",
                                    "float8.py",     "gelu.py",     "incomplete_gamma.py",
                                    "matrix.py",     "mish.py",     "numbers.py",
                                    "orthogonal.py", "power.py",    "scans.py",
                                    "search.py",     "select.py",   "suppress.py",
                                    "trees.py",      "zeta.py",     "poly.py"};

static size_t helper_name_length(const char *s) {
  size_t n = 0;
  while (python_is_word_char(s[n])) n++;
  return n;
}

/* Is the word in the text? */
static bool has_word(const char *text, const char *word) {
  size_t n = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += n)
    if ((at == text || !python_is_word_char(at[-1])) && !python_is_word_char(at[n])) return true;
  return false;
}

static bool is_function_named(const Functions *f, const char *name) {
  for (size_t i = 0; i < f->list.len; i++)
    if (has_word(f->list.data[i]->text, name)) return true;
  return false;
}

/* Do the kernels, or the helpers that are printed already, name a function of the file? */
static bool is_needed(const Functions *f, const char *printed, const char *file) {
  static const char def[] = "\ndef ";
  for (const char *at = file; (at = strstr(at, def));) {
    at += strlen(def);
    const char *name = arena_strndup(f->arena, at, helper_name_length(at));
    if (has_word(printed, name) || is_function_named(f, name)) return true;
  }
  return false;
}

void helpers_print(Text *out, const Functions *f) {
  template_fill(out, "header.py", NULL, 0);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    Text file = text_new(f->arena);
    template_fill(&file, files[i], NULL, 0);
    if (is_needed(f, out->data, file.data)) text_putn(out, file.data, file.len);
  }
}
