/* Joining: a node joins a group whose domain it fits, and whose nodes it uses at their own indices
 * only. */
#include <string.h>

#include "planner/fuse/fuse_state.h"

enum {
  GROUP_NODES_MAX = 200, /* in a group */
  GROUP_WORK_MAX = 400,  /* the same with the nodes that they compute inline */
  FUNCTIONS_MAX = 8,     /* that are written out in a kernel for a CPU */
  SLICES_MAX = 64,       /* slices that a group writes beside those that it computes */
  APART_LEAST = 1 << 15, /* elements that take a core longer than a launch does: some 10 us */
  SLICE_GROUPS_MAX = 8   /* the latest of a memory's groups that another slice may join */
};

/* The role that a node has in a domain; ROLE_NONE: it doesn't fit. */
static Role role_in(const Fusion *f, const Group *g, const Node *n) {
  Dim elements = value_numel(f->graph, &n->type);
  if (group_checks_scalar(f, g, n)) return ROLE_ROW;
  if (f->turn[n->id] && !dim_is(g->r, 1)) return ROLE_NONE;
  if (fuse_has_columns(n) && fuse_natural_role(n) == ROLE_ROW)
    return elements == g->x ? ROLE_ROW : ROLE_NONE;
  if (prim_kind(n->op) == PRIM_SCAN && dim_is(g->r, 1)) return ROLE_NONE;
  if (elements == dim_mul(f->graph->dims, g->x, g->r)) return ROLE_FULL;
  return elements == g->x && g->kind == GROUP_LOOPS ? ROLE_ROW : ROLE_NONE;
}

typedef struct {
  const Fusion *f;
  const Group *group;
  const Node *apart; /* used at an index that is not its own; NULL: none is */
  bool moves;        /* the use writes it to a slice, or rounds it */
} Check;

/* Is it the gradient of keys, in the shape of that of values, whose kernel computes both? */
static bool is_key_like_value(const Node *n) {
  if (!graph_is(n, OP_nereid_attention_grad_key_default)) return false;
  const ValueType *own = &n->type, *value = &n->args[0].node->type;
  bool same = own->rank == value->rank;
  for (uint32_t i = 0; i < own->rank && same; i++) same = own->shape[i] == value->shape[i];
  return same;
}

static void check_use(Node *operand, const Dim *index, void *ctx) {
  Check *c = ctx;
  if (c->f->of[operand->id] != c->group) return;
  PrimKind kind = prim_kind(operand->op);
  bool part = kind == PRIM_PART && !(c->moves && is_key_like_value(operand));
  if (kind == PRIM_INSERTED || part || kind == PRIM_SCATTER) c->apart = operand;
  Dim own[GRAPH_RANK_MAX];
  group_index(c->f, c->group, operand, own);
  for (uint32_t i = 0; i < operand->type.rank; i++)
    if (own[i] != index[i] && !dim_is(operand->type.shape[i], 1)) c->apart = operand;
}

/* Does n use nodes of its group at their own indices only? */
static FuseStop uses_fit(const Fusion *f, const Group *g, Node *n) {
  Dim index[GRAPH_RANK_MAX];
  Check c = {f, g, NULL, is_insert(n) || graph_is(n, OP_aten_to_dtype)};
  group_read_index(f, g, n, index);
  if (prim_of_kernel(n)) return (FuseStop){0};
  if (!prim_has_template(prim_kind(n->op))) each_use_at(f, n, index, check_use, &c);
  uint32_t in_memory = prim_kind(n->op) == PRIM_SEARCH ? prim_in_memory(n) : 0;
  for (uint32_t i = 0; in_memory >> i; i++)
    if ((in_memory >> i & 1) && f->of[n->args[i].node->id] == g) c.apart = n->args[i].node;
  return (FuseStop){c.apart ? STOP_INDEX : STOP_NONE, c.apart};
}

