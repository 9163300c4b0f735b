/* Printing level thread as PTX.
 *
 * codegen/ptx owns the text of PTX: registers, templates of instructions, helpers in line.  It
 * takes a nest of level thread and a machine, and gives Code (codegen/codegen.h) through its one
 * entry, ptx_print.  This header is shared by its files:
 *
 *   print.c    the module: header, parameters, declarations
 *   text.c     lines, operands, templates
 *   vars.c     which registers a variable gets;  operand.c how they are named in instructions, and
 *              16- and 8-bit elements in 32-bit words
 *   control.c  blocks, loops, branches, roles
 *   ops.c      elementwise ops, by a table of (op, type, template)
 *   cast.c     conversions, those between float formats too
 *   asm.c      inline assembly
 *   device_print.c  lines on standard output
 *   mem.c      loads, stores, copies, matrices;  atom.c atomics;  sync.c shuffles and barriers
 *
 * The body is printed in one pass into a buffer; what it turns out to need (temporaries, PTX
 * version, files) is put before it.  Loops of `unroll` are expanded on the way: an index is a
 * number then, and subscripts and addresses become constants.
 *
 * Registers.  A scalar `%x` is register %x, an array of n registers %x_0 ... %x_<n-1>; names of our
 * own begin with %$.  Integers of 8 and 16 bits are in 32-bit registers, sign- or zero-extended
 * from their dtype always; f8 too, zero-extended; f16 and bf16 in 16-bit registers.  Variables that
 * are accessed by vectors or by matrix instructions are *packed*: see operand.c.
 */
#ifndef NEREID_CODEGEN_PTX_PTX_H
#define NEREID_CODEGEN_PTX_PTX_H

#include <string.h>

#include "codegen/codegen.h"
#include "lower/target/atoms.h"

typedef enum { RC_B16, RC_B32, RC_F32, RC_B64, RC_F64, RC_PRED, RC_COUNT } RegClass;

typedef enum { PO_NONE, PO_REG, PO_INT, PO_F32, PO_F64 } OperandKind;

/* An operand of an instruction: a register, `name` followed by the number `num` unless that is
 * negative; or a constant. */
typedef struct {
  uint8_t kind; /* OperandKind */
  uint8_t cls;  /* RegClass */
  uint16_t len; /* of name */
  int32_t num;
  const char *name;
  int64_t bits; /* PO_INT: the value; floats: their bits */
} Operand;

/* A word of a packed variable. */
typedef struct {
  uint8_t have;    /* elements that are in registers of their own */
  uint8_t stale;   /* those whose value in the word is out of date */
  bool touched;    /* it is in Ptx.touched */
  uint16_t pending; /* its element 0 is conversion pending[pending - 1]; 0: none */
} Word;

/* A variable's registers. */
typedef struct {
  const char *name; /* "%x", or "%x_" of an array */
  uint16_t len;
  uint8_t cls;
  uint8_t per;         /* packed: elements of a word, 2 or 4; else 1 */
  bool array;
  bool used;
  bool bits;           /* f32 that a matrix instruction reads: declared as .b32 */
  bool want, unfit;    /* accessed by words; but not at their boundaries */
  uint32_t writers;    /* statements that write it */
  bool *defined;       /* guarded loads: elements from which registers were set to zero before */
  uint32_t pending;    /* conversions that still read it */
  bool is_base;        /* of a shared address in Ptx.bases */
  const char *element; /* packed: its elements' own registers, "%x$" */
  uint16_t element_len;
  Word *words;
} Reg;

/* A conversion to the lower half of a word, held back until that to the upper half is known: one
 * instruction does both. */
typedef struct {
  Operand source;
  const NestVar *from, *to;
  int32_t at, element; /* registers of `from` and of `to` */
} Pending;

enum { MAX_PENDING = 32, WARP_LANES = 32 };

/* A variable's register plus the start of shared memory, in register %$s<num>. */
typedef struct {
  const NestVar *var;
  int32_t at, num;
} SharedBase;

