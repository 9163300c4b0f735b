/* The exported names of a project, its header, library and program under another name than model,
 * for programs with several models. */
#include <ctype.h>
#include <string.h>

#include "graph/ir/python_words.h"
#include "model/aot/project_state.h"
#include "model/messages.h"

enum { NAME_MAX_ = 32 };

/* Headers of projects and targets of their Makefile, which NAME.h and the program would replace. */
static const char *const taken[] = {"plan",  "kernels", "npy",       "npy_header",     "team",
                                    "cores", "cuda",    "device",    "registers",      "all",
                                    "clean", "libs",    "buffer_offsets", "boxed_tensor"};

int project_check_name(const char *name) {
  size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
  bool good = n && !name[n] && n <= NAME_MAX_ && name[0] >= 'a' && name[0] <= 'z';
  if (!good) return error_set(NEREID_E_USAGE, E_BUILD_NAME, name, NAME_MAX_);
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (!strcmp(name, taken[i])) return error_set(NEREID_E_USAGE, E_BUILD_NAME_TAKEN, name);
  return 0;
}

const char *project_name(const Project *p) { return p->options->name ? p->options->name : "model"; }

typedef struct {
  Text out;
  const char *name, *upper;
  bool everywhere; /* in comments and strings too */
} Renaming;

static const char *upper_case(Arena *a, const char *name) {
  char *copy = arena_strndup(a, name, strlen(name));
  for (char *s = copy; *s; s++) *s = (char)toupper((unsigned char)*s);
  return copy;
}

static size_t word_length(const char *s) {
  size_t n = 0;
  while (python_is_word_char(s[n])) n++;
  return n;
}

/* `model` is a word in prose, and a type in code. */
static void put_word(Renaming *r, const char *word, size_t n, bool code) {
  if (n == 5 && code && !memcmp(word, "model", n)) {
    text_printf(&r->out, "%s_model", r->name);
    return;
  }
  bool change = (code || r->everywhere) && n > 6;
  if (change && !memcmp(word, "model_", 6)) text_puts(&r->out, r->name);
  else if (change && !memcmp(word, "MODEL_", 6)) text_puts(&r->out, r->upper);
  else change = false;
  text_putn(&r->out, change ? word + 5 : word, change ? n - 5 : n);
}

/* The end of the comment, string or character that begins at s, s if none does. */
static const char *end_of_prose(const char *s) {
  if (s[0] == '/' && s[1] == '*') return strstr(s, "*/") + 2;
  if (*s != '"' && *s != '\'') return s;
  const char *end = s + 1;
  while (*end != *s) end += *end == '\\' ? 2 : 1;
  return end + 1;
}

/* The header and the library have the name in prose as well. */
static bool put_file(Renaming *r, const char *s, size_t n) {
  bool header = n == 5 && !memcmp(s, "model.h", 7) && !python_is_word_char(s[7]);
  bool library = n == 8 && !memcmp(s, "libmodel.a", 10) && !python_is_word_char(s[10]);
  if (header || library) text_printf(&r->out, "%s%s", library ? "lib" : "", r->name);
  return header || library;
}

static void put_words(Renaming *r, const char *s, const char *end, bool code) {
  while (s < end) {
    size_t n = word_length(s);
    if (n && put_file(r, s, n)) {
      s += n;
      continue;
    }
    if (n) put_word(r, s, n, code);
    else text_putn(&r->out, s, n = 1);
    s += n;
  }
}

const char *project_rename(Project *p, const char *text, bool everywhere) {
  const char *name = p->options->name;
  if (!name) return text;
  Renaming r = {text_new(p->arena), name, upper_case(p->arena, name), everywhere};
  for (const char *s = text; *s;) {
    const char *end = end_of_prose(s);
    bool code = end == s;
    if (code) end += word_length(s) ? word_length(s) : 1;
    put_words(&r, s, end, code);
    s = end;
  }
  return r.out.data;
}
