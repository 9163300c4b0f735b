/* The type rules that the table of the tile IR leaves to its ops (rule `given`), one function an
 * op. */
#include <stdlib.h>
#include <string.h>

#include "lang/asm/asm_call.h"
#include "lang/messages.h"
#include "lang/tile/tile_check.h"

/* ---- checks that ops share ---- */

static const char *words_of(TileCheck *c, Type t) { return type_text(c->fn->arena, t); }

bool tile_check_operand(TileCheck *c, const TileOp *op, uint32_t i, bool good, const char *what) {
  if (!good)
    diag_error(c->diags, op->span, E_TILE_OPERAND, i + 1, tile_op_name(op->code),
               words_of(c, op->args[i]->type), what);
  return good;
}

bool tile_check_operand_is(TileCheck *c, const TileOp *op, uint32_t i, Type want) {
  if (type_eq(op->args[i]->type, want)) return true;
  return tile_check_operand(c, op, i, false, words_of(c, want));
}

static bool tile_check_result(TileCheck *c, const TileOp *op, uint32_t i, bool good,
                              const char *what) {
  if (!good)
    diag_error(c->diags, op->span, E_TILE_RESULT, i + 1, tile_op_name(op->code),
               words_of(c, op->results[i]->type), what);
  return good;
}

bool tile_check_result_is(TileCheck *c, const TileOp *op, uint32_t i, Type want) {
  if (type_eq(op->results[i]->type, want)) return true;
  return tile_check_result(c, op, i, false, words_of(c, want));
}

/* Operands from `first` on have the types of the n values. */
static bool tile_check_operands_are(TileCheck *c, const TileOp *op, uint32_t first,
                                    TileValue *const *like, uint32_t n) {
  if (op->nargs != first + n) {
    diag_error(c->diags, op->span, E_TILE_OPERANDS, tile_op_name(op->code), op->nargs, first + n);
    return false;
  }
  bool good = true;
  for (uint32_t i = 0; i < n; i++) good &= tile_check_operand_is(c, op, first + i, like[i]->type);
  return good;
}

/* Attributes: within lo..hi if it is there; a list of n entries if it is there. */
static bool tile_check_int(TileCheck *c, const TileOp *op, TileAttrKey k, int64_t lo, int64_t hi) {
  int64_t v = tile_int(op, k, lo);
  if (v >= lo && v <= hi) return true;
  diag_error(c->diags, op->span, E_TILE_ATTR_RANGE, tile_attr_name(k), tile_op_name(op->code),
             (long long)v, (long long)lo, (long long)hi);
  return false;
}

static bool tile_check_list(TileCheck *c, const TileOp *op, TileAttrKey k, uint32_t n, int64_t lo,
                            int64_t hi) {
  const TileAttr *a = tile_attr(op, k);
  if (!a) return true;
  if (a->len != n) {
    diag_error(c->diags, op->span, E_TILE_ATTR_LENGTH, tile_attr_name(k), tile_op_name(op->code),
               a->len, n);
    return false;
  }
  for (uint32_t i = 0; i < n; i++)
    if (a->list[i] < lo || a->list[i] > hi) {
      diag_error(c->diags, op->span, E_TILE_ATTR_RANGE, tile_attr_name(k), tile_op_name(op->code),
                 (long long)a->list[i], (long long)lo, (long long)hi);
      return false;
    }
  return true;
}

/* ---- helpers ---- */

static Type arg_type(const TileOp *op, uint32_t i) { return op->args[i]->type; }
static Type result_type(const TileOp *op, uint32_t i) { return op->results[i]->type; }

static Type i1_like(Type t) { return type_like(type_scalar(DT_I1), t); }
static bool is_int_type(Type t) { return dtype_is_int((DType)t.dtype); }
static bool is_scalar_int(Type t) { return !t.rank && is_int_type(t); }
static bool same_element(Type a, Type b) { return type_eq(type_element(a), type_element(b)); }

static Type without_axis(Type t, int axis) {
  for (int i = axis; i + 1 < t.rank; i++) t.shape[i] = t.shape[i + 1];
  t.rank--;
  return t;
}

static Type with_axis(Type t, int axis, int32_t extent) {
  for (int i = t.rank; i > axis; i--) t.shape[i] = t.shape[i - 1];
  t.shape[axis] = extent;
  t.rank++;
  return t;
}

