class GraphModule(torch.nn.Module):
    def forward(self, b_slopes: "f32[4]", b_factor: "f64[]", c_counts: "i32[1, 1, 3]", c_blocks: "i32[1, 1, 3, 3]", q: "f32[2, 4, 100, 16]", k: "f32[2, 2, 100, 16]", getitem: "f32[2, 2, 1600]"):
        sdpa_score0 = self.sdpa_score0
        sdpa_mask0 = self.sdpa_mask0
        flex_attention = torch.ops.higher_order.flex_attention(q, k, getitem, sdpa_score0, (100, 100, c_counts, c_blocks, None, None, c_counts, c_blocks, None, None, 40, 40, sdpa_mask0), 0.25, {'BACKEND': 'AUTO', 'OUTPUT_LOGSUMEXP': True}, (b_factor, b_slopes), ());  q = k = v = sdpa_score0 = sdpa_mask0 = None
        result: "f32[2, 4, 100, 16]" = flex_attention[0]
        getitem_1: "f32[2, 4, 100]" = flex_attention[1];  flex_attention = None
        mul: "f32[2, 4, 100]" = torch.ops.aten.mul.Tensor(getitem_1, 0.6931471805599453);  getitem_1 = None
        return (result, mul)

    class sdpa_score0(torch.nn.Module):
        def forward(self, arg0_1: "f32[]", arg1_1: "i32[]", arg2_1: "i32[]", arg3_1: "i32[]", arg4_1: "i32[]", arg5_1: "f64[]", arg6_1: "f32[4]"):
            mul: "f64[]" = torch.ops.aten.mul.Tensor(arg0_1, arg5_1);  arg0_1 = arg5_1 = None
            index: "f32[]" = torch.ops.aten.index.Tensor(arg6_1, [arg2_1]);  arg6_1 = arg2_1 = None
            add: "f64[]" = torch.ops.aten.add.Tensor(mul, index);  mul = index = None
            return add

    class sdpa_mask0(torch.nn.Module):
        def forward(self, arg0_1: "i32[]", arg1_1: "i32[]", arg2_1: "i32[]", arg3_1: "i32[]"):
            ge: "b8[]" = torch.ops.aten.ge.Tensor(arg2_1, arg3_1);  arg2_1 = arg3_1 = None
            return ge
