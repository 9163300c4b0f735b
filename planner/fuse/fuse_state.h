/* The insides of fusion:
 *
 *   domains.c  the rows and columns of groups, and the index of a node there
 *   gathers.c  the gathers that products make in their loads
 *   stores.c   the nodes that are computed where they are used, and those that memory has
 *   joining.c  the group that a node joins
 *   fuse.c     the order of it all, and loops
 *
 * each of which uses those before it. */
#ifndef NEREID_PLANNER_FUSE_FUSE_STATE_H
#define NEREID_PLANNER_FUSE_FUSE_STATE_H

#include "graph/analysis/loops.h"
#include "planner/fuse/fuse.h"

enum { FUSE_COLUMNS_MAX = 4096 }; /* of a row that a tile holds whole: windows, channels */

static inline bool is_tensor(const Node *n) { return n->type.kind == VALUE_TENSOR; }
static inline bool is_insert(const Node *n) {
  return n->kind == NODE_CALL && prim_kind(n->op) == PRIM_INSERT;
}
/* It has a kernel of its own. */
static inline bool is_scatter(const Node *n) {
  return prim_kind(n->op) == PRIM_SCATTER && !prim_of_kernel(n);
}
static inline bool is_window(const Node *n) {
  return n->kind == NODE_CALL && prim_kind(n->op) == PRIM_WINDOW;
}

/* Bytes of a tensor in memory; INT64_MAX if they are not known, or too many. */
int64_t fuse_node_bytes(Graph *g, const Node *n);

/* ---- domains ---- */

/* Does n go along an axis, so that its domain has columns? */
bool fuse_has_columns(const Node *n);
/* The role of n in its own domain. */
Role fuse_natural_role(const Node *n);
/* Makes n's own domain that of the group. */
void fuse_set_domain(const Fusion *f, Group *to, const Node *n);
/* Makes that of a tensor's elements, with the axes of `along` as columns: the others, and those,
 * each in order. */
void fuse_axes_domain(const Fusion *f, Group *to, const ValueType *t, uint32_t along);
/* Is that the shape of the group's domain? */
bool fuse_same_shape(const Group *g, uint32_t rank, const Dim *shape);
/* A group that goes through elements one by one, some of whose operands have only channels, gets
 * the channels as columns: in vectors, x % channels is dear, and no address that counts up. */
void fuse_find_channels(const Fusion *f, Group *g);
/* A group that takes rows of memory by an index each gets what is in a row as columns: an index is
 * read once a row, and neighbors in memory are read together. */
void fuse_find_rows(const Fusion *f, Group *g);
/* A group that reads along one axis and writes along another gets tiles of both (cross.c). */
void fuse_find_crossed(const Fusion *f, Group *g);
/* A CPU's group of rows whose length is no multiple of a vector's lanes gets the row as columns, if
 * it reads more than runs of its elements: in a run that goes over a row's end each lane has a
 * place of its own, and is loaded alone. */
void fuse_find_odd_rows(const Fusion *f, Group *g);
/* Does n, a pointwise node, read memory along another axis than its last one? */
bool fuse_reads_across(const Fusion *f, Node *n);
/* Does n, of one more role in the group, read an element that a node of it reads or computes? */
bool fuse_shares_element(const Fusion *f, const Group *g, Node *n);

/* ---- state ---- */

typedef enum {
  PLACE_ANY,
  PLACE_USERS,    /* a pointwise node that is computed where it is used, by all of its users */
  PLACE_TOGETHER, /* the same, with values whose loads would take as long: it is not dear */
  PLACE_MEMORY    /* in a group, though it has one user */
} FusePlace;

