# A direction of a layer, from its last step on, with what its gradient needs; and that gradient.
def forward(self, x: "f32[2, 3, 12]", h: "f32[3, 4]", w: "f32[12, 4]", b: "f32[12]", g: "f32[2, 3, 4]"):
    r = nereid.recurrent.default(x, h, None, w, b, None, 'gru', True)
    out = r[0]
    none = r[1]
    gates = r[2]
    back = nereid.recurrent_backward.default(g, None, h, None, w, None, out, none, gates, 'gru', True)
    i = back[0]
    s = back[1]
    f = back[2]
    return (out, i, s, f)
