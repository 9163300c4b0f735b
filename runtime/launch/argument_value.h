/* Values of the command line: numbers and arrays in host memory. */
#ifndef NEREID_RUNTIME_LAUNCH_ARGUMENT_VALUE_H
#define NEREID_RUNTIME_LAUNCH_ARGUMENT_VALUE_H

#include "runtime/support/array.h"
#include "sema/sema.h"

/* The parts of a tensor descriptor that its array lacks; extents and strides are in elements. */
typedef struct {
  Type block; /* element type and shape; without a rank the value is no descriptor */
  const char *padding; /* "zero" or "nan" */
  bool has_shape, has_strides; /* the text has them; else they are the array's */
  int64_t shape[DESCRIPTOR_RANK], strides[DESCRIPTOR_RANK];
} DescriptorValue;

struct nereid_value {
  nereid_value_kind kind;
  DType dtype; /* of a number */
  bool typed;  /* the text says so */
  bool empty;  /* made by empty: */
  int64_t i;   /* of INT and BOOL; u64 by its bits.  Of ALIAS: which element it begins at */
  double f;    /* of all numbers */
  char *alias;
  Array array; /* of an outline: without data */
  DescriptorValue descriptor;
};

/* Reads what precedes the array in the text of a tensor descriptor,
 * tensordesc<bf16[64,64]>:shape=[300,200]:strides=[512,1]:ARRAY.  *array: the text of that. */
int descriptor_read(DescriptorValue *out, const char **array, const char *text);
/* Takes what the text lacks from the array, which begins `offset` bytes before the base, and checks
 * that the block's extents, the strides and the array fit each other. */
int descriptor_complete(DescriptorValue *d, const Array *array, size_t offset);

/* Reads a value whose array is not made: its dtype and shape are known, not its elements. */
int value_outline(nereid_value **out, const char *text);

/* Reads a value whose drawn elements repeat after so many, which large arrays are made of quickly;
 * 0: they don't. */
int value_repeat(nereid_value **out, const char *text, int64_t period);

#endif
