#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/graph_text.h"
#include "graph/ops/ops.h"
#include "import/messages.h"
#include "import/text/complex_number.h"
#include "import/text/text_forms.h"
#include "import/text/text_reader.h"
#include "parser/ast.h"

static Name intern_name(Reader *r, const char *s) { return pool_name(r->g->names, s); }

/* ---- comments: where the model's source made the nodes below ---- */

static void read_comment(Reader *r, const char *s, const char *end) {
  static const char NONE[] = "No stacktrace found";
  while (s < end && (*s == '#' || *s == ' ')) s++;
  while (end > s && isspace((unsigned char)end[-1])) end--;
  bool none = (size_t)(end - s) >= sizeof NONE - 1 && !memcmp(s, NONE, sizeof NONE - 1);
  r->origin = none || s == end ? NULL : pool_namen(r->g->names, s, (size_t)(end - s));
}

static void read_comments(Reader *r, uint32_t before_line) {
  const char *end = r->source->text + r->source->len;
  for (; r->line_number < before_line && r->line < end; r->line_number++) {
    const char *stop = memchr(r->line, '\n', (size_t)(end - r->line));
    if (!stop) stop = end;
    const char *text_end = memchr(r->line, '\r', (size_t)(stop - r->line));
    if (!text_end) text_end = stop;
    const char *s = r->line;
    while (s < text_end && *s == ' ') s++;
    if (s < text_end && *s == '#') read_comment(r, s, text_end);
    r->line = stop < end ? stop + 1 : end;
  }
}

/* ---- types ---- */

static void skip_annotation_spaces(const char **at, const char *end) {
  while (*at < end && **at == ' ') ++*at;
}

static bool accept_in_annotation(const char **at, const char *end, char c) {
  skip_annotation_spaces(at, end);
  if (*at == end || **at != c) return false;
  ++*at;
  return true;
}

static bool read_annotation_shape(Reader *r, ValueType *t, const char **at, const char *end) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = 0;
  if (!accept_in_annotation(at, end, '[')) return false;
  while (!accept_in_annotation(at, end, ']')) {
    if (rank == GRAPH_RANK_MAX || (rank && !accept_in_annotation(at, end, ','))) return false;
    Dim d = dim_parse(r->g->dims, at, end);
    if (!d || d->kind == DIM_HUGE || dim_range(r->g->dims, d).hi < 0) return false;
    shape[rank++] = d;
  }
  *t = value_tensor(r->g, t->dtype, rank, shape);
  return true;
}

/* dtype[sizes], which strides and a device may follow. */
static bool read_tensor_type(Reader *r, ValueType *t, const char *s, const char *end) {
  const char *at = s;
  while (at < end && isalnum((unsigned char)*at)) at++;
  size_t len = (size_t)(at - s);
  t->dtype = dtype_from_fx(s, len);
  bool is_complex = t->dtype == DT_NONE;
  if (is_complex) t->dtype = complex_from_fx(s, len);
  if (t->dtype == DT_NONE || !read_annotation_shape(r, t, &at, end)) return false;
  t->is_complex = is_complex;
  return true;
}

/* Can it stand between quotes as it is? */
static bool is_plain(const char *s, const char *end) {
  while (s < end && (unsigned char)*s >= ' ' && !strchr("\"'\\", *s)) s++;
  return s == end;
}

static bool read_symbolic_number(Reader *r, ValueType *t, const char *s, const char *end) {
  const char *at = s;
  Dim d = dim_parse(r->g->dims, &at, end);
  skip_annotation_spaces(&at, end);
  if (d && at == end) {
    *t = (ValueType){.kind = VALUE_INT, .value = d};
    return true;
  }
  if (!is_plain(s, end)) return false;
  bool compares = memchr(s, '<', (size_t)(end - s)) || memchr(s, '>', (size_t)(end - s)) ||
                  memchr(s, '=', (size_t)(end - s)) || !strncmp(s, "Eq", 2) || !strncmp(s, "Ne", 2);
  *t = (ValueType){.kind = compares ? VALUE_BOOL : VALUE_FLOAT,
                   .symbolic = pool_namen(r->g->names, s, (size_t)(end - s))};
  return true;
}

