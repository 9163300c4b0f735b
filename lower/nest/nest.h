/* The loop-nest IR: how a kernel is computed, in two levels.
 *
 * lower/nest owns this IR, its layouts (layout.h), its table of statements (nest_ops.h) and its
 * text (nest_text.h).  It takes calls of a builder, or text, and gives a Nest, or text;
 * lower/verify checks it.
 *
 * Level nest: one statement a tile.  Variables are tiles with a layout; a NEST runs its body for
 * every element of a layout; REDUCE, SCAN, DOT work on whole variables.  Barriers, shared buffers
 * and copies are explicit.
 * Level thread: what one thread does.  Variables are register arrays; subscripts are affine in the
 * indices of `unroll` and `serial` loops.  Level thread is made from level nest by bind, and is
 * what the interpreter runs and the printers of PTX and C print, one statement after the other.
 *
 * Variables are not SSA: loops update them in place, and an accumulator is never copied.
 * A thread is one lane of one warp.  On a CPU a lane is a lane of a SIMD vector, and there is one
 * warp: statements are executed for all lanes together.
 *
 * Text form (nest_print, nest_parse; print, parse, print gives the same text; docs/nest-text.md has
 * the grammar), level thread:
 *
 *   nest @add level thread {target "sm_90a", num_warps 4, lanes 32} {
 *     param %x : *f32 {arg 0, div 16}
 *     param %n : i32 {arg 3}
 *     buffer @red : shared 128 {align 16, offset 0}
 *     var %pid : i32 uniform
 *     var %v : f32[8]                       # a register array; without brackets a scalar
 *     var %g : i1[2]
 *     %pid = pid {axis 0}
 *     %t = add %base, %lane4 : i32 @"add.py":7:11
 *     unroll a:2 {
 *       %g[a] = lt %off[a], %n : i32
 *       %v[4*a] = ld [%p + 2048*a] {n 4} if %g[a] : f32
 *     }
 *     unroll a:2 { unroll b:4 { %v[4*a + b] = add %v[4*a + b], 1.0 : f32 } }
 *     st [@red + %t + 4], %s : f32
 *     bar
 *   }
 *
 * The type after `:` is that of the operation: what a load reads, a comparison compares, a cast
 * converts from (`: f32 to bf16`).  An operand is a variable with its subscript, or a number, or
 * an affine form of indices in parentheses: `add %x, (512*a + 4)`.
 *
 * Level nest: variables are declared with their tile and layout, subscripts are the nest's axes:
 *
 *   var %v : f32[1024] [1024 = 2@reg:4 4@warp:1 32@lane:1 4@reg:1]
 *   nest i:1024 [1024 = 2@reg:4 4@warp:1 32@lane:1 4@reg:1] {
 *     %0 = add %off, (i) : i32 ; ... ; %v[i] = ld [%3] if %2 : f32
 *   }
 *   %s = reduce %v {axis 0, combine "add"}
 */
#ifndef NEREID_LOWER_NEST_NEST_H
#define NEREID_LOWER_NEST_NEST_H

#include "lang/base/irtext.h"
#include "lang/tile/tile.h"
#include "lower/nest/layout.h"
#include "lower/nest/nest_ops.h"

typedef enum {
#define X(id, levels, dsts, srcs, mems, regions, flags, attrs, doc) NEST_##id,
  NEST_OPS(X)
#undef X
  NEST_OP_COUNT
} NestCode;

typedef enum { NEST_LEVEL_NEST, NEST_LEVEL_THREAD } NestLevel;

/* Flags of statements, as nest_ops.h describes them. */
enum {
  NEST_IS_PURE = 1, NEST_IS_READ = 2, NEST_IS_WRITE = 4, NEST_IS_ATOMIC = 8, NEST_IS_ORDERED = 16,
  NEST_IS_EFFECT = 32, NEST_IS_TOGETHER = 64, NEST_IS_ALWAYS = 128, NEST_IS_VARIES = 256,
  NEST_IS_PRODUCT = 512, NEST_IS_LOOP = 1024
};

typedef enum {
#define X(name, kind) NA_##name,
  NEST_ATTRS(X)
#undef X
  NA_COUNT
} NestAttrKey;

typedef enum { NAK_int, NAK_bool, NAK_str } NestAttrKind;

/* A row of the table. */
typedef struct {
  const char *name;       /* "cp.async" */
  unsigned levels;        /* bit NestLevel */
  int dsts, srcs;         /* -1: any number */
  int mems, regions;      /* regions: at most */
  unsigned flags;         /* NEST_IS_... */
  const char *attrs, *doc;
} NestOpInfo;

typedef struct NestIndex NestIndex;

enum { MAX_TERMS = 8 };

