/* Fields of words as 16-bit floats, two at a time.
 *
 * A conversion of an integer to a float takes an instruction an element, beside the shift and the
 * mask.  A field that is put into the mantissa of a power of two whose last bit counts 1 is the sum
 * of both, and two fields that are 16 bits apart become two floats in one register:
 *
 *   word >> shift & 0x000f000f | 0x43004300   =   128 + field, twice, in bf16
 *
 * Differences of such numbers from zero points are exact, and pairs of 16-bit floats are
 * subtracted, and multiplied by scales, in one instruction. */
#include "planner/kernels/kernel_fields.h"

#include <string.h>

#include "graph/analysis/element_value.h"
#include "graph/analysis/index_range.h"

/* ---- the form ---- */

static Element element_of(Node *n, const Dim *index) {
  Element x = {.node = n};
  if (n->type.rank) memcpy(x.at, index, n->type.rank * sizeof *x.at);
  return x;
}

static bool is_computed(const Kernel *k, const Node *n) {
  return n->kind == NODE_CALL && !kernel_loads(k, n);
}

static Element through_views(const Kernel *k, Element x) {
  while (is_computed(k, x.node) && prim_is_view(x.node) && !prim_reads_size(x.node)) {
    Dim from[GRAPH_RANK_MAX];
    view_index(k->graph, x.node, x.at, from);
    x = element_of(view_operand(x.node), from);
  }
  return x;
}

/* Operand i of a pointwise node at the index that the node's element needs. */
static Element operand_at(const Kernel *k, const Element *x, uint32_t i) {
  Dim at[GRAPH_RANK_MAX];
  Node *operand = x->node->args[i].node;
  broadcast_index(k->graph, x->node, x->at, operand, at);
  return through_views(k, element_of(operand, at));
}

static bool is_tensor_arg(const Node *n, uint32_t i) {
  return n->nargs > i && n->args[i].kind == ARG_NODE && n->args[i].node->type.kind == VALUE_TENSOR;
}

static bool is_op(const Kernel *k, const Element *x, OpId op) {
  return is_computed(k, x->node) && graph_is(x->node, op) && is_tensor_arg(x->node, 0);
}

static bool is_number_arg(const Node *n, int64_t *value) {
  bool is = n->nargs > 1 && n->args[1].kind == ARG_INT && dim_is_int(n->args[1].dim);
  if (is) *value = n->args[1].dim->value;
  return is;
}

/* Numbers that a field may become by sums such that all dtypes on its way have them.  The way is
 * walked from its end: at most `down` and `up` were subtracted and added there, after a dtype. */
typedef struct {
  int64_t least, most, down, up;
} Range;

static const Range WIDE = {.least = INT32_MIN, .most = INT32_MAX};

static void narrow_to(Range *r, DType t) {
  unsigned bits = dtype_bits(t) > 32 ? 32 : dtype_bits(t);
  int64_t most = (int64_t)1 << (bits - dtype_is_signed(t)), least = 0;
  if (dtype_is_signed(t)) least = -most;
  least -= r->down;
  most += r->up - 1;
  if (least > r->least) r->least = least;
  if (dtype_bits(t) < 32 && most < r->most) r->most = most;
}

/* Through casts among integers, which keep what is in the range. */
static Element through_casts(const Kernel *k, Element x, Range *range) {
  while (is_op(k, &x, OP_aten_to_dtype) && x.node->type.dtype != DT_I1 &&
         dtype_is_int(x.node->args[0].node->type.dtype)) {
    if (dtype_is_int(x.node->type.dtype)) narrow_to(range, x.node->type.dtype);
    x = operand_at(k, &x, 0);
  }
  return x;
}

/* The numbers from `base` on that a 16-bit float counts one by one. */
static int64_t base_of(DType half) { return half == DT_BF16 ? 128 : 1024; }

/* A number of 8 bits that was widened, or the element itself. */
static Element narrow_source(const Kernel *k, Element x) {
  Range range = WIDE;
  Element from = through_casts(k, x, &range);
  return from.node->type.dtype == DT_U8 && range.most >= UINT8_MAX ? from : x;
}