static ValueType read_annotation(Reader *r, const Expr *e) {
  ValueType t = {0};
  if (!e) return t;
  const char *s = e->kind == EX_STR ? e->name : "", *end = s + strlen(s);
  bool symbolic = !strncmp(s, "Sym(", 4) && end[-1] == ')';
  bool ok =
      symbolic ? read_symbolic_number(r, &t, s + 4, end - 1) : read_tensor_type(r, &t, s, end);
  if (!ok) FAIL(r, e->span, E_GRAPH_ANNOTATION, s);
  return t;
}

/* ---- arguments ---- */

static Arg read_arg_expr(Reader *r, const Expr *e);

/* a.b.c as text; NULL if e is no such path. */
static Name dotted_name(Reader *r, const Expr *e) {
  if (e->kind == EX_NAME) return e->name;
  if (e->kind != EX_ATTR) return NULL;
  Name left = dotted_name(r, e->a);
  return left ? intern_name(r, arena_printf(r->g->arena, "%s.%s", left, e->name)) : NULL;
}

static Arg bad_arg(Reader *r, const Expr *e) {
  Text t = text_new(r->g->arena);
  ast_print_expr(&t, e);
  FAIL(r, e->span, E_GRAPH_ARGUMENT, t.data);
  return arg_none();
}

static Arg read_arg_items(Reader *r, const Expr *e) {
  Arg a = arg_list(r->g, e->items.len);
  a.tuple = e->kind == EX_TUPLE;
  for (uint32_t i = 0; i < a.n; i++) a.items[i] = read_arg_expr(r, e->items.data[i]);
  return a;
}

static Arg read_int_expr(Reader *r, const Expr *e, bool minus) {
  uint64_t limit = (uint64_t)INT64_MAX + minus;
  if (e->big || e->ival > limit) return bad_arg(r, e);
  return arg_int(r->g, (int64_t)(minus ? 0 - e->ival : e->ival));
}

/* A size as an expression of symbols that annotations have, as passes write them: 2*s0 + 1. */
static Arg read_size_expr(Reader *r, const Expr *e) {
  Text t = text_new(r->g->arena);
  ast_print_expr(&t, e);
  const char *at = t.data, *end = t.data + t.len;
  uint32_t known = dims_symbols(r->g->dims);
  Dim d = dim_parse(r->g->dims, &at, end);
  skip_annotation_spaces(&at, end);
  bool ok = d && at == end && d->kind != DIM_HUGE && dims_symbols(r->g->dims) == known;
  return ok ? arg_dim(d) : bad_arg(r, e);
}

static Arg float_arg(double v) { return (Arg){.kind = ARG_FLOAT, .number = v}; }

static Arg find_named_node(Reader *r, const Expr *e) {
  Node *n = graph_find(r->g, e->name);
  if (!n) FAIL(r, e->span, E_GRAPH_NAME, e->name);
  return n ? arg_node(n) : arg_none();
}

static Arg read_minus(Reader *r, const Expr *e) {
  const Expr *x = e->a;
  if (r->listing && e->op == OP_POS && x->kind == EX_NAME) return find_named_node(r, x);
  if (e->op != OP_NEG) return bad_arg(r, e);
  if (x->kind == EX_INT) return read_int_expr(r, x, true);
  if (x->kind == EX_FLOAT) return float_arg(-x->fval);
  if (x->kind == EX_NAME && !strcmp(x->name, "inf")) return float_arg(-INFINITY);
  return read_size_expr(r, e);
}

/* A string of a listing, where devices are strings too. */
static Arg read_bare_word(Name word) {
  static const char *const devices[] = {"cpu", "cuda", "meta"};
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    if (!strcmp(word, devices[i])) return (Arg){.kind = ARG_DEVICE, .device = {word, -1}};
  return (Arg){.kind = ARG_STRING, .name = word};
}

