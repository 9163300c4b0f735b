/* Names that nodes of a graph cannot have in Python. */
#ifndef NEREID_GRAPH_IR_PYTHON_WORDS_H
#define NEREID_GRAPH_IR_PYTHON_WORDS_H

#include <stdbool.h>

bool python_is_keyword(const char *name);
/* Keywords, builtins, and what FX itself uses. */
bool python_is_reserved(const char *name);

#endif
