/* Relayouts within a thread: registers are moved to where another layout has their elements. */
#include <stdlib.h>

#include "lower/bind/bind.h"

void bind_mov_run(Bind *s, NestVar *to, int64_t at, NestVar *from, int64_t first, int64_t n) {
  for (int64_t i = 0; i < n; i += NEST_MAX_RUN) {
    NestStmt *m = nest_mov(&s->b, ref_sub(to, affine_const(at + i)),
                           ref_sub(from, affine_const(first + i)), to->dtype);
    int64_t run = n - i < NEST_MAX_RUN ? n - i : NEST_MAX_RUN;
    if (run > 1) nest_set_int(s->nest, m, NA_n, run);
  }
}

/* The row-major position of every register's element, lanes and warps at 0. */
static int64_t *positions(Arena *a, const Layout *l, int32_t *count) {
  *count = layout_registers(l);
  int64_t *at = ARENA_ARRAY(a, int64_t, (size_t)*count), below = 1;
  for (int axis = l->rank - 1; axis >= 0; axis--) {
    for (int i = 0; i < l->ndigits; i++) {
      const Digit *d = &l->d[i];
      if (d->axis != axis || !hw_in_thread((HwDim)d->hw)) continue;
      int64_t w = layout_weight(l, i) * below;
      for (int32_t r = 0; r < *count; r++) at[r] += r / d->stride % d->extent * w;
    }
    below *= layout_padded(l, axis);
  }
  return at;
}

typedef struct {
  int64_t at;
  int32_t reg;
} Element;

static int by_position(const void *a, const void *b) {
  const Element *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at ? 1 : x->reg - y->reg;
}

static Element *elements_by_position(Arena *a, const Layout *l, int32_t *n) {
  int64_t *at = positions(a, l, n);
  Element *p = ARENA_ARRAY(a, Element, (size_t)*n);
  for (int32_t i = 0; i < *n; i++) p[i] = (Element){at[i], i};
  qsort(p, (size_t)*n, sizeof *p, by_position);
  return p;
}

void bind_relayout(Bind *s, const NestStmt *st) {
  NestVar *from = st->srcs[0].var, *to = st->dsts[0].var;
  int32_t nf, nt;
  Element *f = elements_by_position(s->scratch, from->layout, &nf),
          *t = elements_by_position(s->scratch, to->layout, &nt);
  int32_t *source = ARENA_ARRAY(s->scratch, int32_t, (size_t)nt);
  for (int32_t i = 0, k = 0; i < nt; i++) {
    while (k + 1 < nf && f[k].at < t[i].at) k++;
    source[t[i].reg] = f[k].reg;
  }
  for (int32_t i = 0, n; i < nt; i += n) {
    for (n = 1; i + n < nt && source[i + n] == source[i] + n;) n++;
    bind_mov_run(s, to, i, from, source[i], n);
  }
}