typedef struct {
  NestIndex *index;
  int64_t coef;
} AffineTerm;

/* The index of an unroll or serial loop, or the axis of a nest.  Names need not differ: the printer
 * makes those of nested loops differ. */
struct NestIndex {
  Name name;
  int32_t extent;
  uint32_t id;
  Arena *arena;    /* of its nest; lists of terms over it are there too */
  AffineTerm once; /* 1 * the index, which is most lists of terms */
};

/* c + sum of coef * index.  For serial and unrolled loops, constants at print time or cheap.  Forms
 * are values: copies share a list of terms, which is never changed, only replaced by another. */
typedef struct {
  int64_t c;
  const AffineTerm *t;
  uint8_t n; /* MAX_TERMS at most */
} Affine;

typedef struct NestVar {
  Name name; /* unique in the kernel */
  DType dtype;
  DType elem;       /* of pointers */
  uint32_t id;      /* dense */
  uint32_t count;   /* level thread: registers a thread; 1 for a scalar */
  bool uniform;     /* the same value in every lane and warp of the program */
  bool is_param;
  Type tile;        /* level nest: rank > 0 for a tile */
  const Layout *layout; /* level nest, tiles only: shared; of others the empty one */
  uint32_t arg;     /* params: index among the kernel's declared parameters */
  int64_t div;      /* params: known divisor */
} NestVar;

/* A region of shared memory (on a CPU: of the thread's scratch). */
typedef struct {
  Name name;
  uint32_t id;
  int64_t bytes;
  int64_t align;
  int64_t offset; /* -1 until pass allocate_shared has run */
  DType dtype;    /* what it holds, for reading */
  int slots;      /* of a ring: so many tiles, one after the other; 0 or 1: no ring */
  bool own;       /* each thread accesses bytes of its own, in the order of its statements */
  Type tile;      /* rank 0, or the tile that one slot of it holds, ... */
  Layout layout;  /* ... in these byte digits */
} NestBuffer;

/* Two pointer parameters through which a pass has reordered accesses, one of them writing.  The
 * kernel computes what its text says only where the bytes that it accesses through them are
 * disjoint or, with `or_same`, where both hold one address: a runtime alias check. */
typedef struct {
  NestVar *a, *b;
  bool or_same;
} NoAlias;

/* A number of a launch: `scale`, times an integer parameter if there is one. */
typedef struct {
  int64_t scale;
  NestVar *param;
} LaunchValue;

enum { MAX_MAP_RANK = 5, MAX_NATURAL = 4 };

typedef struct {
  int32_t box;        /* elements that a copy takes */
  LaunchValue extent; /* elements of the tensor */
  LaunchValue stride; /* bytes; of axis 0 it is the element's */
} MapAxis;

/* A tensor in global memory as the hardware's copies see it, which move boxes of it.  A launch
 * makes the descriptor from these numbers and hands it over as a parameter after the others.  Rows
 * of a box (axis 0) have 32, 64 or 128 bytes. */
typedef struct {
  Name name;
  NestVar *base; /* a pointer parameter */
  DType dtype;
  int rank;
  MapAxis axes[MAX_MAP_RANK]; /* innermost first */
  NestVar *natural[MAX_NATURAL]; /* integer parameters that a launch with the map has from 0 to
                                    2^30; NULL after the last */
  Span span; /* of the load whose boxes these are; not in the text */
} TensorMap;

typedef enum { REF_NONE, REF_VAR, REF_AFFINE, REF_FLOAT } RefKind;

/* An operand or a destination. */
typedef struct {
  uint8_t kind;
  NestVar *var; /* REF_VAR */
  Affine sub;   /* REF_VAR: which register; REF_AFFINE: the value (an integer constant has n = 0).
                   Level nest, tiles: unused, see axes */
  double f;     /* REF_FLOAT */
  /* Level nest, REF_VAR of a tile: one subscript an axis of the tile, each affine in nest axes. */
  Affine *axes;
} Ref;

/* base (a pointer, or a 32-bit byte offset if there is a buffer) + buffer + bytes. */
typedef struct {
  NestBuffer *buffer; /* shared memory; NULL: global, and base is a pointer variable */
  Ref base;           /* may be REF_NONE with a buffer */
  Affine bytes;
} Mem;

typedef struct {
  uint8_t key; /* NestAttrKey */
  int64_t i;
  Name s;
} NestAttr;

typedef struct NestStmt NestStmt;
typedef struct NestBlock NestBlock;
enum {
  NEST_REGISTERS_MAX = MAX_TILE, /* of a variable: its type is read again */
  NEST_MAX_REGIONS = 2,
  NEST_MAX_MEMS = 2,
  NEST_MAX_RUN = 128 /* registers that one statement takes */
};

