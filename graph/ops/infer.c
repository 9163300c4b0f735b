#include "graph/ops/infer.h"

#include <string.h>

#include "graph/ir/graph.h"
#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

/* Symbols of sizes that are defined at a node: those of inputs' types, and of the types of nodes
 * before it.  A symbol of an annotation alone could never be computed in a run. */
typedef struct {
  Arena *arena;
  VEC(bool) met; /* by a symbol's number */
} Symbols;

static bool is_met(const Symbols *s, Dim x) {
  if (x->kind == DIM_SYMBOL) return x->symbol < s->met.len && s->met.data[x->symbol];
  bool all = true;
  for (uint32_t i = 0; i < x->n && all; i++) all = is_met(s, x->args[i]);
  return all;
}

static void mark_symbols_met(Symbols *s, Dim x) {
  if (x->kind == DIM_SYMBOL) {
    while (s->met.len <= x->symbol) vec_push(s->arena, &s->met, false);
    s->met.data[x->symbol] = true;
  }
  for (uint32_t i = 0; i < x->n; i++) mark_symbols_met(s, x->args[i]);
}

static void symbols_meet(Symbols *s, const ValueType *t) {
  if (t->kind == VALUE_INT && t->value) mark_symbols_met(s, t->value);
  for (uint32_t i = 0; t->kind == VALUE_TENSOR && i < t->rank; i++)
    mark_symbols_met(s, t->shape[i]);
  for (uint32_t i = 0; t->kind == VALUE_LIST && i < t->nitems; i++) symbols_meet(s, &t->items[i]);
}

static Dim preferred_size(const Symbols *s, Dim said, Dim inferred) {
  return !is_met(s, said) && is_met(s, inferred) ? inferred : said;
}

/* Sizes of an annotation whose symbols have no meaning yet become the inferred ones that have. */
static void symbols_settle(const Symbols *s, Graph *g, ValueType *said, const ValueType *inferred) {
  if (said->kind != inferred->kind) return;
  if (said->kind == VALUE_INT && said->value && inferred->value)
    said->value = preferred_size(s, said->value, inferred->value);
  if (said->kind != VALUE_TENSOR || said->rank != inferred->rank) return;
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < said->rank; i++)
    shape[i] = preferred_size(s, said->shape[i], inferred->shape[i]);
  if (said->rank && memcmp(shape, said->shape, said->rank * sizeof *shape) != 0)
    said->shape = value_tensor(g, said->dtype, said->rank, shape).shape;
}

static Dim open_in(const Symbols *s, const Arg *a) {
  if (a->kind == ARG_INT) return is_met(s, a->dim) ? NULL : a->dim;
  Dim open = NULL;
  for (uint32_t i = 0; a->kind == ARG_LIST && i < a->n && !open; i++)
    open = open_in(s, &a->items[i]);
  return open;
}

/* A size among n's arguments that has no meaning; NULL if all have. */
static Dim symbols_open(const Symbols *s, const Node *n) {
  Dim open = NULL;
  for (uint32_t i = 0; i < n->nargs && !open; i++) open = open_in(s, &n->args[i]);
  for (uint32_t i = 0; i < n->nnamed && !open; i++) open = open_in(s, &n->named[i].value);
  return open;
}

/* args[0][args[1]] */
static void infer_getitem(Infer *in) {
  const Node *n = in->n;
  if (n->nargs != 2 || n->args[0].kind != ARG_NODE || n->args[1].kind != ARG_INT ||
      n->args[0].node->type.kind != VALUE_LIST || !dim_is_int(n->args[1].dim))
    infer_fail(in, E_GRAPH_GETITEM);
  const ValueType *list = &n->args[0].node->type;
  int64_t i = n->args[1].dim->value;
  if (i < 0 || i >= list->nitems) infer_fail(in, E_GRAPH_ITEM, (long long)i, list->nitems);
  in->result = list->items[i];
}

/* ---- sizes that are too large ---- */

static bool is_huge(Dim x) { return x->kind == DIM_HUGE; }

static bool is_countable(Graph *g, const ValueType *t) {
  if (t->kind == VALUE_TENSOR) return value_is_countable(g, t);
  for (uint32_t i = 0; t->kind == VALUE_LIST && i < t->nitems; i++)
    if (!is_countable(g, &t->items[i])) return false;
  return t->kind != VALUE_INT || !t->value || !is_huge(t->value);
}

