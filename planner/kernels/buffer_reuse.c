#include "planner/kernels/buffer_reuse.h"

#include <string.h>

/* ---- what is known before ---- */

static void keep_buffer(Node **n, void *ctx) {
  bool *kept = ctx;
  kept[(*n)->id] = true;
}

/* Is its memory that of a loop's carried value, or what the loop's end copies? */
static bool is_of_loop(const Node *n) {
  return graph_is_any(n, OP_nereid_carried_default, OP_nereid_loop_result_default,
                      OP_nereid_loop_test_default, OP_nereid_loop_end_default);
}

/* How often the graph returns the node, as a result or as a new value. */
static uint32_t count_returned(const Graph *g, const Node *of) {
  const Arg *list = &g->last->args[0];
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->n; i++)
    n += list->items[i].kind == ARG_NODE && list->items[i].node == of;
  return n;
}

/* The new value of an input is written over the old one, if each is nothing else. */
static void find_targets(InPlace *p) {
  const Graph *g = p->f->graph;
  const Arg *list = &g->last->args[0];
  for (uint32_t i = 0; g->outputs && i < list->n; i++) {
    if (g->outputs[i].kind != OUTPUT_MUTATION || list->items[i].kind != ARG_NODE) continue;
    Node *value = list->items[i].node, *target = g->outputs[i].target;
    bool alone = !p->kept[value->id] && !p->kept[target->id] && count_returned(g, value) == 1 &&
                 count_returned(g, target) == 0;
    if (alone) p->target[value->id] = target;
  }
}

/* An integer that is returned is no kernel's value. */
static bool is_number(const Node *n) {
  const Node *of = n->nargs && n->args[0].kind == ARG_NODE ? n->args[0].node : n;
  return of->is_number;
}

/* Sizes that data decides, and loops, need results to be where they are. */
static void find_returned(InPlace *p) {
  const Graph *g = p->f->graph;
  const Arg *list = &g->last->args[0];
  if (!g->saves_memory || p->f->reads.len || p->f->loops.len) return;
  for (uint32_t i = 0; i < list->n; i++) {
    const Node *n = list->items[i].kind == ARG_NODE ? list->items[i].node : NULL;
    bool whole = !g->outputs || (g->outputs[i].kind == OUTPUT_USER && !g->outputs[i].is_complex);
    if (n && whole && !p->kept[n->id] && !is_number(n))
      p->returned[n->id] = count_returned(g, n) == 1;
  }
}

/* Values that are never overwritten: returned or copied in the end, read as sizes, written by
 * scatters, or carried by loops. */
static void find_kept(InPlace *p) {
  const Graph *g = p->f->graph;
  for (Node *n = g->first; n; n = n->next) {
    bool scatters = n->kind == NODE_CALL && prim_kind(n->op) == PRIM_SCATTER;
    if (scatters || prim_reads_size(n) || is_of_loop(n)) graph_each_use(n, keep_buffer, p->kept);
    if (scatters || is_of_loop(n)) p->kept[n->id] = true;
  }
  find_targets(p);
  find_returned(p);
  graph_each_use(g->last, keep_buffer, p->kept);
  for (uint32_t i = 0; g->outputs && i < g->last->args[0].n; i++)
    if (g->outputs[i].kind == OUTPUT_MUTATION) p->kept[g->outputs[i].target->id] = true;
}

/* Values from before a loop are read again by the next iteration. */
static void find_kept_by_loops(InPlace *p, Kernel *const *kernels) {
  for (size_t i = 0; i < p->f->loops.len; i++) {
    const FusionLoop *loop = &p->f->loops.data[i];
    for (uint32_t k = loop->first; k < loop->past; k++)
      for (size_t j = 0; j < kernels[k]->buffers.len; j++) {
        const Node *n = kernels[k]->buffers.data[j].node;
        if (p->f->of[n->id] && p->f->of[n->id]->number < loop->first) p->kept[n->id] = true;
      }
  }
}

InPlace *in_place_new(const Fusion *f, Kernel *const *kernels) {
  Arena *a = f->graph->arena;
  InPlace *p = ARENA_NEW(a, InPlace);
  uint32_t n = f->graph->nids;
  *p = (InPlace){.f = f, .last = ARENA_ARRAY(a, uint32_t, n), .kept = ARENA_ARRAY(a, bool, n)};
  p->returned = ARENA_ARRAY(a, bool, n);
  p->target = ARENA_ARRAY(a, Node *, n);
  p->under = ARENA_ARRAY(a, Node *, n);
  for (uint32_t i = 0; i < f->groups.len; i++)
    for (size_t j = 0; j < kernels[i]->buffers.len; j++)
      p->last[kernels[i]->buffers.data[j].node->id] = i + 1;
  find_kept(p);
  find_kept_by_loops(p, kernels);
  return p;
}

Node *in_place_memory(const InPlace *p, Node *n) {
  Node *under = p->under[n->id];
  return under ? under : n;
}

/* ---- one kernel ---- */

/* A value of each run, in memory between two kernels. */
static bool is_of_run(const InPlace *p, const Node *n) {
  const Group *of = n->kind == NODE_CALL ? p->f->of[n->id] : NULL;
  return of && !of->once;
}

static bool is_temporary(const InPlace *p, const Node *n) {
  return is_of_run(p, n) && !p->kept[n->id];
}