/* `axis`, which must be one of the operand's. */
static bool check_axis(TileCheck *c, const TileOp *op) {
  return tile_check_operand(c, op, 0, arg_type(op, 0).rank > 0, "a tile") &&
         tile_check_int(c, op, TA_axis, 0, arg_type(op, 0).rank - 1);
}

/* An absent mask is one that holds everywhere. */
static bool check_mask(TileCheck *c, const TileOp *op, uint32_t i, Type like) {
  return !op->args[i] || tile_check_operand_is(c, op, i, i1_like(like));
}

/* The element type of a load from a pointer to `elem`: a pointer to pointers may give any pointer.
 */
static bool points_to(Type ptr, Type value) {
  if (ptr.dtype != DT_PTR) return false;
  return ptr.elem == value.dtype;
}

/* Operand `ptr` points to elements like those of `value`, and has its shape. */
static bool check_pointer(TileCheck *c, const TileOp *op, uint32_t ptr, Type value) {
  Type t = arg_type(op, ptr);
  if (points_to(t, value) && type_same_shape(t, value)) return true;
  Type want = type_like(type_ptr((DType)value.dtype), value);
  return tile_check_operand(c, op, ptr, false, type_text(c->fn->arena, want));
}

/* ---- sources ---- */

static void check_grid(TileCheck *c, const TileOp *op) {
  if (tile_check_int(c, op, TA_axis, 0, 2)) tile_check_result_is(c, op, 0, type_scalar(DT_I32));
}

/* Every thread block of a cluster joins its result with the others' as often as they do: once, or
 * in a loop. */
static bool check_cluster(TileCheck *c, const TileOp *op) {
  const TileOp *loop = op->parent->owner;
  while (loop && loop->code == TILE_FOR) loop = loop->parent->owner;
  if (c->fn->cluster && !loop) return true;
  diag_error(c->diags, op->span, E_TILE_CLUSTER, tile_op_name(op->code));
  return false;
}

static void check_cluster_rank(TileCheck *c, const TileOp *op) {
  if (check_cluster(c, op)) tile_check_result_is(c, op, 0, type_scalar(DT_I32));
}

static void check_special(TileCheck *c, const TileOp *op) {
  bool timer = !strcmp(tile_str(op, TA_kind, ""), "globaltimer");
  tile_check_result_is(c, op, 0, type_scalar(timer ? DT_I64 : DT_I32));
}

static void check_arange(TileCheck *c, const TileOp *op) {
  if (!tile_check_int(c, op, TA_start, INT32_MIN, INT32_MAX)) return;
  int64_t start = tile_int(op, TA_start, 0), end = tile_int(op, TA_end, 0);
  if (!tile_check_int(c, op, TA_end, start + 1, start + MAX_TILE)) return;
  Type want = with_axis(type_scalar(DT_I32), 0, (int32_t)(end - start));
  tile_check_result_is(c, op, 0, want);
}

/* ---- shape ---- */

static void check_splat(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0), r = result_type(op, 0);
  if (!tile_check_operand(c, op, 0, !t.rank, "a scalar")) return;
  if (tile_check_result(c, op, 0, r.rank > 0, "a tile"))
    tile_check_result_is(c, op, 0, type_like(t, r));
}

static void check_expand_dims(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0);
  if (!tile_check_operand(c, op, 0, t.rank < MAX_RANK, "a type of fewer axes")) return;
  if (!tile_check_int(c, op, TA_axis, 0, t.rank)) return;
  tile_check_result_is(c, op, 0, with_axis(t, (int)tile_int(op, TA_axis, 0), 1));
}

static void check_broadcast(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0), r = result_type(op, 0);
  bool good = same_element(t, r) && t.rank == r.rank;
  for (int i = 0; good && i < t.rank; i++) good = t.shape[i] == 1 || t.shape[i] == r.shape[i];
  tile_check_result(c, op, 0, good, "the operand's type with axes of extent 1 made longer");
}

static void check_reshape(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0), r = result_type(op, 0);
  tile_check_result(c, op, 0, same_element(t, r) && type_numel(t) == type_numel(r),
                    "as many elements of the operand's type");
}