static FuseStop stopped(StopKind kind, const Node *at) { return (FuseStop){kind, at}; }

/* On a CPU, where launches are cheap, a node joins rows, columns or many elements that it reads or
 * uses at their own indices.  A copy in another order of axes, or to panels, would be walked in the
 * order of a sum, or of another copy, with which it has nothing in common but the array. */
static FuseStop apart_stop(const Fusion *f, const Group *g, Node *n) {
  bool whole = fuse_has_columns(n) || f->role[n->id] == ROLE_FULL;
  if (!f->graph->host || g->kind != GROUP_LOOPS || !whole) return (FuseStop){0};
  if (fuse_shares_element(f, g, n)) return (FuseStop){0};
  bool many = dim_likely(f->graph->dims, g->x) >= APART_LEAST;
  return many || !dim_is(g->r, 1) ? stopped(STOP_AXES, NULL) : (FuseStop){0};
}

/* Do n and all nodes of g fit into `domain`?  If so that is g's from now on. */
static FuseStop try_domain(Fusion *f, Group *g, const Group *domain, Node *n) {
  Group old = *g;
  Role *roles = ARENA_ARRAY(f->arena, Role, g->nodes.len);
  for (size_t i = 0; i < g->nodes.len; i++) roles[i] = f->role[g->nodes.data[i]->id];
  g->x = domain->x;
  g->r = domain->r;
  memcpy(g->index, domain->index, sizeof g->index);
  g->rank = domain->rank;
  g->shape = domain->shape;
  g->element = domain->element;
  g->columns = domain->columns;
  FuseStop stop = {0};
  for (size_t i = 0; i < g->nodes.len && !stop.kind; i++) {
    Node *m = g->nodes.data[i];
    f->role[m->id] = role_in(f, g, m);
    if (f->role[m->id] == ROLE_NONE) stop = stopped(STOP_ROWS, m);
  }
  for (size_t i = 0; i < g->nodes.len && !stop.kind; i++) stop = uses_fit(f, g, g->nodes.data[i]);
  f->role[n->id] = fuse_natural_role(n);
  if (!stop.kind) stop = uses_fit(f, g, n);
  if (!stop.kind) stop = apart_stop(f, g, n);
  if (!stop.kind) return stop;
  *g = old;
  for (size_t i = 0; i < g->nodes.len; i++) f->role[g->nodes.data[i]->id] = roles[i];
  return stop;
}

static bool group_has_window(const Group *g) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (is_window(g->nodes.data[i])) return true;
  return false;
}

/* A CPU computes it by strips of a row of the image, which sums along images do not have
 * (group_row_strip). */
static bool group_convolves(const Fusion *f, const Group *g) {
  bool convolves = false;
  for (size_t i = 0; i < g->nodes.len && f->graph->host; i++)
    convolves |= graph_is(g->nodes.data[i], OP_nereid_conv_depthwise_default);
  return convolves;
}

static bool group_has_columns(const Group *g) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (fuse_has_columns(g->nodes.data[i])) return true;
  return false;
}

static bool group_searches(const Group *g) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (prim_kind(g->nodes.data[i]->op) == PRIM_SEARCH) return true;
  return false;
}

/* Does a window take a reduction of `own`'s rows?  Rows that do not fit a tile are read several
 * times, which is too expensive; on a CPU a window's rows are those of one image, read once. */
static bool window_takes(const Fusion *f, const Group *g, const Group *own) {
  bool apart = f->graph->host && (group_has_columns(g) || (own->columns & 1));
  if (group_convolves(f, g)) return false;
  return !apart && dim_is_int(own->r) && own->r->value <= FUSE_COLUMNS_MAX;
}

/* Does a sum of columns read rows that indices choose, or sums of such?  A CPU's tile of it is rows
 * by columns, each of whose elements would find its index, and go through the longest segment. */
