/* Passes: E_LOWER_, and W_RING_ of orders that prove_rings does not prove.  The loop-nest IR:
 * E_NEST_ of its reader, verifier and interpreter, E_RACE_ of the races that the interpreter
 * finds. */
#ifndef NEREID_LOWER_MESSAGES_H
#define NEREID_LOWER_MESSAGES_H

/* passes and the schedule's reader */
#define E_LOWER_PASS_STAGE "pass `%s` takes %s, but is given %s"
#define E_LOWER_NO_TARGET "there is no target `%s`; `nereid info` lists them"
#define E_LOWER_LAYOUT "this layout does not fit: %s"
#define E_LOWER_SCHEDULE_VALUE "`%%%s` is no tile of the kernel"
#define E_LOWER_SCHEDULE_NONE "the schedule has no layout for `%%%s`"
#define E_LOWER_SCHEDULE_INDEX "`%%%s` is computed where it is used, so it has no layout"
#define E_LOWER_SCHEDULE_STORE "the schedule has no layout for store %u"
#define E_LOWER_SCHEDULE_ROOM \
  "the layout of `%%%s` pads the dot's operand `%%%s` to over %d elements"
#define E_LOWER_SCHEDULE_ATOM "atom %s does not fit `%%%s`: its types, or its layout, are others"
#define E_LOWER_CONST "Cannot store to a constant pointer: '%s' is declared tl.const"
#define E_LOWER_BIND "this cannot be distributed over threads: %s"
#define E_LOWER_COMBINE \
  "`%s` in a combine block runs on device interp alone: elsewhere it computes without control flow"
#define E_LOWER_ATOM "there is no atom `%s`"
#define E_LOWER_SHARED "`%s` needs %lld bytes of shared memory, but %s has %lld for a program"
#define N_LOWER_BUFFER "buffer @%s takes %lld bytes, at %lld"
#define H_LOWER_SHARED "use smaller blocks or fewer stages"

/* the proof of rings */
#define N_RING_OTHER "this came before"
#define N_RING_SYNCHRONOUS "so the kernel is compiled without copies and products that run ahead"
#define W_RING_COPY \
  "the order of accesses in `%s` is not proven: a copy may still be writing these bytes"
#define W_RING_PRODUCT \
  "the order of accesses in `%s` is not proven: a product may still be reading these bytes"
#define W_RING_SENT \
  "the order of accesses in `%s` is not proven: a box may still be stored from these bytes"
#define W_RING_BARRIER \
  "the order of accesses in `%s` is not proven: " \
  "no barrier orders this and another thread's access"
#define W_RING_FENCE \
  "the order of accesses in `%s` is not proven: " \
  "no proxy fence orders what threads wrote and the asynchronous proxy"
#define W_RING_FENCE_BARRIER \
  "the order of accesses in `%s` is not proven: " \
  "no barrier is between a proxy fence and the asynchronous proxy"
#define W_RING_REGISTERS \
  "the order of accesses in `%s` is not proven: a product may still be using these registers"
#define W_RING_REGISTER_FENCE \
  "the order of accesses in `%s` is not proven: " \
  "no fence of kind mma is between a thread's and a product's registers"
#define W_RING_NO_MBARRIER \
  "the order of accesses in `%s` is not proven: no mbarrier, or already one, is here"
#define W_RING_DEADLOCK \
  "the order of accesses in `%s` is not proven: this waits for a phase that nothing ends"
#define W_RING_PARITY \
  "the order of accesses in `%s` is not proven: this parity is that of another phase"
#define W_RING_ARRIVAL \
  "the order of accesses in `%s` is not proven: " \
  "a phase begins before all threads have waited for the last one"
#define W_RING_BYTES \
  "the order of accesses in `%s` is not proven: " \
  "the phase expects other bytes than its copies have"
#define W_RING_END \
  "the order of accesses in `%s` is not proven: the kernel may end before this copy has"
#define W_RING_UNKNOWN \
  "the order of accesses in `%s` is not proven: " \
  "the address, the guard or the parity has no known value"
#define W_RING_ROLES "the order of accesses in `%s` is not proven: roles of warps are not explored"
#define W_RING_STATES "the order of accesses in `%s` is not proven: there are too many states"

/* the reader */
#define E_NEST_LAYOUT_TEXT \
  "this is no layout such as [64 = 2@warp:1 32@lane:1] * 4@reg:1, of at most %d digits"
