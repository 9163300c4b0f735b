/* Messages of command lines and commands: E_CLI_. */
#ifndef NEREID_CLI_MESSAGES_H
#define NEREID_CLI_MESSAGES_H

#define E_CLI_UNKNOWN_COMMAND "unknown command `%s`%s"
#define E_CLI_UNKNOWN_OPTION "unknown option %s%s"
#define E_CLI_OPTION_VALUE "option %s needs a value: %s %s"
#define E_CLI_OPTION_NO_VALUE "option %s takes no value"
#define E_CLI_OPTION_TWICE "option %s is given twice"
#define E_CLI_SHELL "completions exist for bash, zsh and fish, not for `%s`"
#define E_CLI_CHOICE "%s is one of %s, not `%s`"
#define E_CLI_NAME_TWICE "%s %s is given twice"
#define E_CLI_FOLDER "--import-path %s: there is no such folder"
#define E_CLI_NO_FILE "name a kernel file"
#define E_CLI_MESSAGE \
  "no message has the id `%s`: `--diagnostics ids` shows ids, and docs/messages.md lists all"
#define E_CLI_EXTRA_FILE "unexpected argument `%s`%s"
#define E_CLI_NAME_VALUE "`%s` is not of the form NAME=%s"
#define E_CLI_NUMBER "%s must be a whole number from %d to %d, not `%s`"
#define E_CLI_EMIT "unknown stage `%s`%s; stages are ast, tile, nest, thread, ptx, c, cubin"
#define E_CLI_LAUNCH "%s describes a launch: add --explain or --html"
#define E_CLI_OUT "--out %s: there is no argument of that name with an array"
#define E_CLI_AXIS_VALUE "`%s` has an empty value: write V1,V2,..."
#define E_CLI_AXIS_RANGE "`%s` should be a range LO..HI of at most %d whole numbers"
#define E_CLI_UNTUNED \
  "constexpr %s of kernel %s has no value, and no record of tuning fits these arguments: set " \
  "it with -D %s=VALUE, or run with --tune"
#define E_CLI_DEVICE_TARGET "--device %s has no target %s: give one of the two"
#define N_CLI_FIRST \
  "%s: autotune has %d configurations; this run uses the first:%s; --tune finds the best"
#define N_CLI_COMMAND "the command was: nereid%s"
#define N_CLI_OPEN "constexpr %s of kernel %s has no value; set it with -D %s=VALUE"
#define E_CLI_FAULT \
  "kernel %s accessed memory outside of its arrays: --device interp finds the line, " \
  "--debug checks each access on device cpu"
#define E_CLI_BUDGET "--budget takes seconds, as in 10s, not `%s`"
#define E_CLI_BUILD_DIR "name the output folder with -o DIR"
#define E_CLI_BUILD_FOLDER "the folder %s can't be made: %s"
#define E_CLI_BUILD_OPTION \
  "%s is for models; this is a kernel, by --sig or another option of kernels"
#define E_CLI_BUILD_ONE "a project has one model, not %s and %s"
#define E_CLI_RECORDS_VERB "unknown action `%s`%s; actions are export, import, merge"
#define E_CLI_RECORDS_FILES "`nereid records %s` takes %s, not %d"
#define E_CLI_CACHE_VERB "unknown action `%s`%s; actions are list, clear, limit"
#define E_CLI_CACHE_SIZE "`%s` is not a cache size: write 500M, 2G, or 0 for no limit"
#define W_CLI_CACHE_LIMIT \
  "NEREID_CACHE_LIMIT=%s is not a cache size, and is ignored: write 500M, 2G, or 0 for no limit"
#define E_CLI_CACHE_AGE "--older-than takes an age as in 90m, 12h, 7d or 2w, not `%s`"
#define E_CLI_CACHE_KIND "--kind: the cache has no entries of kind `%s`%s"
#define E_CLI_SERIES_JSON "%s:%d:%d: %s"
#define E_CLI_SERIES "%s: %s must be %s"
#define E_CLI_PEERS "at most %d files can be compared in one chart"
#define E_CLI_PEER_OTHER "%s is in %s over %s, but the series to compare it with is in %s over %s"
#define E_CLI_BENCH_SIZES "give the sizes to measure by --x NAME=V1,V2,..."
#define E_CLI_BENCH_SIZE "--x takes 1 to %d whole numbers, each once, as in N=1024,2048, not `%s`"
#define E_CLI_BENCH_UNUSED "--x %s: %s has no such parameter, and no value or grid uses the name"
#define E_CLI_BENCH_UNITS "give --bytes or --flops, not both"
#define E_CLI_BENCH_WORK "%s `%s` is %lld for %s=%lld: it must be above 0"
#define E_CLI_BENCH_POINT "skipped point %s=%lld"
#define E_CLI_SUBSTITUTE "%s: `%s` lacks its closing `%c`"
#define E_CLI_NO_MODEL "name a model file"
#define E_CLI_INPUT_NUMBER \
  "%s: the model has no integer input of this name, or the input is given twice"
#define E_CLI_RANGE "--range is written SIZE=LO..HI, as in s0=1..64 or x[0]=1..64, not `%s`"
#define E_CLI_ITEMS "--items is written NAME=N or NAME=none, as in boxes=3, not `%s`"
#define E_CLI_NEEDS "%s is for %s only"
#define E_CLI_GRAPH_EMIT \
  "unknown stage `%s`%s; stages are graph, kernels, plan, dot, fused, explain, strings"
#define E_CLI_TOLERANCE "--tol must be a non-negative number, not `%s`"
#define E_CLI_INPUTS "the model takes %d inputs, %d files are given"
#define E_CLI_INPUT_FORM "--input is written NAME=FILE.npy, or NAME=INTEGER, not `%s`"
#define E_CLI_INPUT_NAME "the model has no input `%s`%s"
#define E_CLI_INPUT_TWICE "input %d (%s) is given twice"
#define E_CLI_INPUT_MISSING \
  "input %d (%s, %s) of %d has no value: give files in the model's order, or --input %s=FILE, " \
  "or generate all missing inputs with --random-inputs"
#define N_CLI_DRAWN "input %d (%s) is random: %s[%s], %s"
#define E_CLI_COMPARE_SHAPE "output %d has shape %s, the file to compare it with has %s"
#define E_CLI_COMPARE_EXACT "output %d differs from the expected one; integers must be equal"
#define E_CLI_COMPARE \
  "output %d differs from the expected one by more than the tolerance: %g of the norm"

#endif