/* How a node's value is used, through views. */
typedef struct {
  uint32_t uses;
  bool apart;     /* by something that needs it in memory: a template, an output */
  uint32_t depth; /* nodes of no group below it, in a row, by weight; 0 for nodes of groups */
  uint32_t below; /* how many there are, each as often as it is reached, to a limit */
  uint32_t work;  /* of an element, in additions, with those below it; 0 for nodes of groups */
  uint32_t functions; /* that are written out to compute it, with those below it; the same */
  int64_t reach;      /* the most elements for which one user computes with it; 0: not known */
  bool dear;          /* a user would compute it again so often that memory costs less */
  bool free;          /* needs no memory to compute */
  bool repeated;      /* used at many indices for one element, as windows do */
  bool varies;        /* used by nodes that are computed in each run */
  bool elsewhere;  /* used for more than the index of a put, which each put computes for itself */
  bool tile;       /* depends on a tile of an attention, so that no memory may have it */
  bool inner;      /* every score or packed weight has one, computed within the kernel */
  bool sums;       /* a product, or computed from one with no memory between them */
  bool short_sums; /* of a group: sums, which memory has in 16 bits, or those and a bias */
  bool passing;    /* in memory that is written to later: read while it is there */
  int64_t bytes;   /* in memory that are read to compute it */
  const Node *product; /* that loads its elements, the last of its users that do; NULL: none */
  bool gathered;  /* a gather that the product makes in its loads */
} Info;

/* The groups that write slices of a memory, the latest last. */
typedef VEC(Group *) Writers;

typedef struct {
  Fusion *f;
  Info *info;             /* by node id */
  Writers *writers;       /* by node id of a memory */
  Group **last_reader;    /* by node id: the last group that reads it */
  bool together;          /* nodes share kernels */
  bool columns;           /* launches are cheap, elements one by one are not: a CPU */
  bool turns;             /* nodes may have other orders of axes than their group: a GPU */
  const FusePlace *place; /* by node id; NULL: any */
  Loops loops;
  Group *checks; /* the last group that checks began; NULL: there is none */
} Fuser;

/* ---- stores ---- */

/* The work of an expression's text, in additions. */
uint32_t fuse_text_work(const char *text);
/* Calls in it of functions that a kernel has the whole text of: of libdevice, and of templates. */
uint32_t fuse_text_functions(const char *text);
/* Is the operand one of a product whose tiles the kernel loads, and nothing else of it? */
bool fuse_loads_operand(const Node *user, const Node *operand);
/* Can the kernel of the product, which loads n's elements through views, gather them instead? */
bool fuse_gathers_in_loads(const Fuser *s, const Node *product, const Node *n);
/* Finds how each value is used. */
void fuse_survey_uses(Fuser *s);
/* Is n computed where it is used, unless a group is to have it?  Its operands are decided. */
bool fuse_is_inlined(Fuser *s, Node *n, bool grouped);
/* Finds the values that are written to memory, when all nodes have groups. */
void fuse_find_stored(Fusion *f);
/* Values that must be in memory, and those that windows read many times: by node id. */
bool *fuse_kept_values(const Fuser *s);

/* ---- joining ---- */

/* Puts n into a group that it fits, or into a new one. */
void fuse_assign_group(Fuser *s, Node *n);
/* Is n a bias, or a factor, of sums that their kernel has in f32 and memory would have in 16 bits?
 * Their kernel computes it, and rounds once, as layers do. */
bool fuse_follows_sums(Fuser *s, Node *n);
/* All slices have been written when the last of their groups has run. */
void fuse_assign_inserted(Fuser *s, Node *n);

/* ---- recompute.c, order_groups.c ---- */

/* The places of nodes, by node id, that move fewer bytes than the groups of f do: a stored value is
 * computed again by its readers where they read its operands for less, and where computing costs
 * less than that saves.  `kept` (by node id) are values that are in memory anyway.  NULL: f is best
 * as it is. */
const FusePlace *fuse_find_places(const Fusion *f, const bool *kept);
/* The bytes that all groups read and write, but for values of unknown sizes. */
double fuse_traffic(const Fusion *f);

#endif