#define E_NEST_STATEMENT "unknown statement `%.*s`"
#define E_NEST_ATTR "`%s` has no attribute `%s`%s%s"
#define E_NEST_TWICE "`%s` is declared twice"
#define E_NEST_NOALIAS "`noalias` takes pointer parameters, and `%s` is none"
#define E_NEST_MAP \
  "map `%s` has 1 to 5 axes of 1 to 256 elements, the first of 32, 64 or 128 bytes, and integers"
#define E_NEST_BULK_COPY \
  "`bulk.copy` takes a map and as many i32 coordinates, and copies to a buffer; second: an mbarrier"
#define E_NEST_BULK_STORE \
  "`bulk.store` takes a map and as many i32 coordinates, and copies from a buffer"
#define E_NEST_MBARRIER "`%s` takes an mbarrier, 8 bytes of a buffer"
#define E_NEST_NOALIAS_TWICE "`noalias` names `%s` and `%s` twice"
#define E_NEST_NO_INDEX "no enclosing loop has the index `%.*s`"
#define E_NEST_TERMS "an affine form has at most %d terms"
#define E_NEST_RANK "`%%%s` has %d axes, not %d"
#define E_NEST_AXES "the layout has %d axes, and there are %d indices"
#define E_NEST_SCALAR_TYPE "a type without a shape is expected here"
#define E_NEST_MEMS "`%s` has at most %d addresses"
#define E_NEST_REGISTERS "a variable has one axis and at most %d registers"
#define E_NEST_LANES "lanes must be a power of two, 1 to 32"

/* the verifier */
#define E_NEST_HINT_OUTSIDE "`%s` is about the axes of a `nest`, and outside of one"
#define E_NEST_HINT_GROUP "%lld is no power of two, as groups of neighbours are"
#define E_NEST_LEVEL "`%s` is no statement of level %s"
#define E_NEST_INSIDE "`%s` cannot be inside `%s`"
#define E_NEST_COUNT "`%s` has %d %s; expected %d"
#define E_NEST_EMPTY "`%s` has an empty operand or result, or a result that is no variable"
#define E_NEST_UNTYPED "`%s` needs a type (`: f32`)"
#define E_NEST_TYPE "`%s` on %s; expected %s"
#define E_NEST_RESULT "the result of `%s` is %s; expected %s"
#define E_NEST_GUARD "`%s` takes no `if`"
#define E_NEST_GUARD_TYPE "the guard of `%s` is no variable of type i1"
#define E_NEST_WRITE "`%%%s` is %s, and not to be written"
#define E_NEST_SCOPE "index `%s` is used outside of its loop"
#define E_NEST_WRAP "the affine form's values do not fit 64 bits"
#define E_NEST_SUBSCRIPT "`%%%s` is subscripted from %lld to %lld, and has %u registers"
#define E_NEST_AXIS_RANGE "subscript %d of `%%%s` runs from %lld to %lld; the axis has %d elements"
#define E_NEST_WHOLE "tile `%%%s` is subscripted outside of a `nest`"
#define E_NEST_UNIFORM "`%%%s` is declared uniform, but %s is not"
#define E_NEST_CONTROL "an operand or the guard of `%s` is not uniform"
#define E_NEST_EXTENT "index `%s` has %d values; the layout's axis has %d elements"
#define E_NEST_LAYOUT "the layout of `%s` is not legal: %s"
#define E_NEST_TILE_VAR "`%%%s` is a tile, which level thread does not have"
#define E_NEST_ALL_REGISTERS "the variables have more than %d registers together, of all threads"
#define E_NEST_BUFFER \
  "buffer `@%s` exceeds the %lld bytes of shared memory, or its offset is no multiple of %lld"
#define E_NEST_ROLES "the roles have %lld warps together, the program has %d"
#define E_NEST_EXPANDED "the unrolled loops expand to more than %d statements"
#define E_NEST_PRINT_SHAPE "attribute `shape` of `print` must be %u extents, as in \"16x64\""
#define E_NEST_BASE "the base of this address must be %s"
#define E_NEST_BOUNDS "offsets %lld to %lld for %lld bytes in buffer `@%s`, which has %lld"
#define E_NEST_ALIGN "%lld bytes in `@%s` at an address that is not always a multiple of %lld"
#define E_NEST_WIDTH "an access of %lld bytes; a thread's access has 1, 2, 4, 8 or 16"
#define E_NEST_CP_ASYNC "`cp.async` copies to a buffer (first) from global memory (second)"
#define E_NEST_LDMATRIX                                                                   \
  "`ldmatrix` reads 1, 2 or 4 matrices from a buffer into elements of 1 to 4 bytes; "     \
  "transposed, elements of other than 2 bytes need 2 matrices"
