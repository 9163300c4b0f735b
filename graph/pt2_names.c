#include <stdlib.h>
#include <string.h>

#include "graph/pt2_read.h"
#include "lang/messages.h"

/* Keywords and builtins of Python, and what FX itself uses: names that FX does not give to nodes.
 * In the order of strcmp. */
static const char *const taken[] = {
    "Ellipsis",   "False",        "None",      "NoneType",  "NotImplemented",
    "True",       "abs",          "aiter",     "all",       "and",
    "anext",      "any",          "as",        "ascii",     "assert",
    "async",      "await",        "bin",       "bool",      "break",
    "breakpoint", "bytearray",    "bytes",     "callable",  "chr",
    "class",      "classmethod",  "compile",   "complex",   "continue",
    "copyright",  "credits",      "def",       "del",       "delattr",
    "device",     "dict",         "dir",       "divmod",    "elif",
    "else",       "enumerate",    "eval",      "except",    "exec",
    "exit",       "filter",       "finally",   "float",     "for",
    "format",     "from",         "frozenset", "fx_pytree", "getattr",
    "global",     "globals",      "hasattr",   "hash",      "help",
    "hex",        "id",           "if",        "import",    "in",
    "inf",        "input",        "int",       "is",        "isinstance",
    "issubclass", "iter",         "lambda",    "len",       "license",
    "list",       "locals",       "map",       "max",       "memoryview",
    "min",        "nan",          "next",      "nonlocal",  "not",
    "object",     "oct",          "open",      "or",        "ord",
    "pass",       "pow",          "print",     "property",  "pytree",
    "quit",       "raise",        "range",     "repr",      "return",
    "reversed",   "round",        "set",       "setattr",   "slice",
    "sorted",     "staticmethod", "str",       "sum",       "super",
    "torch",      "try",          "tuple",     "type",      "vars",
    "while",      "with",         "yield",     "zip"};

static int by_text(const void *a, const void *b) { return strcmp(a, *(const char *const *)b); }

static bool is_taken(const char *name) {
  return bsearch(name, taken, sizeof taken / sizeof *taken, sizeof *taken, by_text);
}

bool pt2_identifier(const char *s) {
  size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  return n && !s[n] && (*s < '0' || *s > '9');
}

bool pt2_name_node(Pt2 *r, Node *n, Name name) {
  if (!pt2_identifier(name)) return pt2_fail(r, E_GRAPH_PT2_IDENTIFIER, name);
  graph_fresh_name(r->graph, n, is_taken(name) ? arena_printf(r->arena, "%s_1", name) : name);
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
