/* The table of builtins: the functions of the language that the language can't express itself.
 *
 * sema/builtins owns these functions.  Each takes the values of its arguments, checks them, emits
 * tile IR if they are not constant, and gives a value.
 *
 * X(name, where, "parameters", handler)
 *
 * where: M  a member of tiles as well (x.sum() is tl.sum(x))
 *        L  triton.language          T  triton           P  Python's own
 *        C  triton.language.extra.cuda                   I  triton.language.target_info
 *        N  nereid.core, of the standard library          G  triton.experimental.gluon.language
 * parameters: names with Python's defaults; *name takes the rest.  A handler gets one Value for
 *   each, in order; V_ABSENT where none was given and there is no default.
 *
 * A name that is not here is looked up in the standard library (lang/std).
 */
#ifndef NEREID_SEMA_VALUE_BUILTINS_H
#define NEREID_SEMA_VALUE_BUILTINS_H

#include "sema/value/value.h"

struct Sema;
struct CallArgs;

typedef struct {
  Value *args;  /* by parameter */
  Value rest;   /* of *name: a tuple */
  Span at;      /* the call */
  Span *spans;  /* of each argument; the call's where it was left out */
  const Builtin *fn;
  const struct CallArgs *given; /* as they stood in the call */
} Call;

typedef Value (*BuiltinFn)(struct Sema *S, Call *c);

struct Builtin {
  const char *name;
  const char *where;
  const char *params;
  BuiltinFn run;
  int code; /* for handlers that serve several rows */
};

