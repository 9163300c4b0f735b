/* The functions of a plan's source.  Kernels whose texts are equal are one function, which several
 * steps take with buffers of their own: layers of one structure are compiled once. */
#ifndef NEREID_PLANNER_KERNELS_SOURCE_FUNCTIONS_H
#define NEREID_PLANNER_KERNELS_SOURCE_FUNCTIONS_H

#include "graph/ir/namemap.h"
#include "planner/kernels/kernel.h"
#include "planner/plan/plan.h"

typedef struct {
  Name name;
  const char *text; /* with KERNEL_NAME for the name */
  Text uses;        /* comments: what each step that takes it computes */
} Function;

typedef struct {
  Arena *arena;
  Pool *names;     /* of texts, and of functions */
  NameMap by_text; /* to Function * */
  NameMap taken;   /* names of functions */
  VEC(Function *) list;
} Functions;

Functions *functions_new(Arena *a);
/* The function with the kernel's text, a new one called `name` if there is none, or after it
 * where another text has that name. */
Name functions_add(Functions *f, const Kernel *k, const char *text, const StepCost *cost,
                   Name name);
/* It does so for a text that has those of other functions. */
Name functions_join(Functions *f, const char *text, const Function *const *of, uint32_t n,
                    Name name);
/* Removes those that no step takes. */
void functions_keep_used(Functions *f, const PlanStep *steps, uint32_t n);
/* All of them, each after the comments of its uses; and the position of each in `out`. */
void functions_print(Text *out, const Functions *f, PlanFunction *spans);

/* The beginning of a kernel file: imports, planner/kernels/templates/header.py, and the other files
 * of helpers there that have a function which a kernel names. */
void helpers_print(Text *out, const Functions *f);

#endif
