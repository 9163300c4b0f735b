/* Pass functionalize: an op that writes in place makes a new value instead.
 *
 * Values that share storage form a tree: at its root the tensor that owns the storage, below each
 * node its views.  A write to any of them is a write to all: the value written goes up to the root,
 * through the inverse of each view on the way (a slice becomes slice_scatter, a transpose a
 * transpose), and the root counts it.  Other views are made again, from the root down, where they
 * are used next.  So the work is proportional to the writes and the views that are made again.
 *
 * reshape, contiguous and flatten are views or copies, depending on strides, which the IR does not
 * have.  They are views of a tensor in row-major order, which inputs and results of computations
 * are taken to be; of a view they may be either.  This doesn't matter if nothing else that shares
 * the storage is used later; else it is an error if a write makes it matter. */
#include <string.h>

#include "graph/builders/node_builder.h"
#include "graph/ops/graph_text.h"
#include "planner/messages.h"
#include "planner/passes.h"

typedef struct {
  Node *parent; /* whose view it is; NULL for a root */
  Node *root;
  Node *same;        /* an in-place op's result is the tensor it wrote */
  Node *value;       /* what holds its value now, if `count` is the root's */
  uint32_t count;    /* of a root: writes so far; else those that `value` has seen */
  Node *writer;      /* of a root: the last one */
  bool strided;      /* not known to be in row-major order */
  bool maybe;        /* a view or a copy: not known */
  bool returned;     /* of an input: an output has its new value already */
  uint32_t position; /* in the graph's order */
  uint32_t last;     /* the position of the last use; of a root: of all that shares its storage */
} Storage;

typedef struct {
  Graph *g;
  Arena *scratch;
  Storage *of; /* by id, of the nodes there were before the pass */
  uint32_t n;
  Build *build; /* at the node that the walk has come to */
} Functionalize;

#define FAIL(f, n, ...) \
  (diag_error((f)->g->diags, (n)->location, __VA_ARGS__), longjmp((f)->build->in.failed, 1))

/* ---- views and their storage ---- */

static const OpId same_elements[] = {OP_aten_alias_default, OP_aten_detach_default, OP_UNKNOWN};
static const OpId casts[] = {OP_aten_to_device, OP_aten_to_dtype,        OP_aten_to_dtype_layout,
                             OP_aten_to_other,  OP_aten_type_as_default, OP_UNKNOWN};
static const OpId dropouts[] = {OP_aten_dropout_default, OP_aten_feature_dropout_default,
                                OP_UNKNOWN};
/* A view if the operand is in row-major order. */
static const OpId reshapes[] = {OP_aten_reshape_default, OP_aten_flatten_using_ints,
                                OP_aten_contiguous_default, OP_UNKNOWN};
/* Keep row-major order. */
static const OpId regroupings[] = {OP_aten_view_default,
                                   OP_aten_view_dtype,
                                   OP_aten_unflatten_int,
                                   OP_aten_squeeze_default,
                                   OP_aten_squeeze_dim,
                                   OP_aten_squeeze_dims,
                                   OP_aten_unsqueeze_default,
                                   OP_aten_view_as_default,
                                   OP_aten_alias_default,
                                   OP_aten_detach_default,
                                   OP_aten_to_device,
                                   OP_aten_to_dtype,
                                   OP_aten_to_dtype_layout,
                                   OP_aten_to_other,
                                   OP_aten_type_as_default,
                                   OP_aten_dropout_default,
                                   OP_UNKNOWN};

/* The schema's parameter that the result may be a view of; NULL: the result is new. */
static const char *viewed_param(Functionalize *f, const Node *n) {
  Infer *in = &f->build->in;
  const OpSchema *s = in->schema;
  if (graph_is_among(n, casts)) {
    bool same = n->type.dtype == n->args[0].node->type.dtype && !infer_bool(in, "copy");
    return same ? s->params[0].name : NULL;
  }
  if (graph_is_among(n, dropouts)) return infer_bool(in, "train") ? NULL : s->params[0].name;
  for (uint32_t i = 0; i < s->nparams; i++)
    if (s->params[i].viewed) return s->params[i].name;
  return NULL;
}

