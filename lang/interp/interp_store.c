/* Storage of values: counted blocks, recycled by size. */
#include <math.h>
#include <string.h>

#include "lang/interp/interp_run.h"

struct StoreBlock {
  StoreBlock *next;
  uint32_t refs, size_class;
};
_Static_assert(sizeof(StoreBlock) == 16, "contents are aligned to 16");

static StoreBlock *header(void *block) { return (StoreBlock *)block - 1; }

void *interp_alloc(Run *r, size_t bytes) {
  uint32_t c = 4;
  while (((size_t)1 << c) < bytes) c++;
  StoreBlock *b = r->free[c];
  if (b) r->free[c] = b->next;
  else b = arena_alloc(r->arena, sizeof *b + ((size_t)1 << c));
  *b = (StoreBlock){NULL, 1, c};
  return b + 1;
}

/* another reference; NULL is allowed */
static void interp_keep(void *block) {
  if (block) header(block)->refs++;
}

void interp_drop(Run *r, void *block) {
  if (!block || --header(block)->refs) return;
  StoreBlock *b = header(block);
  b->next = r->free[b->size_class];
  r->free[b->size_class] = b;
}

Val interp_share(const Val *v) {
  interp_keep(v->x);
  interp_keep(v->flags);
  return *v;
}

void interp_clear(Run *r, Val *v) {
  interp_drop(r, v->x);
  interp_drop(r, v->flags);
  *v = (Val){.arg = MEMORY_NO_ARG};
}

Val interp_new(Run *r, uint32_t n) {
  return (Val){.x = interp_alloc(r, n * sizeof(Scalar)), .n = n, .arg = MEMORY_NO_ARG};
}

void interp_set(Prog *p, const TileValue *v, Val x) {
  interp_clear(p->run, &p->vals[v->id]);
  p->vals[v->id] = x;
}

Val *interp_result(Prog *p, const Inst *in, uint32_t i, uint32_t n) {
  const TileValue *v = in->op->results[i];
  interp_set(p, v, interp_new(p->run, n));
  return interp_val(p, v);
}

uint8_t *interp_flags(Run *r, Val *v) {
  if (v->flags) return v->flags;
  v->flags = interp_alloc(r, v->n);
  return memset(v->flags, 0, v->n);
}

void interp_blame(Val *to, const Val *from) {
  if (!to->undef) to->undef = from->undef;
  if (!to->wrapped) to->wrapped = from->wrapped;
}

Scalar interp_poison(DType t) {
  if (dtype_is_float(t)) return (Scalar){.f = scalar_round(t, NAN)};
  uint64_t raw = UINT64_C(0x5a5a5a5a5a5a5a5a);
  return scalar_load(t, &raw);
}

void interp_undef(Run *r, Val *v, uint32_t i, DType t, const TileOp *why) {
  v->x[i] = interp_poison(t);
  interp_flags(r, v)[i] |= FLAG_UNDEF;
  v->undef = why;
}
