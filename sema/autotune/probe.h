/* The effects of a constexpr on a kernel, found by compiling the kernel with two of its values.
 *
 * The two functions have the same ops in the same order if the value shapes tiles and enters
 * arithmetic; what differs between them op by op says where.  (A constexpr that unrolls loops or
 * chooses between branches gives other ops: its probes are not alike.) */
#ifndef NEREID_SEMA_AUTOTUNE_PROBE_H
#define NEREID_SEMA_AUTOTUNE_PROBE_H

#include "sema/value/context.h"
#include "sema/tuned.h"

enum { PROBE_STEPS_MAX = 1 << 14 }; /* of unrolled loops */

typedef VEC(TileOp *) ProbeOps;

typedef struct {
  TileFunc *fn;    /* NULL: it does not compile */
  ProbeOps ops;    /* in program order */
  bool heavy;      /* it takes too long to be compiled again and again */
  const char *why; /* the first error, if it does not compile */
  Span why_at;
} Probe;

/* Compiles `k` for the query with further constexprs; its messages are dropped. */
void probe_compile(Program *p, const Kernel *k, const TunedQuery *q, const TunedConfig *values,
                   Probe *out);

typedef struct {
  bool alike;      /* the same ops in the same order */
  bool differs;    /* in a shape, a constant, or by not being alike */
  bool shapes;     /* some tile has another shape */
  bool steps;      /* the tiles of programs or iterations are adjacent, that far apart */
  bool covers;     /* an arange that starts at 0 is compared with `size` as it is */
  bool groups;     /* it reorders programs: divisor and remainder of their index, and a minimum */
  bool dot, dot_k; /* it shapes operands of a dot; along the axis that is summed */
  int rank;        /* the largest of a tile that it shapes */
  int64_t size;    /* the largest argument that its axes are compared with; 0: none is known */
} ProbeFacts;

/* `q` gives the values of arguments. */
void probe_compare(const Probe *base, const Probe *other, const Kernel *k, const TunedQuery *q,
                   ProbeFacts *out);
/* A loop with a dot, whose loads can run ahead. */
bool probe_pipelines(const Probe *p);

#endif