static Storage *storage_of(Functionalize *f, const Node *n) { return &f->of[n->id]; }

static Node *unalias(Functionalize *f, Node *n) {
  while (storage_of(f, n)->same) n = storage_of(f, n)->same;
  return n;
}

/* Items of a list are views if the list's op makes views. */
static Node *viewed_list(Functionalize *f, Node *n) {
  Node *list = n->args[0].node;
  return storage_of(f, list)->parent ? list : NULL;
}

static Node *viewed_node(Functionalize *f, Node *n) {
  if (n->kind == NODE_GETITEM) return viewed_list(f, n);
  if (n->kind != NODE_CALL || !n->nargs) return NULL;
  const char *param = viewed_param(f, n);
  Arg a = param ? graph_arg(f->g, n, param) : arg_none();
  return a.kind == ARG_NODE ? unalias(f, a.node) : NULL;
}

/* A storage is used as late as `n`, which shares it, is. */
static void note_last(Functionalize *f, Node *root, const Node *n) {
  uint32_t *last = &storage_of(f, root)->last, own = storage_of(f, n)->last;
  if (own > *last) *last = own;
}

/* Nothing tells whether n, a view or a copy of `of`, is the one or the other. */
static bool may_be_copy(Functionalize *f, const Node *n, Node *of) {
  const Storage *p = storage_of(f, of), *root = storage_of(f, p->root);
  return !p->maybe && p->root->kind != NODE_INPUT && root->last <= storage_of(f, n)->position;
}

static void note_view(Functionalize *f, Node *n, Node *of) {
  Storage *s = storage_of(f, n), *p = storage_of(f, of);
  bool reshape = graph_is_among(n, reshapes);
  if (reshape && p->strided && may_be_copy(f, n, of)) {
    s->strided = !graph_is(n, OP_aten_contiguous_default);
    return;
  }
  s->maybe = p->maybe || (reshape && p->strided);
  s->strided = p->strided || !(reshape || graph_is_among(n, regroupings));
  s->parent = of;
  s->root = p->root;
  s->count = storage_of(f, s->root)->count;
}

static void note_value(Functionalize *f, Node *n) {
  Storage *s = storage_of(f, n);
  Node *of = viewed_node(f, n);
  s->value = n;
  s->root = n;
  if (of) note_view(f, n, of);
  note_last(f, s->root, n);
}

/* ---- values ---- */

static void check_known(Functionalize *f, Node *n) {
  const Storage *s = storage_of(f, n);
  if (s->maybe)
    FAIL(f, n, E_GRAPH_MAYBE_VIEW, n->name, n->op->target, s->root->name,
         storage_of(f, s->root)->writer->name);
}

/* The view n once more, of `of`. */
static Node *view_again(Functionalize *f, Node *n, Node *of) {
  Graph *g = f->g;
  Node *copy = graph_node(g, n->kind, f->build->before, n->nargs, n->nnamed);
  copy->op = n->op;
  if (n->nargs) memcpy(copy->args, n->args, n->nargs * sizeof *n->args);
  if (n->nnamed) memcpy(copy->named, n->named, n->nnamed * sizeof *n->named);
  copy->args[0] = arg_node(of);
  copy->type = n->type;
  copy->location = n->location;
  copy->origin = n->origin;
  copy->rounds = n->rounds;
  graph_fresh_name(g, copy, n->name);
  return copy;
}

/* The node that has n's value now. */
static Node *current_value(Functionalize *f, Node *n) {
  if (n->id >= f->n) return n;
  n = unalias(f, n);
  uint32_t count = storage_of(f, storage_of(f, n)->root)->count;
  VEC(Node *) stale = {0};
  Node *at = n;
  for (; storage_of(f, at)->count != count; at = storage_of(f, at)->parent) {
    check_known(f, at);
    vec_push(f->scratch, &stale, at);
  }
  Node *value = storage_of(f, at)->value;
  while (stale.len) {
    at = stale.data[--stale.len];
    Storage *s = storage_of(f, at);
    s->value = value = view_again(f, at, value);
    s->count = count;
  }
  return value;
}