/* Nodes have a sign in a listing, so that a string may have a node's name. */
static Arg read_name_arg(Reader *r, const Expr *e) {
  Node *n = r->listing ? NULL : text_named(r, e->name);
  if (n) return arg_node(n);
  Dim symbol = dims_symbol_named(r->g->dims, e->name);
  if (symbol) return arg_dim(symbol);
  if (!strcmp(e->name, "inf")) return float_arg(INFINITY);
  if (!strcmp(e->name, "nan")) return float_arg(NAN);
  if (r->listing) return read_bare_word(e->name);
  FAIL(r, e->span, E_GRAPH_NAME, e->name);
  return arg_none();
}

static const struct {
  const char *name;
  ArgKind kind;
} torch_names[] = {
    {"strided", ARG_LAYOUT},          {"sparse_coo", ARG_LAYOUT},
    {"sparse_csr", ARG_LAYOUT},       {"contiguous_format", ARG_FORMAT},
    {"preserve_format", ARG_FORMAT},  {"channels_last", ARG_FORMAT},
    {"channels_last_3d", ARG_FORMAT}, {"complex32", ARG_DTYPE},
    {"float8_e4m3fnuz", ARG_DTYPE},   {"float8_e5m2fnuz", ARG_DTYPE},
};

/* torch.float32, torch.strided, torch.contiguous_format. */
static Arg read_torch_name(Reader *r, const Expr *e) {
  if (e->a->kind != EX_NAME || strcmp(e->a->name, "torch")) return bad_arg(r, e);
  Arg a = {.kind = ARG_DTYPE, .name = e->name, .dtype = dtype_from_torch(e->name, strlen(e->name))};
  if (a.dtype != DT_NONE) return a;
  a.dtype = complex_from_torch(e->name, strlen(e->name));
  a.is_complex = a.dtype != DT_NONE;
  if (a.is_complex) return a;
  for (size_t i = 0; i < sizeof torch_names / sizeof *torch_names; i++) {
    a.kind = torch_names[i].kind;
    if (!strcmp(torch_names[i].name, e->name)) return a;
  }
  return bad_arg(r, e);
}

/* device(type='cuda', index=0), torch.device('cuda:0') without an index counted apart. */
static Arg read_device_call(Reader *r, const Expr *e) {
  Arg a = {.kind = ARG_DEVICE, .device = {NULL, -1}};
  for (uint32_t i = 0; i < e->nargs; i++) {
    const Expr *v = e->args[i].value;
    if (v->kind == EX_STR && !a.device.type) a.device.type = v->name;
    else if (v->kind == EX_INT && v->ival < 1024) a.device.index = (int32_t)v->ival;
    else return bad_arg(r, e);
  }
  return a.device.type ? a : bad_arg(r, e);
}

/* complex(0.5, 1) */
static Arg read_complex_number(Reader *r, const Expr *e) {
  double parts[2];
  if (e->nargs != 2) return bad_arg(r, e);
  for (uint32_t i = 0; i < 2; i++) {
    Arg a = read_arg_expr(r, e->args[i].value);
    bool whole = a.kind == ARG_INT && dim_is_int(a.dim);
    if (a.kind != ARG_FLOAT && !whole) return bad_arg(r, e);
    parts[i] = whole ? (double)a.dim->value : a.number;
  }
  return arg_node(import_complex_number(r->g, NULL, parts[0], parts[1], e->span));
}

static Arg read_call_arg(Reader *r, const Expr *e) {
  Name callee = dotted_name(r, e->a);
  if (callee && !strcmp(callee, "complex")) return read_complex_number(r, e);
  bool device = callee && (!strcmp(callee, "device") || !strcmp(callee, "torch.device"));
  return device ? read_device_call(r, e) : read_size_expr(r, e);
}

