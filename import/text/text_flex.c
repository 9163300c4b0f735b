/* flex_attention of printed graphs: its functions of a score are classes within the module's, of
 * numbers without axes.  Here each of these has all elements at once, as nereid.flex_attention
 * wants them (torch_backend/segments/flex.py does the same for torch.compile). */
#include <string.h>

#include "import/messages.h"
#include "import/text/text_reader.h"

enum { RANK = 4, NO_BLOCKS = 1 << 30 }; /* the block size where PyTorch has no mask */

/* ---- names ---- */

Node *text_named(const Reader *r, Name name) {
  if (!r->within) return graph_find(r->g, name);
  for (const TextName *n = r->values; n; n = n->next)
    if (n->name == name) return n->node;
  return NULL;
}

void text_note(Reader *r, const TextName **list, Name name, const Expr *value, Node *node) {
  TextName *n = ARENA_ARRAY(r->g->arena, TextName, 1);
  *n = (TextName){name, value, node, *list};
  *list = n;
}

bool text_is_submodule(const Expr *e) {
  return e->kind == EX_ATTR && e->a->kind == EX_NAME && !strcmp(e->a->name, MODULE);
}

static const Stmt *find_class(const StmtList *body, Name name) {
  for (uint32_t i = 0; i < body->len; i++) {
    const Stmt *s = body->data[i];
    if (s->kind != ST_CLASS) continue;
    if (s->name == name) return s;
    const Stmt *within = find_class(&s->body, name);
    if (within) return within;
  }
  return NULL;
}

const FuncDef *text_submodule(Reader *r, const Expr *e) {
  const Stmt *class = NULL;
  for (const TextName *n = r->submodules; n && e->kind == EX_NAME && !class; n = n->next)
    if (n->name == e->name) class = find_class(&r->module->body, n->value->name);
  for (uint32_t i = 0; class && i < class->body.len; i++) {
    const Stmt *s = class->body.data[i];
    if (s->kind == ST_FUNC && !strcmp(s->func->name, "forward")) return s->func;
  }
  FAIL(r, e->span, E_GRAPH_SUBMODULE);
  return NULL;
}

/* ---- nodes ---- */

static Node *make(Reader *r, const Expr *e, const char *target, uint32_t n, const Arg *args) {
  Node *node = r->make_call(r, e, target, n, 0);
  memcpy(node->args, args, n * sizeof *args);
  graph_fresh_name(r->g, node, "flex");
  return node;
}

static Node *make_view(Reader *r, const Expr *e, Node *x, Dim size, uint32_t more) {
  Arg shape = arg_list(r->g, 1 + more);
  shape.items[0] = arg_dim(size);
  for (uint32_t i = 0; i < more; i++) shape.items[1 + i] = arg_int(r->g, 1);
  return make(r, e, "aten.view.default", 2, (Arg[]){arg_node(x), shape});
}

/* Numbers without axes would not take part in the choice of a dtype beside others. */
static Node *with_axis(Reader *r, const Expr *e, Node *x) {
  return make_view(r, e, x, dim_int(r->g->dims, 1), 0);
}

static bool creates(const Node *n) {
  return graph_is_any(n, OP_aten_full_default, OP_aten_scalar_tensor_default, OP_aten_ones_default,
                      OP_aten_zeros_default, OP_aten_new_ones_default, OP_aten_new_zeros_default);
}

/* Is an element made of one element of each operand? */
static bool goes_by_elements(const Node *n) {
  if (n->kind != NODE_CALL) return false;
  if (graph_is_any(n, OP_aten_index_Tensor, OP_aten__unsafe_index_Tensor)) {
    bool whole = n->nargs == 2 && n->args[1].kind == ARG_LIST;
    for (uint32_t i = 0; whole && i < n->args[1].n; i++)
      whole = n->args[1].items[i].kind == ARG_NODE;
    const Node *of = n->args[0].kind == ARG_NODE ? n->args[0].node : NULL;
    return whole && of && (of->type.kind != VALUE_TENSOR || of->type.rank == n->args[1].n);
  }
  return n->op->prim == PRIM_POINTWISE || creates(n) ||
         graph_is_any(n, OP_aten_alias_default, OP_aten_detach_default, OP_aten__to_copy_default,
                      OP_aten_to_dtype, OP_aten_lift_fresh_copy_default,
                      OP_prims_convert_element_type_default);
}

/* ---- a function of scores ---- */

