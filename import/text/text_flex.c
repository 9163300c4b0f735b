/* flex_attention of printed graphs, and its gradient: functions of a score are classes within the
 * module's, of numbers without axes.  Here each of these has all elements at once, as
 * nereid.flex_attention wants them (torch_backend/segments/flex.py does the same for
 * torch.compile). */
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
  *n = (TextName){.name = name, .value = value, .node = node, .next = *list};
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

/* ---- what the gradient of a function of scores adds to tensors that it reads ---- */

static const TextAdded *added_by(const Reader *r, const Expr *e) {
  if (e->kind != EX_NAME) return NULL;
  for (const TextName *n = r->values; n; n = n->next)
    if (n->name == e->name) return n->added;
  return NULL;
}

static bool is_attribute(const Expr *e, const char *name) {
  return e->kind == EX_ATTR && !strcmp(e->name, name);
}

static bool is_scatter(const Expr *e) {
  return e->kind == EX_CALL && is_attribute(e->a, "default") &&
         is_attribute(e->a->a, "zeros_and_scatter") && is_attribute(e->a->a->a, "flex_lib");
}

static Node *element(Reader *r, const Expr *e, const char *target, Node *x, Arg y) {
  return make(r, e, target, 2, (Arg[]){arg_node(x), y});
}

static Node *choose(Reader *r, const Expr *e, const char *target, Node *test, Node *x, Arg y) {
  return make(r, e, target, 3, (Arg[]){arg_node(test), arg_node(x), y});
}

/* The place among a tensor's elements, -1 for none; indices may count from the end. */
static Node *place_of(Reader *r, const Expr *e, const Arg *shape, const Arg *indices) {
  Node *place = NULL, *inside = NULL;
  for (uint32_t i = 0; i < shape->n; i++) {
    Arg size = shape->items[i], wide = {.kind = ARG_DTYPE, .dtype = DT_I64, .name = "int64"};
    Node *x = element(r, e, "aten.to.dtype", indices->items[i].node, wide);
    Node *ends = element(r, e, "aten.lt.Scalar", x, arg_int(r->g, 0));
    x = choose(r, e, "aten.where.self", ends, element(r, e, "aten.add.Tensor", x, size),
               arg_node(x));
    Node *within = element(r, e, "aten.logical_and.default",
                           element(r, e, "aten.ge.Scalar", x, arg_int(r->g, 0)),
                           arg_node(element(r, e, "aten.lt.Scalar", x, size)));
    if (place) {
      x = element(r, e, "aten.add.Tensor", element(r, e, "aten.mul.Tensor", place, size),
                  arg_node(x));
      within = element(r, e, "aten.logical_and.default", inside, arg_node(within));
    }
    place = x;
    inside = within;
  }
  return choose(r, e, "aten.where.ScalarOther", inside, place, arg_int(r->g, -1));
}

static bool are_nodes(const Arg *list) {
  for (uint32_t i = 0; i < list->n; i++)
    if (list->items[i].kind != ARG_NODE) return false;
  return true;
}

/* A number for each score, added at an index of each axis; NULL: an error was reported. */
static const TextAdded *read_scatter(Reader *r, const Expr *e) {
  Arg args[3] = {arg_none()};
  for (uint32_t i = 0; i < 3 && e->nargs == 3; i++) args[i] = r->read_arg(r, e->args[i].value);
  bool good = args[0].kind == ARG_LIST && args[1].kind == ARG_LIST && args[0].n &&
              args[0].n == args[1].n && are_nodes(&args[1]) && args[2].kind == ARG_NODE;
  if (!good) {
    if (diag_errors(r->g->diags) == 0) FAIL(r, e->span, E_GRAPH_FLEX_READ);
    return NULL;
  }
  TextAdded *x = ARENA_ARRAY(r->g->arena, TextAdded, 1);
  *x = (TextAdded){place_of(r, e, &args[0], &args[1]), args[2].node, NULL};
  return x;
}

