/* multiple_of, max_contiguous and max_constancy, which compilers believe: see
 * lower/analysis/axis.h. */
#include "lang/interp/interp_run.h"
#include "lang/messages.h"

/* An axis of a value: the distance of its neighbours in memory order, and their number. */
typedef struct {
  const Val *v;
  uint32_t stride, extent;
  int64_t step; /* between neighbours that are contiguous */
} Axis;

static bool is_defined(const Val *v, uint32_t i) { return !(interp_flag(v, i) & FLAG_UNDEF); }

static uint32_t index_on_axis(const Axis *a, uint32_t i) { return i / a->stride % a->extent; }

/* The element follows its neighbour before it by `step`. */
static bool follows(const Axis *a, uint32_t i, int64_t step) {
  const Scalar *x = a->v->x;
  return index_on_axis(a, i) && x[i].i == x[i - a->stride].i + step;
}

static bool hint_holds(const Axis *a, TileAttrKey key, int64_t n, uint32_t i) {
  if (!is_defined(a->v, i) || (index_on_axis(a, i) && !is_defined(a->v, i - a->stride)))
    return true;
  if (key == TA_div) return follows(a, i, a->step) || a->v->x[i].i % n == 0;
  return index_on_axis(a, i) % n == 0 || follows(a, i, key == TA_contig ? a->step : 0);
}

static void check_hinted_axis(Prog *p, const Inst *in, const Axis *a, TileAttrKey key, int64_t n) {
  const char *name = key == TA_div      ? "multiple_of"
                     : key == TA_contig ? "max_contiguous"
                                        : "max_constancy";
  for (uint32_t i = 0; i < a->v->n; i++) {
    if (hint_holds(a, key, n, i)) continue;
    if (interp_found(p, FOUND_HINT, in->op->span, in->op))
      findings_text(p->run->findings, E_INTERP_HINT, name, (long long)n, i,
                    (long long)a->v->x[i].i);
    return;
  }
}

static void check_hint_values(Prog *p, const Inst *in, TileAttrKey key) {
  const TileAttr *hint = tile_attr(in->op, key);
  Type t = in->op->results[0]->type;
  const Val *v = interp_arg(p, in, 0);
  int64_t step = t.dtype == DT_PTR ? dtype_bytes((DType)t.elem) : 1;
  uint32_t stride = v->n;
  for (uint32_t i = 0; hint && i < hint->len; i++) {
    uint32_t extent = t.rank ? (uint32_t)t.shape[i] : 1;
    stride /= extent;
    check_hinted_axis(p, in, &(Axis){v, stride, extent, step}, key, hint->list[i]);
  }
}

void interp_hint(Prog *p, const Inst *in) {
  static const TileAttrKey keys[] = {TA_div, TA_contig, TA_constancy};
  for (int k = 0; k < 3; k++) check_hint_values(p, in, keys[k]);
  interp_set(p, in->op->results[0], interp_share(interp_arg(p, in, 0)));
}
