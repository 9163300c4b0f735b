/* The text form of plans: a line for each symbol, buffer and step, then the kernel file as it is.
 *
 *   plan GraphModule
 *   symbol s0 2..1024
 *   equal "s0" "s1" in "add"                 what a node takes to be equal: runs are held to it
 *   input %x 0 "f32[s0, 4]"                  what the caller passes as number 0
 *   input %n 1 "i64[]" gives "s1"            a number, which says what the symbol is
 *   weight %p_weight "0.weight" "f32[8, 4]"  by its name in the file
 *   constant %mul "f32[8, 4]"                computed by steps that run once
 *   temporary %linear "f32[s0, 8]" 1..2      from the step that writes it to the last that reads
 *   output %relu 0 "f32[s0, 8]"              what the caller gets as number 0
 *   output %full 1 "i64[]" gives "2*s0"      a number, which is known when sizes are
 *   return %relu, %full
 *   update %b_mean = %add                    after the last step
 *   loop from 1 to 4 while %lt at 2: %carried = %add, %carried_1 = %mul
 *       steps 1 on, until the bool %lt is false; if it is true, steps 2 to 3 and copies
 *   once mul(p_weight_ptr = %p_weight, mul_ptr = %mul, BLOCK: 32) grid 1, 1, 1 warps 1 stages 3
 *   step linear_relu(x_ptr = %x, n = "8*s0", scale = 0.5, BLOCK: 128) grid "(s0 + 15)//16", 1, 1
 *       warps 4 stages 3 covers linear "aten.linear.default", relu "aten.relu.default"
 *   call cublas.matmul(a = %x, b = %w, ...) covers mm "nereid.library_product.default"
 *   source
 *   import triton
 *   ...
 *
 * Sizes are integers or, in quotes, expressions of symbols (graph/ir/dim.h).  `name = ` gives an
 * argument, `name: ` a constexpr.  A temporary whose offset in the pool is known says `at OFFSET`,
 * and the line `pool BYTES` says how large that is.  Steps count from 0.  `once` is a step that
 * runs before the first run alone: such steps come first, and use weights, constants, and
 * temporaries that no other step uses.  `call` is a step of a library (planner/plan/call.h), `once
 * call` such a one that runs once.
 *
 * What was printed reads back, and prints the same. */
#ifndef NEREID_PLANNER_PLAN_PLAN_TEXT_H
#define NEREID_PLANNER_PLAN_PLAN_TEXT_H

#include "planner/plan/plan.h"

/* True if the text is a plan: its first word, after comments, is `plan`. */
bool plan_is_text(const char *text, size_t len);
/* Reads a plan from a source of `d`; NULL after errors.  Its graph has the nodes that steps cover,
 * by name and operator, without arguments. */
Plan *plan_read(Arena *a, Pool *names, Diags *d, uint32_t file);

#endif
