# Sums over axes of one element have rows of one column; those of tensors of different ranks are not
# of one domain.
printf '%s\n' 'def forward(self, a: "f32[1, 2, 3]", b: "f32[1, 6]"):' \
  '    c = torch.ops.aten.view.default(b, [1, 2, 3])' \
  '    d = torch.ops.aten.sub.Tensor(c, a)' \
  '    e = torch.ops.aten.sum.dim_IntList(d, [0])' \
  '    f = torch.ops.aten.sum.dim_IntList(b, [0])' \
  '    return (e, f)' > $TMP/rows.txt
nereid graph $TMP/rows.txt --device cpu --random-inputs --emit fused 2>/dev/null || exit 1
nereid graph $TMP/rows.txt --device interp --random-inputs 2>/dev/null
