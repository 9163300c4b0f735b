/* Combining elements, and handing them from lane to lane and from warp to warp: see bind_fold.h. */
#include <math.h>
#include <string.h>

#include "lower/bind/bind_fold.h"

/* ---- combining ---- */

int bind_operands(const Bind *s, const NestStmt *st) {
  if (st->nsrcs > MAX_OPERANDS) bind_refuse(s, "it has more than 8 operands");
  return (int)st->nsrcs;
}

static TileCode combine_code(const char *name) {
  static const struct {
    const char *name;
    TileCode code;
  } rows[] = {{"add", TILE_ADD}, {"mul", TILE_MUL},         {"min", TILE_MIN},
              {"max", TILE_MAX}, {"min_nan", TILE_MIN_NAN}, {"max_nan", TILE_MAX_NAN},
              {"and", TILE_AND}, {"or", TILE_OR},           {"xor", TILE_XOR}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, name)) return rows[i].code;
  return TILE_OP_COUNT;
}

typedef struct {
  NestVar *from;
  Ref to;
} Renamed;

static Ref rename_operand(const Renamed *map, size_t n, Ref r) {
  for (size_t i = n; i-- > 0;)
    if (r.kind == REF_VAR && map[i].from == r.var) return map[i].to;
  return r;
}

void bind_combine(Bind *s, const NestStmt *st, const Ref *acc, const Ref *x) {
  const char *name = nest_str(st, NA_combine, NULL);
  if (name) {
    nest_op(&s->b, combine_code(name), acc[0].var->dtype, acc[0], acc[0], x[0], ref_none());
    return;
  }
  const NestBlock *body = st->regions[0];
  uint32_t n = body->nparams / 2;
  size_t count = body->nparams, cap = count;
  for (const NestStmt *o = body->first; o; o = o->next) cap += o->ndsts;
  Renamed *map = ARENA_ARRAY(s->scratch, Renamed, cap);
  for (uint32_t i = 0; i < body->nparams; i++)
    map[i] = (Renamed){body->params[i], i < n ? acc[i] : x[i - n]};
  for (const NestStmt *o = body->first; o; o = o->next) {
    NestStmt *c = nest_stmt(&s->b, o->code, o->ndsts, o->nsrcs);
    c->op = o->op;
    c->type = o->type;
    c->to = o->to;
    c->elem = o->elem;
    c->rtz = o->rtz;
    c->attrs = o->attrs;
    c->nattrs = o->nattrs;
    for (uint32_t i = 0; i < o->nsrcs; i++) c->srcs[i] = rename_operand(map, count, o->srcs[i]);
    for (uint32_t i = 0; i < o->ndsts; i++) {
      const NestVar *v = o->dsts[i].var;
      c->dsts[i] = rename_operand(map, count, o->dsts[i]);
      if (c->dsts[i].var != v) continue;
      c->dsts[i] = ref_var(bind_var(s, v->name, v->dtype, v->elem, 1, acc[0].var->uniform));
      map[count++] = (Renamed){o->dsts[i].var, c->dsts[i]};
    }
  }
}

Ref bind_identity(const char *name, DType t) {
  TileCode c = combine_code(name);
  bool f = dtype_is_float(t);
  unsigned bits = dtype_bits(t);
  bool sign = dtype_is_signed(t);
  int64_t top = sign        ? (int64_t)((UINT64_C(1) << (bits - 1)) - 1)
                : bits < 64 ? (int64_t)((UINT64_C(1) << bits) - 1)
                            : -1;
  switch (c) {
    case TILE_MUL: return f ? ref_float(1) : ref_int(1);
    /* These two give the number for a number and a NaN, and NaN only for two NaNs. */
    case TILE_MIN: return f ? ref_float(NAN) : ref_int(top);
    case TILE_MAX: return f ? ref_float(NAN) : ref_int(sign ? -top - 1 : 0);
    case TILE_MIN_NAN: return f ? ref_float(INFINITY) : ref_int(top);
    case TILE_MAX_NAN: return f ? ref_float(-INFINITY) : ref_int(sign ? -top - 1 : 0);
    case TILE_AND: return ref_int(t == DT_I1 ? 1 : -1);
    default: return f ? ref_float(-0.0) : ref_int(0); /* -0.0 + 0.0 is 0.0 */
  }
}

/* ---- between lanes ---- */

void bind_shuffle(Bind *s, Ref dst, Ref src, const char *mode, int by, DType t) {
  NestStmt *st = nest_stmt(&s->b, NEST_SHFL, 1, 1);
  st->dsts[0] = dst;
  st->srcs[0] = src;
  st->type = t;
  nest_set_str(s->nest, st, NA_mode, mode);
  nest_set_int(s->nest, st, NA_by, by);
}

NestStmt *bind_from_lane(Bind *s, Ref dst, Ref src, Ref from, DType t) {
  NestStmt *st = nest_stmt(&s->b, NEST_SHFL, 1, 2);
  st->dsts[0] = dst;
  st->srcs[0] = src;
  st->srcs[1] = from;
  st->type = t;
  nest_set_str(s->nest, st, NA_mode, "idx");
  return st;
}

/* ---- between warps ---- */

Slot bind_slot(Bind *s, int axis, int64_t bytes) {
  ThreadForm base = {.n = 0};
  Slot slot = {ref_none(), affine_const(0), 1};
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (x->axis == axis || x->axis < 0) continue;
    if (hw_in_thread(x->hw)) {
      Affine a = affine_index(x->index, slot.slots * bytes);
      affine_add(&slot.bytes, &a);
    } else {
      thread_form_add(&base, x, slot.slots * bytes);
    }
    slot.slots *= x->extent;
  }
  slot.base = bind_thread_const(s, &base);
  return slot;
}

Ref bind_sum(Bind *s, Ref a, Ref b) {
  if (!a.kind) return b;
  if (!b.kind) return a;
  return bind_op(s, TILE_ADD, DT_I32, a, b);
}

void bind_mov_run(Bind *s, NestVar *to, int64_t at, NestVar *from, int64_t first, int64_t n) {
  for (int64_t i = 0; i < n; i += NEST_MAX_RUN) {
    NestStmt *m = nest_mov(&s->b, ref_sub(to, affine_const(at + i)),
                           ref_sub(from, affine_const(first + i)), to->dtype);
    int64_t run = n - i < NEST_MAX_RUN ? n - i : NEST_MAX_RUN;
    if (run > 1) nest_set_int(s->nest, m, NA_n, run);
  }
}