static Arg read_arg_expr(Reader *r, const Expr *e) {
  switch (e->kind) {
    case EX_NAME: return read_name_arg(r, e);
    case EX_INT: return read_int_expr(r, e, false);
    case EX_FLOAT: return float_arg(e->fval);
    case EX_TRUE:
    case EX_FALSE: return (Arg){.kind = ARG_BOOL, .flag = e->kind == EX_TRUE};
    case EX_NONE: return arg_none();
    case EX_STR: return (Arg){.kind = ARG_STRING, .name = e->name};
    case EX_LIST:
    case EX_TUPLE: return read_arg_items(r, e);
    case EX_UNARY: return read_minus(r, e);
    case EX_ATTR: return read_torch_name(r, e);
    case EX_CALL: return read_call_arg(r, e);
    case EX_BINARY: return read_size_expr(r, e);
    default: return bad_arg(r, e);
  }
}

/* ---- nodes ---- */

static Node *new_node(Reader *r, NodeKind kind, Span at, uint32_t nargs, uint32_t nnamed) {
  Node *n = graph_node(r->g, kind, NULL, nargs, nnamed);
  n->location = at;
  n->origin = r->origin;
  return n;
}

static Node *new_call(Reader *r, const Expr *e, const char *target, uint32_t n, uint32_t named) {
  Node *node = new_node(r, NODE_CALL, e->span, n, named);
  node->op = ops_row(r->g, target);
  return node;
}

static bool has_node(Reader *r, const Arg *a, const Expr *e) {
  if (a->kind == ARG_NODE) return true;
  if (diag_errors(r->g->diags) == 0) bad_arg(r, e);
  return false;
}

/* x[1], where x is a list among a call's results. */
static Node *read_list_item(Reader *r, const Expr *e, const TextName *list) {
  bool known = e->b->kind == EX_INT && e->b->ival < list->nitems && list->items[e->b->ival];
  if (!known) {
    FAIL(r, e->span, E_GRAPH_FLEX_READ);
    return new_call(r, e, "aten.alias.default", 0, 0);
  }
  Node *n = new_call(r, e, "aten.alias.default", 1, 0);
  n->args[0] = arg_node(list->items[e->b->ival]);
  return n;
}

/* x[1]. */
static Node *read_getitem(Reader *r, const Expr *e) {
  const TextName *list = text_list(r, e->a);
  if (list) return read_list_item(r, e, list);
  Arg of = read_arg_expr(r, e->a), i = read_arg_expr(r, e->b);
  if (!has_node(r, &of, e) || i.kind != ARG_INT) return bad_arg(r, e), NULL;
  Node *n = new_node(r, NODE_GETITEM, e->span, 2, 0);
  n->args[0] = of;
  n->args[1] = i;
  return n;
}

static const char *operator_name(AstOp op) {
  switch (op) {
    case OP_ADD: return "_operator.add";
    case OP_SUB: return "_operator.sub";
    case OP_MUL: return "_operator.mul";
    case OP_DIV: return "_operator.truediv";
    case OP_FLOORDIV: return "_operator.floordiv";
    case OP_MOD: return "_operator.mod";
    case OP_POW: return "_operator.pow";
    case OP_AND: return "_operator.and_";
    case OP_OR: return "_operator.or_";
    case OP_SHL: return "_operator.lshift";
    case OP_SHR: return "_operator.rshift";
    case OP_LT: return "_operator.lt";
    case OP_LE: return "_operator.le";
    case OP_GT: return "_operator.gt";
    case OP_GE: return "_operator.ge";
    case OP_EQ: return "_operator.eq";
    case OP_NE: return "_operator.ne";
    default: return NULL;
  }
}

static Node *read_infix(Reader *r, const Expr *e) {
  bool compare = e->kind == EX_COMPARE;
  const char *target =
      compare && e->items.len != 2 ? NULL : operator_name(compare ? *e->ops : e->op);
  if (!target) return bad_arg(r, e), NULL;
  Arg a = read_arg_expr(r, compare ? e->items.data[0] : e->a);
  Arg b = read_arg_expr(r, compare ? e->items.data[1] : e->b);
  Node *n = new_call(r, e, target, 2, 0);
  n->args[0] = a;
  n->args[1] = b;
  return n;
}

/* -x. */
static Node *read_negation(Reader *r, const Expr *e) {
  if (e->op != OP_NEG || e->a->kind != EX_NAME) return bad_arg(r, e), NULL;
  Arg x = read_arg_expr(r, e->a);
  Node *n = new_call(r, e, "_operator.neg", 1, 0);
  n->args[0] = x;
  return n;
}