/* clang-format off */
#define BUILTINS(X) \
/* -- program -- */ \
X(program_id,    "L", "axis", builtin_program_id, 0) \
X(num_programs,  "L", "axis", builtin_program_id, 1) \
/* -- creation -- */ \
X(arange,        "L", "start, end", builtin_arange, 0) \
X(full,          "L", "shape, value, dtype", builtin_full, 0) \
X(zeros,         "L", "shape, dtype", builtin_zeros, 0) \
X(zeros_like,    "LM", "input", builtin_zeros, 1) \
X(cast,          "LM", "input, dtype, fp_downcast_rounding=None, bitcast=False", builtin_cast, 0) \
X(to,            "M", "input, dtype, fp_downcast_rounding=None, bitcast=False", builtin_cast, 0) \
X(to_tensor,     "L", "x", builtin_to_tensor, 0) \
/* -- shape -- */ \
X(broadcast,     "L", "input, other", builtin_broadcast, 0) \
X(broadcast_to,  "LM", "input, *shape", builtin_broadcast_to, 0) \
X(expand_dims,   "LM", "input, axis", builtin_expand_dims, 0) \
X(unsqueeze,     "LM", "input, dim", builtin_expand_dims, 0) \
X(squeeze,       "LM", "input, dim", builtin_squeeze, 0) \
X(permute,       "LM", "input, *dims", builtin_permute, 0) \
X(trans,         "LM", "input, *dims", builtin_permute, 1) \
X(reshape,       "LM", "input, *shape, can_reorder=False", builtin_reshape, 0) \
X(view,          "LM", "input, *shape", builtin_reshape, 0) \
X(ravel,         "LM", "x, can_reorder=False", builtin_ravel, 0) \
X(item,          "LM", "input", builtin_item, 0) \
X(join,          "L", "a, b", builtin_join, 0) \
X(interleave,    "L", "a, b", builtin_join, 1) \
X(split,         "LM", "a", builtin_split, 0) \
X(cat,           "L", "input, other, can_reorder=False, dim=0", builtin_cat, 0) \
/* -- elementwise -- */ \
X(where,         "L", "condition, x, y", builtin_where, 0) \
X(add,           "L", "x, y, sanitize_overflow=True", builtin_arith, OP_ADD) \
X(sub,           "L", "x, y, sanitize_overflow=True", builtin_arith, OP_SUB) \
X(mul,           "L", "x, y, sanitize_overflow=True", builtin_arith, OP_MUL) \
X(minimum,       "L", "x, y, propagate_nan=None", builtin_minmax, 0) \
X(maximum,       "L", "x, y, propagate_nan=None", builtin_minmax, 1) \
X(clamp,         "L", "x, min, max, propagate_nan=None", builtin_clamp, 0) \
X(abs,           "LM", "x", builtin_abs, 0) \
X(fdiv,          "L", "x, y, ieee_rounding=False, approx=False", builtin_fdiv, 0) \
X(fma,           "L", "x, y, z", builtin_fma, 0) \
X(umulhi,        "L", "x, y", builtin_umulhi, 0) \
X(logical_and,   "M", "x, y", builtin_logical, 1) \
X(logical_or,    "M", "x, y", builtin_logical, 0) \
X(map_elementwise, "L", "scalar_fn, *args, pack=1", builtin_map_elementwise, 0) \
X(inline_asm_elementwise, "L", "asm, constraints, args, dtype, is_pure, pack", builtin_inline_asm, 0) \
X(extern_elementwise, "L", "lib_name, lib_path, args, arg_type_symbol_dict, is_pure=True", builtin_extern_elementwise, 0) \
X(expect_zero,   "L", "x, mask", builtin_expect_zero, 0) \
/* -- linear algebra -- */ \
X(dot,           "L", "input, other, acc=None, input_precision=None, allow_tf32=None, max_num_imprecise_acc=None, out_dtype=None", builtin_dot, 0) \
/* -- memory -- */ \
X(load,          "L", "pointer, mask=None, other=None, boundary_check=(), padding_option='', cache_modifier='', eviction_policy='', volatile=False", builtin_load, 0) \
X(store,         "LM", "pointer, value, mask=None, boundary_check=(), cache_modifier='', eviction_policy=''", builtin_store, 0) \
X(make_block_ptr, "L", "base, shape, strides, offsets, block_shape, order=None", builtin_make_block_ptr, 0) \
X(make_tensor_descriptor, "L", "base, shape, strides, block_shape, padding_option='zero'", builtin_make_descriptor, 0) \
X(_experimental_make_tensor_descriptor, "L", "base, shape, strides, block_shape, padding_option='zero'", builtin_make_descriptor, 0) \
X(load_tensor_descriptor, "L", "desc, offsets", builtin_descriptor_load, 0) \
X(store_tensor_descriptor, "L", "desc, offsets, value", builtin_descriptor_store, 0) \
X(_experimental_descriptor_load, "L", "desc_pointer, offsets, shape, dtype", builtin_descriptor_load, 1) \
X(_experimental_descriptor_store, "L", "desc_pointer, value, offsets", builtin_descriptor_store, 1) \
X(_experimental_reinterpret_tensor_descriptor, "L", "desc_ptr, block_shape, dtype", builtin_reinterpret_descriptor, 0) \
X(advance,       "LM", "base, offsets", builtin_advance, 0) \
X(atomic_add,    "LM", "pointer, val, mask=None, sem=None, scope=None", builtin_atomic, 0) \
X(atomic_max,    "LM", "pointer, val, mask=None, sem=None, scope=None", builtin_atomic, 1) \
X(atomic_min,    "LM", "pointer, val, mask=None, sem=None, scope=None", builtin_atomic, 2) \
X(atomic_and,    "LM", "pointer, val, mask=None, sem=None, scope=None", builtin_atomic, 3) \
X(atomic_or,     "LM", "pointer, val, mask=None, sem=None, scope=None", builtin_atomic, 4) \
X(atomic_xor,    "LM", "pointer, val, mask=None, sem=None, scope=None", builtin_atomic, 5) \
X(atomic_xchg,   "LM", "pointer, val, mask=None, sem=None, scope=None", builtin_atomic, 6) \
X(atomic_cas,    "LM", "pointer, cmp, val, sem=None, scope=None", builtin_atomic_cas, 0) \
X(atomic_load,   "LM", "pointer, mask=None, sem=None, scope=None", builtin_atomic_load, 0) \
X(atomic_store,  "LM", "pointer, val, mask=None, sem=None, scope=None", builtin_atomic_store, 0) \
X(debug_barrier, "L", "", builtin_barrier, 0) \
/* -- reductions and scans -- */ \
X(reduce,        "LM", "input, axis, combine_fn, keep_dims=False", builtin_reduce, 0) \
X(sum,           "LM", "input, axis=None, keep_dims=False, dtype=None", builtin_sum, 0) \
X(xor_sum,       "LM", "input, axis=None, keep_dims=False", builtin_sum, 1) \
X(reduce_or,     "LM", "input, axis=None, keep_dims=False", builtin_sum, 2) \
X(max,           "LM", "input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False", builtin_max, 1) \
X(min,           "LM", "input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False", builtin_max, 0) \
X(argmax,        "LM", "input, axis, tie_break_left=True, keep_dims=False", builtin_argmax, 1) \
X(argmin,        "LM", "input, axis, tie_break_left=True, keep_dims=False", builtin_argmax, 0) \
X(associative_scan, "LM", "input, axis, combine_fn, reverse=False", builtin_scan, 0) \
X(cumsum,        "LM", "input, axis=0, reverse=False, dtype=None", builtin_cumulate, 0) \
X(cumprod,       "LM", "input, axis=0, reverse=False, dtype=None", builtin_cumulate, 1) \
X(histogram,     "LM", "input, num_bins, mask=None", builtin_histogram, 0) \
X(gather,        "LM", "src, index, axis", builtin_gather, 0) \
/* -- hints and checks -- */ \
X(multiple_of,   "L", "input, values", builtin_hint, TA_div) \
X(max_contiguous, "L", "input, values", builtin_hint, TA_contig) \
X(max_constancy, "L", "input, values", builtin_hint, TA_constancy) \
X(assume,        "L", "cond", builtin_assume, 0) \
X(static_assert, "L", "cond, msg=''", builtin_static_assert, 0) \
X(static_print,  "L", "*values, sep=' ', end='', file=None, flush=False", builtin_static_print, 0) \
X(device_assert, "L", "cond, msg='', mask=None", builtin_device_assert, 0) \
X(device_print,  "L", "prefix, *args, hex=False", builtin_device_print, 0) \
/* -- iterators -- */ \
X(range,         "LP", "arg1, arg2=None, step=None, num_stages=None, loop_unroll_factor=None, disallow_acc_multi_buffer=False, flatten=False, warp_specialize=False, disable_licm=False", builtin_range, 0) \
X(static_range,  "L", "arg1, arg2=None, step=None", builtin_range, 1) \
X(condition,     "L", "arg1, disable_licm=False", builtin_condition, 0) \
/* -- types and constants -- */ \
X(constexpr,     "LT", "value", builtin_constexpr, 0) \
X(constexpr_type, "L", "value", builtin_constexpr_type, 0) \
X(tuple_type,    "L", "types, fields=None", builtin_tuple, 0) \
X(pointer_type,  "L", "element_ty, address_space=1, const=False", builtin_pointer_type, 0) \
X(block_type,    "L", "element_ty, shape", builtin_block_type, 0) \
X(dtype,         "L", "name", builtin_dtype, 0) \
X(get_int_dtype, "L", "bitwidth, signed", builtin_int_dtype, 0) \
X(_get_int_dtype, "L", "bitwidth, signed", builtin_int_dtype, 0) \
X(_log2,         "L", "i", builtin_log2, 0) \
X(_is_power_of_two, "L", "i", builtin_log2, 1) \
X(tensor,        "L", "*args", builtin_type_name, 0) \
X(const,         "L", "*args", builtin_type_name, 0) \
X(_aggregate,    "L", "cls", builtin_aggregate, 0) \
X(aggregate,     "T", "cls", builtin_aggregate, 0) \
X(aggregate_replace, "L", "instance, **changes", builtin_aggregate_replace, 0) \
X(tuple,         "LP", "values=()", builtin_tuple, 0) \
X(list,          "P", "values=()", builtin_tuple, 1) \
/* -- of later versions of this compiler -- */ \
X(tensor_descriptor, "L", "*args", builtin_type_name, 0) \
X(tensor_descriptor_base, "L", "*args", builtin_type_name, 0) \
X(gdc_wait,      "C", "", builtin_grid_dependency, 0) \
X(gdc_launch_dependents, "C", "", builtin_grid_dependency, 1) \
X(globaltimer,   "C", "", builtin_special, 0) \
X(smid,          "C", "", builtin_special, 1) \
X(num_threads,   "C", "", builtin_num_warps, 32) \
X(num_warps,     "CG", "", builtin_num_warps, 1) \
X(num_ctas,      "G", "", builtin_num_ctas, 0) \
X(convert_custom_float8_sm70, "C", "arg, dst_ty, fp_downcast_rounding=None, _bitcast=False", builtin_convert_float8, 0) \
X(convert_custom_float8_sm80, "C", "arg, dst_ty, fp_downcast_rounding=None, _bitcast=False", builtin_convert_float8, 0) \
/* -- of Gluon -- */ \
X(set_layout,    "N", "x, layout", builtin_layout, 0) \
X(convert_layout, "N", "x, layout", builtin_layout, 1) \
X(shared_new,    "N", "dtype, shape", builtin_shared_new, 0) \
X(shared_load,   "N", "memory", builtin_shared_load, 0) \
X(shared_store,  "N", "memory, value", builtin_shared_store, 0) \
/* -- triton -- */ \
X(jit,           "T", "fn=None, **kwargs", builtin_jit, 0) \
X(constexpr_function, "T", "fn", builtin_jit, 1) \
X(must_use_result, "T", "fn=None, **kwargs", builtin_jit, 0) \
X(autotune,      "T", "*args, **kwargs", builtin_decorator, 0) \
X(heuristics,    "T", "*args, **kwargs", builtin_decorator, 0) \
X(Config,        "T", "kwargs=None, num_warps=None, num_stages=None, num_ctas=None, maxnreg=None, pre_hook=None, **others", builtin_config, 0) \
X(next_power_of_2, "T", "n", builtin_next_power_of_2, 0) \
/* -- target_info -- */ \
X(is_cuda,       "I", "", builtin_is_target, 1) \
X(is_hip,        "I", "", builtin_is_target, 0) \
X(current_target, "I", "", builtin_current_target, 0) \
X(cuda_capability_geq, "I", "major, minor=0", builtin_capability, 0) \
/* -- Python -- */ \
X(len,           "P", "x", builtin_len, 0) \
X(int,           "P", "x=0", builtin_int, 0) \
X(float,         "P", "x=0.0", builtin_float, 0) \
X(bool,          "P", "x=False", builtin_bool, 0) \
X(str,           "P", "x=''", builtin_str, 0) \
X(repr,          "P", "x=''", builtin_str, 1) \
X(isinstance,    "P", "x, types", builtin_isinstance, 0) \
X(getattr,       "P", "x, name, default", builtin_getattr, 0) \
X(hasattr,       "P", "x, name", builtin_getattr, 1) \
X(print,         "P", "*values, **kwargs", builtin_print, 0) \
X(zip,           "P", "*values", builtin_zip, 0) \
X(enumerate,     "P", "values, start=0", builtin_enumerate, 0) \
X(reversed,      "P", "values", builtin_reversed, 0) \
X(all,           "P", "values", builtin_all, 1) \
X(any,           "P", "values", builtin_all, 0) \
X(pow,           "P", "x, y", builtin_pow, 0) \
X(divmod,        "P", "x, y", builtin_divmod, 0) \
X(round,         "P", "x, digits=None", builtin_round, 0) \
X(type,          "P", "x", builtin_type_of, 0) \
X(dict,          "P", "*values, **kwargs", builtin_dict, 0) \
X(sorted,        "P", "values, key=None, reverse=False", builtin_sorted, 0) \
X(filter,        "P", "function, values", builtin_filter, 0) \
X(map,           "P", "function, values", builtin_map, 0) \
X(set,           "P", "values=()", builtin_set, 0)
/* clang-format on */

