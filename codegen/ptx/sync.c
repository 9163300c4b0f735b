/* Ids, shuffles, barriers and fences. */
#include "codegen/ptx/ptx.h"

#include "codegen/messages.h"

/* ---- ids ---- */

static void grid(Ptx *p, const NestStmt *s, const char *const texts[3]) {
  Operand d = ptx_temp(p, RC_B32);
  if (!s->guard.kind) d = ptx_dest(p, &s->dsts[0], 0);
  ptx_emit2(p, texts[nest_int(s, NA_axis, 0)], d, d);
  if (s->guard.kind) ptx_assign(p, s, d);
}

void ptx_pid(Ptx *p, const NestStmt *s) {
  static const char *const texts[3] = {"mov.u32 $d, %ctaid.x", "mov.u32 $d, %ctaid.y",
                                       "mov.u32 $d, %ctaid.z"};
  static const char *const clusters[3] = {"mov.u32 $d, %clusterid.x", "mov.u32 $d, %clusterid.y",
                                          "mov.u32 $d, %clusterid.z"};
  grid(p, s, p->nest->cluster > 1 ? clusters : texts);
}

void ptx_nprog(Ptx *p, const NestStmt *s) {
  static const char *const texts[3] = {"mov.u32 $d, %nctaid.x", "mov.u32 $d, %nctaid.y",
                                       "mov.u32 $d, %nctaid.z"};
  static const char *const clusters[3] = {"mov.u32 $d, %nclusterid.x", "mov.u32 $d, %nclusterid.y",
                                          "mov.u32 $d, %nclusterid.z"};
  grid(p, s, p->nest->cluster > 1 ? clusters : texts);
}

void ptx_cluster_rank(Ptx *p, const NestStmt *s) {
  Operand d = ptx_dest(p, &s->dsts[0], 0);
  ptx_emit2(p, "mov.u32 $d, %cluster_ctarank", d, d);
}

void ptx_special(Ptx *p, const NestStmt *s) {
  bool timer = s->type == DT_I64;
  Operand d = ptx_temp(p, timer ? RC_B64 : RC_B32);
  if (!s->guard.kind) d = ptx_dest(p, &s->dsts[0], 0);
  ptx_emit2(p, timer ? "mov.u64 $d, %globaltimer" : "mov.u32 $d, %smid", d, d);
  if (s->guard.kind) ptx_assign(p, s, d);
}

void ptx_grid_dependency(Ptx *p, const NestStmt *s) {
  if (!machine_has(p->machine, HAS_GRID_DEPENDENCIES)) {
    ptx_fail(p, E_GEN_GRID_DEPENDENCY, p->machine->name);
    return;
  }
  ptx_needs(p, 78);
  bool waits = !strcmp(nest_str(s, NA_kind, ""), "wait");
  p->guard = ptx_guard(p, s);
  ptx_emit2(p, waits ? "griddepcontrol.wait" : "griddepcontrol.launch_dependents", ptx_int(0),
            ptx_int(0));
  p->guard.kind = PO_NONE;
}

void ptx_lane(Ptx *p, const NestStmt *s) {
  Operand d = ptx_dest(p, &s->dsts[0], 0);
  if (p->nest->warps == 1) ptx_emit2(p, "mov.u32 $d, %tid.x", d, d);
  else ptx_emit2(p, "mov.u32 $0r, %tid.x; and.b32 $d, $0r, 31", d, d);
}

void ptx_warp(Ptx *p, const NestStmt *s) {
  Operand d = ptx_dest(p, &s->dsts[0], 0);
  if (p->role_warps == 1) ptx_emit2(p, "mov.b32 $d, $a", d, ptx_int(0));
  else if (!p->first_warp) ptx_emit2(p, "mov.u32 $0r, %tid.x; shr.u32 $d, $0r, 5", d, d);
  else
    ptx_emit2(p, "mov.u32 $0r, %tid.x; shr.u32 $0r, $0r, 5; sub.u32 $d, $0r, $a", d,
              ptx_int(p->first_warp));
}

/* ---- shuffles ---- */

/* Shuffles a word of 32 bits; d may not be x.  Mode up: lanes without a source keep their own
 * value. */