/* masked & mask, where masked may be word >> shift. */
static bool read_field(const Kernel *k, Element x, FieldForm *f, Range *range) {
  x = through_casts(k, x, range);
  if (!is_op(k, &x, OP_aten_bitwise_and_Tensor) || !is_number_arg(x.node, &f->mask)) return false;
  bool small = f->mask > 0 && f->mask < base_of(f->half) && !(f->mask & (f->mask + 1));
  DType t = x.node->type.dtype;
  if (!small || dtype_bits(t) > 32 || is_tensor_arg(x.node, 1)) return false;
  narrow_to(range, t);
  f->masked = x = operand_at(k, &x, 0);
  if (is_op(k, &x, OP_aten_bitwise_right_shift_Tensor) && is_tensor_arg(x.node, 1)) {
    Element shift = operand_at(k, &x, 1);
    f->word = narrow_source(k, operand_at(k, &x, 0));
    f->shift = element_value(k->graph, shift.node, shift.at);
  }
  return true;
}

enum { MINUS_MOST = 64 };

/* Can it be subtracted of a field in 16-bit floats, exactly? */
static bool is_small(const Kernel *k, const Node *n) {
  Dims *d = k->graph->dims;
  return dtype_is_int(n->type.dtype) &&
         index_is_inside(k->graph, n, dim_int(d, -MINUS_MOST), dim_int(d, MINUS_MOST + 1));
}

/* A field, from which numbers are subtracted.  Integers wrap around where a dtype lacks a number,
 * floats do not: all steps stay within the dtypes. */
static bool read_whole(const Kernel *k, Element x, FieldForm *f) {
  int64_t number;
  Range range = WIDE;
  f->whole = x;
  for (;;) {
    x = through_casts(k, x, &range);
    bool adds = is_op(k, &x, OP_aten_add_Tensor), subtracts = is_op(k, &x, OP_aten_sub_Tensor);
    if ((!adds && !subtracts) || graph_scales_operand(k->graph, x.node)) break;
    narrow_to(&range, x.node->type.dtype);
    if (is_number_arg(x.node, &number)) {
      int64_t minus = adds ? -number : number;
      f->minus += minus;
      if (minus > MINUS_MOST || minus < -MINUS_MOST) return false;
      if (f->minus > MINUS_MOST || f->minus < -MINUS_MOST) return false;
      *(minus > 0 ? &range.down : &range.up) += minus > 0 ? minus : -minus;
    } else if (subtracts && is_tensor_arg(x.node, 1) && !f->less.node &&
               is_small(k, x.node->args[1].node)) {
      f->less = operand_at(k, &x, 1);
      range.down += MINUS_MOST;
      range.up += MINUS_MOST;
    } else {
      return false;
    }
    x = operand_at(k, &x, 0);
  }
  return read_field(k, x, f, &range) && -range.down >= range.least &&
         f->mask + range.up <= range.most;
}

/* A 16-bit float of a table in memory that a field of four bits chooses. */
static bool read_chosen(const Kernel *k, Element x, FieldForm *f) {
  enum { ENTRIES = 16 };
  if (!is_op(k, &x, OP_aten_index_Tensor) || x.node->args[1].kind != ARG_LIST) return false;
  const Arg *list = &x.node->args[1];
  Element table = through_views(k, element_of(x.node->args[0].node, x.at)), index;
  Dim at[GRAPH_RANK_MAX];
  bool one = list->n == 1 && list->items[0].kind == ARG_NODE && table.node->type.rank == 1 &&
             dim_is(table.node->type.shape[0], ENTRIES) && kernel_loads(k, table.node) &&
             table.node == x.node->args[0].node && table.node->type.dtype == f->half;
  if (!one) return false;
  broadcast_index(k->graph, x.node, x.at, list->items[0].node, at);
  index = through_views(k, element_of(list->items[0].node, at));
  f->whole = x;
  f->table = table.node;
  Range range = WIDE;
  return read_field(k, index, f, &range) && f->mask == ENTRIES - 1;
}

