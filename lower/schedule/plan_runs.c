/* Neighbors in memory: along which axis an access has them, and how many it takes at once. */
#include "lower/schedule/plan.h"

/* The axis along which neighbours are in memory: the one with the longest runs, the last if all
 * are alike. */
int plan_memory_axis(const Plan *p, const TileValue *ptr) {
  const AxisInfo *x = &p->axis[ptr->id];
  int best = ptr->type.rank - 1;
  for (int a = ptr->type.rank - 2; a >= 0; a--)
    if (x->contig[a] > x->contig[best]) best = a;
  return best;
}

unsigned plan_elem_bytes(const TileValue *ptr) {
  unsigned n = dtype_bytes((DType)ptr->type.elem);
  return n ? n : 1;
}

Run plan_pointer_run(const Plan *p, const TileValue *ptr, const TileValue *mask) {
  int axis = plan_memory_axis(p, ptr);
  unsigned bytes = plan_elem_bytes(ptr);
  if (mask && !p->index_only[mask->id]) mask = NULL;
  return (Run){axis,
               axis_vector(p->axis, ptr, mask, axis, bytes, p->u->machine->vector_bytes / bytes)};
}

/* A view is contiguous along an axis of stride 1; alignment follows from the other strides, the
 * offsets and the base. */
Run plan_view_run(const Plan *p, const TileOp *op) {
  uint32_t r = tile_view_rank(op);
  unsigned bytes = plan_elem_bytes(op->args[0]);
  int axis = (int)r - 1;
  int64_t n = 1;
  for (int a = (int)r - 1; a >= 0; a--) {
    const AxisInfo *s = &p->axis[tile_view_stride(op, (uint32_t)a)->id];
    if (!s->known || s->lo != 1) continue;
    axis = a;
    n = p->u->machine->vector_bytes / bytes;
    int64_t div = p->axis[op->args[0]->id].div[0] / bytes;
    for (uint32_t k = 0; k < r; k++) {
      int64_t d = (int)k == a ? p->axis[tile_view_offset(op, k)->id].div[0]
                              : p->axis[tile_view_stride(op, k)->id].div[0];
      if (d < div) div = d;
    }
    if (tile_view_checked(op, (uint32_t)a)) {
      int64_t size = p->axis[tile_view_size(op, (uint32_t)a)->id].div[0];
      if (size < div) div = size;
    }
    if (div < n) n = div < 1 ? 1 : div;
    break;
  }
  return (Run){axis, n};
}

int plan_neighbor_axis(const Plan *p, const TileValue *v) {
  bool turned = false;
  for (; v->def && v->def->code == TILE_TRANS; v = v->def->args[0]) turned = !turned;
  if (!v->def || v->type.rank != 2) return -1;
  int axis = -1;
  if (v->def->code == TILE_LOAD) {
    const TileValue *ptr = v->def->args[0];
    int a = plan_memory_axis(p, ptr);
    if (p->axis[ptr->id].contig[a] > 1) axis = a;
  } else if (v->def->code == TILE_VIEW_LOAD) {
    Run run = plan_view_run(p, v->def);
    if (run.n > 1) axis = run.axis;
  }
  return axis >= 0 && turned ? 1 - axis : axis;
}
