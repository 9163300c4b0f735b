/* Rows and addresses, as the plan of pass strip_rows and its clusters ask for them. */
#include "lower/analysis/values.h"
#include "lower/tile/strip.h"

static bool is_row_type(const Strips *s, const Type *t) {
  if (!t->rank || type_numel(*t) != s->row) return false;
  for (int a = 0; a < t->rank; a++)
    if (t->shape[a] == s->row) return true;
  return false;
}

bool strip_is_row(const Strips *s, const TileValue *v) { return v && is_row_type(s, &v->type); }

TileValue *strip_root(TileValue *address) {
  TileValue *v = tile_address_root(address);
  return v && v->block && !v->block->owner ? v : NULL;
}

bool strip_is_injective(const Strips *s, const AxisInfo *axis, const TileValue *pointer) {
  for (int a = 0; a < pointer->type.rank; a++)
    if (axis[pointer->id].contig[a] == s->row) return true;
  return false;
}

bool strip_assume_apart(Strips *s, TileValue *a, TileValue *b, bool or_same) {
  if (s->f->options.alias == NEREID_ALIAS_DISJOINT) return true;
  if (s->f->options.alias == NEREID_ALIAS_ORDERED) return false;
  for (int i = 0; i < s->npairs; i++) {
    StripPair *x = &s->pairs[i];
    if ((x->a != a || x->b != b) && (x->a != b || x->b != a)) continue;
    x->or_same &= or_same;
    return true;
  }
  if (s->npairs == STRIP_PAIRS_MOST) return false;
  s->pairs[s->npairs++] = (StripPair){a, b, or_same};
  return true;
}