static const char *call_target(Reader *r, const Expr *e) {
  Name path = dotted_name(r, e->a);
  if (!path) return NULL;
  if (r->listing && !strncmp(path, "operator.", 9)) return arena_printf(r->g->arena, "_%s", path);
  return strncmp(path, "torch.ops.", 10) ? path : path + 10;
}

/* operator.getitem(x, 1), as listings have it. */
static Node *read_getitem_call(Reader *r, const Expr *e) {
  Expr subscript = {.kind = EX_SUBSCRIPT, .span = e->span};
  if (e->nargs != 2 || e->args[0].name || e->args[1].name) return bad_arg(r, e), NULL;
  subscript.a = e->args[0].value;
  subscript.b = e->args[1].value;
  return read_getitem(r, &subscript);
}

static Node *read_call_node(Reader *r, const Expr *e) {
  const char *target = call_target(r, e);
  if (!target) return bad_arg(r, e), NULL;
  if (!strcmp(target, "_operator.getitem")) return read_getitem_call(r, e);
  if (!strcmp(target, "higher_order.flex_attention")) return text_flex_attention(r, e);
  if (!strcmp(target, "higher_order.flex_attention_backward")) return text_flex_backward(r, e);
  uint32_t named = 0;
  for (uint32_t i = 0; i < e->nargs; i++) {
    named += e->args[i].name != NULL;
    bool star = e->args[i].value->kind == EX_STARRED;
    if (star || (e->args[i].name && !strcmp(e->args[i].name, "**"))) return bad_arg(r, e), NULL;
  }
  /* Arguments are read first: a call may not name itself. */
  Arg *values = ARENA_ARRAY(r->g->arena, Arg, e->nargs);
  for (uint32_t i = 0; i < e->nargs; i++) values[i] = read_arg_expr(r, e->args[i].value);
  Node *n = new_call(r, e, target, e->nargs - named, named);
  uint32_t p = 0, k = 0;
  for (uint32_t i = 0; i < e->nargs; i++)
    if (e->args[i].name) n->named[k++] = (NamedArg){e->args[i].name, values[i]};
    else n->args[p++] = values[i];
  return n;
}

static Node *read_value_node(Reader *r, const Expr *e) {
  switch (e->kind) {
    case EX_CALL: return read_call_node(r, e);
    case EX_SUBSCRIPT: return read_getitem(r, e);
    case EX_BINARY:
    case EX_COMPARE: return read_infix(r, e);
    case EX_UNARY: return read_negation(r, e);
    default: bad_arg(r, e); return NULL;
  }
}

/* ---- statements ---- */

static void name_node(Reader *r, Node *n, Name name, Span location) {
  if (!graph_set_name(r->g, n, name)) FAIL(r, location, E_GRAPH_TWICE, name);
  else if (!strcmp(name, MODULE)) FAIL(r, location, E_GRAPH_SELF);
}

static void name_target(Reader *r, Node *n, const Expr *target) {
  if (target->kind == EX_NAME) name_node(r, n, target->name, target->span);
  else FAIL(r, target->span, E_GRAPH_STATEMENT);
}

/* `input_1 = input`: the parameter's node gets another name. */
static void rename_input(Reader *r, const Expr *target, const Expr *value) {
  Node *n = graph_find(r->g, value->name);
  if (!n || n->kind != NODE_INPUT || n->name != n->input.target) {
    FAIL(r, value->span, n ? E_GRAPH_STATEMENT : E_GRAPH_NAME, value->name);
    return;
  }
  graph_forget_name(r->g, n);
  name_target(r, n, target);
}

static InputKind input_kind(const char *name) {
  if (!strncmp(name, "p_", 2)) return INPUT_PARAMETER;
  if (!strncmp(name, "b_", 2)) return INPUT_BUFFER;
  return strncmp(name, "c_", 2) ? INPUT_USER : INPUT_CONSTANT;
}

