/* Interface of the values of a nest (bind_value.c) to its statements (bind_nest.c). */
#ifndef NEREID_LOWER_BIND_BIND_NEST_H
#define NEREID_LOWER_BIND_BIND_NEST_H

#include "lower/bind/bind.h"

static inline bool bind_unrolled(const Dim *d) {
  return hw_in_thread(d->hw);
}

/* ---- bind_dims.c ---- */
/* The axis of the nest that an index runs over; -1: none. */
int bind_axis_of(const NestStmt *nest, const NestIndex *index);
/* The two digits of a buffer's axis that is cut into panels, and of which `stride` is the lower's:
 * the index of the upper one, or -1. */
int bind_panel_digit(const NestBuffer *b, int64_t stride);
/* The power of two by which `op` with the constant c divides, or whose remainder it is; 0: none. */
int64_t bind_power(TileCode op, int64_t c);
/* The power of two by which a statement divides, or whose remainder it is; 0: none. */
int64_t bind_dividing_power(const NestStmt *st);

/* ---- bind_value.c ---- */
Value bind_eval(Bind *s, Ref r, DType type, bool address);
Value bind_eval_op(Bind *s, const NestStmt *st, bool address);
/* The value as a reference. */
Value bind_materialized(Bind *s, Value v);
Value bind_value_of(Bind *s, Ref r, DType t); /* both */
Value bind_ref_value(Ref r, DimMask mask, DType t);
/* The registers of a destination: a tile variable, or a temp that becomes an array. */
Ref bind_destination(Bind *s, Ref r, DimMask *mask);
/* A form of nest axes, and bytes in a buffer, as forms of digits. */
Form bind_affine_form(const Bind *s, const Affine *a);
Form bind_buffer_form(const Bind *s, const Mem *m);
/* Is it a form and bytes?  pointer + bytes, over the dims of both. */
bool bind_has_rest(const Value *v);
Value bind_add_bytes(Bind *s, Value pointer, Ref bytes, DimMask mask);
/* The statement's own guard; REF_NONE if there is none.  The other functions add the guard of
 * padding and, if the statement writes, of replicas: */
Value bind_own_guard(Bind *s, const NestStmt *st);
Value bind_guard_of(Bind *s, const NestStmt *st);
Value bind_and_padding(Bind *s, Value g);
Value bind_and_first_replica(Bind *s, Value g);

#endif
