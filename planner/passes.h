/* The passes on graphs, in the order in which they run to the plan; lang/base/pass.h explains the
 * columns.  Each takes a graph whose nodes have types and leaves one; each can be run alone
 * (`nereid graph MODEL --run-passes P1,P2 --emit graph`), and its input and output print.
 *
 * Near linear: tens of thousands of nodes in well under a second. */
#ifndef NEREID_PLANNER_PASSES_H
#define NEREID_PLANNER_PASSES_H

#include "graph/ops/ops.h"
#include "lang/base/pass.h"

/* Conditions of a compilation: kernels of several nodes, weights that are constants, the device,
 * complex values in the graph, libraries that may be called, kernels that load before those before
 * them have ended. */
enum {
  FUSED = 1, FROZEN = 2, FOR_GPU = 4, FOR_CPU = 8, HAS_COMPLEX = 16, LIBRARIES = 32,
  SAVES_MEMORY = 64, EARLY_LOADS = 128
};

/* name, takes, gives, function, needs, without, meaning */
#define GRAPH_PASSES(X) \
X(check_arguments, CALLS, CALLS, pass_check_arguments, 0, 0, "refuses numbers that an operator refuses when it runs") \
X(check_expanded, CALLS, CALLS, pass_check_expanded, 0, 0, "adds checks as check_data does, to operators that are expanded") \
X(expand, CALLS, CALLS, pass_expand, 0, 0, "replaces operators that are defined by others (alpha_dropout, triplet_margin_loss, linalg_norm ...) by these") \
X(functionalize, CALLS, CALLS, pass_functionalize, 0, 0, "replaces in-place ops (relu_, index_copy_, copy_ ...) by ops that return new values; writes to inputs and buffers become OUTPUT_MUTATION outputs") \
X(real_transforms, CALLS, CALLS, pass_real_transforms, HAS_COMPLEX | FOR_CPU, 0, "computes by a transform to real elements what only the real part is read of: gradients of transforms of real elements") \
X(split_complex, CALLS, CALLS, pass_split_complex, HAS_COMPLEX, 0, "splits complex values into real and imaginary parts") \
X(number_tensors, CALLS, CALLS, pass_number_tensors, 0, 0, "makes tensors without axes of numbers that data decides (.item()), where operators on elements take them, and of indices") \
X(narrow_operands, CALLS, CALLS, pass_narrow_operands, 0, 0, "rounds numbers and casts operands to the 16-bit dtype that eager mode computes in") \
X(narrow_sums, CALLS, CALLS, pass_narrow_sums, FOR_CPU, 0, "the same of what sums add, which eager mode does on CPUs alone") \
X(check_data, CALLS, CALLS, pass_check_data, 0, 0, "adds a check of data that an operator refuses, and of what the model asserts of data") \
X(check_unused, CALLS, CALLS, pass_check_unused, 0, 0, "adds a bounds check to indices of operators that nothing uses, which are removed") \
X(simplify, CALLS, CALLS, pass_simplify, 0, 0, "removes ops that change nothing (dropout in inference, contiguous, alias, casts to the same dtype, _assert_*, slices of everything ...), equal nodes (CSE) and dead nodes, and folds constant sizes") \
X(rewrite, CALLS, CALLS, pass_rewrite, 0, 0, "applies the rewrite rules (docs/rewrites.md)") \
X(horizontal_fusion, CALLS, CALLS, pass_horizontal_fusion, FUSED | FOR_GPU, 0, "makes one linear layer of those that share an input") \
X(check_indices, CALLS, CALLS, pass_check_indices, 0, 0, "adds a bounds check to each index that is not known to be in range") \
X(reinplace, CALLS, CALLS, pass_reinplace, 0, 0, "writes updates of a part of an input or a buffer in place") \
X(join_parts, CALLS, CALLS, pass_join_parts, FUSED, 0, "makes one concatenation of a sum of tensors of zeros that each have a part replaced") \
X(skip_rows, CALLS, CALLS, pass_skip_rows, FUSED | FOR_GPU, 0, "has products of batches leave out rows that nothing reads") \
X(byte_products, CALLS, CALLS, pass_byte_products, FUSED | FOR_CPU, 0, "multiplies bytes where both operands of a convolution or a linear layer are dequantized by quantized_decomposed") \
X(decompose, CALLS, PRIMS, pass_decompose, 0, 0, "decomposes composite ops into primitives (graph/ops/prims.h)") \
X(number_tensors_prims, PRIMS, PRIMS, pass_number_tensors, 0, 0, "number_tensors, once more: for what decompose leaves") \
X(merge_turned, PRIMS, PRIMS, pass_merge_turned, FUSED | FOR_GPU, 0, "computes once what is computed of a tensor and of a permutation of it") \
X(channels_last, PRIMS, PRIMS, pass_channels_last, 0, 0, "keeps images channels-last between convolutions, and in graphs that are given such") \
X(join_fields, PRIMS, PRIMS, pass_join_fields, FUSED, 0, "makes one expression of fields of a word that are taken apart and stacked") \
X(packed_products, PRIMS, PRIMS, pass_packed_products, FUSED | FOR_GPU, 0, "has products read weights of few bits, and compute their elements in tiles") \
X(few_rows, PRIMS, PRIMS, pass_few_rows, FUSED | FOR_CPU, 0, "has products of few rows read weights once, of few bits too, and compute their elements in registers") \
X(align_rows, PRIMS, PRIMS, pass_align_rows, FUSED | FOR_GPU, 0, "pads rows of products' operands that begin at no multiple of 16 bytes") \
X(dense_operands, PRIMS, PRIMS, pass_dense_operands, FUSED, 0, "has operands of products written as matrices by the kernels that compute them anyway") \
X(choose_libraries, PRIMS, PRIMS, pass_choose_libraries, LIBRARIES, 0, "makes calls of libraries (cuBLAS, BLAS, oneDNN) of the products that they compute faster") \
X(order_reductions, PRIMS, PRIMS, pass_order_reductions, FUSED | FOR_CPU, 0, "has reductions of permuted tensors go along axes as memory has them") \
X(gemv_to_reduction, PRIMS, PRIMS, pass_gemv_to_reduction, FUSED, 0, "turns products of a matrix and a vector into reductions, which read the matrix once in order") \
X(transpose_products, PRIMS, PRIMS, pass_transpose_products, FUSED | FOR_CPU, 0, "computes the transpose of a product whose left operand lies in memory by columns") \
X(round_operands, PRIMS, PRIMS, pass_round_operands, FUSED | FOR_GPU, 0, "rounds operands of large products in TF32 where they are in memory") \
X(split_k, PRIMS, PRIMS, pass_split_k, FUSED, 0, "cuts the sum over k of products with few programs into parts, which a reduction adds") \
X(split_reductions, PRIMS, PRIMS, pass_split_reductions, FUSED | FOR_GPU, 0, "cuts reductions with few programs, or of columns, into parts, and scans with few programs") \
X(split_columns, PRIMS, PRIMS, pass_split_columns, FUSED | FOR_CPU, 0, "cuts sums of columns into parts, whose programs go through whole rows") \
X(simplify_prims, PRIMS, PRIMS, pass_simplify, 0, 0, "simplify, once more: for equal nodes and casts to the same dtype that decompose leaves") \
X(order_few_rows, PRIMS, PRIMS, pass_order_few_rows, FUSED | FOR_CPU, 0, "puts operands of these products in the order in which vectors read them") \
X(freeze, PRIMS, PRIMS, pass_freeze, FROZEN, 0, "folds scales of products into their weights, and stores weights in the order in which they are read; not in mode eager") \
X(join_weights, PRIMS, PRIMS, pass_join_weights, FUSED | FROZEN | FOR_GPU, 0, "copies small weights that runs are given, to the order in which they are read, by one kernel") \
X(pack, PRIMS, PRIMS, pass_pack, FROZEN | FOR_CPU, 0, "packs weights of matrix products into panels for CPUs") \
X(check_primitives, PRIMS, PRIMS, pass_check_primitives, 0, 0, "refuses operators, numbers and types that no kernel has") \
X(hoist_loops, PRIMS, PRIMS, pass_hoist_loops, 0, 0, "moves what each iteration of a loop computes alike before the loop") \
X(concat_in_slices, PRIMS, PRIMS, pass_concat_in_slices, 0, 0, "lets the kernel of each source of a long concatenation, or of one of gradients of attention, write its slice of the result") \
X(insert_copies, PRIMS, PRIMS, pass_insert_copies, 0, 0, "inserts copies of values that need a buffer of their own")

