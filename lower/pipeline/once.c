/* Tiles that a kernel loads before its loop and stores for the loop's products as they are, as a
 * query: boxes bring them while the loop's first copies are under way.  A store of threads waits
 * for the load, and copies that are asked for after it wait, too. */
#include <string.h>

#include "lower/nest/nest_access.h"
#include "lower/nest/steady.h"
#include "lower/pipeline/pipe.h"

/* May the load be made later, up to the loop?  Nothing in between writes memory, or orders it. */
static bool may_move(const Pipe *p, const NestStmt *load) {
  for (const NestStmt *st = load->next; st != p->loop; st = st->next) {
    bool fence = st->code == NEST_FENCE && !strcmp(nest_str(st, NA_kind, ""), "proxy");
    if (nest_writes_global(st) || (nest_flags(st) & NEST_IS_ATOMIC)) return false;
    if ((nest_flags(st) & NEST_IS_ORDERED) && !fence && !st->nregions) return false;
    if (st->nregions && st->code != NEST_NEST) return false;
  }
  return true;
}

/* Does the loop alone read the buffer that the statement stores to, and the statement alone what is
 * loaded for it? */
static bool is_for_loop(const Pipe *p, const NestStmt *store) {
  const NestStmt *to = store->regions[0]->first;
  const NestBuffer *b = to->mems[0].buffer;
  return !to->mems[0].base.kind && !to->guard.kind &&
         pipe_count_reads(p->n->body, to->srcs[0].var) == 1 &&
         pipe_count_uses(p->n->body, b) == pipe_count_uses(p->loop->regions[0], b) + 1;
}

void once_find(Pipe *p) {
  Definitions d;
  bool boxes = p->nbulk && !pipe_has_groups(p) && (p->rotation.first || p->release.first);
  if (!boxes || p->tiles || pipe_is_repeated(p->loop)) return;
  definitions_find(&d, p->scratch, p->n);
  for (NestStmt *st = p->loop->prev; st; st = st->prev) {
    if (!pipe_stores_loaded(st) || !is_for_loop(p, st)) continue;
    const NestVar *v = st->regions[0]->first->srcs[0].var;
    Once x = {.load = st->prev, .store = st};
    while (!nest_sets(x.load, v)) x.load = x.load->prev;
    if (may_move(p, x.load) && bulk_load(&x.bulk, &d, p->loop, x.load, st))
      vec_push(p->scratch, &p->once, x);
  }
}

void once_start(Pipe *p) {
  if (!p->once.len) return;
  NestBuilder top = {p->n, p->n->body, p->n->body->first, p->loop->span};
  bulk_start(&p->own, 1, &top, 1, false);
  p->own_slot = nest_var(p->n, "slot", DT_I32, DT_NONE, 1, true);
  nest_mov(&top, ref_var(p->own_slot), ref_int(0), DT_I32);
  for (size_t i = 0; i < p->once.len; i++) bulk_declare(&p->own, p->n, &p->once.data[i].bulk);
}

/* Memory that the kernel before this one writes is read after the wait for it, which comes as late
 * as it can (pass sink_wait). */
bool once_is_late(const Pipe *p) {
  if (!p->n->options.steady || !steady_wait(p->n)) return false;
  const bool *steady = steady_pointers(p->scratch, p->n);
  for (size_t i = 0; i < p->once.len; i++)
    if (!steady[p->once.data[i].bulk.access.map.base->id]) return true;
  return false;
}

void once_copy(Pipe *p, NestBuilder *b) {
  if (!p->once.len) return;
  bulk_expect(&p->own, b, p->own_slot, NULL);
  for (size_t i = 0; i < p->once.len; i++)
    bulk_copy(&p->own, b, &p->once.data[i].bulk, ref_none(), p->own_slot, NULL, NULL);
}

void once_wait(Pipe *p) {
  if (!p->once.len) return;
  NestBuilder here = {p->n, p->loop->parent, p->loop, p->loop->span};
  bulk_wait(&p->own, &here, p->own_slot);
  for (size_t i = 0; i < p->once.len; i++) {
    pipe_remove_fence(p->once.data[i].store);
    nest_remove(p->once.data[i].load);
    nest_remove(p->once.data[i].store);
  }
}
