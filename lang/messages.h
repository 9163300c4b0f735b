/* Every message that Nereid prints about a user's input, as one list of printf formats.
 *
 * One macro a message: E_ for errors, W_ for warnings, N_ for notes, H_ for hints, then the room
 * (PARSE_, SEMA_, TILE_, LOWER_, GEN_, RUN_, CLI_).  A message says what is wrong in the user's
 * words, names the thing, and where it can, says what to do.  tests/errors/ has a case for each
 * E_ macro; `make lint` names those without one.
 */
#ifndef NEREID_LANG_MESSAGES_H
#define NEREID_LANG_MESSAGES_H

/* ---- parser ---- */

#define E_PARSE_TOO_BIG "the file is larger than %d MiB"
#define E_PARSE_STRING "the string is not closed on its line"
#define E_PARSE_TRIPLE "the triple-quoted string is never closed: the rest of the file is in it"
#define E_PARSE_FIELD "a field of the f-string lacks its '}'"
#define E_PARSE_FIELD_EMPTY "the field of the f-string is empty: write {{}} for braces"
#define E_PARSE_BRACE "a single '}' in an f-string: write '}}' for a brace"
#define E_PARSE_ESCAPE "bad escape '%.*s' in a string"
#define E_PARSE_CHAR "unexpected character '%.*s' (U+%04X)"
#define E_PARSE_CHAR_CODE "unexpected character U+%04X"
#define E_PARSE_BYTE "byte 0x%02x is not valid UTF-8"
#define E_PARSE_NUL "the file has a NUL byte here"
#define E_PARSE_BACKSLASH "a backslash continues a line only as its last character"
#define E_PARSE_NUMBER "bad number '%s': %s"
#define E_PARSE_UNCLOSED "'%s' is never closed"
#define E_PARSE_STRAY "'%s' closes nothing"
#define E_PARSE_MISMATCH "'%s' does not close '%s'"
#define N_PARSE_OPENED "'%s' was opened here"
#define E_PARSE_BRACKETS "more than %d brackets are open here"
#define E_PARSE_DEPTH "the expression is nested too deep: more than %d levels"
#define E_PARSE_BLOCKS "the statements are nested too deep: more than %d levels"
#define E_PARSE_INDENTS "more than %d levels of indentation"
#define E_PARSE_DEDENT "the indentation matches no block around this line"
#define E_PARSE_INDENT "the line is indented, but no block begins here"
#define E_PARSE_TABS "tabs and spaces are mixed: the indentation depends on the width of a tab"
#define E_PARSE_BLOCK "expected an indented block after '%s'"
#define N_PARSE_HEAD "the block belongs to this line"
#define E_PARSE_ORPHAN "'%s' belongs to nothing"
#define E_PARSE_DECORATOR "a decorator must be followed by a function or a class"
#define E_PARSE_COLON "expected ':' after '%s'"
#define E_PARSE_COND_ASSIGN "'=' assigns: write '==' to compare"
#define E_PARSE_ASSIGN "'=' can't stand here: write '==' to compare"
#define E_PARSE_TARGET "can't assign to %s"
#define E_PARSE_STAR "a starred expression must be part of a list or tuple"
#define E_PARSE_KEYWORD "'%s' is a keyword and can't be a name"
#define E_PARSE_KEYWORD_ARG "a keyword argument is written name=value"
#define E_PARSE_ARG_ORDER "a positional argument follows a keyword argument"
#define E_PARSE_PARAM "parameter '%s' %s"
#define E_PARSE_ELSE_IF "write 'elif' for 'else if'"
#define E_PARSE_C_LOGIC "write '%s' for '%s'"
#define E_PARSE_INCREMENT "there is no '%c%c': write 'x %c= 1'"
#define E_PARSE_ELSE "the conditional expression lacks its 'else'"
#define E_PARSE_LINE_END "the line ends after '%s', where more is expected"
#define E_PARSE_ADJACENT "unexpected '%s' after '%s': is an operator or a comma missing?"
#define E_PARSE_UNEXPECTED "unexpected '%s'"
#define E_PARSE_AWAIT "'%s' has no meaning in a kernel"
#define E_PARSE_LOOP "'%s' outside a loop"
#define E_PARSE_FROM "expected a module between 'from' and 'import'"
#define H_PARSE_NOT "write 'not x' for '!x'"
#define H_PARSE_IFEXP "write 'a if condition else b' for 'condition ? a : b'"
#define H_PARSE_QUOTES "this looks like a quote from a text program: use ' or \""
#define H_PARSE_SPACE "this looks like a space, but isn't one"
#define H_PARSE_MINUS "this looks like a minus sign: use -"
#define H_PARSE_WALRUS "':=' needs parentheses around it, or write '='"