static bool has_huge(const Arg *a) {
  bool found = a->kind == ARG_INT && is_huge(a->dim);
  for (uint32_t i = 0; a->kind == ARG_LIST && i < a->n && !found; i++)
    found = has_huge(&a->items[i]);
  return found;
}

static void check_huge_args(Infer *in) {
  bool huge = false;
  for (uint32_t i = 0; i < in->n->nargs; i++) huge |= has_huge(&in->n->args[i]);
  for (uint32_t i = 0; i < in->n->nnamed; i++) huge |= has_huge(&in->n->named[i].value);
  if (huge) infer_fail(in, E_GRAPH_HUGE, "a size");
}

/* ---- complex numbers ---- */

/* What a call's operands, and its arguments that are dtypes, say. */
typedef struct {
  bool operand; /* an operand is complex */
  bool dtype, complex_dtype;
} ComplexArguments;

static void find_complex_in(const Arg *a, ComplexArguments *found) {
  if (a->kind == ARG_NODE) {
    const ValueType *t = &a->node->type;
    found->operand |= t->is_complex;
    for (uint32_t i = 0; t->kind == VALUE_LIST && i < t->nitems; i++)
      found->operand |= t->items[i].is_complex;
  }
  found->dtype |= a->kind == ARG_DTYPE;
  found->complex_dtype |= a->kind == ARG_DTYPE && a->is_complex;
  for (uint32_t i = 0; a->kind == ARG_LIST && i < a->n; i++) find_complex_in(&a->items[i], found);
}

static ComplexArguments find_complex(const Node *n) {
  ComplexArguments found = {0};
  for (uint32_t i = 0; i < n->nargs; i++) find_complex_in(&n->args[i], &found);
  for (uint32_t i = 0; i < n->nnamed; i++) find_complex_in(&n->named[i].value, &found);
  return found;
}

/* Integers of a list of results stay real. */
static void set_complex(ValueType *t, bool is_complex) {
  t->is_complex = is_complex && t->kind == VALUE_TENSOR && dtype_is_float(t->dtype);
  if (t->kind != VALUE_LIST) return;
  for (uint32_t i = 0; i < t->nitems; i++) set_complex((ValueType *)&t->items[i], is_complex);
}

/* Type rules see the parts of complex numbers only; here their results become complex. */
static void infer_call(Infer *in) {
  const GraphOp *op = in->n->op;
  ComplexArguments found = find_complex(in->n);
  ComplexResult result = ops_complex_result(op);
  if ((found.operand || found.complex_dtype) && result == COMPLEX_REFUSED && !op->asserts)
    infer_fail(in, E_GRAPH_COMPLEX);
  op->infer(in);
  if (result == COMPLEX_AS_BUILT) return;
  bool same = found.dtype ? found.complex_dtype : found.operand;
  bool is_complex = result == COMPLEX_ALWAYS || (result == COMPLEX_SAME && same);
  const ValueType *t = &in->result;
  if (is_complex && t->kind == VALUE_TENSOR && t->dtype != DT_F32 && t->dtype != DT_F64)
    infer_fail(in, E_GRAPH_COMPLEX_PARTS, infer_type_text(in, t));
  if (is_complex || found.operand) set_complex(&in->result, is_complex);
}

bool infer_node(Graph *g, Node *n, ValueType *out) {
  Infer in = {.g = g, .n = n};
  if (n->kind == NODE_CALL && !ops_check(g, n)) return false;
  if (setjmp(in.failed)) return false;
  check_huge_args(&in);
  if (n->kind == NODE_CALL) {
    in.schema = ops_schema(g, n->op);
    infer_call(&in);
  } else {
    infer_getitem(&in);
  }
  if (!is_countable(g, &in.result)) infer_fail(&in, E_GRAPH_HUGE, "the number of elements");
  *out = in.result;
  return true;
}

/* ---- the graph ---- */

static bool is_number_type(const ValueType *t) {
  return t->kind == VALUE_INT || t->kind == VALUE_FLOAT || t->kind == VALUE_BOOL;
}

/* Can a value be of both types?  Annotations may say what inference cannot know: which way a
 * branch on a size went, and the name of a number that data decides. */
