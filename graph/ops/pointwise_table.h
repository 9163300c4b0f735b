/* The pointwise ops, one row each: target, rule, expression for floats, expression for integers
 * ("": the same).  Rows are in the order of strcmp of their targets.
 *
 * In an expression {0}, {1}, ... are the operands: the op's arguments that are tensors or numbers,
 * in the order of its schema, without those that are None.  {t} is the dtype that it computes in,
 * as the kernel language names it.
 *
 * The rule says which dtype that is, and which expression, where arguments decide that:
 *
 *   ARITH     the result's dtype; 16-bit and 8-bit floats in f32; bool in i32, and != 0 behind it
 *   BRANCH    as ARITH; of floats the expression takes a branch if one of its elements needs it, as
 *             REMAINDER and ROUNDED do
 *   BITS      the result's dtype
 *   TEST      the operands' promoted dtype, widened as above; the result is a bool
 *   LOGIC     as TEST; the second expression is for bools, which stay what they are
 *   SELECT    as ARITH; the result is one of the operands, each of them cast to the result's dtype
 *   CAST      the dtype of what is cast, widened as above; the result is cast
 *   KEY       as CAST; the result is an integer (graph/ops/pointwise.c)
 *   EXP       as ARITH; the short form where that is as good (graph/ops/pointwise.c)
 *   REINTERPRET  the dtype of the operand, not widened; its bits are the result's
 *   others    as ARITH, with an expression of their own (graph/ops/pointwise.c) */
#ifndef NEREID_GRAPH_OPS_POINTWISE_TABLE_H
#define NEREID_GRAPH_OPS_POINTWISE_TABLE_H

#define NAN_ALL "propagate_nan=tl.PropagateNan.ALL"
/* Between two numbers, each the literal or operand of that text. */
#define BETWEEN(x, lo, hi) "tl.minimum(tl.maximum(" x ", " lo ", " NAN_ALL "), " hi ", " NAN_ALL ")"
#define MAXIMUM "tl.maximum({0}, {1}, " NAN_ALL ")"
#define MINIMUM "tl.minimum({0}, {1}, " NAN_ALL ")"
/* 0 for a first operand of 0, but NaN for a second one of NaN. */
#define XLOGY(log) "tl.where(({0} == 0.0) & ({1} == {1}), 0.0, {0} * " log ")"
#define LOG1P_EXP(x) "libdevice.log1p(libdevice.exp(" x "))"