struct NestStmt {
  NestCode code;
  TileCode op;       /* NEST_OP */
  DType type, to;    /* of the operation; `to` for CAST and BITCAST */
  DType elem;        /* of a pointer-typed operation: the pointee (PTR_ADD scales by it) */
  bool rtz;          /* CAST: rounds towards zero */
  Span span;
  NestStmt *prev, *next;
  NestBlock *parent;
  Ref *dsts, *srcs;
  uint32_t ndsts, nsrcs;
  Mem *mems;         /* as many as its row says, or NEST_MAX_MEMS */
  uint32_t nmems;
  Ref guard;         /* REF_NONE: always */
  NestAttr *attrs;
  uint32_t nattrs;
  NestBlock *regions[NEST_MAX_REGIONS];
  uint32_t nregions;
  NestIndex *index;  /* UNROLL, SERIAL */
  NestIndex **axes;  /* NEST, COPY: layout.rank of them */
  const Layout *layout; /* NEST, COPY: shared; of others the empty one */
};

struct NestBlock {
  NestStmt *first, *last;
  NestStmt *owner;
  NestVar **params; /* REDUCE, SCAN: scalars */
  uint32_t nparams;
};

/* Warps of a cluster at most, as many as the interpreter has. */
enum { NEST_CLUSTER_WARPS = 128 };

typedef struct {
  Arena *arena;
  Pool *names;
  Name name;
  Span span;
  NestLevel level;
  Options options;
  int lanes;           /* 32, or the CPU's SIMD width in elements */
  int warps;           /* of a thread block */
  int cluster;         /* thread blocks of a program; 1: its own is one */
  NestVar **params;    /* in the order in which the compiled kernel takes them */
  uint32_t nparams;
  NestVar **vars;      /* params too, by id */
  uint32_t nvars;
  NestBuffer **buffers;
  uint32_t nbuffers;
  NoAlias *noalias; /* each pair once */
  uint32_t nnoalias;
  TensorMap **maps; /* in the order in which the compiled kernel takes them */
  uint32_t nmaps;
  uint32_t nindices;
  LayoutSet layouts;
  IrNamer var_names, buffer_names;
  int64_t shared_bytes; /* after pass allocate_shared */
  NestBlock *body;
  uint32_t ir_file; /* the IR text it was read from, 0 if none: statements without a location have
                       that of their text, which is not printed */
} Nest;

/* ---- tables ---- */
const NestOpInfo *nest_op_info(NestCode c);
const char *nest_op_name(NestCode c);
NestCode nest_op_parse(const char *name, size_t len); /* NEST_OP_COUNT if there is none */
bool nest_op_in_level(NestCode c, NestLevel level);
const char *nest_attr_name(NestAttrKey k);
NestAttrKind nest_attr_kind(NestAttrKey k);
/* The flags of the statement's row, less those that its attributes take back. */
unsigned nest_flags(const NestStmt *s);
/* The statement computes its one result and does nothing else: without a reader it is dead. */
bool nest_is_removable(const NestStmt *s);
/* All threads of the thread block, or of the cluster, meet here: what they accessed before comes
 * before what they access afterwards. */
bool nest_is_barrier(const NestStmt *s);
/* The statement, or one in its regions, writes global memory. */
bool nest_writes_global(const NestStmt *s);

/* ---- building ---- */
Nest *nest_new(Arena *a, Pool *names, Name name, Options options, NestLevel level);
/* A new variable; the name is made unique (acc, acc.1, ...), NULL gives a number. */
NestVar *nest_var(Nest *n, const char *name, DType dtype, DType elem, uint32_t count, bool uniform);
/* Makes a variable of exactly that name; NULL if it is taken. */
NestVar *nest_var_named(Nest *n, Name name, Type type);
/* A uniform scalar at the end of the parameters. */
NestVar *nest_param(Nest *n, const char *name, DType dtype, DType elem, uint32_t arg, int64_t div);
void nest_make_param(Nest *n, NestVar *v, uint32_t arg, int64_t div); /* a scalar made before */
NestVar *nest_tile_var(Nest *n, const char *name, Type tile, const Layout *layout); /* level nest */
NestBuffer *nest_buffer(Nest *n, const char *name, DType dtype, int64_t bytes, int64_t align);
NestBuffer *nest_buffer_named(Nest *n, Name name); /* NULL if it is taken */
NestIndex *nest_index(Nest *n, const char *name, int32_t extent);
/* Declares a copy of the map under a name that is made from its own; NULL gives the base's. */
TensorMap *nest_map(Nest *n, const TensorMap *map);
/* The one that a BULK_COPY or a BULK_STORE names, NULL if there is none. */
const TensorMap *nest_map_of(const Nest *n, const NestStmt *s);
/* Bytes of a box. */
int64_t nest_map_bytes(const TensorMap *m);
const Layout *nest_layout(Nest *n, const Layout *l); /* the shared one that is equal */
/* Lets a pass reorder accesses through parameters a and b; of two such calls the stricter holds.
 * False if they must stay in order (Options.alias). */
