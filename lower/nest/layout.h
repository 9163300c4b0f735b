/* Layouts: where the elements of a tile live, written as mixed-radix digits.
 *
 * Per axis a layout lists digits from most to least significant, `extent@dim:stride`.  `dim` is a
 * hardware dimension: warp, lane, reg, ...  The coordinate of an element in it (the index of its
 * warp, of its lane, ...) has the digit (coordinate / stride) % extent; the axis index is the
 * mixed-radix number that the digits spell.  Radices are mixed, so an extent may be any number;
 * lane digits are powers of two.
 *
 * Example: 1024 elements over 4 warps, each thread holding 2 groups of 4 neighbours:
 *
 *   [1024 = 2@reg:4 4@warp:1 32@lane:1 4@reg:1]
 *
 *   element i:   reg bit = i / 512        -> register 4 * (i / 512) + i % 4
 *                warp    = i / 128 % 4
 *                lane    = i / 4 % 32
 *
 * Digits after `*` replicate: they index no axis, so all their values hold the same element
 * (`[1] * 4@warp:1 32@lane:1` is a scalar held by every thread).  When a replicated tile is stored
 * or used by an atomic, only the replica whose digits are 0 acts.
 *
 * If the product of an axis's digits is larger than its extent, the axis is padded: positions at
 * and past the extent hold nothing, and statements over it have an implied guard.
 *
 * Register numbers count elements, not 32-bit words.  Layouts of buffers use the dimension byte:
 * the strides are byte offsets, and `xor bits,base,shift` is applied to the byte address (bits
 * [base, base+bits) are xored with bits [base+shift, base+shift+bits)).
 */
#ifndef NEREID_LOWER_NEST_LAYOUT_H
#define NEREID_LOWER_NEST_LAYOUT_H

#include "lang/base/dtype.h"

/* Hardware dimensions.  A thread holds REG digits in registers, and runs over SERIAL ones in a
 * loop; BYTE is an address in a buffer. */
typedef enum {
  HW_PROGRAM, HW_CLUSTER, HW_WARP, HW_LANE, HW_REG, HW_SERIAL, HW_BYTE,
  HW_COUNT
} HwDim;

enum { MAX_DIGITS = 24 };

typedef struct {
  int32_t extent;
  int32_t stride; /* in the coordinate of `hw` */
  uint8_t hw;     /* HwDim */
  int8_t axis;    /* the axis it indexes; -1: replication */
} Digit;

/* Digits of axis 0 first, most significant first; replication digits last. */
typedef struct {
  uint8_t rank;
  uint8_t ndigits;
  uint8_t xor_bits, xor_base, xor_shift; /* buffers; xor_bits 0: none */
  int32_t shape[MAX_RANK];
  Digit d[MAX_DIGITS];
} Layout;

/* The least power of two that is at least n, and the greatest that is at most n (n > 0). */
int64_t pow2_at_least(int64_t n);
int64_t pow2_at_most(int64_t n);

/* The greatest common divisor, which is never negative; that of 0 and b is |b|. */
static inline int64_t gcd64(int64_t a, int64_t b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a;
}

/* Does one thread hold all values of a digit there? */
static inline bool hw_in_thread(HwDim p) { return p == HW_REG || p == HW_SERIAL; }
Layout layout_new(const Type *tile);
/* Appends a digit below the others of its axis (axis -1: a replication digit).  Extent 1 is
 * dropped. */
void layout_push(Layout *l, int axis, HwDim hw, int32_t extent, int32_t stride);
bool layout_eq(const Layout *a, const Layout *b);
/* Layouts that many share: equal ones are one object of the arena.  A hash table; all zero but for
 * the arena is the empty set. */
typedef struct {
  Arena *arena;
  const Layout **slots;
  uint32_t nslots, count;
} LayoutSet;
const Layout *layout_intern(LayoutSet *set, const Layout *l);
/* Product of the digits' extents along an axis (>= shape[axis]). */
int64_t layout_padded(const Layout *l, int axis);
/* Do its digits spell positions after the axis's end? */
bool layout_has_padding(const Layout *l, int axis);
/* Does a digit of that hardware dimension spell the axis? */
bool layout_spelled_by(const Layout *l, int axis, HwDim hw);
/* The largest coordinate in a hardware dimension (registers, lanes, bytes...) plus 1. */
int32_t layout_span(const Layout *l, HwDim hw);
/* The span of registers, which both unrolled and serial digits number. */
int32_t layout_registers(const Layout *l);
/* The weight of a digit along its axis: the product of the extents of the digits below it. */
int64_t layout_weight(const Layout *l, int digit);
/* True if some replication digit is in lane or warp. */
bool layout_replicated(const Layout *l);
/* The layout of a tile without `axis` (its digits become replication; register and serial digits
 * of the axis vanish and the remaining registers are numbered anew), and with a new axis of
 * extent 1 at `axis`. */
Layout layout_drop_axis(const Layout *l, int axis);
Layout layout_insert_axis(const Layout *l, int axis);
/* The layout of a tile with another last axis of extent 2, whose elements are neighbours in a
 * thread's registers; and without such an axis, false if the last one is not. */
Layout layout_add_pair(const Layout *l);
bool layout_drop_pair(const Layout *l, Layout *out);
Layout layout_permute(const Layout *l, const int64_t *perm);
/* The layout of the tile in another shape, every element where it is.  False if it is padded or a
 * digit would straddle axes. */
bool layout_reshape(const Layout *l, const Type *to, Layout *out);
/* Renumbers register strides so that digits keep their order and fill 0..n-1 without gaps. */
void layout_pack_registers(Layout *l);
/* "", or the fault: sizes, overlapping digits of one hardware dimension, lane extents. */
const char *layout_check(const Layout *l, int warps, int lanes);
/* Checks a layout that holds a tile: a thread's registers are counted from 0, each once. */
const char *layout_check_held(const Layout *l, int warps, int lanes);
/* [128 = 2@warp:4 8@lane:4 8@reg:1, 64 = 4@lane:1 16@reg:8] * 2@warp:1 xor 3,4,3 */
void layout_print(Text *out, const Layout *l);

#endif
