/* Graphs, their operators and types: E_GRAPH_. */
#ifndef NEREID_GRAPH_MESSAGES_H
#define NEREID_GRAPH_MESSAGES_H

/* graphs as text, and what is not supported */
#define E_GRAPH_TWICE "the name '%s' is taken: each name of a graph is assigned once"
#define E_GRAPH_ANNOTATION "'%s' is not a type: write \"f32[2, s0]\" or \"Sym(s0)\""
#define E_GRAPH_UNSUPPORTED "unsupported operators: %u, in %u node%s"
#define N_GRAPH_UNSUPPORTED "%s, in %u node%s, first %s%s"
#define H_GRAPH_OPERATOR "; did you mean %s?"
#define H_GRAPH_NO_ATEN "; torch.export gives graphs of ATen's operators"

/* archives and the tensors in them */
#define E_GRAPH_WEIGHT_TWICE "tensor %s appears twice in the file"
#define E_GRAPH_WEIGHT_LAYOUT "tensor %s: invalid sizes, strides or offset; save the model again"
#define E_GRAPH_WEIGHT_SHORT \
  "tensor %s needs %lld bytes, entry %s has %zu: save the model again, with real tensors"
#define E_GRAPH_WEIGHT_ALIGN \
  "tensor %s: entry %s is not aligned to %u bytes; save the model again with torch.export.save"
#define E_GRAPH_WEIGHT_TYPE "tensor %s does not fit parameter %s of type %s; export the model again"

/* calls of operators */
#define E_GRAPH_ARG_COUNT "%s takes %u positional arguments at most, not %u"
#define E_GRAPH_ARG_NAME "%s has no argument '%s'"
#define E_GRAPH_ARG_TWICE "argument '%s' of %s is given twice"
#define E_GRAPH_ARG_MISSING "%s lacks its argument '%s'"
#define E_GRAPH_ARG_KIND "argument '%s' of %s must be %s, not %.60s"
#define H_GRAPH_SCHEMA "%s is declared as %s"

/* types of results */
#define E_GRAPH_INFER "%s = %s: %s"
#define E_GRAPH_INPUT_TYPE \
  "input %s has no type: give INPUT.npy for it (--weights for a parameter), or annotate it, as " \
  "in %s: 'f32[2, 3]'"
#define E_GRAPH_TYPE_DIFFERS "%s is annotated %s, but is %s"
#define E_GRAPH_OPEN_SIZE "size %s is unknown: no input and no earlier value has its symbols"
#define E_GRAPH_GETITEM "getitem takes a list and a literal index"
#define E_GRAPH_HUGE \
  "%s overflows 64 bits, or has too long an expression: export with smaller sizes, or fixed " \
  "ones"
#define E_GRAPH_ITEM "index %lld is out of range for %u items"
#define E_GRAPH_NO_TENSOR "'%s' must be a tensor"
#define E_GRAPH_NO_DTYPE "dtype torch.%s is not supported"
#define E_GRAPH_COMPLEX_LEFT \
  "pass %s takes real numbers only, and %s is complex; run split_complex before it"
#define E_GRAPH_COMPLEX_PARTS "parts of complex numbers are f32 or f64, not %s"
#define E_GRAPH_COMPLEX_WANTED "%s is not complex"
#define E_GRAPH_TRANSFORM "a Fourier transform of %s elements"
#define E_GRAPH_TRANSFORM_SIZES "%u sizes for %u axes"
#define E_GRAPH_SHORT_TRANSFORM "n_fft %lld, hop_length %lld and win_length %lld do not go together"
#define E_GRAPH_STFT "it is supported with return_complex=True, and without align_to_window"
#define E_GRAPH_ROI \
  "sampling_ratio %lld for %lld by %lld elements is not supported; give one of 1 to 1024"
#define E_GRAPH_DEFORM "%lld groups and %lld of offsets do not divide %lld channels"
#define E_GRAPH_FACTORS "it is supported without check_errors"
#define E_GRAPH_QR_MODE "mode is reduced, complete or r, not '%s'"
#define E_GRAPH_REFLECTIONS "%s reflections of %s vectors"
#define E_GRAPH_MATRIX_FUNCTION "there is no function '%s' of %u such sizes"
#define E_GRAPH_INNER_TILES "weights are packed in 2, 4 or 8 tiles along k, not %lld"
#define E_GRAPH_GROUP_SIZE "a group has 32, 64, 128 or 256 elements, not %lld"
#define E_GRAPH_BLOCKS "a block of %u axes for a tensor of %u"
#define E_GRAPH_MAPPING \
  "parameters are chosen SYMMETRIC or ASYMMETRIC and so that 0 stays 0, not %s"
