/* Rules of decomposition: E_GRAPH_. */
#ifndef NEREID_DECOMPOSE_MESSAGES_H
#define NEREID_DECOMPOSE_MESSAGES_H

#define E_GRAPH_PAD_MODE "padding mode '%s' is none of constant, reflect, replicate, circular"
#define E_GRAPH_TRAINING "statistics of the batch would be written: export the model after eval()"
#define E_GRAPH_DROPOUT \
  "attention with dropout has a kernel for f32, f16 and bf16, and for at most 256 columns"
#define E_GRAPH_SEED "dropout of %g needs the seed that the forward pass had"
#define E_GRAPH_REDUCE "'%s' is not a reduction: sum, prod, mean, amax or amin"
#define E_GRAPH_ZERO_DOMAIN "zero_point_domain is INT, FLOAT or NONE, not '%s'"
#define E_GRAPH_MATRIX_ROWS "matrices of %s rows are not supported; up to %d are"
#define R_GRAPH_MATRIX_ROWS "compute this operator outside of the model, in PyTorch"
#define M_GRAPH_TABLES "tables of a mask's rows and keys name other blocks, or one twice"

#endif
