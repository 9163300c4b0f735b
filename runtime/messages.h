/* Messages of the runtime: E_RUN_ of compiling, arguments, devices, files and databases, E_TUNE_ of
 * the tuner. */
#ifndef NEREID_RUNTIME_MESSAGES_H
#define NEREID_RUNTIME_MESSAGES_H

#define E_RUN_NULL "%s: argument %s is NULL"
#define E_RUN_NO_DIAGNOSTIC "part %d of a message of %d"
#define E_RUN_NO_SOURCE "the source has neither a path nor text in memory"
#define E_RUN_SOURCE_PLACE \
  "the text in %s is said to begin at line %d, column %d: each may be 0 to %d"
#define E_RUN_LOOKUP "the lookup of '%s' failed"
#define E_RUN_LOOKUP_KIND "the lookup of '%s' gave a name of kind %d, which does not exist"
#define E_RUN_LOOKUP_TEXT "the lookup of '%s' gave a name of kind %d without its text"

/* files */
#define E_RUN_INTERNAL "internal error%s%s, at %s:%d: %s"
#define N_RUN_INTERNAL \
  "this is a fault of Nereid, not of your program; please report it with this message"
#define N_RUN_VERSION "version %s (%s)"
#define N_RUN_REPEAT "repeat it by: nereid compile"
#define E_RUN_COMPILE_MEMORY \
  "compilation exceeds %zu MiB, in %s: the kernel is too long, or unrolls too much"
#define E_RUN_COMPILE_STEPS \
  "compilation exceeds %g million steps, in %s: the kernel is too long, nests too deep, or " \
  "unrolls too much"
#define N_RUN_COMPILE_LINE "%llu of the kernel's %llu operations come from this line"
#define H_RUN_COMPILE_LIMIT \
  "split the kernel, replace tl.static_range by tl.range, or use smaller blocks"
#define E_RUN_FILE_OPEN "can't open %s: %s"
#define E_RUN_FILE_WRITE "can't write %s: %s"
#define E_RUN_FILE_FOLDER "%s is a folder, not a file%s"
#define H_RUN_FILE_FOLDER ": name a file in it, as %s"
#define H_RUN_FILE_KINDS \
  ": kernels are in Python files, models in files of torch.export.save or ONNX, or graphs as text"
#define E_RUN_FILE_NO_FOLDER "can't write %s: there is no such folder"
#define E_RUN_FILE_LARGE "%s is too large for %s (more than %d MiB)"

/* requests: kernels, options and targets */
#define E_RUN_UNKNOWN_TARGET "unknown target `%s`%s; targets are %s"
#define E_RUN_PASS_NOT_RUN "pass `%s` was not run here; the passes of %s are %s"
#define E_RUN_UNKNOWN_PASS "unknown pass `%.*s`; passes are %s"
#define E_RUN_UNKNOWN_KIND "%d is not a kind of code"
#define E_RUN_ASSERT "%s, in program (%u, %u, %u)"
#define E_RUN_OPTION_CHOICE "%s must be one of %s, not %d"
#define E_RUN_OPTION_RANGE "%s must be from %d to %d, not %d"
#define E_RUN_LANGUAGE "'%s' is no version of the language: 3.6 or 3.9"
#define E_RUN_BAD_TYPE \
  "%s=%s is not a type: write fp32, *bf16, i32:16 (divisible by 16), i32:1 (is 1), none, " \
  "or 3:constexpr"
#define E_RUN_BAD_DESCRIPTOR "type of argument %s: `%s`: %s"
#define E_RUN_DIVISOR_OF "only integers and pointers have a divisor: %s=%s"
#define E_RUN_CONSTEXPR_BIG "%s=%s does not fit 64 bits with a sign"
#define E_RUN_ARG_TWICE "argument %s is given twice"
#define E_RUN_DECORATORS_IR "IR text has a fixed configuration and can't be tuned"
#define E_RUN_UNKNOWN_PARAM "kernel %s has no parameter %s%s"
#define R_RUN_UNKNOWN_PARAM "`nereid list FILE` prints the parameters of each kernel"
#define E_RUN_IR_ARGS "the arguments of IR text are fixed: leave out %s"
#define E_RUN_IR_OPTIONS \
  "the IR text was scheduled for %s with num_warps %d and num_stages %d; leave these options out"
