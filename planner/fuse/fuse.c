#include "planner/fuse/fuse.h"

#include "graph/analysis/weight_constants.h"
#include "graph/ops/graph_text.h"
#include "planner/fuse/fuse_state.h"
#include "planner/fuse/strips.h"

/* ---- loops: their parts share no kernel with steps around them ---- */

static FusionLoop *find_loop(Fusion *f, const Node *end) {
  size_t i = 0;
  while (f->loops.data[i].end != end) i++;
  return &f->loops.data[i];
}

/* All loops that began after this one have ended. */
static void end_loop(Fusion *f, const Node *end, uint32_t number) {
  FusionLoop *loop = find_loop(f, end);
  loop->past = number;
  loop->inside = (uint32_t)(f->loops.len - 1 - (size_t)(loop - f->loops.data));
}

/* n is the last of its loop's carried values, its test, its end, or one of its results. */
static void note_loop(Fuser *s, Node *n) {
  Fusion *f = s->f;
  uint32_t number = (uint32_t)f->groups.len;
  for (uint32_t i = 0; i < s->loops.n; i++) {
    const Loop *loop = &s->loops.list[i];
    if (n != loop->begin && n != loop->test && n != loop->end) continue;
    f->barrier = number;
    if (n == loop->begin) vec_push(f->arena, &f->loops, ((FusionLoop){loop->end, number, 0, 0, 0}));
    else if (n == loop->test) find_loop(f, loop->end)->body = number;
    else end_loop(f, loop->end, number);
  }
}

/* The memory has its last value when all of the loop has run, as far as groups go. */
static bool assign_loop_node(Fuser *s, Node *n) {
  if (graph_is(n, OP_nereid_carried_default)) s->info[n->id].apart = true;
  if (graph_is(n, OP_nereid_loop_result_default)) {
    s->f->of[n->id] = vec_last(&s->f->groups);
    s->info[n->id].bytes = fuse_node_bytes(s->f->graph, n);
    return true;
  }
  return n->kind == NODE_CALL && prim_kind(n->op) == PRIM_LOOP;
}

static bool computes(const Node *n) {
  if (n->kind != NODE_CALL || !is_tensor(n)) return false;
  PrimKind k = prim_kind(n->op);
  return k != PRIM_VIEW && k != PRIM_NONE && k != PRIM_EMPTY && k != PRIM_INSERTED &&
         k != PRIM_TILE;
}

static void assign_node(Fuser *s, Node *n) {
  bool done = s->loops.n && assign_loop_node(s, n);
  if (!done && n->kind == NODE_CALL && prim_kind(n->op) == PRIM_INSERTED)
    fuse_assign_inserted(s, n);
  else if (!done && !fuse_is_inlined(s, n, fuse_follows_sums(s, n)) && computes(n))
    fuse_assign_group(s, n);
  if (s->loops.n) note_loop(s, n);
}

static void assign_groups(Fuser *s) {
  Fusion *f = s->f;
  Graph *g = f->graph;
  for (uint32_t i = 0; i < dims_symbols(g->dims); i++) {
    Dim symbol = dims_symbol_at(g->dims, i);
    if (!symbol->indexed) vec_push(f->arena, &f->symbols, symbol);
  }
  fuse_survey_uses(s);
  for (Node *n = g->first; n; n = n->next) {
    if (n->kind == NODE_INPUT && is_tensor(n)) s->info[n->id].bytes = fuse_node_bytes(g, n);
    if (n->kind != NODE_CALL && n->kind != NODE_GETITEM) continue;
    assign_node(s, n);
    if (prim_reads_size(n))
      vec_push(f->arena, &f->reads, ((FusionRead){n, (uint32_t)f->groups.len}));
  }
  fuse_find_stored(f);
}

