/* Names in Python, and those that nodes of a graph cannot have. */
#ifndef NEREID_GRAPH_IR_PYTHON_WORDS_H
#define NEREID_GRAPH_IR_PYTHON_WORDS_H

#include <stdbool.h>

/* A letter, a digit or an underscore? */
bool python_is_word_char(char c);
bool python_is_keyword(const char *name);
/* Keywords, builtins, and what FX itself uses. */
bool python_is_reserved(const char *name);

#endif