/* A descriptor of an operand in shared memory, in register %$d<num>: of byte `bytes` from register
 * `base` on, -1 the start of shared memory.  Others of that layout are this one plus a number. */
typedef struct {
  int32_t base, num;
  int64_t bytes, leading, stride, row;
} Descriptor;

typedef struct {
  const NestVar *var;
  int32_t word;
} WordRef;

typedef struct {
  Arena *arena;
  const Nest *nest;
  const Machine *machine;
  Diags *diags;
  char *out; /* the body */
  size_t len, cap;
  Reg *regs;            /* by variable id */
  const char **params;  /* by number: "p_x" */
  int64_t *index;       /* by index id: the value, of unrolled loops */
  int32_t *index_reg;   /* by index id: 1 + number of %$i, of loops that stay loops */
  bool *expand;         /* by index id: a `serial` that subscripts registers: is expanded too */
  int32_t temps[RC_COUNT], most_temps[RC_COUNT]; /* of this statement, of all */
  int32_t nindices, nbases, ndescriptors, nlabels;
  int version;          /* 10 * major + minor */
  int instructions;
  Operand guard;        /* PO_NONE, or the predicate before every line */
  VEC(WordRef) touched;
  Pending pending[MAX_PENDING];
  uint32_t npending;    /* entries in use end here; free ones have to == NULL */
  VEC(SharedBase) bases;
  VEC(Descriptor) descriptors; /* since the last label */
  bool uses_shared, uses_copies;
  bool threads_differ; /* scalars of assembly and clocks may: branches on them are not uniform */
  bool turns_bytes;    /* %$left and %$right select the bytes of two columns */
  bool multiplies;     /* by matrix instructions */
  bool group_products; /* by those of a warpgroup, which read registers until they are waited for */
  bool loads_in_loop;
  bool merges_extrema; /* minima or maxima of signed integers, which ptxas may merge by threes */
  /* source locations */
  uint32_t *file_number; /* by file of diags: its number in the text, 0: none yet */
  VEC(Name) files;
  VEC(const char *) formats; /* of printed lines, each once */
  VEC(const char *) texts;   /* that assertions tell, each once */
  int64_t print_bytes;       /* of a line's arguments, at most */
  Span span;             /* of the statement */
  uint32_t loc_file, loc_line; /* printed last */
  bool in_role;
  int role, first_warp, role_warps; /* of the role at hand; role counts from 1 */
  const NestStmt *printed; /* an unrolled loop that is there already */
  /* the outermost unrolled loop of most instructions, for the warning */
  int depth, most;
  Span most_span;
  bool failed;
} Ptx;

/* ---- text.c ---- */
void ptx_puts(Ptx *p, const char *s);
void ptx_put_int(Ptx *p, int64_t v);
void ptx_put_operand(Ptx *p, const Operand *o);
/* "{a, b}", or "a" for one. */
void ptx_put_vector(Ptx *p, const Operand *o, int n);
/* A line is: begin, pieces, end. */
void ptx_begin(Ptx *p);
void ptx_end(Ptx *p);
int32_t ptx_label(Ptx *p);
void ptx_put_label(Ptx *p, int32_t label);
/* "$L3:" */
void ptx_place_label(Ptx *p, int32_t label);
/* A branch of all lanes; `condition` NULL: always. */
void ptx_jump_if(Ptx *p, const Operand *condition, bool when, int32_t label);
/* A register for this statement alone. */
Operand ptx_temp(Ptx *p, RegClass cls);
const char *ptx_temp_name(RegClass cls);
Operand ptx_int(int64_t v);
Operand ptx_f32(float v);
/* Instructions from a template: `$d $a $b $c` are the operands, `$0r` is temporary 0 of this
 * template (h b16, r b32, f f32, l b64, D f64, p predicate), `$0x` a label; `;` ends a line.
 * The last instruction alone writes $d: it may be the register of an operand. */
