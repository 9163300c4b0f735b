/* What lower/verify/nest_verify.c (structure, scopes, subscripts, addresses) and
 * lower/verify/nest_check.c (types and attributes of each statement) share; others use nest_verify
 * of lower/nest/nest.h.
 *
 * Each check reports its error at the statement's place and returns whether it held. */
#ifndef NEREID_LOWER_VERIFY_NEST_VERIFY_H
#define NEREID_LOWER_VERIFY_NEST_VERIFY_H

#include "lower/target/machine.h"
#include "lower/nest/nest_text.h"

/* An index in scope. */
typedef struct {
  const NestIndex *index;
  bool axis; /* of a NEST: not uniform */
} OpenIndex;

typedef struct {
  const Nest *n;
  Arena *arena;
  Diags *d;
  VEC(OpenIndex) open;
  VEC(const NestVar *) fixed; /* indices and bounds of the FORs around: not to be written */
  const NestStmt *inside;     /* the NEST, COPY, REDUCE or SCAN around, or NULL */
  int role_warps;             /* of the ROLE around; of the program outside of one */
  int depth;
} NestCheck;

/* "add", "cp.async". */
const char *nest_stmt_name(const NestStmt *s);
bool nest_fail(NestCheck *c, const NestStmt *s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The least and greatest value of an affine form; false if an index is out of scope or the values
 * do not fit int64_t. */
bool nest_range(NestCheck *c, const NestStmt *s, const Affine *a, int64_t *lo, int64_t *hi);
/* `n` registers from r on lie in its variable; a tile is subscripted by its axes inside a NEST and
 * stands as a whole elsewhere. */
bool nest_check_ref(NestCheck *c, const NestStmt *s, const Ref *r, int64_t n);
bool nest_ref_uniform(const NestCheck *c, const Ref *r);

/* Counts, types, attributes and addresses of one statement; its level holds already. */
bool nest_check_stmt(NestCheck *c, const NestStmt *s);

#endif
