/* Stores: a value is computed where it is used, or written to memory. */
#include <ctype.h>
#include <string.h>

#include "graph/analysis/attention.h"
#include "planner/fuse/fuse_state.h"

enum {
  KEPT_BYTES_MAX = 4 << 20,   /* of a value that is computed once */
  TABLE_BYTES_MAX = 32 << 20, /* of one by functions: a sine costs as much as many loads */
  ROUNDING = 4,               /* weights may grow by such a part, to whole panels */
  INLINE_DEPTH_MAX = 32,    /* nodes of no group in a row */
  INLINE_NODES_MAX = 256,   /* nodes of no group below one, each as often as it is reached */
  FUNCTION_WEIGHT = 8,      /* of exp and the like, in additions */
  /* A buffer of a value costs a launch at most, of about 3 us.  A GPU makes 3e13 additions in a
   * second, so that 1 << 27 take as long, and about six for each of a product's weights hide
   * behind the load of that. */
  DEAR_WORK = 6,        /* of an element */
  DEAR_TIMES = 64,      /* that a user computes it again */
  DEAR_TOTAL = 1 << 27, /* of all of that */
  WORK_MAX = 1 << 16
};

static bool loops(PrimKind k) {
  return k == PRIM_POINTWISE || k == PRIM_REDUCE || k == PRIM_SCAN || k == PRIM_WINDOW ||
         k == PRIM_GATHER || k == PRIM_CONCAT || k == PRIM_CREATE || k == PRIM_INSERT ||
         k == PRIM_CHECK;
}

/* Is it as cheap as loading its operand? */
static bool is_dtype_cast(const Node *n) { return graph_is(n, OP_aten_to_dtype); }

/* Does it make numbers of bytes, from a zero point on?  Loading these instead takes as long. */
static bool shifts_bytes(const Node *n) {
  bool adds = graph_is_any(n, OP_aten_sub_Tensor, OP_aten_add_Tensor) && n->nargs == 2 &&
              n->args[0].kind == ARG_NODE && n->args[1].kind != ARG_NODE;
  const Node *x = adds ? n->args[0].node : NULL;
  return adds && is_dtype_cast(x) && x->args[0].kind == ARG_NODE &&
         dtype_bits(x->args[0].node->type.dtype) == 8;
}

static bool is_as_load(const Node *n) { return is_dtype_cast(n) || shifts_bytes(n); }

/* Is memory of its operand as good? */
static bool widens(const Node *n) {
  return is_dtype_cast(n) && n->args[0].kind == ARG_NODE &&
         dtype_bytes(n->type.dtype) >= dtype_bytes(n->args[0].node->type.dtype);
}

uint32_t fuse_text_work(const char *text) {
  uint32_t functions = 0;
  static const char *const dear[] = {"libdevice.", "tl.exp", "tl.sigmoid", " / "};
  for (size_t i = 0; i < sizeof dear / sizeof *dear; i++)
    for (const char *s = text; (s = strstr(s, dear[i])); s++) functions++;
  return 1 + FUNCTION_WEIGHT * functions;
}

uint32_t fuse_text_functions(const char *text) {
  uint32_t calls = 0;
  for (const char *s = strchr(text, '('); s; s = strchr(s + 1, '(')) {
    const char *name = s;
    while (name > text && (isalnum((unsigned char)name[-1]) || strchr("._", name[-1]))) name--;
    calls += name < s && *name != '.' && strncmp(name, "tl.", 3) != 0;
  }
  return calls;
}

typedef struct {
  Fuser *s;
  const Node *user;
} UseInfo;

static bool uses_in_memory(const Node *user, const Node *operand) {
  uint32_t in_memory = prim_in_memory(user);
  bool found = false;
  for (uint32_t i = 0; i < user->nargs; i++)
    found |=
        (in_memory >> i & 1) && user->args[i].kind == ARG_NODE && user->args[i].node == operand;
  return found;
}

/* Does the user read it from memory, so that it must be there? */
static bool read_from_memory(Graph *g, const Node *operand, const Node *user) {
  if (user->kind == NODE_OUTPUT || prim_reads_size(user)) return true;
  PrimKind k = prim_kind(user->op);
  if (k == PRIM_SEARCH || k == PRIM_SCATTER) return uses_in_memory(user, operand);
  if (prim_unpacks(user)) return user->args[1].node != operand;
  return k == PRIM_ATTENTION ? attention_reads(g, user, operand) : !loops(k);
}

