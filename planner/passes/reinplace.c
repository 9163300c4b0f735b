/* Pass reinplace: an update of a part of an input, or of a buffer, writes that part alone.
 *
 * After functionalize the new value of a tensor that a graph writes to is computed from the old
 * one by updates of elements by index or mask, slice_scatter and select_scatter in a row, through
 * views.  Each becomes a nereid.scatter with "put": the value of its operand, with some elements
 * replaced.  If nothing reads that operand later, the scatter writes to the operand's memory
 * (planner/fuse/insert_copies.c).  An operand that is read again would be copied first, so its
 * update stays as it is.
 *
 * An *address* is a tensor of integers that says of each element of a part where it is in memory,
 * in row-major order: the part, as views, of arange.  So two parts are the same if their elements'
 * addresses are the same expressions (element_value.h). */
#include "planner/passes/reinplace.h"

#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/analysis/element_value.h"
#include "decompose/decompose.h"
#include "decompose/scatter.h"
#include "planner/passes.h"

enum { NESTED_MAX = 32 };

/* A part of the tensor in memory: a view of another part. */
typedef struct Part Part;
struct Part {
  const Part *of; /* NULL: it is all of the tensor */
  enum { PART_SLICE, PART_SELECT, PART_PERMUTE, PART_VIEW } kind;
  uint32_t axis;
  Dim start, end;
  int64_t step;
  uint32_t axes[GRAPH_RANK_MAX];
  ValueType type; /* VIEW */
  Node *address;
};

/* A node whose value a part has from some moment on. */
typedef struct {
  Node *node;
  const Part *part;
} Held;

typedef VEC(Held) HeldList;

typedef struct {
  Graph *g;
  Arena *scratch;
  ReplacementMap replacements;
  uint32_t *order; /* by id, of the nodes there were before the pass: their order in the graph */
  uint32_t *last;  /* by id: the order of the last node that reads it, through views */
  uint32_t n;
  Node *first; /* after the inputs */
  Build *build;
  Held known;    /* what memory has now */
  Node *current; /* the value of all of the tensor now */
} Reinplace;

/* ---- nodes ---- */

static const OpId updates[] = {OP_aten_index_add_default,
                               OP_aten_index_copy_default,
                               OP_aten_index_fill_int_Scalar,
                               OP_aten_index_fill_int_Tensor,
                               OP_aten_index_put_default,
                               OP_aten_masked_fill_Scalar,
                               OP_aten_masked_fill_Tensor,
                               OP_aten_masked_scatter_default,
                               OP_aten_select_scatter_default,
                               OP_aten_slice_scatter_default,
                               OP_UNKNOWN};

static bool is_update(const Node *n) { return graph_is_among(n, updates); }

static bool replaces_part(const Node *n) {
  return graph_is(n, OP_aten_select_scatter_default) || graph_is(n, OP_aten_slice_scatter_default);
}

/* The Build looks at n's arguments from now on, and puts what it makes before n. */
static void stand_at(Reinplace *r, Node *n) {
  r->build->in.n = n;
  r->build->in.schema = n->op ? ops_schema(r->g, n->op) : NULL;
  r->build->before = n;
}

/* ---- parts ---- */

/* The part of a value of the tensor. */
static Node *build_part(Build *b, const Part *p, Node *whole) {
  if (!p->of) return whole;
  BUG_IF(p->kind > PART_VIEW, "no part");
  Node *x = build_part(b, p->of, whole);
  switch (p->kind) {
    case PART_SLICE: return build_slice(b, x, p->axis, p->start, p->end, p->step);
    case PART_SELECT: return build_select(b, x, p->axis, p->start);
    case PART_PERMUTE: return build_permute(b, x, p->axes);
    case PART_VIEW: return build_view(b, x, p->type.rank, p->type.shape);
  }
  return NULL;
}

static Part *part_new(Reinplace *r, const Part *of, int kind) {
  Part *p = ARENA_NEW(r->scratch, Part);
  p->of = of;
  p->kind = kind;
  return p;
}

/* Its address is that of the part that it is a view of, viewed.  All addresses come first: they are
 * used wherever the part is written. */
static const Part *part_done(Reinplace *r, Part *p) {
  Part only = *p, outer = {0};
  Node *before = r->build->before;
  only.of = &outer;
  r->build->before = r->first;
  p->address = build_part(r->build, &only, p->of->address);
  r->build->before = before;
  return p;
}

