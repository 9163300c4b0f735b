#include "lower/target/atoms.h"

#include <string.h>

#include "lang/base/diag.h"
#include "lower/nest/nest_text.h"

/* Fragments of the PTX ISA, "Matrix Fragments for mma.m16n8k*" and "mma.m8n8k4 with .f64". */
#define C_16X8 "[16 = 2@reg:2 8@lane:4, 8 = 4@lane:1 2@reg:1]"

/* 16-bit elements, k = 16 */
#define A_16X16 "[16 = 2@reg:2 8@lane:4, 16 = 2@reg:4 4@lane:1 2@reg:1]"
#define B_16X8 "[16 = 2@reg:2 4@lane:1 2@reg:1, 8 = 8@lane:4]"
#define MMA_K16 16, 8, 16, 80, 70, A_16X16, B_16X8, C_16X8, 1, false

/* tf32, k = 8 */
#define A_16X8 "[16 = 2@reg:1 8@lane:4, 8 = 2@reg:2 4@lane:1]"
#define B_8X8 "[8 = 2@reg:1 4@lane:1, 8 = 8@lane:4]"
#define MMA_K8 16, 8, 8, 80, 70, A_16X8, B_8X8, C_16X8, 1, false

/* 8-bit elements, k = 32 */
#define A_16X32 "[16 = 2@reg:4 8@lane:4, 32 = 2@reg:8 4@lane:1 4@reg:1]"
#define B_32X8 "[32 = 2@reg:4 4@lane:1 4@reg:1, 8 = 8@lane:4]"
#define MMA_K32(sm, ptx) 16, 8, 32, sm, ptx, A_16X32, B_32X8, C_16X8, 1, false

#define SHAPE_TF32 "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
#define SHAPE_K16 "mma.sync.aligned.m16n8k16.row.col."
#define SHAPE_K32 "mma.sync.aligned.m16n8k32.row.col."

/* A warpgroup's, elements of 32, 16 and 8 bits */
#define WGMMA_K8 64, 8, 8, 90, 80, A_16X8, NULL, C_16X8, WARPGROUP, false
#define WGMMA_K16 64, 8, 16, 90, 80, A_16X16, NULL, C_16X8, WARPGROUP, false
#define WGMMA_K32 64, 8, 32, 90, 80, A_16X32, NULL, C_16X8, WARPGROUP, false

/* A thread's two rows are next to each other: bytes of two rows that follow each other in
 * shared memory are read at once. */
#define A_PAIRS "[16 = 8@lane:4 2@reg:4, 32 = 2@reg:8 4@lane:1 4@reg:1]"
#define C_PAIRS "[16 = 8@lane:4 2@reg:2, 8 = 4@lane:1 2@reg:1]"
#define WGMMA_PAIRS 64, 8, 32, 90, 80, A_PAIRS, NULL, C_PAIRS, WARPGROUP, true

