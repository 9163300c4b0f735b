/* The options of one compilation.  All that changes the output is here: the options, the IR's text
 * and the compiler's version are the key of every cache. */
#ifndef NEREID_LANG_BASE_OPTIONS_H
#define NEREID_LANG_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Accesses through two pointer parameters, one of them writing, may be reordered ... */
typedef enum {
  ALIAS_GUARDED, /* under a guard that their bytes are disjoint (lower/nest/nest.h, NoAlias) */
  ALIAS_ORDERED, /* never */
  ALIAS_DISJOINT /* always: the caller vouches that distinct parameters have distinct memory */
} AliasMode;

/* Versions of the kernel language: Triton's. */
typedef enum { LANGUAGE_3_6, LANGUAGE_3_9 } Language;

typedef struct {
  const char *target;     /* "sm_90a", "cpu", ...: a machine's name */
  int num_warps;          /* 4; a power of two, 1 to 32 */
  int num_stages;         /* 3; depth of rings in loops with a dot */
  int num_ctas;           /* 1; programs of a cluster */
  int maxnreg;            /* 0: the machine's limit */
  bool enable_fp_fusion;  /* true: mul and add may become fma */
  bool checked;           /* for an interpreter: asserts what the kernel promises by hints */
  AliasMode alias;
  Language language;      /* rules that the source follows; no stage after sema knows them */
  bool debug;             /* device_assert becomes code */
  bool wraps;             /* with it: integers may overflow; only sema asks */
  bool denormals;         /* fast functions of f32 take and give denormal numbers too */
  bool pdl;               /* the kernel may start before those before it end: it waits for them, and
                             lets the next one start (programmatic dependent launch) */
  const char *dot_precision; /* of dots without input_precision; NULL: tf32.  Only sema asks */
} Options;

static inline Options options_default(void) {
  return (Options){"sm_90a",     4,           3,    1,    0, true, false, ALIAS_GUARDED,
                   LANGUAGE_3_6, false, false, false, false, NULL};
}

#endif
