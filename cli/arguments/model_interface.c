/* A model's inputs and outputs, for people. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/arguments/model_values.h"

enum { NAME_WIDTH_MAX = 40 };

static bool value_at(nereid_graph_value *v, const nereid_executable *e, int i, bool output) {
  int code = output ? nereid_executable_output(v, e, i) : nereid_executable_input(v, e, i);
  return !code && v->name;
}

static int count_of(const nereid_executable *e, bool output) {
  return output ? nereid_executable_noutputs(e) : nereid_executable_ninputs(e);
}

static int name_width(const nereid_executable *e) {
  size_t width = 0;
  nereid_graph_value v;
  for (int kind = 0; kind < 2; kind++)
    for (int i = 0; i < count_of(e, kind); i++)
      if (value_at(&v, e, i, kind) && strlen(v.name) > width) width = strlen(v.name);
  return width < NAME_WIDTH_MAX ? (int)width : NAME_WIDTH_MAX;
}

static void print_values(const nereid_executable *e, bool output) {
  int width = name_width(e), n = count_of(e, output);
  nereid_graph_value v;
  printf("%s\n", output ? "outputs" : "inputs");
  for (int i = 0; i < n; i++) {
    if (!value_at(&v, e, i, output)) continue;
    if (output) printf("  output_%-3d %-*s %s\n", v.place, width, v.name, v.type);
    else printf("  %-10d %-*s %s\n", i, width, v.name, v.type);
  }
}

/* ---- open sizes ---- */

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* The next name of a size in a type's text after *at, which moves to its end; NULL: no more. */
static const char *next_size(const char **at, size_t *len) {
  const char *p = *at;
  while (*p && (!is_word_char(*p) || isdigit((unsigned char)*p)))
    p += isdigit((unsigned char)*p) ? strspn(p, "0123456789") : 1;
  *len = 0;
  while (is_word_char(p[*len])) (*len)++;
  *at = p + *len;
  return *len ? p : NULL;
}

/* Is `name` a size in the types of earlier inputs, or before itself in this one's? */
static bool is_known_size(const nereid_executable *e, int input, const char *name, size_t len) {
  nereid_graph_value v;
  for (int i = 0; i <= input; i++) {
    size_t n;
    const char *at = value_at(&v, e, i, false) ? strpbrk(v.type, "[(") : NULL;
    for (const char *s; at && (s = next_size(&at, &n)) && (i < input || s < name);)
      if (n == len && !strncmp(s, name, n)) return true;
  }
  return false;
}

/* "open sizes: n, x_size1"; nothing where there are none. */
static void print_open_sizes(const nereid_executable *e) {
  nereid_graph_value v;
  bool any = false;
  for (int i = 0; i < nereid_executable_ninputs(e); i++) {
    size_t n;
    const char *at = value_at(&v, e, i, false) ? strpbrk(v.type, "[(") : NULL;
    for (const char *s; at && (s = next_size(&at, &n));) {
      if (is_known_size(e, i, s, n)) continue;
      printf("%s%.*s", any ? ", " : "open sizes: ", (int)n, s);
      any = true;
    }
  }
  if (any) printf("\n");
}

/* ---- commands ---- */

/* A part of a word within single quotes. */
static void print_quoted(const char *part) {
  for (; *part; part++)
    if (*part == '\'') printf("'\\''");
    else putchar(*part);
}

static bool needs_quotes(const char *word) {
  return !*word || strpbrk(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!");
}

/* A word as a shell takes it. */
static void print_word(const char *word) {
  const char *quote = needs_quotes(word) ? "'" : "";
  printf("%s", quote);
  print_quoted(word);
  printf("%s", quote);
}

/* NAME=FILE, a number NAME=1, with a name of its own for the file. */
static void print_input(const nereid_graph_value *v) {
  const char *quote = needs_quotes(v->name) ? "'" : "";
  printf(" --input %s", quote);
  print_quoted(v->name);
  putchar('=');
  if (v->is_number) putchar('1');
  for (const char *c = v->is_number ? "" : v->name; *c; c++)
    print_quoted(*c == '/' || *c == ':' ? "_" : (char[]){*c, 0});
  printf("%s%s", v->is_number ? "" : ".npy", quote);
}

static void print_commands(const nereid_executable *e, const char *path) {
  nereid_graph_value v;
  printf("to run it:\n  nereid graph ");
  print_word(path);
  for (int i = 0; i < nereid_executable_ninputs(e); i++)
    if (value_at(&v, e, i, false)) print_input(&v);
  printf("\n  nereid graph ");
  print_word(path);
  printf(" --random-inputs\n");
}

void model_interface_print(const nereid_executable *e, const char *path) {
  print_values(e, false);
  print_values(e, true);
  print_open_sizes(e);
  print_commands(e, path);
}
