/* Integers and pointers of the walk, for all lanes at once or for one that stands for all. */
#include <string.h>

#include "lower/cost/walk.h"

static int64_t wrap(DType t, int64_t v) {
  switch (t) {
    case DT_I1: return v & 1;
    case DT_I8: return (int8_t)v;
    case DT_I16: return (int16_t)v;
    case DT_I32: return (int32_t)v;
    case DT_U8: return (uint8_t)v;
    case DT_U16: return (uint16_t)v;
    case DT_U32: return (uint32_t)v;
    default: return v;
  }
}

static int64_t shift(DType t, TileCode op, int64_t x, int64_t by) {
  if (by < 0 || by >= dtype_bits(t)) return op == TILE_SHR && x < 0 ? -1 : 0;
  return op == TILE_SHL ? (int64_t)((uint64_t)x << by) : x >> by;
}

static int64_t divide(TileCode op, int64_t x, int64_t y) {
  if (y == 0 || (x == INT64_MIN && y == -1)) return 0;
  return op == TILE_DIV ? x / y : x % y;
}

/* Loops over lanes that the C compiler makes vectors of. */
#define LANES(expr)                            \
  for (int l = 0; l < n; l++) out[l] = (expr); \
  break

static bool compute(TileCode op, DType t, int n, const int64_t *x, const int64_t *y,
                    const int64_t *z, int64_t *out) {
  switch (op) {
    case TILE_ADD: LANES((int64_t)((uint64_t)x[l] + (uint64_t)y[l]));
    case TILE_SUB: LANES((int64_t)((uint64_t)x[l] - (uint64_t)y[l]));
    case TILE_MUL: LANES((int64_t)((uint64_t)x[l] * (uint64_t)y[l]));
    case TILE_DIV:
    case TILE_REM: LANES(divide(op, x[l], y[l]));
    case TILE_MIN: LANES(x[l] < y[l] ? x[l] : y[l]);
    case TILE_MAX: LANES(x[l] > y[l] ? x[l] : y[l]);
    case TILE_AND: LANES(x[l] & y[l]);
    case TILE_OR: LANES(x[l] | y[l]);
    case TILE_XOR: LANES(x[l] ^ y[l]);
    case TILE_NOT: LANES(~x[l]);
    case TILE_NEG: LANES((int64_t)(0 - (uint64_t)x[l]));
    case TILE_ABS: LANES(x[l] < 0 ? (int64_t)(0 - (uint64_t)x[l]) : x[l]);
    case TILE_SHL:
    case TILE_SHR: LANES(shift(t, op, x[l], y[l]));
    case TILE_LT: LANES(x[l] < y[l]);
    case TILE_LE: LANES(x[l] <= y[l]);
    case TILE_GT: LANES(x[l] > y[l]);
    case TILE_GE: LANES(x[l] >= y[l]);
    case TILE_EQ: LANES(x[l] == y[l]);
    case TILE_NE: LANES(x[l] != y[l]);
    case TILE_SELECT: LANES(x[l] ? y[l] : z[l]);
    case TILE_CAST:
    case TILE_BITCAST:
    case TILE_HINT: LANES(x[l]);
    default: return false;
  }
  return true;
}

static void add_elements(const NestStmt *s, int n, const int64_t *x, const int64_t *y,
                         int64_t *out) {
  int64_t bytes = dtype_bytes(s->elem);
  for (int l = 0; l < n; l++) out[l] = (int64_t)((uint64_t)x[l] + (uint64_t)y[l] * (uint64_t)bytes);
}

/* Of two guards one that is false decides, whatever the other one is. */
static bool one_decides(const NestStmt *s, const bool *known, int64_t (*x)[WALK_LANES],
                        int64_t *out) {
  if (s->type != DT_I1 || s->nsrcs != 2 || known[0] == known[1]) return false;
  if (s->op != TILE_AND) return false;
  memcpy(out, x[known[0] ? 0 : 1], sizeof *x);
  return true;
}

bool walk_value(const Walk *w, const NestStmt *s, int n, int64_t out[WALK_LANES]) {
  int64_t x[3][WALK_LANES];
  bool known[3] = {true, true, true}, all = true;
  if (dtype_is_float(s->type) || s->nsrcs > 3) return false;
  for (uint32_t i = 0; i < 3; i++)
    if (i < s->nsrcs && s->srcs[i].kind != REF_NONE)
      all &= known[i] = walk_operand(w, &s->srcs[i], n, x[i]);
    else x[i][0] = 0; /* no op reads what it does not have */
  if (!all) return one_decides(s, known, x, out);
  DType result = s->op == TILE_CAST || s->op == TILE_BITCAST ? s->to : s->type;
  if (dtype_is_float(result)) return false;
  if (s->op == TILE_PTR_ADD) add_elements(s, n, x[0], x[1], out);
  else if (!compute(s->op, s->type, n, x[0], x[1], x[2], out)) return false;
  bool compares = s->op >= TILE_LT && s->op <= TILE_NE;
  if (result == DT_I64 || result == DT_U64 || result == DT_PTR || compares) return true;
  if (result == DT_I1 && s->op == TILE_CAST)
    for (int l = 0; l < n; l++) out[l] = out[l] != 0;
  for (int l = 0; l < n; l++) out[l] = wrap(result, out[l]);
  return true;
}
