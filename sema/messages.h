/* Diagnostics of kernels, their arguments and types, and decorators: E_SEMA_. */
#ifndef NEREID_SEMA_MESSAGES_H
#define NEREID_SEMA_MESSAGES_H

/* files and kernels */
#define E_SEMA_NO_KERNELS "%s has no function under `jit`"
#define H_SEMA_BINARY "the file contains bytes that are not text: is it Python source?"
#define E_SEMA_SEVERAL_KERNELS "%s has several kernels: name one, as in FILE:KERNEL"
#define E_SEMA_NO_KERNEL "%s has no kernel '%s'"
#define N_SEMA_KERNEL "kernel '%s'"
#define N_SEMA_CALLED "in the call of '%s' here"
#define N_SEMA_DEFINED "it is defined here"
#define N_SEMA_SET_HERE "'%s' is set here"
#define N_SEMA_AND_HERE "and here"
#define N_SEMA_HOST_CODE "because of its '%s' here"
#define N_SEMA_GLOBAL "its value can't be evaluated without Python"
#define H_SEMA_GLOBAL "give its value: -D %s=..."
#define H_SEMA_NEAREST "did you mean '%s'?"
#define H_SEMA_IMPORT "write `%s` at the top of the file"
#define H_SEMA_LANGUAGE "did you mean 'tl.%s', after `import triton.language as tl`?"
#define H_SEMA_DESCRIPTOR \
  "a tensor descriptor of the host has the type tensordesc<bf16[64,64]>: its elements and block"

/* arguments of the kernel */
#define E_SEMA_MISSING_ARG "the type of parameter '%s' is not given"
#define E_SEMA_MISSING_CONSTEXPR "the value of the constexpr '%s' is not given"
#define H_SEMA_MISSING_ARG "add it to --sig, as in %s=i32 or %s=*fp32"
#define H_SEMA_MISSING_CONSTEXPR "set it, as in -D %s=128"
#define H_SEMA_MISSING_TUNED \
  "set -D %s=...: a decorator in this file (autotune or heuristics) chooses it at run time"
#define E_SEMA_ARG_CONSTEXPR "'%s' is a constexpr: give its value (-D %s=...), not a type"
#define E_SEMA_ARG_FUNC "the file has no function or class '%s'"
#define E_SEMA_ARG_CLASS "'%s' is no class with fields"
#define E_SEMA_KERNEL_STAR "a kernel can't have the parameter '*%s'"
#define R_SEMA_KERNEL_STAR "write each parameter with a name of its own, or take a tuple"
#define E_SEMA_KERNEL_RETURN "a kernel returns no value: store it through a pointer"

/* names */
#define E_SEMA_UNDEFINED "'%s' is not defined"
#define R_SEMA_UNDEFINED \
  "assign it before, define it in the file, or make it a parameter of the kernel"
#define E_SEMA_PARTIAL "'%s' is set only on some paths to this use"
#define E_SEMA_CONFLICT "'%s' has different types on different paths: %s"
#define R_SEMA_CONFLICT \
  "convert both values to one dtype and shape before the paths meet, as by .to(tl.float32)"
#define E_SEMA_LOOP_LOCAL "'%s' is set only in a loop, which may have no iterations"
#define H_SEMA_PARTIAL "set '%s' before the branch as well"
#define H_SEMA_LOOP_LOCAL "set '%s' before the loop as well"
#define E_SEMA_UNKNOWN_NAME "%s has no '%s'"
#define R_SEMA_UNKNOWN_NAME "docs/builtins.md lists the names of the language"
#define E_SEMA_GLOBAL "'%s' has no value at compile time"
#define E_SEMA_GLOBAL_MAX \
  "'%s' can't be evaluated at compile time: references between names of the module take over " \
  "%d paths"
#define H_SEMA_GLOBAL_MAX "bind the names of the module in order, each to earlier ones"
#define E_SEMA_EXTERN "'%s' is not available in a kernel"
#define H_SEMA_EXTERN "for a function of another file, give the file's folder by --import-path"
#define H_SEMA_HOST_MODULE \
  "functions of %.*s are the host's: a kernel computes with those of triton.language"
#define H_SEMA_REMEDY "a kernel writes %s"
#define H_SEMA_LIST \
  "lists don't change in a kernel: make a longer tuple, xs = xs + (x,), in a loop over " \
  "tl.static_range, or compute with a tile"
