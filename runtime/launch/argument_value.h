/* Values of the command line: numbers and arrays in host memory. */
#ifndef NEREID_RUNTIME_LAUNCH_ARGUMENT_VALUE_H
#define NEREID_RUNTIME_LAUNCH_ARGUMENT_VALUE_H

#include "runtime/support/array.h"

struct nereid_value {
  nereid_value_kind kind;
  DType dtype; /* of a number */
  bool typed;  /* the text says so */
  bool empty;  /* made by empty: */
  int64_t i;   /* of INT and BOOL; u64 by its bits.  Of ALIAS: which element it begins at */
  double f;    /* of all numbers */
  char *alias;
  Array array; /* of an outline: without data */
};

/* Reads a value whose array is not made: its dtype and shape are known, not its elements. */
int value_outline(nereid_value **out, const char *text);
/* Reads a value whose drawn elements repeat after so many, which large arrays are made of quickly;
 * 0: they don't. */
int value_repeat(nereid_value **out, const char *text, int64_t period);

#endif