bool nest_assume_noalias(Nest *n, NestVar *a, NestVar *b, bool or_same);
/* The pair's entry, NULL if nothing is assumed of it. */
const NoAlias *nest_noalias(const Nest *n, const NestVar *a, const NestVar *b);

typedef struct {
  Nest *nest;
  NestBlock *block;
  NestStmt *before; /* NULL: at the end of block */
  Span span;
} NestBuilder;

/* An empty block; with an owner, the owner's next region. */
NestBlock *nest_block(Nest *n, NestStmt *owner);
/* A statement at the builder's insertion point, its references empty; regions are added by
 * nest_block, and for an IF or a WHILE both, the else may stay empty. */
NestStmt *nest_stmt(NestBuilder *b, NestCode code, uint32_t ndsts, uint32_t nsrcs);
/* An elementwise op on `type`; trailing absent operands are ref_none().  CAST and BITCAST: set `to`
 * (and rtz) afterwards. */
NestStmt *nest_op(NestBuilder *b, TileCode op, DType type, Ref dst, Ref x, Ref y, Ref z);
NestStmt *nest_mov(NestBuilder *b, Ref dst, Ref src, DType type);
/* A copy of `st` at the builder's insertion point, without its regions. */
NestStmt *nest_copy(NestBuilder *b, const NestStmt *st);
void nest_remove(NestStmt *s);
void nest_move_before(NestStmt *s, NestStmt *place);
void nest_move_into(NestStmt *s, NestBlock *b); /* to its end */
const NestAttr *nest_attr(const NestStmt *s, NestAttrKey k); /* NULL if it is not there */
void nest_set_int(Nest *n, NestStmt *s, NestAttrKey k, int64_t v);
void nest_set_str(Nest *n, NestStmt *s, NestAttrKey k, const char *v);
int64_t nest_int(const NestStmt *s, NestAttrKey k, int64_t dflt);
/* How many registers an LDMATRIX writes. */
uint32_t nest_matrix_elements(const NestStmt *s);
Name nest_str(const NestStmt *s, NestAttrKey k, Name dflt);

/* Does an ASSERT become code, which ends the launch? */
bool nest_assert_is_code(const Nest *n, const NestStmt *s);

/* The line of a PRINT (lang/interp/device_print.h); false if its attributes don't fit its
 * operands. */
struct PrintLine;
bool nest_print_line(const NestStmt *s, struct PrintLine *line);

/* The types of an ASM; false if a reference is no variable, or the statement takes no pack. */
struct AsmTypes;
bool nest_asm_types(Arena *a, const NestStmt *s, struct AsmTypes *types);

Ref ref_none(void);
Ref ref_var(NestVar *v);
Ref ref_sub(NestVar *v, Affine sub);
Ref ref_int(int64_t i);
Ref ref_affine(Affine a);
Ref ref_float(double f);
Ref ref_zero(DType t);
Affine affine_const(int64_t c);
Affine affine_index(NestIndex *i, int64_t coef);
/* a + b; false if it would take more than MAX_TERMS terms. */
bool affine_add(Affine *a, const Affine *b);
void affine_scale(Affine *a, int64_t by);
bool affine_eq(const Affine *a, const Affine *b);
int64_t affine_coef(const Affine *a, const NestIndex *i);
/* Removes the term over `i`; its coefficient, 0 if there is none. */
int64_t affine_drop(Affine *a, const NestIndex *i);
void affine_rename(Affine *a, const NestIndex *from, NestIndex *to);

/* The offset of an element in a buffer of that layout.  An axis that is cut into panels counts as
 * if its first panel continued: bind distinguishes the panels. */
Affine nest_buffer_bytes(const Layout *l, const Affine *axes);

/* ---- text, checking, running ---- */
void nest_print(Text *out, const Nest *n, const Diags *d);
/* Reads one `nest` from an IR file's text from *at on; NULL at the end or after an error. */
Nest *nest_parse(Arena *a, Pool *names, Diags *d, uint32_t file, size_t *at);
/* Structure, types, subscripts within bounds, ops of the level; errors go to `d`. */
bool nest_verify(const Nest *n, Diags *d);
/* The part of it that kernels of a user can fail: registers, and statements of the code.  Cheap;
 * checked after each pass, since later ones take time by both. */
bool nest_within_budget(const Nest *n, Diags *d);

#endif
