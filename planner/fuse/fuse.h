/* Fusion: groups of nodes that share a kernel.
 *
 * planner/fuse owns the choice of groups.  It takes a graph of primitives, into which it inserts
 * copies where a kernel needs a buffer, and gives a Fusion, which planner/kernels reads.
 *
 * Nodes that compute are put into groups, in the graph's order; a group becomes one kernel, and
 * groups run in the order of their numbers.  A group has a domain: x rows of r columns, along which
 * reductions go (r is 1 where nothing has columns).  A node in it has a role: it is computed for
 * each of the x * r elements, or for each of the x rows.  A node's *own index* is that of its
 * element for a point of the domain: subscripts in terms of the index symbols of x and r.
 *
 * A node joins the last group that it depends on, or one that reads what it reads, if its size
 * fits the domain, and it uses nodes of the group at their own indices only: then a value that one
 * computes is there, in a register, when the other needs it.
 *
 * Under freezing, a group is computed once or in each run, never both; a group that runs once
 * stores values that the others read, if those take no more bytes than their sources.
 *
 * Views, and nodes that read no memory (arange, full, masks made of them), belong to no group: they
 * are index expressions of their users.  So does a pointwise node with one user: it is computed
 * where it is used. */
#ifndef NEREID_PLANNER_FUSE_FUSE_H
#define NEREID_PLANNER_FUSE_FUSE_H

#include "graph/ops/prims.h"
#include "graph/ir/graph.h"

typedef enum { GROUP_LOOPS, GROUP_MATMUL, GROUP_ATTENTION, GROUP_LIBRARY } GroupKind;
typedef enum { ROLE_NONE, ROLE_FULL, ROLE_ROW } Role;

typedef struct Group {
  GroupKind kind;
  bool once; /* it depends on weights alone, and runs once */
  uint32_t number;
  Dim x, r;         /* LOOPS: the domain.  Else x is all elements */
  Dim index[3];     /* LOOPS: of x, of r.  Else batch, row, column */
  Dim extent[4];    /* MATMUL, LIBRARY: of these, and of the summed axis */
  uint32_t rank;    /* of the tensor whose elements the full role has: what is reduced, or the */
  const Dim *shape; /* product */
  const Dim *element;
  uint32_t columns; /* LOOPS: the axes of `shape` that r covers, a bit each */
  bool turned;      /* LOOPS: a node has another order of axes (Fusion.turn) */
  bool crossed;     /* LOOPS of elements alone: tiles are parts of rows (planner/fuse/cross.c) */
  uint32_t strip;   /* LOOPS: neighbours along x (strip_axis 0) or r (1) that a thread computes */
  uint32_t strip_axis; /* together (planner/fuse/strips.h); 0 and 1: none */
  bool rows;           /* LOOPS: crossed, its r are whole rows of what is read */
  bool words;          /* a strip is a word of 32 bits, which is stored at once */
  Dim plane, planes; /* LOOPS: the index along the grid's second axis, of which x is a part, and
                        its size; NULL: there is none */
  VEC(Node *) nodes;
  uint32_t work;      /* nodes, with those that they compute inline */
  uint32_t functions; /* that are written out in its kernel, each as often as it is called */
} Group;

/* The reason why a node did not join the last group that it depends on, as a phrase about the
 * node. */
#define FUSE_STOPS(X)                                                   \
  X(NONE, "")                                                           \
  X(EAGER, "has a kernel of its own in mode eager")                     \
  X(ONCE, "is computed in each run, what it reads only once")           \
  X(PRODUCT, "is a product, which reads its operands from memory")      \
  X(LIBRARY, "is computed by a library, which has no such epilogue")     \
  X(SCATTER, "writes to memory in any order, or reads what does")       \
  X(READ, "comes after a size is read that data decides")               \
  X(LOOP, "is computed in a loop, what it reads is not, or in another part of it") \
  X(TILES, "needs whole rows, which lie in several tiles of a product") \
  X(EXTENT, "goes through another number of elements")                  \
  X(AXES, "goes along other axes")                                      \
  X(ROWS, "has elements that lie in no row of a later reduction")       \
  X(INDEX, "is read at other places than where it is computed")         \
  X(FULL, "finds as many nodes there as a kernel may have")
