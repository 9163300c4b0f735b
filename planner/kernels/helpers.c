#include "planner/kernels/helpers.h"

#include <string.h>

#include "graph/ir/python_words.h"

/* poly.py is the last: the others name its functions. */
static const char *const files[] = {"airy.py",       "assert.py",   "bessel.py",
                                    "check.py",      "draws.py",    "float8.py",
                                    "gcd.py",        "gelu.py",     "incomplete_gamma.py",
                                    "matrix.py",     "mish.py",     "next_after.py",
                                    "orthogonal.py", "power.py",    "scans.py",
                                    "search.py",     "suppress.py", "zeta.py",
                                    "poly.py"};

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
