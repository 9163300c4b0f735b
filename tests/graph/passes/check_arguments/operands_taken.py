# The calls of operands.py with operands that eager mode takes.
class M(torch.nn.Module):
    def forward(self, f: "f32[2, 2]", h: "bf16[2, 2]", i: "i64[2, 2]", im: "f32[1, 2, 4, 4]", vol: "f32[1, 2, 2, 4, 4]", w: "f32[3, 2, 2, 2]", s: "f32[2]", three: "f32[3]", grid: "f32[1, 3, 3, 2]", theta: "f32[1, 2, 3]", v: "f32[2, 2, 2]", d: "f64[2, 2]"):
        a0 = torch.ops.aten.layer_norm.default(h, [2], s)
        a1 = torch.ops.aten.group_norm.default(im, 1, s, s)
        a2 = torch.ops.aten.native_dropout.default(f, 3, False)
        b2 = a2[0]
        a3 = torch.ops.aten.addcdiv.default(f, i, f)
        a4 = torch.ops.aten._weight_norm.default(v, d, 1)
        a5 = torch.ops.aten.norm.ScalarOpt_dim_dtype(h, None, [1], True, dtype = torch.float32)
        a6 = torch.ops.aten.linalg_vector_norm.default(f, -2, [1])
        a7 = torch.ops.aten.grid_sampler_2d.default(im, grid, 0, 0, False)
        a8 = torch.ops.aten.new_empty_strided.default(f, [1, 2], [-2, 1])
        a9 = torch.ops.aten.pad.default(im, [3, 0], 'reflect')
        a10 = torch.ops.aten.constant_pad_nd.default(f, [-2, 2])
        a11 = torch.ops.aten.avg_pool3d.default(vol, [2, 2, 2], [1, 2, 2], [1, 0, 0])
        a12 = torch.ops.aten.affine_grid_generator.default(theta, [1, 3, 4, 2], False)
        a13 = torch.ops.aten.repeat_interleave.self_int(f, 3, 1, output_size = 6)
        a14 = torch.ops.aten.einsum.default('ii->i', [f])
        a15 = torch.ops.aten.conv2d.default(im, w, three)
        return (a0, a1, b2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15)
