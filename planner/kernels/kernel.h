/* The text of one kernel while it is made: statements that compute elements of nodes, in the
 * kernel language, around which a template (planner/kernels/templates) puts the program's frame.
 *
 * planner/kernels owns kernels' text.  It takes the groups of a Fusion (planner/fuse/fuse.h), and
 * gives functions in the kernel language with the buffers that they take.
 *
 * Axes of a tile have bits: AXIS_X and AXIS_R of loops, AXIS_M (= X), AXIS_N (= R) and AXIS_B of
 * products; AXIS_K has a single index in each step of a product's loop.  Values are tiles that
 * broadcast together: one that depends on no axis is a scalar.
 *
 * Values of narrow floating dtypes are kept in f32 between the nodes of a kernel, as Inductor does.
 * They are rounded when they are stored, and by casts. */
#ifndef NEREID_PLANNER_KERNELS_KERNEL_H
#define NEREID_PLANNER_KERNELS_KERNEL_H

#include "graph/analysis/attention.h"
#include "graph/ir/namemap.h"
#include "graph/ops/concat_sources.h"
#include "planner/fuse/strips.h"
#include "planner/kernels/template_fill.h"

/* The placeholder of the kernel's name in its text: the name is made from the text. */
#define KERNEL_NAME "\1"
/* The parameter to which a kernel records failed checks: PLAN_RECORD numbers for each check. */
#define KERNEL_RECORDS "records_ptr"

enum { AXIS_X = 1, AXIS_R = 2, AXIS_M = 1, AXIS_N = 2, AXIS_B = 4, AXIS_K = 8 };

typedef struct {
  const char *text; /* a name or a literal */
  DType dtype;      /* in which it is held */
} Value;

typedef struct {
  Dim symbol;
  const char *text; /* its expression in the kernel */
  unsigned axes;
} Binding;

typedef struct {
  const Node *node;
  const Dim *index;
  Value value;
} Memo;

/* A parameter NAME_ptr.  Names say what part a node has in the kernel (in0, out0, or inout0 where
 * memory is updated), not what it is called: so equal layers have equal kernels. */
typedef struct {
  Node *node;
  Name name;
  uint32_t uses;     /* its occurrences in the text */
  const char *index; /* at which it is loaded or stored, an element of it for one of the tile */
  uint32_t order;    /* of that, among the kernel's loads and stores */
  Node *then;        /* the result that reuses it (planner/kernels/buffer_reuse.h); NULL: none */
} KernelBuffer;

/* What was rounded to 8-bit floats is held in f32: by this name it is what is stored, without being
 * rounded again. */
typedef struct {
  const char *held, *rounded;
  DType dtype;  /* of `rounded` */
  size_t taken; /* names that were taken before */
} KernelRounded;

/* A value that a loop over a row carries from one tile to the next for a node. */
typedef struct {
  const Node *node;
  const char *name;
} Carried;

/* A parameter NAME: elements of a memory before what a kernel writes there, or reads.  So that
 * kernels of other slices of it are one. */
typedef struct {
  const Node *memory;
  const char *name;
  Dim value;
} KernelOffset;

/* A load that a loop makes an iteration before it is used. */
typedef struct {
  const char *name, *load;
} KernelLoad;

typedef struct KernelName KernelName;

/* A name that a variable has, and what its base's suffix was before. */
typedef struct {
  KernelName *name, *base;
  uint32_t before;
} KernelTaken;