#define E_GRAPH_DTYPE_WANTED "a tensor of %s is expected, not %s"
#define E_GRAPH_COMPLEX "it is not supported for complex numbers"
#define E_GRAPH_LITERAL "'%s' must be a literal number, not %s"
#define E_GRAPH_RANK "more than %d axes"
#define E_GRAPH_AXIS "axis %lld is out of range for rank %u"
#define E_GRAPH_AXIS_TWICE "axis %lld is given twice"
#define E_GRAPH_AXES "a tensor of %u to %u axes is expected, not %s"
#define E_GRAPH_AXES_EXACT "a tensor of rank %u is expected, not %s"
#define E_GRAPH_REDUCTION "reduction must be 0 (none), 1 (mean) or 2 (sum), not %lld"
#define E_GRAPH_NEGATIVE "the result would have a negative size: %s"
#define E_GRAPH_SIZES "%s must be equal, not %s and %s"
#define E_GRAPH_DIVIDE "%s is not a multiple of %lld"
#define E_GRAPH_FIXED "axis %u of %s must have a fixed size: export the model with one"
#define E_GRAPH_BROADCAST "%s does not broadcast with %s: %s is not %s"
#define E_GRAPH_FITS "%s cannot be expanded to %s"
#define E_GRAPH_PROMOTE "%s and %s have no common dtype: cast one of them"
#define E_GRAPH_SAME_DTYPE "both must be of one dtype, not %s and %s"
#define E_GRAPH_NEEDS_FLOAT "floats are needed, not %s"
#define E_GRAPH_NEEDS_INTEGER "integers are needed, not %s"
#define E_GRAPH_NO_BOOL "it is not defined on bools: use logical_not or logical_xor"
#define E_GRAPH_BOOLS "it is not defined on bools"
#define E_GRAPH_IN_PLACE "a result of %s cannot be written to a tensor of %s"
#define E_GRAPH_CONDITION "the condition must be of bools, not of %s"
#define E_GRAPH_ROUNDING "rounding_mode is 'floor' or 'trunc', not '%s'"
#define E_GRAPH_STRIDES "%u strides for %u sizes"
#define E_GRAPH_OUTSIDE "element %s may be out of the bounds of %s"
#define E_GRAPH_NARROW "%s elements from index %lld exceed axis %u of %s"
#define E_GRAPH_CLAMP "one of min and max must be given"
#define E_GRAPH_RESHAPE "%s does not have the elements of %s"
#define E_GRAPH_HOLES "more than one size is -1: %s"
#define E_GRAPH_FLATTEN "axis %u is after axis %u"
#define E_GRAPH_REPEAT "%u repetitions for %s, which has more axes"
#define E_GRAPH_PERMUTE "%u axes for %s"
#define E_GRAPH_SEGMENTS \
  "segments are given by 'lengths' or by 'offsets', and reduced by sum, mean, prod, max or min"
#define E_GRAPH_STEP "a step, a part or a factor must be positive, not %lld"
#define E_GRAPH_INDEX "index %lld is outside of axis %u of %s"
#define E_GRAPH_INDICES "%u indices do not fit %s, or are all None"
#define E_GRAPH_WEIGHTS "weights %s are not one for each element of %s"
#define E_GRAPH_RANDOM \
  "'%s' is not a distribution of random numbers: uniform, normal, bits or bits64"
#define E_GRAPH_DRAW "seeds and counters of random numbers must be integers, not of %s"
#define E_GRAPH_INDEX_DTYPE "indices must be of i64 or i32, not of %s"
#define E_GRAPH_PARTS "the result has %lld parts: at most %d are supported"
#define E_GRAPH_NORM_ORDER \
  "the norm of a matrix has two axes and the order 1, 2, inf, -1, -2, -inf, 'fro' or 'nuc'"