/* The first integer below pointwise nodes that is computed of a field. */
static bool find_whole(const Kernel *k, Element x, FieldForm *f) {
  enum { ARGS_MOST = 3 };
  FieldForm chosen = {.half = f->half};
  x = through_views(k, x);
  if (read_chosen(k, x, &chosen)) {
    *f = chosen;
    return true;
  }
  if (!is_computed(k, x.node) || prim_kind(x.node->op) != PRIM_POINTWISE) return false;
  if (dtype_is_int(x.node->type.dtype) && x.node->type.dtype != DT_I1) {
    FieldForm found = {.half = f->half};
    if (!read_whole(k, x, &found)) return false;
    *f = found;
    return true;
  }
  for (uint32_t i = 0; i < x.node->nargs && i < ARGS_MOST; i++)
    if (is_tensor_arg(x.node, i) && find_whole(k, operand_at(k, &x, i), f)) return true;
  return false;
}

bool fields_form(Kernel *k, Node *right, const Dim *index, FieldForm *form) {
  DType half = right->type.dtype;
  *form = (FieldForm){.half = half};
  return (half == DT_BF16 || half == DT_F16) && find_whole(k, element_of(right, index), form);
}

/* ---- values in 16-bit floats ---- */

/* Is it a 16-bit float in memory? */
static bool is_stored_half(const Kernel *k, const Element *x, DType half) {
  return kernel_loads(k, x->node) && x->node->type.dtype == half;
}

bool fields_same_element(const Element *a, const Element *b) {
  bool same = a->node == b->node;
  for (uint32_t i = 0; same && i < a->node->type.rank; i++) same = a->at[i] == b->at[i];
  return same;
}

static bool is_sum_or_product(const Kernel *k, const Element *x) {
  return is_op(k, x, OP_aten_add_Tensor) || is_op(k, x, OP_aten_sub_Tensor) ||
         is_op(k, x, OP_aten_mul_Tensor);
}

/* Is it 2.0 to the power of a byte less some number, which bf16 has?  Products by it are exact. */
static bool is_power(const Kernel *k, Element x, DType half) {
  enum { LEAST = -133 };
  x = through_views(k, x);
  bool is = is_computed(k, x.node) && graph_is(x.node, OP_aten_pow_Scalar) && half == DT_BF16 &&
            x.node->args[0].kind == ARG_FLOAT && x.node->args[0].number == 2 &&
            is_tensor_arg(x.node, 1) && dtype_is_int(x.node->args[1].node->type.dtype);
  if (!is) return false;
  int64_t number, least = 0;
  x = operand_at(k, &x, 1);
  while (is_op(k, &x, OP_aten_add_Tensor) || is_op(k, &x, OP_aten_sub_Tensor)) {
    if (!is_number_arg(x.node, &number) || graph_scales_operand(k->graph, x.node)) return false;
    if (dtype_bits(x.node->type.dtype) < 16) return false; /* a byte wraps around */
    least += is_op(k, &x, OP_aten_sub_Tensor) ? -number : number;
    x = operand_at(k, &x, 0);
  }
  Range range = WIDE;
  x = through_casts(k, x, &range);
  DType t = x.node->type.dtype;
  return (t == DT_U8 && range.most >= UINT8_MAX && least >= LEAST) ||
         (t == DT_I8 && range.least <= INT8_MIN && least + INT8_MIN >= LEAST);
}

/* A product in f32 of a 16-bit float and a power of two, whose place is *power. */
static bool is_shifted(const Kernel *k, const Element *x, DType half, uint32_t *power) {
  if (!is_op(k, x, OP_aten_mul_Tensor) || x->node->type.dtype != DT_F32 ||
      !is_tensor_arg(x->node, 1))
    return false;
  for (*power = 0; *power < 2; (*power)++)
    if (is_power(k, operand_at(k, x, *power), half)) return true;
  return false;
}

/* Is the element computed of the field and of 16-bit floats by sums and products?  Each is rounded
 * to 16 bits, as the operators are. */