static bool sums_chosen_rows(const Fusion *f, const Group *g, const Group *own) {
  bool down = f->graph->host && own->rank && !(own->columns >> (own->rank - 1) & 1), chosen = false;
  for (size_t i = 0; i < g->nodes.len && down; i++) {
    const Node *n = g->nodes.data[i];
    bool gathers = prim_kind(n->op) == PRIM_GATHER && n->type.rank > 1;
    chosen |= gathers || graph_is(n, OP_nereid_segment_sum_default);
  }
  return chosen;
}

/* A reduction or scan joins a group whose domain is its own, or that has no columns yet.  Rows that
 * are sorted are few and long, and searches want many programs. */
static FuseStop columns_fit(Fusion *f, Group *g, Node *n) {
  Group own = *g;
  fuse_set_domain(f, &own, n);
  if (group_has_window(g) && !window_takes(f, g, &own)) return stopped(STOP_EXTENT, NULL);
  if (n->op->id == OP_nereid_sort_default && group_searches(g)) return stopped(STOP_AXES, NULL);
  if (sums_chosen_rows(f, g, &own)) return stopped(STOP_AXES, NULL);
  if (!group_has_columns(g)) return try_domain(f, g, &own, n);
  if (own.x != g->x || own.r != g->r) return stopped(STOP_EXTENT, NULL);
  f->role[n->id] = fuse_natural_role(n);
  bool same = fuse_same_shape(g, own.rank, own.shape) && own.columns == g->columns;
  return same ? uses_fit(f, g, n) : stopped(STOP_AXES, NULL);
}

static uint32_t work_of(const Fuser *s, const Node *n) { return 1 + s->info[n->id].below; }

/* Functions that are written out to compute it; loops along rows count as several. */
static uint32_t functions_of(const Fuser *s, const Node *n) {
  if (n->op->id == OP_nereid_sort_default) return FUNCTIONS_MAX;
  bool scans = prim_kind(n->op) == PRIM_SCAN;
  return s->info[n->id].functions + (scans ? FUNCTIONS_MAX / 2 : 0);
}

/* On a CPU, where a C compiler takes seconds for a long function, and one core, a few kernels that
 * read the same elements are ready earlier than one. */
static bool is_long(const Fuser *s, const Group *g, const Node *n) {
  uint32_t more = s->columns && g->functions ? functions_of(s, n) : 0;
  return more && g->functions + more > FUNCTIONS_MAX;
}

static bool is_full(const Fuser *s, const Group *g, const Node *n) {
  return g->nodes.len >= GROUP_NODES_MAX || g->work + work_of(s, n) > GROUP_WORK_MAX ||
         is_long(s, g, n);
}

static void check_member(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  Check *c = ctx;
  if (c->f->of[operand->id] == c->group) c->apart = operand;
}

/* Puts to different tensors share a kernel if none reads another's, and what n writes to has no
 * reader that runs later.  A put joins scans that say where it writes. */
static FuseStop puts_fit(const Fuser *s, Group *g, Node *n) {
  const Fusion *f = s->f;
  const Group *reader = s->last_reader[n->args[0].node->id];
  Check c = {f, g, NULL, false};
  bool only = prim_puts(g->nodes.data[0]);
  if (!prim_puts(n) || !(only || group_has_columns(g))) return stopped(STOP_SCATTER, NULL);
  if (reader && reader->number >= g->number) return stopped(STOP_SCATTER, NULL);
  if (only) each_operand(f, n, check_member, &c);
  if (c.apart || f->of[n->args[0].node->id] == g) return stopped(STOP_SCATTER, NULL);
  if (is_full(s, g, n)) return stopped(STOP_FULL, NULL);
  const ValueType *t = &n->args[1].node->type;
  if (!fuse_same_shape(g, t->rank, t->shape)) return stopped(STOP_EXTENT, NULL);
  f->role[n->id] = ROLE_FULL;
  return only ? stopped(STOP_NONE, NULL) : uses_fit(f, g, n);
}

