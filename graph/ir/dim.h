/* Symbolic integers: the sizes of tensors, and expressions of them.
 *
 * A Dim is interned: equal expressions are the same pointer.  Expressions are kept in one normal
 * form, a sum of products, so that `2*(s0 + 1)` and `s0*2 + 2` are equal:
 *
 *   sum      constant + p1 + p2 + ...         products in a fixed order
 *   product  coefficient * a1 * a2 * ...      atoms in a fixed order, with repetition
 *   atom     symbol | a // b | a % b | max(a, b) | min(a, b)
 *
 * Quotients and remainders by one divisor join where they meet: 4*(i // 4) + i % 4 is i.  An
 * expression without a value (a divisor is 0, an index has no values) may be simplified to one that
 * has a value.
 *
 * Arithmetic is in 64 bits.  An overflow gives dim_huge(), which is the result of all arithmetic
 * with it: sizes from hostile files stay harmless until they are used. */
#ifndef NEREID_GRAPH_IR_DIM_H
#define NEREID_GRAPH_IR_DIM_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/strings.h"

typedef enum {
  DIM_INT,
  DIM_SYMBOL,
  DIM_SUM,
  DIM_PRODUCT,
  DIM_FLOORDIV, /* rounds down, as Python's // */
  DIM_MOD,      /* has the sign of the divisor, as Python's % */
  DIM_MAX,
  DIM_MIN,
  DIM_HUGE
} DimKind;

typedef struct DimExpr DimExpr;
typedef const DimExpr *Dim;

/* Both ends belong to it; INT64_MIN and INT64_MAX: no limit. */
typedef struct {
  int64_t lo, hi;
} DimRange;

struct DimExpr {
  DimKind kind;
  uint32_t id;     /* the order in which expressions were first met */
  int64_t value;   /* INT; constant of a SUM; coefficient of a PRODUCT */
  Name name;       /* SYMBOL */
  uint32_t symbol; /* SYMBOL: its number, from 0 */
  uint32_t n;
  uint32_t depth; /* of the tree below, bounded: recursion over it is safe */
  uint32_t size;  /* its nodes, bounded: so is the time that recursion takes */
  bool indexed;   /* has a symbol made by dim_index */
  const Dim *args;
};

typedef struct Dims Dims;

Dims *dims_new(Arena *a, Pool *names);

Dim dim_int(Dims *d, int64_t value);
Dim dim_huge(Dims *d);
/* The symbol of that name; a new one may be any integer from 0. */
Dim dim_symbol(Dims *d, Name name);
/* A new symbol with values 0 <= it < size, named `name`, or something like it if that is taken. */
Dim dim_index(Dims *d, const char *name, Dim size);
/* Returns one shared symbol for all callers with that name and size: expressions of it that one
 * kernel computed are found by the next.  No two of a kernel's indices have both in common. */
Dim dim_shared_index(Dims *d, const char *name, Dim size);
Dim dim_add(Dims *d, Dim a, Dim b);
Dim dim_sub(Dims *d, Dim a, Dim b);
Dim dim_mul(Dims *d, Dim a, Dim b);
/* b is not 0. */
Dim dim_floordiv(Dims *d, Dim a, Dim b);
/* The quotient where b is not 0, whatever its symbols' ranges say: (a * b) // a is b. */
Dim dim_quotient(Dims *d, Dim a, Dim b);
Dim dim_mod(Dims *d, Dim a, Dim b);
Dim dim_max(Dims *d, Dim a, Dim b);
Dim dim_min(Dims *d, Dim a, Dim b);

/* ---- symbols ---- */

Pool *dims_names(const Dims *d);
uint32_t dims_symbols(const Dims *d);
Dim dims_symbol_at(const Dims *d, uint32_t i);
/* The size of that name, NULL if there is none; indices are none. */
Dim dims_symbol_named(const Dims *d, Name name);
/* Further limits of a symbol; those it has stay.  False if nothing is left. */
bool dim_limit(Dims *d, Dim symbol, DimRange range);
/* What a symbol is in most runs.  Nothing but speed depends on it. */
void dim_set_likely(Dims *d, Dim symbol, int64_t value);
/* The value of x by those; 0: one of its symbols has none. */
int64_t dim_likely(const Dims *d, Dim x);

/* The least of least, 2 * least, 4 * least, ... that is at least n. */
static inline int64_t power_of_2(int64_t n, int64_t least) {
  int64_t p = least;
  while (p < n && p < INT64_MAX / 2) p *= 2;
  return p;
}

/* ---- what is known ---- */

static inline bool dim_is_int(Dim x) { return x->kind == DIM_INT; }
static inline bool dim_is(Dim x, int64_t value) { return dim_is_int(x) && x->value == value; }
/* Is it a number from `least` to `most`? */
static inline bool dim_within(Dim x, int64_t least, int64_t most) {
  return dim_is_int(x) && x->value >= least && x->value <= most;
}
static inline bool dim_is_index(Dim x) { return x->kind == DIM_SYMBOL && x->indexed; }
/* The size that an index was made with. */
Dim dim_index_size(const Dims *d, Dim index);
/* Does the symbol take part in x? */
bool dim_mentions(Dim x, Dim symbol);
/* An interval that holds all values of x, from its symbols' ranges. */
DimRange dim_range(const Dims *d, Dim x);
/* The same where symbol i has the range symbols[i]. */
DimRange dim_range_of(const DimRange *symbols, Dim x);
/* Is x a multiple of n, whatever its symbols are?  n > 0. */
bool dim_divisible(Dim x, int64_t n);
/* Is a <= b, whatever their symbols are?  False also if that is not known. */
bool dim_at_most(Dims *d, Dim a, Dim b);
/* x with symbol i equal to values[i].  False if that overflows or divides by 0. */
bool dim_eval(Dim x, const int64_t *values, int64_t *out);

/* ---- text: as sympy and FX write it, "s0*s1 + 2*s0 - 1", "(s0//2)", "Max(1, s0)" ---- */

void dim_print(Text *out, Dim x);
/* Reads an expression from *at up to `end`, leaving *at after it; symbols that are new are made.
 * It accepts Python's operators on integers too.  NULL where it is none: *at is where reading
 * stopped. */
Dim dim_parse(Dims *d, const char **at, const char *end);

#endif