static void update_use(Node **use, void *ctx) { *use = current_value(ctx, *use); }

/* ---- writes through views ---- */

static Node *scatter_into(Functionalize *f, Node *part, Node *into, int64_t axis, Dim start,
                          Dim end, int64_t step) {
  Arg args[] = {arg_node(into), arg_node(part), arg_int(f->g, axis),
                arg_dim(start), arg_dim(end),   arg_int(f->g, step)};
  return build(f->build, OP_aten_slice_scatter_default, step == 1 ? 5 : 6, args);
}

/* The sizes before item i of a list of parts along an axis. */
static Dim part_start(Functionalize *f, const Node *list, uint32_t axis, int64_t i) {
  Dim start = dim_int(f->g->dims, 0);
  for (int64_t k = 0; k < i; k++)
    start = dim_add(f->g->dims, start, list->type.items[k].shape[axis]);
  return start;
}

static Node *select_scatter(Functionalize *f, Node *part, Node *into, int64_t axis, Dim i) {
  return build(f->build, OP_aten_select_scatter_default,
               ARGS(arg_node(into), arg_node(part), arg_int(f->g, axis), arg_dim(i)));
}

/* The Build looks at a view's arguments, and then back. */
static Node *set_current_node(Functionalize *f, Node *n) {
  Infer *in = &f->build->in;
  Node *before = in->n;
  in->n = n;
  in->schema = ops_schema(f->g, n->op);
  return before;
}

static uint32_t view_axis_arg(Functionalize *f, Node *view, const char *param, uint32_t rank) {
  Node *back = set_current_node(f, view);
  uint32_t axis = infer_axis_arg(&f->build->in, param, rank);
  set_current_node(f, back);
  return axis;
}

static Dim view_size_arg(Functionalize *f, Node *view, const char *param) {
  Node *back = set_current_node(f, view);
  Dim size = infer_size(&f->build->in, param);
  set_current_node(f, back);
  return size;
}

static Node *write_item(Functionalize *f, Node *n, Node *part, Node *into) {
  Node *list = n->args[0].node;
  uint32_t axis = view_axis_arg(f, list, "dim", rank_of(into));
  int64_t i = n->args[1].dim->value;
  if (graph_is(list, OP_aten_unbind_int))
    return select_scatter(f, part, into, axis, dim_int(f->g->dims, i));
  Dim start = part_start(f, list, axis, i);
  return scatter_into(f, part, into, axis, start, dim_add(f->g->dims, start, n->type.shape[axis]),
                      1);
}

static Node *write_slice(Functionalize *f, Node *n, Node *part, Node *into) {
  uint32_t axis = view_axis_arg(f, n, "dim", rank_of(into));
  if (graph_is(n, OP_aten_narrow_default)) {
    Dim start = view_size_arg(f, n, "start");
    return scatter_into(f, part, into, axis, start,
                        dim_add(f->g->dims, start, view_size_arg(f, n, "length")), 1);
  }
  Dim start = graph_arg(f->g, n, "start").kind == ARG_NONE ? dim_int(f->g->dims, 0)
                                                           : view_size_arg(f, n, "start");
  Dim end = graph_arg(f->g, n, "end").kind == ARG_NONE ? into->type.shape[axis]
                                                       : view_size_arg(f, n, "end");
  return scatter_into(f, part, into, axis, start, end, view_size_arg(f, n, "step")->value);
}

static Node *write_permuted(Functionalize *f, Node *n, Node *part) {
  uint32_t inverse[GRAPH_RANK_MAX];
  int64_t dims[GRAPH_RANK_MAX];
  Node *back = set_current_node(f, n);
  uint32_t rank = infer_ints(&f->build->in, "dims", dims);
  for (uint32_t i = 0; i < rank; i++) inverse[infer_axis(&f->build->in, dims[i], rank)] = i;
  set_current_node(f, back);
  return build_permute(f->build, part, inverse);
}

/* These are their own inverses. */
static const OpId swaps[] = {OP_aten_transpose_int,    OP_aten_t_default,
                             OP_aten_mT_default,       OP_aten_numpy_T_default,
                             OP_aten_swapaxes_default, OP_aten_swapdims_default,
                             OP_UNKNOWN};
