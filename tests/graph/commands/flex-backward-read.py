class GraphModule(torch.nn.Module):
    def forward(
        self,
        primals_1: "f32[2, 4, 100, 16]",
        primals_2: "f32[2, 2, 100, 16]",
        primals_3: "f32[2, 2, 100, 16]",
        primals_4: "f32[4]",
        _to_copy_3: "i32[1, 1, 3]",
        _to_copy_4: "i32[1, 1, 3, 3]",
        _to_copy_6: "i32[1, 1, 3]",
        _to_copy_7: "i32[1, 1, 3, 3]",
        _to_copy_8: "i32[1, 1, 3]",
        _to_copy_9: "i32[1, 1, 3, 3]",
        _to_copy_10: "i32[1, 1, 3]",
        _to_copy_11: "i32[1, 1, 3, 3]",
        detach: "f32[2, 4, 100, 16]",
        detach_1: "f32[2, 4, 100]",
        tangents_1: "f32[2, 4, 100, 16]",
        tangents_2: "f32[2, 4, 100]",
    ):
        mul_1: "f32[2, 4, 100]" = torch.ops.aten.mul.Tensor(tangents_2, 0.6931471805599453);  tangents_2 = None
        detach_2: "f32[2, 4, 100, 16]" = torch.ops.aten.detach.default(detach);  detach = None
        detach_3: "f32[2, 4, 100]" = torch.ops.aten.detach.default(detach_1);  detach_1 = None
        fw_graph0 = self.fw_graph0
        joint_graph0 = self.joint_graph0
        mask_graph0 = self.mask_graph0
        flex_attention_backward = torch.ops.higher_order.flex_attention_backward(primals_1, primals_2, primals_3, detach_2, detach_3, tangents_1, mul_1, fw_graph0, joint_graph0, (100, 100, _to_copy_3, _to_copy_4, _to_copy_6, _to_copy_7, _to_copy_8, _to_copy_9, _to_copy_10, _to_copy_11, 40, 40, mask_graph0), 0.25, {'BACKEND': 'AUTO', 'PRESCALE_QK': False, 'ROWS_GUARANTEED_SAFE': False, 'BLOCKS_ARE_CONTIGUOUS': False, 'WRITE_DQ': True, 'OUTPUT_LOGSUMEXP': True, 'OUTPUT_MAX': False}, (primals_4,), ());  primals_1 = primals_2 = primals_3 = detach_2 = detach_3 = tangents_1 = mul_1 = fw_graph0 = joint_graph0 = _to_copy_3 = _to_copy_4 = _to_copy_6 = _to_copy_7 = _to_copy_8 = _to_copy_9 = _to_copy_10 = _to_copy_11 = mask_graph0 = primals_4 = None
        getitem_11: "f32[2, 4, 100, 16]" = flex_attention_backward[0]
        getitem_12: "f32[2, 2, 100, 16]" = flex_attention_backward[1]
        getitem_13: "f32[2, 2, 100, 16]" = flex_attention_backward[2]
        getitem_14 = flex_attention_backward[3];  flex_attention_backward = None
        getitem_15: "f32[4]" = getitem_14[0];  getitem_14 = None
        return (
            getitem_11,
            getitem_12,
            getitem_13,
            getitem_15,
        )

    class fw_graph0(torch.nn.Module):
        def forward(self, arg0_1: "f32[]", arg1_1: "i32[]", arg2_1: "i32[]", arg3_1: "i32[]", arg4_1: "i32[]", arg5_1: "f32[4]"):
            index: "f32[]" = torch.ops.aten.index.Tensor(arg5_1, [arg2_1]);  arg5_1 = arg2_1 = None
            sub: "i32[]" = torch.ops.aten.sub.Tensor(arg4_1, arg3_1);  arg4_1 = arg3_1 = None
            mul: "f32[]" = torch.ops.aten.mul.Tensor(index, sub);  index = sub = None
            add: "f32[]" = torch.ops.aten.add.Tensor(arg0_1, mul);  arg0_1 = mul = None
            tanh: "f32[]" = torch.ops.aten.tanh.default(add);  add = None
            return tanh

    class joint_graph0(torch.nn.Module):
        def forward(self, arg0_1: "f32[]", arg1_1: "i32[]", arg2_1: "i32[]", arg3_1: "i32[]", arg4_1: "i32[]", arg5_1: "f32[]", arg6_1: "f32[4]"):
            index: "f32[]" = torch.ops.aten.index.Tensor(arg6_1, [arg2_1]);  arg6_1 = None
            sub: "i32[]" = torch.ops.aten.sub.Tensor(arg4_1, arg3_1);  arg4_1 = arg3_1 = None
            mul: "f32[]" = torch.ops.aten.mul.Tensor(index, sub);  index = None
            add: "f32[]" = torch.ops.aten.add.Tensor(arg0_1, mul);  arg0_1 = mul = None
            tanh: "f32[]" = torch.ops.aten.tanh.default(add);  add = None
            detach: "f32[]" = torch.ops.aten.detach.default(tanh);  tanh = None
            detach_1: "f32[]" = torch.ops.aten.detach.default(detach);  detach = None
            tanh_backward: "f32[]" = torch.ops.aten.tanh_backward.default(arg5_1, detach_1);  arg5_1 = detach_1 = None
            mul_1: "f32[]" = torch.ops.aten.mul.Tensor(tanh_backward, sub);  sub = None
            zeros_and_scatter: "f32[4]" = torch.ops.flex_lib.zeros_and_scatter.default([4], [arg2_1], mul_1);  arg2_1 = mul_1 = None
            return [tanh_backward, None, None, None, None, tanh_backward]

    class mask_graph0(torch.nn.Module):
        def forward(self, arg0_1: "i32[]", arg1_1: "i32[]", arg2_1: "i32[]", arg3_1: "i32[]"):
            ge: "b8[]" = torch.ops.aten.ge.Tensor(arg2_1, arg3_1);  arg2_1 = arg3_1 = None
            return ge
