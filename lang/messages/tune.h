/* The tuner: E_TUNE_. */
#ifndef NEREID_LANG_MESSAGES_TUNE_H
#define NEREID_LANG_MESSAGES_TUNE_H

#define E_TUNE_WORKER_BUILD                                   \
  "the program that measures is of another version than %s: " \
  "let NEREID_PROGRAM name one of this version"
#define E_TUNE_WORKER_START "the process that measures could not be started: %s"
#define E_TUNE_WORKER_SIGNAL "the process that measures was ended: %s"
#define E_TUNE_WORKER_EXIT "the process that measures ended with status %d"
#define E_TUNE_TIMEOUT "it did not end in time"
#define N_TUNE_SPILLS "%d bytes a thread do not fit the registers"
#define E_TUNE_WRONG "its results are not those of most others"
#define E_TUNE_TIME_UP "time was up"
#define E_TUNE_UNMEASURED "not measured"
#define E_TUNE_SLOW "the model says that it cannot win"
#define E_TUNE_HANG "a kernel hangs in this process, which can't go on: end it"
#define E_TUNE_DEVICE "there is nothing to tune on device %s: take cuda or cpu"
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
#define N_TUNE_WIDE "half of its runs lie %.0f%% apart"
#define N_TUNE_FAR "the model expects %.4g us"
#define N_TUNE_UNSURE                                                            \
  "the best time of kernel %s is uncertain: %s took %.4g us, but %s; %s measures it again"
#define N_TUNE_UNSURE_MANY                                                                \
  "the best times of %zu of %zu kernels are uncertain, among them %s: %s measures them again; " \
  "NEREID_LOG=tune names all"
#define N_TUNE_PASSED_OVER                                               \
  "of kernel %s, %s may be faster than what is taken: it took %.4g us, " \
  "but %s; %s measures it again"
#define N_TUNE_ALONE                                                           \
  "kernels are measured in this process, where one that hangs or faults ends " \
  "all: the program nereid was not found; NEREID_PROGRAM can name it"

#endif
