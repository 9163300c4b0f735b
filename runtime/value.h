/* Values of the command line: numbers and arrays in host memory. */
#ifndef NEREID_RUNTIME_VALUE_H
#define NEREID_RUNTIME_VALUE_H

#include "runtime/array.h"

struct nereid_value {
  nereid_value_kind kind;
  DType dtype;  /* of a number */
  bool typed;   /* the text says so */
  bool empty;   /* made by empty: */
  int64_t i;    /* of INT and BOOL; u64 by its bits */
  double f;     /* of all numbers */
  char *alias;
  Array array;
};

#endif