static void shuffle_word(Ptx *p, const char *mode, Operand d, Operand x, Operand by) {
  static const struct {
    const char *mode, *text;
  } rows[] = {{"xor", "shfl.sync.bfly.b32 $d, $a, $b, 31, -1"},
              {"up", "shfl.sync.up.b32 $d, $a, $b, 0, -1"},
              {"down", "shfl.sync.down.b32 $d, $a, $b, 31, -1"},
              {"idx", "shfl.sync.idx.b32 $d, $a, $b, 31, -1"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(mode, rows[i].mode)) ptx_emit(p, rows[i].text, d, x, by, by);
}

static void shuffle_wide(Ptx *p, const char *mode, Operand d, Operand x, Operand by) {
  Operand half[2] = {ptx_temp(p, RC_B32), ptx_temp(p, RC_B32)};
  ptx_emit(p, "mov.b64 {$d, $a}, $b", half[0], half[1], x, x);
  for (int i = 0; i < 2; i++) shuffle_word(p, mode, half[i], half[i], by);
  ptx_emit(p, "mov.b64 $d, {$a, $b}", d, half[0], half[1], d);
}

void ptx_shfl(Ptx *p, const NestStmt *s) {
  const char *mode = nest_str(s, NA_mode, "xor");
  RegClass cls = ptx_class(s->type);
  Operand x = ptx_source_reg(p, &s->srcs[0], s->type), d = {0};
  Operand by =
      !strcmp(mode, "idx") ? ptx_source(p, &s->srcs[1], DT_I32) : ptx_int(nest_int(s, NA_by, 0));
  if (s->guard.kind) d = ptx_temp(p, cls);
  else d = ptx_dest(p, &s->dsts[0], 0);
  Operand wide = cls == RC_B16 || cls == RC_PRED ? ptx_temp(p, RC_B32) : x;
  if (cls == RC_B16) ptx_emit2(p, "cvt.u32.u16 $d, $a", wide, x);
  if (cls == RC_PRED) ptx_emit2(p, "selp.b32 $d, 1, 0, $a", wide, x);
  if (cls == RC_B64 || cls == RC_F64) shuffle_wide(p, mode, d, x, by);
  else shuffle_word(p, mode, wide.num == x.num && wide.name == x.name ? d : wide, wide, by);
  if (cls == RC_B16) ptx_emit2(p, "cvt.u16.u32 $d, $a", d, wide);
  if (cls == RC_PRED) ptx_emit2(p, "setp.ne.b32 $d, $a, 0", d, wide);
  if (s->guard.kind) ptx_assign(p, s, d);
}

/* ---- barriers ---- */

/* Barriers of different roles differ: those without a number of their own count from the top. */
static int64_t barrier_number(const Ptx *p, const NestStmt *s) {
  enum { LAST_BARRIER = 15 };
  const NestAttr *id = nest_attr(s, NA_id);
  if (id) return id->i;
  return p->in_role ? LAST_BARRIER + 1 - p->role : 0;
}

void ptx_bar(Ptx *p, const NestStmt *s) {
  int64_t warps = nest_int(s, NA_warps, 0), id = barrier_number(p, s);
  if (!warps) warps = p->role_warps;
  p->guard = ptx_guard(p, s);
  if (warps == 1) ptx_emit2(p, "bar.warp.sync -1", ptx_int(0), ptx_int(0));
  else if (warps == p->nest->warps) ptx_emit2(p, "bar.sync $a", ptx_int(0), ptx_int(id));
  else
    ptx_emit(p, "bar.sync $a, $b", ptx_int(0), ptx_int(id), ptx_int(warps * WARP_LANES),
             ptx_int(0));
  p->guard.kind = PO_NONE;
}

static bool is_first_arrival(const NestStmt *s) {
  while ((s = s->prev))
    if (s->code == NEST_CLUSTER_ARRIVE) return false;
  return true;
}

/* Before the first arrival there is nothing that other blocks may see but the mbarriers, which a
 * fence publishes. */
void ptx_cluster_arrive(Ptx *p, const NestStmt *s) {
  bool relaxed = is_first_arrival(s) && ptx_make_exchanges(p);
  const char *text = relaxed ? "barrier.cluster.arrive.relaxed.aligned"
                             : "barrier.cluster.arrive.aligned";
  ptx_emit2(p, text, ptx_int(0), ptx_int(0));
}

void ptx_cluster_wait(Ptx *p, const NestStmt *s) {
  (void)s;
  ptx_emit2(p, "barrier.cluster.wait.aligned", ptx_int(0), ptx_int(0));
}

void ptx_fence(Ptx *p, const NestStmt *s) {
  static const struct {
    const char *kind, *text;
  } rows[] = {{"cta", "fence.acq_rel.cta"},
              {"gpu", "fence.acq_rel.gpu"},
              {"sys", "fence.acq_rel.sys"},
              {"proxy", "fence.proxy.async.shared::cta"},
              {"mma", "wgmma.fence.sync.aligned"}};
  const char *kind = nest_str(s, NA_kind, "gpu");
  if (!strcmp(kind, "proxy") && !machine_has(p->machine, HAS_ASYNC_PROXY)) return;
  if (!strcmp(kind, "proxy")) ptx_needs(p, 80);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(kind, rows[i].kind)) ptx_emit2(p, rows[i].text, ptx_int(0), ptx_int(0));
}