static bool is_of_halves(const Kernel *k, Element x, const FieldForm *f) {
  x = through_views(k, x);
  if (fields_same_element(&x, &f->whole) || is_stored_half(k, &x, f->half)) return true;
  if (is_op(k, &x, OP_aten_to_dtype) && x.node->type.dtype == f->half) {
    uint32_t power;
    x = operand_at(k, &x, 0);
    if (is_shifted(k, &x, f->half, &power)) return is_of_halves(k, operand_at(k, &x, 1 - power), f);
    return fields_same_element(&x, &f->whole);
  }
  bool computed = is_sum_or_product(k, &x) && x.node->type.dtype == f->half &&
                  !graph_scales_operand(k->graph, x.node) && is_tensor_arg(x.node, 1);
  return computed && is_of_halves(k, operand_at(k, &x, 0), f) &&
         is_of_halves(k, operand_at(k, &x, 1), f);
}

static const char *stored_half(Kernel *k, const Element *x, DType half) {
  bool keeps = k->keeps_halves;
  k->keeps_halves = true;
  const char *text = kernel_cast(k, kernel_value(k, x->node, x->at), half);
  k->keeps_halves = keeps;
  return text;
}

/* Loads a scale and a zero point that are neighbors in memory, at an even place, at once. */
static void load_neighbors(Kernel *k, const Element *a, const Element *b, const FieldForm *f) {
  if (!is_stored_half(k, a, f->half) || a->node != b->node || !f->rank) return;
  Dims *d = k->graph->dims;
  const ValueType *t = &a->node->type;
  Dim first = linear_of_index(d, a->at, t->shape, t->rank);
  Dim second = linear_of_index(d, b->at, t->shape, t->rank);
  if (!dim_is(dim_sub(d, second, first), 1) || !dim_divisible(first, 2)) return;
  const char *names[2], *buffer = kernel_buffer(k, a->node), *index;
  index = kernel_index(k, dim_floordiv(d, first, dim_int(d, 2)), NULL);
  for (int i = 0; i < 2; i++) names[i] = kernel_fresh(k, "pair");
  kernel_line(k, "%s, %s = tl.split(tl.load(%s + tl.expand_dims(%s, %u) * 2 + tl.arange(0, 2)))",
              names[0], names[1], buffer, index, f->rank);
  kernel_remember(k, a->node, a->at, (Value){names[0], f->half});
  kernel_remember(k, b->node, b->at, (Value){names[1], f->half});
}

/* It does so for x, if that is a scale's product and a zero point. */
static void note_neighbors(Kernel *k, Element x, const FieldForm *f) {
  x = through_views(k, x);
  for (uint32_t i = 0; i < 2 && is_op(k, &x, OP_aten_add_Tensor); i++) {
    Element product = through_views(k, operand_at(k, &x, i));
    Element more = through_views(k, operand_at(k, &x, 1 - i));
    for (uint32_t j = 0; j < 2 && is_op(k, &product, OP_aten_mul_Tensor); j++) {
      Element scale = through_views(k, operand_at(k, &product, j));
      if (is_stored_half(k, &scale, f->half)) load_neighbors(k, &scale, &more, f);
    }
  }
}

/* The text of such an element, where the field's is `whole`. */
static const char *half_text(Kernel *k, Element x, const FieldForm *f, const char *whole) {
  x = through_views(k, x);
  if (fields_same_element(&x, &f->whole)) return whole;
  if (is_stored_half(k, &x, f->half)) return stored_half(k, &x, f->half);
  uint32_t power;
  if (is_shifted(k, &x, f->half, &power)) {
    Element by = operand_at(k, &x, power);
    const char *text = kernel_cast(k, kernel_value(k, by.node, by.at), f->half);
    return arena_printf(k->arena, "(%s * %s)", half_text(k, operand_at(k, &x, 1 - power), f, whole),
                        text);
  }
  if (is_op(k, &x, OP_aten_to_dtype)) return half_text(k, operand_at(k, &x, 0), f, whole);
  bool adds = graph_is(x.node, OP_aten_add_Tensor), multiplies = is_op(k, &x, OP_aten_mul_Tensor);
  Element a = operand_at(k, &x, 0), b = operand_at(k, &x, 1);
  for (int i = 0; adds && i < 2; i++) {
    const Element *product = i ? &b : &a, *more = i ? &a : &b;
    if (!is_op(k, product, OP_aten_mul_Tensor)) continue;
    const char *factors[2];
    note_neighbors(k, x, f);
    for (uint32_t j = 0; j < 2; j++)
      factors[j] = half_text(k, operand_at(k, product, j), f, whole);
    return arena_printf(k->arena, "scale_halves(%s, %s, %s)", factors[0], factors[1],
                        half_text(k, *more, f, whole));
  }
  const char *left = half_text(k, a, f, whole), *right = half_text(k, b, f, whole);
  return arena_printf(k->arena, "(%s %s %s)", left, multiplies ? "*" : adds ? "+" : "-", right);
}