#define E_NEST_WGMMA                                                                      \
  "`wgmma` computes 8 to 256 columns, a multiple of 8, from buffers of its types "  \
  "whose layouts a matrix descriptor knows; those of 8 bits are contiguous along k"
#define E_NEST_ATOM_KIND "`%s` is no statement for the atom \"%s\""
#define E_NEST_ATOM "there is no atom \"%s\""
#define E_NEST_FOR_INDEX "the index of `for` is no integer"
#define E_NEST_COMBINE "`%s` needs either attribute `combine` or a region"
#define E_NEST_COMBINE_OP "\"%s\" does not combine two elements of one operand into one"
#define E_NEST_PARAMS "the region of `%s` has %u parameters; expected %u"
#define E_NEST_PARAM "parameter `%%%s` of the region is no scalar of the operand's type"
#define E_NEST_DOT \
  "operand %u of `dot` is neither a tile nor a buffer that holds one (`_`, and its address)"
#define E_NEST_TURN                                                                       \
  "`turn` has two buffers of one tile, of 1 or 4 bytes an element, in layouts of `wgmma`'s " \
  "operands that are contiguous along different axes, and a part for each warp"
#define E_NEST_PAIRS \
  "both operands of `dot` have K in pairs (0 1 8 9, 2 3 10 11, ...), or none has"
#define E_NEST_TILES "`%s` works on whole tiles, which have one layout if there are several"
#define E_NEST_SHAPE "the result of `%s` does not fit its operand, or there is no such axis"
#define E_NEST_COPY "`copy` has one `ld` from global memory and one `st` to a buffer"
#define E_NEST_EARLY \
  "`%s` accesses memory that is not steady, and the wait for the kernel before comes after it"

/* the interpreter of loop nests */
#define E_NEST_NOT_BOUND "only level thread can be run"
#define E_NEST_MEMORY "a program takes %lld MiB here, more than %lld"
#define E_NEST_SHARED_BOUNDS "%u bytes at offset %lld of buffer `@%s`, which has %lld"
#define E_NEST_SHARED_ALIGN "%u bytes at offset %lld of buffer `@%s`, no multiple of %u"
#define E_NEST_BARRIER "this barrier waits for %u warps, and others at it for %u"
#define E_NEST_CLUSTER_TARGET "target %s has no clusters of thread blocks"
#define E_NEST_CLUSTER_ORDER "`%s` does not take turns with `%s`, which comes first"
#define E_NEST_CLUSTER "a cluster of %d thread blocks of %d warps; %d warps in all are the most"
#define E_NEST_EXCHANGE "blocks exchange 4 or 8 bytes, which a %s has not"
#define E_NEST_EXCHANGE_TURNS \
  "an exchange has a value, and in a loop the parity of its mbarrier's phase"
#define E_NEST_EXCHANGE_EARLY \
  "no `cluster.wait` is before the exchange: other thread blocks may not run yet"
#define E_NEST_NO_CLUSTER "`%s` is for the body of a nest whose programs are clusters"
#define E_NEST_DEADLOCK \
  "deadlock: in program %llu, %u warps have not ended (%u have), and a barrier waits for more"
#define N_NEST_WAITS "warp %u waits here"
#define E_RACE "race: %s %s %s, which %s %s, with no barrier between"
#define E_RACE_ORDER \
  "race: %s accesses global memory, and no barrier orders that %s the atomic of %s"
#define E_RACE_IN_FLIGHT "race: this %s %s, where an asynchronous copy has not ended"
#define N_RACE_COPY "the copy, whose group was not waited for"
#define E_RACE_SOURCE \
  "race: global memory was written while this asynchronous copy was reading it"
#define E_RACE_PROXY \
  "race: this reads %s through the asynchronous proxy, before a fence by its writer"
#define H_RACE_PROXY \
  "`fence {kind \"proxy\"}` by the threads that wrote, and then a `bar`, would order them"
#define E_NEST_NO_MBARRIER "no mbarrier was made at byte %lld of `@%s`"
#define E_NEST_MBARRIER_FULL \
  "this arrives at an mbarrier at which all have arrived, and whose bytes are not all on their way"
#define E_NEST_STORE_OPEN \
  "the program ends before this box of `@%s` has been read: nothing waits for its group"
#define E_NEST_STORE_SOURCE "race: `@%s` was written while this was storing a box of it"
#define E_NEST_FLIGHT_WRITTEN \
  "`%%%s` was written while a matrix instruction was computing it; wait for its group first"
#define H_RACE "a `bar` that both pass, between the two, would order them"
#define H_LOWER_BUDGET "smaller blocks or more warps (num_warps) give each thread less to do"

#endif