static void check_trans(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0), want = t;
  const TileAttr *perm = tile_attr(op, TA_perm);
  unsigned used = 0;
  if (!tile_check_list(c, op, TA_perm, t.rank, 0, t.rank - 1)) return;
  for (uint32_t i = 0; i < perm->len; i++) {
    used |= 1u << perm->list[i];
    want.shape[i] = t.shape[perm->list[i]];
  }
  if (used != (1u << t.rank) - 1) diag_error(c->diags, op->span, E_TILE_PERM);
  else tile_check_result_is(c, op, 0, want);
}

static void check_join(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0);
  if (tile_check_operand(c, op, 0, t.rank < MAX_RANK, "a type of fewer axes") &&
      tile_check_operand_is(c, op, 1, t))
    tile_check_result_is(c, op, 0, with_axis(t, t.rank, 2));
}

static void check_split(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0);
  bool good = t.rank && t.shape[t.rank - 1] == 2;
  if (!tile_check_operand(c, op, 0, good, "a tile whose last axis has extent 2")) return;
  Type half = without_axis(t, t.rank - 1);
  for (uint32_t i = 0; i < 2; i++) tile_check_result_is(c, op, i, half);
}

static void check_cat(TileCheck *c, const TileOp *op) {
  Type want = arg_type(op, 0), b = arg_type(op, 1);
  if (!tile_check_operand(c, op, 0, want.rank > 0, "a tile")) return;
  Type like = want;
  if (b.rank) like.shape[0] = b.shape[0];
  if (!tile_check_operand_is(c, op, 1, like)) return;
  want.shape[0] += b.shape[0];
  tile_check_result_is(c, op, 0, want);
}

static void check_slice(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0), r = result_type(op, 0);
  bool good = same_element(t, r) && t.rank == r.rank;
  if (!tile_check_result(c, op, 0, good, "a tile of the operand's type and number of axes") ||
      !tile_check_list(c, op, TA_starts, t.rank, 0, MAX_TILE) ||
      !tile_check_list(c, op, TA_strides, t.rank, -MAX_TILE, MAX_TILE))
    return;
  const int64_t *starts = tile_attr(op, TA_starts)->list,
                *strides = tile_attr(op, TA_strides)->list;
  for (int i = 0; i < t.rank; i++) {
    int64_t last = starts[i] + (r.shape[i] - 1) * strides[i];
    if (starts[i] < t.shape[i] && last >= 0 && last < t.shape[i]) continue;
    diag_error(c->diags, op->span, E_TILE_SLICE, i, t.shape[i]);
  }
}

static void check_gather(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0), index = arg_type(op, 1);
  if (!check_axis(c, op)) return;
  int axis = (int)tile_int(op, TA_axis, 0);
  bool good = is_int_type(index) && index.rank == t.rank;
  for (int i = 0; good && i < t.rank; i++) good = i == axis || index.shape[i] == t.shape[i];
  if (tile_check_operand(c, op, 1, good, "integers, as many as in operand 1 on other axes"))
    tile_check_result_is(c, op, 0, type_like(t, index));
}

/* ---- elementwise ---- */

static void check_select(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 1);
  if (tile_check_operand_is(c, op, 0, i1_like(t)) && tile_check_operand_is(c, op, 2, t))
    tile_check_result_is(c, op, 0, t);
}

static void check_cast(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0), r = result_type(op, 0);
  if (tile_check_operand(c, op, 0, t.dtype != DT_PTR, "a number"))
    tile_check_result(c, op, 0, r.dtype != DT_PTR && type_same_shape(t, r),
                      "a number type of the operand's shape");
}

static void check_bitcast(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0), r = result_type(op, 0);
  bool good = type_same_shape(t, r) && dtype_bits((DType)t.dtype) == dtype_bits((DType)r.dtype);
  tile_check_result(c, op, 0, good, "a type of the operand's shape and width");
}

static void check_ptr_add(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0), i = arg_type(op, 1);
  if (tile_check_operand(c, op, 0, t.dtype == DT_PTR, "a pointer") &&
      tile_check_operand(c, op, 1, is_int_type(i) && type_same_shape(t, i),
                         "integers in the shape of operand 1"))
    tile_check_result_is(c, op, 0, t);
}

static void check_hint(TileCheck *c, const TileOp *op) {
  static const TileAttrKey keys[] = {TA_div, TA_contig, TA_constancy};
  Type t = arg_type(op, 0);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    tile_check_list(c, op, keys[i], t.rank ? t.rank : 1, 1, INT64_MAX);
  tile_check_result_is(c, op, 0, t);
}

/* ---- tiles as a whole ---- */

