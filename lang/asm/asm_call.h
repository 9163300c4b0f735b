/* Calls of inline assembly: the text of PTX with operands, and the constraints that say in which
 * registers they are, as LLVM reads them for NVPTX and Triton hands them over.
 *
 * The text contains `$0`, `$1`, ..., `${2}` for operands, outputs first, `$$` for a dollar sign and
 * `${:uid}` for a number that no other copy of the text has.
 *
 * Constraints are separated by commas: `=r` (an output; `=&r` one that is written before all inputs
 * are read, as every one is here), `r` (an input), `0` (an input in the register of output 0),
 * `~{...}` (a clobber, without meaning).  Letters: b predicate, c and h 16 bits, r 32, l 64, f f32,
 * d f64; `n` and `i` are constants, which asm_fold_constants writes into the text before.
 *
 * A call takes `pack` elements of each argument and gives as many of each result.  Elements of less
 * than 32 bits share registers of up to 32 bits, the first in the low bits: with pack 4, four i8
 * are one register and four f32 are four. */
#ifndef NEREID_LANG_ASM_ASM_CALL_H
#define NEREID_LANG_ASM_ASM_CALL_H

#include "lang/base/dtype.h"

enum { ASM_MAX_PACK = 64, ASM_MAX_REGISTERS = 128 };

/* A register of the call, `$k` in its text. */
typedef struct {
  char letter;
  bool output;
  int tied;      /* input in the register of that output; -1 */
  uint32_t value; /* which result or argument ... */
  uint32_t first, elements; /* ... and which of its `pack` elements */
  DType type;    /* of the elements */
} AsmRegister;

/* A piece of the text: literal, or an operand. */
typedef enum { ASM_TEXT, ASM_OPERAND, ASM_UID } AsmPieceKind;
typedef struct {
  AsmPieceKind kind;
  const char *text; /* ASM_TEXT */
  size_t len;
  uint32_t operand; /* ASM_OPERAND: register */
  size_t at;        /* offset in the text of the call */
} AsmPiece;

typedef struct {
  const char *text;
  AsmRegister *registers; /* outputs first */
  uint32_t nregisters, noutputs;
  AsmPiece *pieces;
  uint32_t npieces;
  uint32_t pack;
} AsmCall;

/* The types of a call: scalars' dtypes, of results and arguments. */
typedef struct AsmTypes {
  const DType *results, *args;
  uint32_t nresults, nargs;
  uint32_t pack;
} AsmTypes;

/* NULL; or the error, in words: `call` is filled then as far as it goes. */
const char *asm_parse(Arena *a, const char *text, const char *constraints, const AsmTypes *types,
                      AsmCall *call);
/* Bits of a register of that letter; 0 for a letter that is none. */
unsigned asm_register_bits(char letter);
/* "line 2, column 7" of offset `at` in the text */
const char *asm_place(Arena *a, const char *text, size_t at);

/* The arguments that constraints ask to be constants: sets constant[i] for argument i of nargs.
 * Ignores what asm_parse reports. */
void asm_find_constants(Arena *a, const char *constraints, const AsmTypes *types, bool *constant);
/* Text and constraints without these arguments: each is replaced by its literal (NULL: it stays).
 * An error in words, or NULL. */
const char *asm_fold_constants(Arena *a, const char *text, const char *constraints,
                               const AsmTypes *types, const char *const *literals,
                               const char **folded, const char **rest);

#endif