typedef enum {
#define X(id, text) STOP_##id,
  FUSE_STOPS(X)
#undef X
} StopKind;

typedef struct {
  StopKind kind;
  const Node *at; /* the node that it is about; NULL: the one that did not join */
} FuseStop;

typedef struct {
  Node *node;
  uint32_t number;
} FusionRead;

/* A loop that data ends (graph/analysis/loops.h), by the numbers of groups: those from `first` on
 * run before its condition is read, those from `body` to `past` if that is true. */
typedef struct {
  const Node *end;
  uint32_t first, body, past;
  uint32_t inside; /* loops that are within it: those that follow */
} FusionLoop;

typedef struct {
  Graph *graph;
  Arena *arena;
  VEC(Group *) groups;
  VEC(Dim) symbols; /* the graph's, without those of indices */
  Group **of;       /* by node id; NULL: in none */
  Role *role;       /* by node id */
  bool *once;       /* by node id: its value is the same in each run; all false without freezing */
  bool *stored;     /* by node id: it is written to memory */
  uint32_t *slices; /* by node id: the slices that are taken of it, by views alone */
  /* By node id: axis i of the node is this one of its group's tensor; NULL: the same. */
  const uint8_t **turn;
  FuseStop *stop;   /* by node id: of nodes in groups */
  /* Nodes that say sizes (prim_reads_size): the counted tensor is in memory before group `number`,
   * and later nodes join no group before that. */
  VEC(FusionRead) reads;
  VEC(FusionLoop) loops; /* in the order in which they begin */
  uint32_t barrier;      /* later nodes join no group before that of this number */
  bool large;            /* a tensor is (fusion_is_large) */
} Fusion;

/* Has the tensor more than 2^31 elements, whatever its symbols are? */
bool fusion_is_large(Graph *g, const Node *n);

typedef struct {
  bool together; /* nodes share kernels; else each node that computes is a group of its own */
  bool columns;  /* pointwise groups that share channels go along them, as is best for a CPU */
  bool strips;   /* threads compute neighbours of windows together, as is best for a GPU */
  bool freeze;   /* what depends on weights alone is in groups of its own, which run once */
} FuseOptions;

Fusion *fuse_graph(Graph *g, Arena *a, const FuseOptions *options);
/* Numbers the groups anew.  The memory of released inputs is free after their last use, that of
 * other inputs never, nor is that of results.  The peak of temporaries alone does not rise, but
 * for results that are written over operands (planner/kernels/buffer_reuse.h). */
void fuse_order_groups(Fusion *f);

/* Is n a check of one index, in a group that goes through other elements?  Each of its programs
 * makes it. */
bool group_checks_scalar(const Fusion *f, const Group *group, const Node *n);
/* The group as it is for one part of each of its strips: x and r are those of strips. */
Group *group_part(const Fusion *f, const Group *group, uint32_t part);
/* The group as it is at one column. */
Group *group_at_column(const Fusion *f, const Group *group, Dim column);
/* Are programs next to each other those of planes?  Planes of a depthwise gradient read the same
 * elements, which one processor then has in a cache. */
bool group_planes_first(const Group *g);
/* The elements of x that follow each other in memory, if the group sums up columns on a CPU, or has
 * windows along an axis before them: vectors then take neighbours.  NULL: it does anything else, or
 * they are few. */
Dim group_vector_columns(const Fusion *f, const Group *group);
/* The elements of x along the axes after the columns of a CPU's crossed group, of which a program
 * takes some of one index of the axes before: addresses then grow evenly, also where a tile does
 * not divide them.  NULL: there are no axes before. */
