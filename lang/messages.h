/* Messages about a user's input, as printf formats: each room has a header like this one.
 *
 * Each message has a macro, whose name is its id for users: E_ for errors, W_ for warnings, N_ for
 * notes, H_ for hints, then its subject (each header names those it has).  A message says what is
 * wrong in the user's words, names the thing, and where it can, the remedy; R_ with the same name
 * is a remedy that the text has no room for.  The build makes a table of all (message_rows of
 * lang/base/diag.h), `make docs` docs/messages.md.  No two have one text, since the text finds the
 * id.  Some test expects each E_ macro, most of them one of tests/ROOM/errors/; `make lint` names
 * the others.
 *
 * This header: E_TILE_ of the tile IR's reader and verifier and of the text of both IRs, E_INTERP_
 * of the interpreters, E_ASM_ of inline assembly. */
#ifndef NEREID_LANG_MESSAGES_H
#define NEREID_LANG_MESSAGES_H

#define E_LANG_FILE_READ "can't read %s: %s"
#define E_LANG_OUT_OF_MEMORY "out of memory"
#define R_LANG_OUT_OF_MEMORY \
  "close other programs, raise the limit of memory, or take smaller arrays"
#define E_LANG_DIVISION_BY_ZERO "division by zero"

/* the text of both IRs */
#define E_TILE_CHAR "unexpected character with code %u"
#define E_TILE_NUMBER "`%.*s` is not a number of at most 64 bits"
#define E_TILE_ESCAPE "unknown escape in a string; any character can be written like \\x41"
#define E_TILE_UNDECLARED "`%s` is not declared"
#define E_TILE_STRING_END "the string is not closed on its line"
#define E_TILE_EXPECTED "expected %s, found %s"
#define E_TILE_INT_RANGE "the integer must be between %lld and %lld"
#define E_TILE_RANK "a tile has at most %d axes"
#define E_TILE_NUMEL "a tile has at most %d elements"
#define R_TILE_NUMEL "take a smaller block, and loop over blocks"
#define E_TILE_FILES "source locations name more than %d files"
#define E_TILE_ATTR_KIND "expected %s for attribute `%s`"
#define E_TILE_ATTR_TWICE "attribute `%s` is given twice"
#define E_TILE_ATTR_MANY "more than %d attributes"

/* the text of the tile IR */
#define E_TILE_OP "unknown operation `%s`"
#define E_TILE_UNKNOWN_VALUE "no value `%%%s` is defined before this use"
#define E_TILE_REDEFINED "`%%%s` is defined twice"
#define E_TILE_RESULT_TYPES "`%s` has %zu results here, but %zu types"
#define E_TILE_VIEW_LISTS "offsets, sizes and strides of a view must have one length"
#define E_TILE_ATTR_NAME "`%s` has no attribute `%s`"
#define E_TILE_DEPTH "blocks are nested more than %d deep"

/* the verifier of the tile IR */
#define E_TILE_SCOPE "`%%%s` is not visible at this `%s`"
#define E_TILE_TERMINATOR "a block of `%s` must end in `%s`"
#define E_TILE_TERMINATOR_LAST "`%s` must be the last operation of its block"
#define E_TILE_PARAM_SCALAR "parameter `%%%s` is %s; kernels take scalars and pointers"
#define E_TILE_OPERANDS "`%s` has %u operands; expected %u"
#define E_TILE_OPERAND "operand %u of `%s` is %s; expected %s"
#define E_TILE_RESULTS "`%s` has %u results; expected %u"
#define E_TILE_RESULT "result %u of `%s` is %s; expected %s"
#define E_TILE_PARAMS "a block of `%s` has %u parameters; expected %u"
#define E_TILE_PARAM "parameter %u of a block of `%s` is %s; expected %s"
#define E_TILE_COMBINE "`%s` needs either attribute `combine` or one combine block"
#define E_TILE_COMBINE_OP \
  "`%s` is not allowed in a combine block, which computes on scalars without memory accesses"
#define E_TILE_CLUSTER "`%s` is for the body of a kernel whose programs are clusters"
#define E_TILE_ATTR_MISSING "`%s` needs attribute `%s`"
#define E_TILE_ATTR_RANGE "attribute `%s` of `%s` has %lld; expected %lld to %lld"
#define E_TILE_ATTR_LENGTH "attribute `%s` of `%s` has %u entries; expected %u"
#define E_TILE_ATTR_WORD "attribute `%s` of `%s` is \"%s\"; expected one of: %s"
#define E_TILE_PERM "attribute `perm` names an axis twice"
#define E_TILE_SLICE "the slice exceeds axis %d, which has %d elements"
#define E_TILE_VIEW_RANK "the view has %u axes, its tile has %u"
#define E_TILE_CHECK_ORDER "attribute `check` must list axes in ascending order"

/* inline assembly: its constraints */
#define E_ASM_MANY \
  "constraint `%.*s` is one %s too many: the call has %u %s, and pack is %u"
#define E_ASM_LETTER \
  "constraint `%.*s` is unknown: a register is b, c, h, r, l, f or d, with = for an output"
#define E_ASM_WIDTH "constraint `%.*s` is a register of %u bits, which can't hold %u x %s"
#define E_ASM_REGISTERS "more than %d operands"
#define E_ASM_ORDER "output `%.*s` is after an input; outputs come first"
#define E_ASM_TIED "constraint `%.*s` names an output; there are %u"
#define E_ASM_PLUS \
  "constraint `%.*s` is not one of LLVM's: an operand that is read and written is an output and " \
  "an input that names it by its number, as in \"=r,0\""