static const OpId views[] = {
    OP_aten_view_default,       OP_aten_view_dtype,           OP_aten_reshape_default,
    OP_aten_flatten_using_ints, OP_aten_unflatten_int,        OP_aten_squeeze_default,
    OP_aten_squeeze_dim,        OP_aten_squeeze_dims,         OP_aten_unsqueeze_default,
    OP_aten_view_as_default,    OP_aten__unsafe_view_default, OP_UNKNOWN};

static Node *swap_back(Functionalize *f, Node *n, Node *part, const Node *into) {
  Node *back = view_again(f, n, part);
  back->type = into->type;
  return back;
}

/* `into`, a value of n's parent, with the value `part` in the place of its view n. */
static Node *write_view(Functionalize *f, Node *n, Node *part, Node *into) {
  if (n->kind == NODE_GETITEM) return write_item(f, n, part, into);
  bool bits = n->op->id == OP_aten_view_dtype; /* the same bytes, read otherwise */
  if (graph_is_among(n, same_elements) || graph_is_among(n, casts) || graph_is_among(n, dropouts) ||
      graph_is(n, OP_aten_contiguous_default))
    return part;
  if (graph_is_among(n, swaps)) return swap_back(f, n, part, into);
  if (graph_is(n, OP_aten_permute_default)) return write_permuted(f, n, part);
  if (graph_is(n, OP_aten_slice_Tensor) || graph_is(n, OP_aten_narrow_default))
    return write_slice(f, n, part, into);
  if (graph_is(n, OP_aten_select_int))
    return select_scatter(f, part, into, view_axis_arg(f, n, "dim", rank_of(into)),
                          view_size_arg(f, n, "index"));
  if (!graph_is_among(n, views) || bits)
    FAIL(f, n, E_GRAPH_WRITE_VIEW, f->build->in.n->name, n->op->target);
  return build_view(f->build, part, into->type.rank, into->type.shape);
}

/* The node below whose storage n's is: a list of parts has none of its own. */
static Node *owner_of(Functionalize *f, Node *n) {
  Node *p = storage_of(f, n)->parent;
  return p && p->type.kind == VALUE_LIST ? storage_of(f, p)->parent : p;
}

/* `value` becomes the value of n, and of all that shares its storage. */
static void write(Functionalize *f, Node *n, Node *value) {
  Storage *root = storage_of(f, storage_of(f, n)->root);
  uint32_t count = root->count + 1;
  root->writer = f->build->in.n;
  for (Node *p; (p = owner_of(f, n)); n = p) {
    check_known(f, n);
    Node *into = current_value(f, p);
    storage_of(f, n)->value = value;
    value = write_view(f, n, value, into);
    storage_of(f, n)->count = count;
  }
  root->value = value;
  root->count = count;
}

/* ---- ops that write ---- */

/* aten.zero_ has no counterpart. */
static void make_zeros(Functionalize *f, Node *n) {
  Arg *args = ARENA_ARRAY(f->g->arena, Arg, 2);
  args[0] = n->args[0];
  args[1] = arg_int(f->g, 0);
  n->op = ops_at(OP_aten_fill_Scalar);
  n->args = args;
  n->nargs = 2;
}

static void make_functional(Functionalize *f, Node *n) {
  if (n->op->functional) n->op = n->op->functional;
  else if (graph_is(n, OP_aten_zero__default)) make_zeros(f, n);
  else FAIL(f, n, E_GRAPH_WRITES, n->name, n->op->target);
}

/* The value of n, in the dtype of the tensor that it wrote; a cast is inserted after n. */
static Node *as_written(Functionalize *f, Node *n) {
  ValueType written = n->type;
  if (!infer_node(f->g, n, &n->type)) longjmp(f->build->in.failed, 1);
  f->build->before = n->next;
  if (n->type.dtype != written.dtype) return build_to(f->build, n, written.dtype);
  n->type = written;
  return n;
}

static const OpParam *written_param(Functionalize *f) {
  const OpSchema *s = f->build->in.schema;
  for (uint32_t i = 0; s && i < s->nparams; i++)
    if (s->params[i].written) return &s->params[i];
  return NULL;
}