#define E_GRAPH_EMPTY_LIST "the list of tensors is empty"
#define E_GRAPH_CAT "%s and %s differ in axes other than %u"
#define E_GRAPH_PAD "%u sizes of padding do not fit %s"
#define E_GRAPH_REFLECT "a padding of %s is not below the size %s that it reflects"
#define E_GRAPH_NOTHING "no elements to choose from along axis %u of %s"
#define E_GRAPH_TOPK "k = %s is more than %s has along axis %u"
#define E_GRAPH_WEIGHT "%s is %s, but %s is normalized"
#define E_GRAPH_EINSUM "the equation '%s' does not fit the tensors"
#define E_GRAPH_HEADS "the heads of %s are not a multiple of those of %s"
#define E_GRAPH_OFFSETS \
  "groups of a matrix need 'offs', their ends, and two batches of matrices have none"
#define E_GRAPH_OFFSETS_DTYPE "'offs' has dtype %s: i32 is needed"
#define E_GRAPH_GROUPED_BIAS "products of groups have no bias, and their result has no scale"
#define E_GRAPH_GROUPED_DTYPE "these products of groups are of floats of %s, not of %s"
#define E_GRAPH_SCALES_SHAPE \
  "scales of %s and %s: products of %s by %s take one for each operand, one for each row and " \
  "column, or one for blocks of 1 by 128 or 128 by 128 elements"
#define E_GRAPH_SCALE_RECIPE \
  "'%s' is no single scale of the whole, of rows, or of blocks of 1 by 128 or 128 by 128 elements"
#define E_GRAPH_SCALES_DTYPE "scales have dtype %s: f32 is needed"
#define E_GRAPH_PER_AXIS "'%s' has %u items: one, or %u are needed"
#define E_GRAPH_PADDING "padding is 'same' or 'valid', not '%s'"
#define E_GRAPH_POOL_PADDING "the padding %s must be from 0 to half of the window, which is %s"
#define E_GRAPH_RNN_KIND "a recurrent layer's kind is 'tanh', 'relu', 'gru' or 'lstm', not '%s'"
#define E_GRAPH_RNN_PARAMS "%u weights or states are given; %u are needed"
#define E_GRAPH_WINDOW "the window of %s is larger than the padded size of %s"
#define E_GRAPH_SAME_STRIDE "padding 'same' needs strides of 1"
#define E_GRAPH_RESIZE "one of output_size and scale_factors must be given"
#define E_GRAPH_NO_AXIS "axis %u of %s must not be empty"
#define E_GRAPH_SCALE "a scale must be positive and below 2^24, not %g"
#define E_GRAPH_ARANGE "the range would have %g items"
#define E_GRAPH_ITEM_OF "item() needs one element, not %s"
#define E_GRAPH_ASSERTION "the assertion never holds: %s"

/* passes on graphs */
#define E_GRAPH_LISTS "the lists have %u and %u items, those of '%s'"
#define E_GRAPH_MASK "output_mask has no item %u"
#define E_GRAPH_BLOCK_SIZE "blocks of %lld rows or keys: their size must be positive"
#define E_GRAPH_READ_GRADIENTS "%u tensors are read, at %u places, and have %u gradients"
#define E_GRAPH_PART "its operand must be a %s, whose kernel computes it"
#define E_GRAPH_NOT_FUNCTIONAL \
  "%s: %s writes in place; run pass functionalize before pass %s"

/* plans, and running them */
#define E_GRAPH_OUTPUT_KIND \
  "output %s is neither a tensor nor a size; return a tensor from the model in its place"
#define E_GRAPH_LOOP_TEST "the condition of a loop is a bool without axes, not %s"
#define E_GRAPH_LOOP_COUNT \
  "%u carried values, but %u of the next iteration; a loop has at least one"
#define E_GRAPH_LOOP_CARRIED \
  "carried value %u is %s at first and %s after an iteration; real values of one type are supported"
#define E_GRAPH_LOOP_RANDOM \
  "%s: %s draws the same random numbers in each iteration of a loop that data ends; draw them " \
  "before the loop"
#define E_GRAPH_LOOP_SIZE \
  "%s: %s in a loop that data ends: its data decides a size, which is supported outside of loops"
#define E_GRAPH_NO_LIBRARY "there is no library function %s"

#endif