#define E_RUN_IR_PAST "the IR text is at a later stage"
#define E_RUN_KIND_TARGET "%s can't be made for target %s: c needs --target cpu, others a GPU"
#define E_RUN_MANY_PARAMS "the kernel has %d run-time parameters; at most %d are possible"
#define R_RUN_MANY_PARAMS "pass several values in one array, or make some of them constexprs"

/* images */
#define E_RUN_NO_PARAM "parameter %d does not exist in kernel %s"
#define E_RUN_NO_VARIANT "variant %d does not exist in kernel %s"
#define E_RUN_IMAGE_PARAMS "images of %s and %s can't be joined: their parameters differ"
#define E_RUN_IMAGE_FILE "%s is not an image, or is damaged: compile it again"
#define E_RUN_NO_FITTING "the image of %s has no code for %s (%s)"
#define R_RUN_NO_FITTING "compile the kernel for the device's target too: --target"

/* expressions */
#define E_RUN_EXPR "expression `%.*s%s`: %s at column %d"
#define E_RUN_EXPR_NAME "expression `%.*s`: unknown integer %s%s"
#define E_RUN_EXPR_VALUE "expression `%.*s` divides by zero or does not fit 64 bits"

/* arguments */
#define E_RUN_ARG_KIND "argument %s is of type %s, not %s"
#define E_RUN_ARG_RANGE "argument %s: %lld does not fit %s"
#define E_RUN_ARG_MISSING "argument %s of kernel %s has no value"
#define E_RUN_ARG_TYPE "argument %s is of type %s, the value of type %s"
#define E_RUN_ARG_CONSTEXPR "%s is a constexpr: give it by -D %s=%s"
#define E_RUN_ARG_RUNTIME "%s is no constexpr: write %s=%s"
#define E_RUN_ARG_RUNTIME_TYPE "%s is no constexpr: give its type instead of a value, --sig %s=i32"
#define E_RUN_ARG_ALIAS "argument %s names &%s, which is not an array argument"
#define E_RUN_VALUE_SLICE "%s is not of the form &NAME[START:] with a START of 0 or more elements"
#define E_RUN_ARG_BEYOND "argument %s begins at element %lld of %s, which has %lld"
#define E_RUN_ARG_NEEDED "kernel %s needs argument %s: give %s=VALUE"
#define E_RUN_TENSOR_DEVICE "the tensor for %s is not in the memory of %s"
#define R_RUN_TENSOR_DEVICE "move the tensor to that device first, as by x.to(device)"
#define E_RUN_TENSOR_DTYPE "the tensor for %s is not of dtype %s"
#define R_RUN_TENSOR_DTYPE "convert the tensor, or compile the kernel for its dtype"
#define E_RUN_TENSOR_RANK "the tensor descriptor %s has %d axes, the tensor for it %d"
#define E_RUN_GUARD \
  "kernel %s was specialized for %s, which is false for these arguments: compile it for them"

#define E_RUN_MAP \
  "kernel `%s` was compiled for tensors whose rows begin at multiples of 16 bytes; compile it " \
  "with no_tensor_maps"
#define E_RUN_NO_MAPS \
  "the GPU driver is too old for tensor maps: it lacks cuTensorMapEncodeTiled; update it"
#define E_RUN_ALIAS \
  "arguments %s and %s may alias: kernel %s was compiled for arguments that do not; compile it " \
  "from its source, or with accesses in order"

/* grids */
#define E_RUN_GRID_ZERO "a grid has at least one program on every axis; this one is %u x %u x %u"
#define E_RUN_GRID_MAP "the grid expression `%s` gives %lld"
#define E_RUN_GRID_PROGRAMS \
  "the grid %u x %u x %u has more programs than this device can count (%u)"
#define R_RUN_GRID_PROGRAMS "take larger blocks, so that the grid has fewer programs"
#define E_RUN_GRID_NONE "give the number of programs by --grid X[,Y[,Z]]"
#define E_RUN_GRID_AXES "a grid has at most three axes: `%s`"
#define E_RUN_GRID_EXTENT "the grid entry `%s` is %lld: it must be from 1 to 4294967295"