/* Element types of a DOT: integers to an integer, floats to a float; of one type, or 8 bits. */
static bool dot_types_fit(Type a, Type b, Type acc) {
  DType x = (DType)a.dtype, y = (DType)b.dtype;
  if (x == DT_PTR || dtype_is_float(x) != dtype_is_float((DType)acc.dtype)) return false;
  if (x == y) return acc.dtype != DT_PTR;
  return dtype_kind(x) == dtype_kind(y) && dtype_bits(x) == 8 && dtype_bits(y) == 8;
}

static bool are_words(Type a, Type acc) { return a.dtype == DT_I32 && acc.dtype == DT_I32; }

static void check_dot(TileCheck *c, const TileOp *op) {
  Type a = arg_type(op, 0), b = arg_type(op, 1), acc = arg_type(op, 2);
  int r = a.rank;
  if (!tile_check_operand(c, op, 0, r >= 2, "a tile of two axes or more")) return;
  Type want_b = type_like(b, a), want = type_like(acc, a);
  if (b.rank == r) want_b.shape[r - 1] = want.shape[r - 1] = b.shape[r - 1];
  want_b.shape[r - 2] = a.shape[r - 1];
  if (tile_check_operand_is(c, op, 1, want_b) && tile_check_operand_is(c, op, 2, want) &&
      tile_check_operand(c, op, 2, dot_types_fit(a, b, acc),
                         "an accumulator of the operands' kind, and these of one type") &&
      tile_check_operand(c, op, 0, !tile_dots_words(op) || are_words(a, acc),
                         "i32, as the accumulator, where precision is bytes or pairs") &&
      tile_check_int(c, op, TA_max_imprecise, 0, INT32_MAX))
    tile_check_result_is(c, op, 0, acc);
}

/* The function of REDUCE and SCAN: takes the elements of two sets of operands, gives one. */
static void check_combine_block(TileCheck *c, const TileOp *op) {
  const TileBlock *b = op->regions[0];
  uint32_t n = op->nargs;
  if (b->nparams != 2 * n) {
    diag_error(c->diags, op->span, E_TILE_PARAMS, tile_op_name(op->code), b->nparams, 2 * n);
    return;
  }
  for (uint32_t i = 0; i < 2 * n; i++) {
    Type want = type_element(arg_type(op, i % n));
    if (type_eq(b->params[i]->type, want)) continue;
    diag_error(c->diags, op->span, E_TILE_PARAM, i + 1, tile_op_name(op->code),
               type_text(c->fn->arena, b->params[i]->type), type_text(c->fn->arena, want));
    return;
  }
  tile_check_operands_are(c, b->last, 0, b->params, n);
}

/* A combine op by name works on one operand of a type that the op takes. */
static void check_combine_name(TileCheck *c, const TileOp *op, Name combine) {
  DType t = (DType)arg_type(op, 0).dtype;
  const char *rule = tile_op_rule(tile_op_parse(combine, strlen(combine)));
  bool good = !strcmp(rule, "float") ? dtype_is_float(t)
              : !strcmp(rule, "int") ? dtype_is_int(t)
                                     : t != DT_PTR;
  if (op->nargs > 1)
    diag_error(c->diags, op->span, E_TILE_OPERANDS, tile_op_name(op->code), op->nargs, 1);
  else tile_check_operand(c, op, 0, good, arena_printf(c->fn->arena, "operand of `%s`", combine));
}

static void check_reduce(TileCheck *c, const TileOp *op) {
  if (!op->nargs || op->nresults != op->nargs) {
    diag_error(c->diags, op->span, E_TILE_RESULTS, tile_op_name(op->code), op->nresults,
               op->nargs ? op->nargs : 1);
    return;
  }
  if (!check_axis(c, op) || (tile_int(op, TA_joins, 0) && !check_cluster(c, op))) return;
  Type shape = arg_type(op, 0);
  int axis = (int)tile_int(op, TA_axis, 0);
  for (uint32_t i = 0; i < op->nargs; i++) {
    Type t = arg_type(op, i), r = type_like(t, shape);
    if (!tile_check_operand_is(c, op, i, r)) return;
    if (op->code == TILE_REDUCE) r = without_axis(r, axis);
    if (!tile_check_result_is(c, op, i, r)) return;
  }
  Name combine = tile_str(op, TA_combine, NULL);
  if (combine) check_combine_name(c, op, combine);
  else check_combine_block(c, op);
}

