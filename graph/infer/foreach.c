/* Operators on lists of tensors. */
#include "graph/infer/foreach.h"

#include "graph/messages.h"

static bool is_list(const OpParam *p) {
  return p->type == PARAM_TENSORS || p->type == PARAM_FLOATS;
}

static uint32_t list_length(const Arg *a) {
  return a->kind == ARG_NODE ? a->node->type.nitems : a->n;
}

uint32_t foreach_count(Infer *in) {
  uint32_t count = 0;
  bool found = false;
  for (uint32_t i = 0; i < in->schema->nparams; i++) {
    const OpParam *p = &in->schema->params[i];
    if (!is_list(p)) continue;
    Arg a = graph_arg(in->g, in->n, p->name);
    if (found && list_length(&a) != count)
      infer_fail(in, E_GRAPH_LISTS, count, list_length(&a), p->name);
    count = list_length(&a);
    found = true;
  }
  return count;
}

ForeachCall foreach_call(Infer *in, uint32_t i, Node *(*item)(void *ctx, Node *list, uint32_t i),
                         void *ctx) {
  ForeachCall c = {.op = in->n->op->each};
  const OpSchema *to = ops_schema(in->g, c.op);
  for (uint32_t k = 0; k < in->schema->nparams && k < to->nparams; k++) {
    const OpParam *p = &in->schema->params[k];
    Arg a = graph_arg(in->g, in->n, p->name);
    if (is_list(p) && a.kind == ARG_NODE) a = arg_node(item(ctx, a.node, i));
    else if (is_list(p)) a = a.items[i];
    if (to->params[k].named_only) c.named[c.nnamed++] = (NamedArg){to->params[k].name, a};
    else c.args[c.nargs++] = a;
  }
  return c;
}

/* ---- types ---- */

/* A node of which only the type is asked for: it is in no graph. */
static Node *node_of_type(Infer *in, ValueType type) {
  Node *n = ARENA_NEW(in->g->arena, Node);
  *n = (Node){.kind = NODE_INPUT, .type = type, .location = in->n->location};
  return n;
}

static Node *item_of_type(void *ctx, Node *list, uint32_t i) {
  return node_of_type(ctx, list->type.items[i]);
}

static ValueType type_of_call(Infer *in, const ForeachCall *c) {
  Node *n = node_of_type(in, (ValueType){0});
  n->kind = NODE_CALL;
  n->name = in->n->name;
  n->op = c->op;
  n->args = (Arg *)c->args;
  n->nargs = c->nargs;
  n->named = (NamedArg *)c->named;
  n->nnamed = c->nnamed;
  ValueType t = {0};
  if (!infer_node(in->g, n, &t)) longjmp(in->failed, 1);
  return t;
}

void infer_foreach(Infer *in) {
  uint32_t count = foreach_count(in);
  ValueType *items = ARENA_ARRAY(in->g->arena, ValueType, count);
  for (uint32_t i = 0; i < count; i++) {
    ForeachCall c = foreach_call(in, i, item_of_type, in);
    items[i] = type_of_call(in, &c);
  }
  infer_set_list(in, count, items);
}

/* The result is as the first list. */
static void set_as_list(Infer *in, const ValueType **list, uint32_t count) {
  ValueType *items = ARENA_ARRAY(in->g->arena, ValueType, count);
  for (uint32_t i = 0; i < count; i++) items[i] = *list[i];
  infer_set_list(in, count, items);
}

void infer_tensor_list(Infer *in) {
  uint32_t n;
  const ValueType **list = infer_tensors(in, "tensors", &n);
  set_as_list(in, list, n);
}

/* A number for each item in one tensor. */
void infer_foreach_scaled(Infer *in) {
  uint32_t n, count = foreach_count(in);
  const ValueType **list = infer_tensors(in, "self", &n), *scalars = infer_tensor(in, "scalars");
  infer_rank(in, scalars, 1, 1);
  infer_same_size(in, scalars->shape[0], infer_const(in, count), "the lists and scalars");
  set_as_list(in, list, n);
}

void infer_foreach_norm(Infer *in) {
  uint32_t n;
  const ValueType **list = infer_tensors(in, "self", &n);
  ValueType *items = ARENA_ARRAY(in->g->arena, ValueType, n);
  for (uint32_t i = 0; i < n; i++) {
    infer_need_float(in, list[i]->dtype);
    items[i] = infer_type(in, infer_dtype(in, "dtype", list[i]->dtype), 0, NULL);
  }
  infer_set_list(in, n, items);
}

/* ---- optimizers ---- */

/* A list of lists: each is as the parameter at its place. */
void infer_fused_optimizer(Infer *in) {
  ValueType lists[FOREACH_ARGS];
  uint32_t count, first;
  infer_tensors(in, "self", &first);
  for (uint32_t i = 0; i < in->schema->nresults; i++) {
    const char *param = in->schema->params[i].name;
    const ValueType **list = infer_tensors(in, param, &count);
    if (count && count != first) infer_fail(in, E_GRAPH_LISTS, first, count, param);
    set_as_list(in, list, count);
    lists[i] = in->result;
  }
  infer_set_list(in, in->schema->nresults, lists);
}

void infer_unscale(Infer *in) {
  uint32_t n;
  const ValueType **list = infer_tensors(in, "self", &n);
  infer_tensor(in, "inv_scale");
  set_as_list(in, list, n);
  infer_set_pair(in, in->result, *infer_tensor(in, "found_inf"));
}

void infer_update_scale(Infer *in) {
  infer_tensor(in, "found_inf");
  infer_set_pair(in, *infer_self(in), *infer_tensor(in, "growth_tracker"));
}
