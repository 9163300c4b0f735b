/* Spaces that follow from a kernel: which constexprs are open, what each of them does, and the
 * values that suit it. */
#ifndef NEREID_SEMA_AUTOTUNE_TUNED_AUTO_H
#define NEREID_SEMA_AUTOTUNE_TUNED_AUTO_H

#include "sema/autotune/probe.h"
#include "sema/autotune/tuned_read.h"

enum { AUTO_OPEN_MAX = 8, AUTO_VALUES_MAX = 8, AUTO_CONFIGS_GPU = 320, AUTO_CONFIGS_CPU = 48 };

/* One constexpr or option with the values to choose from, the likeliest first: when there are too
 * many configurations, values are dropped from the end. */
typedef struct {
  Name name;
  const KernelParam *param; /* NULL: an option */
  ProbeFacts facts;
  int64_t base; /* what it was when the kernel was looked at */
  Probe other;  /* the kernel with another value */
  int64_t other_value;
  int64_t values[AUTO_VALUES_MAX];
  int n;
} AutoAxis;

/* How a tile grows: its size with the base values, and to which power each constexpr enters it. */
typedef struct {
  int64_t numel, bytes;
  uint8_t power[AUTO_OPEN_MAX];
  bool staged; /* an operand of a dot, which lies in shared memory once a stage */
  bool summed; /* the result of a dot, which lies in registers */
} AutoTile;

typedef struct {
  TunedReader *r;
  AutoAxis axes[AUTO_OPEN_MAX + 2];
  int n;     /* with the options */
  int nopen; /* constexprs */
  Probe base;
  VEC(AutoTile) tiles;
} AutoSpace;

/* The values of an axis, by what the constexpr does.  False (reported) if it can't be guessed. */
bool auto_values(AutoSpace *s, AutoAxis *a);
bool auto_refuse(AutoSpace *s, Name name, const char *what);
void auto_options(AutoSpace *s);
/* The configurations that can run: at most AUTO_CONFIGS_GPU of them, or AUTO_CONFIGS_CPU, since the
 * C compiler takes a second or more for each, and CPUs care less. */
void auto_configs(AutoSpace *s, TunedConfigs *out);

#endif