/* ---- other orders of axes ---- */

/* Is it a group of elements, with which a node in another order of its axes may be stored? */
static bool takes_turned(const Group *g) {
  bool takes = g->kind == GROUP_LOOPS && dim_is(g->r, 1) && g->rank >= 2 && g->rank <= 4;
  for (size_t i = 0; i < g->nodes.len && takes; i++)
    takes = prim_kind(g->nodes.data[i]->op) == PRIM_POINTWISE;
  return takes;
}

static void swap_axes(uint8_t *order, int i, int k) {
  uint8_t axis = order[i];
  order[i] = order[k];
  order[k] = axis;
}

/* The next order of `rank` axes; false: that was the last one. */
static bool next_order(uint8_t *order, uint32_t rank) {
  int last = (int)rank - 1, i = last - 1, k = last;
  while (i >= 0 && order[i] > order[i + 1]) i--;
  if (i < 0) return false;
  while (order[k] < order[i]) k--;
  swap_axes(order, i++, k);
  for (k = last; i < k; i++, k--) swap_axes(order, i, k);
  return true;
}

/* Does n fit in some other order of its axes, in which it shares elements with the group? */
static bool fits_turned(Fusion *f, Group *g, Node *n) {
  uint8_t order[] = {0, 1, 2, 3};
  uint32_t rank = n->type.rank;
  if (rank != g->rank || !takes_turned(g)) return false;
  while (next_order(order, rank)) {
    bool same = true;
    for (uint32_t i = 0; i < rank; i++) same &= n->type.shape[i] == g->shape[order[i]];
    if (!same) continue;
    f->turn[n->id] = memcpy(arena_array(f->arena, 4, 1), order, sizeof order);
    if (!uses_fit(f, g, n).kind && fuse_shares_element(f, g, n)) return g->turned = true;
    f->turn[n->id] = NULL;
  }
  return false;
}

/* A pointwise node that reads across the axes of the group, or uses its elements so, joins it in
 * another order of axes, or not at all. */
static FuseStop turned_stop(Fusion *f, Group *g, Node *n, FuseStop stop) {
  if (prim_kind(n->op) != PRIM_POINTWISE || (stop.kind && stop.kind != STOP_INDEX)) return stop;
  bool across = !stop.kind && fuse_reads_across(f, n) && !fuse_shares_element(f, g, n);
  if (!stop.kind && !across) return stop;
  if (fits_turned(f, g, n)) return (FuseStop){0};
  return across ? stopped(STOP_AXES, NULL) : stop;
}

/* The reason why n can't join g; kind STOP_NONE: it can, and has its role there. */
static FuseStop why_not_joined(const Fuser *s, Group *g, Node *n) {
  Fusion *f = s->f;
  if (g->once != f->once[n->id]) return stopped(STOP_ONCE, NULL);
  if (f->reads.len && g->number < vec_last(&f->reads).number) return stopped(STOP_READ, NULL);
  if (g->number < f->barrier) return stopped(STOP_LOOP, NULL);
  if (prim_has_template(prim_kind(n->op))) return stopped(STOP_PRODUCT, NULL);
  if (g->kind == GROUP_LIBRARY) return stopped(STOP_LIBRARY, NULL);
  if (is_scatter(n) || is_scatter(vec_last(&g->nodes))) return puts_fit(s, g, n);
  if (is_full(s, g, n)) return stopped(STOP_FULL, NULL);
  bool loops = fuse_has_columns(n) || is_window(n);
  if (loops && g->kind != GROUP_LOOPS) return stopped(STOP_TILES, NULL);
  if (fuse_has_columns(n)) return columns_fit(f, g, n);
  if (g->turned && prim_kind(n->op) != PRIM_POINTWISE) return stopped(STOP_AXES, NULL);
  f->role[n->id] = role_in(f, g, n);
  FuseStop stop = f->role[n->id] == ROLE_NONE ? stopped(STOP_EXTENT, NULL) : uses_fit(f, g, n);
  if (s->turns) return turned_stop(f, g, n, stop);
  bool whole = !stop.kind && prim_kind(n->op) == PRIM_POINTWISE && !prim_checks(n);
  return whole ? apart_stop(f, g, n) : stop;
}

