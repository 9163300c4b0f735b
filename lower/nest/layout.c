
#include "lower/nest/layout.h"

#include <string.h>

#include "lang/base/diag.h"
#include "lower/messages.h"
#include "lower/nest/nest_text.h"

/* ======== layouts ======== */

static const char *const dim_names[HW_COUNT] = {"program", "cluster", "warp", "lane",
                                                "reg",     "serial",  "byte"};

int64_t pow2_at_least(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

int64_t pow2_at_most(int64_t n) {
  int64_t p = 1;
  while (p * 2 <= n) p *= 2;
  return p;
}

static const char *hw_dim_name(HwDim p) { return dim_names[p]; }

Layout layout_new(const Type *tile) {
  Layout l = {.rank = tile->rank};
  memcpy(l.shape, tile->shape, sizeof l.shape);
  return l;
}

void layout_push(Layout *l, int axis, HwDim hw, int32_t extent, int32_t stride) {
  if (extent == 1) return;
  BUG_IF(l->ndigits >= MAX_DIGITS, "a layout of more than %d digits", MAX_DIGITS);
  int at = 0;
  while (at < l->ndigits && l->d[at].axis >= 0 && (axis < 0 || l->d[at].axis <= axis)) at++;
  if (axis < 0) at = l->ndigits;
  memmove(&l->d[at + 1], &l->d[at], sizeof l->d[0] * (size_t)(l->ndigits - at));
  l->d[at] = (Digit){extent, stride, (uint8_t)hw, (int8_t)axis};
  l->ndigits++;
}

bool layout_eq(const Layout *a, const Layout *b) {
  if (a->rank != b->rank || a->ndigits != b->ndigits || a->xor_bits != b->xor_bits ||
      a->xor_base != b->xor_base || a->xor_shift != b->xor_shift)
    return false;
  if (memcmp(a->shape, b->shape, sizeof a->shape[0] * a->rank)) return false;
  for (int i = 0; i < a->ndigits; i++) {
    const Digit *x = &a->d[i], *y = &b->d[i];
    if (x->extent != y->extent || x->stride != y->stride || x->hw != y->hw || x->axis != y->axis)
      return false;
  }
  return true;
}

/* ---- sharing ---- */

static uint32_t hash_layout(const Layout *l) {
  uint32_t h = 2166136261u ^ l->ndigits;
  for (int i = 0; i < l->rank; i++) h = (h ^ (uint32_t)l->shape[i]) * 16777619u;
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    h = (h ^ (uint32_t)d->extent ^ (uint32_t)d->stride << 12) * 16777619u;
    h = (h ^ d->hw ^ (uint32_t)(d->axis + 1) << 8) * 16777619u;
  }
  return h ^ h >> 15;
}

/* The slot of an equal layout, or the empty one where it belongs. */
static const Layout **layout_slot(const LayoutSet *set, const Layout *l) {
  uint32_t at = hash_layout(l) & (set->nslots - 1);
  while (set->slots[at] && !layout_eq(set->slots[at], l)) at = (at + 1) & (set->nslots - 1);
  return &set->slots[at];
}

static void grow_set(LayoutSet *set) {
  LayoutSet more = {.arena = set->arena, .nslots = set->nslots ? set->nslots * 2 : 16};
  more.slots = ARENA_ARRAY(set->arena, const Layout *, more.nslots);
  for (uint32_t i = 0; i < set->nslots; i++)
    if (set->slots[i]) *layout_slot(&more, set->slots[i]) = set->slots[i];
  more.count = set->count;
  *set = more;
}

const Layout *layout_intern(LayoutSet *set, const Layout *l) {
  if (2 * set->count >= set->nslots) grow_set(set);
  const Layout **slot = layout_slot(set, l);
  if (*slot) return *slot;
  Layout *own = ARENA_NEW(set->arena, Layout);
  *own = *l;
  set->count++;
  return *slot = own;
}

/* ---- digits ---- */

int64_t layout_padded(const Layout *l, int axis) {
  int64_t n = 1;
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis == axis) n *= l->d[i].extent;
  return n;
}

bool layout_has_padding(const Layout *l, int axis) {
  return layout_padded(l, axis) != l->shape[axis];
}

bool layout_spelled_by(const Layout *l, int axis, HwDim hw) {
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis == axis && l->d[i].hw == hw) return true;
  return false;
}