Dim group_crossed_rows(const Fusion *f, const Group *group);
/* The group as it is for a program of these columns alone: x is theirs, `plane` the index of the
 * others. */
Group *group_plane(const Fusion *f, const Group *group, Dim columns);
/* Such a group for a program of so many planes, at the first of them. */
Group *group_planes(const Fusion *f, const Group *group, int64_t planes);
/* The group of so many planes further on. */
Group *group_plane_after(const Fusion *f, const Group *group, int64_t planes);
/* The own index of n, a node of `group`, into n's rank subscripts. */
void group_index(const Fusion *f, const Group *group, const Node *n, Dim *index);

/* The index of the element that a reduction reads, else n's own index. */
void group_read_index(const Fusion *f, const Group *group, const Node *n, Dim *index);
/* Does n, a reduction, reduce axis i of its operand? */
bool reduction_has_axis(Graph *g, const Node *n, uint32_t i);

/* The indices at which n, itself at `index`, uses its operands: f is called for those that are in
 * a group or are inputs; views and nodes of no group are gone through.  For a reduction, `index`
 * is that of the element that is reduced.  Not for MATMUL. */
typedef void UseAt(Node *operand, const Dim *index, void *ctx);
void each_use_at(const Fusion *f, Node *n, const Dim *index, UseAt *use, void *ctx);

/* The operands of n that are in a group or are inputs, as in each_use_at; the indices mean nothing,
 * and for a product are NULL. */
void each_operand(const Fusion *f, Node *n, UseAt *use, void *ctx);

/* Do the programs of a product make several tiles each, so that the next tile's operands are copied
 * while one is stored?  Hopper's tensor copies take them, tiles are more than processors, and none
 * of its memory is that of another operand. */
bool product_persists(const Fusion *f, const Group *g);

/* ---- image_tiles.c ---- */

/* Are the rows of a convolution's tiles parts of images?  Hopper's tensor copies take these at
 * once, padding included, of 16-bit elements.  Rows of spread elements are those of a phase, of
 * which there is one for each remainder of a position by the spread. */
bool convolution_reads_images(const Fusion *f, const Group *g);
/* The channels that a step of a PRIM_CONVOLUTION sums up: a power of two, of which they are whole
 * blocks, or of which tensor copies fill them up; 0: channels are taken together with the positions
 * of the window. */
int64_t convolution_block(Graph *g, const Node *n);
/* The positions of a phase along an axis of the result; the phases along all axes. */
Dim image_extent(Graph *g, const Node *n, uint32_t axis);
Dim image_phases(Graph *g, const Node *n);

enum { IMAGE_SIDES = 3 };

/* So many positions along the last axis of an image, the one before, ..., of so many images. */
typedef struct {
  int64_t side[IMAGE_SIDES], images;
} ImagePart;

/* The part of so many positions, powers of two, of which images have the fewest; of these the
 * widest.  `images`: their number, which may be open, and the sizes of so many axes. */
ImagePart image_part(const Graph *g, const Dim *images, uint32_t axes, int64_t rows);
/* The kernel's parameter for a side. */
const char *image_side(uint32_t axis);

/* Prints a group a line, with the values that it stores, and the rewrites as comments: --emit
 * fused. */
void fusion_print(Text *out, const Fusion *f);

/* ---- verify_fusion.c ---- */

/* The first fault, in `a`; NULL: there is none. */
const char *fusion_fault(Arena *a, const Fusion *f);

/* ---- concat_slices.c ---- */

/* The number of elements of that shape. */
Dim fuse_shape_product(Graph *g, const Dim *shape, uint32_t rank);
/* The offset of the slice of n, a nereid.insert_slice, in elements of its memory. */
Dim insert_offset(Graph *g, const Node *n);
/* The offset of its element at index `index`. */
Dim insert_index(Graph *g, const Node *n, const Dim *index);

#endif