/* ---- groups ---- */

typedef struct {
  Fuser *s;
  bool once;      /* n's value is; groups of the other kind do not count */
  Group *latest;  /* that n depends on */
  Group *sibling; /* the latest that reads what n reads */
} Candidates;

static void note_candidate(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  Candidates *c = ctx;
  Group *of = c->s->f->of[operand->id], *reader = c->s->last_reader[operand->id];
  if (of && of->once != c->once) of = NULL;
  if (reader && reader->once != c->once) reader = NULL;
  if (of && (!c->latest || of->number > c->latest->number)) c->latest = of;
  if (reader && (!c->sibling || reader->number > c->sibling->number)) c->sibling = reader;
}

static void note_operand_reader(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  const Candidates *c = ctx;
  c->s->last_reader[operand->id] = c->latest;
}

static GroupKind group_kind(const Node *n) {
  PrimKind k = prim_kind(n->op);
  if (k == PRIM_ATTENTION) return GROUP_ATTENTION;
  if (k == PRIM_LIBRARY) return GROUP_LIBRARY;
  return prim_is_product(k) ? GROUP_MATMUL : GROUP_LOOPS;
}

static Group *group_new(Fusion *f, Node *n) {
  Group *g = ARENA_NEW(f->arena, Group);
  g->kind = group_kind(n);
  g->number = (uint32_t)f->groups.len;
  g->once = f->once[n->id];
  fuse_set_domain(f, g, n);
  f->role[n->id] = fuse_natural_role(n);
  vec_push(f->arena, &f->groups, g);
  return g;
}

/* Finds one of the latest groups that write to the same memory, and may contain n. */
static Group *writer_for(const Fuser *s, Node *n, const Group *after) {
  const Writers *w = &s->writers[n->args[0].node->id];
  for (size_t i = 0; i < SLICE_GROUPS_MAX && i < w->len; i++) {
    Group *g = w->data[w->len - 1 - i];
    if ((after && g->number <= after->number) || g->nodes.len >= SLICES_MAX) continue;
    if (!why_not_joined(s, g, n).kind) return g;
  }
  return NULL;
}

static void note_writer(Fuser *s, Node *n, Group *g) {
  Writers *w = &s->writers[n->args[0].node->id];
  for (size_t i = 0; i < SLICE_GROUPS_MAX && i < w->len; i++)
    if (w->data[w->len - 1 - i] == g) return;
  vec_push(s->f->arena, w, g);
}

/* On a CPU elements that go one by one stay by themselves. */
static bool takes_check(const Fuser *s, const Candidates *c, Group *g, Node *n) {
  if (!g || g->kind != GROUP_LOOPS || is_insert(g->nodes.data[0])) return false;
  if (c->latest && g->number < c->latest->number) return false;
  bool scalar = group_checks_scalar(s->f, g, n), some = dim_range(s->f->graph->dims, g->x).lo > 0;
  if (scalar && (g == c->latest || !some)) return false; /* what it computes is a tile */
  if (!scalar && s->columns && dim_is(g->r, 1) && g != s->checks) return false;
  return !why_not_joined(s, g, n).kind;
}

/* Nothing reads what a check gives, so it may join any loops that come after its operands: those
 * that read them, other checks, or some of the last ones. */
