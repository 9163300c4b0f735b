#include "lower/target/wgmma_layout.h"

#include <string.h>

enum { LEAST_ROW = 32, MOST_ROW = 128, GROUP_ROWS = 8, CHUNK_BITS = 4, ROW_SHIFT = 3 };

static int log2_of(int64_t n) { return __builtin_ctzll((unsigned long long)n); }

Layout wgmma_panels(const Type *tile, int fast, int64_t row) {
  int64_t size = dtype_bytes((DType)tile->dtype);
  int32_t within = (int32_t)(row / size), slow = tile->shape[1 - fast];
  Layout l = layout_new(tile);
  for (int a = 0; a < 2; a++) {
    if (a != fast) {
      layout_push(&l, a, HW_BYTE, slow, (int32_t)row);
      continue;
    }
    layout_push(&l, a, HW_BYTE, tile->shape[a] / within, (int32_t)(row * slow));
    layout_push(&l, a, HW_BYTE, within, (int32_t)size);
  }
  l.xor_bits = (uint8_t)(log2_of(row) - CHUNK_BITS);
  l.xor_base = CHUNK_BITS;
  l.xor_shift = ROW_SHIFT;
  return l;
}

Layout wgmma_layout(const Type *tile, int fast, int64_t *bytes) {
  int64_t size = dtype_bytes((DType)tile->dtype), row = MOST_ROW;
  while (tile->shape[fast] * size % row) row /= 2;
  *bytes = tile->shape[fast] * size * tile->shape[1 - fast];
  return wgmma_panels(tile, fast, row);
}

int wgmma_fast_axis(DType t, int which) { return dtype_bytes(t) == 2 ? -1 : which ? 0 : 1; }

bool wgmma_takes_any_axis(DType t, int which) { return !which || wgmma_fast_axis(t, which) < 0; }

bool wgmma_fits(const Type *tile, int which) {
  int64_t size = dtype_bytes((DType)tile->dtype);
  int fast = wgmma_fast_axis((DType)tile->dtype, which);
  for (int a = 0; a < 2; a++) {
    bool may_be_row = fast < 0 || fast == a;
    if (tile->shape[a] % GROUP_ROWS) return false;
    if (may_be_row && tile->shape[a] * size % LEAST_ROW) return false;
  }
  return tile->rank == 2;
}

/* The digits of an axis: `low` within a panel, `high` between panels (extent 1 if there is one). */
typedef struct {
  Digit high, low;
  int count;
} Digits;

static Digits digits_of(const Layout *l, int axis) {
  Digits d = {.high = {.extent = 1}, .low = {.extent = 1}};
  for (int i = 0; i < l->ndigits; i++) {
    if (l->d[i].axis != axis) continue;
    if (d.count++) d.high = d.low;
    d.low = l->d[i];
  }
  return d;
}

/* ---- pairs ---- */

/* Cuts the least `bits` bits off a digit: the rest of it. */
static Digit cut(Digit *d, int bits, Digit *least) {
  *least = (Digit){1 << bits, d->stride, d->hw, d->axis};
  return (Digit){d->extent >> bits, d->stride << bits, d->hw, d->axis};
}

static void push(Layout *l, Digit d) { layout_push(l, d.axis, (HwDim)d.hw, d.extent, d.stride); }

bool wgmma_pairs(const Layout *l, int axis, Layout *out) {
  enum { WORD_BITS = 2, LANE_BITS = 2 };
  Digit word, lanes, d[2] = {{.extent = 1}, {.extent = 1}};
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis == axis) d[0] = d[1], d[1] = l->d[i];
  if (d[1].extent >> WORD_BITS << WORD_BITS != d[1].extent) return false;
  Digit rest = cut(&d[1], WORD_BITS, &word);
  Digit above = rest.extent > 1 ? rest : d[0];
  if (above.extent >> LANE_BITS << LANE_BITS != above.extent) return false;
  Digit higher = cut(&above, LANE_BITS, &lanes), late, early;
  late = cut(&word, 1, &early);
  *out = (Layout){.rank = l->rank, .xor_bits = l->xor_bits, .xor_base = l->xor_base,
                  .xor_shift = l->xor_shift};
  memcpy(out->shape, l->shape, sizeof l->shape);
  int left = 0;
  for (int i = 0; i < l->ndigits; i++) left += l->d[i].axis == axis;
  for (int i = 0; i < l->ndigits; i++) {
    if (l->d[i].axis != axis) {
      push(out, l->d[i]);
      continue;
    }
    left--;
    if (left > (rest.extent > 1 ? 0 : 1)) push(out, l->d[i]);
    if (left) continue;
    push(out, higher);
    push(out, late);
    push(out, lanes);
    push(out, early);
  }
  return true;
}

static bool is_in_pairs(const WgmmaOperand *x, int axis, Layout *plain) {
  int64_t bytes;
  Layout pairs;
  const Type *t = &x->tile;
  if (t->rank != 2 || dtype_bytes((DType)t->dtype) != 1 || t->shape[axis] % LEAST_ROW) return false;
  *plain = wgmma_layout(t, axis, &bytes);
  return wgmma_pairs(plain, axis, &pairs) && layout_eq(&pairs, &x->layout);
}

bool wgmma_has_pairs(const NestBuffer *b) {
  Layout plain;
  WgmmaOperand x = {b->tile, b->layout};
  return is_in_pairs(&x, 0, &plain);
}

