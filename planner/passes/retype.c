/* A model in another floating dtype: as if `model.to(dtype)` had been called before its export.
 *
 * The model's own dtype is that of most elements of its parameters.  Inputs, weights and tensors
 * that the graph makes from numbers become `dtype`; integers and booleans stay.  Casts follow these
 * rules:
 *
 *   - a cast to the own dtype becomes one to `dtype`;
 *   - but a model in f32 says `x.to(float32)` where it means "precisely", which changes nothing
 *     there: such a cast stays, as one of integers does, and the next on its way goes back;
 *   - there the exporter takes x and x.to(float32) for one value: after the cast back, x is
 *     meant;
 *   - a cast to any other dtype stays (RMS norm in f32, in a model that is in bf16).
 *
 * Where an operator takes tensors of one dtype only, and now gets some that stayed, these are
 * cast back.  Numbers that are the limits of the own dtype (masks have them) become those of
 * `dtype`.
 *
 * Comes before the passes, on a graph whose nodes have types. */
#include "planner/passes.h"

#include <math.h>
#include <string.h>

#include "graph/ops/graph_text.h"
#include "graph/ops/infer_rules.h"
#include "planner/messages.h"

/* Facts of a node of the original graph, by id. */
typedef struct {
  DType before;  /* of a tensor, in the file */
  bool raised;   /* a cast that stayed, for precision */
  bool walked;   /* what was raised for it is no longer */
  bool ended;    /* a raised cast: its users from now on use its operand */
  Node *lowered; /* it, cast back */
} Known;

typedef struct {
  Graph *g;
  DType own, to;
  uint32_t nids;
  Known *known;
  VEC(Node *) stack;
} Retype;

/* ---- the model's own dtype ---- */

static int64_t static_numel(const ValueType *t) {
  int64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++)
    if (dim_is_int(t->shape[i]) && __builtin_mul_overflow(n, t->shape[i]->value, &n))
      return INT64_MAX / 2;
  return n;
}

static bool is_float_tensor(const Node *n) {
  return n->type.kind == VALUE_TENSOR && dtype_is_float(n->type.dtype);
}

/* The dtype of most elements: of weights, or else of the inputs that the caller passes. */
static DType most_common(const Graph *g, bool weights) {
  double counts[DT_COUNT] = {0};
  DType most = DT_NONE;
  for (const Node *n = g->first; n; n = n->next) {
    if (n->kind != NODE_INPUT || !is_float_tensor(n)) continue;
    if ((n->input.kind != INPUT_USER) != weights) continue;
    counts[n->type.dtype] += (double)static_numel(&n->type);
    if (most == DT_NONE || counts[n->type.dtype] > counts[most]) most = n->type.dtype;
  }
  return most;
}

static DType own_dtype(const Graph *g) {
  DType t = most_common(g, true);
  if (t == DT_NONE) t = most_common(g, false);
  return t == DT_NONE ? DT_F32 : t;
}

/* ---- arguments ---- */

/* The argument of n that is a dtype; NULL if none is. */
static Arg *dtype_arg(Graph *g, Node *n) {
  for (uint32_t i = 0; i < n->nnamed; i++)
    if (!strcmp(n->named[i].name, "dtype")) return &n->named[i].value;
  int at = ops_param(ops_schema(g, n->op), "dtype");
  return at >= 0 && (uint32_t)at < n->nargs ? &n->args[at] : NULL;
}

static Arg dtype_value(Graph *g, DType t) {
  return (Arg){.kind = ARG_DTYPE, .dtype = t, .name = pool_name(g->names, dtype_torch_name(t))};
}

static void name_dtype(Graph *g, Node *n, DType t) {
  NamedArg *named = ARENA_ARRAY(g->arena, NamedArg, n->nnamed + 1);
  if (n->nnamed) memcpy(named, n->named, n->nnamed * sizeof *named);
  named[n->nnamed].name = pool_name(g->names, "dtype");
  named[n->nnamed].value = dtype_value(g, t);
  n->named = named;
  n->nnamed++;
}

/* The largest number of the model's own dtype, as masks have it, becomes that of the other; so does
 * a larger one that is made an element, which eager mode would refuse. */
static void clip_number(const Retype *r, Arg *a, bool element) {
  if (a->kind != ARG_FLOAT || !isfinite(a->number)) return;
  double size = fabs(a->number), largest = dtype_largest_finite(r->to);
  if (size == dtype_largest_finite(r->own) || (element && size > largest))
    a->number = copysign(largest, a->number);
}

static bool makes_elements(const Node *n) {
  static const OpId fills[] = {OP_aten_fill_Scalar,     OP_aten_full_default,
                               OP_aten_full_like_default, OP_aten_masked_fill_Scalar,
                               OP_aten_new_full_default};
  const GraphOp *op = n->op->functional ? n->op->functional : n->op;
  for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
    if (op->id == fills[i]) return true;
  return false;
}

