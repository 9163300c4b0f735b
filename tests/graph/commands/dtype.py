class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 8]", w: "f32[8, 8]", m: "b8[4, 4]", at: "i64[4]", c: "f32[4, 8]"):
        # a norm computed precisely; behind it `to` means x
        to: "f32[4, 8]" = torch.ops.aten.to.dtype(x, torch.float32);  x = None
        pow_1: "f32[4, 8]" = torch.ops.aten.pow.Tensor_Scalar(to, 2)
        mean: "f32[4, 1]" = torch.ops.aten.mean.dim(pow_1, [-1], True);  pow_1 = None
        rsqrt: "f32[4, 1]" = torch.ops.aten.rsqrt.default(mean);  mean = None
        mul: "f32[4, 8]" = torch.ops.aten.mul.Tensor(to, rsqrt);  rsqrt = None
        to_1: "f32[4, 8]" = torch.ops.aten.to.dtype(mul, torch.float32);  mul = None
        add: "f32[4, 8]" = torch.ops.aten.add.Tensor(to, to_1);  to = to_1 = None
        # positions stay precise up to the product, which wants one dtype
        to_2: "f32[4]" = torch.ops.aten.to.dtype(at, torch.float32);  at = None
        unsqueeze: "f32[4, 1]" = torch.ops.aten.unsqueeze.default(to_2, 1);  to_2 = None
        expand: "f32[4, 8]" = torch.ops.aten.expand.default(unsqueeze, [4, 8])
        linear: "f32[4, 8]" = torch.ops.aten.linear.default(expand, w);  w = None
        # what is made from numbers follows, and so do limits
        full: "f32[]" = torch.ops.aten.full.default([], -3.4028234663852886e+38)
        zeros: "f32[4, 8]" = torch.ops.aten.zeros.default([4, 8])
        arange: "f32[4]" = torch.ops.aten.arange.default(4, dtype = torch.float32)
        where: "f32[4, 4]" = torch.ops.aten.where.self(m, arange, full)
        softmax: "f32[4, 4]" = torch.ops.aten.softmax.int(where, -1, torch.float32)
        type_as: "f32[4, 4]" = torch.ops.aten.type_as.default(softmax, zeros);  softmax = None
        to_3: "f32[4, 8]" = torch.ops.aten.to.dtype_layout(zeros, dtype = torch.float32)
        matmul: "f32[4, 8]" = torch.ops.aten.matmul.default(type_as, to_3);  type_as = to_3 = None
        add_1: "f32[4, 8]" = torch.ops.aten.add.Tensor(add, linear);  add = linear = None
        add_2: "f32[4, 8]" = torch.ops.aten.add.Tensor(add_1, matmul);  add_1 = matmul = None
        to_4: "f32[4, 8]" = torch.ops.aten.to.dtype(add_2, torch.float32);  add_2 = None
        # steps between precise values and what follows want one dtype
        heaviside: "f32[4, 8]" = torch.ops.aten.heaviside.default(to_4, c)
        copy_: "f32[4, 8]" = torch.ops.aten.copy_.default(c, to_4);  c = None
        return (to_4, copy_, heaviside)