void ptx_emit(Ptx *p, const char *text, Operand d, Operand a, Operand b, Operand c);
static inline void ptx_emit2(Ptx *p, const char *text, Operand d, Operand a) {
  ptx_emit(p, text, d, a, a, a);
}
/* Raises the text's version, 10 * major + minor. */
static inline void ptx_needs(Ptx *p, int version) {
  if (p->version < version) p->version = version;
}
/* Reports at the statement. */
void ptx_fail(Ptx *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- vars.c ---- */
void ptx_analyze(Ptx *p);
void ptx_declare(Ptx *p, Text *out);
RegClass ptx_class(DType t);
static inline Reg *ptx_reg(const Ptx *p, const NestVar *v) { return &p->regs[v->id]; }
/* "x" as a PTX identifier: letters, digits, _ and $. */
const char *ptx_identifier(Arena *a, const char *name);

/* ---- operand.c ---- */
/* An affine form: its constant, and whether it has terms in loops that stay loops. */
int64_t ptx_affine(const Ptx *p, const Affine *a, bool *runtime);
int32_t ptx_subscript(const Ptx *p, const Ref *r);
/* A source as type t: a register or a constant that instructions on t take. */
Operand ptx_source(Ptx *p, const Ref *r, DType t);
/* Returns the source always in a register. */
Operand ptx_source_reg(Ptx *p, const Ref *r, DType t);
/* Element i of a variable. */
Operand ptx_element(Ptx *p, const NestVar *v, int32_t i);
/* The register that a statement writes, which is then taken as written. */
Operand ptx_dest(Ptx *p, const Ref *r, int32_t plus);
Operand ptx_in_register(Ptx *p, Operand o, RegClass cls);
/* A constant of type t, as its bits in memory. */
uint64_t ptx_const_bits(const Ref *r, DType t);
/* sum + what the form's terms in loops that stay loops are, in 32 or 64 bits. */
Operand ptx_add_runtime(Ptx *p, const Affine *a, Operand sum, bool wide);

/* ---- operand.c: words of packed variables ---- */
/* The instruction that rounds an f32 to t; NULL: the machine has none. */
const char *ptx_rounding(Ptx *p, DType t);
Operand ptx_word_register(const Ptx *p, const NestVar *v, int32_t word);
void ptx_read_element(Ptx *p, const NestVar *v, int32_t i);  /* into its own register */
void ptx_wrote_element(Ptx *p, const NestVar *v, int32_t i);
/* Before a register is overwritten: conversions that were held back and read it take a copy. */
void ptx_release(Ptx *p, const NestVar *v, int32_t i);
/* Before a label or a branch: all words hold their elements, and none is elsewhere. */
void ptx_flush_words(Ptx *p);
/* f32 to f16 or bf16 in a packed variable: true if it was held back or done as a pair. */
bool ptx_convert_pair(Ptx *p, const NestStmt *s);
/* n elements of t as 32-bit words: of a packed variable its own; else made for the purpose. */
int ptx_source_words(Ptx *p, const Ref *r, DType t, int n, Operand *out);
/* The words that an instruction is to write n elements to; ptx_end_words takes them apart if they
 * are not the variable's own. */
int ptx_dest_words(Ptx *p, const Ref *r, int n, Operand *out);
void ptx_end_words(Ptx *p, const Ref *r, int n, const Operand *words);
/* Is element i of a packed variable in its word, and not in a register of its own? */
bool ptx_in_word(const Ptx *p, const NestVar *v, int32_t i);
/* Are elements [i, i + n) whole words of a packed variable? */
bool ptx_whole_words(const Ptx *p, const NestVar *v, int32_t i, int n);
/* The condition of a statement; PO_NONE: always. */
Operand ptx_guard(Ptx *p, const NestStmt *s);
/* d, or the statement's own destination if d is nothing.  To be called after all sources were
 * read. */
Operand ptx_dest_of(Ptx *p, const NestStmt *s, Operand d);
/* Extends the low bits of $a as a value of t (8 or 16 bits) has it. */
const char *ptx_extend(DType t);

/* ---- control.c ---- */
void ptx_block(Ptx *p, const NestBlock *b);

/* ---- votes.c ---- */
/* A group of statements, and those after it, in a form for all numbers, which comes after label
 * `others` and ends at label `end`. */
typedef struct {
  const NestStmt *before, *group, *after; /* after may be NULL */
  int32_t others, end;
} PtxVote;
/* Is the group one of tangents that has a form for small numbers?  Then that is there, and label
 * `others` is placed. */
bool ptx_vote_on_tangents(Ptx *p, const NestStmt *group, PtxVote *vote);
const NestStmt *ptx_only_statement(const NestStmt *s);
/* Does the statement itself read the variable? */
bool ptx_reads(const NestStmt *s, const NestVar *v);

/* ---- maxima.c ---- */
/* Do groups of maxima begin here, whose result is of use above a limit alone?  Then a vote is
 * there that skips them: returns their last statement, after which label `end` is to be placed. */
const NestStmt *ptx_vote_on_maxima(Ptx *p, const NestStmt *first, int32_t *end);

/* ---- ops.c, cast.c ---- */
/* A row of the table of elementwise ops: templates (ptx_emit).  Float types without one are widened
 * to f32 and rounded.  Integers of 8 and 16 bits are extended in 32-bit registers: they take the
 * 32-bit template, or their own for an op that depends on all bits of the register. */
typedef struct {
  const char *s32, *u32, *s64, *u64, *i1, *f32, *f64, *f16, *bf16, *f8;
  const char *f32_denormal; /* with option `denormals`; NULL: f32 */
  const char *bf16_native; /* with BF16_ARITHMETIC */
  const char *narrow;  /* instead of f32, for operands that are widened to it */
  const char *small_s, *small_u; /* $c is 32 less the width */
  bool small_width;    /* $c is the width */
  bool wraps;          /* results of 8 and 16 bits are to be extended anew */
  bool shift;
  bool no_f64;         /* PTX has no such instruction, and the language does not ask for it */
} OpRow;

/* d = a op b, for registers that don't come from a statement. */
void ptx_apply(Ptx *p, TileCode op, DType t, Operand d, Operand a, Operand b);

enum { MAX_RUN = 128 };

/* Moves a value to the statement's destination where its guard holds. */
void ptx_assign(Ptx *p, const NestStmt *s, Operand from);
void ptx_op(Ptx *p, const NestStmt *s);
void ptx_mov(Ptx *p, const NestStmt *s);
/* A run of so many registers; of equal words if both sides have such. */
void ptx_mov_run(Ptx *p, const NestStmt *s, int n);
void ptx_cast(Ptx *p, const NestStmt *s, Operand d);
void ptx_bitcast(Ptx *p, const NestStmt *s, Operand d);
/* A narrow float as f32, exactly. */
Operand ptx_widen(Ptx *p, DType t, Operand x);
Operand ptx_widen_ref(Ptx *p, const Ref *r, DType t);
/* f32 to f16, bf16 or f8. */
void ptx_narrow(Ptx *p, DType t, Operand d, Operand x, bool rtz);

/* ---- divide.c ---- */
/* d = x / by, or the remainder of that, of integers, without a division; false: `by` is no constant
 * above 1, and nothing was emitted. */
bool ptx_divide_by_constant(Ptx *p, TileCode op, DType t, Operand d, Operand x, Operand by);

/* The factor whose product with x of `bits` bits has x / d in its high half, before a shift to the
 * right.  `plus`: the factor is 2^bits more than the multiplier. */
typedef struct {
  uint64_t multiplier;
  bool plus;
  int shift;
} PtxReciprocal;

/* For 3 <= d < 2^63 that is no power of two. */
PtxReciprocal ptx_reciprocal(uint64_t d, int bits, bool is_signed);

/* ---- mem.c ---- */
void ptx_ld(Ptx *p, const NestStmt *s);
/* An unrolled access whose words are neighbors, by vectors; false: it is something else. */
bool ptx_runs(Ptx *p, const NestStmt *unroll);
void ptx_st(Ptx *p, const NestStmt *s);
void ptx_cp_async(Ptx *p, const NestStmt *s);
void ptx_cp_commit(Ptx *p, const NestStmt *s);
void ptx_cp_wait(Ptx *p, const NestStmt *s);
void ptx_ldmatrix(Ptx *p, const NestStmt *s);
void ptx_mma(Ptx *p, const NestStmt *s);
/* `[base+bytes]`; base PO_NONE: the start of shared memory, by its name. */
typedef struct {
  Operand base;
  int64_t bytes;
} Address;
Operand ptx_smem(Ptx *p); /* the start of shared memory, in a register */
/* Registers with the addresses of tensor maps, which a kernel fills first. */
#define PTX_MAP "%$map"
Operand ptx_map(int32_t map);
Address ptx_address(Ptx *p, const Mem *m);
void ptx_put_address(Ptx *p, const Address *a);
/* ".acq_rel.gpu.global": of an atomic.  What is shared by a program alone is ordered by its
 * barriers. */
void ptx_put_order(Ptx *p, const NestStmt *s);

/* ---- group.c ---- */
void ptx_wgmma(Ptx *p, const NestStmt *s);
void ptx_mma_commit(Ptx *p, const NestStmt *s);
void ptx_mma_wait(Ptx *p, const NestStmt *s);

/* ---- bulk.c ---- */
/* The kernel's parameter for a map. */
const char *ptx_map_param(const Ptx *p, const TensorMap *m);
bool ptx_is_bulk(const NestStmt *s);
/* The last of the statements from `first` on that one thread executes under one guard, between
 * which there are only ops that can go before all of them; NULL: there is no second one. */
const NestStmt *ptx_bulk_run(const NestStmt *first);
void ptx_mbar_init(Ptx *p, const NestStmt *s);
void ptx_mbar_expect(Ptx *p, const NestStmt *s);
void ptx_mbar_arrive(Ptx *p, const NestStmt *s);
void ptx_mbar_wait(Ptx *p, const NestStmt *s);
void ptx_bulk_copy(Ptx *p, const NestStmt *s);
void ptx_bulk_store(Ptx *p, const NestStmt *s);
void ptx_bulk_commit(Ptx *p, const NestStmt *s);
void ptx_bulk_wait(Ptx *p, const NestStmt *s);

/* ---- atom.c ---- */
void ptx_atom(Ptx *p, const NestStmt *s);
void ptx_atom_cas(Ptx *p, const NestStmt *s);
void ptx_red(Ptx *p, const NestStmt *s);

/* ---- asm.c ---- */
void ptx_inline_asm(Ptx *p, const NestStmt *s);

/* ---- sync.c ---- */
void ptx_pid(Ptx *p, const NestStmt *s);
void ptx_nprog(Ptx *p, const NestStmt *s);
void ptx_cluster_rank(Ptx *p, const NestStmt *s);
void ptx_cluster_arrive(Ptx *p, const NestStmt *s);
void ptx_cluster_wait(Ptx *p, const NestStmt *s);
void ptx_exchange(Ptx *p, const NestStmt *s);
/* Makes the mbarriers of the nest's exchanges; false: it has none. */
bool ptx_make_exchanges(Ptx *p);
void ptx_special(Ptx *p, const NestStmt *s);
void ptx_grid_dependency(Ptx *p, const NestStmt *s);
void ptx_lane(Ptx *p, const NestStmt *s);
void ptx_warp(Ptx *p, const NestStmt *s);
void ptx_shfl(Ptx *p, const NestStmt *s);
void ptx_bar(Ptx *p, const NestStmt *s);
void ptx_fence(Ptx *p, const NestStmt *s);

/* ---- device_print.c ---- */
void ptx_print_line(Ptx *p, const NestStmt *s);
/* Declarations for calls of vprintf: of the module, and of the entry. */
void ptx_declare_print(const Ptx *p, Text *module);
void ptx_declare_asserts(const Ptx *p, Text *module);
void ptx_assert(Ptx *p, const NestStmt *s);
void ptx_declare_print_arguments(const Ptx *p, Text *entry);

#endif