static void check_histogram(TileCheck *c, const TileOp *op) {
  Type r = result_type(op, 0);
  if (tile_check_operand(c, op, 0, is_int_type(arg_type(op, 0)), "integers") &&
      check_mask(c, op, 1, arg_type(op, 0)))
    tile_check_result(c, op, 0, r.rank == 1 && r.dtype == DT_I32, "a tile of i32 with one axis");
}

/* ---- memory ---- */

static void check_load(TileCheck *c, const TileOp *op) {
  Type r = result_type(op, 0);
  if (check_pointer(c, op, 0, r) && check_mask(c, op, 1, r) && op->args[2])
    tile_check_operand_is(c, op, 2, r);
}

static void check_store(TileCheck *c, const TileOp *op) {
  Type v = arg_type(op, 1);
  if (check_pointer(c, op, 0, v)) check_mask(c, op, 2, v);
}

/* Base, offsets, sizes, strides and `check` of a view onto tiles of type `t`. */
static bool check_view(TileCheck *c, const TileOp *op, Type t) {
  uint32_t rank = tile_view_rank(op);
  if (!check_pointer(c, op, 0, type_element(t))) return false;
  if (rank != t.rank) {
    diag_error(c->diags, op->span, E_TILE_VIEW_RANK, rank, t.rank);
    return false;
  }
  for (uint32_t i = VIEW_FIXED; i < op->nargs; i++)
    if (!tile_check_operand(c, op, i, is_scalar_int(arg_type(op, i)), "a scalar integer"))
      return false;
  const TileAttr *check = tile_attr(op, TA_check);
  for (uint32_t i = 1; check && i < check->len; i++)
    if (check->list[i - 1] >= check->list[i]) {
      diag_error(c->diags, op->span, E_TILE_CHECK_ORDER);
      return false;
    }
  return !check || tile_check_list(c, op, TA_check, check->len, 0, (int64_t)rank - 1);
}

static void check_view_load(TileCheck *c, const TileOp *op) {
  Type r = result_type(op, 0);
  Name pad = tile_str(op, TA_pad, "zero");
  if (!check_view(c, op, r) || !check_mask(c, op, 1, r)) return;
  if (op->args[2] && !tile_check_operand_is(c, op, 2, r)) return;
  bool nan = !strcmp(pad, "nan");
  tile_check_result(c, op, 0, !nan || dtype_is_float((DType)r.dtype), "floats, to pad with nan");
}

static void check_view_store(TileCheck *c, const TileOp *op) {
  Type v = arg_type(op, 1);
  if (check_view(c, op, v)) check_mask(c, op, 2, v);
}

static void check_atomic_rmw(TileCheck *c, const TileOp *op) {
  Type v = arg_type(op, 1);
  DType d = (DType)v.dtype;
  Name kind = tile_str(op, TA_kind, "");
  bool bits = !strcmp(kind, "and") || !strcmp(kind, "or") || !strcmp(kind, "xor");
  bool access = !strcmp(kind, "load") || !strcmp(kind, "store");
  unsigned least = access ? 8 : 16;
  bool good = d != DT_PTR && dtype_bits(d) >= least && (!bits || dtype_is_int(d));
  if (tile_check_operand(c, op, 1, good,
                         bits     ? "integers of 16 bits or more"
                         : access ? "numbers of 8 bits or more"
                                  : "numbers of 16 bits or more") &&
      check_pointer(c, op, 0, v) && check_mask(c, op, 2, v))
    tile_check_result_is(c, op, 0, v);
}

static void check_atomic_cas(TileCheck *c, const TileOp *op) {
  Type v = arg_type(op, 1);
  bool good = v.dtype != DT_PTR && dtype_bits((DType)v.dtype) >= 16;
  if (tile_check_operand(c, op, 1, good, "numbers of 16 bits or more") &&
      check_pointer(c, op, 0, v) && tile_check_operand_is(c, op, 2, v))
    tile_check_result_is(c, op, 0, v);
}

static void check_assert(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 0);
  if (tile_check_operand_is(c, op, 0, i1_like(t))) check_mask(c, op, 1, t);
}

/* An element of a slot; its elements are no pointers and no i1. */
static bool check_slot(TileCheck *c, const TileOp *op) {
  enum { SLOTS = 64 };
  return tile_check_operand_is(c, op, 0, type_scalar(DT_I32)) &&
         tile_check_int(c, op, TA_slot, 0, SLOTS - 1) &&
         tile_check_int(c, op, TA_count, 1, MAX_TILE);
}