static void clip_numbers(const Retype *r, Node *n) {
  bool elements = makes_elements(n);
  for (uint32_t i = 0; i < n->nargs; i++) clip_number(r, &n->args[i], elements);
  for (uint32_t i = 0; i < n->nnamed; i++) clip_number(r, &n->named[i].value, elements);
}

/* ---- dtypes that nodes name ---- */

typedef void Rule(Infer *in);

static bool is_one_of(const Node *n, Rule *const *rules, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (n->op->infer == rules[i]) return true;
  return false;
}

#define IS_ONE_OF(n, rules) is_one_of(n, rules, sizeof(rules) / sizeof *(rules))

static Node *first_tensor_arg(const Node *n) {
  return n->nargs && n->args[0].kind == ARG_NODE && n->args[0].node->type.kind == VALUE_TENSOR
             ? n->args[0].node
             : NULL;
}

static DType dtype_before(const Retype *r, const Node *x) {
  return x->id < r->nids ? r->known[x->id].before : x->type.dtype;
}

/* Is x in the own dtype as before, and not in the new one? */
static bool stayed(const Retype *r, const Node *x) {
  return x->id < r->nids && is_float_tensor(x) && dtype_before(r, x) == r->own &&
         x->type.dtype != r->to;
}

/* ---- what is computed precisely ---- */

static void push_use(Node **use, void *ctx) {
  Retype *r = ctx;
  if (stayed(r, *use) && !r->known[(*use)->id].walked) vec_push(r->g->arena, &r->stack, *use);
}

/* x is cast back: so ends what was raised for it. */
static void end_raised(Retype *r, Node *x) {
  r->stack.len = 0;
  push_use(&x, r);
  while (r->stack.len) {
    Node *n = r->stack.data[--r->stack.len];
    Known *k = &r->known[n->id];
    k->walked = true;
    if (k->raised) k->ended = true;
    else graph_each_use(n, push_use, r);
  }
}

static void replace_ended(Node **use, void *ctx) {
  const Retype *r = ctx;
  const Node *x = *use;
  if (x->id < r->nids && r->known[x->id].ended) *use = x->args[0].node;
}

/* `.to(device)` is exported with the dtype that is there. */
static bool only_moves(const Retype *r, const Node *n, const Node *x, DType said) {
  return graph_is(n, OP_aten_to_dtype_layout) && dtype_before(r, x) == said;
}

static DType cast_target(Retype *r, const Node *n, DType said) {
  Node *x = first_tensor_arg(n);
  if (x && only_moves(r, n, x, said)) return x->type.dtype;
  if (said != r->own) return said;
  if (dtype_bits(r->own) < 32 || r->own == r->to || !x) return r->to;
  if (!dtype_is_float(dtype_before(r, x))) return said;
  bool raise = x->type.dtype == r->to;
  if (raise) r->known[n->id].raised = true;
  else end_raised(r, x);
  return raise ? said : r->to;
}

/* Ops that make tensors from numbers.  Ranges are left out: positions need all their bits. */
static Rule *const creating[] = {infer_filled,  infer_like,          infer_new,     infer_eye,
                                 infer_randint, infer_scalar_tensor, infer_randperm};

static DType named_dtype(Retype *r, const Node *n, DType said) {
  if (n->op->infer == infer_nothing && first_tensor_arg(n)) return first_tensor_arg(n)->type.dtype;
  if (n->op->infer == infer_to) return cast_target(r, n, said);
  bool follows = dtype_bits(r->own) < 32 || IS_ONE_OF(n, creating);
  return said == r->own && follows ? r->to : said;
}

static bool looks_at_bits(const Retype *r, const Node *n) {
  const Node *x = first_tensor_arg(n);
  if (n->op->infer != infer_view_dtype) return false;
  return is_float_tensor(n) || (x && dtype_is_float(dtype_before(r, x)));
}

/* Without a dtype, what is made from numbers alone is in f32. */
static bool is_made_plain(const Retype *r, const Node *n) {
  bool plain = n->op->infer == infer_filled || n->op->infer == infer_scalar_tensor;
  return plain && is_float_tensor(n) && n->type.dtype == r->own;
}

static void retype_names(Retype *r, Node *n) {
  Arg *a = dtype_arg(r->g, n);
  if (a && a->kind == ARG_DTYPE) *a = dtype_value(r->g, named_dtype(r, n, a->dtype));
  else if (!a && is_made_plain(r, n)) name_dtype(r->g, n, r->to);
  clip_numbers(r, n);
}

/* ---- operands that shall be of one dtype ---- */

/* Rules that bring operands to one dtype by themselves. */
/* clang-format off */
static Rule *const promoting[] = {
    infer_binary,   infer_subtract, infer_bitwise,  infer_binary_float,    infer_divide,
    infer_compare,  infer_ternary,  infer_clamp,    infer_where,           infer_cat,
    infer_stack,    infer_hstack,   infer_vstack,   infer_view_as,         infer_expand_as,
    infer_to_other, infer_outer,    infer_in_place, infer_binary_in_place, infer_subtract_in_place,
    infer_to,       infer_divide_in_place,          infer_clamp_in_place};
/* clang-format on */

