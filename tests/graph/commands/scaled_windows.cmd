# On a CPU a weight that a batch norm scales is a constant in panels, for few windows, too.
h='{"p_w":{"dtype":"F32","shape":[64,64,3,3],"data_offsets":[0,147456]},"p_s":{"dtype":"F32","shape":[64],"data_offsets":[147456,147712]}}'
{ printf "\\$(printf %03o ${#h})\0\0\0\0\0\0\0$h"; head -c 147712 /dev/zero; } >$TMP/w.safetensors
cat >$TMP/m.py <<'MODEL'
def forward(self, x: "f32[1, 64, 5, 5]", p_w: "f32[64, 64, 3, 3]", p_s: "f32[64]"):
    c = torch.ops.aten.conv2d.default(x, p_w, None, [1, 1], [1, 1])
    v = torch.ops.aten.view.default(p_s, [1, 64, 1, 1])
    n = torch.ops.aten.mul.Tensor(c, v)
    return (n, )
MODEL
nereid graph $TMP/m.py --weights $TMP/w.safetensors --emit plan --device cpu | grep -o '^\(once\|step\) k[0-9]*_[a-z]*\|BAND:'