int32_t layout_span(const Layout *l, HwDim hw) {
  int32_t last = 0;
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].hw == hw) last += (l->d[i].extent - 1) * l->d[i].stride;
  return last + 1;
}

int64_t layout_weight(const Layout *l, int digit) {
  int64_t w = 1;
  for (int i = digit + 1; i < l->ndigits && l->d[i].axis == l->d[digit].axis; i++)
    w *= l->d[i].extent;
  return w;
}

int32_t layout_registers(const Layout *l) {
  return layout_span(l, HW_REG) + layout_span(l, HW_SERIAL) - 1;
}

bool layout_replicated(const Layout *l) {
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis < 0 && (l->d[i].hw == HW_WARP || l->d[i].hw == HW_LANE)) return true;
  return false;
}

Layout layout_drop_axis(const Layout *l, int axis) {
  Layout r = {.rank = (uint8_t)(l->rank - 1)};
  for (int i = 0, k = 0; i < l->rank; i++)
    if (i != axis) r.shape[k++] = l->shape[i];
  for (int i = 0; i < l->ndigits; i++) {
    Digit d = l->d[i];
    if (d.axis == axis && hw_in_thread((HwDim)d.hw)) continue;
    int to = d.axis == axis ? -1 : d.axis > axis ? d.axis - 1 : d.axis;
    layout_push(&r, to, d.hw, d.extent, d.stride);
  }
  layout_pack_registers(&r);
  return r;
}

Layout layout_insert_axis(const Layout *l, int axis) {
  Layout r = *l;
  r.rank++;
  for (int i = r.rank - 1; i > axis; i--) r.shape[i] = l->shape[i - 1];
  r.shape[axis] = 1;
  for (int i = 0; i < r.ndigits; i++)
    if (r.d[i].axis >= axis) r.d[i].axis++;
  return r;
}

Layout layout_add_pair(const Layout *l) {
  Layout r = *l;
  r.shape[r.rank++] = 2;
  for (int i = 0; i < r.ndigits; i++)
    if (hw_in_thread((HwDim)r.d[i].hw)) r.d[i].stride *= 2;
  layout_push(&r, r.rank - 1, HW_REG, 2, 1);
  return r;
}

bool layout_drop_pair(const Layout *l, Layout *out) {
  *out = layout_drop_axis(l, l->rank - 1);
  Layout pair = layout_add_pair(out);
  return layout_eq(&pair, l);
}

/* The digits of `l` cut where the axes of `to` begin, the least significant first; -1 where one
 * can't be. */
static int cut_digits(const Layout *l, const Type *to, Digit *cut) {
  int n = 0, axis = to->rank;
  int32_t left = 1; /* of the extent of the axis */
  for (int i = l->ndigits - 1; i >= 0; i--) {
    Digit d = l->d[i];
    for (int32_t take; d.axis >= 0 && d.extent > 1; n++, left /= take) {
      while (left == 1) left = to->shape[--axis];
      take = left % d.extent ? left : d.extent;
      if (d.extent % take || n == MAX_DIGITS) return -1;
      cut[n] = (Digit){.extent = take, .stride = d.stride, .hw = d.hw, .axis = (int8_t)axis};
      d.extent /= take, d.stride *= take;
    }
  }
  return n;
}

bool layout_reshape(const Layout *l, const Type *to, Layout *out) {
  Digit cut[MAX_DIGITS];
  for (int a = 0; a < l->rank; a++)
    if (layout_has_padding(l, a)) return false;
  int n = cut_digits(l, to, cut), replicas = 0;
  for (int i = 0; i < l->ndigits; i++) replicas += l->d[i].axis < 0;
  if (n < 0 || n + replicas > MAX_DIGITS) return false;
  *out = layout_new(to);
  while (n--) {
    Digit d = cut[n];
    for (; n && cut[n - 1].axis == d.axis && cut[n - 1].hw == d.hw &&
           cut[n - 1].stride * cut[n - 1].extent == d.stride;
         n--)
      d.extent *= cut[n - 1].extent, d.stride = cut[n - 1].stride;
    layout_push(out, d.axis, (HwDim)d.hw, d.extent, d.stride);
  }
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis < 0) layout_push(out, -1, (HwDim)l->d[i].hw, l->d[i].extent, l->d[i].stride);
  return true;
}