/* These refuse operands of several dtypes, although their rules would bring them to one. */
static bool asks_one_dtype(const Node *n) {
  const GraphOp *op = n->op->functional ? n->op->functional : n->op;
  return op->id == OP_aten_heaviside_default || op->id == OP_aten_isclose_default;
}

typedef struct {
  Retype *r;
  Node *n;
  bool stayed, follows; /* of operands in the own dtype before: some are in it, some are not */
} Operands;

static void note_operand_dtype(Node **use, void *ctx) {
  Operands *o = ctx;
  const Node *x = *use;
  if (stayed(o->r, x)) o->stayed = true;
  else if (is_float_tensor(x) && x->type.dtype == o->r->to) o->follows = true;
}

static Node *cast_before(Retype *r, Node *n, Node *x) {
  Graph *g = r->g;
  Node *cast = graph_node(g, NODE_CALL, n, 2, 0);
  cast->op = ops_at(OP_aten_to_dtype);
  cast->args[0] = arg_node(x);
  cast->args[1] = dtype_value(g, r->to);
  cast->type = x->type;
  cast->type.dtype = r->to;
  cast->location = n->location;
  cast->origin = n->origin;
  graph_fresh_name(g, cast, "to");
  return cast;
}

/* x in the new dtype, for n and later nodes. */
static Node *lower_value(Retype *r, Node *n, Node *x) {
  Known *k = &r->known[x->id];
  if (k->raised) return x->args[0].node;
  end_raised(r, x);
  if (!k->lowered) k->lowered = cast_before(r, n, x);
  return k->lowered;
}

static void lower_operand(Node **use, void *ctx) {
  Operands *o = ctx;
  if (stayed(o->r, *use)) *use = lower_value(o->r, o->n, *use);
}

static void unite_operands(Retype *r, Node *n) {
  Operands o = {.r = r, .n = n};
  if (IS_ONE_OF(n, promoting) && !asks_one_dtype(n)) return;
  graph_each_use(n, note_operand_dtype, &o);
  if (o.stayed && o.follows) graph_each_use(n, lower_operand, &o);
}

/* ---- types ---- */

/* The shapes of `said`, which may be more precise, with the dtypes of `inferred`. */
static ValueType merge_types(Graph *g, const ValueType *said, const ValueType *inferred) {
  ValueType t = *said;
  if (said->kind == VALUE_TENSOR) t.dtype = inferred->dtype;
  if (said->kind != VALUE_LIST) return t;
  ValueType *items = ARENA_ARRAY(g->arena, ValueType, said->nitems);
  for (uint32_t i = 0; i < said->nitems; i++)
    items[i] = i < inferred->nitems ? merge_types(g, &said->items[i], &inferred->items[i])
                                    : said->items[i];
  t.items = items;
  return t;
}

static bool retype_call(Retype *r, Node *n) {
  ValueType inferred;
  if (n->kind == NODE_CALL) {
    if (looks_at_bits(r, n)) {
      diag_error(r->g->diags, n->location, E_GRAPH_RETYPE_BITS, n->name);
      return false;
    }
    retype_names(r, n);
    unite_operands(r, n);
  }
  if (!infer_node(r->g, n, &inferred)) return false;
  n->type = merge_types(r->g, &n->type, &inferred);
  return true;
}

/* The new value of an input or a buffer is of its type. */
static void retype_outputs(Retype *r) {
  Node *last = r->g->last;
  if (!last || last->kind != NODE_OUTPUT || !r->g->outputs) return;
  Arg *list = &last->args[0];
  for (uint32_t i = 0; i < list->n; i++) {
    const OutputSpec *spec = &r->g->outputs[i];
    if (spec->kind != OUTPUT_MUTATION || list->items[i].kind != ARG_NODE) continue;
    Node *x = list->items[i].node;
    if (x->type.dtype != spec->target->type.dtype && is_float_tensor(x))
      list->items[i] = arg_node(stayed(r, x) ? lower_value(r, last, x) : cast_before(r, last, x));
  }
}

static bool has_real_numbers(const Graph *g) {
  for (const Node *n = g->first; n; n = n->next)
    if (n->type.is_complex)
      return diag_error(g->diags, n->location, E_GRAPH_RETYPE_COMPLEX, n->name), false;
  return true;
}

bool graph_retype(Graph *g, DType dtype) {
  if (!has_real_numbers(g)) return false;
  Retype r = {.g = g, .own = own_dtype(g), .to = dtype, .nids = g->nids};
  r.known = ARENA_ARRAY(g->arena, Known, g->nids);
  for (const Node *n = g->first; n; n = n->next)
    r.known[n->id].before = n->type.kind == VALUE_TENSOR ? n->type.dtype : DT_NONE;
  bool good = true;
  for (Node *n = g->first; n; n = n->next) {
    if (n->kind == NODE_INPUT && is_float_tensor(n)) n->type.dtype = dtype;
    graph_each_use(n, replace_ended, &r);
    if (n->kind == NODE_CALL || n->kind == NODE_GETITEM) good &= retype_call(&r, n);
  }
  retype_outputs(&r);
  return good;
}