static void inline_statement(Reader *r, const Stmt *s) {
  const Expr *target = s->targets.len == 1 ? s->targets.data[0] : NULL;
  if (s->value && s->value->kind == EX_NONE) return; /* a deletion */
  if (!s->value || !target || target->kind != EX_NAME) {
    FAIL(r, s->span, E_GRAPH_STATEMENT);
    return;
  }
  Node *n = r->read_node(r, s->value);
  if (!n) return;
  if (!goes_by_elements(n)) {
    FAIL(r, s->value->span, E_GRAPH_ELEMENTS, n->kind == NODE_CALL ? n->op->target : "[]");
    return;
  }
  /* No index is checked for each score. */
  if (graph_is(n, OP_aten_index_Tensor)) n->op = ops_at(OP_aten__unsafe_index_Tensor);
  graph_fresh_name(r->g, n, arena_printf(r->g->arena, "flex_%s", target->name));
  text_note(r, &r->values, target->name, NULL, creates(n) ? with_axis(r, s->value, n) : n);
}

/* What the function gives for these operands; NULL: an error was reported. */
static Node *inline_function(Reader *r, const Expr *e, uint32_t n, Node **operands) {
  const FuncDef *f = text_submodule(r, e);
  if (!f) return NULL;
  uint32_t first = f->params.len && !strcmp(f->params.data[0].name, MODULE);
  if (f->params.len - first != n) {
    FAIL(r, f->span, E_GRAPH_SUBMODULE_INPUTS, f->params.len - first, n);
    return NULL;
  }
  Arg result = arg_none();
  r->values = NULL;
  for (uint32_t i = 0; i < n; i++)
    text_note(r, &r->values, f->params.data[first + i].name, NULL, operands[i]);
  r->within = true;
  for (uint32_t i = 0; i < f->body.len && diag_errors(r->g->diags) == 0; i++) {
    const Stmt *s = f->body.data[i];
    if (s->kind == ST_ASSIGN || s->kind == ST_ANNASSIGN) inline_statement(r, s);
    else if (s->kind == ST_RETURN && s->value) result = r->read_arg(r, s->value);
  }
  r->within = false;
  if (result.kind == ARG_LIST && result.n == 1) result = result.items[0];
  if (result.kind == ARG_NODE) return result.node;
  if (diag_errors(r->g->diags) == 0) FAIL(r, f->span, E_GRAPH_SUBMODULE);
  return NULL;
}

/* ---- the operator ---- */

/* A tensor that is captured, whose type says its axes. */
static Node *operand(Reader *r, const Expr *e) {
  Arg a = r->read_arg(r, e);
  if (a.kind != ARG_NODE) return NULL;
  bool number = a.node->type.kind == VALUE_TENSOR && a.node->type.rank == 0;
  return number ? with_axis(r, e, a.node) : a.node;
}

static bool is_rank_4(const Arg *a) {
  return a->kind == ARG_NODE && a->node->type.kind == VALUE_TENSOR && a->node->type.rank == RANK;
}

/* Batch, head, row and key of each score. */
static void indices(Reader *r, const Expr *e, const Arg *given, Node **at) {
  for (uint32_t i = 0; i < RANK; i++) {
    Dim size = given[i == RANK - 1].node->type.shape[i == RANK - 1 ? RANK - 2 : i];
    Node *n = r->make_call(r, e, "aten.arange.default", 1, 1);
    n->args[0] = arg_dim(size);
    n->named[0] = (NamedArg){pool_name(r->g->names, "dtype"),
                             {.kind = ARG_DTYPE, .dtype = DT_I32, .name = "int32"}};
    graph_fresh_name(r->g, n, "flex");
    at[i] = make_view(r, e, n, size, RANK - 1 - i);
  }
}

/* Adds the tensors that a function reads to its operands; false: one is none. */
static bool add_captured(Reader *r, const Expr *list, uint32_t *n, Node **operands) {
  for (uint32_t i = 0; i < list->items.len; i++)
    if (!(operands[(*n)++] = operand(r, list->items.data[i]))) return false;
  return true;
}

static bool is_true(const Node *n) {
  while (graph_is(n, OP_aten_view_default)) n = n->args[0].node;
  if (graph_is_any(n, OP_aten_ones_default, OP_aten_new_ones_default)) return true;
  uint32_t value = graph_is(n, OP_aten_full_default) ? 1 : 0;
  bool filled = graph_is_any(n, OP_aten_full_default, OP_aten_scalar_tensor_default);
  return filled && n->nargs > value && n->args[value].kind == ARG_BOOL && n->args[value].flag;
}