static bool reads_whole(const UseInfo *u, const Node *operand) {
  return u->s->info[u->user->id].gathered || read_from_memory(u->s->f->graph, operand, u->user);
}

/* The count that a node reads, which must be in memory. */
static bool is_read_count(const Node *user, const Node *operand) {
  return prim_reads_size(user) && user->args[1].node == operand;
}

/* Does the user compute with it where a put writes? */
static bool is_for_index(const UseInfo *u, const Node *operand) {
  const Node *n = u->user;
  if (prim_puts(n)) return n->args[1].node == operand && n->args[2].node != operand;
  bool computes = prim_is_view(n) || (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_POINTWISE);
  return computes && !prim_reads_size(n) && !u->s->info[n->id].elsewhere;
}

/* Does it compute a mask, or another function of scores, from its operands, or what a product or
 * an attention unpacks?  Of masks in blocks most elements are never needed, and memory may be too
 * small for them. */
static bool is_for_tiles(const Fuser *s, const Node *user, const Node *operand) {
  if (user->kind != NODE_CALL) return s->info[user->id].inner;
  PrimKind k = prim_kind(user->op);
  const Node *kernel = k == PRIM_ATTENTION ? user : prim_of_kernel(user);
  if (k == PRIM_ATTENTION && attention_unpacks(s->f->graph, user, operand)) return true;
  if (kernel) return attention_of(s->f->graph, kernel).block_rows > 0;
  if (prim_unpacks(user)) return true;
  bool passes = k == PRIM_POINTWISE || k == PRIM_GATHER || k == PRIM_CONCAT || prim_is_view(user);
  return passes && s->info[user->id].inner;
}

/* 0: not known. */
static int64_t known_elements(Graph *g, const Node *n) {
  Dim elements = is_tensor(n) ? value_numel(g, &n->type) : NULL;
  return elements && dim_is_int(elements) ? elements->value : 0;
}

/* For how many elements does the user compute with it? */
static int64_t reach_of_use(const UseInfo *u, const Node *operand) {
  const Node *n = u->user;
  PrimKind k = n->kind == NODE_CALL ? prim_kind(n->op) : PRIM_NONE;
  if (prim_is_view(n)) return u->s->info[n->id].reach;
  if (widens(n)) {
    int64_t after = u->s->info[n->id].reach, own = known_elements(u->s->f->graph, n);
    return after > own ? after : own;
  }
  if (k == PRIM_POINTWISE) return known_elements(u->s->f->graph, n);
  return k == PRIM_REDUCE ? known_elements(u->s->f->graph, operand) : 0;
}

static void note_operand_use(Node **operand, void *ctx) {
  const UseInfo *u = ctx;
  if (prim_checks(u->user)) return; /* it computes again what is computed where it is used */
  Info *to = &u->s->info[(*operand)->id];
  const Info *from = &u->s->info[u->user->id];
  bool view = prim_is_view(u->user) && !is_read_count(u->user, *operand);
  bool passes = view || is_as_load(u->user);
  bool overlaps = graph_is(u->user, OP_aten_unfold_default) &&
                  known_elements(u->s->f->graph, u->user) >
                      known_elements(u->s->f->graph, *operand);
  to->repeated |= overlaps || (passes ? from->repeated : is_window(u->user));
  to->varies |= view ? from->varies : !u->s->f->once[u->user->id];
  to->elsewhere |= !is_for_index(u, *operand);
  to->uses += view ? from->uses : 1;
  bool loads = !view && fuse_loads_operand(u->user, *operand);
  bool gathers = from->gathered && *operand == u->user->args[0].node;
  if (loads || ((view || gathers) && from->product)) to->product = loads ? u->user : from->product;
  to->apart |= view ? from->apart : !loads && !gathers && reads_whole(u, *operand);
  to->inner |= is_for_tiles(u->s, u->user, *operand);
  int64_t reach = reach_of_use(u, *operand);
  if (reach > to->reach) to->reach = reach;
}

int64_t fuse_node_bytes(Graph *g, const Node *n) {
  Dim elements = value_numel(g, &n->type);
  int64_t bytes;
  bool known = dim_is_int(elements) &&
               !__builtin_mul_overflow(elements->value, dtype_bytes(n->type.dtype), &bytes);
  return known ? bytes : INT64_MAX;
}

