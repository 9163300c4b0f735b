/* The operators of graphs, one row each: rule of inference, kind of primitive (graph/ops/prims.h;
 * NONE: it is decomposed, or computes no tensor), target, schema.
 *
 * Schemas are ATen's declarations, but for the name, which the target has.  FX's functions of
 * Python numbers have schemas of our own, and so have ops that passes make (nereid.*).  Rows are in
 * the order of strcmp of their targets: they are searched by halves. */
#ifndef NEREID_GRAPH_OPS_OP_TABLE_H
#define NEREID_GRAPH_OPS_OP_TABLE_H

#define GRAPH_OPS(X) \
  /* -- calls -- */ \
  X(sym_add, NONE, "_operator.add", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_compare, NONE, "_operator.and_", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_compare, NONE, "_operator.eq", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_floordiv, NONE, "_operator.floordiv", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_compare, NONE, "_operator.ge", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_compare, NONE, "_operator.gt", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_compare, NONE, "_operator.le", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_compare, NONE, "_operator.lt", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_mod, NONE, "_operator.mod", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_mul, NONE, "_operator.mul", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_compare, NONE, "_operator.ne", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_neg, NONE, "_operator.neg", "(Scalar a) -> Scalar") \
  X(sym_compare, NONE, "_operator.or_", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_pow, NONE, "_operator.pow", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_sub, NONE, "_operator.sub", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_truediv, NONE, "_operator.truediv", "(Scalar a, Scalar b) -> Scalar") \
  X(bitwise, POINTWISE, "aten.__and__.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(binary_in_place, NONE, "aten.__iand__.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(binary_in_place, NONE, "aten.__ior__.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(bitwise, NONE, "aten.__lshift__.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(bitwise, NONE, "aten.__lshift__.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(bitwise, POINTWISE, "aten.__or__.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(bitwise, NONE, "aten.__rshift__.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(bitwise, NONE, "aten.__rshift__.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(bitwise, POINTWISE, "aten.__xor__.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(pool_adaptive, NONE, "aten._adaptive_avg_pool2d.default", "(Tensor self, SymInt[2] output_size) -> Tensor") \
  X(pool_adaptive, NONE, "aten._adaptive_avg_pool3d.default", "(Tensor self, SymInt[3] output_size) -> Tensor") \
  X(nothing, NONE, "aten._assert_async.default", "(Tensor self) -> ()") \
  X(nothing, NONE, "aten._assert_async.msg", "(Tensor self, str assert_msg) -> ()") \
  X(nothing, NONE, "aten._assert_scalar.default", "(Scalar self, str assert_msg) -> ()") \
  X(nothing, NONE, "aten._assert_tensor_metadata.default", "(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()") \
  X(cdist, NONE, "aten._cdist_forward.default", "(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor") \
  X(native_rms_norm, NONE, "aten._fused_rms_norm.default", "(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)") \
  X(grouped_mm, NONE, "aten._grouped_mm.default", "(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor") \
  X(item, NONE, "aten._local_scalar_dense.default", "(Tensor self) -> Scalar") \
  X(softmax, NONE, "aten._log_softmax.default", "(Tensor self, int dim, bool half_to_float) -> Tensor") \
  X(native_batch_norm, NONE, "aten._native_batch_norm_legit.default", "(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)") \
  X(native_batch_norm, NONE, "aten._native_batch_norm_legit.no_stats", "(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)") \
  X(native_batch_norm, NONE, "aten._native_batch_norm_legit_no_training.default", "(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)") \
  X(pdist, NONE, "aten._pdist_forward.default", "(Tensor self, float p=2) -> Tensor") \
  X(softmax, NONE, "aten._safe_softmax.default", "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor") \
  X(attention_parts, NONE, "aten._scaled_dot_product_cudnn_attention.default", "(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor, Tensor, Tensor, Tensor, SymInt, SymInt, Tensor, Tensor, Tensor)") \
  X(attention_parts, NONE, "aten._scaled_dot_product_efficient_attention.default", "(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, *, float? scale=None) -> (Tensor, Tensor, Tensor, Tensor)") \
  X(attention_parts, NONE, "aten._scaled_dot_product_flash_attention.default", "(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor, Tensor, Tensor, Tensor, SymInt, SymInt, Tensor, Tensor, Tensor)") \
  X(attention_parts, NONE, "aten._scaled_dot_product_flash_attention_for_cpu.default", "(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor, Tensor)") \
  X(softmax, NONE, "aten._softmax.default", "(Tensor self, int dim, bool half_to_float) -> Tensor") \
  X(to, POINTWISE, "aten._to_copy.default", "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor") \
  X(unique, NONE, "aten._unique2.default", "(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)") \
  X(index, NONE, "aten._unsafe_index.Tensor", "(Tensor self, Tensor?[] indices) -> Tensor") \
  X(index_put, NONE, "aten._unsafe_index_put.default", "(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor") \
  X(view, VIEW, "aten._unsafe_view.default", "(Tensor self, SymInt[] size) -> Tensor") \
  X(upsample_2d, NONE, "aten._upsample_bicubic2d_aa.vec", "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor") \
  X(upsample_2d, NONE, "aten._upsample_bilinear2d_aa.vec", "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor") \
  X(upsample_2d, NONE, "aten._upsample_nearest_exact2d.vec", "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor") \
  X(weight_norm, NONE, "aten._weight_norm.default", "(Tensor v, Tensor g, int dim=0) -> Tensor") \
  X(same, POINTWISE, "aten.abs.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.abs_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(same, NONE, "aten.absolute.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.absolute_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.acos.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.acos_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.acosh.default", "(Tensor self) -> Tensor") \
  X(pool_adaptive, NONE, "aten.adaptive_avg_pool1d.default", "(Tensor self, int[1] output_size) -> Tensor") \
  X(pool_adaptive, NONE, "aten.adaptive_avg_pool2d.default", "(Tensor self, SymInt[2] output_size) -> Tensor") \
  X(pool_adaptive, NONE, "aten.adaptive_avg_pool3d.default", "(Tensor self, SymInt[3] output_size) -> Tensor") \
  X(pool_adaptive_max, NONE, "aten.adaptive_max_pool1d.default", "(Tensor self, int[1] output_size) -> (Tensor, Tensor)") \
  X(pool_adaptive_max, NONE, "aten.adaptive_max_pool2d.default", "(Tensor self, int[2] output_size) -> (Tensor, Tensor)") \
  X(pool_adaptive_max, NONE, "aten.adaptive_max_pool3d.default", "(Tensor self, int[3] output_size) -> (Tensor, Tensor)") \
  X(binary, POINTWISE, "aten.add.Scalar", "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor") \
  X(binary, POINTWISE, "aten.add.Tensor", "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor") \
  X(binary_in_place, NONE, "aten.add_.Scalar", "(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)") \
  X(binary_in_place, NONE, "aten.add_.Tensor", "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)") \
  X(ternary, POINTWISE, "aten.addcdiv.default", "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor") \
  X(in_place, NONE, "aten.addcdiv_.default", "(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)") \
  X(ternary, POINTWISE, "aten.addcmul.default", "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor") \
  X(in_place, NONE, "aten.addcmul_.default", "(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)") \
  X(addmm, NONE, "aten.addmm.default", "(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor") \
  X(addmm, NONE, "aten.addmv.default", "(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor") \
  X(swap_last, VIEW, "aten.adjoint.default", "(Tensor(a) self) -> Tensor(a)") \
  X(affine_grid, NONE, "aten.affine_grid_generator.default", "(Tensor theta, SymInt[] size, bool align_corners) -> Tensor") \
  X(same, VIEW, "aten.alias.default", "(Tensor(a) self) -> Tensor(a)") \
  X(any, NONE, "aten.all.default", "(Tensor self) -> Tensor") \
  X(any, REDUCE, "aten.all.dim", "(Tensor self, int dim, bool keepdim=False) -> Tensor") \
  X(any, NONE, "aten.all.dims", "(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor") \
  X(extreme, REDUCE, "aten.amax.default", "(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor") \
  X(extreme, REDUCE, "aten.amin.default", "(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor") \
  X(aminmax, NONE, "aten.aminmax.default", "(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)") \
  X(float_of, POINTWISE, "aten.angle.default", "(Tensor self) -> Tensor") \
  X(any, NONE, "aten.any.default", "(Tensor self) -> Tensor") \
  X(any, REDUCE, "aten.any.dim", "(Tensor self, int dim, bool keepdim=False) -> Tensor") \
  X(any, NONE, "aten.any.dims", "(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor") \
  X(arange, NONE, "aten.arange.default", "(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(arange, NONE, "aten.arange.start", "(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(arange, CREATE, "aten.arange.start_step", "(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(float_of, NONE, "aten.arccos.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.arccosh.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.arcsin.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.arcsinh.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.arctan.default", "(Tensor self) -> Tensor") \
  X(binary_float, NONE, "aten.arctan2.default", "(Tensor self, Tensor other) -> Tensor") \
  X(float_of, NONE, "aten.arctanh.default", "(Tensor self) -> Tensor") \
  X(arg, NONE, "aten.argmax.default", "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor") \
  X(arg, NONE, "aten.argmin.default", "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor") \
  X(argsort, NONE, "aten.argsort.default", "(Tensor self, int dim=-1, bool descending=False) -> Tensor") \
  X(argsort, NONE, "aten.argsort.stable", "(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor") \
  X(nonzero, NONE, "aten.argwhere.default", "(Tensor self) -> Tensor") \
  X(as_strided, VIEW, "aten.as_strided.default", "(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)") \
  X(float_of, POINTWISE, "aten.asin.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.asin_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.asinh.default", "(Tensor self) -> Tensor") \
  X(float_of, POINTWISE, "aten.atan.default", "(Tensor self) -> Tensor") \
  X(binary_float, POINTWISE, "aten.atan2.default", "(Tensor self, Tensor other) -> Tensor") \
  X(in_place_float, NONE, "aten.atan2_.default", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(in_place_float, NONE, "aten.atan_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.atanh.default", "(Tensor self) -> Tensor") \
  X(atleast, VIEW, "aten.atleast_1d.default", "(Tensor self) -> Tensor") \
  X(atleast, VIEW, "aten.atleast_2d.default", "(Tensor self) -> Tensor") \
  X(atleast, VIEW, "aten.atleast_3d.default", "(Tensor self) -> Tensor") \
  X(pool_average, NONE, "aten.avg_pool1d.default", "(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor") \
  X(pool_average, NONE, "aten.avg_pool2d.default", "(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor") \
  X(pool_average, NONE, "aten.avg_pool3d.default", "(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor") \
  X(addmm, NONE, "aten.baddbmm.default", "(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor") \
  X(batch_norm, NONE, "aten.batch_norm.default", "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor") \
  X(same, NONE, "aten.bernoulli.default", "(Tensor self, *, Generator? generator=None) -> Tensor") \
  X(same, NONE, "aten.bernoulli.p", "(Tensor self, float p, *, Generator? generator=None) -> Tensor") \
  X(bilinear, NONE, "aten.bilinear.default", "(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor") \
  X(loss, NONE, "aten.binary_cross_entropy.default", "(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor") \
  X(loss, NONE, "aten.binary_cross_entropy_with_logits.default", "(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=Mean) -> Tensor") \
  X(bitwise, POINTWISE, "aten.bitwise_and.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(bitwise, POINTWISE, "aten.bitwise_and.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(binary_in_place, NONE, "aten.bitwise_and_.Scalar", "(Tensor(a!) self, Scalar other) -> Tensor(a!)") \
  X(binary_in_place, NONE, "aten.bitwise_and_.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(bitwise, POINTWISE, "aten.bitwise_left_shift.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(bitwise, POINTWISE, "aten.bitwise_left_shift.Tensor_Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(bitwise_not, POINTWISE, "aten.bitwise_not.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.bitwise_not_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(bitwise, POINTWISE, "aten.bitwise_or.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(bitwise, POINTWISE, "aten.bitwise_or.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(binary_in_place, NONE, "aten.bitwise_or_.Scalar", "(Tensor(a!) self, Scalar other) -> Tensor(a!)") \
  X(binary_in_place, NONE, "aten.bitwise_or_.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(bitwise, POINTWISE, "aten.bitwise_right_shift.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(bitwise, POINTWISE, "aten.bitwise_right_shift.Tensor_Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(bitwise, POINTWISE, "aten.bitwise_xor.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(bitwise, POINTWISE, "aten.bitwise_xor.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(binary_in_place, NONE, "aten.bitwise_xor_.Scalar", "(Tensor(a!) self, Scalar other) -> Tensor(a!)") \
  X(binary_in_place, NONE, "aten.bitwise_xor_.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(mm, MATMUL, "aten.bmm.default", "(Tensor self, Tensor mat2) -> Tensor") \
  X(mm_dtype, MATMUL, "aten.bmm.dtype", "(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor") \
  X(broadcast_tensors, NONE, "aten.broadcast_tensors.default", "(Tensor[] tensors) -> Tensor[]") \
  X(expand, VIEW, "aten.broadcast_to.default", "(Tensor(a) self, SymInt[] size) -> Tensor(a)") \
  X(bucketize, NONE, "aten.bucketize.Scalar", "(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor") \
  X(bucketize, NONE, "aten.bucketize.Tensor", "(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor") \
  X(cat, PIECES, "aten.cat.default", "(Tensor[] tensors, int dim=0) -> Tensor") \
  X(cdist, NONE, "aten.cdist.default", "(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor") \
  X(same, POINTWISE, "aten.ceil.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.ceil_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(same_float, POINTWISE, "aten.celu.default", "(Tensor self, Scalar alpha=1.0) -> Tensor") \
  X(in_place, NONE, "aten.celu_.default", "(Tensor(a!) self, Scalar alpha=1.0) -> Tensor(a!)") \
  X(channel_shuffle, NONE, "aten.channel_shuffle.default", "(Tensor self, SymInt groups) -> Tensor") \
  X(chunk, NONE, "aten.chunk.default", "(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]") \
  X(clamp, POINTWISE, "aten.clamp.Tensor", "(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor") \
  X(clamp, POINTWISE, "aten.clamp.default", "(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor") \
  X(clamp_in_place, NONE, "aten.clamp_.Tensor", "(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)") \
  X(clamp_in_place, NONE, "aten.clamp_.default", "(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)") \
  X(binary, POINTWISE, "aten.clamp_max.Tensor", "(Tensor self, Tensor max) -> Tensor") \
  X(clamp, POINTWISE, "aten.clamp_max.default", "(Tensor self, Scalar max) -> Tensor") \
  X(in_place, NONE, "aten.clamp_max_.Tensor", "(Tensor(a!) self, Tensor max) -> Tensor(a!)") \
  X(clamp_in_place, NONE, "aten.clamp_max_.default", "(Tensor(a!) self, Scalar max) -> Tensor(a!)") \
  X(binary, POINTWISE, "aten.clamp_min.Tensor", "(Tensor self, Tensor min) -> Tensor") \
  X(clamp, POINTWISE, "aten.clamp_min.default", "(Tensor self, Scalar min) -> Tensor") \
  X(in_place, NONE, "aten.clamp_min_.Tensor", "(Tensor(a!) self, Tensor min) -> Tensor(a!)") \
  X(clamp_in_place, NONE, "aten.clamp_min_.default", "(Tensor(a!) self, Scalar min) -> Tensor(a!)") \
  X(clamp, POINTWISE, "aten.clip.Tensor", "(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor") \
  X(clamp, POINTWISE, "aten.clip.default", "(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor") \
  X(same, POINTWISE, "aten.clone.default", "(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor") \
  X(col2im, NONE, "aten.col2im.default", "(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor") \
  X(cat, NONE, "aten.concat.default", "(Tensor[] tensors, int dim=0) -> Tensor") \
  X(cat, NONE, "aten.concatenate.default", "(Tensor[] tensors, int dim=0) -> Tensor") \
  X(pad, PIECES, "aten.constant_pad_nd.default", "(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor") \
  X(same, VIEW, "aten.contiguous.default", "(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)") \
  X(conv, NONE, "aten.conv1d.default", "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0, SymInt[1] dilation=1, SymInt groups=1) -> Tensor") \
  X(conv_padding, NONE, "aten.conv1d.padding", "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, str padding='valid', SymInt[1] dilation=1, SymInt groups=1) -> Tensor") \
  X(conv, NONE, "aten.conv2d.default", "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] dilation=1, SymInt groups=1) -> Tensor") \
  X(conv_padding, NONE, "aten.conv2d.padding", "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, str padding='valid', SymInt[2] dilation=1, SymInt groups=1) -> Tensor") \
  X(conv, NONE, "aten.conv3d.default", "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0, SymInt[3] dilation=1, SymInt groups=1) -> Tensor") \
  X(conv_padding, NONE, "aten.conv3d.padding", "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, str padding='valid', SymInt[3] dilation=1, SymInt groups=1) -> Tensor") \
  X(conv_transpose, NONE, "aten.conv_transpose1d.default", "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0, SymInt[1] output_padding=0, SymInt groups=1, SymInt[1] dilation=1) -> Tensor") \
  X(conv_transpose, NONE, "aten.conv_transpose2d.input", "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt groups=1, SymInt[2] dilation=1) -> Tensor") \
  X(conv_transpose, NONE, "aten.conv_transpose3d.input", "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0, SymInt[3] output_padding=0, SymInt groups=1, SymInt[3] dilation=1) -> Tensor") \
  X(convolution, NONE, "aten.convolution.default", "(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor") \
  X(in_place, POINTWISE, "aten.copy.default", "(Tensor self, Tensor src, bool non_blocking=False) -> Tensor") \
  X(in_place, NONE, "aten.copy_.default", "(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)") \
  X(binary_float, POINTWISE, "aten.copysign.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(binary_float, POINTWISE, "aten.copysign.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(float_of, POINTWISE, "aten.cos.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.cos_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.cosh.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.cosh_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(cosine_similarity, NONE, "aten.cosine_similarity.default", "(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor") \
  X(count_nonzero, NONE, "aten.count_nonzero.dim_IntList", "(Tensor self, int[] dim) -> Tensor") \
  X(cross_entropy, NONE, "aten.cross_entropy_loss.default", "(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor") \
  X(scan_indices, NONE, "aten.cummax.default", "(Tensor self, int dim) -> (Tensor values, Tensor indices)") \
  X(scan_indices, NONE, "aten.cummin.default", "(Tensor self, int dim) -> (Tensor values, Tensor indices)") \
  X(scan, SCAN, "aten.cumprod.default", "(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor") \
  X(scan, SCAN, "aten.cumsum.default", "(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor") \
  X(in_place, NONE, "aten.cumsum_.default", "(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.deg2rad.default", "(Tensor self) -> Tensor") \
  X(same, VIEW, "aten.detach.default", "(Tensor(a) self) -> Tensor(a)") \
  X(in_place, NONE, "aten.detach_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(diag_embed, NONE, "aten.diag_embed.default", "(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor") \
  X(diagonal, VIEW, "aten.diagonal.default", "(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)") \
  X(diagonal_scatter, NONE, "aten.diagonal_scatter.default", "(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor") \
  X(diff, NONE, "aten.diff.default", "(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor") \
  X(divide, POINTWISE, "aten.div.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(divide, POINTWISE, "aten.div.Scalar_mode", "(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor") \
  X(divide, POINTWISE, "aten.div.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(divide, POINTWISE, "aten.div.Tensor_mode", "(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor") \
  X(divide_in_place, NONE, "aten.div_.Scalar", "(Tensor(a!) self, Scalar other) -> Tensor(a!)") \
  X(divide_in_place, NONE, "aten.div_.Scalar_mode", "(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)") \
  X(divide_in_place, NONE, "aten.div_.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(divide_in_place, NONE, "aten.div_.Tensor_mode", "(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)") \
  X(divide, NONE, "aten.divide.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(divide, NONE, "aten.divide.Scalar_mode", "(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor") \
  X(divide, NONE, "aten.divide.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(divide, NONE, "aten.divide.Tensor_mode", "(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor") \
  X(divide_in_place, NONE, "aten.divide_.Scalar", "(Tensor(a!) self, Scalar other) -> Tensor(a!)") \
  X(divide_in_place, NONE, "aten.divide_.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(divide_in_place, NONE, "aten.divide_.Tensor_mode", "(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)") \
  X(dot, NONE, "aten.dot.default", "(Tensor self, Tensor tensor) -> Tensor") \
  X(same, NONE, "aten.dropout.default", "(Tensor input, float p, bool train) -> Tensor") \
  X(in_place, NONE, "aten.dropout_.default", "(Tensor(a!) self, float p, bool train) -> Tensor(a!)") \
  X(einsum, NONE, "aten.einsum.default", "(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor") \
  X(same_float, POINTWISE, "aten.elu.default", "(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor") \
  X(in_place, NONE, "aten.elu_.default", "(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor(a!)") \
  X(embedding, GATHER, "aten.embedding.default", "(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor") \
  X(embedding_bag, NONE, "aten.embedding_bag.default", "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)") \
  X(embedding_bag, NONE, "aten.embedding_bag.padding_idx", "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)") \
  X(filled, NONE, "aten.empty.memory_format", "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor") \
  X(like, NONE, "aten.empty_like.default", "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor") \
  X(filled, NONE, "aten.empty_permuted.default", "(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(filled, NONE, "aten.empty_strided.default", "(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(compare, POINTWISE, "aten.eq.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(compare, POINTWISE, "aten.eq.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(float_of, POINTWISE, "aten.erf.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.erf_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.erfc.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.erfc_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.erfinv.default", "(Tensor self) -> Tensor") \
  X(float_of, POINTWISE, "aten.exp.default", "(Tensor self) -> Tensor") \
  X(float_of, POINTWISE, "aten.exp2.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.exp2_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(in_place_float, NONE, "aten.exp_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(expand, VIEW, "aten.expand.default", "(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)") \
  X(expand_as, VIEW, "aten.expand_as.default", "(Tensor(a) self, Tensor other) -> Tensor(a)") \
  X(float_of, POINTWISE, "aten.expm1.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.expm1_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(eye, NONE, "aten.eye.default", "(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(eye, NONE, "aten.eye.m", "(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(same_float, NONE, "aten.fake_quantize_per_channel_affine.default", "(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> Tensor") \
  X(same_float, NONE, "aten.fake_quantize_per_tensor_affine.default", "(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> Tensor") \
  X(same_float, NONE, "aten.fake_quantize_per_tensor_affine.tensor_qparams", "(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max) -> Tensor") \
  X(same, NONE, "aten.feature_dropout.default", "(Tensor input, float p, bool train) -> Tensor") \
  X(same, NONE, "aten.fill.Scalar", "(Tensor self, Scalar value) -> Tensor") \
  X(in_place, POINTWISE, "aten.fill.Tensor", "(Tensor self, Tensor value) -> Tensor") \
  X(in_place, NONE, "aten.fill_.Scalar", "(Tensor(a!) self, Scalar value) -> Tensor(a!)") \
  X(in_place, NONE, "aten.fill_.Tensor", "(Tensor(a!) self, Tensor value) -> Tensor(a!)") \
  X(same, POINTWISE, "aten.fix.default", "(Tensor self) -> Tensor") \
  X(flatten, VIEW, "aten.flatten.using_ints", "(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)") \
  X(flip, VIEW, "aten.flip.default", "(Tensor self, int[] dims) -> Tensor") \
  X(same, NONE, "aten.fliplr.default", "(Tensor self) -> Tensor") \
  X(same, NONE, "aten.flipud.default", "(Tensor self) -> Tensor") \
  X(same, POINTWISE, "aten.floor.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.floor_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(binary, POINTWISE, "aten.floor_divide.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(binary, POINTWISE, "aten.floor_divide.default", "(Tensor self, Tensor other) -> Tensor") \
  X(binary_in_place, NONE, "aten.floor_divide_.Scalar", "(Tensor(a!) self, Scalar other) -> Tensor(a!)") \
  X(binary_in_place, NONE, "aten.floor_divide_.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(binary, POINTWISE, "aten.fmax.default", "(Tensor self, Tensor other) -> Tensor") \
  X(binary, POINTWISE, "aten.fmin.default", "(Tensor self, Tensor other) -> Tensor") \
  X(binary, POINTWISE, "aten.fmod.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(binary, POINTWISE, "aten.fmod.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(binary_in_place, NONE, "aten.fmod_.Scalar", "(Tensor(a!) self, Scalar other) -> Tensor(a!)") \
  X(binary_in_place, NONE, "aten.fmod_.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(same_float, POINTWISE, "aten.frac.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.frac_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(filled, CREATE, "aten.full.default", "(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(like, NONE, "aten.full_like.default", "(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor") \
  X(gather, GATHER, "aten.gather.default", "(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor") \
  X(compare, POINTWISE, "aten.ge.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(compare, POINTWISE, "aten.ge.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(same_float, POINTWISE, "aten.gelu.default", "(Tensor self, *, str approximate='none') -> Tensor") \
  X(in_place, NONE, "aten.gelu_.default", "(Tensor(a!) self, *, str approximate='none') -> Tensor(a!)") \
  X(outer, NONE, "aten.ger.default", "(Tensor self, Tensor vec2) -> Tensor") \
  X(glu, NONE, "aten.glu.default", "(Tensor self, int dim=-1) -> Tensor") \
  X(compare, NONE, "aten.greater.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(compare, NONE, "aten.greater.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(compare, NONE, "aten.greater_equal.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(compare, NONE, "aten.greater_equal.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(grid_sampler, NONE, "aten.grid_sampler.default", "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor") \
  X(grid_sampler, NONE, "aten.grid_sampler_2d.default", "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor") \
  X(grid_sampler, NONE, "aten.grid_sampler_3d.default", "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor") \
  X(group_norm, NONE, "aten.group_norm.default", "(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor") \
  X(rnn, NONE, "aten.gru.input", "(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)") \
  X(cell, NONE, "aten.gru_cell.default", "(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor") \
  X(compare, POINTWISE, "aten.gt.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(compare, POINTWISE, "aten.gt.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(same_float, POINTWISE, "aten.hardshrink.default", "(Tensor self, Scalar lambd=0.5) -> Tensor") \
  X(same_float, POINTWISE, "aten.hardsigmoid.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.hardsigmoid_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(same_float, POINTWISE, "aten.hardswish.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.hardswish_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(same, POINTWISE, "aten.hardtanh.default", "(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor") \
  X(in_place, NONE, "aten.hardtanh_.default", "(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)") \
  X(binary, POINTWISE, "aten.heaviside.default", "(Tensor self, Tensor values) -> Tensor") \
  X(histc, NONE, "aten.histc.default", "(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor") \
  X(hstack, NONE, "aten.hstack.default", "(Tensor[] tensors) -> Tensor") \
  X(loss, NONE, "aten.huber_loss.default", "(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor") \
  X(binary, POINTWISE, "aten.hypot.default", "(Tensor self, Tensor other) -> Tensor") \
  X(float_of, POINTWISE, "aten.i0.default", "(Tensor self) -> Tensor") \
  X(im2col, NONE, "aten.im2col.default", "(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor") \
  X(index, GATHER, "aten.index.Tensor", "(Tensor self, Tensor?[] indices) -> Tensor") \
  X(index_add, NONE, "aten.index_add.default", "(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor") \
  X(index_add, NONE, "aten.index_add_.default", "(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)") \
  X(index_add, NONE, "aten.index_copy.default", "(Tensor self, int dim, Tensor index, Tensor source) -> Tensor") \
  X(index_add, NONE, "aten.index_copy_.default", "(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)") \
  X(index_fill, NONE, "aten.index_fill.int_Scalar", "(Tensor self, int dim, Tensor index, Scalar value) -> Tensor") \
  X(index_fill, NONE, "aten.index_fill.int_Tensor", "(Tensor self, int dim, Tensor index, Tensor value) -> Tensor") \
  X(index_fill, NONE, "aten.index_fill_.int_Scalar", "(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)") \
  X(index_fill, NONE, "aten.index_fill_.int_Tensor", "(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)") \
  X(index_put, NONE, "aten.index_put.default", "(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor") \
  X(index_put, NONE, "aten.index_put_.default", "(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)") \
  X(index_select, GATHER, "aten.index_select.default", "(Tensor self, int dim, Tensor index) -> Tensor") \
  X(instance_norm, NONE, "aten.instance_norm.default", "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor") \
  X(compare, POINTWISE, "aten.isclose.default", "(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor") \
  X(to_bool, POINTWISE, "aten.isfinite.default", "(Tensor self) -> Tensor") \
  X(to_bool, POINTWISE, "aten.isinf.default", "(Tensor self) -> Tensor") \
  X(to_bool, POINTWISE, "aten.isnan.default", "(Tensor self) -> Tensor") \
  X(to_bool, POINTWISE, "aten.isneginf.default", "(Tensor self) -> Tensor") \
  X(to_bool, POINTWISE, "aten.isposinf.default", "(Tensor self) -> Tensor") \
  X(item, NONE, "aten.item.default", "(Tensor self) -> Scalar") \
  X(loss, NONE, "aten.kl_div.default", "(Tensor self, Tensor target, int reduction=Mean, *, bool log_target=False) -> Tensor") \
  X(kthvalue, NONE, "aten.kthvalue.default", "(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)") \
  X(loss, NONE, "aten.l1_loss.default", "(Tensor self, Tensor target, int reduction=Mean) -> Tensor") \
  X(layer_norm, NONE, "aten.layer_norm.default", "(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor") \
  X(binary_float, NONE, "aten.ldexp.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(compare, POINTWISE, "aten.le.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(compare, POINTWISE, "aten.le.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(same, POINTWISE, "aten.leaky_relu.default", "(Tensor self, Scalar negative_slope=0.01) -> Tensor") \
  X(in_place, NONE, "aten.leaky_relu_.default", "(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)") \
  X(lerp, POINTWISE, "aten.lerp.Scalar", "(Tensor self, Tensor end, Scalar weight) -> Tensor") \
  X(lerp, POINTWISE, "aten.lerp.Tensor", "(Tensor self, Tensor end, Tensor weight) -> Tensor") \
  X(in_place, NONE, "aten.lerp_.Scalar", "(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)") \
  X(in_place, NONE, "aten.lerp_.Tensor", "(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)") \
  X(compare, NONE, "aten.less.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(compare, NONE, "aten.less.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(compare, NONE, "aten.less_equal.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(compare, NONE, "aten.less_equal.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(float_of, POINTWISE, "aten.lgamma.default", "(Tensor self) -> Tensor") \
  X(same, VIEW, "aten.lift_fresh_copy.default", "(Tensor self) -> Tensor") \
  X(matmul, NONE, "aten.linalg_matmul.default", "(Tensor self, Tensor other) -> Tensor") \
  X(moment, NONE, "aten.linalg_vector_norm.default", "(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor") \
  X(linear, NONE, "aten.linear.default", "(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor") \
  X(linspace, NONE, "aten.linspace.default", "(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(float_of, POINTWISE, "aten.log.default", "(Tensor self) -> Tensor") \
  X(float_of, POINTWISE, "aten.log10.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.log10_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.log1p.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.log1p_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.log2.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.log2_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(in_place_float, NONE, "aten.log_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(same_float, POINTWISE, "aten.log_sigmoid.default", "(Tensor self) -> Tensor") \
  X(softmax, NONE, "aten.log_softmax.int", "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor") \
  X(binary_float, POINTWISE, "aten.logaddexp.default", "(Tensor self, Tensor other) -> Tensor") \
  X(binary_float, POINTWISE, "aten.logaddexp2.default", "(Tensor self, Tensor other) -> Tensor") \
  X(scan_float, SCAN, "aten.logcumsumexp.default", "(Tensor self, int dim) -> Tensor") \
  X(compare, POINTWISE, "aten.logical_and.default", "(Tensor self, Tensor other) -> Tensor") \
  X(in_place, NONE, "aten.logical_and_.default", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(to_bool, POINTWISE, "aten.logical_not.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.logical_not_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(compare, POINTWISE, "aten.logical_or.default", "(Tensor self, Tensor other) -> Tensor") \
  X(in_place, NONE, "aten.logical_or_.default", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(compare, POINTWISE, "aten.logical_xor.default", "(Tensor self, Tensor other) -> Tensor") \
  X(in_place, NONE, "aten.logical_xor_.default", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(float_of, NONE, "aten.logit.default", "(Tensor self, float? eps=None) -> Tensor") \
  X(linspace, NONE, "aten.logspace.default", "(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(logsumexp, NONE, "aten.logsumexp.default", "(Tensor self, int[1] dim, bool keepdim=False) -> Tensor") \
  X(lstm, NONE, "aten.lstm.input", "(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)") \
  X(lstm_cell, NONE, "aten.lstm_cell.default", "(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)") \
  X(compare, POINTWISE, "aten.lt.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(compare, POINTWISE, "aten.lt.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(swap_last, VIEW, "aten.mH.default", "(Tensor(a) self) -> Tensor(a)") \
  X(swap_last, VIEW, "aten.mT.default", "(Tensor(a) self) -> Tensor(a)") \
  X(masked_fill, POINTWISE, "aten.masked_fill.Scalar", "(Tensor self, Tensor mask, Scalar value) -> Tensor") \
  X(masked_fill, POINTWISE, "aten.masked_fill.Tensor", "(Tensor self, Tensor mask, Tensor value) -> Tensor") \
  X(in_place, NONE, "aten.masked_fill_.Scalar", "(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)") \
  X(in_place, NONE, "aten.masked_fill_.Tensor", "(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)") \
  X(masked_scatter, NONE, "aten.masked_scatter.default", "(Tensor self, Tensor mask, Tensor source) -> Tensor") \
  X(masked_scatter, NONE, "aten.masked_scatter_.default", "(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)") \
  X(masked_select, NONE, "aten.masked_select.default", "(Tensor self, Tensor mask) -> Tensor") \
  X(matmul, NONE, "aten.matmul.default", "(Tensor self, Tensor other) -> Tensor") \
  X(max_all, NONE, "aten.max.default", "(Tensor self) -> Tensor") \
  X(max_dim, NONE, "aten.max.dim", "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)") \
  X(binary, POINTWISE, "aten.max.other", "(Tensor self, Tensor other) -> Tensor") \
  X(pool_max, NONE, "aten.max_pool1d.default", "(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> Tensor") \
  X(pool_max_indices, NONE, "aten.max_pool1d_with_indices.default", "(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)") \
  X(pool_max, NONE, "aten.max_pool2d.default", "(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor") \
  X(pool_max_indices, NONE, "aten.max_pool2d_with_indices.default", "(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)") \
  X(pool_max, NONE, "aten.max_pool3d.default", "(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor") \
  X(pool_max_indices, NONE, "aten.max_pool3d_with_indices.default", "(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)") \
  X(max_unpool, NONE, "aten.max_unpool2d.default", "(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor") \
  X(max_unpool, NONE, "aten.max_unpool3d.default", "(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor") \
  X(binary, POINTWISE, "aten.maximum.default", "(Tensor self, Tensor other) -> Tensor") \
  X(mean, NONE, "aten.mean.default", "(Tensor self, *, ScalarType? dtype=None) -> Tensor") \
  X(mean, NONE, "aten.mean.dim", "(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor") \
  X(max_all, NONE, "aten.median.default", "(Tensor self) -> Tensor") \
  X(max_dim, NONE, "aten.median.dim", "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)") \
  X(meshgrid, NONE, "aten.meshgrid.indexing", "(Tensor[] tensors, *, str indexing) -> Tensor[]") \
  X(max_all, NONE, "aten.min.default", "(Tensor self) -> Tensor") \
  X(max_dim, NONE, "aten.min.dim", "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)") \
  X(binary, POINTWISE, "aten.min.other", "(Tensor self, Tensor other) -> Tensor") \
  X(binary, POINTWISE, "aten.minimum.default", "(Tensor self, Tensor other) -> Tensor") \
  X(same_float, POINTWISE, "aten.mish.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.mish_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(mm, MATMUL, "aten.mm.default", "(Tensor self, Tensor mat2) -> Tensor") \
  X(max_dim, NONE, "aten.mode.default", "(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)") \
  X(movedim, VIEW, "aten.moveaxis.int", "(Tensor(a) self, int source, int destination) -> Tensor(a)") \
  X(movedim, VIEW, "aten.moveaxis.intlist", "(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)") \
  X(movedim, VIEW, "aten.movedim.int", "(Tensor(a) self, int source, int destination) -> Tensor(a)") \
  X(movedim, VIEW, "aten.movedim.intlist", "(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)") \
  X(loss, NONE, "aten.mse_loss.default", "(Tensor self, Tensor target, int reduction=Mean) -> Tensor") \
  X(same, NONE, "aten.msort.default", "(Tensor self) -> Tensor") \
  X(binary, POINTWISE, "aten.mul.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(binary, POINTWISE, "aten.mul.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(binary_in_place, NONE, "aten.mul_.Scalar", "(Tensor(a!) self, Scalar other) -> Tensor(a!)") \
  X(binary_in_place, NONE, "aten.mul_.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(multinomial, NONE, "aten.multinomial.default", "(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor") \
  X(binary, NONE, "aten.multiply.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(binary, NONE, "aten.multiply.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(binary_in_place, NONE, "aten.multiply_.Scalar", "(Tensor(a!) self, Scalar other) -> Tensor(a!)") \
  X(binary_in_place, NONE, "aten.multiply_.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(mv, NONE, "aten.mv.default", "(Tensor self, Tensor vec) -> Tensor") \
  X(same, POINTWISE, "aten.nan_to_num.default", "(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor") \
  X(in_place, NONE, "aten.nan_to_num_.default", "(Tensor(a!) self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor(a!)") \
  X(max_all, NONE, "aten.nanmedian.default", "(Tensor self) -> Tensor") \
  X(max_dim, NONE, "aten.nanmedian.dim", "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)") \
  X(sum, NONE, "aten.nansum.default", "(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor") \
  X(narrow, VIEW, "aten.narrow.default", "(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)") \
  X(native_batch_norm, NONE, "aten.native_batch_norm.default", "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)") \
  X(native_dropout, NONE, "aten.native_dropout.default", "(Tensor input, float p, bool? train) -> (Tensor, Tensor)") \
  X(native_group_norm, NONE, "aten.native_group_norm.default", "(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)") \
  X(native_layer_norm, NONE, "aten.native_layer_norm.default", "(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)") \
  X(compare, POINTWISE, "aten.ne.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(compare, POINTWISE, "aten.ne.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(neg, POINTWISE, "aten.neg.default", "(Tensor self) -> Tensor") \
  X(neg_in_place, NONE, "aten.neg_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(neg, NONE, "aten.negative.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.negative_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(new, NONE, "aten.new_empty.default", "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(new, NONE, "aten.new_empty_strided.default", "(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(new, NONE, "aten.new_full.default", "(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(new, NONE, "aten.new_ones.default", "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(new, NONE, "aten.new_zeros.default", "(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(cross_entropy, NONE, "aten.nll_loss.default", "(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor") \
  X(cross_entropy, NONE, "aten.nll_loss2d.default", "(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor") \
  X(cross_entropy, NONE, "aten.nll_loss_nd.default", "(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor") \
  X(nonzero, NONE, "aten.nonzero.default", "(Tensor self) -> Tensor") \
  X(moment, NONE, "aten.norm.Scalar", "(Tensor self, Scalar p=2) -> Tensor") \
  X(moment, NONE, "aten.norm.ScalarOpt_dim", "(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor") \
  X(moment, NONE, "aten.norm.ScalarOpt_dim_dtype", "(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor") \
  X(filled, NONE, "aten.normal.float_float", "(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(compare, NONE, "aten.not_equal.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(compare, NONE, "aten.not_equal.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(reverse, VIEW, "aten.numpy_T.default", "(Tensor(a) self) -> Tensor(a)") \
  X(one_hot, NONE, "aten.one_hot.default", "(Tensor self, int num_classes=-1) -> Tensor") \
  X(filled, NONE, "aten.ones.default", "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(like, NONE, "aten.ones_like.default", "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor") \
  X(outer, NONE, "aten.outer.default", "(Tensor self, Tensor vec2) -> Tensor") \
  X(pad, NONE, "aten.pad.default", "(Tensor self, SymInt[] pad, str mode='constant', float? value=None) -> Tensor") \
  X(pairwise_distance, NONE, "aten.pairwise_distance.default", "(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor") \
  X(pdist, NONE, "aten.pdist.default", "(Tensor self, float p=2.0) -> Tensor") \
  X(permute, VIEW, "aten.permute.default", "(Tensor(a) self, int[] dims) -> Tensor(a)") \
  X(pixel_shuffle, NONE, "aten.pixel_shuffle.default", "(Tensor self, int upscale_factor) -> Tensor") \
  X(pixel_unshuffle, NONE, "aten.pixel_unshuffle.default", "(Tensor self, int downscale_factor) -> Tensor") \
  X(same, VIEW, "aten.positive.default", "(Tensor(a) self) -> Tensor(a)") \
  X(binary, POINTWISE, "aten.pow.Scalar", "(Scalar self, Tensor exponent) -> Tensor") \
  X(binary, POINTWISE, "aten.pow.Tensor_Scalar", "(Tensor self, Scalar exponent) -> Tensor") \
  X(binary, POINTWISE, "aten.pow.Tensor_Tensor", "(Tensor self, Tensor exponent) -> Tensor") \
  X(binary_in_place, NONE, "aten.pow_.Scalar", "(Tensor(a!) self, Scalar exponent) -> Tensor(a!)") \
  X(binary_in_place, NONE, "aten.pow_.Tensor", "(Tensor(a!) self, Tensor exponent) -> Tensor(a!)") \
  X(prelu, NONE, "aten.prelu.default", "(Tensor self, Tensor weight) -> Tensor") \
  X(sum, NONE, "aten.prod.default", "(Tensor self, *, ScalarType? dtype=None) -> Tensor") \
  X(sum, REDUCE, "aten.prod.dim_int", "(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor") \
  X(float_of, POINTWISE, "aten.rad2deg.default", "(Tensor self) -> Tensor") \
  X(filled, NONE, "aten.rand.default", "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(like, NONE, "aten.rand_like.default", "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor") \
  X(randint, NONE, "aten.randint.default", "(SymInt high, SymInt[] size, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(randint, NONE, "aten.randint.low", "(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(filled, NONE, "aten.randn.default", "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(like, NONE, "aten.randn_like.default", "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor") \
  X(randperm, NONE, "aten.randperm.default", "(SymInt n, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(ravel, VIEW, "aten.ravel.default", "(Tensor(a) self) -> Tensor(a)") \
  X(float_of, POINTWISE, "aten.reciprocal.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.reciprocal_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(reflect, NONE, "aten.reflection_pad1d.default", "(Tensor self, SymInt[2] padding) -> Tensor") \
  X(reflect, NONE, "aten.reflection_pad2d.default", "(Tensor self, SymInt[4] padding) -> Tensor") \
  X(reflect, NONE, "aten.reflection_pad3d.default", "(Tensor self, SymInt[6] padding) -> Tensor") \
  X(same, POINTWISE, "aten.relu.default", "(Tensor self) -> Tensor") \
  X(same, POINTWISE, "aten.relu6.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.relu6_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(in_place, NONE, "aten.relu_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(binary, POINTWISE, "aten.remainder.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(binary, POINTWISE, "aten.remainder.Scalar_Tensor", "(Scalar self, Tensor other) -> Tensor") \
  X(binary, POINTWISE, "aten.remainder.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(binary_in_place, NONE, "aten.remainder_.Scalar", "(Tensor(a!) self, Scalar other) -> Tensor(a!)") \
  X(binary_in_place, NONE, "aten.remainder_.Tensor", "(Tensor(a!) self, Tensor other) -> Tensor(a!)") \
  X(repeat, NONE, "aten.repeat.default", "(Tensor self, SymInt[] repeats) -> Tensor") \
  X(repeat_interleave, NONE, "aten.repeat_interleave.self_int", "(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor") \
  X(pad_nd, NONE, "aten.replication_pad1d.default", "(Tensor self, SymInt[2] padding) -> Tensor") \
  X(pad_nd, NONE, "aten.replication_pad2d.default", "(Tensor self, SymInt[4] padding) -> Tensor") \
  X(pad_nd, NONE, "aten.replication_pad3d.default", "(Tensor self, SymInt[6] padding) -> Tensor") \
  X(view, VIEW, "aten.reshape.default", "(Tensor(a) self, SymInt[] shape) -> Tensor(a)") \
  X(view_as, NONE, "aten.reshape_as.default", "(Tensor(a) self, Tensor other) -> Tensor(a)") \
  X(layer_norm, NONE, "aten.rms_norm.default", "(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor") \
  X(rnn, NONE, "aten.rnn_relu.input", "(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)") \
  X(cell, NONE, "aten.rnn_relu_cell.default", "(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor") \
  X(rnn, NONE, "aten.rnn_tanh.input", "(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)") \
  X(cell, NONE, "aten.rnn_tanh_cell.default", "(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor") \
  X(same, NONE, "aten.roll.default", "(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor") \
  X(same, NONE, "aten.round.decimals", "(Tensor self, *, int decimals) -> Tensor") \
  X(same, POINTWISE, "aten.round.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.round_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(vstack, NONE, "aten.row_stack.default", "(Tensor[] tensors) -> Tensor") \
  X(same_float, NONE, "aten.rrelu.default", "(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> Tensor") \
  X(float_of, POINTWISE, "aten.rsqrt.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.rsqrt_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(subtract, POINTWISE, "aten.rsub.Scalar", "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor") \
  X(subtract, POINTWISE, "aten.rsub.Tensor", "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor") \
  X(scalar_tensor, NONE, "aten.scalar_tensor.default", "(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(attention, NONE, "aten.scaled_dot_product_attention.default", "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor") \
  X(scatter, NONE, "aten.scatter.reduce", "(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor") \
  X(scatter, NONE, "aten.scatter.src", "(Tensor self, int dim, Tensor index, Tensor src) -> Tensor") \
  X(scatter, NONE, "aten.scatter.value", "(Tensor self, int dim, Tensor index, Scalar value) -> Tensor") \
  X(scatter, NONE, "aten.scatter.value_reduce", "(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor") \
  X(scatter, NONE, "aten.scatter_.src", "(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)") \
  X(scatter, NONE, "aten.scatter_.value", "(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)") \
  X(scatter, NONE, "aten.scatter_add.default", "(Tensor self, int dim, Tensor index, Tensor src) -> Tensor") \
  X(scatter, NONE, "aten.scatter_add_.default", "(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)") \
  X(scatter, NONE, "aten.scatter_reduce.two", "(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor") \
  X(scatter, NONE, "aten.scatter_reduce_.two", "(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor(a!)") \
  X(searchsorted, NONE, "aten.searchsorted.Scalar", "(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor") \
  X(searchsorted, NONE, "aten.searchsorted.Tensor", "(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor") \
  X(select, VIEW, "aten.select.int", "(Tensor(a) self, int dim, SymInt index) -> Tensor(a)") \
  X(select_scatter, NONE, "aten.select_scatter.default", "(Tensor self, Tensor src, int dim, SymInt index) -> Tensor") \
  X(same_float, POINTWISE, "aten.selu.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.selu_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(same, NONE, "aten.sgn.default", "(Tensor self) -> Tensor") \
  X(float_of, POINTWISE, "aten.sigmoid.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.sigmoid_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(same, POINTWISE, "aten.sign.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.sign_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(to_bool, POINTWISE, "aten.signbit.default", "(Tensor self) -> Tensor") \
  X(same_float, POINTWISE, "aten.silu.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.silu_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.sin.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.sin_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.sinc.default", "(Tensor self) -> Tensor") \
  X(float_of, POINTWISE, "aten.sinh.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.sinh_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(slice, VIEW, "aten.slice.Tensor", "(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)") \
  X(slice_scatter, NONE, "aten.slice_scatter.default", "(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor") \
  X(loss, NONE, "aten.smooth_l1_loss.default", "(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor") \
  X(softmax, NONE, "aten.softmax.int", "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor") \
  X(same_float, POINTWISE, "aten.softplus.default", "(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor") \
  X(same_float, POINTWISE, "aten.softshrink.default", "(Tensor self, Scalar lambd=0.5) -> Tensor") \
  X(sort, NONE, "aten.sort.default", "(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)") \
  X(sort, NONE, "aten.sort.stable", "(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)") \
  X(float_of, POINTWISE, "aten.special_entr.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.special_erf.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.special_erfc.default", "(Tensor self) -> Tensor") \
  X(float_of, POINTWISE, "aten.special_erfcx.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.special_erfinv.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.special_exp2.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.special_expit.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.special_expm1.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.special_gammaln.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.special_i0.default", "(Tensor self) -> Tensor") \
  X(float_of, POINTWISE, "aten.special_i1.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.special_log1p.default", "(Tensor self) -> Tensor") \
  X(float_of, POINTWISE, "aten.special_log_ndtr.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.special_logit.default", "(Tensor self, float? eps=None) -> Tensor") \
  X(float_of, POINTWISE, "aten.special_ndtr.default", "(Tensor self) -> Tensor") \
  X(float_of, POINTWISE, "aten.special_ndtri.default", "(Tensor self) -> Tensor") \
  X(float_of, NONE, "aten.special_sinc.default", "(Tensor self) -> Tensor") \
  X(binary_float, POINTWISE, "aten.special_xlog1py.default", "(Tensor self, Tensor other) -> Tensor") \
  X(binary_float, NONE, "aten.special_xlogy.default", "(Tensor self, Tensor other) -> Tensor") \
  X(split, NONE, "aten.split.Tensor", "(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]") \
  X(split_sizes, NONE, "aten.split.sizes", "(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]") \
  X(split_sizes, NONE, "aten.split_with_sizes.default", "(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]") \
  X(float_of, POINTWISE, "aten.sqrt.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.sqrt_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(square, POINTWISE, "aten.square.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.square_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(squeeze, VIEW, "aten.squeeze.default", "(Tensor(a) self) -> Tensor(a)") \
  X(squeeze, VIEW, "aten.squeeze.dim", "(Tensor(a) self, int dim) -> Tensor(a)") \
  X(squeeze, VIEW, "aten.squeeze.dims", "(Tensor(a) self, int[] dim) -> Tensor(a)") \
  X(squeeze, NONE, "aten.squeeze_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(squeeze, NONE, "aten.squeeze_.dim", "(Tensor(a!) self, int dim) -> Tensor(a!)") \
  X(squeeze, NONE, "aten.squeeze_.dims", "(Tensor(a!) self, int[] dim) -> Tensor(a!)") \
  X(stack, NONE, "aten.stack.default", "(Tensor[] tensors, int dim=0) -> Tensor") \
  X(moment, NONE, "aten.std.correction", "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor") \
  X(moment, NONE, "aten.std.default", "(Tensor self, bool unbiased=True) -> Tensor") \
  X(moment, NONE, "aten.std.dim", "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor") \
  X(moment_mean, NONE, "aten.std_mean.correction", "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)") \
  X(moment_mean, NONE, "aten.std_mean.default", "(Tensor self, bool unbiased=True) -> (Tensor, Tensor)") \
  X(moment_mean, NONE, "aten.std_mean.dim", "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)") \
  X(subtract, POINTWISE, "aten.sub.Scalar", "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor") \
  X(subtract, POINTWISE, "aten.sub.Tensor", "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor") \
  X(subtract_in_place, NONE, "aten.sub_.Scalar", "(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)") \
  X(subtract_in_place, NONE, "aten.sub_.Tensor", "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)") \
  X(subtract, NONE, "aten.subtract.Scalar", "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor") \
  X(subtract, NONE, "aten.subtract.Tensor", "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor") \
  X(subtract_in_place, NONE, "aten.subtract_.Scalar", "(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)") \
  X(subtract_in_place, NONE, "aten.subtract_.Tensor", "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)") \
  X(sum, NONE, "aten.sum.default", "(Tensor self, *, ScalarType? dtype=None) -> Tensor") \
  X(sum, REDUCE, "aten.sum.dim_IntList", "(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor") \
  X(transpose, VIEW, "aten.swapaxes.default", "(Tensor(a) self, int axis0, int axis1) -> Tensor(a)") \
  X(transpose, VIEW, "aten.swapdims.default", "(Tensor(a) self, int dim0, int dim1) -> Tensor(a)") \
  X(nothing, NONE, "aten.sym_constrain_range.default", "(Scalar size, *, int? min=None, int? max=None) -> ()") \
  X(nothing, NONE, "aten.sym_constrain_range_for_size.default", "(Scalar size, *, int? min=None, int? max=None) -> ()") \
  X(sym_numel, NONE, "aten.sym_numel.default", "(Tensor self) -> SymInt") \
  X(sym_size, NONE, "aten.sym_size.int", "(Tensor self, int dim) -> SymInt") \
  X(t, VIEW, "aten.t.default", "(Tensor(a) self) -> Tensor(a)") \
  X(t, NONE, "aten.t_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(take, NONE, "aten.take.default", "(Tensor self, Tensor index) -> Tensor") \
  X(take_along_dim, NONE, "aten.take_along_dim.default", "(Tensor self, Tensor indices, int? dim=None) -> Tensor") \
  X(float_of, POINTWISE, "aten.tan.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.tan_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(float_of, POINTWISE, "aten.tanh.default", "(Tensor self) -> Tensor") \
  X(in_place_float, NONE, "aten.tanh_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(tensordot, NONE, "aten.tensordot.default", "(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor") \
  X(same, POINTWISE, "aten.threshold.default", "(Tensor self, Scalar threshold, Scalar value) -> Tensor") \
  X(in_place, NONE, "aten.threshold_.default", "(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)") \
  X(repeat, NONE, "aten.tile.default", "(Tensor self, SymInt[] dims) -> Tensor") \
  X(to, POINTWISE, "aten.to.device", "(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)") \
  X(to, POINTWISE, "aten.to.dtype", "(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)") \
  X(to, POINTWISE, "aten.to.dtype_layout", "(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)") \
  X(to_other, POINTWISE, "aten.to.other", "(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)") \
  X(topk, NONE, "aten.topk.default", "(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)") \
  X(transpose, VIEW, "aten.transpose.int", "(Tensor(a) self, int dim0, int dim1) -> Tensor(a)") \
  X(triangle, NONE, "aten.tril.default", "(Tensor self, int diagonal=0) -> Tensor") \
  X(in_place, NONE, "aten.tril_.default", "(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)") \
  X(triangle_places, NONE, "aten.tril_indices.default", "(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(triangle, NONE, "aten.triu.default", "(Tensor self, int diagonal=0) -> Tensor") \
  X(in_place, NONE, "aten.triu_.default", "(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)") \
  X(triangle_places, NONE, "aten.triu_indices.default", "(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(divide, NONE, "aten.true_divide.Scalar", "(Tensor self, Scalar other) -> Tensor") \
  X(divide, NONE, "aten.true_divide.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(same, POINTWISE, "aten.trunc.default", "(Tensor self) -> Tensor") \
  X(in_place, NONE, "aten.trunc_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(to_other, POINTWISE, "aten.type_as.default", "(Tensor self, Tensor other) -> Tensor") \
  X(unbind, NONE, "aten.unbind.int", "(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]") \
  X(unflatten, VIEW, "aten.unflatten.int", "(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)") \
  X(unfold, VIEW, "aten.unfold.default", "(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)") \
  X(unsqueeze, VIEW, "aten.unsqueeze.default", "(Tensor(a) self, int dim) -> Tensor(a)") \
  X(unsqueeze, NONE, "aten.unsqueeze_.default", "(Tensor(a!) self, int dim) -> Tensor(a!)") \
  X(upsample_2d, NONE, "aten.upsample_bicubic2d.default", "(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor") \
  X(upsample_2d, NONE, "aten.upsample_bicubic2d.vec", "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor") \
  X(upsample_2d, NONE, "aten.upsample_bilinear2d.default", "(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor") \
  X(upsample_2d, NONE, "aten.upsample_bilinear2d.vec", "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor") \
  X(upsample_1d, NONE, "aten.upsample_linear1d.vec", "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor") \
  X(upsample_1d, NONE, "aten.upsample_nearest1d.vec", "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor") \
  X(upsample_2d, NONE, "aten.upsample_nearest2d.default", "(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor") \
  X(upsample_2d, NONE, "aten.upsample_nearest2d.vec", "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor") \
  X(upsample_3d, NONE, "aten.upsample_nearest3d.vec", "(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor") \
  X(upsample_3d, NONE, "aten.upsample_trilinear3d.vec", "(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor") \
  X(moment, NONE, "aten.var.correction", "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor") \
  X(moment, NONE, "aten.var.default", "(Tensor self, bool unbiased=True) -> Tensor") \
  X(moment, NONE, "aten.var.dim", "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor") \
  X(moment_mean, NONE, "aten.var_mean.correction", "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)") \
  X(moment_mean, NONE, "aten.var_mean.default", "(Tensor self, bool unbiased=True) -> (Tensor, Tensor)") \
  X(moment_mean, NONE, "aten.var_mean.dim", "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)") \
  X(dot, NONE, "aten.vdot.default", "(Tensor self, Tensor other) -> Tensor") \
  X(view, VIEW, "aten.view.default", "(Tensor(a) self, SymInt[] size) -> Tensor(a)") \
  X(view_dtype, NONE, "aten.view.dtype", "(Tensor(a) self, ScalarType dtype) -> Tensor(a)") \
  X(view_as, VIEW, "aten.view_as.default", "(Tensor(a) self, Tensor other) -> Tensor(a)") \
  X(vstack, NONE, "aten.vstack.default", "(Tensor[] tensors) -> Tensor") \
  X(where, POINTWISE, "aten.where.Scalar", "(Tensor condition, Scalar self, Scalar other) -> Tensor") \
  X(where, POINTWISE, "aten.where.ScalarOther", "(Tensor condition, Tensor self, Scalar other) -> Tensor") \
  X(where, POINTWISE, "aten.where.ScalarSelf", "(Tensor condition, Scalar self, Tensor other) -> Tensor") \
  X(where, POINTWISE, "aten.where.self", "(Tensor condition, Tensor self, Tensor other) -> Tensor") \
  X(binary_float, NONE, "aten.xlogy.Scalar_Other", "(Tensor self, Scalar other) -> Tensor") \
  X(binary_float, NONE, "aten.xlogy.Scalar_Self", "(Scalar self, Tensor other) -> Tensor") \
  X(binary_float, POINTWISE, "aten.xlogy.Tensor", "(Tensor self, Tensor other) -> Tensor") \
  X(in_place, NONE, "aten.zero_.default", "(Tensor(a!) self) -> Tensor(a!)") \
  X(filled, NONE, "aten.zeros.default", "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor") \
  X(like, NONE, "aten.zeros_like.default", "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor") \
  X(sym_ceil, NONE, "math.ceil", "(Scalar a) -> Scalar") \
  X(sym_floor, NONE, "math.floor", "(Scalar a) -> Scalar") \
  X(sym_trunc, NONE, "math.trunc", "(Scalar a) -> Scalar") \
  X(fused_attention, ATTENTION, "nereid.attention.default", "(Tensor query, Tensor key, Tensor value, Tensor? mask=None, *, float scale, SymInt? low=None, SymInt? high=None, int splits=1) -> Tensor") \
  X(view_dtype, POINTWISE, "nereid.bits.default", "(Tensor self, ScalarType dtype) -> Tensor") \
  X(check_index, CHECK, "nereid.check_index.default", "(Tensor self, SymInt size, str node, bool negative=False, SymInt? ignore=None) -> Tensor") \
  X(window_conv, CONVOLUTION, "nereid.conv.default", "(Tensor input, Tensor weight, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt[] spread, SymInt groups) -> Tensor") \
  X(window_depthwise, WINDOW, "nereid.conv_depthwise.default", "(Tensor input, Tensor weight, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt[] spread) -> Tensor") \
  X(counted, VIEW, "nereid.counted.default", "(Tensor self, Tensor count, SymInt size) -> Tensor") \
  X(place_like, SCAN, "nereid.cummax_place.default", "(Tensor self, int dim) -> Tensor") \
  X(place_like, SCAN, "nereid.cummin_place.default", "(Tensor self, int dim) -> Tensor") \
  X(nereid_empty, EMPTY, "nereid.empty.default", "(SymInt[] size, *, ScalarType dtype, bool once) -> Tensor") \
  X(insert_slice, INSERT, "nereid.insert_slice.default", "(Tensor self, Tensor src, int dim, SymInt start) -> Tensor") \
  X(inserted, INSERTED, "nereid.inserted.default", "(Tensor self, Tensor[] slices) -> Tensor") \
  X(merge, SEARCH, "nereid.merge.default", "(Tensor self, int run) -> Tensor") \
  X(of_sort_key, POINTWISE, "nereid.of_sort_key.default", "(Tensor self) -> Tensor") \
  X(window_pool, WINDOW, "nereid.pool_max.default", "(Tensor input, SymInt[] kernel, SymInt[] stride, SymInt[] padding, SymInt[] dilation, int first) -> Tensor") \
  X(window_pool, WINDOW, "nereid.pool_sum.default", "(Tensor input, SymInt[] kernel, SymInt[] stride, SymInt[] padding, SymInt[] dilation, int first) -> Tensor") \
  X(random, CREATE, "nereid.random.default", "(SymInt[] size, int seed, str kind) -> Tensor") \
  X(loss, NONE, "nereid.reduced.default", "(Tensor self, int reduction) -> Tensor") \
  X(nereid_scatter, SCATTER, "nereid.scatter.default", "(Tensor self, Tensor index, Tensor src, str reduce) -> Tensor") \
  X(search, SEARCH, "nereid.search.default", "(Tensor sorted_sequence, Tensor self, bool right) -> Tensor") \
  X(sorted, SCAN, "nereid.sort.default", "(Tensor self, int dim) -> Tensor") \
  X(sort_key, POINTWISE, "nereid.sort_key.default", "(Tensor self) -> Tensor") \
  X(suppress, SCATTER, "nereid.suppress.default", "(Tensor self, Tensor row, Tensor scores, Tensor boxes, Tensor threshold, SymInt most) -> Tensor") \
  X(to, NONE, "prims.convert_element_type.default", "(Tensor self, ScalarType dtype) -> Tensor") \
  X(dequantize, NONE, "quantized_decomposed.dequantize_per_channel.default", "(Tensor input, Tensor scales, Tensor? zero_points, int axis, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor") \
  X(dequantize, NONE, "quantized_decomposed.dequantize_per_tensor.default", "(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor") \
  X(quantize, NONE, "quantized_decomposed.quantize_per_channel.default", "(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, int quant_max, ScalarType dtype) -> Tensor") \
  X(quantize, NONE, "quantized_decomposed.quantize_per_tensor.default", "(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor") \
  X(sym_float, NONE, "torch.sym_float", "(Scalar a) -> Scalar") \
  X(sym_trunc, NONE, "torch.sym_int", "(Scalar a) -> Scalar") \
  X(sym_max, NONE, "torch.sym_max", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_min, NONE, "torch.sym_min", "(Scalar a, Scalar b) -> Scalar") \
  X(sym_compare, NONE, "torch.sym_not", "(bool a) -> bool") \
  X(sym_sum, NONE, "torch.sym_sum", "(SymInt[] args) -> SymInt") \
  X(grouped_mm, NONE, "transformers.grouped_mm_fallback.default", "(Tensor input, Tensor weight, Tensor offs) -> Tensor")

#endif