#define E_ASM_PACK "pack = %u does not fill registers with %s"
#define E_ASM_COUNT \
  "the constraints name %u outputs and %u inputs; results and arguments take %u and %u registers"
/* its text */
#define E_ASM_HOLE "`$` is followed by no operand's number (%s); a dollar sign is written `$$`"
#define E_ASM_OPERAND "there is no operand `%.*s` (%s): the constraints name %u"
#define E_ASM_OPEN "`%s` is not closed (%s)"
#define E_ASM_CLOSE "`}` closes nothing (%s)"
/* what runs without a GPU */
#define E_ASM_UNKNOWN "`%s` runs on GPUs only"
#define E_ASM_SPECIAL "register `%s` is not declared, or one of a GPU's own"
#define E_ASM_LABEL "label `%s`: branches run on GPUs only"
#define E_ASM_TYPE "there are no registers of type `%s`"
#define E_ASM_NUMBER "`%s` is not a number of PTX"
#define E_ASM_EXPECTED "%s is expected here"
#define E_ASM_OPERANDS "`%s` takes another number of operands"
#define E_ASM_OPERAND_KIND "`%s` takes no such operand"
#define E_ASM_OPERAND_WIDTH "`%s` has %u bits, but `%.*s` takes %u"
#define E_ASM_RESULT "the result of `%s` is no register"
#define E_ASM_RUN "inline assembly: %s"
#define E_ASM_PLACE \
  "a result of this inline assembly depends on which elements share a call, which is open"
#define H_ASM_RUN "without a GPU run: %s"

/* the interpreters, and the memory they run on */
#define E_INTERP_BOUNDS "out of bounds: %s of %s at %s, %s '%s' (%llu x %s)"
#define E_INTERP_NULL "%s of %u bytes through a null pointer (address 0x%llx)"
#define E_INTERP_NOWHERE "%s of %u bytes at address 0x%llx, outside of all arrays"
#define E_INTERP_FOREIGN "%s of %u bytes through '%s', which points to memory unknown to the device"
#define E_INTERP_ALIGN "misaligned: %s of %u bytes at %s, an address that is not a multiple of %u"
#define E_INTERP_UNWRITTEN "this %s reads %s, which is uninitialized"
#define E_INTERP_CONFLICT \
  "conflict: program %llu %s %s, which program %llu %s, without synchronization"
#define E_INTERP_TWICE "this store writes %s more than once, with different values"
#define N_INTERP_OTHER "the other access"
#define E_INTERP_UNDEF "%s is undefined here"
#define N_INTERP_UNDEF_LOAD "it comes from this load, whose mask is false and which has no `other`"
#define N_INTERP_UNDEF "it comes from here"
#define E_INTERP_WRAP "the address comes from %s arithmetic that overflowed"
#define N_INTERP_WRAP "this %s overflows %s"
#define E_INTERP_GATHER "the index %lld is outside 0..%d"
#define W_INTERP_REPEAT \
  "%llu elements of '%s' are stored by more than one program, with equal values: first %s, by " \
  "programs %llu and %llu"
#define H_INTERP_REPEAT \
  "harmless if intended; otherwise, offsets may not depend on tl.program_id, or blocks may " \
  "overlap"
#define W_INTERP_UNWRITTEN "%llu of the %llu elements of '%s' are never written: first %s"
#define H_INTERP_NOT_ALL \
  "an `empty:` array is uninitialized there: is the grid too small, or a mask too narrow?"
#define E_INTERP_ASSERT "device_assert failed: %s"
#define E_INTERP_ASSUME "the assumption does not hold"
#define E_NEST_FALSE_HINT "%s does not hold"
#define E_INTERP_HINT "%s(%lld) does not hold: element %u is %lld"
#define E_INTERP_STEP "the loop's step is zero"
#define E_INTERP_DEADLOCK "deadlock: %zu programs wait, and none is left to wake them"
#define N_INTERP_WAITS "program %llu waits here"
#define E_INTERP_ENDLESS "infinite loop: in program %llu its values repeat"
#define E_INTERP_ITERATIONS \
  "stopped after %llu iterations of `while` in which no program ended: is this loop infinite?"
#define E_INTERP_STEPS "stopped after %llu operations: is a loop infinite?"
#define N_INTERP_ONCE "in program %llu"
#define N_INTERP_COUNT "first in program %llu, %llu times in all"
#define H_INTERP_BOUNDS "a mask such as `offsets < n` keeps a tile inside its array"
#define H_INTERP_BEFORE \
  "a mask such as `offsets >= 0` keeps a tile from the memory before its array"
#define H_INTERP_MASKED \
  "its mask is true there: does it compare each index with the extent of its own axis, and does " \
  "each index have the stride of its own axis?"
#define H_INTERP_FOREIGN \
  "this device checks each access: get the memory by nereid_alloc(), fill it by nereid_copy_in()"
#define H_INTERP_UNWRITTEN "an `empty:` array is uninitialized until the kernel writes it"
#define H_INTERP_CONFLICT \
  "give each program its own elements, or use atomics: acquire and release order programs"
#define H_INTERP_TWICE \
  "the final value is undefined: do the strides map two indices to one address?"
#define H_INTERP_WRAP "cast one operand to int64 before it is multiplied by a stride"

#endif
