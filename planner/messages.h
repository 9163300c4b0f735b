/* Passes on graphs, kernels and plans: E_GRAPH_ and E_REWRITE_. */
#ifndef NEREID_PLANNER_MESSAGES_H
#define NEREID_PLANNER_MESSAGES_H

/* graphs as text, and what is not supported */
#define E_GRAPH_NO_KERNEL "no kernel can be made yet for torch.ops.%s (node %s)"
#define R_GRAPH_NO_KERNEL \
  "write the model with other operators; docs/graph-ops.md lists those that have kernels"
#define N_GRAPH_KERNEL_FAILED "%s is computed by the kernel %s, which could not be made"
#define E_GRAPH_INDEX_SIZE \
  "an index in the kernel of %s overflows 64 bits, or has too long an expression: export with " \
  "smaller sizes, or fixed ones"
#define E_GRAPH_MEMORY "the tensors between the kernels need more than 2^48 bytes"
#define R_GRAPH_MEMORY "take a smaller batch, or smaller sizes"

/* types of results */
#define E_GRAPH_COMPLEX_RANK "%s: complex numbers can't have more than %d axes"
#define E_GRAPH_TRANSFORM_NORM "norm is forward, backward or ortho, not '%s'"
#define E_GRAPH_FITS_DTYPE "%s is %g, which %s can't hold"
#define E_GRAPH_WHOLE "%s is a float, and must be an integer where the operands are"
#define E_GRAPH_LIMITS "%s is %g, and must be %s"
#define M_GRAPH_COMPLEX "%s is a complex number: a negative one to the power of a fraction"
#define M_GRAPH_FITS "%s is beyond what %s can hold"
#define M_GRAPH_ZERO "the divisor %s is 0"
#define M_GRAPH_PROBABILITY "%s is not between 0 and 1"
#define M_GRAPH_RATE "%s is negative or not finite, and no probability"
#define M_GRAPH_RATES "the probabilities in a row of %s add up to no more than 0"
#define M_GRAPH_EVENTS "%s is negative, and no rate of events"
#define M_GRAPH_SINGULAR "a matrix of %s is singular"
#define M_GRAPH_NOT_DEFINITE "a matrix of %s is not positive-definite"
#define M_GRAPH_LENGTHS "%s has a length that the loss can't have"
#define M_GRAPH_PIVOTS "a pivot of %s is no row of the matrix"
#define M_GRAPH_ASSERTED "an assertion of the model fails"
#define M_GRAPH_FALLING "%s are ends of groups, and one is less than the one before"
#define M_GRAPH_UNEVEN \
  "%s are ends of groups of 8-bit floats, and one before the last is no multiple of 16"
#define E_GRAPH_OUT_OF_DTYPE "%s: %lld is no number of %s"
#define E_GRAPH_PLAN_LOOP \
  "loop while %%%s: its condition is a bool without axes, its steps are in the plan, and other " \
  "loops are within it or outside of it"
#define E_GRAPH_PLAN_READ "size %s must be read from an i64 scalar, after the sizes that come first"
#define E_GRAPH_READ                                                                       \
  "%s is %lld, out of its range 0 to %lld: the data has numbers that the model allows no " \
  "room for, or the model counts wrong"

/* passes on graphs */
#define E_GRAPH_TILE \
  "%s uses scores of an attention, which its kernel alone has: they may go through elementwise " \
  "operators to an argument `scores`, `mask` or `chain`"
#define E_GRAPH_TILE_INDEX \
  "%s reads %s, scores of an attention, at another row, key or head than it computes, and a " \
  "kernel has no others: compute them by a product (torch.matmul), which has a buffer"
#define E_GRAPH_WRITES \
  "%s: the in-place write of %s is not supported; use the op that returns a value"
#define E_GRAPH_WRITE_VIEW \
  "%s writes through %s, which is not supported; write to the tensor itself"
#define E_GRAPH_MAYBE_VIEW \
  "%s = %s may be a view of %s, to which %s writes, or a copy: " \
  "write .clone() in the model to have a copy"

/* plans, and running them */
#define E_GRAPH_PLAN_SIZE "a size in a plan: %s"
#define E_GRAPH_PLAN_RANGE "symbol %s has an empty range; sizes are never negative"
#define R_GRAPH_PLAN_RANGE "export the model with a range for the size that has a number in it"
#define E_GRAPH_PLAN_UPDATE "%%%s cannot be updated from %%%s, which is of another type"
#define E_GRAPH_PLAN_NUMBER "%%%s is a number, so it is of type \"i64[]\""
#define E_GRAPH_PLAN_ONCE_LATE "%s runs once, so it must come before the steps of each run"
#define E_GRAPH_PLAN_STEADY \
  "%%%s is not steady for %s: a step that may not have ended writes it, or is the first of a run"