/* arrays and other values */
#define E_RUN_ARRAY_LARGE "the array is too large"
#define E_RUN_ARRAY_MISFIT "values of dtype %s do not all fit %s"
#define E_RUN_NPY_KERNEL "%s is a NumPy array: name the kernel file first, arrays as NAME=@%s"
#define E_RUN_NPY_MAGIC "%s is not a .npy file"
#define E_RUN_NPY_HEADER "%s: the NumPy header is malformed"
#define E_RUN_NPY_DTYPE "%s: NumPy dtype %s is not supported; convert it with astype"
#define E_RUN_NPY_BIG_ENDIAN "%s: dtype %s is big-endian; convert it with astype"
#define E_RUN_NPY_FORTRAN \
  "%s is in Fortran order; save numpy.ascontiguousarray of it instead"
#define E_RUN_NPY_SHORT "%s is truncated: its header declares %lld bytes of elements, it has %lld"
#define E_RUN_NPY_LONG "%s is too long: its header declares %lld bytes of elements, it has %lld"
#define E_RUN_BAD_VALUE "value `%s`: %s"
#define E_RUN_DESCRIPTOR_DTYPE "the descriptor's elements are %s, the array's %s"
#define E_RUN_DESCRIPTOR_BASE \
  "the base of a descriptor is aligned to 16 bytes; %lld bytes into an array it is not"
#define E_RUN_DESCRIPTOR_OFFSET \
  "a part of an array has no shape of its own: give :shape=[...] and :strides=[...]"
#define E_RUN_DESCRIPTOR_RANK \
  "the array has %d axes, the block %d: give :shape=[...] and :strides=[...], or another block"
#define E_RUN_DESCRIPTOR_LAST "the last stride of a descriptor is 1, not %lld"
#define E_RUN_DESCRIPTOR_STRIDE \
  "all strides of a descriptor but the last are multiples of 16 bytes; %lld elements of %s are not"
#define E_RUN_DESCRIPTOR_EXTENT "the extents of a descriptor are 1 to 2147483647, not %lld"
#define E_RUN_DESCRIPTOR_BEYOND \
  "the descriptor's shape and strides lead beyond the end of the array"
#define E_RUN_NUMBER_MISFIT "the number %g does not fit %s"
#define E_RUN_VALUE_CAST "the value can't be cast to %s"
#define E_RUN_NO_ARRAY "the value is not an array"
#define E_RUN_VALUE_TYPE "a reference to another argument has the type of that argument"

/* the log */
#define W_RUN_LOG "NEREID_LOG has no level or topic %s"

/* databases and records */
#define N_RUN_DATABASE_DAMAGED "%s %s is damaged; it was renamed to %s, and a new one was created"
#define N_RUN_DATABASE_UNUSABLE "%s %s can't be used (%s): %s; see NEREID_CACHE_DIR"
#define N_RUN_DATABASE_READ_ONLY \
  "%s %s is read-only: new entries are not kept; see NEREID_CACHE_DIR"
#define N_RUN_DATABASE_NEWER \
  "%s %s was written by a newer version of Nereid (its format is %d, this one reads %d) and is " \
  "not used: update Nereid, or name another folder with NEREID_CACHE_DIR"
#define E_RUN_CACHE_OFF \
  "the cache is disabled, because NEREID_CACHE_DIR is empty: set it to a folder"
#define E_RUN_RECORDS_OFF \
  "records are disabled, because NEREID_CACHE_DIR is empty: set it to a folder"
#define E_RUN_RECORDS_HEAD \
  "this is not a file of records: its first line must be `nereid records 1`, as written by " \
  "`nereid records export`"
#define E_RUN_RECORDS_FORMAT \
  "the records are in format %d of a newer version of Nereid, this one reads format %d: update it"
#define E_RUN_RECORDS_STATUS "`%s` is none of ok, compile, resources, timeout, fault and wrong"
#define E_RUN_RECORDS_OK "a record with status ok needs one run or more and a time above 0"
#define E_RUN_MEASUREMENT \
  "the measurement of configuration `%s` is none: status ok needs a time above 0 and one run or " \
  "more; none is negative, and pruned is no result"
#define E_RUN_MEASUREMENT_KEY "the measurement of configuration `%s` has no key"
#define E_RUN_RECORDS_HASH "a hash has %d hexadecimal digits"
#define E_RUN_RECORDS_TIME "a time is written as in \"2026-01-31T23:59:59Z\""

