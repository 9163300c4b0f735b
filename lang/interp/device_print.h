/* Lines of device_print, the same from every executor:
 *
 *   pid (0, 0, 0) idx ( 5) x: 1.500000           element 5 of a tile of 16
 *   pid (3, 0, 0) idx ( 1,  0) x: (operand 1) 7  of several operands the second, 16x16
 *   pid (0, 1, 0) idx () n: 42                   a scalar
 *   pid (0, 0, 0) here                           no operand
 *
 * Indices are padded to the digits of the tile's extents, so that lines of one tile align.
 * Integers are decimal or, in hexadecimal, as wide as their dtype; floats have six digits after
 * the point, or their bits in hexadecimal; i1 is 0 or 1; pointers are 0x and their address.  These
 * are Triton's formats, but for 8-bit floats and hexadecimal floats and negative numbers, of which
 * Triton prints bits that are not theirs, or too many. */
#ifndef NEREID_LANG_INTERP_DEVICE_PRINT_H
#define NEREID_LANG_INTERP_DEVICE_PRINT_H

#include "lang/interp/interp.h"

typedef struct PrintLine {
  const char *message; /* after the index: " x: " */
  DType type;          /* the value's: i32 u32 i64 u64 f64; DT_NONE: there is no operand */
  int digits;          /* of hexadecimal numbers, at least; 0: decimal */
  int rank;            /* of the tile; 0: a scalar */
  int32_t shape[MAX_RANK];
} PrintLine;

enum { PRINT_CASTS = 3 };
typedef struct {
  TileCode op; /* CAST or BITCAST */
  DType to;
} PrintCast;
/* How an element of dtype t is printed: sets the line's type and digits, and the casts that make
 * the value, one after the other, of which it returns the number. */
int print_casts(PrintLine *line, DType t, bool hex, PrintCast casts[PRINT_CASTS]);
/* The message for operand i of n. */
const char *print_message(Arena *a, const char *message, uint32_t i, uint32_t n);

/* A printf format with a newline at the end.  Its arguments: three u32 for the program; an i32
 * for each axis; the value, if there is an operand: 64 bits are `long long`. */
void print_format(Text *out, const PrintLine *line);
/* The line itself, with a newline; value NULL: it is undefined. */
void print_text(Text *out, const PrintLine *line, const uint32_t pid[3], const int32_t *index,
                const Scalar *value);
/* To the receiver of the launch's lines. */
void print_write(const InterpOptions *o, const Text *line);

#endif