#define H_SEMA_DICT "dicts don't change in a kernel: write another one"
#define H_SEMA_TILE_ITEMS \
  "compute with the whole tile, as in tl.sum(x), tl.max(x) and tl.sort(x), or load in a loop"
#define E_SEMA_OUTSIDE "'%s' is %s, which a kernel can't use"
#define H_SEMA_OUTSIDE "pass it to the kernel as an argument, or make it a tl.constexpr"
#define E_SEMA_OUTSIDE_ARG "argument '%s' is %s, which a kernel can't use"
#define H_SEMA_OUTSIDE_ARG \
  "kernels take tensors, NumPy's arrays, numbers, strings, and tuples of them"
#define E_SEMA_OUTSIDE_VALUE "the value of '%s' can't be evaluated: %s"
#define E_SEMA_OUTSIDE_TEXT "the text for '%s' does not define '%s'"
#define E_SEMA_HOST_CODE "'%s' is host code, which can't be evaluated in a kernel"
#define E_SEMA_FP8 \
  "type %s not supported in this architecture. The supported fp8 dtypes are float8e5, " \
  "float8e4nv and float8e4b15"
#define E_SEMA_NO_ATTRIBUTE "%s has no attribute '%s'"
#define R_SEMA_NO_ATTRIBUTE "docs/builtins.md lists the members of tiles, pointers and dtypes"
#define E_SEMA_METHOD "no method '%s' of %s takes these arguments"

/* calls */
#define E_SEMA_NOT_CALLABLE "%s can't be called"
#define E_SEMA_ARG_MISSING "'%s' lacks its argument '%s'"
#define E_SEMA_ARG_COUNT "'%s' takes %u positional arguments, not %u"
#define R_SEMA_ARG_COUNT "docs/builtins.md has the parameters of each function"
#define E_SEMA_ARG_ITEM \
  "'%s' is not an item here: a tuple is given as %s.0, %s.1 and so on, without gaps"
#define E_SEMA_ARG_AXIS "'%s' is not of a tensor descriptor with that axis"
#define E_SEMA_ARG_EXTENT "'%s' of a tensor descriptor is an integer"
#define E_SEMA_ARG_UNKNOWN "'%s' has no parameter '%s'"
#define E_SEMA_ARG_TWICE "'%s' is given its argument '%s' twice"
#define E_SEMA_KWARGS "** takes a dict, not %s"
#define E_SEMA_CLASS "the class '%s' can't be used in a kernel: it has no annotated fields"
#define E_SEMA_FIELD_TYPE "the field '%s' of %s is a %s, not %s"
#define E_SEMA_FIELD_NONE "%s has no field '%s'"
#define E_SEMA_FIELD_UNSET "__init__ of %s does not set the field '%s'"
#define E_SEMA_FIELD_FIXED "the field '%s' of %s can't be assigned here"
#define H_SEMA_FIELD_FIXED "make another object, as by tl.aggregate_replace(x, field=value)"
#define H_SEMA_FIELD_BRANCH "choose the value first, as by tl.where, then assign it"
#define E_SEMA_CALL_DEPTH "the calls of '%s' are nested more than %d deep: a kernel can't recurse"
#define R_SEMA_CALL_DEPTH "write a loop in place of the recursion"
#define E_SEMA_DEPTH "the kernel is nested too deep: more than %d levels"
#define E_SEMA_UNROLL_MAX "unrolled loops take more than %d steps"
#define R_SEMA_UNROLL_MAX \
  "write tl.range in place of tl.static_range, or let constexprs give fewer steps"
#define E_SEMA_MEMORY "compile-time evaluation exceeds %d MB of memory"
#define R_SEMA_MEMORY \
  "compute less at compile time: shorter loops over tl.static_range, smaller lists"
#define E_SEMA_ITEMS_MAX "compile-time evaluation exceeds %d items of lists and dicts"
#define R_SEMA_ITEMS_MAX "keep shorter lists and dicts, or compute with a tile"
#define E_SEMA_RETURN_TYPES "the values that '%s' returns have no common type: %s"
#define R_SEMA_RETURN_TYPES "convert the values to one dtype and shape before they are returned"
#define N_SEMA_OTHER_RETURN "the other return"
#define E_SEMA_RETURN_IN_LOOP \
  "a value can't be returned from inside a run-time loop: assign it to a variable, and break"