static void note_free(Node **operand, void *ctx) {
  const UseInfo *u = ctx;
  Info *info = &u->s->info[u->user->id];
  const Info *from = &u->s->info[(*operand)->id];
  if (!is_tensor(*operand)) return;
  if (from->passing && prim_is_view(u->user)) info->passing = true;
  else if (from->passing) info->apart = true;
  info->free &= from->free;
  info->sums |= from->sums;
  info->tile |= from->tile;
  u->s->f->once[u->user->id] &= u->s->f->once[(*operand)->id];
  if (__builtin_add_overflow(info->bytes, from->bytes, &info->bytes)) info->bytes = INT64_MAX;
  /* The index of a gather that is known to depend on no data becomes a part of its address. */
  bool index = from->free && u->user->kind == NODE_CALL && prim_kind(u->user->op) == PRIM_GATHER;
  if (index && *operand != u->user->args[0].node) return;
  uint32_t depth = from->depth + (prim_is_view(u->user) ? view_weight(u->user) : 1);
  if (depth > info->depth) info->depth = depth;
  info->below += from->below + 1;
  if (info->below > INLINE_NODES_MAX) info->below = INLINE_NODES_MAX + 1;
  info->work += from->work;
  if (info->work > WORK_MAX) info->work = WORK_MAX;
  info->functions += from->functions;
  if (info->functions > WORK_MAX) info->functions = WORK_MAX;
}

/* Nodes are visited from the last to the first: a view's own uses are known by then. */
void fuse_survey_uses(Fuser *s) {
  const Graph *g = s->f->graph;
  for (Node *n = g->last; n; n = n->prev) {
    UseInfo u = {s, n};
    bool writes = n->kind == NODE_CALL && prim_kind(n->op) == PRIM_SCATTER;
    if (writes) s->info[n->args[0].node->id].passing = true;
    Info *info = &s->info[n->id];
    bool loaded = info->product && !prim_is_view(n);
    info->gathered = loaded && info->uses == 1 && !info->apart &&
                     fuse_gathers_in_loads(s, info->product, n);
    if (n->kind != NODE_INPUT) graph_each_use(n, note_operand_use, &u);
    info->apart |= info->product && !info->gathered;
  }
}

typedef struct {
  const Fuser *s;
  const Node *data;
  bool free;
} Indices;

static void note_index(Node **operand, void *ctx) {
  Indices *x = ctx;
  if (*operand != x->data && is_tensor(*operand)) x->free &= x->s->info[(*operand)->id].free;
}

/* Is it a value of each score, too many for memory? */
static bool is_inner(const Fuser *s, const Node *n, PrimKind k) {
  enum { SMALL = 1 << 20 }; /* bytes: as well in memory */
  const Info *info = &s->info[n->id];
  bool element = k == PRIM_POINTWISE || k == PRIM_GATHER || k == PRIM_CONCAT || k == PRIM_CREATE;
  return info->inner && !info->apart && element && fuse_node_bytes(s->f->graph, n) > SMALL;
}

/* Does n read at indices that depend on no data?  It is as cheap as a view. */
static bool gathers_by_formula(const Fuser *s, Node *n, PrimKind k) {
  if (k != PRIM_GATHER) return false;
  Indices x = {s, n->args[0].node, true};
  graph_each_use(n, note_index, &x);
  return x.free;
}

/* Does a user compute n for so many of its own elements that a buffer costs less? */
static bool is_dear(const Fuser *s, const Node *n) {
  const Info *info = &s->info[n->id];
  int64_t own = known_elements(s->f->graph, n);
  if (widens(n) || info->free || info->work < DEAR_WORK || !own) return false;
  return info->reach / own >= DEAR_TIMES && info->reach >= DEAR_TOTAL / info->work;
}

static FusePlace place_of(const Fuser *s, const Node *n) {
  return s->place ? s->place[n->id] : PLACE_ANY;
}

/* Are there bytes in place of a product's sums, which memory would have for the user? */
static bool narrows_sums(const Fuser *s, const Node *n) {
  const Info *info = &s->info[n->id];
  int64_t own = fuse_node_bytes(s->f->graph, n);
  return s->columns && info->sums && is_dtype_cast(n) && dtype_bits(n->type.dtype) == 8 &&
         own != INT64_MAX && info->bytes >= 2 * own;
}

static bool fits_inline(const Fuser *s, Node *n, PrimKind k) {
  const Info *info = &s->info[n->id];
  if (graph_is(n, OP_nereid_dense_default)) return false;
  if (is_inner(s, n, k) || (info->gathered && !info->apart)) return true;
  bool small = info->depth < INLINE_DEPTH_MAX && info->below <= INLINE_NODES_MAX;
  FusePlace place = place_of(s, n);
  bool users = place == PLACE_USERS || place == PLACE_TOGETHER;
  bool once = (info->uses <= 1 || !info->elsewhere) && (!info->repeated || is_as_load(n));
  if (place == PLACE_MEMORY || info->dear || narrows_sums(s, n)) return false;
  if (gathers_by_formula(s, n, k)) return small && !info->apart;
  return small && !info->apart &&
         (info->free ||
          ((k == PRIM_POINTWISE || k == PRIM_CONCAT) && (once || users)));
}