/* The tensor that is meant by an input's name alone. */
static Name tensor_of_input(const Node *n) {
  return n->input.kind == INPUT_USER ? NULL : n->input.target;
}

/* `x = placeholder | "x"`, `w = get_attr | "layer.weight"`.  Inputs come first. */
static void read_listed_input(Reader *r, const Expr *target, const Expr *e) {
  Node *before = r->last_input ? r->last_input->next : r->g->first;
  Node *n = graph_node(r->g, NODE_INPUT, before, 0, 0);
  bool attribute = !strcmp(e->a->name, "get_attr");
  n->location = target->span;
  n->input.target = target->kind == EX_NAME ? target->name : e->b->name;
  n->input.kind = attribute ? INPUT_PARAMETER : input_kind(n->input.target);
  n->input.tensor = attribute ? e->b->name : tensor_of_input(n);
  name_target(r, n, target);
  r->last_input = n;
}

static bool is_listed_input(const Reader *r, const Expr *e) {
  return r->listing && e->kind == EX_BINARY && e->op == OP_OR && e->a->kind == EX_NAME &&
         e->b->kind == EX_STR;
}

static void read_assignment(Reader *r, const Stmt *s) {
  const Expr *target = s->targets.data[0];
  if (!s->value) {
    FAIL(r, s->span, E_GRAPH_STATEMENT);
    return;
  }
  if (s->value->kind == EX_NONE) return; /* a deletion */
  if (s->targets.len != 1) {
    FAIL(r, s->span, E_GRAPH_STATEMENT);
    return;
  }
  if (is_listed_input(r, s->value)) {
    read_listed_input(r, target, s->value);
    return;
  }
  if (s->value->kind == EX_NAME) {
    rename_input(r, target, s->value);
    return;
  }
  if (text_is_submodule(s->value)) {
    text_note(r, &r->submodules, target->name, s->value, NULL);
    return;
  }
  if (target->kind == EX_NAME && text_flex_list(r, target->name, s->value)) return;
  Node *n = read_value_node(r, s->value);
  if (!n) return;
  name_target(r, n, target);
  n->location = target->span;
  n->type = r->types[r->at];
}

/* a, (a, b), or pytree.tree_unflatten((a, b), self._out_spec); nothing is None, as in Python. */
static void read_output_node(Reader *r, const Stmt *s) {
  const Expr *e = s->value;
  if (e && e->kind == EX_CALL && e->nargs && e->a->kind == EX_ATTR &&
      !strcmp(e->a->name, "tree_unflatten"))
    e = e->args[0].value;
  r->listing = false; /* its names are nodes */
  Arg a = e ? read_arg_expr(r, e) : arg_none();
  Node *n = new_node(r, NODE_OUTPUT, s->span, 1, 0);
  n->args[0] = a.kind == ARG_LIST ? a : arg_list(r->g, 1);
  if (a.kind != ARG_LIST) n->args[0].items[0] = a;
  graph_fresh_name(r->g, n, "output");
  r->output = n;
}

static void read_statement(Reader *r, const Stmt *s) {
  read_comments(r, s->span.line);
  if (r->output) FAIL(r, s->span, E_GRAPH_AFTER_RETURN);
  else if (s->kind == ST_RETURN) read_output_node(r, s);
  else if (s->kind == ST_ASSIGN || s->kind == ST_ANNASSIGN) read_assignment(r, s);
  else if (s->kind != ST_PASS && !(s->kind == ST_EXPR && s->value->kind == EX_STR))
    FAIL(r, s->span, E_GRAPH_STATEMENT);
}

/* ---- forward ---- */

static void read_input_parameter(Reader *r, const Param *p) {
  if (p->kind != PARAM_PLAIN) {
    FAIL(r, p->span, E_GRAPH_PARAMETER);
    return;
  }
  Node *n = new_node(r, NODE_INPUT, p->span, 0, 0);
  n->input.target = p->name;
  n->input.kind = input_kind(p->name);
  n->input.tensor = tensor_of_input(n);
  n->type = read_annotation(r, p->annotation);
  name_node(r, n, p->name, p->span);
}