/* ---- sema ---- */

/* ---- tile IR (reader, verifier, interpreter) ---- */

/* the text of both IRs */
#define E_TILE_CHAR "unexpected character with code %u"
#define E_TILE_NUMBER "`%.*s` is no number that fits 64 bits"
#define E_TILE_ESCAPE "unknown escape in a string; known are \\\" \\\\ \\n \\t \\r \\x01 to \\xff"
#define E_TILE_STRING_END "the string is not closed on its line"
#define E_TILE_EXPECTED "expected %s, found %s"
#define E_TILE_INT_RANGE "the integer must be between %lld and %lld"
#define E_TILE_RANK "a tile has at most %d axes"
#define E_TILE_NUMEL "a tile has at most %d elements"
#define E_TILE_FILES "places name more than %d files"
#define E_TILE_ATTR_KIND "expected %s for attribute `%s`"
#define E_TILE_ATTR_TWICE "attribute `%s` is given twice"
#define E_TILE_ATTR_MANY "more than %d attributes"

/* the text of the tile IR */
#define E_TILE_OP "unknown operation `%s`"
#define E_TILE_UNKNOWN_VALUE "no value `%%%s` is defined before this use"
#define E_TILE_REDEFINED "`%%%s` is defined twice"
#define E_TILE_RESULT_TYPES "`%s` has %zu results here, but %zu types"
#define E_TILE_VIEW_LISTS "offsets, sizes and strides of a view are equally many"
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
  "`%s` cannot stand in a combine block, which works on scalars and touches no memory"
#define E_TILE_ATTR_MISSING "`%s` needs attribute `%s`"
#define E_TILE_ATTR_RANGE "attribute `%s` of `%s` has %lld; expected %lld to %lld"
#define E_TILE_ATTR_LENGTH "attribute `%s` of `%s` has %u entries; expected %u"
#define E_TILE_ATTR_WORD "attribute `%s` of `%s` is \"%s\"; expected one of: %s"
#define E_TILE_PERM "attribute `perm` names an axis twice"
#define E_TILE_SLICE "the slice leaves axis %d, which has %d elements"
#define E_TILE_VIEW_RANK "the view has %u axes, its tile has %u"
#define E_TILE_CHECK_ORDER "attribute `check` must list axes in ascending order"

/* the interpreters, and the memory they run on */
#define E_INTERP_BOUNDS "out of bounds: %s of %u bytes at %s, %llu bytes %s '%s' (%llu x %u bytes)"
#define E_INTERP_NULL "%s of %u bytes through a null pointer (address 0x%llx)"
#define E_INTERP_NOWHERE "%s of %u bytes at address 0x%llx, where there is no array"
#define E_INTERP_ALIGN "misaligned: %s of %u bytes at %s, an address that is no multiple of %u"
#define E_INTERP_UNWRITTEN "this %s reads %s, which nothing has written"
#define E_INTERP_CONFLICT \
  "conflict: program %llu %s %s, which program %llu %s, and nothing orders the two"
#define N_INTERP_OTHER "the other access"
#define E_INTERP_ALIAS \
  "overlapping arguments: this %s reaches %s by way of '%s', and '%s' reaches the same byte"
#define E_INTERP_UNDEF "%s is undefined here"
#define N_INTERP_UNDEF_LOAD "it comes from this load, whose mask is false and which has no `other`"
#define N_INTERP_UNDEF "it comes from here"
#define E_INTERP_WRAP "the address comes from %s arithmetic that overflowed"
#define N_INTERP_WRAP "this %s is past what %s holds"
#define E_INTERP_GATHER "the index %lld is outside 0..%d"
#define E_INTERP_ASSERT "device_assert failed: %s"
#define E_INTERP_ASSUME "the assumption does not hold"
#define E_INTERP_STEP "the loop's step is zero"
#define E_INTERP_DEADLOCK "deadlock: %zu programs wait, and nothing that they wait for can change"
#define N_INTERP_WAITS "program %llu waits here"
#define E_INTERP_STEPS "stopped after %llu operations: does a loop never end?"
#define E_INTERP_MEMORY "out of memory"
#define N_INTERP_ONCE "in program %llu"
#define N_INTERP_COUNT "first in program %llu, %llu times in all"
#define H_INTERP_BOUNDS "a mask such as `offsets < n` keeps a tile inside its array"
#define H_INTERP_UNWRITTEN "an array made by `empty:` has no contents before the kernel writes it"
#define H_INTERP_CONFLICT \
  "give each program its own elements, or use atomics: acquire and release order programs"