/* values known at compile time */
#define E_SEMA_NOT_CONSTEXPR "%s must be known at compile time, but is %s"
#define H_SEMA_CONSTEXPR "literals and parameters declared `NAME: tl.constexpr` are known then"
#define E_SEMA_WANTED "%s: expected %s, found %s"
#define E_SEMA_TOO_MANY "%s: at most %u are possible, not %u"
#define E_SEMA_INT_TOO_BIG "the integer %s does not fit 64 bits"
#define E_SEMA_LITERAL_TOO_BIG "the integer does not fit 64 bits"
#define E_SEMA_CONST_OVERFLOW "the result of this compile-time arithmetic is too large"
#define W_SEMA_DIVISION_BY_ZERO "the divisor of '%s' is 0 at compile time: the result is undefined"
#define E_SEMA_NEGATIVE_SHIFT "a shift by a negative amount"
#define E_SEMA_TUPLE_MAX "the sequence has more than %d items"
#define E_SEMA_VALUE_MAX "the sequence contains more than %d items, or is nested more than %d deep"
#define E_SEMA_STR_MAX "the string has more than %d characters"
#define E_SEMA_NOT_ITERABLE "%s can't be iterated over"
#define R_SEMA_NOT_ITERABLE \
  "loop over tl.range(...) and load an element or a block in each iteration"
#define H_SEMA_POINTER_LENGTH \
  "a pointer has no length: the number of elements is an argument of its own, as in range(n)"
#define H_SEMA_RANGE "range(n) counts from 0 to n - 1"
#define E_SEMA_EMPTY "%s() of an empty sequence"
#define E_SEMA_KEY "no item has the key %s"
#define E_SEMA_INDEX "index %lld is outside of %u items"
#define E_SEMA_SLICE_STEP "the step of a slice can't be 0"
#define E_SEMA_NO_ORDER \
  "%s of constants among which is NaN or -0.0, which compare otherwise at run time"
#define E_SEMA_STATIC_ASSERT "static_assert failed%s%s"
#define E_SEMA_ASSERT "assertion failed%s%s"
#define E_SEMA_RAISE "the kernel raises: %s"

/* statements */
#define H_SEMA_NO_TRY \
  "a kernel raises no exceptions: test the condition with `if`, a mask, or tl.device_assert"
#define E_SEMA_NOT_EXPRESSION "this expression is not supported in a kernel"
#define E_SEMA_ASSIGN_TARGET "can't assign to this in a kernel"
#define E_SEMA_ASSIGN_ITEM "can't assign to an item of %s"
#define H_SEMA_POINTER_ITEM \
  "pointers have no items: write tl.load(p + i) and tl.store(p + i, value)"
#define H_SEMA_ASSIGN_ITEM "tiles are values: choose elements with tl.where"
#define E_SEMA_UNPACK "%u values are expected here, not %u"
#define E_SEMA_UNPACK_KIND "can't unpack %s"
#define E_SEMA_CONDITION "%s can't be a condition"
#define E_SEMA_TILE_CONDITION "a condition must be a scalar, not %s"
#define H_SEMA_TILE_CONDITION \
  "choose by element with tl.where, or combine the elements, as in tl.max(x != 0)"
#define E_SEMA_IFEXP_TYPES "both values of a conditional expression must have one type: %s"
#define E_SEMA_LOOP_TYPE "the loop changes the type of '%s' from %s to %s"
#define H_SEMA_LOOP_FLOAT "start with a float: %s = 0.0"
#define H_SEMA_LOOP_SHAPE "give '%s' its shape before the loop: tl.zeros or tl.full of %s"
#define E_SEMA_LOOP_ELSE "`else` of a run-time loop with `break` is not supported"
#define E_SEMA_RANGE_BOUND "%s of a range must be an integer scalar, not %s"
#define E_SEMA_RANGE_STEP "the step of a range can't be 0"

/* types */
#define E_SEMA_NOT_RUNTIME "%s has no run-time value"
#define E_SEMA_OPERANDS "'%s' can't be applied to %s and %s"
#define E_SEMA_OPERAND_DTYPE "Expected dtype %s but got %s"
#define H_SEMA_OPERAND_FLOAT \
  "convert with x.to(tl.float32); a number known at compile time: x * 1.0"
