/* How the files tuned*.c see the decorators of one kernel. */
#ifndef NEREID_SEMA_AUTOTUNE_TUNED_READ_H
#define NEREID_SEMA_AUTOTUNE_TUNED_READ_H

#include "sema/value/python_host.h"

typedef enum { DECOR_AUTOTUNE, DECOR_HEURISTICS } DecorKind;

typedef struct {
  DecorKind kind;
  Span at;
  Value values;                     /* the list of configurations, or the dict of heuristics */
  Value key, prune, reset, restore; /* of autotune; V_ABSENT where not given */
  const char *why; /* `values` is V_ERROR: what could not be evaluated, and where; or NULL */
  Span why_at;
} Decorator;

/* The evaluation of one kernel's decorators. */
typedef struct {
  Sema S;
  Host host;
  Program *p;
  const Kernel *k;
  const TunedQuery *q;
  DecorKind kind;
  VEC(Decorator) list; /* the outermost first */
} TunedReader;

/* Finds the decorators of a kind, and evaluates what they are given. */
void tuned_read(TunedReader *r, Program *p, const Kernel *k, const TunedQuery *q, DecorKind kind);

/* Before each thing that is evaluated, so that what fails says why. */
void tuned_forget(TunedReader *r);
/* The note that says so, after an error. */
void tuned_explain(TunedReader *r, Span at, const char *why);

const KernelParam *tuned_param(const Kernel *k, Name name); /* NULL if there is none */
const TunedArg *tuned_given(const TunedQuery *q, Name name);
const KernelArg *tuned_find(const TunedConfig *c, Name name);
/* " --space BLOCK=V1,V2,..." for each constexpr that has no value. */
const char *tuned_space_hint(TunedReader *r);

/* Does one of a list of heuristics set it? */
bool tuned_is_heuristic(const TunedReader *heuristics, Name name);

/* Arguments of functions: run-time arguments and constexprs by name. */
Value tuned_arguments(TunedReader *r, const TunedConfig *config);
Value tuned_value(TunedReader *r, const KernelArg *arg);
/* A value as that of a constexpr; false if it can't be one. */
bool tuned_arg(TunedReader *r, Name name, Value v, KernelArg *out);

/* Does the query want options at all? */
bool tuned_for_gpu(const TunedQuery *q);

/* tuned_configs.c */
bool tuned_add_configs(TunedReader *r, const Decorator *d, TunedSpace *out);

#endif
