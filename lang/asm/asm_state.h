/* Between the reader of PTX (asm_program.c) and its instructions (asm_instruction.c). */
#ifndef NEREID_LANG_ASM_ASM_STATE_H
#define NEREID_LANG_ASM_ASM_STATE_H

#include "lang/asm/asm_program.h"

typedef enum { KIND_NONE, KIND_BITS, KIND_UNSIGNED, KIND_SIGNED, KIND_FLOAT, KIND_FINITE } Kind;

/* `lanes` of `bits` each; floats: exponent and mantissa. */
typedef struct {
  const char *name;
  uint8_t kind, bits, lanes, exponent, mantissa;
} PtxType;

/* An operand as it is read. */
typedef enum { OP_REGISTER, OP_INTEGER, OP_BITS, OP_DECIMAL, OP_SINK, OP_VECTOR } OpKind;

enum { MAX_VECTOR = 8, MAX_OPERANDS = 8, MAX_MODIFIERS = 12, MAX_SCOPES = 64 };

typedef struct Op {
  OpKind kind;
  bool negated;        /* !p */
  uint32_t reg, other; /* p|q: 1 + the register of q */
  uint64_t bits;       /* of an integer, or a float's */
  double number;
  struct Op *items; /* of a vector */
  uint32_t nitems;
  const char *at;
} Op;

typedef struct {
  const char *name;
  size_t len;
  uint8_t bits;
  uint32_t node; /* its value */
} Register;

/* A modifier of an instruction, or its opcode. */
typedef struct {
  const char *s;
  size_t len;
} Part;

typedef struct {
  Part parts[MAX_MODIFIERS]; /* the opcode, then modifiers that are no type */
  const PtxType *types[3];
  uint32_t nparts, ntypes;
  const char *name; /* all of it */
  size_t len;
  Op ops[MAX_OPERANDS];
  uint32_t nops;
  bool guarded;
  Op guard;
} Instruction;

typedef struct {
  Arena *arena;
  const AsmCall *call;
  const char *text, *s;        /* operands are \1 number \2 there */
  VEC(size_t) starts, origins; /* of pieces: in `text`, and in the call's text */
  VEC(Register) registers;
  uint32_t ncall; /* the first of them are the call's */
  size_t scopes[MAX_SCOPES];
  int depth;
  VEC(AsmNode) nodes;
  const char *error;
  const Instruction *now;
  bool flush, gpu_only;
} Ptx;

/* The first error counts.  `format` contains one %s, for `len` characters of the text. */
void asm_fail(Ptx *p, const char *at, const char *format, const char *s, size_t len);
/* An instruction, or an operand of one, that runs on GPUs alone. */
void asm_fail_unknown(Ptx *p, const Instruction *in);

uint32_t asm_constant(Ptx *p, uint64_t bits);
/* NULL: there is none of that name. */
const PtxType *asm_find_type(const char *s, size_t len);
unsigned asm_type_bits(const PtxType *t);
/* Is it an opcode that is code, or one of the table, so that its operands are worth reading? */
bool asm_is_known(const Instruction *in);
/* Adds the nodes of an instruction, and writes its registers. */
void asm_run(Ptx *p, const Instruction *in);

#endif