/* All before the statements, whose arguments may be sizes of symbols that stand further below. */
static void read_annotations(Reader *r, const StmtList *body) {
  r->types = ARENA_ARRAY(r->g->arena, ValueType, body->len);
  for (uint32_t i = 0; i < body->len; i++)
    if (body->data[i]->kind == ST_ANNASSIGN)
      r->types[i] = read_annotation(r, body->data[i]->annotation);
}

static void read_forward(Reader *r, const FuncDef *f) {
  uint32_t first = f->params.len && !strcmp(f->params.data[0].name, MODULE);
  for (uint32_t i = first; i < f->params.len; i++) read_input_parameter(r, &f->params.data[i]);
  /* Comments above the first statement belong to the body. */
  read_comments(r, f->span.line);
  r->origin = NULL;
  read_annotations(r, &f->body);
  for (r->at = 0; r->at < f->body.len; r->at++) read_statement(r, f->body.data[r->at]);
  if (!r->output && diag_errors(r->g->diags) == 0) FAIL(r, f->span, E_GRAPH_NO_RETURN, f->name);
}

/* The function of that name, in a class or alone. */
static const FuncDef *find_function(const StmtList *body, const char *name, Name *owner) {
  for (uint32_t i = 0; i < body->len; i++) {
    const Stmt *s = body->data[i];
    if (s->kind == ST_FUNC && !strcmp(s->func->name, name)) return s->func;
    const FuncDef *f = s->kind == ST_CLASS ? find_function(&s->body, name, owner) : NULL;
    if (f && !*owner) *owner = s->name;
    if (f) return f;
  }
  return NULL;
}

/* Does the text have the words `def forward`?  One without them is no graph, and may be anything: a
 * message for each of its lines would say less than a single one. */
static bool names_forward(const char *text, size_t len) {
  static const char WORD[] = "forward", DEF[] = "def";
  const char *end = text + len, *at = text;
  for (; (at = memmem(at, (size_t)(end - at), WORD, sizeof WORD - 1)); at++) {
    const char *before = at;
    while (before > text && (before[-1] == ' ' || before[-1] == '\t')) before--;
    size_t n = (size_t)(before - text);
    if (before < at && n >= sizeof DEF - 1 && !memcmp(before - 3, DEF, sizeof DEF - 1)) return true;
  }
  return false;
}

static Graph *no_graph(Diags *d, uint32_t file) {
  diag_error(d, (Span){file, 1, 1, 1}, E_GRAPH_NO_FORWARD);
  return NULL;
}

/* The text is parsed as Python, and shown in messages as it is. */
static const Module *parse_form(Arena *a, Pool *names, Diags *d, uint32_t file, const char *text) {
  const Source source = *diag_file(d, file);
  diag_set_text(d, file, text);
  const Module *m = parse_all(a, names, d, file);
  diag_set_text(d, file, source.text);
  return m;
}

Graph *graph_read_text(Arena *a, Pool *names, Diags *d, uint32_t file) {
  size_t errors = diag_errors(d);
  TextForm form;
  const Source *source = diag_file(d, file);
  const char *text = text_as_python(a, source->text, source->len, &form);
  if (form != FORM_LISTING && !names_forward(source->text, source->len)) return no_graph(d, file);
  const Module *m = parse_form(a, names, d, file, text);
  if (diag_errors(d) > errors) return NULL;
  Graph *g = graph_new(a, names, d);
  Reader r = {.g = g,
              .module = m,
              .source = source,
              .line = source->text,
              .line_number = 1,
              .read_arg = read_arg_expr,
              .read_node = read_value_node,
              .make_call = new_call};
  Name owner = NULL;
  r.listing = form == FORM_LISTING;
  const char *name = r.listing ? LISTING_FUNCTION : "forward";
  const FuncDef *f = find_function(&m->body, name, &owner);
  if (owner) g->class_name = form == FORM_LAMBDA ? intern_name(&r, "<lambda>") : owner;
  if (f) read_forward(&r, f);
  else no_graph(d, file);
  return diag_errors(d) > errors ? NULL : g;
}