/* What the caller gives away: no value that the run returns takes its place. */
static bool may_be_overwritten(const InPlace *p, const Node *n) {
  return n->kind == NODE_INPUT && n->input.overwritten && !p->kept[n->id];
}

static bool is_in_loop(const InPlace *p, const Group *group) {
  for (size_t i = 0; i < p->f->loops.len; i++) {
    const FusionLoop *loop = &p->f->loops.data[i];
    if (group->number >= loop->first && group->number < loop->past) return true;
  }
  return false;
}

static bool is_new_value(const InPlace *p, const Kernel *k, const Node *of, const Node *value) {
  return p->target[value->id] == of && !k->group->once && !is_in_loop(p, k->group);
}

static bool has_one_element(const InPlace *p, const Node *n) {
  return dim_is(value_numel(p->f->graph, &n->type), 1);
}

/* Each program reads what it writes, and no other does: the indices are the same text, or there is
 * one element of all. */
static bool are_at_one_place(const InPlace *p, const Kernel *k, const KernelBuffer *in,
                             const KernelBuffer *out) {
  if (in->uses != 1 || out->uses != 1 || !in->index || !out->index) return false;
  if (value_numel(p->f->graph, &in->node->type) != value_numel(p->f->graph, &out->node->type))
    return false;
  bool same = !strcmp(in->index, out->index);
  for (size_t i = 0; i < k->buffers.len && !same; i++)
    if (!has_one_element(p, k->buffers.data[i].node)) return false;
  return true;
}

static bool can_reuse_buffer(const InPlace *p, const Kernel *k, const KernelBuffer *in,
                             const KernelBuffer *out) {
  const Node *from = in->node, *to = out->node;
  if (kernel_owns(k, from) || !kernel_owns(k, to)) return false;
  bool given = in_place_memory(p, (Node *)(uintptr_t)from)->kind == NODE_INPUT;
  bool result = is_of_run(p, to) && p->returned[to->id] && !given;
  bool passes = is_temporary(p, from) && (is_temporary(p, to) || result);
  passes |= may_be_overwritten(p, from) && is_temporary(p, to) && !is_in_loop(p, k->group);
  if (!passes && !is_new_value(p, k, from, to)) return false;
  if (p->last[from->id] != k->group->number + 1 || from->type.dtype != to->type.dtype) return false;
  return in->order < out->order && are_at_one_place(p, k, in, out);
}

/* The word `old` in `text` becomes `by`. */
static const char *rename_in_text(Arena *a, const char *text, const char *old, const char *by) {
  Text out = text_new(a);
  size_t n = strlen(old);
  for (const char *at; (at = strstr(text, old)); text = at + n) {
    bool inside = at > text && strchr("_0123456789abcdefghijklmnopqrstuvwxyz", at[-1]);
    text_putn(&out, text, (size_t)(at - text));
    text_puts(&out, inside ? old : by);
  }
  text_puts(&out, text);
  return out.data;
}

/* The text without the parameter, in the lists of the kernel and of functions to which it is passed
 * on.  A parameter that comes first is in the kernel's list alone. */
static const char *without_parameter(Arena *a, const char *text, const char *name) {
  const char *item = arena_printf(a, ", %s", name), *at = strstr(text, name);
  size_t n = strlen(item);
  if (!strstr(text, item) || strstr(text, arena_printf(a, "(%s, ", name)))
    return arena_printf(a, "%.*s%s", (int)(at - text), text, at + n);
  Text out = text_new(a);
  for (; (at = strstr(text, item)); text = at + n) {
    text_putn(&out, text, (size_t)(at - text));
    if (!strchr(",)", at[n])) text_puts(&out, item);
  }
  text_puts(&out, text);
  return out.data;
}

static void merge_buffer(InPlace *p, Kernel *k, Text *text, KernelBuffer *in, size_t out) {
  Arena *a = k->arena;
  KernelBuffer written = k->buffers.data[out];
  const char *old = arena_printf(a, "%s_ptr", written.name),
             *s = without_parameter(a, text->data, old);
  Name name = arena_printf(a, "inout%u", k->inouts++);
  const char *by = arena_printf(a, "%s_ptr", name);
  s = rename_in_text(a, rename_in_text(a, s, old, by), arena_printf(a, "%s_ptr", in->name), by);
  *text = text_new(a);
  text_puts(text, s);
  p->under[written.node->id] = in_place_memory(p, in->node);
  in->name = name;
  in->then = written.node;
  memmove(&k->buffers.data[out], &k->buffers.data[out + 1],
          (k->buffers.len - out - 1) * sizeof *k->buffers.data);
  k->buffers.len--;
}

/* The operand that `out` may be written over; NULL: none. */
static KernelBuffer *operand_for(const InPlace *p, const Kernel *k, const KernelBuffer *out) {
  for (size_t i = 0; i < k->buffers.len; i++) {
    KernelBuffer *in = &k->buffers.data[i];
    if (!in->then && can_reuse_buffer(p, k, in, out)) return in;
  }
  return NULL;
}

void in_place_choose(InPlace *p, Kernel *k, Text *text) {
  for (size_t i = k->buffers.len; i-- > 0;) {
    KernelBuffer *in = operand_for(p, k, &k->buffers.data[i]);
    if (in) merge_buffer(p, k, text, in, i);
  }
}