static bool is_whole_field(const Kernel *k, Element x, const FieldForm *f) {
  x = through_views(k, x);
  if (is_op(k, &x, OP_aten_to_dtype) && x.node->type.dtype == f->half) x = operand_at(k, &x, 0);
  return fields_same_element(&x, &f->whole);
}

bool fields_scaled_at_once(Kernel *k, Node *right, const Dim *index, const FieldForm *f) {
  Element x = through_views(k, element_of(right, index));
  bool found = false;
  for (uint32_t i = 0; i < 2 && !f->less.node && is_op(k, &x, OP_aten_add_Tensor); i++) {
    if (!is_tensor_arg(x.node, 1)) return false;
    Element product = operand_at(k, &x, i), more = operand_at(k, &x, 1 - i);
    if (!is_op(k, &product, OP_aten_mul_Tensor) || !is_tensor_arg(product.node, 1)) continue;
    for (uint32_t j = 0; j < 2 && is_stored_half(k, &more, f->half); j++) {
      Element scale = operand_at(k, &product, j);
      found |= is_stored_half(k, &scale, f->half) &&
               is_whole_field(k, operand_at(k, &product, 1 - j), f);
    }
  }
  return found;
}

/* ---- text ---- */

/* Two fields that are 16 bits apart, the floats with their base. */
static const char *two_fields(Kernel *k, const FieldForm *low, const FieldPair *pair,
                              const char *numbers) {
  const char *text = kernel_cast(k, kernel_value(k, low->word.node, low->word.at), DT_I32);
  const char *names[2] = {kernel_fresh(k, "low"), kernel_fresh(k, "high")};
  if (!dim_is(low->shift, 0))
    text = arena_printf(k->arena, "%s >> (%s)", text, kernel_index(k, low->shift, NULL));
  if (pair->apart < FIELD_BITS)
    text = arena_printf(k->arena, "%s * 0x%x", text, 1 + (1 << (FIELD_BITS - pair->apart)));
  kernel_line(k, "%s, %s = two_fields(%s, %s)", names[0], names[1], text, numbers);
  if (pair->shape)
    return arena_printf(k->arena, "tl.reshape(tl.join(%s, %s), %s)", names[0], names[1],
                        pair->shape);
  return arena_printf(k->arena, "tl.where(%s == 0, %s, %s)", kernel_operand(k, pair->digit),
                      names[0], names[1]);
}

/* The fields of two words, which the tile's last axis has side by side. */
static const char *fields_of_words(Kernel *k, const FieldForm *f, const FieldPair *pair,
                                   const char *masks) {
  const char *word = kernel_cast(k, kernel_value(k, f->masked.node, f->masked.at), DT_I32);
  const char *names[4];
  for (int i = 0; i < 4; i++) names[i] = kernel_fresh(k, i < 2 ? "word" : i == 2 ? "low" : "high");
  kernel_line(k, "%s, %s = tl.split(tl.broadcast_to(%s, %s))", names[0], names[1], word,
              pair->shape);
  kernel_line(k, "%s, %s = two_words(%s, %s, %s)", names[2], names[3], names[0], names[1], masks);
  return arena_printf(k->arena, "tl.join(%s, %s)", names[2], names[3]);
}

