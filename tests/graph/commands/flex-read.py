def forward(self, g: "f32[1, 2, 64, 16]", q: "f32[1, 2, 64, 16]", k: "f32[1, 2, 64, 16]", v: "f32[1, 2, 64, 16]", o: "f32[1, 2, 64, 16]", l: "f32[1, 2, 64]", slopes: "f32[2]"):
    w = torch.ops.nereid.flex_attention_backward.default(g, None, q, k, v, o, l, None, None, None, None, None, None, None, None, None, None, None, 0, 0, [slopes], [], [], scale = 0.25)
    a = w[0]
    return (a,)