static const TextAdded *join_added(Reader *r, const TextAdded *x, const TextAdded *y) {
  for (; x; x = x->next) {
    TextAdded *copy = ARENA_ARRAY(r->g->arena, TextAdded, 1);
    *copy = (TextAdded){x->place, x->number, y};
    y = copy;
  }
  return y;
}

/* Reads a statement whose value is a gradient of a tensor; false: it is something else. */
static bool inline_added(Reader *r, Name name, const Expr *e) {
  const TextAdded *found = NULL;
  if (is_scatter(e)) {
    found = read_scatter(r, e);
    if (!found) return true;
  } else if (e->kind == EX_CALL && e->nargs == 2 && is_attribute(e->a, "Tensor") &&
             is_attribute(e->a->a, "add")) {
    const TextAdded *x = added_by(r, e->args[0].value), *y = added_by(r, e->args[1].value);
    if (x && y) found = join_added(r, x, y);
  }
  if (!found) return false;
  TextName *n = ARENA_ARRAY(r->g->arena, TextName, 1);
  *n = (TextName){.name = name, .added = found, .next = r->values};
  r->values = n;
  return true;
}

/* ---- a function of scores ---- */

static void inline_statement(Reader *r, const Stmt *s) {
  const Expr *target = s->targets.len == 1 ? s->targets.data[0] : NULL;
  if (s->value && s->value->kind == EX_NONE) return; /* a deletion */
  if (!s->value || !target || target->kind != EX_NAME) {
    FAIL(r, s->span, E_GRAPH_STATEMENT);
    return;
  }
  if (inline_added(r, target->name, s->value)) return;
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

/* The first result of a function, and the values that it adds to tensors, by tensor: its `n`
 * results after four other ones. */
static Node *read_results(Reader *r, const Expr *e, uint32_t n, const TextAdded **added) {
  enum { OF_TENSORS = 5 };
  bool list = e->kind == EX_LIST || e->kind == EX_TUPLE;
  for (uint32_t i = 0; added && list && i < n && OF_TENSORS + i < e->items.len; i++)
    added[i] = added_by(r, e->items.data[OF_TENSORS + i]);
  if (list && !e->items.len) return NULL;
  Arg first = r->read_arg(r, list ? e->items.data[0] : e);
  return first.kind == ARG_NODE ? first.node : NULL;
}

/* The function's value for these operands; NULL: an error was reported.  `added`: of a gradient,
 * for each of the `ntensors` that the function reads. */
static Node *inline_function(Reader *r, const Expr *e, uint32_t n, Node **operands,
                             uint32_t ntensors, const TextAdded **added) {
  const FuncDef *f = text_submodule(r, e);
  if (!f) return NULL;
  uint32_t first = f->params.len && !strcmp(f->params.data[0].name, MODULE);
  if (f->params.len - first != n) {
    FAIL(r, f->span, E_GRAPH_SUBMODULE_INPUTS, f->params.len - first, n);
    return NULL;
  }
  Node *result = NULL;
  r->values = NULL;
  for (uint32_t i = 0; i < n; i++)
    text_note(r, &r->values, f->params.data[first + i].name, NULL, operands[i]);
  r->within = true;
  for (uint32_t i = 0; i < f->body.len && diag_errors(r->g->diags) == 0; i++) {
    const Stmt *s = f->body.data[i];
    if (s->kind == ST_ASSIGN || s->kind == ST_ANNASSIGN) inline_statement(r, s);
    else if (s->kind == ST_RETURN && s->value) result = read_results(r, s->value, ntensors, added);
  }
  r->within = false;
  if (!result && diag_errors(r->g->diags) == 0) FAIL(r, f->span, E_GRAPH_SUBMODULE);
  return result;
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

enum { QUERY, KEY, VALUE, OPERANDS, OUT = OPERANDS, SUMS, GRAD, GRAD_SUMS };
enum { OF_KEYS = 2, OF_ROWS = 6, TABLES = 4, BLOCK_ROWS = 10, BLOCK_KEYS, MASK_GRAPH, MASK_ITEMS };

/* The operator's arguments by number; `joint`: the function's gradient, of the backward pass. */
typedef struct {
  uint32_t score, joint, mask, scale, of_score, of_mask, n;
} Layout;

static const Layout forward = {.score = 3, .mask = 4, .scale = 5, .of_score = 7, .of_mask = 8,
                               .n = 9};
static const Layout backward = {.score = 7, .joint = 8, .mask = 9, .scale = 10, .of_score = 12,
                                .of_mask = 13, .n = 14};

static bool is_plain_call(const Expr *e, const Layout *at) {
  if (e->nargs != at->n) return false;
  for (uint32_t i = 0; i < e->nargs; i++)
    if (e->args[i].name) return false;
  const Expr *mask = e->args[at->mask].value;
  return mask->kind == EX_TUPLE && mask->items.len == MASK_ITEMS &&
         e->args[at->of_score].value->kind == EX_TUPLE &&
         e->args[at->of_mask].value->kind == EX_TUPLE &&
         mask->items.data[BLOCK_ROWS]->kind == EX_INT &&
         mask->items.data[BLOCK_KEYS]->kind == EX_INT;
}

/* A call that is read: its arguments, and its functions. */
typedef struct {
  const Expr *e;
  const Layout *at;
  Arg given[GRAD_SUMS + 1], scale;
  Node *scores, *index[RANK];
  Node *score, *mask, *chain; /* NULL: they change nothing */
  const TextAdded **added; /* to gradients of tensors that the function reads; NULL: nothing */
} FlexCall;

/* Reads the arguments that are values; false: they are none, or of another rank. */
static bool read_operands(Reader *r, FlexCall *c) {
  uint32_t n = c->at->joint ? GRAD_SUMS + 1 : OPERANDS;
  if (r->within || !is_plain_call(c->e, c->at)) return false;
  for (uint32_t i = 0; i < n; i++) c->given[i] = r->read_arg(r, c->e->args[i].value);
  for (uint32_t i = 0; i < OPERANDS; i++)
    if (!is_rank_4(&c->given[i])) return false;
  c->scale = r->read_arg(r, c->e->args[c->at->scale].value);
  if (c->scale.kind != ARG_FLOAT && c->scale.kind != ARG_INT) return false;
  return n == OPERANDS || (c->given[OUT].kind == ARG_NODE && c->given[SUMS].kind == ARG_NODE);
}

static void set_scale(Reader *r, const FlexCall *c, Node *n) {
  n->named[0] = (NamedArg){pool_name(r->g->names, "scale"), c->scale};
}

static Node *make_scores(Reader *r, const FlexCall *c) {
  Node *n = r->make_call(r, c->e, "nereid.attention_scores.default", 2, 1);
  memcpy(n->args, c->given, 2 * sizeof *n->args);
  set_scale(r, c, n);
  graph_fresh_name(r->g, n, "flex");
  return n;
}

/* Inlines a function of the `n` operands that it gets first, and of tensors. */
static Node *function_of(Reader *r, const Expr *function, uint32_t n, Node **first,
                         const Expr *captured, const TextAdded **added) {
  uint32_t ntensors = captured->items.len, more = n;
  Node **operands = ARENA_ARRAY(r->g->arena, Node *, n + ntensors);
  memcpy(operands, first, n * sizeof *operands);
  if (!add_captured(r, captured, &more, operands)) return NULL;
  return inline_function(r, function, more, operands, ntensors, added);
}

/* The functions of scores and of the mask, or none where they change nothing. */
static bool functions(Reader *r, FlexCall *c) {
  const Expr *e = c->e, *captured = e->args[c->at->of_score].value;
  const Expr *mask = e->args[c->at->mask].value->items.data[MASK_GRAPH];
  Node *first[2 + RANK] = {c->scores = make_scores(r, c)};
  indices(r, e, c->given, c->index);
  memcpy(first + 1, c->index, sizeof c->index);
  c->score = function_of(r, e->args[c->at->score].value, 1 + RANK, first, captured, NULL);
  if (!c->score) return false;
  if (c->score == c->scores) c->score = NULL;
  c->mask = function_of(r, mask, RANK, c->index, e->args[c->at->of_mask].value, NULL);
  if (!c->mask) return false;
  if (is_true(c->mask)) c->mask = NULL;
  if (!c->at->joint || !c->score) return true;
  first[1 + RANK] = make(r, e, "nereid.attention_scores_grad.default", 1,
                         (Arg[]){arg_node(c->scores)});
  c->added = ARENA_ARRAY(r->g->arena, const TextAdded *, captured->items.len);
  c->chain = function_of(r, e->args[c->at->joint].value, 2 + RANK, first, captured, c->added);
  return c->chain;
}

static Arg node_or_none(Node *n) { return n ? arg_node(n) : arg_none(); }

static bool has_blocks(const FlexCall *c) {
  const ExprList *mask = &c->e->args[c->at->mask].value->items;
  return mask->data[BLOCK_ROWS]->ival != NO_BLOCKS || mask->data[BLOCK_KEYS]->ival != NO_BLOCKS;
}

static void set_tables(Reader *r, const FlexCall *c, uint32_t from, Arg *to) {
  const ExprList *mask = &c->e->args[c->at->mask].value->items;
  for (uint32_t i = 0; i < TABLES; i++)
    to[i] = has_blocks(c) ? r->read_arg(r, mask->data[from + i]) : arg_none();
}

static void set_sizes(Reader *r, const FlexCall *c, Arg *to) {
  const ExprList *mask = &c->e->args[c->at->mask].value->items;
  for (uint32_t i = 0; i < 2; i++)
    to[i] = has_blocks(c) ? r->read_arg(r, mask->data[BLOCK_ROWS + i]) : arg_int(r->g, 0);
}

/* Reads a call and its functions; false: an error was reported. */
static bool read_flex(Reader *r, FlexCall *c) {
  if (read_operands(r, c) && functions(r, c)) return true;
  if (diag_errors(r->g->diags) == 0) FAIL(r, c->e->span, E_GRAPH_FLEX);
  return false;
}

/* After an error there is a node, too, so that what uses it is no further one. */
Node *text_flex_attention(Reader *r, const Expr *e) {
  enum { SCORE = OPERANDS, MASK, FIRST_TABLE, SIZES = FIRST_TABLE + TABLES, ARGUMENTS = SIZES + 2 };
  FlexCall c = {.e = e, .at = &forward};
  Arg args[ARGUMENTS];
  if (!read_flex(r, &c)) return r->make_call(r, e, "nereid.flex_attention.default", 0, 0);
  memcpy(args, c.given, OPERANDS * sizeof *args);
  args[SCORE] = node_or_none(c.score);
  args[MASK] = node_or_none(c.mask);
  set_tables(r, &c, OF_KEYS, args + FIRST_TABLE);
  set_sizes(r, &c, args + SIZES);
  Node *n = r->make_call(r, e, "nereid.flex_attention.default", ARGUMENTS, 1);
  memcpy(n->args, args, sizeof args);
  set_scale(r, &c, n);
  return n;
}

/* ---- the gradient ---- */

static uint32_t count_added(const FlexCall *c, uint32_t ntensors) {
  uint32_t n = 0;
  for (uint32_t i = 0; c->added && i < ntensors; i++)
    for (const TextAdded *x = c->added[i]; x; x = x->next) n++;
  return n;
}

/* The three lists of captured values: tensors, places, numbers. */
static void set_read(Reader *r, const FlexCall *c, Arg *to) {
  const Expr *captured = c->e->args[c->at->of_score].value;
  uint32_t n = count_added(c, captured->items.len), k = 0;
  for (uint32_t i = 0; i < 3; i++) to[i] = arg_list(r->g, n);
  for (uint32_t i = 0; n && i < captured->items.len; i++)
    for (const TextAdded *x = c->added[i]; x; x = x->next, k++) {
      to[0].items[k] = r->read_arg(r, captured->items.data[i]);
      to[1].items[k] = arg_node(x->place);
      to[2].items[k] = arg_node(x->number);
    }
}

/* Notes the gradients of what is read, each of which is the sum of some results. */
static void note_gradients(Reader *r, const FlexCall *c, Node *call) {
  uint32_t n = c->e->args[c->at->of_score].value->items.len, result = OPERANDS;
  TextName *list = ARENA_ARRAY(r->g->arena, TextName, 1);
  *list = (TextName){.node = call, .nitems = n, .next = r->lists};
  list->items = ARENA_ARRAY(r->g->arena, Node *, n);
  for (uint32_t i = 0; c->added && i < n; i++)
    for (const TextAdded *x = c->added[i]; x; x = x->next) {
      Node *part = graph_node(r->g, NODE_GETITEM, NULL, 2, 0);
      part->location = c->e->span;
      part->origin = call->origin;
      part->args[0] = arg_node(call);
      part->args[1] = arg_int(r->g, result++);
      graph_fresh_name(r->g, part, "flex");
      Node *sum = list->items[i];
      list->items[i] = sum ? element(r, c->e, "aten.add.Tensor", sum, arg_node(part)) : part;
    }
  r->lists = list;
}

/* A gradient that is missing is zero. */
static Arg gradient_of_result(Reader *r, const FlexCall *c) {
  if (c->given[GRAD].kind == ARG_NODE) return c->given[GRAD];
  return arg_node(make(r, c->e, "aten.zeros_like.default", 1, &c->given[OUT]));
}

Node *text_flex_backward(Reader *r, const Expr *e) {
  enum { GIVEN = 7, SCORE = GIVEN, MASK, CHAIN, FIRST_TABLE, SECOND_TABLE = FIRST_TABLE + TABLES,
         SIZES = SECOND_TABLE + TABLES, READ = SIZES + 2, ARGUMENTS = READ + 3 };
  FlexCall c = {.e = e, .at = &backward};
  Arg args[ARGUMENTS];
  if (!read_flex(r, &c)) return r->make_call(r, e, "nereid.flex_attention_backward.default", 0, 0);
  const Arg first[GIVEN] = {gradient_of_result(r, &c), c.given[GRAD_SUMS], c.given[QUERY],
                            c.given[KEY], c.given[VALUE], c.given[OUT], c.given[SUMS]};
  memcpy(args, first, sizeof first);
  args[SCORE] = node_or_none(c.score);
  args[MASK] = node_or_none(c.mask);
  args[CHAIN] = node_or_none(c.chain);
  set_tables(r, &c, OF_KEYS, args + FIRST_TABLE);
  set_tables(r, &c, OF_ROWS, args + SECOND_TABLE);
  set_sizes(r, &c, args + SIZES);
  set_read(r, &c, args + READ);
  Node *n = r->make_call(r, e, "nereid.flex_attention_backward.default", ARGUMENTS, 1);
  memcpy(n->args, args, sizeof args);
  set_scale(r, &c, n);
  note_gradients(r, &c, n);
  return n;
}

bool text_flex_list(Reader *r, Name name, const Expr *value) {
  if (value->kind != EX_SUBSCRIPT || value->a->kind != EX_NAME || value->b->kind != EX_INT ||
      value->b->ival != OPERANDS)
    return false;
  Node *call = graph_find(r->g, value->a->name);
  for (const TextName *n = r->lists; call && n; n = n->next) {
    if (n->node != call) continue;
    TextName *list = ARENA_ARRAY(r->g->arena, TextName, 1);
    *list = (TextName){.name = name, .items = n->items, .nitems = n->nitems, .next = r->lists};
    r->lists = list;
    return true;
  }
  return false;
}

const TextName *text_list(const Reader *r, const Expr *e) {
  for (const TextName *n = r->lists; e->kind == EX_NAME && n; n = n->next)
    if (n->name && n->name == e->name) return n;
  return NULL;
}
