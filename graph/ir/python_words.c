#include "graph/ir/python_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The words are in the order of strcmp. */
static const char *const keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

/* Builtins of Python, and what FX itself uses: names that FX does not give to nodes. */
static const char *const builtins[] = {"Ellipsis",   "NoneType",     "NotImplemented",
                                       "abs",        "aiter",        "all",
                                       "anext",      "any",          "ascii",
                                       "bin",        "bool",         "breakpoint",
                                       "bytearray",  "bytes",        "callable",
                                       "chr",        "classmethod",  "compile",
                                       "complex",    "copyright",    "credits",
                                       "delattr",    "device",       "dict",
                                       "dir",        "divmod",       "enumerate",
                                       "eval",       "exec",         "exit",
                                       "filter",     "float",        "format",
                                       "frozenset",  "fx_pytree",    "getattr",
                                       "globals",    "hasattr",      "hash",
                                       "help",       "hex",          "id",
                                       "inf",        "input",        "int",
                                       "isinstance", "issubclass",   "iter",
                                       "len",        "license",      "list",
                                       "locals",     "map",          "max",
                                       "memoryview", "min",          "nan",
                                       "next",       "object",       "oct",
                                       "open",       "ord",          "pow",
                                       "print",      "property",     "pytree",
                                       "quit",       "range",        "repr",
                                       "reversed",   "round",        "self",
                                       "set",        "setattr",      "slice",
                                       "sorted",     "staticmethod", "str",
                                       "sum",        "super",        "torch",
                                       "tuple",      "type",         "vars",
                                       "zip"};

static int by_text(const void *a, const void *b) { return strcmp(a, *(const char *const *)b); }

static bool is_word_among(const char *name, const char *const *words, size_t n) {
  return bsearch(name, words, n, sizeof *words, by_text);
}

bool python_is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool python_is_keyword(const char *name) {
  return is_word_among(name, keywords, sizeof keywords / sizeof *keywords);
}

bool python_is_reserved(const char *name) {
  return python_is_keyword(name) ||
         is_word_among(name, builtins, sizeof builtins / sizeof *builtins);
}
