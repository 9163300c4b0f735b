/* Fields of words as 16-bit floats, two at a time. */
#ifndef NEREID_PLANNER_KERNELS_KERNEL_FIELDS_H
#define NEREID_PLANNER_KERNELS_KERNEL_FIELDS_H

#include "planner/kernels/kernel.h"

/* An element of a node. */
typedef struct {
  Node *node;
  Dim at[GRAPH_RANK_MAX];
} Element;

/* (masked & mask) - minus - less, an integer `whole`, of which a weight in 16-bit floats is
 * computed; `less` may be missing.  Where `shift` is there, masked = word >> shift. */
typedef struct {
  DType half; /* that of the weight */
  Element whole, masked, word, less;
  Node *table; /* of 16 numbers, from which fields choose instead; `whole` is what is chosen */
  Dim shift; /* as it follows from the index */
  int64_t mask, minus;
  uint32_t rank; /* of tiles that are loaded without masks; 0: they have masks */
} FieldForm;

/* Two fields of a word become floats of one register. */
typedef struct {
  Dim digit;         /* of an index, the last axis of the tile; NULL: there are no pairs */
  Dim second;        /* the next digit, of bytes whose fields choose from a table; or NULL */
  int64_t apart;     /* the bits between them: FIELD_BITS, or fewer in a byte; 0: in two words */
  const char *shape; /* of the fields' tile; NULL: masks give words the pair's axis */
  const char *bytes; /* the shape of pairs of the bytes that are read; NULL: there is no table */
} FieldPair;

enum { FIELD_BITS = 16 };

bool fields_same_element(const Element *a, const Element *b);

/* Is the element of `right` at `index` computed of a field that is exact as a 16-bit float? */
bool fields_form(Kernel *k, Node *right, const Dim *index, FieldForm *form);
/* Is the element the field less a number, times a scale, plus another one, both 16-bit floats in
 * memory?  An instruction computes two such products and sums. */
bool fields_scaled_at_once(Kernel *k, Node *right, const Dim *index, const FieldForm *form);
/* The weight as scale * field + offset, where `field` has a base; NULL: a scale of 1. */
typedef struct {
  const char *field, *scale, *offset;
} FieldSum;

/* The same, if scales and zero points depend on none of the digits: sums of products with fields
 * are then multiplied, and not the weights. */
bool fields_sum(Kernel *k, Node *right, const Dim *index, const FieldForm *form,
                const FieldForm *low, const FieldPair *pair, const Dim *digits, uint32_t n,
                FieldSum *sum);
/* The element as a bf16 where it is a cast of a signed byte in memory; NULL: it is not. */
const char *fields_of_bytes(Kernel *k, Node *right, const Dim *index);
/* The lines that take the form's table apart, before the loop. */
const char *fields_table(Kernel *k, const FieldForm *form);
/* The element as a 16-bit float, or NULL if `form` is of a part of it alone, which the kernel then
 * remembers.  `low`: the form at index 0 of the pair's digit. */
const char *fields_value(Kernel *k, Node *right, const Dim *index, const FieldForm *form,
                         const FieldForm *low, const FieldPair *pair);

#endif