/* Is it worth a buffer, written once, for readers in each run? */
static bool is_worth_buffer(const Fuser *s, const Node *n) {
  int64_t made_from = s->info[n->id].bytes;
  return s->f->once[n->id] && fuse_node_bytes(s->f->graph, n) <= made_from + made_from / ROUNDING;
}

/* A value that would need a kernel in each run is worth a buffer, too: a table of rotations. */
static bool is_worth_memory(const Fuser *s, const Node *n) {
  int64_t most = s->info[n->id].functions ? TABLE_BYTES_MAX : KEPT_BYTES_MAX;
  return s->f->once[n->id] && fuse_node_bytes(s->f->graph, n) <= most;
}

/* A table of functions, as the factors of a Fourier transform, which each run would compute. */
static bool is_table(const Fuser *s, const Node *n) {
  const Info *info = &s->info[n->id];
  return info->free && info->functions && info->varies && !info->inner && is_worth_memory(s, n);
}

bool fuse_is_inlined(Fuser *s, Node *n, bool grouped) {
  Info *info = &s->info[n->id];
  UseInfo u = {s, n};
  PrimKind k = n->kind == NODE_CALL ? prim_kind(n->op) : PRIM_NONE;
  info->free =
      n->kind != NODE_INPUT && (k == PRIM_CREATE || k == PRIM_POINTWISE || prim_is_view(n));
  graph_each_use(n, note_free, &u);
  if (k == PRIM_POINTWISE) {
    const char *text = pointwise_of(s->f->graph, n).text;
    info->work += fuse_text_work(text);
    info->functions += fuse_text_functions(text);
    if (place_of(s, n) == PLACE_TOGETHER) info->work = 0;
    info->dear = is_dear(s, n);
  }
  info->tile = k == PRIM_TILE || (info->tile && k != PRIM_ATTENTION && !prim_of_kernel(n));
  if (info->tile) return true;
  bool kept = is_worth_buffer(s, n), table = is_table(s, n);
  bool wanted = table || (kept && info->varies && !info->free);
  if (prim_is_view(n) || (s->together && fits_inline(s, n, k) && !wanted && !grouped)) return true;
  bool slice = k == PRIM_INSERT || k == PRIM_EMPTY; /* insert.c has decided */
  if (!slice) s->f->once[n->id] = kept || is_worth_memory(s, n);
  info->bytes = fuse_node_bytes(s->f->graph, n);
  info->depth = 0;
  info->sums = prim_has_template(k);
  return false;
}

/* ---- values that are written to memory ---- */

typedef struct {
  const Fusion *f;
  const Group *group;
} Member;

static void note_stored(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  const Member *m = ctx;
  if (m->f->of[operand->id] != m->group) m->f->stored[operand->id] = true;
}

static void note_output(Node **operand, void *ctx) {
  Fusion *f = ctx;
  f->stored[(*operand)->id] = true;
}

void fuse_find_stored(Fusion *f) {
  for (size_t i = 0; i < f->groups.len; i++) {
    Member m = {f, f->groups.data[i]};
    for (size_t k = 0; k < m.group->nodes.len; k++)
      each_operand(f, m.group->nodes.data[k], note_stored, &m);
  }
  for (Node *n = f->graph->first; n; n = n->next)
    if (is_insert(n)) f->stored[n->id] = true;
  for (size_t i = 0; i < f->reads.len; i++)
    f->stored[f->reads.data[i].node->args[1].node->id] = true;
  for (size_t i = 0; i < f->loops.len; i++) {
    Node *end = (Node *)f->loops.data[i].end;
    graph_each_use(end, note_output, f);
    graph_each_use(end->args[0].node, note_output, f);
  }
  graph_each_use(f->graph->last, note_output, f);
}

bool *fuse_kept_values(const Fuser *s) {
  const Graph *g = s->f->graph;
  bool *kept = ARENA_ARRAY(s->f->arena, bool, g->nids);
  for (Node *n = g->first; n; n = n->next)
    kept[n->id] = s->info[n->id].apart || s->info[n->id].repeated || s->info[n->id].dear;
  return kept;
}