static bool agree(Graph *g, const ValueType *said, const ValueType *inferred) {
  if (said->kind == VALUE_INT && inferred->kind == VALUE_INT && said->value && inferred->value)
    return infer_may_equal(g, said->value, inferred->value);
  if (is_number_type(said) && is_number_type(inferred)) return true;
  if (said->kind != VALUE_TENSOR || inferred->kind != VALUE_TENSOR)
    return said->kind == inferred->kind;
  if (said->dtype != inferred->dtype || said->is_complex != inferred->is_complex) return false;
  if (said->rank != inferred->rank) return false;
  for (uint32_t i = 0; i < said->rank; i++)
    if (!infer_may_equal(g, said->shape[i], inferred->shape[i])) return false;
  return true;
}

/* Notes the equal sizes of types that agree. */
static void note_equal_sizes(Graph *g, const Node *n, const ValueType *inferred) {
  const ValueType *said = &n->type;
  if (said->kind == VALUE_INT && inferred->kind == VALUE_INT && said->value && inferred->value)
    infer_note_equal(g, said->value, inferred->value, n->name);
  for (uint32_t i = 0; said->kind == VALUE_TENSOR && i < said->rank; i++)
    infer_note_equal(g, said->shape[i], inferred->shape[i], n->name);
}

static const char *text_of(Graph *g, const ValueType *t) {
  Text text = text_new(g->arena);
  value_type_print(&text, t);
  return text.data;
}

/* The reader takes Sym(zuf0) for an integer, whose kind inference knows better. */
static ValueType as_kind(Graph *g, const ValueType *said, ValueKind kind) {
  Text text = text_new(g->arena);
  if (said->kind == VALUE_INT && said->value) dim_print(&text, said->value);
  Name symbolic = text.data ? pool_name(g->names, text.data) : said->symbolic;
  return (ValueType){.kind = kind, .symbolic = symbolic};
}

/* PyTorch's type of one of several results may be that of another kernel: its LSTM for CPUs has
 * states with an axis more, and sums of bags leave other results out. */
static bool is_other_kernels(const Node *n, const ValueType *inferred) {
  return n->kind == NODE_GETITEM && n->type.kind == VALUE_TENSOR &&
         inferred->kind == VALUE_TENSOR && n->type.dtype == inferred->dtype &&
         n->type.is_complex == inferred->is_complex;
}

/* Results that the file's graph does not use have no type there. */
static void complete_list(Graph *g, ValueType *said, const ValueType *inferred) {
  if (said->kind != VALUE_LIST || inferred->kind != VALUE_LIST) return;
  if (said->nitems != inferred->nitems) return;
  ValueType *items = ARENA_ARRAY(g->arena, ValueType, said->nitems);
  for (uint32_t i = 0; i < said->nitems; i++) {
    bool known = said->items[i].kind != VALUE_NONE && said->items[i].kind != VALUE_UNKNOWN;
    items[i] = known ? said->items[i] : inferred->items[i];
  }
  said->items = items;
}

typedef struct {
  const bool *wide; /* by node id */
  bool found;
} WideOperands;

static void find_wide(Node **use, void *ctx) {
  WideOperands *w = ctx;
  w->found |= w->wide[(*use)->id];
}

/* FlexAttention's sums of doubles are f64, and so is what is computed of them; PyTorch's rule for
 * fake tensors says f32. */
static bool is_of_wide_sums(Node *n, const ValueType *inferred, const bool *wide) {
  if (n->type.kind != VALUE_TENSOR || inferred->kind != VALUE_TENSOR) return false;
  if (n->type.dtype != DT_F32 || inferred->dtype != DT_F64) return false;
  if (n->kind == NODE_GETITEM) return graph_is(n->args[0].node, OP_nereid_flex_attention_default);
  WideOperands w = {wide, false};
  graph_each_use(n, find_wide, &w);
  return w.found;
}