/* The field and its base. */
static const char *based_field(Kernel *k, const FieldForm *f, const FieldForm *low,
                               const FieldPair *pair) {
  unsigned long mask = (unsigned long)f->mask, base = f->half == DT_BF16 ? 0x4300 : 0x6400;
  const char *text, *field;
  if (pair->digit) {
    const char *masks = arena_printf(k->arena, "0x%08lx, 0x%08lx, tl.%s", mask << 16 | mask,
                                     base << 16 | base, dtype_lang_name(f->half));
    text = pair->apart ? two_fields(k, low, pair, masks) : fields_of_words(k, f, pair, masks);
  } else {
    const char *word = kernel_cast(k, kernel_value(k, f->masked.node, f->masked.at), DT_I32);
    text = arena_printf(k->arena, "one_field(%s, 0x%lx, 0x%lx, tl.%s)", word, mask, base,
                        dtype_lang_name(f->half));
  }
  field = kernel_fresh(k, "field");
  kernel_line(k, "%s = %s", field, text);
  return field;
}

/* The field without the base and what is subtracted of it, which is exact. */
static const char *whole_field(Kernel *k, const FieldForm *f, const FieldForm *low,
                               const FieldPair *pair) {
  const char *based = based_field(k, f, low, pair), *whole = kernel_fresh(k, "whole");
  long long minus = base_of(f->half) + f->minus;
  if (f->less.node) {
    const char *less = kernel_cast(k, kernel_value(k, f->less.node, f->less.at), DT_I32);
    kernel_line(k, "%s = %s - (%s + %lld).to(tl.float32).to(tl.%s)", whole, based, less, minus,
                dtype_lang_name(f->half));
  } else {
    kernel_line(k, "%s = %s - %lld.0", whole, based, minus);
  }
  return whole;
}

const char *fields_of_bytes(Kernel *k, Node *right, const Dim *index) {
  Element x = through_views(k, element_of(right, index));
  if (right->type.dtype != DT_BF16 || !is_op(k, &x, OP_aten_to_dtype)) return NULL;
  x = operand_at(k, &x, 0);
  if (x.node->type.dtype != DT_I8 || is_computed(k, x.node)) return NULL;
  Value v = kernel_value(k, x.node, x.at);
  return v.dtype == DT_I8 ? arena_printf(k->arena, "floats_of_bytes(%s)", v.text) : NULL;
}

const char *fields_table(Kernel *k, const FieldForm *form) {
  return arena_printf(k->arena, "    table = bytes_of_table(%s)\n", kernel_buffer(k, form->table));
}

/* What two bytes' fields choose. */
static const char *chosen_numbers(Kernel *k, const FieldForm *f, const FieldForm *low,
                                  const FieldPair *pair) {
  const char *text = kernel_cast(k, kernel_value(k, low->word.node, low->word.at), DT_I32);
  const char *names[2] = {kernel_fresh(k, "low"), kernel_fresh(k, "high")};
  const char *type = dtype_lang_name(f->half), *whole = kernel_fresh(k, "whole");
  kernel_line(k, "%s, %s = tl.split(tl.reshape(%s, %s))", names[0], names[1], text, pair->bytes);
  kernel_line(k, "%s = tl.reshape(choose_numbers(%s + %s * 256, table, tl.%s), %s)", whole,
              names[0], names[1], type, pair->shape);
  return whole;
}

/* ---- weights as scale * field + offset ---- */

/* A sum and product of the field and of 16-bit floats, in f32. */
typedef struct {
  bool field;               /* it has the field */
  const char *scale, *more; /* NULL: 1, and 0 */
} Linear;

typedef struct {
  Kernel *k;
  const FieldForm *form;
  const Dim *digits; /* on which no float depends */
  uint32_t n;
} LinearForm;

static bool is_constant(const LinearForm *l, const Element *x) {
  for (uint32_t a = 0; a < x->node->type.rank; a++)
    for (uint32_t i = 0; i < l->n; i++)
      if (dim_mentions(x->at[a], l->digits[i])) return false;
  return true;
}

/* The element below a cast of the field, which is exact; *cast: there is one. */
static Element below_cast(const LinearForm *l, Element x, bool *cast) {
  x = through_views(l->k, x);
  *cast = is_op(l->k, &x, OP_aten_to_dtype) && x.node->type.dtype == l->form->half;
  return *cast ? operand_at(l->k, &x, 0) : x;
}

typedef enum { NOT_LINEAR, CONSTANT, LINEAR } Kind;

