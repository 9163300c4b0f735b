/* The variables of the environment that the program and the library read, for docs/environment.md
 * and the manual.  Texts are Markdown.
 *
 * X(name, meaning) */
#ifndef NEREID_RUNTIME_SUPPORT_ENVIRONMENT_H
#define NEREID_RUNTIME_SUPPORT_ENVIRONMENT_H

#define ENVIRONMENT(X) \
  X(NEREID_CACHE_DIR, \
    "the folder of the cache of compiled code and of the [records](records.md). Set to " \
    "nothing, both are off. Without it: `$XDG_CACHE_HOME/nereid`, else " \
    "`$HOME/.cache/nereid`") \
  X(NEREID_CACHE_LIMIT, \
    "the most that the entries of the cache may take: `500M`, `2G`, or `0` for no " \
    "limit. Without it: the limit set by `nereid cache limit`, else `1G`. A write that " \
    "exceeds it removes the least recently used") \
  X(XDG_CACHE_HOME, "see `NEREID_CACHE_DIR`; it counts where it is an absolute path") \
  X(HOME, "see `NEREID_CACHE_DIR`") \
  X(NEREID_CPU, \
    "the CPU that device `cpu` plans and compiles for, as a part of the one at hand: `cpu:4`, " \
    "`cpu:8` (AVX2), `cpu:16` (AVX-512 without AMX). To measure, or to find faults of one width; " \
    "PyTorch and its libraries have variables of their own. In programs that `nereid build` made " \
    "for several CPUs: whose kernels run") \
  X(NEREID_THREADS, "threads of device `cpu`, and of programs that `nereid build` made for CPUs") \
  X(OMP_NUM_THREADS, "the same by its first number, where `NEREID_THREADS` is not set. Functions of `torch.compile` then have no more threads than `torch.get_num_threads()`") \
  X(CC, \
    "the C compiler for device `cpu`; further words are options. Without it: `cc`, `gcc` " \
    "or `clang` of the path") \
  X(NEREID_PTXAS, \
    "NVIDIA's assembler; set to nothing, there is none. Without it: `ptxas` of the path, " \
    "of `$CUDA_HOME/bin`, of `/usr/local/cuda/bin`") \
  X(CUDA_HOME, "see `NEREID_PTXAS`") \
  X(PATH, "folders searched for compilers and assemblers") \
  X(TMPDIR, \
    "the parent of temporary folders; `/tmp` without it. Those of runs that were killed " \
    "are removed by the next run") \
  X(NEREID_LIBCUDA, "the GPU driver's library, in place of `libcuda.so.1`") \
  X(NEREID_LIBRARY_PATH, \
    "folders, with colons between, where libraries of others (cuBLAS, OpenBLAS, oneDNN) are " \
    "looked for first; set to nothing, there are none") \
  X(CUDA_VISIBLE_DEVICES, "of the driver: the visible GPUs") \
  X(CUDA_DEVICE_ORDER, "of the driver: their order") \
  X(NEREID_PROGRAM, \
    "the program that measures kernels for `nereid_tune()` and `max-autotune`; without " \
    "it: this program, the one in the library's folder, or `nereid` of the path") \
  X(NEREID_DIAGNOSTICS, \
    "`json`: messages are [objects of JSON](diagnostics.md); `ids`: texts with their " \
    "[ids](messages.md); as with `--diagnostics`") \
  X(NEREID_LOG, \
    "[lines on standard error](logging.md) about each step: a level (`off`, `info`, " \
    "`debug`), or topics with commas between, as in `cache,tune` or `debug,-pass`. `-v` adds " \
    "`info`") \
  X(NEREID_VERIFY, \
    "`1`: the verifier of each level of kernels and graphs runs after each pass, as it does in " \
    "the tests. Text of kernels' IR that is read is always verified") \
  X(NEREID_FAIL_STAGE, \
    "the name of a stage or a pass, as in `schedule` or `run`: each time it begins, it ends by " \
    "an internal error. For tests of programs that embed the library") \
  X(NEREID_COLOR, \
    "`always`, `never`, or `auto`: colour in messages, as with `--color`. `auto`, the " \
    "default, colours on terminals") \
  X(NO_COLOR, "set to anything: no colour, unless `NEREID_COLOR` or `--color` says `always`") \
  X(TERM, "`dumb`, or not set: no colour")

#endif
