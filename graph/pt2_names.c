#include <stdlib.h>
#include <string.h>

#include "graph/pt2_read.h"
#include "lang/messages.h"

/* In the order of strcmp. */
static const char *const keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

/* Builtins of Python, and what FX itself uses: names that FX does not give to nodes. */
static const char *const builtins[] = {"Ellipsis",     "NoneType",    "NotImplemented",
                                       "abs",          "aiter",       "all",
                                       "anext",        "any",         "ascii",
                                       "bin",          "bool",        "breakpoint",
                                       "bytearray",    "bytes",       "callable",
                                       "chr",          "classmethod", "compile",
                                       "complex",      "copyright",   "credits",
                                       "delattr",      "device",      "dict",
                                       "dir",          "divmod",      "enumerate",
                                       "eval",         "exec",        "exit",
                                       "filter",       "float",       "format",
                                       "frozenset",    "fx_pytree",   "getattr",
                                       "globals",      "hasattr",     "hash",
                                       "help",         "hex",         "id",
                                       "inf",          "input",       "int",
                                       "isinstance",   "issubclass",  "iter",
                                       "len",          "license",     "list",
                                       "locals",       "map",         "max",
                                       "memoryview",   "min",         "nan",
                                       "next",         "object",      "oct",
                                       "open",         "ord",         "pow",
                                       "print",        "property",    "pytree",
                                       "quit",         "range",       "repr",
                                       "reversed",     "round",       "set",
                                       "setattr",      "slice",       "sorted",
                                       "staticmethod", "str",         "sum",
                                       "super",        "torch",       "tuple",
                                       "type",         "vars",        "zip"};

static int by_text(const void *a, const void *b) { return strcmp(a, *(const char *const *)b); }

static bool is_among(const char *name, const char *const *words, size_t n) {
  return bsearch(name, words, n, sizeof *words, by_text);
}

static bool is_keyword(const char *name) {
  return is_among(name, keywords, sizeof keywords / sizeof *keywords);
}

static bool is_builtin(const char *name) {
  return is_among(name, builtins, sizeof builtins / sizeof *builtins);
}

static bool is_word(const char *s) {
  size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  return n && !s[n] && (*s < '0' || *s > '9');
}

bool pt2_identifier(const char *s) { return is_word(s) && !is_keyword(s); }

bool pt2_dotted(Pt2 *r, const char *s) {
  char *rest = arena_strndup(r->arena, s, strlen(s)), *part;
  bool ok = strchr(s, '.');
  while (ok && (part = strsep(&rest, "."))) ok = pt2_identifier(part);
  return ok;
}

bool pt2_name_node(Pt2 *r, Node *n, Name name) {
  if (!is_word(name)) return pt2_fail(r, E_GRAPH_PT2_IDENTIFIER, name);
  graph_fresh_name(
      r->graph, n,
      is_keyword(name) || is_builtin(name) ? arena_printf(r->arena, "%s_1", name) : name);
  return true;
}

bool pt2_define(Pt2 *r, Name name, Node *n) {
  void **slot = namemap_put(r->arena, &r->values, name);
  if (*slot) return pt2_fail(r, E_GRAPH_PT2_TWICE, name);
  *slot = n;
  return true;
}

Node *pt2_value(Pt2 *r, Name name) {
  Node *n = namemap_get(&r->values, name);
  if (!n) pt2_fail(r, E_GRAPH_PT2_UNDEFINED, name);
  return n;
}
