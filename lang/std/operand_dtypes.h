/* The dtypes that functions of libdevice and of tl.math take: the one list, which is checked before
 * a function is evaluated, and from which docs/builtins.md has its column.
 *
 * X(operands, "names")
 *
 * operands: a letter for each operand; further ones are not checked.
 *   F fp32 or fp64     S fp32     D fp64
 *   I int32, int64, uint32 or uint64
 *   i int32            u uint32   l int64   m uint64
 * Operands with one letter are brought to their common dtype, which is checked: a number beside a
 * tile of floats counts as a float, and two whole numbers do not.  Functions without a row take
 * any number. */
#ifndef NEREID_LANG_STD_OPERAND_DTYPES_H
#define NEREID_LANG_STD_OPERAND_DTYPES_H

/* The files that have these functions.  Others have functions of these names, which they call. */
#define OPERAND_DTYPE_FILES "math.py libdevice.py integer.py convert.py"

/* clang-format off */
#define OPERAND_DTYPES(X) \
/* -- floats -- */ \
X("F", "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 " \
       "cyl_bessel_i1 erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 floor ilogb isinf " \
       "isnan j0 j1 lgamma llrint llround log log10 log1p log2 logb nearbyint normcdf " \
       "normcdfinv rcbrt rcp_rd rcp_rn rcp_ru rcp_rz rint round rsqrt signbit sin sinh " \
       "sinpi sqrt sqrt_rd sqrt_rn sqrt_ru sqrt_rz tan tanh tgamma trunc y0 y1") \
X("FF", "add_rd add_rn add_ru add_rz atan2 copysign div_rd div_rn div_ru div_rz fdim fmod hypot " \
        "mul_rd mul_rn mul_ru mul_rz nextafter pow remainder rhypot sub_rd sub_rn sub_ru sub_rz") \
X("FFF", "fma fma_rd fma_rn fma_ru fma_rz norm3d rnorm3d") \
X("FFFF", "norm4d rnorm4d") \
X("S", "fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf " \
       "fast_tanhf finitef float2int_rd float2int_rn float2int_ru float2int_rz float2ll_rd " \
       "float2ll_rn float2ll_ru float2ll_rz float2uint_rd float2uint_rn float2uint_ru " \
       "float2uint_rz float2ull_rd float2ull_rn float2ull_ru float2ull_rz float_as_int " \
       "float_as_uint rsqrt_rn saturatef") \
X("SS", "fast_dividef fast_powf") \
X("D", "double2float_rd double2float_rn double2float_ru double2float_rz double2hiint " \
       "double2int_rd double2int_rn double2int_ru double2int_rz double2ll_rd double2ll_rn " \
       "double2ll_ru double2ll_rz double2loint double2uint_rd double2uint_rn double2uint_ru " \
       "double2uint_rz double2ull_rd double2ull_rn double2ull_ru double2ull_rz " \
       "double_as_longlong isfinited rcp64h") \
/* -- floats and integers -- */ \
X("Fi", "ldexp scalbn") \
X("iF", "jn yn") \
/* -- integers -- */ \
X("I", "brev clz ffs popc") \
X("II", "hadd mul24 mulhi rhadd") \
X("III", "sad") \
X("i", "int2double_rn int2float_rd int2float_rn int2float_ru int2float_rz int_as_float") \
X("ii", "hiloint2double") \
X("iii", "byte_perm") \
X("u", "uint2double_rn uint2float_rd uint2float_rn uint2float_ru uint2float_rz uint_as_float") \
X("l", "ll2double_rd ll2double_rn ll2double_ru ll2double_rz ll2float_rd ll2float_rn ll2float_ru " \
       "ll2float_rz longlong_as_double") \
X("m", "ull2double_rd ull2double_rn ull2double_ru ull2double_rz ull2float_rd ull2float_rn " \
       "ull2float_ru ull2float_rz")
/* clang-format on */

#endif
