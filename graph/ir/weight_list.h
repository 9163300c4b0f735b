/* The tensors of a model file: parameters, buffers and constants, by name.
 *
 * Data stays where the file's mapping has it, in the machine's byte order; a weight is checked
 * when it is added, so that all of its elements can be read. */
#ifndef NEREID_GRAPH_IR_WEIGHT_LIST_H
#define NEREID_GRAPH_IR_WEIGHT_LIST_H

#include "graph/ir/graph.h"
#include "graph/ir/namemap.h"

typedef struct {
  Name name;  /* "layers.0.weight" */
  Name input; /* the parameter of forward that takes it, "p_layers_0_weight"; NULL: none does */
  DType dtype;
  bool is_complex; /* the last axis has the two parts of complex numbers */
  uint32_t rank;
  const int64_t *shape, *strides; /* strides in elements, not negative */
  const void *data;               /* of element 0, aligned; NULL if there are no elements */
  bool mapped; /* data is in a file's mapping, which is only read */
} Weight;

typedef struct {
  Arena *arena;
  NameMap by_name, by_input;
  VEC(Weight *) list;
} Weights;

Weights *weights_new(Arena *a);

/* Bytes of a file that hold a tensor. */
typedef struct {
  const uint8_t *data;
  size_t size;
  Name entry; /* what messages call them */
} WeightBytes;

/* Element 0 is `offset` elements after the begin of `bytes`.  Shape and strides are copied.  NULL
 * after an error at `location`. */
Weight *weights_add(Weights *w, Diags *d, Span location, Weight tensor, int64_t offset,
                    WeightBytes bytes);
/* The weight is what this parameter of forward takes. */
void weights_bind(Weights *w, Weight *weight, Name input);

/* NULL if there is none. */
Weight *weights_find(const Weights *w, Name name);
Weight *weights_find_input(const Weights *w, Name input);

/* Is it a tensor of that type? */
bool weight_has_type(const Weight *w, const ValueType *t);
int64_t weight_bytes(const Weight *w);
/* Are the elements in row-major order, without gaps? */
bool weight_is_dense(const Weight *w);
/* The elements in the order of their indices, weight_bytes() of them. */
void weight_copy(void *to, const Weight *w);
/* Converts to dtype t, on all cores: floats are rounded to floats, other dtypes are kept.  False if
 * there is no memory. */
bool weight_convert(void *to, DType t, const Weight *w);

#endif
