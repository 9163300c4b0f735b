/* Pitches of rows in shared memory through which tiles change their layouts: those by which the
 * lanes of a warp meet at fewest banks. */
#include "lower/build/build.h"

enum { LANES = 32, BANK = 4, BANKS = 32, BANKS_BYTES = BANKS * BANK, CHUNK = 16 };

/* A tile's elements in rows of so many columns. */
typedef struct {
  const Layout *layout;
  const Type *tile;
  int64_t columns, size;
} Rows;

/* The distance in row-major order of neighbours along each axis. */
static void places_of(const Type *tile, int64_t place[MAX_RANK]) {
  int64_t n = 1;
  for (int a = tile->rank - 1; a >= 0; n *= tile->shape[a--]) place[a] = n;
}

/* The bytes that a thread accesses at once: its elements that follow each other in a row. */
static int64_t bytes_at_once(const Rows *x) {
  int64_t place[MAX_RANK], run = 1;
  places_of(x->tile, place);
  for (int i = 0; i < x->layout->ndigits; i++) {
    const Digit *d = &x->layout->d[i];
    if (d->hw != HW_REG || d->extent == 1 || d->axis < 0) continue;
    if (layout_weight(x->layout, i) * place[d->axis] != run) continue;
    run *= d->extent;
    i = -1;
  }
  while (run > x->columns || run * x->size > CHUNK) run /= 2;
  return run * x->size;
}

static int64_t index_of_lane(const Rows *x, int lane) {
  int64_t place[MAX_RANK], index = 0;
  places_of(x->tile, place);
  for (int i = 0; i < x->layout->ndigits; i++) {
    const Digit *d = &x->layout->d[i];
    if (d->hw != HW_LANE || d->axis < 0) continue;
    index += lane / d->stride % d->extent * layout_weight(x->layout, i) * place[d->axis];
  }
  return index;
}

/* Turns that some lanes take: in one, a bank gives one word, to all that want it. */
static int turns_of_lanes(const int64_t *at, int n, int64_t bytes) {
  int64_t words[BANKS][LANES];
  int count[BANKS] = {0}, most = 1;
  for (int l = 0; l < n; l++) {
    for (int64_t b = 0; b < bytes; b += BANK) {
      int64_t word = (at[l] + b) / BANK;
      int bank = (int)(word % BANKS), k = 0;
      while (k < count[bank] && words[bank][k] != word) k++;
      if (k < count[bank]) continue;
      words[bank][count[bank]++] = word;
      if (count[bank] > most) most = count[bank];
    }
  }
  return most;
}

/* Turns of all of a warp's accesses. */
static int64_t turns_of(const Rows *x, int64_t pitch) {
  int64_t at[LANES], bytes = bytes_at_once(x), turns = 0;
  int phases = bytes <= BANK ? 1 : (int)(bytes / BANK), lanes = LANES / phases;
  for (int l = 0; l < LANES; l++) {
    int64_t index = index_of_lane(x, l);
    at[l] = index / x->columns * pitch + index % x->columns * x->size;
  }
  for (int i = 0; i < phases; i++) turns += turns_of_lanes(at + (ptrdiff_t)i * lanes, lanes, bytes);
  return turns * layout_registers(x->layout) * x->size / bytes;
}

int64_t build_pitch_of_turns(const NestVar *from, const NestVar *to, int64_t columns, int64_t size,
                             int64_t pitch) {
  Rows written = {from->layout, &from->tile, columns, size};
  Rows read = {to->layout, &to->tile, columns, size};
  int64_t least = turns_of(&written, pitch) + turns_of(&read, pitch);
  for (int64_t pad = 0; pad < BANKS_BYTES; pad = pad ? 2 * pad : CHUNK) {
    int64_t other = columns * size + pad, turns;
    if (other % CHUNK) continue;
    turns = turns_of(&written, other) + turns_of(&read, other);
    if (turns >= least) continue;
    least = turns;
    pitch = other;
  }
  return pitch;
}
