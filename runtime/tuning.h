/* A tuning while it is worked on: what the files tune*.c share. */
#ifndef NEREID_RUNTIME_TUNING_H
#define NEREID_RUNTIME_TUNING_H

#include "runtime/decorators.h"
#include "runtime/problem.h"
#include "runtime/rates.h"
#include "runtime/records.h"
#include "runtime/search.h"

typedef struct {
  const nereid_tune_request *request;
  Arena *arena;
  Problem problem;
  const char *device_name; /* "cuda", "cpu" */
  nereid_device *device;   /* described: it runs nothing */
  nereid_tune_axis *axes;  /* of the request, those that count on the device */
  int naxes;
  Decorators *decorators;
  DecoratorSpace space; /* of the kernel's decorators; empty unless it was asked for */
  Configs configs;
  size_t *order;         /* of candidates, the most promising first */
  Candidate *candidates; /* of each configuration */
  Rates rates;           /* of the device, where the model was asked; else zeros */
  double begin;
} Tuning;

/* The configurations that are asked for, or those of the kernel's decorators, or derived ones. */
int tune_space(Tuning *t);
/* A request for a configuration, with what the kernel's heuristics add to it. */
int tune_complete(Tuning *t, const Config *c, nereid_request *out);

/* What the model says of each candidate, and the order in which that puts them. */
void tune_predict(Tuning *t);

/* What is known of candidates from earlier runs. */
typedef struct {
  Records *records;
  RecordProblem problem;
  CacheKey *ir;           /* of each candidate's tile IR; zeros: there is none */
  const Record **by_code; /* of each: of other IR or of another version, but of the same code */
} Memory;

/* Marks candidates that were measured before as known. */
int tune_recall(Tuning *t, Memory *m);
/* Keeps what was measured since, and what holds for this version as well. */
void tune_remember(Tuning *t, Memory *m);
void tune_forget(Memory *m);

#endif