bool wgmma_lanes_have_pairs(const Layout *l, int axis) {
  const Digit *last[3] = {NULL};
  for (int i = 0; i < l->ndigits; i++) {
    if (l->d[i].axis != axis) continue;
    last[0] = last[1];
    last[1] = last[2];
    last[2] = &l->d[i];
  }
  bool pair = last[0] && last[2]->extent == 2 && last[2]->hw == HW_REG && last[2]->stride == 1;
  return pair && last[1]->extent == 4 && last[1]->hw == HW_LANE && last[1]->stride == 1 &&
         last[0]->hw == HW_REG && last[0]->stride == 2;
}

WgmmaOperand wgmma_operand(const NestStmt *dot, int which) {
  const NestBuffer *b = dot->mems[which].buffer;
  if (!b) return (WgmmaOperand){0};
  WgmmaOperand x = {b->tile, b->layout};
  Layout plain;
  if (which && is_in_pairs(&x, 0, &plain)) x.layout = plain;
  if (!(nest_int(dot, NA_turned, 0) >> which & 1)) return x;
  x.tile.shape[0] = b->tile.shape[1];
  x.tile.shape[1] = b->tile.shape[0];
  x.layout = layout_new(&x.tile);
  x.layout.xor_bits = b->layout.xor_bits;
  x.layout.xor_base = b->layout.xor_base;
  x.layout.xor_shift = b->layout.xor_shift;
  for (int axis = 1; axis >= 0; axis--)
    for (int i = 0; i < b->layout.ndigits; i++) {
      const Digit *d = &b->layout.d[i];
      if (d->axis == axis) layout_push(&x.layout, 1 - axis, d->hw, d->extent, d->stride);
    }
  return x;
}

bool wgmma_form(const WgmmaOperand *x, int which, WgmmaForm *out) {
  int64_t size = dtype_bytes((DType)x->tile.dtype), bytes;
  if (!wgmma_fits(&x->tile, which)) return false;
  Digits rows = digits_of(&x->layout, 0);
  int fast = rows.low.stride == size ? 0 : 1, only = wgmma_fast_axis((DType)x->tile.dtype, which);
  if (only >= 0 && only != fast) return false;
  Layout want = wgmma_layout(&x->tile, fast, &bytes);
  if (!layout_eq(&want, &x->layout)) return false;
  Digits d = digits_of(&x->layout, fast);
  int k_axis = which ? 0 : 1;
  out->transposed = fast != k_axis;
  out->row = (int)(d.low.extent * size);
  out->stride = (int64_t)GROUP_ROWS * out->row;
  out->leading = d.high.extent > 1 ? d.high.stride : out->stride;
  return true;
}

int64_t wgmma_panel(const WgmmaOperand *x, int axis) {
  return digits_of(&x->layout, axis).low.extent;
}

int64_t wgmma_step(const WgmmaOperand *x, int axis, int64_t count) {
  Digits d = digits_of(&x->layout, axis);
  return count < d.low.extent ? count * d.low.stride : count / d.low.extent * d.high.stride;
}

static int64_t offset_along(const WgmmaOperand *x, int axis, int64_t i) {
  Digits d = digits_of(&x->layout, axis);
  return i / d.low.extent * d.high.stride + i % d.low.extent * d.low.stride;
}

int64_t wgmma_offset(const WgmmaOperand *x, int64_t row, int64_t column) {
  return offset_along(x, 0, row) + offset_along(x, 1, column);
}

bool wgmma_turn(const Type *tile, int fast, int warps, WgmmaTurn *out) {
  enum { WORD_ROWS = 4, WORD_LANES = 32, BYTE_COLUMNS = 16, BYTE_ROWS = 32 };
  unsigned bytes = dtype_bytes((DType)tile->dtype);
  if (tile->rank != 2 || (bytes != 1 && bytes != 4)) return false;
  bool words = bytes == 4;
  *out = (WgmmaTurn){.axis = {words ? 1 - fast : fast, words ? fast : 1 - fast},
                     .step = {words ? WORD_ROWS : BYTE_COLUMNS, words ? WORD_LANES : BYTE_ROWS}};
  for (int i = 0; i < 2; i++) {
    int32_t extent = tile->shape[out->axis[i]];
    if (extent % out->step[i]) return false;
    out->units[i] = extent / out->step[i];
    for (out->warps[i] = 1; warps > 1 && out->units[i] % 2 == 0; warps /= 2) {
      out->warps[i] *= 2;
      out->units[i] /= 2;
    }
  }
  return warps == 1;
}

static bool is_contiguous(const NestBuffer *b, int fast) {
  int64_t bytes, size = dtype_bytes(b->dtype);
  if (b->tile.shape[fast] * size % LEAST_ROW || b->tile.shape[1 - fast] % GROUP_ROWS) return false;
  Layout want = wgmma_layout(&b->tile, fast, &bytes);
  return layout_eq(&want, &b->layout);
}

bool wgmma_turn_of(const NestStmt *turn, int warps, WgmmaTurn *out) {
  const NestBuffer *to = turn->mems[0].buffer, *from = turn->mems[1].buffer;
  if (!to || !from || from->tile.rank != 2 || !type_eq(to->tile, from->tile)) return false;
  for (int fast = 0; fast < 2; fast++) {
    bool pairs = fast && wgmma_has_pairs(to);
    if (!is_contiguous(from, fast) || !(pairs || is_contiguous(to, 1 - fast))) continue;
    bool can = wgmma_turn(&from->tile, fast, warps, out);
    out->pairs = pairs;
    return can;
  }
  return false;
}