Layout layout_permute(const Layout *l, const int64_t *perm) {
  Layout r = {.rank = l->rank};
  for (int i = 0; i < l->rank; i++) r.shape[i] = l->shape[perm[i]];
  for (int axis = 0; axis < l->rank; axis++)
    for (int i = 0; i < l->ndigits; i++)
      if (l->d[i].axis == perm[axis])
        layout_push(&r, axis, l->d[i].hw, l->d[i].extent, l->d[i].stride);
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].axis < 0) layout_push(&r, -1, l->d[i].hw, l->d[i].extent, l->d[i].stride);
  return r;
}

/* The register digit with the smallest stride that is at least `from`; -1 if none. */
static int next_register_digit(const Layout *l, const bool *done) {
  int best = -1;
  for (int i = 0; i < l->ndigits; i++)
    if (!done[i] && hw_in_thread((HwDim)l->d[i].hw) &&
        (best < 0 || l->d[i].stride < l->d[best].stride))
      best = i;
  return best;
}

void layout_pack_registers(Layout *l) {
  bool done[MAX_DIGITS] = {0};
  int32_t stride = 1;
  for (int i; (i = next_register_digit(l, done)) >= 0;) {
    done[i] = true;
    l->d[i].stride = stride;
    stride *= l->d[i].extent;
  }
}

/* Two digits of one hardware dimension may not count the same coordinate bits. */
static const char *check_overlap(const Layout *l, HwDim p, int32_t limit) {
  static const char *const covers = "the digits do not cover all warps or lanes";
  bool used[1024] = {0};
  int32_t span = 1;
  for (int i = 0; i < l->ndigits; i++) {
    const Digit *d = &l->d[i];
    if (d->hw != p) continue;
    if ((d->extent & (d->extent - 1)) || (d->stride & (d->stride - 1)))
      return "warp and lane digits are powers of two";
    for (int32_t s = d->stride; s < d->stride * d->extent; s *= 2) {
      if (s >= limit || s >= 1024) return covers;
      if (used[s]) return "two digits of one hardware dimension overlap";
      used[s] = true;
      span *= 2;
    }
  }
  return span != limit ? covers : "";
}

static const char *check_register_digits(const Layout *l) {
  bool done[MAX_DIGITS] = {0};
  int64_t stride = 1;
  for (int i; (i = next_register_digit(l, done)) >= 0; stride *= l->d[i].extent) {
    done[i] = true;
    if (l->d[i].stride != stride) return "its registers overlap, or some between them are not used";
  }
  return "";
}

const char *layout_check(const Layout *l, int warps, int lanes) {
  for (int a = 0; a < l->rank; a++)
    if (layout_padded(l, a) < l->shape[a]) return "an axis has more elements than its digits spell";
  for (int i = 0; i < l->ndigits; i++)
    if (l->d[i].extent < 1 || l->d[i].stride < 1) return "extents and strides are positive";
  const char *bad = check_overlap(l, HW_WARP, warps);
  return *bad ? bad : check_overlap(l, HW_LANE, lanes);
}

const char *layout_check_held(const Layout *l, int warps, int lanes) {
  const char *bad = layout_check(l, warps, lanes);
  return *bad ? bad : check_register_digits(l);
}

void layout_print(Text *out, const Layout *l) {
  int i = 0;
  text_puts(out, "[");
  for (int a = 0; a < l->rank; a++) {
    text_printf(out, a ? ", %d" : "%d", l->shape[a]);
    for (const char *sep = " = "; i < l->ndigits && l->d[i].axis == a; i++, sep = " ")
      text_printf(out, "%s%d@%s:%d", sep, l->d[i].extent, dim_names[l->d[i].hw], l->d[i].stride);
  }
  text_puts(out, "]");
  for (const char *sep = " * "; i < l->ndigits; i++, sep = " ")
    text_printf(out, "%s%d@%s:%d", sep, l->d[i].extent, dim_names[l->d[i].hw], l->d[i].stride);
  if (l->xor_bits) text_printf(out, " xor %d,%d,%d", l->xor_bits, l->xor_base, l->xor_shift);
}

/* ======== reading ======== */

/* Digits of one layout can be summed and multiplied along an axis within these. */
enum { MOST_EXTENT = 1 << 20, MOST_SPAN = 1 << 26, MOST_AXIS = 1 << 26 };

typedef struct {
  const char *at, *end;
} Scan;

static void skip_scan_space(Scan *s) {
  while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at) s->at++;
}