#define E_SEMA_OPERAND "'%s' can't be applied to %s"
#define E_SEMA_NO_OPERATOR "'%s' is not defined on run-time values"
#define H_SEMA_POW "multiply, or use libdevice.pow"
#define H_SEMA_MATMUL "write tl.dot(a, b)"
#define E_SEMA_INT_ONLY "'%s' needs integers: invalid operands of type %s and %s"
#define H_SEMA_FLOORDIV "divide with '/' and round with tl.floor"
#define E_SEMA_FLOAT_ONLY "'%s' needs floats, not %s and %s"
#define E_SEMA_FDIV_APPROX "fdiv(approx=True) takes f32, not %s%s"
#define E_SEMA_SIGNEDNESS "'%s' of %s and %s mixes signed and unsigned integers"
#define H_SEMA_SIGNEDNESS "cast one operand, as in x.to(tl.int32)"
#define E_SEMA_NEGATIVE_UNSIGNED "the negative constant %s is combined with %s: cast one operand"
#define E_SEMA_OUT_OF_RANGE "the constant %s is out of range for %s"
#define E_SEMA_POINTER_OFFSET "%s is moved by an integer, not by %s"
#define E_SEMA_CAST "can't cast %s to %s"
#define E_SEMA_BITCAST "can't bitcast %s to %s: the widths are %u and %u bits"
#define E_SEMA_ROUNDING \
  "fp_downcast_rounding '%s' does not apply: rtne and rtz, from a float to a narrower float"
#define E_SEMA_INT_DTYPE "there is no integer dtype of %lld bits"

/* shapes */
#define E_SEMA_BROADCAST "cannot broadcast %s with %s: axis %d has %d and %d"
#define H_SEMA_BROADCAST_PAIRS \
  "x[:, None] and y[None, :] combine each element of x with each of y"
#define H_SEMA_BROADCAST_FIRST "axes are matched from the last one on: %s matches the first"
#define E_SEMA_BROADCAST_TO "cannot broadcast %s to %s"
#define E_SEMA_EXTENT "the shape %s has an extent of %lld"
#define E_SEMA_TILE_MAX "a tile of shape %s is too large: at most %d elements"
#define E_SEMA_ARANGE "arange(%lld, %lld): the end must be greater than the start, by at most %d"
#define E_SEMA_SCALAR "%s needs one element, not %s"
#define E_SEMA_AXIS "invalid axis %lld: the tile has %d"
#define E_SEMA_AXIS_TWICE "duplicate axes, normalized axes = %s"
#define E_SEMA_GRID_AXIS "%s axis must be 0, 1, or 2 but got %lld"
#define E_SEMA_SQUEEZE "axis %d of %s has extent %d, not 1"
#define E_SEMA_TRANS "trans needs two axes, %s has fewer"
#define E_SEMA_PERMUTE "permute needs each of the axes 0 to %d once, for %s"
#define E_SEMA_RESHAPE "cannot reshape %s, of %lld elements, to %s, of %lld"
#define E_SEMA_SPLIT "split needs a last axis of extent 2, %s has none"
#define E_SEMA_CAT "cannot concatenate %s and %s along axis %d"
#define E_SEMA_NO_SUBSCRIPT "%s can't be subscripted"
#define H_SEMA_LAUNCH "kernels are launched by the host, not by other kernels"
#define E_SEMA_INDEX_COUNT "too many indices for %s"
#define E_SEMA_TILE_INDEX "index %lld is outside axis %d of %s"
#define E_SEMA_RUNTIME_INDEX "tiles are indexed by constants, not by %s"
#define H_SEMA_RUNTIME_INDEX "use tl.gather, or load from memory at run-time offsets"
#define E_SEMA_SLICE_EMPTY "the slice is empty"
#define E_SEMA_SLICE_SCALAR "unsupported tensor index: %s has no axis to slice"

