/* What the files share that bind NESTs: bind_dims.c, bind_value.c, bind_address.c, bind_nest.c. */
#ifndef NEREID_LOWER_BIND_BIND_NEST_H
#define NEREID_LOWER_BIND_BIND_NEST_H

#include "lower/bind/bind.h"

static inline bool bind_unrolled(const Dim *d) {
  return place_in_thread(d->place);
}

/* ---- bind_dims.c ---- */
/* Which axis of the nest an index is; -1: none. */
int bind_axis_of(const NestStmt *nest, const NestIndex *index);
/* The two digits of a buffer's axis that is cut into panels, and of which `stride` is the lower's:
 * the index of the upper one, or -1. */
int bind_panel_digit(const NestBuffer *b, int64_t stride);

/* ---- bind_value.c ---- */
Value bind_eval(Bind *s, Ref r, DType type, bool address);
Value bind_eval_op(Bind *s, const NestStmt *st, bool address);
/* The value as a reference. */
Value bind_materialized(Bind *s, Value v);
Value bind_value_of(Bind *s, Ref r, DType t); /* both */
Value bind_ref_value(Ref r, DimMask mask, DType t);
/* Where a destination's registers are: a tile variable, or a temp that becomes an array. */
Ref bind_destination(Bind *s, Ref r, DimMask *mask);
/* A form of nest axes, and bytes in a buffer, as forms of digits. */
Form bind_affine_form(const Bind *s, const Affine *a);
Form bind_buffer_form(const Bind *s, const Mem *m);
/* Is it a form and bytes?  pointer + bytes, over the dims of both. */
bool bind_has_rest(const Value *v);
Value bind_add_bytes(Bind *s, Value pointer, Ref bytes, DimMask mask);
/* The statement's own guard; REF_NONE if there is none.  With that of padding and, if it writes,
 * of replicas: */
Value bind_own_guard(Bind *s, const NestStmt *st);
Value bind_guard_of(Bind *s, const NestStmt *st);
Value bind_and_padding(Bind *s, Value g);
Value bind_and_first_replica(Bind *s, Value g);

/* ---- bind_address.c ---- */
typedef struct {
  Ref base;
  Affine bytes;
  DimMask mask; /* of base and bytes */
  DimMask base_mask;
  int64_t align;
} Address;

Address bind_split_address(Bind *s, const NestStmt *st);
void bind_swizzle_address(Bind *s, const NestStmt *st, Address *a);
/* The register dim whose values are neighbours both in memory and in registers (sub NULL: in memory
 * is enough), and how many of them an access can take at once; 1 if there is none. */
int64_t bind_vector_dim(Bind *s, const NestStmt *st, const Address *a, const Value *guard,
                        const Affine *sub, int *dim);
/* Unroll loops over a mask, dim d in steps of n; the subscripts are rewritten to match. */
NestBuilder bind_open_vector(Bind *s, DimMask mask, int d, int64_t n, Affine *subs[], int nsubs);
/* All but `width`. */
void bind_copy_attrs(Bind *s, NestStmt *to, const NestStmt *from);

#endif