/* Operands of one type are named once. */
static const Atom atoms[] = {
    {"m16n8k16.f16", SHAPE_K16 "f32.f16.f16.f32", DT_F16, DT_F16, DT_F32, TF32_NONE, MMA_K16},
    {"m16n8k16.f16.f16", SHAPE_K16 "f16.f16.f16.f16", DT_F16, DT_F16, DT_F16, TF32_NONE, MMA_K16},
    {"m16n8k16.bf16", SHAPE_K16 "f32.bf16.bf16.f32", DT_BF16, DT_BF16, DT_F32, TF32_NONE, MMA_K16},
    {"m16n8k8.tf32", SHAPE_TF32, DT_F32, DT_F32, DT_F32, TF32_CUT, MMA_K8},
    {"m16n8k8.tf32_rounded", SHAPE_TF32, DT_F32, DT_F32, DT_F32, TF32_ROUNDED, MMA_K8},
    {"m16n8k32.i8", SHAPE_K32 "s32.s8.s8.s32", DT_I8, DT_I8, DT_I32, TF32_NONE, MMA_K32(80, 70)},
    {"m16n8k32.i8.u8", SHAPE_K32 "s32.s8.u8.s32", DT_I8, DT_U8, DT_I32, TF32_NONE, MMA_K32(80, 70)},
    {"m16n8k32.u8.i8", SHAPE_K32 "s32.u8.s8.s32", DT_U8, DT_I8, DT_I32, TF32_NONE, MMA_K32(80, 70)},
    {"m16n8k32.u8", SHAPE_K32 "s32.u8.u8.s32", DT_U8, DT_U8, DT_I32, TF32_NONE, MMA_K32(80, 70)},
    {"m16n8k32.f8e4nv", SHAPE_K32 "f32.e4m3.e4m3.f32", DT_F8E4NV, DT_F8E4NV, DT_F32, TF32_NONE,
     MMA_K32(89, 84)},
    {"m16n8k32.f8e4nv.f8e5", SHAPE_K32 "f32.e4m3.e5m2.f32", DT_F8E4NV, DT_F8E5, DT_F32, TF32_NONE,
     MMA_K32(89, 84)},
    {"m16n8k32.f8e5.f8e4nv", SHAPE_K32 "f32.e5m2.e4m3.f32", DT_F8E5, DT_F8E4NV, DT_F32, TF32_NONE,
     MMA_K32(89, 84)},
    {"m16n8k32.f8e5", SHAPE_K32 "f32.e5m2.e5m2.f32", DT_F8E5, DT_F8E5, DT_F32, TF32_NONE,
     MMA_K32(89, 84)},
    {"m8n8k4.f64", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", DT_F64, DT_F64, DT_F64,
     TF32_NONE, 8, 8, 4, 80, 70, "[8 = 8@lane:4, 4 = 4@lane:1]", "[4 = 4@lane:1, 8 = 8@lane:4]",
     "[8 = 8@lane:4, 8 = 4@lane:1 2@reg:1]", 1, false},
    {"wgmma.m64k16.f16", "f32.f16.f16", DT_F16, DT_F16, DT_F32, TF32_NONE, WGMMA_K16},
    {"wgmma.m64k16.bf16", "f32.bf16.bf16", DT_BF16, DT_BF16, DT_F32, TF32_NONE, WGMMA_K16},
    {"wgmma.m64k8.tf32", "f32.tf32.tf32", DT_F32, DT_F32, DT_F32, TF32_CUT, WGMMA_K8},
    {"wgmma.m64k32.i8", "s32.s8.s8", DT_I8, DT_I8, DT_I32, TF32_NONE, WGMMA_K32},
    {"wgmma.m64k32.f8e4nv", "f32.e4m3.e4m3", DT_F8E4NV, DT_F8E4NV, DT_F32, TF32_NONE, WGMMA_K32},
    {"wgmma.m64k32.f8e4nv.f8e5", "f32.e4m3.e5m2", DT_F8E4NV, DT_F8E5, DT_F32, TF32_NONE, WGMMA_K32},
    {"wgmma.m64k32.f8e5.f8e4nv", "f32.e5m2.e4m3", DT_F8E5, DT_F8E4NV, DT_F32, TF32_NONE, WGMMA_K32},
    {"wgmma.m64k32.f8e5", "f32.e5m2.e5m2", DT_F8E5, DT_F8E5, DT_F32, TF32_NONE, WGMMA_K32},
    {"wgmma.m64k32.i8.pairs", "s32.s8.s8", DT_I8, DT_I8, DT_I32, TF32_NONE, WGMMA_PAIRS},
    {"wgmma.m64k32.f8e4nv.pairs", "f32.e4m3.e4m3", DT_F8E4NV, DT_F8E4NV, DT_F32, TF32_NONE,
     WGMMA_PAIRS},
    {"wgmma.m64k32.f8e4nv.f8e5.pairs", "f32.e4m3.e5m2", DT_F8E4NV, DT_F8E5, DT_F32, TF32_NONE,
     WGMMA_PAIRS},
    {"wgmma.m64k32.f8e5.f8e4nv.pairs", "f32.e5m2.e4m3", DT_F8E5, DT_F8E4NV, DT_F32, TF32_NONE,
     WGMMA_PAIRS},
    {"wgmma.m64k32.f8e5.pairs", "f32.e5m2.e5m2", DT_F8E5, DT_F8E5, DT_F32, TF32_NONE,
     WGMMA_PAIRS},
};

enum { COUNT = sizeof atoms / sizeof *atoms };

const Atom *atom_list(int *n) {
  *n = COUNT;
  return atoms;
}

const Atom *atom_find(const char *name) {
  for (int i = 0; i < COUNT; i++)
    if (!strcmp(atoms[i].name, name)) return &atoms[i];
  return NULL;
}

const Atom *atom_choose(DType a, DType b, DType c, Tf32 tf32, int sm) {
  for (int i = 0; i < COUNT; i++) {
    const Atom *row = &atoms[i];
    bool same = row->a == a && row->b == b && row->c == c && row->tf32 == tf32;
    if (same && row->warps == 1 && row->sm <= sm) return row;
  }
  return NULL;
}

const Atom *atom_choose_group(DType a, DType b, DType c, Tf32 tf32, int sm, bool pairs) {
  for (int i = 0; i < COUNT; i++) {
    const Atom *row = &atoms[i];
    bool same = row->a == a && row->b == b && row->c == c && row->tf32 == tf32;
    if (same && row->warps > 1 && row->pairs == pairs && row->sm == sm) return row;
  }
  return NULL;
}

Layout atom_layout(const Atom *atom, int which) {
  const char *text = which == 0 ? atom->la : which == 1 ? atom->lb : atom->lc, *bad;
  Layout l;
  BUG_IF(!layout_scan(text, strlen(text), &l, &bad), "atom %s: bad layout at %s", atom->name, bad);
  return l;
}

int atom_registers(const Atom *atom, int which) {
  enum { LANES = 32 };
  int rows = which == 1 ? atom->k : atom->m, columns = which == 0 ? atom->k : atom->n;
  return rows * columns / (LANES * atom->warps);
}
