/* The passes of kernels, in the order in which they run: from the tile IR that sema makes to the
 * level thread that codegen prints.  lang/base/pass.h explains the columns.  A machine's list has
 * the rows whose conditions its capabilities meet (lower/target/machine.h).
 *
 * Three folders own passes and export nothing else: lower/tile takes and gives tile IR,
 * lower/pipeline takes and gives level nest, lower/thread takes and gives level thread (its licm
 * either level).  The other passes are entries of lower/schedule, lower/build and lower/bind. */
#ifndef NEREID_LOWER_PASSES_H
#define NEREID_LOWER_PASSES_H

#include "lower/lower.h"

/* name, takes, gives, function, needs, without, meaning */
#define KERNEL_PASSES(X) \
X(loop_over_programs, TILE, TILE, pass_loop_over_programs, HAS_ASYNC_PROXY, 0, "with option `loops`, puts a product's kernel into a loop over the programs of its grid, of which a launch starts fewer") \
X(induction_variables, TILE, TILE, pass_induction_variables, 0, 0, "replaces a tile that a loop carries and moves by a scalar by an invariant tile plus that scalar") \
X(fold_ranges, TILE, TILE, pass_fold_ranges, 0, 0, "removes masks that ranges of integers show to be true") \
X(strip_rows, TILE, TILE, pass_strip_rows, HAS_COALESCING, 0, "strip-mines rows that registers can't hold: loops over strips of them, which shared memory keeps") \
X(split_rows, TILE, TILE, pass_split_rows, HAS_CLUSTERS, 0, "divides the rows that a loop takes one by one among the thread blocks of a cluster, whose registers hold what all iterations need") \
X(dce, TILE, TILE, pass_dce, 0, 0, "removes dead ops: dead-code elimination before tiles get layouts") \
X(hoist_loads, TILE, TILE, pass_hoist_loads, HAS_COALESCING, 0, "hoists loop-invariant loads out of loops that certainly run and write nothing") \
X(reverse_loops, TILE, TILE, pass_reverse_loops, HAS_COALESCING, 0, "runs a loop from its end if it loads what an earlier loop has loaded: caches have lost the beginning") \
X(load_ahead, TILE, TILE, pass_load_ahead, HAS_COALESCING, 0, "loads what the next iteration of a loop reduces, where iterations meet at barriers") \
X(early_loads, TILE, TILE, pass_early_loads, HAS_GRID_DEPENDENCIES, 0, "moves loads of memory that no running kernel writes before the wait for the kernel before this one") \
X(narrow_lanes, TILE, TILE, pass_narrow_lanes, HAS_LOCKSTEP, 0, "halves the lanes of a CPU where most of the data are 64 bits wide, so that a vector fits a register, and where divisions leave shorter runs of neighbours") \
X(turn_products, TILE, TILE, pass_turn_products, HAS_ASYNC_PROXY, 0, "computes the transpose of a product whose second operand a warpgroup's instruction can't read as memory has it") \
X(schedule, TILE, SCHEDULED, pass_schedule, 0, 0, "assigns a layout to every tile that registers hold") \
X(build, SCHEDULED, NEST, pass_build, 0, 0, "lowers ops on tiles to statements over layouts") \
X(hoist, NEST, NEST, pass_licm, 0, 0, "hoists loop-invariant scalars out of loops") \
X(pipeline, NEST, NEST, pass_pipeline, 0, 0, "software-pipelines loops around dots: operands become asynchronous copies into rings") \
X(sink_wait, NEST, NEST, pass_sink_wait, HAS_GRID_DEPENDENCIES, 0, "moves the wait for the kernel before this one down to the first access to memory that it may write") \
X(bind, NEST, THREAD, pass_bind, 0, 0, "binds the axes of layouts to warps, lanes and registers: the program of one thread") \
X(licm, THREAD, THREAD, pass_licm, 0, 0, "hoists loop-invariant statements and unrolled loops out of loops") \
X(cse, THREAD, THREAD, pass_cse, 0, 0, "eliminates common subexpressions, then dead statements and variables") \
X(fuse_unrolled, THREAD, THREAD, pass_fuse_unrolled, HAS_EXPANDED_LOOPS, 0, "fuses adjacent unrolled loops of the same extent, which shortens live ranges") \
X(shift_compares, THREAD, THREAD, pass_shift_compares, HAS_COALESCING, 0, "compares the columns of a thread, which differ by constants, with a bound by these constants") \
X(fuse_loops, THREAD, THREAD, pass_fuse_loops, 0, HAS_EXPANDED_LOOPS, "fuses loop nests over the same elements, so that each element stays in a register") \
X(forward_copies, THREAD, THREAD, pass_forward_copies, 0, HAS_BANKED_SHARED, "forwards copies: loads of a shared buffer read the global memory that it was copied from") \
X(field_tables, THREAD, THREAD, pass_field_tables, HAS_LOCKSTEP, 0, "makes tables of what is computed of fields of four bits: each value is a shuffle") \
X(prefetch, THREAD, THREAD, pass_prefetch, HAS_SERIAL_PROGRAMS, 0, "prefetches the next program's row") \
X(peel_masks, THREAD, THREAD, pass_peel_masks, 0, HAS_EXPANDED_LOOPS, "peels the mask off loops over a row's full vectors, and ends loops after its last element") \
X(prefetch_steps, THREAD, THREAD, pass_prefetch_steps, HAS_SERIAL_PROGRAMS, 0, "prefetches the operands of a product's next step, and next rows") \
X(allocate_shared, THREAD, THREAD, pass_allocate_shared, 0, 0, "allocates shared memory: an offset for each buffer") \
X(sync, THREAD, THREAD, pass_sync, 0, 0, "inserts barriers between conflicting accesses") \
X(prove_rings, THREAD, THREAD, pass_prove_rings, HAS_ASYNC_COPIES, 0, "proves that copies and products that run while threads go on are in order, for any number of iterations")

#define X(name, takes, gives, function, ...) bool function(Unit *u);
KERNEL_PASSES(X)
#undef X

#endif
