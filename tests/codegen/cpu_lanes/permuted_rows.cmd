# A copy of rows in another order: an address is computed once for the rows' 32 numbers, or all 64, and each vector is stored as soon as it is loaded.
for columns in 96 64; do
  cat >$TMP/rows.txt <<G
class M(torch.nn.Module):
    def forward(self, x: "f32[4, 16, 8, $columns]"):
        permute: "f32[4, 8, 16, $columns]" = torch.ops.aten.permute.default(x, [0, 2, 1, 3])
        clone: "f32[4, 8, 16, $columns]" = torch.ops.aten.clone.default(permute, memory_format = torch.contiguous_format)
        return (clone,)
G
  nereid build $TMP/rows.txt -o $TMP/rows$columns --target cpu:8 >$TMP/log 2>&1
  sed -n '/_program(/,/^}/p' $TMP/rows$columns/kernels_1.c
done