/* memory */
#define E_SEMA_NOT_POINTER "%s needs a pointer, not %s"
#define H_SEMA_NOT_POINTER "is the argument a pointer: *fp32 in --sig, an array for `nereid run`?"
#define E_SEMA_MASK "a mask must be of type i1, not %s"
#define E_SEMA_OTHER "`other` needs a `mask`"
#define E_SEMA_SCALAR_POINTER "a scalar pointer accesses one element, not %s"
#define E_SEMA_STORE_SHAPE "the pointers are of shape %s, but value and mask of %s"
#define E_SEMA_WORD "%s can't be %s, only %s"
#define E_SEMA_BLOCK_MASK "block pointers take boundary_check, not mask and other"
#define E_SEMA_BLOCK_BASE "make_block_ptr needs a scalar pointer and a block shape, not %s"
#define E_SEMA_BLOCK_RANK "%u entries for a block of rank %d"
#define E_SEMA_BLOCK_INDEX "sizes, strides and offsets are integer scalars, not %s"
#define E_SEMA_PAD_NAN "padding with nan needs a float, not %s"
#define E_SEMA_ATOMIC_TYPE "atomic_%s does not work on %s"

/* tiles as a whole */
#define E_SEMA_DOT_SHAPES \
  "dot of %s and %s: needs [M, K] and [K, N], both with one more axis at most"
#define E_SEMA_DOT_TYPES \
  "dot of %s and %s: both must be of one type, i8, f16, bf16, f32, f64 or f8, and with " \
  "input_precision bytes or pairs i32: cast one with .to()"
#define E_SEMA_DOT_BF16 "dot can't give bf16: take f32 and cast with .to(tl.bfloat16)"
#define E_SEMA_DOT_OUT "dot of %s gives f32, or f16 with out_dtype, not %s"
#define E_SEMA_DOT_ACC "the accumulator is %s, expected %s"
#define E_SEMA_DOT_PRECISION \
  "input_precision '%s' is unknown: ieee, tf32, tf32_rounded, tf32x3, bf16x3, bf16x6, bytes, pairs"
#define E_SEMA_SAME_SHAPE "%s: the tiles must have one shape, not %s and %s"
#define E_SEMA_REDUCE_SCALAR "%s needs a tile, not the scalar %s"
#define E_SEMA_COMBINE_COUNT "the combining function returns %u values, expected %u"
#define E_SEMA_COMBINE_TYPE "the combining function returns %s, expected %s"
#define E_SEMA_HISTOGRAM "histogram of %s with %lld bins: needs integers of rank 1, and bins"
#define E_SEMA_GATHER "gather from %s by %s along axis %d: needs integers, the other axes equal"
#define E_SEMA_HINT "%s: %u values for %s, expected %u"
#define E_SEMA_HINT_VALUE "%s must be positive, not %lld"
#define E_SEMA_FLOAT8 "%s converts float8e4b15 from and to float16 and float32, not %s to %s"
#define E_SEMA_CHOICE_EFFECT \
  "`%s` in an `if` of map_elementwise is not supported yet: both sides are computed for all " \
  "elements"
#define E_SEMA_EXTERN_TYPES "extern_elementwise: arg_type_symbol_dict has no symbol for (%s)"
#define E_SEMA_EXTERN_SYMBOL "the external function '%s' of (%s) is not available"
#define H_SEMA_EXTERN_SYMBOL \
  "those of NVIDIA's libdevice (__nv_...) are; others must be written as kernels"
#define E_SEMA_EXTERN_OPERANDS "the function '%s' of libdevice does not take (%s)"
#define E_SEMA_COMBINE_OP \
  "`%s` in a function that combines elements is not supported yet: it may compute, choose and " \
  "assert, with pure assembly for one element"
#define E_SEMA_WHOLE_TILE \
  "`%s` in a function of map_elementwise: it computes with single elements, and has no tiles"
#define E_SEMA_PACK \
  "map_elementwise: pack must be a power of two that divides the number of elements, %lld, not %lld"
#define E_SEMA_PACK_RESULTS \
  "map_elementwise: the function returns %u values, no multiple of pack, which is %u"
#define E_SEMA_PACK_TYPES \
  "map_elementwise: the values of a packed result have different types, %s and %s"
#define E_SEMA_MAP_NOTHING "map_elementwise: '%s' returns %s, not a value for each element"
#define H_SEMA_CHOICE_EFFECT "move it out of the `if`; stores, and atomics with a mask, may stay"
#define E_SEMA_FSTRING \
  "an f-string is evaluated at compile time, but this %s has its value at run time"