static bool settle_type(Graph *g, Node *n, const ValueType *inferred, const Symbols *symbols,
                        bool *wide) {
  complete_list(g, &n->type, inferred);
  ValueKind said = n->type.kind;
  bool number = inferred->kind == VALUE_FLOAT || inferred->kind == VALUE_BOOL;
  if (said == VALUE_UNKNOWN) n->type = *inferred;
  else if (number && said != inferred->kind && is_number_type(&n->type))
    n->type = as_kind(g, &n->type, inferred->kind);
  if (is_of_wide_sums(n, inferred, wide)) {
    n->type.dtype = DT_F64;
    wide[n->id] = true;
  }
  symbols_settle(symbols, g, &n->type, inferred);
  bool agrees = agree(g, &n->type, inferred);
  if (!agrees && is_other_kernels(n, inferred)) {
    n->type = *inferred;
    agrees = true;
  }
  /* A number that is known needs no symbol, which may stand nowhere else. */
  bool known = inferred->kind == VALUE_INT && inferred->value && dim_is_int(inferred->value);
  if (agrees && known && n->type.kind == VALUE_INT) n->type.value = inferred->value;
  if (agrees) note_equal_sizes(g, n, inferred);
  if (agrees) return true;
  diag_error(g->diags, n->location, E_GRAPH_TYPE_DIFFERS, n->name ? n->name : "?",
             text_of(g, &n->type), text_of(g, inferred));
  return false;
}

static void find_unknown(Node **use, void *ctx) {
  bool *found = ctx;
  *found |= (*use)->type.kind == VALUE_UNKNOWN;
}

/* Arguments may be sizes whose symbols stand in the node's annotation only. */
static bool check_symbols(Graph *g, const Node *n, const Symbols *symbols) {
  Dim open = symbols_open(symbols, n);
  if (!open) return true;
  Text text = text_new(g->arena);
  dim_print(&text, open);
  diag_error(g->diags, n->location, E_GRAPH_OPEN_SIZE, text.data);
  return false;
}

static bool infer_next(Graph *g, Node *n, const Symbols *symbols, bool *wide) {
  ValueType inferred = {0};
  bool unknown = n->kind == NODE_CALL && !n->op->schema;
  graph_each_use(n, find_unknown, &unknown);
  if (unknown) return false;
  return infer_node(g, n, &inferred) && settle_type(g, n, &inferred, symbols, wide);
}

static bool check_input(Graph *g, const Node *n) {
  const char *name = n->name ? n->name : "?";
  if (n->type.kind == VALUE_UNKNOWN)
    diag_error(g->diags, n->location, E_GRAPH_INPUT_TYPE, name, name);
  return n->type.kind != VALUE_UNKNOWN;
}

/* Annotations too may have sizes whose product overflows. */
static bool check_said(Graph *g, const Node *n) {
  if (is_countable(g, &n->type)) return true;
  const char *what =
      arena_printf(g->arena, "the number of elements of %s", n->name ? n->name : "?");
  diag_error(g->diags, n->location, E_GRAPH_HUGE, what);
  return false;
}

typedef struct {
  Graph *g;
  bool good;
} Returned;

static void check_returned(Node **use, void *ctx) {
  Returned *r = ctx;
  const Node *n = *use;
  if (n->kind != NODE_CALL || n->type.kind != VALUE_NONE) return;
  diag_error(r->g->diags, n->location, E_GRAPH_OUTPUT_KIND, n->name);
  r->good = false;
}

/* A check's result can't be returned. */
static bool check_returned_values(Graph *g, Node *n) {
  Returned r = {g, true};
  graph_each_use(n, check_returned, &r);
  return r.good;
}

bool infer_model(Graph *g) {
  g->notes_relations = true;
  bool ok = infer_graph(g);
  g->notes_relations = false;
  return ok;
}

bool infer_graph(Graph *g) {
  bool ok = true;
  Symbols symbols = {.arena = g->arena};
  bool *wide = ARENA_ARRAY(g->arena, bool, g->nids + 1);
  memset(wide, 0, g->nids + 1);
  for (Node *n = g->first; n; n = n->next) {
    bool good = true;
    if (n->kind == NODE_INPUT) good = check_input(g, n);
    if (n->kind == NODE_CALL || n->kind == NODE_GETITEM) good = infer_next(g, n, &symbols, wide);
    if (n->kind == NODE_OUTPUT) good = check_returned_values(g, n);
    symbols_meet(&symbols, &n->type);
    ok &= good && check_symbols(g, n, &symbols) && check_said(g, n);
  }
  return ok;
}