static bool accept_word(Scan *s, const char *word) {
  skip_scan_space(s);
  size_t n = strlen(word);
  if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n)) return false;
  s->at += n;
  return true;
}

static bool at_number(Scan *s) {
  skip_scan_space(s);
  return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

/* hi is small enough for ten times it to be an int32_t. */
static bool scan_number(Scan *s, int32_t lo, int32_t hi, int32_t *out) {
  if (!at_number(s)) return false;
  const char *begin = s->at;
  int32_t v = 0;
  for (; s->at < s->end && *s->at >= '0' && *s->at <= '9' && v <= hi; s->at++)
    v = v * 10 + (*s->at - '0');
  *out = v;
  if (v >= lo && v <= hi) return true;
  s->at = begin;
  return false;
}

static bool scan_hw_dim(Scan *s, uint8_t *out) {
  for (int p = 0; p < HW_COUNT; p++)
    if (accept_word(s, hw_dim_name((HwDim)p))) {
      *out = (uint8_t)p;
      return true;
    }
  return false;
}

/* Digits of one axis, up to a token that is no number. */
static bool scan_digits(Scan *s, Layout *l, int axis) {
  int64_t product = 1;
  do {
    Digit d = {.axis = (int8_t)axis};
    skip_scan_space(s);
    const char *begin = s->at;
    if (l->ndigits == MAX_DIGITS) return false;
    if (!scan_number(s, 1, MOST_EXTENT, &d.extent) || !accept_word(s, "@")) return false;
    if (!scan_hw_dim(s, &d.hw) || !accept_word(s, ":")) return false;
    if (!scan_number(s, 1, MOST_SPAN, &d.stride)) return false;
    product *= d.extent;
    if ((int64_t)d.extent * d.stride > MOST_SPAN || product > MOST_AXIS) {
      s->at = begin;
      return false;
    }
    if (d.extent > 1) l->d[l->ndigits++] = d;
  } while (at_number(s));
  return true;
}

static bool scan_axes(Scan *s, Layout *l) {
  if (!accept_word(s, "[")) return false;
  if (accept_word(s, "]")) return true;
  do {
    if (l->rank == MAX_RANK) return false;
    int axis = l->rank++;
    if (!scan_number(s, 1, MAX_TILE, &l->shape[axis])) return false;
    if (accept_word(s, "=") && !scan_digits(s, l, axis)) return false;
  } while (accept_word(s, ","));
  return accept_word(s, "]");
}

/* xor bits,base,shift: all within 32-bit addresses. */
static bool scan_xor(Scan *s, Layout *l) {
  int32_t bits, base, shift;
  if (!scan_number(s, 1, 16, &bits) || !accept_word(s, ",")) return false;
  if (!scan_number(s, 0, 15, &base) || !accept_word(s, ",")) return false;
  if (!scan_number(s, 1, 16, &shift)) return false;
  l->xor_bits = (uint8_t)bits;
  l->xor_base = (uint8_t)base;
  l->xor_shift = (uint8_t)shift;
  return base + shift + bits <= 32;
}

static bool is_word_end(const Scan *s) {
  if (s->at == s->end) return true;
  char c = *s->at;
  return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_');
}

const char *layout_scan(const char *text, size_t len, Layout *out, const char **bad) {
  Scan s = {text, text + len};
  *out = (Layout){0};
  bool good = scan_axes(&s, out);
  const char *end = s.at;
  if (good && accept_word(&s, "*") && at_number(&s)) {
    good = scan_digits(&s, out, -1);
    end = s.at;
  }
  s.at = good ? end : s.at;
  if (good && accept_word(&s, "xor") && is_word_end(&s)) {
    good = scan_xor(&s, out);
    end = s.at;
  }
  *bad = s.at;
  return good ? end : NULL;
}

bool layout_parse(IrReader *r, Layout *out) {
  *out = (Layout){0};
  if (!ir_at(r, "[")) {
    ir_expected(r, "a layout ([64 = 2@warp:1 32@lane:1])");
    return false;
  }
  size_t from = ir_offset(r);
  const char *bad, *end = layout_scan(r->text + from, r->len - from, out, &bad);
  size_t stop = (size_t)((end ? end : bad) - r->text);
  while (!ir_at_kind(r, IT_END) && ir_offset(r) < stop) ir_next(r);
  if (!end) ir_error(r, r->token.span, E_NEST_LAYOUT_TEXT, MAX_DIGITS);
  return !r->failed;
}