/* clang-format off */
#define POINTWISE_OPS(X) \
  X("aten.__and__.Tensor", BITS, "", "{0} & {1}") \
  X("aten.__or__.Tensor", BITS, "", "{0} | {1}") \
  X("aten.__xor__.Tensor", BITS, "", "{0} ^ {1}") \
  X("aten._to_copy.default", CAST, "{0}", "") \
  X("aten.abs.default", ARITH, "tl.abs({0})", "") \
  X("aten.acos.default", ARITH, "libdevice.acos({0})", "") \
  X("aten.acosh.default", ARITH, "libdevice.acosh({0})", "") \
  X("aten.add.Scalar", ALPHA, "{0} + {1}", "") \
  X("aten.add.Tensor", ALPHA, "{0} + {1}", "") \
  X("aten.addcdiv.default", ARITH, "{0} + {3} * {1} / {2}", "") \
  X("aten.addcmul.default", ARITH, "{0} + {3} * {1} * {2}", "") \
  X("aten.angle.default", ARITH, "tl.where({0} != {0}, {0}, ({0} < 0.0).to(tl.{t}) * 3.141592653589793)", "") \
  X("aten.asin.default", ARITH, "libdevice.asin({0})", "") \
  X("aten.asinh.default", ARITH, "libdevice.asinh({0})", "") \
  X("aten.atan.default", ARITH, "libdevice.atan({0})", "") \
  X("aten.atan2.default", ARITH, "libdevice.atan2({0}, {1})", "") \
  X("aten.atanh.default", ARITH, "libdevice.atanh({0})", "") \
  X("aten.bitwise_and.Scalar", BITS, "", "{0} & {1}") \
  X("aten.bitwise_and.Tensor", BITS, "", "{0} & {1}") \
  X("aten.bitwise_left_shift.Tensor", BITS, "", "{0} << {1}") \
  X("aten.bitwise_left_shift.Tensor_Scalar", BITS, "", "{0} << {1}") \
  X("aten.bitwise_not.default", BITS, "", "~{0}") \
  X("aten.bitwise_or.Scalar", BITS, "", "{0} | {1}") \
  X("aten.bitwise_or.Tensor", BITS, "", "{0} | {1}") \
  X("aten.bitwise_right_shift.Tensor", BITS, "", "{0} >> {1}") \
  X("aten.bitwise_right_shift.Tensor_Scalar", BITS, "", "{0} >> {1}") \
  X("aten.bitwise_xor.Scalar", BITS, "", "{0} ^ {1}") \
  X("aten.bitwise_xor.Tensor", BITS, "", "{0} ^ {1}") \
  X("aten.ceil.default", ARITH, "libdevice.ceil({0})", "{0}") \
  X("aten.celu.default", ARITH, "tl.where({0} > 0.0, {0}, {1} * libdevice.expm1({0} / {1}))", "") \
  X("aten.clamp.Tensor", CLAMP, BETWEEN("{0}", "{1}", "{2}"), "") \
  X("aten.clamp.default", CLAMP, BETWEEN("{0}", "{1}", "{2}"), "") \
  X("aten.clamp_max.Tensor", ARITH, MINIMUM, "") \
  X("aten.clamp_max.default", ARITH, MINIMUM, "") \
  X("aten.clamp_min.Tensor", ARITH, MAXIMUM, "") \
  X("aten.clamp_min.default", ARITH, MAXIMUM, "") \
  X("aten.clip.Tensor", CLAMP, BETWEEN("{0}", "{1}", "{2}"), "") \
  X("aten.clip.default", CLAMP, BETWEEN("{0}", "{1}", "{2}"), "") \
  X("aten.clone.default", CAST, "{0}", "") \
  X("aten.copy.default", CAST, "{0}", "") \
  X("aten.copysign.Scalar", ARITH, "libdevice.copysign({0}, tl.cast({1}, tl.{t}))", "") \
  X("aten.copysign.Tensor", ARITH, "libdevice.copysign({0}, {1})", "") \
  X("aten.cos.default", BRANCH, "libdevice.cos({0})", "") \
  X("aten.cosh.default", ARITH, "libdevice.cosh({0})", "") \
  X("aten.deg2rad.default", ARITH, "{0} * 0.017453292519943295", "") \
  X("aten.div.Scalar", ARITH, "{0} / {1}", "") \
  X("aten.div.Scalar_mode", ROUNDED, "{0} / {1}", "") \
  X("aten.div.Tensor", ARITH, "{0} / {1}", "") \
  X("aten.div.Tensor_mode", ROUNDED, "{0} / {1}", "") \
  X("aten.elu.default", ARITH, "tl.where({0} > 0.0, {0} * {2}, libdevice.expm1({0} * {3}) * ({1} * {2}))", "") \
  X("aten.eq.Scalar", TEST, "{0} == {1}", "") \
  X("aten.eq.Tensor", TEST, "{0} == {1}", "") \
  X("aten.erf.default", ARITH, "libdevice.erf({0})", "") \
  X("aten.erfc.default", ARITH, "libdevice.erfc({0})", "") \
  X("aten.erfinv.default", ARITH, "libdevice.erfinv({0})", "") \
  X("aten.exp.default", EXP, "libdevice.exp({0})", "") \
  X("aten.exp2.default", ARITH, "libdevice.exp2({0})", "") \
  X("aten.expm1.default", ARITH, "libdevice.expm1({0})", "") \
  X("aten.fill.Tensor", CAST, "{0}", "") \
  X("aten.fix.default", ARITH, "libdevice.trunc({0})", "{0}") \
  X("aten.floor.default", ARITH, "libdevice.floor({0})", "{0}") \
  X("aten.floor_divide.Scalar", ROUNDED, "", "") \
  X("aten.floor_divide.default", ROUNDED, "", "") \
  X("aten.fmax.default", ARITH, "tl.maximum({0}, {1})", "") \
  X("aten.fmin.default", ARITH, "tl.minimum({0}, {1})", "") \
  X("aten.fmod.Scalar", BRANCH, "libdevice.fmod({0}, {1})", "{0} % {1}") \
  X("aten.fmod.Tensor", BRANCH, "libdevice.fmod({0}, {1})", "{0} % {1}") \
  X("aten.frac.default", ARITH, "{0} - libdevice.trunc({0})", "") \
  X("aten.ge.Scalar", TEST, "{0} >= {1}", "") \
  X("aten.ge.Tensor", TEST, "{0} >= {1}", "") \
  X("aten.gelu.default", GELU, "", "") \
  X("aten.gt.Scalar", TEST, "{0} > {1}", "") \
  X("aten.gt.Tensor", TEST, "{0} > {1}", "") \
  X("aten.hardshrink.default", ARITH, "tl.where(({0} >= -{1}) & ({0} <= {1}), 0.0, {0})", "") \
  X("aten.hardsigmoid.default", ARITH, BETWEEN("{0} + 3.0", "0.0", "6.0") " * 0.16666666666666666", "") \
  X("aten.hardswish.default", ARITH, "{0} * " BETWEEN("{0} + 3.0", "0.0", "6.0") " * 0.16666666666666666", "") \
  X("aten.hardtanh.default", ARITH, BETWEEN("{0}", "{1}", "{2}"), "") \
  X("aten.heaviside.default", ARITH, "tl.where({0} == 0, {1}, ({0} > 0).to(tl.{t}))", "") \
  X("aten.hypot.default", ARITH, "libdevice.hypot({0}, {1})", "") \
  X("aten.i0.default", ARITH, "libdevice.cyl_bessel_i0({0})", "") \
  X("aten.isclose.default", ISCLOSE, "", "") \
  X("aten.isfinite.default", TEST, "tl.abs({0}) < float(\"inf\")", "{0} == {0}") \
  X("aten.isinf.default", TEST, "tl.abs({0}) == float(\"inf\")", "{0} != {0}") \
  X("aten.isnan.default", TEST, "{0} != {0}", "") \
  X("aten.isneginf.default", TEST, "{0} == float(\"-inf\")", "{0} != {0}") \
  X("aten.isposinf.default", TEST, "{0} == float(\"inf\")", "{0} != {0}") \
  X("aten.le.Scalar", TEST, "{0} <= {1}", "") \
  X("aten.le.Tensor", TEST, "{0} <= {1}", "") \
  X("aten.leaky_relu.default", ARITH, "tl.where({0} > 0.0, {0}, {0} * {1})", "") \
  X("aten.lerp.Scalar", LERP, "", "") \
  X("aten.lerp.Tensor", LERP, "", "") \
  X("aten.lgamma.default", ARITH, "libdevice.lgamma({0})", "") \
  X("aten.log.default", ARITH, "libdevice.log({0})", "") \
  X("aten.log10.default", ARITH, "libdevice.log10({0})", "") \
  X("aten.log1p.default", ARITH, "libdevice.log1p({0})", "") \
  X("aten.log2.default", ARITH, "libdevice.log2({0})", "") \
  X("aten.log_sigmoid.default", ARITH, "tl.minimum({0}, 0.0, " NAN_ALL ") - " LOG1P_EXP("-tl.abs({0})"), "") \
  X("aten.logaddexp.default", ARITH, "tl.where({0} == {1}, {0} + 0.6931471805599453, " MAXIMUM " + " LOG1P_EXP("-tl.abs({0} - {1})") ")", "") \
  X("aten.logaddexp2.default", ARITH, "tl.where({0} == {1}, {0} + 1.0, " MAXIMUM " + libdevice.log1p(libdevice.exp2(-tl.abs({0} - {1}))) * 1.4426950408889634)", "") \
  X("aten.logical_and.default", LOGIC, "({0} != 0) & ({1} != 0)", "{0} & {1}") \
  X("aten.logical_not.default", LOGIC, "{0} == 0", "~{0}") \
  X("aten.logical_or.default", LOGIC, "({0} != 0) | ({1} != 0)", "{0} | {1}") \
  X("aten.logical_xor.default", LOGIC, "({0} != 0) != ({1} != 0)", "{0} ^ {1}") \
  X("aten.lt.Scalar", TEST, "{0} < {1}", "") \
  X("aten.lt.Tensor", TEST, "{0} < {1}", "") \
  X("aten.masked_fill.Scalar", SELECT, "tl.where({1}, {2}, {0})", "") \
  X("aten.masked_fill.Tensor", SELECT, "tl.where({1}, {2}, {0})", "") \
  X("aten.max.other", ARITH, MAXIMUM, "") \
  X("aten.maximum.default", ARITH, MAXIMUM, "") \
  X("aten.min.other", ARITH, MINIMUM, "") \
  X("aten.minimum.default", ARITH, MINIMUM, "") \
  X("aten.mish.default", ARITH, "mish_of({0})", "") \
  X("aten.mul.Scalar", ARITH, "{0} * {1}", "") \
  X("aten.mul.Tensor", ARITH, "{0} * {1}", "") \
  X("aten.nan_to_num.default", NAN_TO_NUM, "", "{0}") \
  X("aten.ne.Scalar", TEST, "{0} != {1}", "") \
  X("aten.ne.Tensor", TEST, "{0} != {1}", "") \
  X("aten.neg.default", ARITH, "-{0}", "") \
  X("aten.pow.Scalar", POWER, "", "") \
  X("aten.pow.Tensor_Scalar", POWER, "", "") \
  X("aten.pow.Tensor_Tensor", POWER, "", "") \
  X("aten.rad2deg.default", ARITH, "{0} * 57.29577951308232", "") \
  X("aten.reciprocal.default", ARITH, "1.0 / {0}", "") \
  X("aten.relu.default", ARITH, "tl.maximum({0}, 0.0, " NAN_ALL ")", "tl.maximum({0}, 0)") \
  X("aten.relu6.default", ARITH, BETWEEN("{0}", "0.0", "6.0"), "tl.minimum(tl.maximum({0}, 0), 6)") \
  X("aten.remainder.Scalar", REMAINDER, "", "") \
  X("aten.remainder.Scalar_Tensor", REMAINDER, "", "") \
  X("aten.remainder.Tensor", REMAINDER, "", "") \
  X("aten.round.default", ARITH, "libdevice.rint({0})", "{0}") \
  X("aten.rsqrt.default", ARITH, "libdevice.rsqrt({0})", "") \
  X("aten.rsub.Scalar", ALPHA, "{1} - {0}", "") \
  X("aten.rsub.Tensor", ALPHA, "{1} - {0}", "") \
  X("aten.selu.default", ARITH, "1.0507009873554805 * tl.where({0} > 0.0, {0}, 1.6732632423543772 * libdevice.expm1({0}))", "") \
  X("aten.sigmoid.default", ARITH, "tl.sigmoid({0})", "") \
  X("aten.sign.default", ARITH, "({0} > 0).to(tl.{t}) - ({0} < 0).to(tl.{t})", "") \
  X("aten.signbit.default", TEST, "libdevice.signbit({0}) != 0", "{0} < 0") \
  X("aten.silu.default", ARITH, "{0} * tl.sigmoid({0})", "") \
  X("aten.sin.default", BRANCH, "libdevice.sin({0})", "") \
  X("aten.sinc.default", BRANCH, "tl.where({0} == 0.0, 1.0, libdevice.sinpi({0}) / ({0} * 3.141592653589793))", "") \
  X("aten.sinh.default", ARITH, "libdevice.sinh({0})", "") \
  X("aten.softplus.default", ARITH, "tl.where({0} * {1} > {2}, {0}, " LOG1P_EXP("{0} * {1}") " / {1})", "") \
  X("aten.softshrink.default", ARITH, "tl.where({0} > {1}, {0} - {1}, tl.where({0} < -{1}, {0} + {1}, {0} * 0.0))", "") \
  X("aten.special_entr.default", ARITH, "tl.where({0} > 0.0, -{0} * libdevice.log({0}), tl.where({0} == 0.0, 0.0, {0} + float(\"-inf\")))", "") \
  X("aten.special_erfcx.default", ARITH, "libdevice.erfcx({0})", "") \
  X("aten.special_i1.default", ARITH, "libdevice.cyl_bessel_i1({0})", "") \
  X("aten.special_log_ndtr.default", ARITH, "tl.where({0} < -1.0, libdevice.log(libdevice.erfcx({0} * -0.7071067811865476) * 0.5) - {0} * {0} * 0.5, libdevice.log1p(libdevice.erfc({0} * 0.7071067811865476) * -0.5))", "") \
  X("aten.special_ndtr.default", ARITH, "libdevice.normcdf({0})", "") \
  X("aten.special_ndtri.default", ARITH, "libdevice.normcdfinv({0})", "") \
  X("aten.special_xlog1py.default", ARITH, XLOGY("libdevice.log1p({1})"), "") \
  X("aten.sqrt.default", ARITH, "libdevice.sqrt_rn({0})", "") \
  X("aten.square.default", ARITH, "{0} * {0}", "") \
  X("aten.sub.Scalar", ALPHA, "{0} - {1}", "") \
  X("aten.sub.Tensor", ALPHA, "{0} - {1}", "") \
  X("aten.tan.default", BRANCH, "libdevice.tan({0})", "") \
  X("aten.tanh.default", ARITH, "libdevice.tanh({0})", "") \
  X("aten.threshold.default", ARITH, "tl.where({0} <= {1}, {2}, {0})", "") \
  X("aten.to.device", CAST, "{0}", "") \
  X("aten.to.dtype", CAST, "{0}", "") \
  X("aten.to.dtype_layout", CAST, "{0}", "") \
  X("aten.to.other", CAST, "{0}", "") \
  X("aten.trunc.default", ARITH, "libdevice.trunc({0})", "{0}") \
  X("aten.type_as.default", CAST, "{0}", "") \
  X("aten.where.Scalar", SELECT, "tl.where({0}, {1}, {2}).to(tl.{t})", "") \
  X("aten.where.ScalarOther", SELECT, "tl.where({0}, {1}, {2})", "") \
  X("aten.where.ScalarSelf", SELECT, "tl.where({0}, {1}, {2})", "") \
  X("aten.where.self", SELECT, "tl.where({0}, {1}, {2})", "") \
  X("aten.xlogy.Tensor", ARITH, XLOGY("libdevice.log({1})"), "") \
  X("nereid.bits.default", REINTERPRET, "", "") \
  X("nereid.of_sort_key.default", KEY, "", "") \
  X("nereid.sort_key.default", KEY, "", "")
/* clang-format on */

#endif
