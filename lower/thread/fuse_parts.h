/* What the files of pass fuse share: fuse.c, fuse_effects.c, fuse_agree.c, fuse_contract.c. */
#ifndef NEREID_LOWER_THREAD_FUSE_PARTS_H
#define NEREID_LOWER_THREAD_FUSE_PARTS_H

#include "lower/thread/chain.h"

enum {
  READS_GLOBAL = 1,
  WRITES_GLOBAL = 2,
  ORDERED = 4 /* keeps its place among all accesses of memory */
};

/* Ids in ascending order, each once. */
typedef struct {
  uint32_t *id;
  uint32_t n, cap;
} IdSet;

/* What a statement does, with all that is inside. */
typedef struct {
  IdSet reads, writes; /* variables */
  IdSet loads, stores; /* shared buffers */
  unsigned memory;
} Effects;

/* The effects of several statements together: by id, whether one of them has it.  Adding a
 * statement and comparing one take time by its own effects, however many there are. */
typedef struct {
  Arena *scratch;
  uint32_t *reads, *writes, *loads, *stores; /* `round` for those that it has */
  uint32_t round;
  unsigned memory;
  bool loaded, stored; /* any shared buffer */
} Pending;

typedef struct {
  NestStmt *st;
  Effects e;
  Chain chain;
  int statements; /* in the body of the chain */
} Item;

typedef struct {
  Nest *nest;
  Arena *scratch;
  NestStmt **def;  /* by variable id: the statement that defines it, if there is one only */
  uint32_t *ndefs; /* by variable id */
  VEC(Item) items; /* the block's statements until now, in order */
  Pending pending; /* scratch, of fuse_loops.c */
  VEC(NoAlias) assumed; /* by the chains that are compared */
} Fuse;

/* ---- fuse_effects.c: what statements read and write ---- */
bool sets_meet(const IdSet *a, const IdSet *b);
bool set_has(const IdSet *s, uint32_t id);
void effects_join(const Fuse *f, Effects *to, const Effects *from);
Effects effects_of(const Fuse *f, const NestStmt *st); /* and of all that is inside */
/* Must the two keep their order? */
bool effects_conflict(const Effects *a, const Effects *b);
void pending_new(Pending *p, Arena *scratch, const Nest *n);
void pending_clear(Pending *p);
void pending_add(Pending *p, const Effects *e);
/* Must it keep its order with any of them? */
bool pending_conflict(const Pending *p, const Effects *e);
/* The same of accesses to memory alone. */
bool effects_meet_in_memory(const Effects *a, const Effects *b);

/* ---- fuse_agree.c: chains that can become one, iteration by iteration ---- */
bool chains_alike(const Chain *a, const Chain *b); /* loops of the same extents */
/* Cuts the loops of g and l, from the innermost on, until they have the same extents; false if no
 * cuts do that. */
bool chains_refine(const Fuse *f, const Chain *g, const Chain *l, Chain *fine);
/* An affine form of indices of `from` in those of its cut loops; false if it is none. */
bool chain_map_affine(Affine *x, const Chain *from, const Chain *fine);
/* The conditions on registers and on memory in the header of fuse_loops.c; f->assumed lists the
 * parameters that the second one depends on. */
bool chains_agree_in_registers(const Fuse *f, const Item *g, const Item *l, const Chain *fine);
bool chains_agree_in_memory(Fuse *f, const Item *g, const Item *l, const Chain *fine);
bool is_global_access(const NestStmt *st, NestCode code);

/* ---- fuse_contract.c ---- */
/* Arrays that live in one loop only, an element in each iteration, become scalars. */
void fuse_contract(const Fuse *f);

#endif