static bool is_slot_dtype(uint8_t t) { return t != DT_PTR && t != DT_I1; }

static void check_park(TileCheck *c, const TileOp *op) {
  Type t = arg_type(op, 1);
  bool good = t.rank && t.dtype == DT_PTR && is_slot_dtype(t.elem);
  if (check_slot(c, op) && tile_check_operand(c, op, 1, good, "a tile of pointers to numbers") &&
      op->args[2])
    tile_check_operand_is(c, op, 2, type_like(type_scalar(DT_I1), t));
}

static void check_unpark(TileCheck *c, const TileOp *op) { check_slot(c, op); }

static void check_noalias(TileCheck *c, const TileOp *op) {
  tile_check_list(c, op, TA_params, 2, 0, (int64_t)c->fn->nparams - 1);
}

static void check_assume(TileCheck *c, const TileOp *op) {
  tile_check_operand_is(c, op, 0, type_scalar(DT_I1));
}

/* ---- control ---- */

static bool check_param_types(TileCheck *c, const TileOp *op, const TileBlock *b, uint32_t first,
                              TileValue *const *like, uint32_t n) {
  if (b->nparams != first + n) {
    diag_error(c->diags, op->span, E_TILE_PARAMS, tile_op_name(op->code), b->nparams, first + n);
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    Type t = b->params[first + i]->type;
    if (type_eq(t, like[i]->type)) continue;
    diag_error(c->diags, op->span, E_TILE_PARAM, first + i + 1, tile_op_name(op->code),
               type_text(c->fn->arena, t), type_text(c->fn->arena, like[i]->type));
    return false;
  }
  return true;
}

static bool check_result_types(TileCheck *c, const TileOp *op, TileValue *const *like, uint32_t n) {
  if (op->nresults != n) {
    diag_error(c->diags, op->span, E_TILE_RESULTS, tile_op_name(op->code), op->nresults, n);
    return false;
  }
  for (uint32_t i = 0; i < n; i++)
    if (!tile_check_result_is(c, op, i, like[i]->type)) return false;
  return true;
}

static void check_for(TileCheck *c, const TileOp *op) {
  const TileBlock *b = op->regions[0];
  uint32_t n = op->nargs - 3;
  if (!tile_check_operand(c, op, 0, is_scalar_int(arg_type(op, 0)), "a scalar integer")) return;
  for (uint32_t i = 1; i < 3; i++)
    if (!tile_check_operand_is(c, op, i, arg_type(op, 0))) return;
  if (!tile_check_int(c, op, TA_num_stages, 0, 100) || !tile_check_int(c, op, TA_unroll, 1, 1024) ||
      !check_param_types(c, op, b, 1, op->args + 3, n) ||
      !check_result_types(c, op, op->args + 3, n))
    return;
  BUG_IF(!type_eq(b->params[0]->type, arg_type(op, 0)), "the index of a loop has another type");
  tile_check_operands_are(c, b->last, 0, op->args + 3, n);
}

static void check_while(TileCheck *c, const TileOp *op) {
  const TileBlock *before = op->regions[0], *body = op->regions[1];
  const TileOp *condition = before->last;
  if (check_param_types(c, op, before, 0, op->args, op->nargs) &&
      check_result_types(c, op, condition->args + 1, condition->nargs - 1) &&
      check_param_types(c, op, body, 0, op->results, op->nresults))
    tile_check_operands_are(c, body->last, 0, op->args, op->nargs);
}

static void check_if(TileCheck *c, const TileOp *op) {
  if (!tile_check_operand_is(c, op, 0, type_scalar(DT_I1))) return;
  for (uint32_t i = 0; i < 2; i++)
    if (!check_param_types(c, op, op->regions[i], 0, NULL, 0) ||
        !tile_check_operands_are(c, op->regions[i]->last, 0, op->results, op->nresults))
      return;
}

static void check_condition(TileCheck *c, const TileOp *op) {
  tile_check_operand_is(c, op, 0, type_scalar(DT_I1));
}

/* Nothing to check, or its block's owner does. */
static void check_nothing(TileCheck *c, const TileOp *op) { (void)c, (void)op; }

/* ---- the table ---- */