#define H_SEMA_FSTRING "print(\"text\", value) prints it"
#define E_SEMA_PRINT_PREFIX "the prefix of device_print must be printable ASCII, not %s"
#define E_SEMA_ASM_SHAPE \
  "inline assembly that is not pure takes tiles whose extents are powers of two, not %s"
#define E_SEMA_UNSUPPORTED "%s is not supported yet"
#define H_SEMA_GLUON \
  "Gluon's tiles, layouts and shared memory are; write what needs other instructions in " \
  "triton.language, which chooses them"

/* layouts */
#define E_SEMA_LAYOUT_KIND "a layout of threads is expected, as BlockedLayout, not %s"
#define E_SEMA_LAYOUTS "%s: the layouts differ: %s and %s"
#define H_SEMA_LAYOUTS "convert one of them, as in gl.convert_layout(x, layout)"
#define E_SEMA_LAYOUT_RANK "a tile of shape %s can't have the layout %s, which is of rank %lld"
#define E_SEMA_LAYOUT_LANES "the layout %s is for warps of %lld threads: a warp has 32"
#define E_SEMA_LAYOUT_CTAS \
  "the layout %s is for one thread block: programs of %d (num_ctas) can't have given layouts"
#define E_SEMA_LAYOUT_WARPS "the layout %s is for %lld warps, but the kernel has %d"
#define H_SEMA_LAYOUT_WARPS "set num_warps=%lld, or --num-warps %lld"
#define E_SEMA_LAYOUT_SLICE "expand_dims at axis %d needs a SliceLayout of that axis, not %s"
#define E_SEMA_SHARED_ELEMENTS "shared memory can't be used in a function of single elements"

/* decorators and what they choose */
#define E_SEMA_HOST_EXTERN "'%s' is available to Python only"
#define E_SEMA_HOST_STATEMENT "'%s' can be run by Python only"
#define E_SEMA_TUNED "the configurations of '%s' can't be evaluated without Python"
#define N_SEMA_TUNED_WHY "here: %s"
#define H_SEMA_TUNED "give the values to choose from:%s"
#define E_SEMA_TUNED_EMPTY "the list of configurations of '%s' is empty"
#define E_SEMA_TUNED_KIND "configurations are made by triton.Config, this is %s"
#define E_SEMA_TUNED_MAX "'%s' has more than %d configurations"
#define E_SEMA_TUNED_VALUE "'%s' can't have the value %s in a configuration"
#define E_SEMA_TUNED_OPTION "%s must be a positive integer, not %s"
#define W_SEMA_MISSING_RETURN \
  "'%s' returns a value here and nothing at its end: its result is undefined there"
#define W_SEMA_TUNED_NAME "the kernel has no parameter '%s': its configurations ignore it"
#define W_SEMA_TUNED_PRUNE \
  "the function that prunes the configurations of '%s' can't be evaluated: all are kept"
#define W_SEMA_TUNED_PRUNED_ALL \
  "the function that prunes the configurations of '%s' leaves none: all are kept"
#define W_SEMA_TUNED_HOOK "pre_hook of '%s' can't be evaluated, and is ignored"
#define E_SEMA_AUTO "no configurations of '%s' can be derived: no guesses of its constexprs compile"
#define E_SEMA_AUTO_MANY "'%s' has more than %d constexprs without a value: too many to guess"
#define E_SEMA_AUTO_NONE "no guess of the constexprs of '%s' fits the device"
#define E_SEMA_AUTO_PARAM "the constexpr '%s' can't be guessed: %s"
#define N_SEMA_AUTO_TEXT "it is not a number, or is a flag"
#define N_SEMA_AUTO_DTYPE "it is a dtype"
#define N_SEMA_AUTO_FEW "few values of it compile"
#define N_SEMA_AUTO_CODE "it unrolls or chooses code"
#define N_SEMA_AUTO_TILES "it shapes no tile"
#define N_SEMA_AUTO_STEPS "programs and loops don't step by it"
#define H_SEMA_AUTO "give its value, -D %s=..., or those to choose from, --space %s=V1,V2,..."
#define H_SEMA_AUTO_ALL "set the others with -D NAME=VALUE, or choose from:%s"
#define E_SEMA_HEURISTIC "the heuristic for '%s' can't be evaluated"
#define E_SEMA_HEURISTICS "the heuristics of '%s' can't be evaluated without Python"

#endif