static const Part *part_all(Reinplace *r, const Node *x) {
  Part *p = part_new(r, NULL, PART_VIEW);
  Node *all = build_arange(r->build, value_numel(r->g, &x->type));
  p->address = build_view(r->build, all, x->type.rank, x->type.shape);
  return p;
}

/* The part of `of` that a slice_scatter or select_scatter replaces. */
static const Part *replaced(Reinplace *r, const Part *of, const ReplacedPart *x) {
  Part *p = part_new(r, of, x->selects ? PART_SELECT : PART_SLICE);
  p->axis = x->axis;
  p->start = x->start;
  p->end = x->end;
  p->step = x->step;
  return part_done(r, p);
}

static uint32_t axis_at(const Arg *a, uint32_t rank) {
  int64_t axis = a->dim->value;
  return (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
}

/* The part that has the operand's value where `of` has that of n, a view of all its elements; NULL
 * if n is none. */
static const Part *before_view(Reinplace *r, const Node *n, const Part *of) {
  if (graph_is(n, OP_aten_permute_default)) {
    Arg dims = graph_arg(r->g, n, "dims");
    Part *p = part_new(r, of, PART_PERMUTE);
    for (uint32_t i = 0; i < dims.n; i++) p->axes[axis_at(&dims.items[i], dims.n)] = i;
    return part_done(r, p);
  }
  if (graph_is_any(n, OP_aten_view_default, OP_aten_squeeze_dims, OP_aten_unsqueeze_default)) {
    Part *p = part_new(r, of, PART_VIEW);
    p->type = n->args[0].node->type;
    return part_done(r, p);
  }
  return NULL;
}

static void new_indices(Reinplace *r, const Node *n, Dim *index) {
  for (uint32_t i = 0; i < n->type.rank; i++)
    index[i] = dim_index(r->g->dims, "i", n->type.shape[i]);
}

/* Does the part already have the value of n, because n is a view of memory's present value? */
static bool part_holds(Reinplace *r, Node *n, const Part *part) {
  Dim index[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  Node *of = n;
  while (of != r->known.node && prim_is_view(of) && of->kind == NODE_CALL) of = view_operand(of);
  if (of != r->known.node) return false;
  if (of == n && part == r->known.part) return true;
  new_indices(r, n, index);
  Dim wanted = element_value(r->g, part->address, index);
  for (of = n; of != r->known.node; of = view_operand(of)) {
    view_index(r->g, of, index, from);
    memcpy(index, from, sizeof index);
  }
  return wanted && wanted == element_value(r->g, r->known.part->address, index);
}

/* ---- writes ---- */

static void build_puts(Reinplace *r, const Puts *p) {
  Arg how = {.kind = ARG_STRING, .name = "put"};
  r->current = build(r->build, OP_nereid_scatter_default,
                     ARGS(arg_node(r->current), arg_node(p->index), arg_node(p->src), how));
}

/* The part has n's value from now on, and replaces n. */
static void now_holds(Reinplace *r, Node *n, const Part *part) {
  stand_at(r, n);
  r->known = (Held){n, part};
  replacement_of(&r->replacements, n)->node = build_part(r->build, part, r->current);
}

static bool write_nested(Reinplace *r, Node *n, const Part *part, uint32_t depth);

/* A place that is known only when the model runs may be none of the axis. */
static bool is_part_inside(Reinplace *r, const ReplacedPart *x, Dim size) {
  Dims *d = r->g->dims;
  return dim_range(d, x->start).lo >= 0 && dim_at_most(d, x->end, size);
}

static bool write_updated_part(Reinplace *r, Node *n, const Part *part, uint32_t depth) {
  ReplacedPart x = decompose_replaced_part(r->build);
  if (dim_is(x.count, 0)) return true;
  if (x.selects && !is_part_inside(r, &x, n->type.shape[x.axis])) return false;
  const Part *to = replaced(r, part, &x);
  if (write_nested(r, build_input(r->build, "src"), to, depth)) return true;
  stand_at(r, n);
  Node *src = decompose_replacing_part(r->build, &x);
  if (x.selects) src = build_view(r->build, src, rank_of(to->address), to->address->type.shape);
  if (!scatter_empty(r->build, src)) build_puts(r, &(Puts){to->address, src});
  return true;
}

/* The update n, where the part has its operand's value; false if it cannot be one of a part. */
static bool write_update(Reinplace *r, Node *n, const Part *part, uint32_t depth) {
  Puts puts;
  stand_at(r, n);
  if (replaces_part(n)) {
    if (!write_updated_part(r, n, part, depth)) return false;
  } else {
    if (!reinplace_elements(r->build, part->address, &puts)) return false;
    if (!scatter_empty(r->build, puts.src)) build_puts(r, &puts);
  }
  now_holds(r, n, part);
  return true;
}

/* The updates and views that make n's value, for the part, from memory's present value; the last
 * comes first.  False if other nodes are needed. */
static bool find_updates(Reinplace *r, Node *n, const Part *part, HeldList *out) {
  while (!part_holds(r, n, part)) {
    if (n->kind != NODE_CALL || n->id >= r->n || replacement_of(&r->replacements, n)->node)
      return false;
    vec_push(r->scratch, out, ((Held){n, part}));
    if (!is_update(n)) part = before_view(r, n, part);
    if (!part) return false;
    n = n->args[0].node;
  }
  return true;
}

/* Gives the part the value of n, by updates of its present one; false if that can't be done. */
static bool write_nested(Reinplace *r, Node *n, const Part *part, uint32_t depth) {
  HeldList list = {0};
  const ValueType *a = &part->address->type, *t = &n->type;
  bool same = a->rank == t->rank && !memcmp(a->shape, t->shape, a->rank * sizeof *a->shape);
  bool found = same && depth < NESTED_MAX && find_updates(r, n, part, &list);
  for (size_t i = list.len; found && i-- > 0;) {
    Held h = list.data[i];
    if (is_update(h.node)) found = write_update(r, h.node, h.part, depth + 1);
    else now_holds(r, h.node, h.part);
  }
  return found;
}

/* ---- inputs ---- */

/* Is nothing that has the operand's value read once n has its own? */
static bool is_last_reader(const Reinplace *r, const Node *n) {
  const Node *known = r->known.node;
  return known->id >= r->n || r->last[known->id] <= r->order[n->id];
}

/* The new value of the input is made from the old one. */
static void update_input(Reinplace *r, Node *x, Node *value) {
  HeldList list = {0};
  stand_at(r, x);
  r->build->before = r->first;
  const Part *all = part_all(r, x);
  r->known = (Held){x, all};
  r->current = x;
  bool found = find_updates(r, value, all, &list);
  for (size_t i = list.len; found && i-- > 0;) {
    Held h = list.data[i];
    if (!is_update(h.node)) now_holds(r, h.node, h.part);
    else found = is_last_reader(r, h.node) && write_update(r, h.node, h.part, 0);
  }
}

typedef struct {
  Reinplace *r;
  uint32_t order;
} Reader;

static void note_last_read(Node **use, void *ctx) {
  const Reader *reader = ctx;
  uint32_t *last = &reader->r->last[(*use)->id];
  if (reader->order > *last) *last = reader->order;
}

static void find_last_reads(Reinplace *r) {
  uint32_t count = 0;
  for (Node *n = r->g->first; n; n = n->next) r->order[n->id] = ++count;
  for (Node *n = r->g->last; n; n = n->prev) {
    bool view = prim_is_view(n) && !prim_reads_size(n);
    Reader reader = {r, view ? r->last[n->id] : r->order[n->id]};
    graph_each_use(n, note_last_read, &reader);
  }
}

static bool update_inputs(Reinplace *r) {
  Graph *g = r->g;
  Build b = build_at(g, g->last);
  r->build = &b;
  if (setjmp(b.in.failed)) return false;
  const Arg *list = &g->last->args[0];
  for (uint32_t i = 0; i < list->n; i++)
    if (g->outputs[i].kind == OUTPUT_MUTATION && list->items[i].kind == ARG_NODE)
      update_input(r, g->outputs[i].target, list->items[i].node);
  for (Node *n = g->first; n; n = n->next) replacements_apply(&r->replacements, n);
  graph_dce(g);
  return true;
}

static bool writes_inputs(const Graph *g) {
  bool found = false;
  for (uint32_t i = 0; g->outputs && i < g->last->args[0].n; i++)
    found |= g->outputs[i].kind == OUTPUT_MUTATION;
  return found;
}

bool pass_reinplace(Graph *g) {
  if (!writes_inputs(g)) return true;
  if (!graph_decompose(g, updates)) return false;
  Reinplace r = {.g = g, .scratch = arena_child(g->arena), .n = g->nids};
  r.replacements = replacements_new(g, r.scratch);
  r.order = ARENA_ARRAY(r.scratch, uint32_t, g->nids);
  r.last = ARENA_ARRAY(r.scratch, uint32_t, g->nids);
  find_last_reads(&r);
  r.first = graph_after_inputs(g);
  bool ok = update_inputs(&r);
  arena_free(r.scratch);
  return ok;
}
