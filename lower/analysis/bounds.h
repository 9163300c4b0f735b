/* Bounds of integers as texts (lower/analysis/pointer_bounds.h).
 *
 * The elements of a tile are told apart by the axes of the access that they vary along: half a byte
 * for each axis of the tile, the access's axis and 1, or 0 where the tile has one element.  So `i`
 * in i[:, None] and in i[None, :] are two numbers. */
#ifndef NEREID_LOWER_ANALYSIS_BOUNDS_H
#define NEREID_LOWER_ANALYSIS_BOUNDS_H

#include "lang/tile/tile.h"

/* A comparison that holds at an access: value, without its shape, against the text's value. */
typedef struct Limit {
  const TileValue *value;
  uint32_t axes;
  const char *function; /* "below", "atmost", "above", "atleast" */
  const char *text;
  bool used; /* an address has the value */
  struct Limit *next;
} Limit;

/* A comparison of two values that holds at an access: less < more, or with `equal` less <= more. */
typedef struct Order {
  const TileValue *less, *more;
  uint32_t axes;
  bool equal;
  const Limit *limits[2]; /* of less and of more, or NULL */
  const struct Order *next;
} Order;

typedef struct {
  const TileFunc *f;
  Arena *arena;
  const char *const *names;
  Limit *limits;
  const Order *orders;
  uint32_t axes;         /* of the value at hand */
  const TileOp *earlier; /* a loop of which any iteration is at hand; NULL: the access's own are */
  int steps, work;       /* that may be done yet */
} Bounds;

enum {
  BOUNDS_MOST_TEXT = 6000, /* characters of an expression */
  BOUNDS_NO_AXES = -1      /* no comparison is about a value with these */
};

/* Two operands of a function or an operator; NULL if one is unknown or the text grows too long. */
const char *bounds_pair(Bounds *b, const char *fmt, const char *x, const char *y);

/* An integer's interval, whatever its shape. */
const char *bounds_interval(Bounds *b, const TileValue *v);

/* How often a loop runs, as an interval that begins at 0. */
const char *bounds_trips(Bounds *b, const TileOp *loop);

/* The sum of the steps of a carried value or pointer, in any iteration or after the last one. */
const char *bounds_drift(Bounds *b, const TileValue *param, bool after);

/* tile_root_value, with `axes` made those of the root; but a reshaped tile is one itself. */
const TileValue *bounds_root(Bounds *b, const TileValue *v);

/* Is the value the kernel's argument, as it is? */
bool bounds_parameter(const TileValue *v);

/* ---- bounds_sum.c ---- */

/* The elements between an address and its parameter as a sum of products, in which what a
 * comparison bounds is held to it: k + 64 * turn where k < K - 64 * turn.  NULL where that says no
 * more than intervals one after the other do. */
const char *bounds_sum(Bounds *b, const TileValue *pointer);

#endif