/* x is of halves. */
static Kind linear_kind(const LinearForm *l, Element x) {
  bool cast;
  x = below_cast(l, x, &cast);
  if (fields_same_element(&x, &l->form->whole)) return LINEAR;
  if (cast) return NOT_LINEAR;
  if (is_stored_half(l->k, &x, l->form->half)) return is_constant(l, &x) ? CONSTANT : NOT_LINEAR;
  Kind a = linear_kind(l, operand_at(l->k, &x, 0)), b = linear_kind(l, operand_at(l->k, &x, 1));
  if (!a || !b || (a == LINEAR && b == LINEAR)) return NOT_LINEAR;
  if (b == LINEAR && is_op(l->k, &x, OP_aten_sub_Tensor)) return NOT_LINEAR;
  return a == LINEAR || b == LINEAR ? LINEAR : CONSTANT;
}

static const char *joined(Kernel *k, const char *a, const char *op, const char *b) {
  return arena_printf(k->arena, "(%s %s %s)", a, op, b);
}

/* What linear_kind finds is, in f32. */
static Linear read_linear(const LinearForm *l, Element x) {
  Kernel *k = l->k;
  bool cast;
  x = below_cast(l, x, &cast);
  if (fields_same_element(&x, &l->form->whole)) return (Linear){.field = true};
  if (is_stored_half(k, &x, l->form->half))
    return (Linear){.more = kernel_cast(k, kernel_value(k, x.node, x.at), DT_F32)};
  bool adds = is_op(k, &x, OP_aten_add_Tensor);
  Linear a = read_linear(l, operand_at(k, &x, 0)), b = read_linear(l, operand_at(k, &x, 1));
  Linear y = b.field ? b : a;
  const char *other = b.field ? a.more : b.more;
  if (is_op(k, &x, OP_aten_mul_Tensor)) {
    if (y.field) y.scale = y.scale ? joined(k, y.scale, "*", other) : other;
    if (y.more) y.more = joined(k, y.more, "*", other);
  } else if (y.more) {
    y.more = joined(k, y.more, adds ? "+" : "-", other);
  } else {
    y.more = adds ? other : arena_printf(k->arena, "(-%s)", other);
  }
  return y;
}

/* What is subtracted of the field and its base. */
static const char *zero_point(Kernel *k, const FieldForm *f) {
  long long minus = base_of(f->half) + f->minus;
  if (!f->less.node) return arena_printf(k->arena, "%lld.0", minus);
  const char *less = kernel_cast(k, kernel_value(k, f->less.node, f->less.at), DT_I32);
  return arena_printf(k->arena, "(%s + %lld).to(tl.float32)", less, minus);
}

bool fields_sum(Kernel *k, Node *right, const Dim *index, const FieldForm *f,
                const FieldForm *low, const FieldPair *pair, const Dim *digits, uint32_t n,
                FieldSum *sum) {
  LinearForm form = {k, f, digits, n};
  Element x = element_of(right, index);
  if (f->table || !pair->digit || !pair->shape || !is_of_halves(k, x, f)) return false;
  if (f->less.node && !is_constant(&form, &f->less)) return false;
  if (linear_kind(&form, x) != LINEAR) return false;
  note_neighbors(k, x, f);
  Linear l = read_linear(&form, x);
  const char *zero = zero_point(k, f);
  *sum = (FieldSum){.field = based_field(k, f, low, pair), .scale = l.scale};
  const char *product = l.scale ? joined(k, l.scale, "*", zero) : zero;
  sum->offset = l.more ? joined(k, l.more, "-", product) : arena_printf(k->arena, "(-%s)", product);
  return true;
}

const char *fields_value(Kernel *k, Node *right, const Dim *index, const FieldForm *f,
                         const FieldForm *low, const FieldPair *pair) {
  if (f->table && !pair->bytes) return NULL;
  const char *whole =
      f->table ? chosen_numbers(k, f, low, pair) : whole_field(k, f, low, pair);
  Element x = element_of(right, index);
  if (is_of_halves(k, x, f)) return half_text(k, x, f, whole);
  kernel_remember(k, f->whole.node, f->whole.at, (Value){whole, f->half});
  return NULL;
}