/* Rows that a name of another table than the above leads to. */
#define BUILTIN_EXTRAS(X) \
  X(py_max, "", "*values, key=None, default=None", builtin_py_max, 1) \
  X(py_min, "", "*values, key=None, default=None", builtin_py_max, 0) \
  X(py_abs, "", "x", builtin_abs, 0) \
  X(py_sum, "", "values, start=0", builtin_py_sum, 0) \
  X(cdiv, "", "x, y", builtin_cdiv, 0) \
  X(core_op, "", "*args", builtin_core, 0) \
  X(math_fn, "", "*args", builtin_math, 0) \
  X(partial, "", "*args, **kwargs", builtin_partial, 0) \
  X(method, "", "*args", builtin_method, 0)

#define X(name, where, params, handler, code) Value handler(struct Sema *S, Call *c);
BUILTINS(X)
BUILTIN_EXTRAS(X)
#undef X

extern const Builtin builtin_table[];
extern const uint32_t builtin_count;

/* ---- builtin_arguments.c; each reports what it finds instead ---- */

/* A tile or a number. */
bool operand_arg(struct Sema *S, const Call *c, uint32_t i);
/* Reads a tile; a number becomes a scalar. */
bool tile_arg(struct Sema *S, const Call *c, uint32_t i, Value *out);
/* An axis of `rank`; negative ones count from the end. */
bool axis_arg(struct Sema *S, Value v, int rank, Span at, int *out);
/* The error that `v` is not `kind`, which `what` takes at compile time; an error value. */
Value refuse_argument(struct Sema *S, Value v, const char *what, const char *kind, Span at);

/* ---- builtins_memory.c ---- */

/* Offsets of a block from an argument, a list with one for each axis.  False after an error. */
bool block_offsets(struct Sema *S, const Call *c, uint32_t arg, BlockPtr *b);

#endif