enum { QUERY, KEY, VALUE, SCORE, MASK, SCALE, OPTIONS, OF_SCORE, OF_MASK, ARGUMENTS };
enum { COUNTS = 2, BLOCK_ROWS = 10, BLOCK_KEYS, MASK_GRAPH, MASK_ITEMS };

static bool is_plain_call(const Expr *e) {
  if (e->nargs != ARGUMENTS) return false;
  for (uint32_t i = 0; i < e->nargs; i++)
    if (e->args[i].name) return false;
  const ExprList *mask = &e->args[MASK].value->items;
  return e->args[MASK].value->kind == EX_TUPLE && mask->len == MASK_ITEMS &&
         e->args[OF_SCORE].value->kind == EX_TUPLE && e->args[OF_MASK].value->kind == EX_TUPLE &&
         mask->data[BLOCK_ROWS]->kind == EX_INT && mask->data[BLOCK_KEYS]->kind == EX_INT;
}

/* The functions of scores and of the mask, or none where they change nothing. */
static bool functions(Reader *r, const Expr *e, const Arg *given, Arg scale, Arg *score,
                      Arg *mask) {
  const Expr *graphs[] = {e->args[SCORE].value, e->args[MASK].value->items.data[MASK_GRAPH]};
  const Expr *captured[] = {e->args[OF_SCORE].value, e->args[OF_MASK].value};
  Node *at[RANK], *scores = r->make_call(r, e, "nereid.attention_scores.default", 2, 1);
  memcpy(scores->args, given, 2 * sizeof *given);
  scores->named[0] = (NamedArg){pool_name(r->g->names, "scale"), scale};
  graph_fresh_name(r->g, scores, "flex");
  indices(r, e, given, at);
  Arg *results[] = {score, mask};
  for (int i = 0; i < 2; i++) {
    Node **operands = ARENA_ARRAY(r->g->arena, Node *, 1 + RANK + captured[i]->items.len);
    uint32_t n = 0;
    if (i == 0) operands[n++] = scores;
    for (int axis = 0; axis < RANK; axis++) operands[n++] = at[axis];
    Node *y = add_captured(r, captured[i], &n, operands)
                  ? inline_function(r, graphs[i], n, operands) : NULL;
    if (!y) return false;
    bool plain = i == 0 ? y == scores : is_true(y);
    *results[i] = plain ? arg_none() : arg_node(y);
  }
  return true;
}

static Node *flex_node(Reader *r, const Expr *e) {
  Arg given[VALUE + 1], scale, args[BLOCK_KEYS] = {{0}};
  bool plain = is_plain_call(e) && !r->within;
  for (int i = QUERY; plain && i <= VALUE; i++) {
    given[i] = r->read_arg(r, e->args[i].value);
    plain &= is_rank_4(&given[i]);
  }
  if (plain) scale = r->read_arg(r, e->args[SCALE].value);
  if (!plain || (scale.kind != ARG_FLOAT && scale.kind != ARG_INT)) {
    if (diag_errors(r->g->diags) == 0) FAIL(r, e->span, E_GRAPH_FLEX);
    return NULL;
  }
  memcpy(args, given, sizeof given);
  if (!functions(r, e, given, scale, &args[SCORE], &args[MASK])) {
    if (diag_errors(r->g->diags) == 0) FAIL(r, e->span, E_GRAPH_FLEX);
    return NULL;
  }
  const ExprList *mask = &e->args[MASK].value->items;
  const Expr *rows = mask->data[BLOCK_ROWS], *keys = mask->data[BLOCK_KEYS];
  bool blocks = rows->ival != NO_BLOCKS || keys->ival != NO_BLOCKS;
  for (int i = 0; i < 4; i++)
    args[MASK + 1 + i] = blocks ? r->read_arg(r, mask->data[COUNTS + i]) : arg_none();
  args[MASK + 5] = blocks ? r->read_arg(r, rows) : arg_int(r->g, 0);
  args[MASK + 6] = blocks ? r->read_arg(r, keys) : arg_int(r->g, 0);
  Node *n = r->make_call(r, e, "nereid.flex_attention.default", BLOCK_KEYS, 1);
  memcpy(n->args, args, sizeof args);
  n->named[0] = (NamedArg){pool_name(r->g->names, "scale"), scale};
  return n;
}

/* After an error there is a node, too, so that what uses it is no further one. */
Node *text_flex_attention(Reader *r, const Expr *e) {
  Node *n = flex_node(r, e);
  return n ? n : r->make_call(r, e, "nereid.flex_attention.default", 0, 0);
}