static Group *group_for_check(const Fuser *s, const Candidates *c, Node *n) {
  enum { TRIED_MAX = 64 };
  Group *const near[] = {c->latest, c->sibling, s->checks};
  const size_t groups = s->f->groups.len, tried = groups < TRIED_MAX ? groups : TRIED_MAX;
  for (size_t i = 0; i < sizeof near / sizeof *near; i++)
    if (takes_check(s, c, near[i], n)) return near[i];
  for (size_t i = 1; i <= tried; i++)
    if (takes_check(s, c, s->f->groups.data[groups - i], n)) return s->f->groups.data[groups - i];
  return NULL;
}

static Group *group_for(Fuser *s, const Candidates *c, Node *n) {
  FuseStop *stop = &s->f->stop[n->id];
  bool later = c->sibling && (!c->latest || c->sibling->number > c->latest->number);
  if (!s->together) {
    *stop = stopped(STOP_EAGER, NULL);
    return NULL;
  }
  if (prim_checks(n)) return group_for_check(s, c, n);
  if (c->latest) *stop = why_not_joined(s, c->latest, n);
  if (c->latest && !stop->kind) return c->latest;
  if (later && !why_not_joined(s, c->sibling, n).kind) return c->sibling;
  return is_insert(n) ? writer_for(s, n, c->latest) : NULL;
}

/* The group that makes n's sums of 16 bits, of which n is a bias or a factor more; NULL: none. */
static Group *group_of_short_sums(const Fuser *s, const Node *n) {
  bool scales = n->kind == NODE_CALL &&
                graph_is_any(n, OP_aten_add_Tensor, OP_aten_sub_Tensor, OP_aten_mul_Tensor);
  if (!s->together || !scales || !dtype_is_half(n->type.dtype)) return NULL;
  for (uint32_t i = 0; i < 2; i++) {
    Node *x = n->args[i].kind == ARG_NODE ? n->args[i].node : NULL;
    while (x && prim_is_view(x) && !prim_reads_size(x)) x = view_operand(x);
    Group *g = x ? s->f->of[x->id] : NULL;
    if (g && x->type.dtype == n->type.dtype && s->info[x->id].short_sums) return g;
  }
  return NULL;
}

bool fuse_follows_sums(Fuser *s, Node *n) {
  Group *g = group_of_short_sums(s, n);
  Candidates c = {.s = s, .once = s->f->once[n->id]};
  if (!g) return false;
  each_operand(s->f, n, note_candidate, &c);
  return c.latest == g && !why_not_joined(s, g, n).kind;
}

void fuse_assign_inserted(Fuser *s, Node *n) {
  const Arg *slices = &n->args[1];
  Group *last = NULL;
  for (uint32_t i = 0; i < slices->n; i++) {
    Group *g = s->f->of[slices->items[i].node->id];
    if (!last || g->number > last->number) last = g;
  }
  s->f->of[n->id] = last;
  s->info[n->id].bytes = fuse_node_bytes(s->f->graph, n);
}

void fuse_assign_group(Fuser *s, Node *n) {
  Fusion *f = s->f;
  Candidates c = {.s = s, .once = f->once[n->id]};
  each_operand(f, n, note_candidate, &c);
  const Node *kernel = prim_of_kernel(n);
  Group *g = kernel ? f->of[kernel->id] : group_for(s, &c, n);
  if (kernel) f->once[n->id] = g->once;
  if (!g) {
    g = group_new(f, n);
    if (prim_checks(n)) s->checks = g;
  }
  if (is_insert(n)) note_writer(s, n, g);
  f->of[n->id] = g;
  g->work += work_of(s, n);
  g->functions += functions_of(s, n);
  s->info[n->id].depth = s->info[n->id].below = s->info[n->id].work = 0;
  s->info[n->id].functions = 0;
  bool sums = prim_is_product(prim_kind(n->op)) || graph_is(n, OP_nereid_conv_depthwise_default);
  sums |= group_of_short_sums(s, n) == g;
  s->info[n->id].short_sums = sums && dtype_is_half(n->type.dtype);
  vec_push(f->arena, &g->nodes, n);
  c.latest = g;
  each_operand(f, n, note_operand_reader, &c);
}