static void make_write(Functionalize *f, Node *n) {
  if (written_param(f) != f->build->in.schema->params || !n->nargs)
    FAIL(f, n, E_GRAPH_WRITES, n->name, n->op->target);
  Node *to = unalias(f, n->args[0].node);
  graph_each_use(n, update_use, f);
  make_functional(f, n);
  write(f, to, as_written(f, n));
  storage_of(f, n)->same = to;
  note_last(f, storage_of(f, to)->root, n);
}

/* ---- ops that write nothing in inference ---- */

static void drop_arg(Node *n, uint32_t i) {
  n->nargs--;
  memmove(n->args + i, n->args + i + 1, (n->nargs - i) * sizeof *n->args);
}

/* Their results are views, which PyTorch uses in their operand's place from then on. */
static const OpId turned[] = {OP_aten_detach__default,
                              OP_aten_squeeze__default,
                              OP_aten_squeeze__dim,
                              OP_aten_squeeze__dims,
                              OP_aten_swapaxes__default,
                              OP_aten_swapdims__default,
                              OP_aten_t__default,
                              OP_aten_transpose__default,
                              OP_aten_unsqueeze__default,
                              OP_UNKNOWN};

static void make_harmless(Functionalize *f, Node *n) {
  enum { TRAINING = 5 };
  Infer *in = &f->build->in;
  if (graph_is_among(n, turned) ||
      (graph_is(n, OP_aten_dropout__default) && !infer_bool(in, "train"))) {
    make_functional(f, n);
  } else if (n->op->id == OP_aten__native_batch_norm_legit_default && n->nargs > TRAINING &&
             !infer_bool(in, "training")) {
    n->op = ops_at(OP_aten__native_batch_norm_legit_no_training_default);
    drop_arg(n, TRAINING);
  }
  in->schema = ops_schema(f->g, n->op);
}

/* ---- batch norms that train ---- */

/* Is n one that moves its running statistics?  In schemas that says nothing, or only of the mutable
 * form. */
static bool moves_statistics(Functionalize *f, const Node *n) {
  static const OpId norms[] = {OP_aten_batch_norm_default, OP_aten_native_batch_norm_default,
                               OP_aten__native_batch_norm_legit_default, OP_UNKNOWN};
  Infer *in = &f->build->in;
  return n->kind == NODE_CALL && graph_is_among(n, norms) && infer_has(in, "training") &&
         infer_bool(in, "training") && infer_has(in, "running_mean") &&
         infer_has(in, "running_var");
}

/* The call with the last results as new statistics, from n's operands. */
static Node *build_moved(Build *b, Node *n) {
  static const char *const params[] = {"input",       "weight",   "bias",     "running_mean",
                                       "running_var", "training", "momentum", "eps"};
  enum { PARAMS = sizeof params / sizeof *params };
  Arg args[PARAMS];
  for (int i = 0; i < PARAMS; i++) args[i] = graph_arg(b->in.g, n, params[i]);
  b->before = n;
  return build(b, OP_aten__native_batch_norm_legit_functional_default, PARAMS, args);
}

/* n gives what it gave, by the op `to` of one operand or of those that `like` has. */
static void become(Functionalize *f, Node *n, OpId to, const Node *like, Node *operand) {
  n->nargs = like ? like->nargs : 1;
  n->args = ARENA_ARRAY(f->g->arena, Arg, n->nargs);
  if (like) memcpy(n->args, like->args, n->nargs * sizeof *n->args);
  else n->args[0] = arg_node(operand);
  n->nnamed = 0;
  n->op = ops_at(to);
  f->build->in.schema = ops_schema(f->g, n->op);
}

/* Nodes after n find its results where they were: in a copy of the one, or in the list that has the
 * new statistics at its end. */