/* The same from graphs to plans: passes that take and leave more than a graph. */
#define PLAN_PASSES(X) \
X(fuse, PRIMS, FUSED, pass_fuse, 0, 0, "puts nodes into groups that share a kernel") \
X(order_groups, FUSED, FUSED, pass_order_groups, SAVES_MEMORY, 0, "orders groups so that less memory is alive at once") \
X(write_kernels, FUSED, STEPS, pass_write_kernels, 0, 0, "writes the kernels, and the buffers and steps of the plan") \
X(place_temporaries, STEPS, PLAN, pass_place_temporaries, 0, 0, "gives each temporary a place in the pool") \
X(overlap_steps, PLAN, PLAN, pass_overlap_steps, FOR_GPU | EARLY_LOADS, 0, "marks arguments that a kernel loads before the step before it has ended")

/* Two rows may have the same function. */
#define X(name, takes, gives, function, ...) bool function(Graph *g);
GRAPH_PASSES(X)
#undef X
#define X(name, takes, gives, function, ...) bool function(struct PlanCompiler *c);
PLAN_PASSES(X)
#undef X
/* Is n a concatenation whose sources' kernels write their slices, if none reads it element by
 * element (planner/fuse/concat_slices.c)? */
bool concat_is_computed(Graph *g, const Node *n);

/* Has it complex values?  Only inputs and outputs have after pass split_complex. */
bool graph_is_complex(const Graph *g);

PassList graph_passes(void);
/* All: those on graphs, then those from graphs to plans. */
PassList planner_passes(void);

/* Another floating dtype (planner/passes/retype.c), before the passes.  `dtype`: f32, bf16 or f16.
 * False after errors, which are in g->diags. */
bool graph_retype(Graph *g, DType dtype);

#endif