#define E_GRAPH_PLAN_ONCE_USE "%s runs once, before the first value of %%%s"
#define E_GRAPH_PLAN_ONCE_SIZE "%s runs once, so its sizes are numbers"
#define E_GRAPH_PLAN_ONCE_GONE \
  "%%%s is written by a step that runs once and read by %s in each run: make it a constant"
#define E_GRAPH_PLAN_BUFFER "no earlier line defines buffer %%%s"
#define E_GRAPH_INPUT_KIND \
  "input %s is neither a tensor nor an integer; export the model with a tensor in its place"
#define E_GRAPH_OPERAND_NUMBER \
  "%s takes the number %s, which %s computes, as an operand; of numbers only literals and what " \
  "is made of sizes or .item() can be: compute it by tensors in the model, from torch.tensor(...)"
#define E_GRAPH_INPUT_COUNT "the model takes %u inputs, not %d"
#define E_GRAPH_INPUT_DTYPE "input %u (%s) is of dtype %s, not %s"
#define R_GRAPH_INPUT_DTYPE "convert the input to the dtype that the model was exported with"
#define E_GRAPH_INPUT_RANK "input %u (%s) has %d axes, not %u"
#define R_GRAPH_INPUT_RANK "reshape the input to the rank that the model was exported with"
#define E_GRAPH_INPUT_NUMBER \
  "input %u (%s) is a number: pass an i64 tensor without axes, in host memory"
#define E_GRAPH_INPUT_FIXED \
  "%s is %lld, not %lld, which is fixed in the file; " \
  "export the model again with a dynamic size there"
#define E_GRAPH_INPUT_SIZE "%s is %lld, but %s is %lld as %s has it"
#define E_GRAPH_INPUT_EQUAL \
  "node %s takes %s and %s to be equal; for these inputs they are %lld and %lld"
#define E_GRAPH_INPUT_DIFFER \
  "node %s takes %s and %s to differ; for these inputs they are %lld and %lld"
#define E_GRAPH_INPUT_SMALL \
  "node %s takes %s to be at least %s; for these inputs it is %lld, below %lld"
#define E_GRAPH_INPUT_UNDEFINED \
  "node %s takes %s and %s to be %s; for these inputs one of them has no value"
#define E_GRAPH_INPUT_DERIVED "%s is %lld, but %s is %lld"
#define E_GRAPH_INPUT_FOLLOWS "%s is %lld, but %s is %lld, where %s is %lld as %s has it"
#define E_GRAPH_INPUT_RANGE "%s is %lld, but %s is from %lld to %lld"
#define E_GRAPH_INPUT_LEAST "%s is %lld, but %s is at least %lld"
#define E_GRAPH_NO_SIZE "%s: axis %u is %s, which has no value for inputs of these shapes"
#define E_GRAPH_STEP_VALUE "kernel %s: %s has no value for inputs of these shapes"
#define E_GRAPH_NO_WEIGHT "the model needs tensor %s, which no file gives: name one by --weights"
#define E_GRAPH_TOO_LARGE "%s is too large: its %u axes have more than 2^48 bytes"
#define E_GRAPH_PLAN_RECORDS \
  "%%%s must have two i64 numbers for each of its checks, of which it needs one or more"
/* rewrite rules */
#define E_REWRITE_EMPTY \
  "the file has no rules: a rule is a class with functions pattern and replacement"
#define E_REWRITE_RULE "rule %s lacks a function pattern or replacement"
#define E_REWRITE_PARAMETERS "the functions of rule %s must have the same parameters"
#define E_REWRITE_ANNOTATION \
  "parameter %s must be annotated as float, int, bool, list, any, or a type such as \"f32[..., " \
  "D]\""
#define E_REWRITE_EXPRESSION "this cannot be used here in a rule: %s"
#define E_REWRITE_NAME "%s has no value here"
#define E_REWRITE_OP "unknown operator %s"
#define E_REWRITE_BODY "%s may have assignments of one name and asserts, and then returns a value"
#define E_REWRITE_ROOT "%s must return the result of a call"
#define E_REWRITE_UNUSED "the pattern does not use its parameter %s"
#define E_REWRITE_LARGE \
  "rule %s is too large: at most 64 calls, parameters and sizes, 16 asserts and 500 terms are " \
  "supported"
#define N_REWRITE "in the replacement of rule %s"
#define E_REWRITE_TYPE "rule %s replaces %s, which is %s, by a value of type %s"
#define E_REWRITE_ROUNDS "rule %s matches replacements without end"
#define E_GRAPH_RETYPE_COMPLEX \
  "%s is complex, so the model runs in its own dtype only; leave --dtype out"
#define E_GRAPH_RETYPE_BITS \
  "%s reads the bits of floats, so the model runs in its own dtype only; leave --dtype out"
#define E_GRAPH_CALL_STRIDES \
  "%s: a library can't read %s, whose elements are at no fixed distances in memory"
#define E_GRAPH_CALL_ARGS \
  "a call of %s must have the arguments of a product: a, b, out and its numbers"

#endif