static void move_statistics(Functionalize *f, Node *n) {
  enum { FIRST_MOVED = 3 };
  Build *b = f->build;
  Node *to[] = {unalias(f, graph_arg(f->g, n, "running_mean").node),
                unalias(f, graph_arg(f->g, n, "running_var").node)};
  graph_each_use(n, update_use, f);
  Node *moved = build_moved(b, n);
  if (graph_is(n, OP_aten_batch_norm_default)) {
    become(f, n, OP_aten_clone_default, NULL, build_item(b, moved, 0));
  } else {
    become(f, n, OP_aten__native_batch_norm_legit_functional_default, moved, NULL);
    n->type = moved->type;
    graph_forget_name(f->g, moved);
    graph_remove(f->g, moved);
    moved = n;
  }
  note_value(f, n);
  b->before = n->next;
  for (uint32_t i = 0; i < 2; i++) {
    Node *value = build_to(b, build_item(b, moved, FIRST_MOVED + i), to[i]->type.dtype);
    write(f, to[i], value);
    note_last(f, storage_of(f, to[i])->root, n);
  }
}

/* ---- the walk ---- */

static bool functionalize_node(Functionalize *f, Node *n) {
  Build b = build_at(f->g, n);
  f->build = &b;
  if (setjmp(b.in.failed)) return false;
  if (moves_statistics(f, n)) {
    move_statistics(f, n);
    return true;
  }
  if (n->kind == NODE_CALL) make_harmless(f, n);
  if (n->kind == NODE_CALL && written_param(f)) {
    make_write(f, n);
    return true;
  }
  if (n->kind != NODE_OUTPUT) note_value(f, n);
  graph_each_use(n, update_use, f);
  return true;
}

/* ---- what was written to inputs ---- */

static bool is_new_output(Functionalize *f, const Node *n) {
  const Storage *s = storage_of(f, n);
  return n->kind == NODE_INPUT && s->count && !s->returned;
}

static uint32_t count_new_outputs(Functionalize *f) {
  uint32_t count = 0;
  for (const Node *n = f->g->first; n; n = n->next) count += n->id < f->n && is_new_output(f, n);
  return count;
}

/* New values of inputs are returned after the other outputs. */
static void return_mutations(Functionalize *f) {
  Graph *g = f->g;
  Arg list = g->last->args[0];
  uint32_t n = list.kind == ARG_LIST ? list.n : 0;
  for (uint32_t i = 0; g->outputs && i < n; i++)
    if (g->outputs[i].target) storage_of(f, g->outputs[i].target)->returned = true;
  uint32_t more = count_new_outputs(f);
  if (!more || list.kind != ARG_LIST) return;
  Arg longer = arg_list(g, n + more);
  OutputSpec *specs = ARENA_ARRAY(g->arena, OutputSpec, longer.n);
  longer.tuple = list.tuple;
  if (n) memcpy(longer.items, list.items, n * sizeof *list.items);
  if (n && g->outputs) memcpy(specs, g->outputs, n * sizeof *specs);
  for (Node *in = g->first; in; in = in->next) {
    if (in->id >= f->n || !is_new_output(f, in)) continue;
    longer.items[n] = arg_node(storage_of(f, in)->value);
    specs[n++] = (OutputSpec){.kind = OUTPUT_MUTATION, .target = in};
  }
  g->last->args[0] = longer;
  g->outputs = specs;
}

typedef struct {
  Functionalize *f;
  uint32_t position;
} Use;

static void note_storage_use(Node **of, void *ctx) {
  const Use *use = ctx;
  storage_of(use->f, *of)->last = use->position;
}

static void note_order(Functionalize *f) {
  Use use = {f, 0};
  for (Node *n = f->g->first; n; n = n->next) {
    storage_of(f, n)->position = ++use.position;
    graph_each_use(n, note_storage_use, &use);
  }
}

bool pass_functionalize(Graph *g) {
  graph_part_names(g);
  Functionalize f = {.g = g, .scratch = arena_child(g->arena), .n = g->nids};
  f.of = ARENA_ARRAY(f.scratch, Storage, f.n);
  note_order(&f);
  bool ok = true;
  for (Node *n = g->first, *next; n && ok; n = next) {
    next = n->next;
    ok = n->id >= f.n || functionalize_node(&f, n);
  }
  if (ok) return_mutations(&f);
  arena_free(f.scratch);
  return ok;
}
