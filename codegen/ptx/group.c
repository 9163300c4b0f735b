/* A warpgroup's matrix instructions.
 *
 * PTX ISA, "Matrix Descriptor Format": bits 0-13 the address, 16-29 the leading and 32-45 the
 * stride byte offset, each in units of 16 bytes; 62-63 the swizzle (1: 128 bytes, 2: 64, 3: 32). */
#include <string.h>

#include "codegen/messages.h"
#include "codegen/ptx/ptx.h"
#include "lower/target/wgmma_layout.h"

enum { UNIT_BITS = 4, LEADING_AT = 16, SWIZZLE_AT = 30 };

static int64_t swizzle_code(int row) { return row == 128 ? 1 : row == 64 ? 2 : 3; }

/* A descriptor for the address. */
static void make_descriptor(Ptx *p, Operand to, const Address *a, Operand base,
                            const WgmmaForm *f) {
  Operand low = ptx_temp(p, RC_B32);
  int64_t leading = (f->leading >> UNIT_BITS) << LEADING_AT;
  int64_t high = f->stride >> UNIT_BITS | swizzle_code(f->row) << SWIZZLE_AT;
  ptx_emit(p, "shr.u32 $0r, $a, 4; add.s32 $d, $0r, $b", low, base,
           ptx_int((a->bytes >> UNIT_BITS) + leading), base);
  ptx_emit(p, "mov.b64 $d, {$a, $b}", to, low, ptx_int((int32_t)(uint32_t)high), low);
}

/* The numbers of an operand's descriptors differ by those of their addresses: one is made of parts,
 * others by an addition, which the multiprocessor's uniform unit does at once. */
static Operand descriptor(Ptx *p, const Mem *m, const WgmmaForm *f) {
  Address a = ptx_address(p, m);
  Operand base = a.base.kind ? a.base : ptx_smem(p), both;
  bool kept = !strcmp(base.name, "%$s") || !strcmp(base.name, "%$smem");
  if (!kept) {
    make_descriptor(p, both = ptx_temp(p, RC_B64), &a, base, f);
    return both;
  }
  for (size_t i = 0; i < p->descriptors.len; i++) {
    const Descriptor *d = &p->descriptors.data[i];
    Operand first = {PO_REG, RC_B64, 3, d->num, "%$d", 0};
    if (d->base != base.num || d->leading != f->leading || d->stride != f->stride ||
        d->row != f->row)
      continue;
    if (d->bytes == a.bytes) return first;
    both = ptx_temp(p, RC_B64);
    ptx_emit(p, "add.s64 $d, $a, $b", both, first, ptx_int((a.bytes - d->bytes) >> UNIT_BITS),
             both);
    return both;
  }
  Descriptor d = {base.num, p->ndescriptors++, a.bytes, f->leading, f->stride, f->row};
  vec_push(p->arena, &p->descriptors, d);
  both = (Operand){PO_REG, RC_B64, 3, d.num, "%$d", 0};
  make_descriptor(p, both, &a, base, f);
  return both;
}

void ptx_wgmma(Ptx *p, const NestStmt *s) {
  const Atom *atom = atom_find(nest_str(s, NA_atom, ""));
  enum { MOST_WORDS = 8, MOST_RESULTS = 128 };
  Operand desc[2] = {{0}}, words[MOST_WORDS], result[MOST_RESULTS];
  WgmmaForm form[2] = {{0}};
  int n = (int)nest_int(s, NA_columns, 0), count = 0;
  if (p->machine->sm != atom->sm) {
    ptx_fail(p, E_GEN_ATOM, atom->name, atom->sm, p->machine->name);
    return;
  }
  ptx_needs(p, atom->ptx_version);
  for (int i = 0; i < 2; i++) {
    if (!s->mems[i].buffer) continue;
    WgmmaOperand x = wgmma_operand(s, i);
    BUG_IF(!wgmma_form(&x, i, &form[i]), "an operand of wgmma in another layout");
    desc[i] = descriptor(p, &s->mems[i], &form[i]);
  }
  if (!desc[0].kind)
    count = ptx_source_words(p, &s->srcs[0], atom->a, atom_registers(atom, 0), words);
  Operand add = ptx_temp(p, RC_PRED);
  ptx_emit2(p, s->srcs[2].kind ? "setp.eq.b32 $d, 0, 0" : "setp.ne.b32 $d, 0, 0", add, add);
  for (int i = 0; i < n / 2; i++) result[i] = ptx_dest(p, &s->dsts[0], i);
  ptx_begin(p);
  ptx_puts(p, "wgmma.mma_async.sync.aligned.m64n");
  ptx_put_int(p, n);
  ptx_puts(p, "k");
  ptx_put_int(p, atom->k);
  ptx_puts(p, ".");
  ptx_puts(p, atom->ptx);
  ptx_puts(p, " ");
  ptx_put_vector(p, result, n / 2);
  ptx_puts(p, ", ");
  if (desc[0].kind) ptx_put_operand(p, &desc[0]);
  else ptx_put_vector(p, words, count);
  ptx_puts(p, ", ");
  ptx_put_operand(p, &desc[1]);
  ptx_puts(p, ", ");
  ptx_put_operand(p, &add);
  if (dtype_is_float(atom->c)) ptx_puts(p, ", 1, 1"); /* neither operand is negated */
  bool may_turn = wgmma_fast_axis(atom->a, 0) < 0;
  if (may_turn && desc[0].kind) ptx_puts(p, form[0].transposed ? ", 1" : ", 0");
  if (may_turn) ptx_puts(p, form[1].transposed ? ", 1" : ", 0");
  ptx_end(p);
}

void ptx_mma_commit(Ptx *p, const NestStmt *s) {
  (void)s;
  ptx_emit2(p, "wgmma.commit_group.sync.aligned", ptx_int(0), ptx_int(0));
}

void ptx_mma_wait(Ptx *p, const NestStmt *s) {
  ptx_emit2(p, "wgmma.wait_group.sync.aligned $a", ptx_int(0), ptx_int(nest_int(s, NA_groups, 0)));
}