static Fuser new_fuser(Graph *g, Arena *a, const FuseOptions *options) {
  Fusion *f = ARENA_NEW(a, Fusion);
  *f = (Fusion){.graph = g, .arena = a};
  f->of = ARENA_ARRAY(a, Group *, g->nids);
  f->role = ARENA_ARRAY(a, Role, g->nids);
  f->stored = ARENA_ARRAY(a, bool, g->nids);
  f->turn = ARENA_ARRAY(a, const uint8_t *, g->nids);
  f->stop = ARENA_ARRAY(a, FuseStop, g->nids);
  f->once = options->freeze ? constants_find(g, a) : ARENA_ARRAY(a, bool, g->nids);
  Fuser s = {.f = f, .together = options->together, .columns = options->columns};
  s.turns = options->strips;
  s.loops = loops_find(g, a);
  s.info = ARENA_ARRAY(a, Info, g->nids);
  s.last_reader = ARENA_ARRAY(a, Group *, g->nids);
  s.writers = ARENA_ARRAY(a, Writers, g->nids);
  return s;
}

/* The groups with values in the places that move fewer bytes.  A group that becomes too long may
 * end before what joined it without them, which moves more. */
static Fuser regrouped(const Fuser *s, const FuseOptions *options, const FusePlace *place) {
  Fuser again = new_fuser(s->f->graph, s->f->arena, options);
  again.place = place;
  assign_groups(&again);
  return fuse_traffic(again.f) <= fuse_traffic(s->f) ? again : *s;
}

/* Slices at known places differ by an offset alone. */
static void count_slices(Fusion *f) {
  Graph *g = f->graph;
  f->slices = ARENA_ARRAY(f->arena, uint32_t, g->nids);
  for (Node *n = g->first; n; n = n->next) {
    if (!graph_is_any(n, OP_aten_select_int, OP_aten_slice_Tensor)) continue;
    Node *memory = view_operand(n);
    while (prim_is_view(memory)) memory = view_operand(memory);
    f->slices[memory->id]++;
  }
}

bool fusion_is_large(Graph *g, const Node *n) {
  return n->type.kind == VALUE_TENSOR &&
         dim_range(g->dims, value_numel(g, &n->type)).lo > INT32_MAX;
}

static bool has_large(Graph *g) {
  for (const Node *n = g->first; n; n = n->next)
    if (fusion_is_large(g, n)) return true;
  return false;
}

Fusion *fuse_graph(Graph *g, Arena *a, const FuseOptions *options) {
  Fuser s = new_fuser(g, a, options);
  assign_groups(&s);
  const FusePlace *place = s.together ? fuse_find_places(s.f, fuse_kept_values(&s)) : NULL;
  if (place) s = regrouped(&s, options, place);
  for (size_t i = 0; i < s.f->groups.len && options->columns; i++)
    fuse_find_channels(s.f, s.f->groups.data[i]);
  for (size_t i = 0; i < s.f->groups.len && options->strips; i++)
    fuse_find_rows(s.f, s.f->groups.data[i]);
  for (size_t i = 0; i < s.f->groups.len && (options->strips || options->columns); i++)
    fuse_find_crossed(s.f, s.f->groups.data[i]);
  if (options->strips) fuse_choose_strips(s.f);
  for (size_t i = 0; i < s.f->groups.len && options->columns; i++)
    fuse_find_panels(s.f, s.f->groups.data[i]);
  for (size_t i = 0; i < s.f->groups.len && options->columns; i++)
    fuse_find_dense_rows(s.f, s.f->groups.data[i]);
  for (size_t i = 0; i < s.f->groups.len && options->columns; i++)
    fuse_find_odd_rows(s.f, s.f->groups.data[i]);
  count_slices(s.f);
  s.f->large = has_large(g);
  return s.f;
}

/* ---- text ---- */

static void print_group(Text *out, const Fusion *f, const Group *g) {
  static const char *const kinds[] = {"loops", "matmul", "attention", "library"};
  text_printf(out, "%u: %s%s ", g->number, g->once ? "once " : "", kinds[g->kind]);
  dim_print(out, g->x);
  if (!dim_is(g->r, 1)) {
    text_puts(out, " x ");
    dim_print(out, g->r);
  }
  text_puts(out, ":");
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    text_printf(out, " %s%s", n->name, f->stored[n->id] ? "!" : "");
  }
  text_puts(out, "\n");
}

void fusion_print(Text *out, const Fusion *f) {
  const Graph *g = f->graph;
  for (size_t i = 0; i < f->groups.len; i++) print_group(out, f, f->groups.data[i]);
  for (size_t i = 0; i < g->rewrites.len; i++)
    text_printf(out, "# rule %s made %s\n", g->rewrites.data[i].rule, g->rewrites.data[i].node);
}
