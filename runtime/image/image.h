/* Images: compiled kernels as data.
 *
 * runtime/image owns this form, its file format and the integer expressions in it (intexpr.h).  It
 * takes the parts of a compiled kernel, or a file, and gives an image, or a file.
 *
 * An image is allocated in its arena.  Expressions are over the run-time parameters by name
 * (pointers as addresses, floats as 0), then grid_x, grid_y, grid_z and processors. */
#ifndef NEREID_RUNTIME_IMAGE_IMAGE_H
#define NEREID_RUNTIME_IMAGE_IMAGE_H

#include "lang/base/dtype.h"
#include "runtime/image/intexpr.h"

typedef struct {
  const char *name;
  Type type;
  bool written; /* the kernel may write through it */
} ImageParam;

/* A parameter of a compiled kernel. */
typedef enum {
  SLOT_ARG,     /* a run-time parameter */
  SLOT_VALUE,   /* an expression */
  SLOT_SCRATCH, /* the address of that many bytes */
  SLOT_ZEROED,  /* the same, zeroed once: the kernel leaves it zeroed */
  SLOT_MAP      /* the descriptor of a tensor, of 128 bytes */
} SlotKind;

enum { IMAGE_MAP_RANK = 5, IMAGE_NATURAL = 4 };

/* A tensor in memory of which the hardware copies boxes (lower/nest/nest.h, TensorMap). */
typedef struct {
  int bytes; /* of an element */
  int rank;
  int box[IMAGE_MAP_RANK];        /* elements, innermost axis first; so are the next */
  IntExpr extent[IMAGE_MAP_RANK]; /* elements */
  IntExpr stride[IMAGE_MAP_RANK]; /* bytes */
  int natural[IMAGE_NATURAL], nnatural; /* parameters from 0 to 2^30 */
} ImageMap;

typedef struct {
  SlotKind kind;
  int param;     /* SLOT_ARG; SLOT_MAP: the pointer */
  IntExpr expr;  /* of VALUE, SCRATCH, ZEROED */
  ImageMap *map; /* SLOT_MAP */
} ImageSlot;

/* Run-time parameters between whose accesses the code has no order: their memory is disjoint, or,
 * with `or_same`, both hold one address (lower/nest/nest.h, NoAlias). */
typedef struct {
  int a, b;
  bool or_same;
} ImageNoAlias;

typedef struct {
  const char *target, *entry;
  const char *file; /* of IR text that a user wrote: what places in it are told by; else NULL */
  nereid_kind kind;
  const char *code;
  size_t size;
  /* The name of an interpreter's code that was compiled from text in memory, and that text, for the
   * lines of findings.  Else NULL. */
  const char *source_name, *source;
  size_t source_size;
  int threads;     /* of a thread block */
  int cluster;     /* thread blocks of a program: the first axis of the grid has as many times more;
                      0 and 1: its own is one */
  int64_t shared;
  IntExpr *guards;
  int nguards;
  ImageNoAlias *noalias;
  int nnoalias;
  IntExpr *certain; /* by parameter: bytes that are accessed for certain
                       (lower/analysis/certain_reach.c); without text: unknown.  NULL: all are */
  IntExpr *bounds; /* by parameter: the bytes accessed through it (lower/analysis/pointer_bounds.h),
  over
                      image_bound_names; without text: unknown.  NULL: all are */
  const char *ordered; /* tile IR of the kernel, which is compiled to keep the order of all accesses
                          where `noalias` does not hold; NULL: such a launch is refused.  Brief
                          kernels for CPUs have it, too, to be interpreted */
  size_t ordered_size;
  int deep; /* stages of rings that fill shared memory, for launches of which a multiprocessor has
               one program at most, compiled from `ordered`; 0: there are none */
  bool loops; /* launches of many programs may run code, compiled from `ordered`, of which a program
                 does the work of several */
  IntExpr turns; /* with these: how often a ring's loop runs, over image_bound_names */
  ImageSlot *slots;
  int nslots;
  bool has_grid; /* the launched grid is a function of the user's */
  IntExpr grid[3];
} ImageVariant;

struct nereid_image {
  Arena *arena;
  const char *name;
  ImageParam *params;
  int nparams;
  const char **names; /* what expressions may use, image_nnames of them */
  const char **bound_names; /* what bounds may use, image_nbound_names of them */
  ImageVariant **variants;
  int nvariants;
};

enum { IMAGE_EXTRA_NAMES = 4, IMAGE_BOUND_NAMES = 6, IMAGE_MAX_PARAMS = 1024 };
static inline int image_nnames(const nereid_image *m) { return m->nparams + IMAGE_EXTRA_NAMES; }
static inline int image_nbound_names(const nereid_image *m) {
  return m->nparams + IMAGE_BOUND_NAMES;
}

/* An image without variants; the parameters are copied. */
int image_new(nereid_image **out, const char *name, const ImageParam *params, int nparams);
/* Appends a copy of the variant; expressions are compiled anew.  with_code: with its code. */
int image_add_variant(nereid_image *image, const ImageVariant *v, bool with_code);
/* An image with the same parameters and no variants. */
int image_like(nereid_image **out, const nereid_image *image);

#endif