/* compilers of C, assemblers */
#define E_RUN_NEREID_CPU \
  "NEREID_CPU=%s is no CPU that this machine can be: write cpu:4, or up to %s"
#define E_RUN_NEREID_THREADS "NEREID_THREADS=%s is not a number of threads: write 1 to %d"
#define E_RUN_TEMP "can't create a folder in %s: %s; set TMPDIR to another folder"
#define E_RUN_NO_CC "no C compiler found for device cpu: install gcc or clang, or set CC to one"
#define E_RUN_CC_FAILED "%s could not compile kernel %s:\n%s"
#define E_RUN_TOOL_NOTHING "%s wrote no file and reported no error: is it %s?"
#define E_RUN_DLOPEN "the compiled kernel can't be loaded: %s"
#define E_RUN_PTXAS "%s failed:\n%s"
#define E_RUN_NO_PTXAS \
  "no ptxas to assemble with, and no GPU driver: install NVIDIA's ptxas, or set NEREID_PTXAS to it"
#define E_RUN_NO_ASSEMBLER \
  "no ptxas to assemble with: install NVIDIA's ptxas, or set NEREID_PTXAS to it"
#define E_RUN_SOURCE_TARGET "a C source holds code for GPUs; the image of %s has %s code"
#define E_RUN_SOURCE_ALIAS \
  "the code of %s takes arguments for disjoint that may overlap: compile it with alias ORDERED, " \
  "or DISJOINT if they never do"
#define E_RUN_SOURCE_SCRATCH "kernel %s needs scratch memory, which a C source doesn't provide"
#define E_RUN_SOURCE_NAME "`%s` is no name of a C function"
#define E_RUN_NOTHING_TO_ASSEMBLE "the image of %s has no PTX that %s can run"
#define E_RUN_CUBIN_TARGET \
  "the driver can't assemble for %s, only for its own %s: install NVIDIA's ptxas"

/* devices */
#define E_RUN_UNKNOWN_DEVICE "unknown device `%s`; devices are cuda, cuda:1 ..., cpu, nest, interp"
#define E_RUN_HOST_MEMORY "out of memory: %zu MiB requested, %zu MiB free"
#define E_RUN_NO_SCRATCH "the caller's allocator gave no memory for %zu bytes of scratch"
#define E_RUN_SCRATCH "%lld bytes of scratch memory can't be allocated"
#define E_RUN_CUDA "%s: %s (%s)%s%s"
#define E_RUN_CUDA_FORKED \
  "this process was forked from one that uses the GPU, and can't use it: start it by spawn, or " \
  "open the device in it alone"
#define E_RUN_NO_LIBCUDA \
  "no GPU driver: %s can't be loaded (%s); install NVIDIA's driver, or use device cpu"
#define E_RUN_LIBCUDA_OLD "the GPU driver is too old: %s lacks %s; update it"
#define E_RUN_NO_LIBRARY \
  "%s: the library %s is not here, or can't be used on %s: install it, name its folder in " \
  "NEREID_LIBRARY_PATH, or compile the model without libraries"
#define E_RUN_LIBRARY_CALL \
  "%s has no product of %lld x [%lld, %lld] by k = %lld in %s: %s; compile the model without " \
  "libraries"
#define E_RUN_LIBRARY_CONVOLUTION \
  "%s has no convolution of [%lld, %lld, %lld, %lld] by %lld windows of %lld x %lld in %s: %s; " \
  "compile the model without libraries"
#define E_RUN_LAUNCH_FLAGS "%u has flags that no launch has"
#define E_RUN_NO_LAUNCH_FLAGS \
  "the GPU driver is too old for launch flags: it lacks cuLaunchKernelEx; update it"
#define E_RUN_GPU_OLD "%s (compute capability %d.%d) is too old: the minimum is 8.0"
#define E_RUN_NO_ORDINAL "there is no device cuda:%d; this machine has %d, counted from 0"
#define E_RUN_CUDA_MEMORY "out of memory on %s: %zu MiB requested, %zu MiB of %zu MiB free"
#define E_RUN_SHARED \
  "kernel %s needs %lld bytes of shared memory, %s has %lld: use smaller blocks or fewer stages"
