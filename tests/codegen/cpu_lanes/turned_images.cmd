# Images whose channels become the first axis, of whole tiles: rows are exchanged with columns in registers, not stored lane by lane as soon as they are loaded.
cat >$TMP/turned.txt <<G
class M(torch.nn.Module):
    def forward(self, x: "f32[1, 16, 16, 64]"):
        permute: "f32[1, 64, 16, 16]" = torch.ops.aten.permute.default(x, [0, 3, 1, 2])
        clone: "f32[1, 64, 16, 16]" = torch.ops.aten.clone.default(permute, memory_format = torch.contiguous_format)
        return (clone,)
G
nereid build $TMP/turned.txt -o $TMP/turned --target cpu:8 >$TMP/log 2>&1
sed -n '/_program(/,/^}/p' $TMP/turned/kernels_1.c