#define H_INTERP_ALIAS "arguments may share memory only if they begin at the same address"
#define H_INTERP_WRAP "cast one operand to int64 before it is multiplied by a stride"

/* ---- lower and loop-nest IR ---- */

/* The reader. */
#define E_NEST_LAYOUT_TEXT \
  "this is no layout such as [64 = 2@warp:1 32@lane:1] * 4@reg:1, of at most %d digits"
#define E_NEST_STATEMENT "unknown statement `%.*s`"
#define E_NEST_ATTR "`%s` has no attribute `%s`%s%s"
#define E_NEST_TWICE "`%s` is declared twice"
#define E_NEST_UNKNOWN "`%s` is not declared"
#define E_NEST_NO_INDEX "no loop around has the index `%.*s`"
#define E_NEST_TERMS "an affine form has at most %d terms"
#define E_NEST_DEPTH "blocks are nested more than %d deep"
#define E_NEST_RANK "`%%%s` has %d axes, not %d"
#define E_NEST_AXES "the layout has %d axes, and there are %d indices"
#define E_NEST_SCALAR_TYPE "a type without a shape is expected here"
#define E_NEST_MEMS "`%s` has at most %d addresses"
#define E_NEST_REGISTERS "a variable has one axis and at most %d registers"
#define E_NEST_LANES "lanes must be a power of two, 1 to 32"

/* ---- codegen ---- */

/* ---- runtime ---- */

/* without a place: the message is all there is */
#define E_RUN_OUT_OF_MEMORY "out of memory"
#define E_RUN_FILE_OPEN "can't open %s: %s"
#define E_RUN_FILE_READ "can't read %s: %s"
#define E_RUN_FILE_WRITE "can't write %s: %s"
#define E_RUN_FILE_FOLDER "%s is a folder, not a file"
#define E_RUN_FILE_LARGE "%s is too large for a kernel file (more than 256 MiB)"
#define E_RUN_UNKNOWN_TARGET "unknown target `%s`; `nereid info` lists them"
#define E_RUN_UNKNOWN_PASS "unknown pass `%s`"
#define E_RUN_UNKNOWN_KIND "%d is no kind of code"
#define E_RUN_NUM_WARPS "the number of warps must be a power of two from 1 to 32, not %d"
#define E_RUN_NUM_STAGES "the number of stages must be between 1 and 64, not %d"
#define E_RUN_NUM_CTAS "clusters of %d programs are not supported yet"
#define E_RUN_MAXNREG "the number of registers a thread must be between 1 and 255, not %d"
#define E_RUN_BAD_TYPE \
  "the type of %s, `%s`, is none: write fp32, *bf16, i32:16 (divisible by 16), i32:1 (is 1) or none"
#define E_RUN_DIVISOR_OF "only integers and pointers have a divisor: %s=%s"
#define E_RUN_CONSTEXPR_BIG "%s=%s does not fit 64 bits with a sign"
#define E_RUN_ARG_TWICE "argument %s is given twice"
#define E_RUN_UNKNOWN_PARAM "kernel %s has no parameter %s%s"
#define E_RUN_IR_ARGS "the arguments of IR text are fixed: leave out %s"
#define E_RUN_IR_OPTIONS \
  "the IR text was scheduled for %s with num_warps %d and num_stages %d; leave these options out"
#define E_RUN_IR_PAST "the IR text is past this stage"
#define E_RUN_IR_KERNEL "the IR text has no kernel %s, only %s"
#define E_RUN_KIND_TARGET "%s can't be made for target %s"

/* ---- cli ---- */

#define E_CLI_UNKNOWN_COMMAND "unknown command `%s`%s"
#define E_CLI_UNKNOWN_OPTION "unknown option %s%s"
#define E_CLI_OPTION_VALUE "option %s needs a value: %s %s"
#define E_CLI_OPTION_NO_VALUE "option %s takes no value"
#define E_CLI_NO_FILE "name a kernel file"
#define E_CLI_EXTRA_FILE "unexpected argument `%s`%s"
#define E_CLI_NAME_VALUE "`%s` is not of the form NAME=%s"
#define E_CLI_NUMBER "%s must be a whole number from %d to %d, not `%s`"
#define E_CLI_EMIT "unknown stage `%s`%s; stages are ast, tile, nest, thread, ptx, c, cubin"

#endif