typedef struct {
  const Fusion *f;
  Graph *graph;
  Arena *arena;
  const Group *group;      /* as it is for the part that is computed now */
  Group *parts[WINDOW_SUMS_MAX]; /* the group for each part of a strip */
  uint32_t nparts;         /* 1: there are no strips */
  uint32_t planes;         /* of which they are the parts, in order (group_window_rows) */
  bool row_strips;         /* they are parts of a row of an image (group_row_strip) */
  const char *slide;       /* the length of tiles along the row (group_slides); NULL: others */
  bool within;             /* all of their windows are within the input */
  VEC(KernelBuffer) buffers;
  uint32_t inputs, outputs, inouts; /* of the buffers */
  uint32_t accesses;                /* loads and stores so far */
  VEC(const Node *) checks; /* nereid.check_index, in the order of their records */
  VEC(Dim) symbols;         /* parameters of the graph's symbolic sizes */
  VEC(KernelOffset) offsets;
  VEC(Binding) bindings;
  VEC(Memo) memo;
  VEC(Carried) carried;
  NameMap names;           /* to KernelNames */
  VEC(KernelTaken) taken;  /* names of variables */
  VEC(KernelRounded) rounded;
  const char *masks[8];  /* by axes: "xmask & rmask"; NULL: none is needed */
  const char *wide;      /* kernel_wide, where it was asked for; else NULL */
  const char *condition; /* under which values are wanted now; NULL: always */
  const char *column;    /* of a tile's second axis in GROUP_ATTENTION; NULL: "e" */
  bool unrolls;          /* loops along a row are written out */
  bool limited;          /* some are wanted in a part of the elements alone */
  bool huge;             /* an index overflows: reported */
  bool moved_tile;       /* scores of an attention are read elsewhere: reported */
  const Node *view;      /* through which a value is read; NULL: none */
  bool loads_all;   /* pieces of a concatenation that exist for all elements have no masks: a vector
                       loads where others are, too */
  bool loads_ahead; /* loads whose index and mask depend on no data go to `ahead` */
  VEC(KernelLoad) ahead;
  bool fills; /* loads give 0 where their mask is false */
  bool narrows;      /* integers of 64 bits whose values fit are computed in 32 */
  bool streams;      /* memory that is loaded along AXIS_N is read once, in order */
  bool widens;       /* those of 8 and 16 bits that never wrap around as well */
  bool keeps_halves; /* loads of 16-bit floats are not widened */
  Text body;
  int indent; /* of statements */
} Kernel;

Kernel *kernel_new(const Fusion *f, const Group *group, Arena *a);

/* Binds an index symbol to the expression `text` from now on. */
void kernel_bind(Kernel *k, Dim symbol, const char *text, unsigned axes);
/* An index expression; *axes: on which it depends, may be NULL. */
const char *kernel_index(Kernel *k, Dim x, unsigned *axes);
/* The index of an element of n that is loaded, through a view if it is viewed.  A CPU's kernels of
 * many slices of one memory, as a recurrent layer's steps have, differ in an offset that is a
 * parameter. */
