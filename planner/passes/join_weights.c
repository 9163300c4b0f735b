/* Pass join_weights: small weights that each run is given, and that pass freeze copies to the order
 * in which convolutions read them, are copied by one kernel, as parts of a concatenation.  On a
 * GPU each of them would be a kernel of its own, which takes longer to start than to run. */
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"

/* Each element of a concatenation is looked for in all of its parts. */
enum { PARTS_MAX = 32, LOOKS_MAX = 1 << 24, ALIGNED = 8 };

typedef struct {
  Node *copies[PARTS_MAX];
  int64_t begin[PARTS_MAX + 1]; /* of each copy's elements in the whole */
  uint32_t n;
  DType dtype;
} Group;

/* The elements of a copy of a view of an input, or 0: it is none, or not small, or the next part
 * would begin at no multiple of a vector. */
static int64_t elements_of_copy(Graph *g, const Node *n) {
  const Node *x = n;
  if (!graph_is(n, OP_aten_clone_default)) return 0;
  for (x = x->args[0].node; prim_is_view(x) && x->kind == NODE_CALL; x = view_operand(x))
    if (prim_reads_size(x) || x->nnamed) return 0;
  Dim elements = value_numel(g, &n->type);
  bool small = x->kind == NODE_INPUT && dim_is_int(elements) && elements->value <= LOOKS_MAX;
  return small && elements->value % ALIGNED == 0 ? elements->value : 0;
}

static bool has(const Group *group, const Node *copy) {
  for (uint32_t i = 0; i < group->n; i++)
    if (group->copies[i] == copy) return true;
  return false;
}

static bool takes(const Group *group, const Node *copy, int64_t elements) {
  if (!group->n) return true;
  int64_t all = group->begin[group->n] + elements;
  return group->n < PARTS_MAX && group->dtype == copy->type.dtype &&
         all <= LOOKS_MAX / (group->n + 1);
}

static void add(Group *group, Node *copy, int64_t elements) {
  group->dtype = copy->type.dtype;
  group->copies[group->n] = copy;
  group->begin[group->n + 1] = group->begin[group->n] + elements;
  group->n++;
}

/* Repeats the view of an input, before b's position. */
static Node *view_again(Build *b, Node *n) {
  if (n->kind == NODE_INPUT) return n;
  Arg *args = ARENA_ARRAY(b->in.g->arena, Arg, n->nargs);
  memcpy(args, n->args, n->nargs * sizeof *args);
  args[0] = arg_node(view_again(b, view_operand(n)));
  return build(b, n->op->id, n->nargs, args);
}

/* All copies side by side. */
static Node *concatenation(Build *b, const Group *group) {
  Node *parts[PARTS_MAX];
  for (uint32_t i = 0; i < group->n; i++) {
    Dim size = build_const(b, group->begin[i + 1] - group->begin[i]);
    parts[i] = build_view(b, view_again(b, group->copies[i]->args[0].node), 1, &size);
  }
  return build_cat(b, group->n, parts, 0);
}

static Node *part_of(Build *b, Node *all, const Group *group, uint32_t i) {
  const ValueType *t = &group->copies[i]->type;
  Dim begin = build_const(b, group->begin[i]), end = build_const(b, group->begin[i + 1]);
  return build_view(b, build_slice(b, all, 0, begin, end, 1), t->rank, t->shape);
}

/* Next to the inputs: the first copy may be in a loop, or a branch, that does not run. */
static void join(Graph *g, const Group *group) {
  Node *parts[PARTS_MAX];
  if (group->n < 2) return;
  Build b = build_at(g, group->copies[0]);
  b.before = graph_after_inputs(g);
  if (setjmp(b.in.failed)) return;
  Node *all = concatenation(&b, group);
  for (uint32_t i = 0; i < group->n; i++) parts[i] = part_of(&b, all, group, i);
  for (uint32_t i = 0; i < group->n; i++) graph_replace_later(group->copies[i], parts[i], g->last);
}

static bool is_read_as_weight(const Node *n) {
  return graph_is(n, OP_nereid_conv_depthwise_default) && n->args[1].kind == ARG_NODE;
}

bool pass_join_weights(Graph *g) {
  if (!graph_functional(g, "join_weights")) return false;
  Group group = {0};
  for (Node *n = g->first; n; n = n->next) {
    int64_t elements = is_read_as_weight(n) ? elements_of_copy(g, n->args[1].node) : 0;
    Node *copy = elements ? n->args[1].node : NULL;
    if (!copy || has(&group, copy)) continue;
    if (!takes(&group, copy, elements)) {
      join(g, &group);
      group = (Group){0};
    }
    add(&group, copy, elements);
  }
  join(g, &group);
  graph_dce(g);
  return true;
}