typedef void CheckFn(TileCheck *c, const TileOp *op);

/* ---- inline assembly ---- */

static void check_asm(TileCheck *c, const TileOp *op) {
  Type like = op->nresults ? result_type(op, 0) : type_scalar(DT_I32);
  Arena *a = c->fn->arena;
  DType *types = ARENA_ARRAY(a, DType, op->nresults + op->nargs);
  for (uint32_t i = 0; i < op->nargs; i++) {
    if (!tile_check_operand(c, op, i, type_same_shape(arg_type(op, i), like), "of one shape"))
      return;
    types[op->nresults + i] = (DType)arg_type(op, i).dtype;
  }
  for (uint32_t i = 0; i < op->nresults; i++) {
    bool good = type_same_shape(result_type(op, i), like) && result_type(op, i).dtype != DT_PTR;
    if (!tile_check_result(c, op, i, good, "a number of one shape")) return;
    types[i] = (DType)result_type(op, i).dtype;
  }
  if (!op->nresults) {
    diag_error(c->diags, op->span, E_TILE_RESULTS, tile_op_name(op->code), 0u, 1u);
    return;
  }
  if (!tile_check_int(c, op, TA_pack, 1, ASM_MAX_PACK)) return;
  AsmCall call;
  AsmTypes t = {types, types + op->nresults, op->nresults, op->nargs,
                (uint32_t)tile_int(op, TA_pack, 1)};
  const char *error =
      asm_parse(a, tile_str(op, TA_asm, ""), tile_str(op, TA_constraints, ""), &t, &call);
  if (error) diag_error(c->diags, op->span, E_ASM_RUN, error);
}

static CheckFn *const checks[TILE_OP_COUNT] = {
    [TILE_CONST] = check_nothing,
    [TILE_UNDEF] = check_nothing,
    [TILE_PROGRAM_ID] = check_grid,
    [TILE_NUM_PROGRAMS] = check_grid,
    [TILE_CLUSTER_RANK] = check_cluster_rank,
    [TILE_SPECIAL] = check_special,
    [TILE_ARANGE] = check_arange,
    [TILE_SPLAT] = check_splat,
    [TILE_EXPAND_DIMS] = check_expand_dims,
    [TILE_BROADCAST] = check_broadcast,
    [TILE_RESHAPE] = check_reshape,
    [TILE_TRANS] = check_trans,
    [TILE_JOIN] = check_join,
    [TILE_SPLIT] = check_split,
    [TILE_CAT] = check_cat,
    [TILE_SLICE] = check_slice,
    [TILE_GATHER] = check_gather,
    [TILE_SELECT] = check_select,
    [TILE_CAST] = check_cast,
    [TILE_BITCAST] = check_bitcast,
    [TILE_PTR_ADD] = check_ptr_add,
    [TILE_HINT] = check_hint,
    [TILE_DOT] = check_dot,
    [TILE_REDUCE] = check_reduce,
    [TILE_SCAN] = check_reduce,
    [TILE_HISTOGRAM] = check_histogram,
    [TILE_LOAD] = check_load,
    [TILE_STORE] = check_store,
    [TILE_VIEW_LOAD] = check_view_load,
    [TILE_VIEW_STORE] = check_view_store,
    [TILE_ATOMIC_RMW] = check_atomic_rmw,
    [TILE_ATOMIC_CAS] = check_atomic_cas,
    [TILE_PARK] = check_park,
    [TILE_PARK_WAIT] = check_nothing,
    [TILE_UNPARK] = check_unpark,
    [TILE_BARRIER] = check_nothing,
    [TILE_GRID_DEPENDENCY] = check_nothing,
    [TILE_ASSERT] = check_assert,
    [TILE_PRINT] = check_nothing,
    [TILE_ASM] = check_asm,
    [TILE_ASM_IMPURE] = check_asm,
    [TILE_NOALIAS] = check_noalias,
    [TILE_ASSUME] = check_assume,
    [TILE_FOR] = check_for,
    [TILE_WHILE] = check_while,
    [TILE_IF] = check_if,
    [TILE_YIELD] = check_nothing,
    [TILE_CONDITION] = check_condition,
    [TILE_RETURN] = check_nothing,
};

void tile_check_given(TileCheck *c, const TileOp *op) {
  BUG_IF(!checks[op->code], "`%s` has rule `given` and no check", tile_op_name(op->code));
  checks[op->code](c, op);
}