const char *kernel_load_index(Kernel *k, const Node *n, Dim offset, bool viewed, unsigned *axes);
/* The argument of a load on axes `axes` that says which cache keeps the memory, or "". */
const char *kernel_hint(const Kernel *k, const Node *n, unsigned axes);
/* The index as an operand, in parentheses where it needs them. */
const char *kernel_operand(Kernel *k, Dim x);
/* The size of a grid's axis.  An empty axis counts as 1: kernels divide by it, but none runs. */
const char *kernel_extent(Kernel *k, Dim size);
/* The axes on which an index depends. */
unsigned kernel_axes(Kernel *k, const Dim *index, uint32_t rank);
/* The parameter through which n's elements are read or written. */
const char *kernel_buffer(Kernel *k, Node *n);
/* No variable gets the names that kernels and their templates use, or this one. */
void kernel_reserve_names(Kernel *k);
void kernel_take(Kernel *k, Name name);
/* The parameter of a size: s0, but batch_size for `batch`, which is a variable of templates. */
Name kernel_symbol_name(const Kernel *k, Dim symbol);
/* A name that is not taken: `base`, base_1, ... */
const char *kernel_fresh(Kernel *k, const char *base);
/* Names taken since k->taken.len was `taken` are free again. */
void kernel_forget(Kernel *k, size_t taken);
/* A name for the value of n, by its op: "add". */
const char *kernel_fresh_for(Kernel *k, const Node *n);
/* The variable that a loop carries for n, always the same: add_SUFFIX. */
const char *kernel_carried(Kernel *k, const Node *n, const char *suffix);
/* A statement, on a line of its own. */
void kernel_line(Kernel *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The element of n at `index`: computed before (kernel_remember), or loaded, or computed now. */
Value kernel_value(Kernel *k, Node *n, const Dim *index);
void kernel_remember(Kernel *k, const Node *n, const Dim *index, Value v);
/* Was it computed or loaded before, under whatever condition? */
bool kernel_remembers(const Kernel *k, const Node *n, const Dim *index);
/* A number as a literal of the dtype, or as an expression in it. */
const char *kernel_literal(Kernel *k, const Arg *a, DType t);
/* Writes an element; its index is n's own. */
void kernel_store(Kernel *k, Node *n, Value v);
/* `v` in dtype t, as an expression. */
const char *kernel_cast(Kernel *k, Value v, DType t);
/* The dtype in which values of t are held: f32 for 16-bit and 8-bit floats. */
DType kernel_held(DType t);

/* The limits of a piece as one expression; "": they always hold. */
const char *kernel_limits(Kernel *k, const ConcatSource *p);
/* The limits as the name of a bool; NULL: they always hold. */
const char *kernel_piece_condition(Kernel *k, const ConcatSource *p);
/* A piece's value in dtype t where `condition` (its own, NULL: always) holds. */
const char *kernel_piece_value(Kernel *k, const ConcatSource *p, const char *condition, DType t);
/* `text` with {0}, {1}, ... replaced. */
const char *kernel_fill(Kernel *k, const char *text, const char *const *operands);

/* The pointers at which an operand is read for one tile, and the condition ("" or " & ..."). */
typedef struct {
  const char *pointers, *condition;
} Access;

/* Goes through the views between a piece and memory.  The pointers have both axes of the tile,
 * which `first` and `second` index, also where one has one element. */
Access kernel_access(Kernel *k, ConcatSource *p, const char *first, const char *second);

/* The element that p->operand, a gather, reads becomes p's: lines that load the indices. */
void kernel_gathered(Kernel *k, ConcatSource *p);

/* The function's parameters so far. */
const char *kernel_parameters(Kernel *k);

/* Is n of the kernel's group? */
static inline bool kernel_owns(const Kernel *k, const Node *n) {
  const Group *of = k->f->of[n->id];
  return of && of->number == k->group->number;
}
/* Is n in memory, as an input or a value of another kernel? */
static inline bool kernel_loads(const Kernel *k, const Node *n) {
  return n->kind == NODE_INPUT || (k->f->of[n->id] && !kernel_owns(k, n));
}

/* From now on the group's strips are computed, part by part; the group is part 0. */
void kernel_begin_strips(Kernel *k);
/* Statements from here on compute this part. */
void kernel_use_part(Kernel *k, uint32_t part);

/* The element of a PRIM_WINDOW, and of a strip's parts together. */
Value kernel_window(Kernel *k, Node *n, const Dim *index);

/* The cast that makes an index one of 64 bits, if the kernel reads or writes a tensor that has more
 * than 2^31 elements whatever its symbols are; else "". */
const char *kernel_wide(Kernel *k);

/* The whole function: the template, with name, parameters and body filled in, and `slots`. */
void kernel_emit(Text *out, Kernel *k, const char *template, const Slot *slots, size_t n);

/* The number that changes nothing for a reduction or scan, as a literal of the dtype; `rule` is
 * one, or "least" or "most". */
const char *kernel_neutral(Kernel *k, const char *rule, DType t);

/* ---- numbers that are made of sizes (kernel_number.c) ---- */

/* The number as a scalar: f64, i64 or i1, as kernel_value gives it. */
Value kernel_number(Kernel *k, Node *n);

/* ---- scans (kernel_loops.c) ---- */

/* Does n give indices in a row, and not elements? */
bool kernel_scan_gives_indices(const Node *n);

/* ---- reads and writes of memory at many indices (kernel_loops.c) ---- */

/* The element of n, a PRIM_SEARCH, at `index`, as an expression. */
const char *kernel_search(Kernel *k, Node *n, const Dim *index);

/* Is each element that the group reads used by one loop along a row? */
bool kernel_loops_once(Kernel *k);
/* The kernels of a group's kind, written to `out`.  looped: rows are longer than a tile. */
void kernel_loops(Text *out, Kernel *k, bool looped);
/* GROUP_LOOPS whose vectors slide (group_slides). */
void kernel_slides(Text *out, Kernel *k);
void kernel_matmul(Text *out, Kernel *k);
void kernel_few_rows(Text *out, Kernel *k);
void kernel_attention(Text *out, Kernel *k, const AttentionShape *shape);
void kernel_attention_gradient(Text *out, Kernel *k, const AttentionShape *shape);
void kernel_conv(Text *out, Kernel *k);
void kernel_conv_weight(Text *out, Kernel *k);
void kernel_weight_rows(Text *out, Kernel *k);
/* The group is one nereid.fourier. */
void kernel_fourier(Text *out, Kernel *k);
void kernel_pairs(Text *out, Kernel *k);
/* Writes the kernel of a nereid.scatter_rows (planner/kernels/kernel_rows.c). */
void kernel_rows(Text *out, Kernel *k);

#endif