#define E_RUN_COOPERATIVE \
  "kernel %s: %u x %u x %u programs can't all run at once on device cpu, which has threads for " \
  "%d: launch fewer, or without the flag of cooperative launches"
#define E_RUN_INTERRUPTED "kernel %s was interrupted: its programs waited for others"
#define W_RUN_WAITS \
  "kernel %s: program (%u, %u, %u) has waited for %d s at %s; device interp tells whether " \
  "what it waits for can come"
#define N_RUN_TF32 \
  "%s:%u: products of f32 round their operands to TF32 here, as on a GPU; device cpu doesn't, " \
  "nor does any with --input-precision ieee (Python: knobs.language.fp32_default)"
#define E_RUN_FAULT \
  "a fault while kernel %s ran on device cpu: NEREID_DEBUG=1 (debug=True) checks each access, " \
  "and device interp names the element"
#define E_RUN_OUTSIDE \
  "kernel %s accesses %lld bytes of argument `%s`, which has %lld: device interp names the element"
#define E_RUN_GRID_LIMIT "the grid's %c extent %llu exceeds the limit of %s, %d"
#define E_RUN_THREADS "kernel %s needs %d threads a program, %s has at most %d: use fewer warps"

#define E_RUN_TIMER_END "nereid_timer_end: there was no nereid_timer_begin"

/* ---- the tuner ---- */

#define E_TUNE_WORKER_BUILD \
  "the worker that measures kernels has another version than %s: set NEREID_PROGRAM to a " \
  "program of this version"
#define E_TUNE_WORKER_START "the worker that measures kernels could not be started: %s"
#define E_TUNE_WORKER_SIGNAL "the worker that measures kernels was terminated: %s"
#define E_TUNE_WORKER_EXIT "the worker that measures kernels exited with status %d"
#define E_TUNE_TIMEOUT "the timeout expired"
#define N_TUNE_SPILLS "%d bytes per thread are spilled"
#define E_TUNE_WRONG "its results differ from those of most others"
#define E_TUNE_TIME_UP "the budget is used up"
#define E_TUNE_UNMEASURED "not measured"
#define E_TUNE_SLOW "pruned by the cost model"
#define E_TUNE_HANG "a kernel hangs in this process, which can't continue: terminate it"
#define E_TUNE_DEVICE "device %s can't be tuned for: use cuda or cpu"
#define E_TUNE_SPACE "kernel %s has nothing to tune: name a constexpr by --space NAME=V1,V2,..."
#define E_TUNE_SPACE_EMPTY "the space of %s has no values"
#define E_TUNE_SPACE_NAME "%s is no constexpr of kernel %s%s"
#define E_TUNE_SPACE_OPTION "%s takes whole numbers from 1 to %d, not `%s`"
#define E_TUNE_SPACE_FIXED "%s is fixed by -D and has a space as well: drop one"
#define E_TUNE_SPACE_TWICE "%s has a space already"
#define E_TUNE_SPACE_LARGE "the space has more than %d configurations: narrow it"
#define E_TUNE_NONE "no configuration of kernel %s runs:%s"
#define H_TUNE_CHECK "`nereid run` with --device interp finds accesses out of bounds and conflicts"
#define N_TUNE_DISAGREE                                                     \
  "%d of %d configurations of kernel %s gave other results than the best: " \
  "it may depend on them, or race; " H_TUNE_CHECK
#define N_TUNE_FEW "it was measured in %d run%s"
#define N_TUNE_WIDE "the interquartile range of its runs is %.0f%%"
#define N_TUNE_FAR "the cost model predicts %.4g us"
#define N_TUNE_UNSURE                                                            \
  "the best time of kernel %s is uncertain: %s took %.4g us, but %s; %s measures it again"
#define N_TUNE_UNSURE_MANY                                                                \
  "the best times of %zu of %zu kernels are uncertain, among them %s: %s measures them again; " \
  "NEREID_LOG=tune names all"
#define N_TUNE_PASSED_OVER \
  "for kernel %s, %s may be faster than the chosen configuration: it took %.4g us, but %s; %s " \
  "measures it again"
#define N_TUNE_ALONE \
  "kernels are measured in this process, which a kernel that hangs or faults ends: the program " \
  "nereid was not found; NEREID_PROGRAM can name it"

#endif
