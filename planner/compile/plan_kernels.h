/* The kernels of a plan's one source file, each compiled once for each set of values that it is
 * specialized on. */
#ifndef NEREID_PLANNER_COMPILE_PLAN_KERNELS_H
#define NEREID_PLANNER_COMPILE_PLAN_KERNELS_H

#include "graph/ir/namemap.h"
#include "planner/compile/compile_count.h"
#include "planner/plan/sizes.h"
#include "runtime/nereid.h"
#include "runtime/store/cache.h"

typedef struct {
  const char *data;
  size_t size;
} KernelCode;

/* A kernel that was compiled before: what nereid_image_bytes() gave. */
typedef struct {
  const char *key; /* PlanKernel.key */
  const void *data;
  size_t size;
  const KernelCode *code; /* of an image without code: what its variants take, NULL otherwise */
} KernelImage;

typedef struct {
  const KernelImage *list;
  size_t n;
} KernelImages;

typedef struct {
  Name key; /* all that it was compiled from, but for the source */
  nereid_request request;
  nereid_request aligned; /* the same for rows that begin at multiples of 16; no kernel: there is
                             no difference */
  bool whole;             /* the source is the kernel's own part, which needs nothing else */
  bool from_cache;        /* its code was there */
  uint64_t programs;      /* that steps run of it in a call, if known from the plan; 0: not */
  bool varies;            /* a step's number of programs is not known */
  bool called;            /* by a step that is not of the constant part */
  nereid_kernel *kernel;  /* NULL: not compiled yet */
  double begin, end;      /* of compiling: stages_now() */
  int code;               /* of a failure */
  char *message;          /* its text, malloc'ed */
} PlanKernel;

typedef struct {
  Arena *arena;
  Pool *names;
  const Plan *plan;
  nereid_device *device;
  nereid_module *module; /* the source, for its parameters; NULL: it is not read now */
  PlanKernel **of_step;  /* of the plan's steps that depend on no sizes, once they were found */
  nereid_source source;
  NameMap sources; /* by kernel: the part of the source that it needs */
  Cache *cache;    /* open while kernels are compiled */
  bool asserts;    /* kernels have assertions, which are code */
  bool pdl;        /* a kernel starts before those before it end */
  bool aligns;     /* rows that begin at multiples of 16 are worth a variant */
  NameMap by_key;
  NameMap symbols; /* of each kernel's name: how many it has */
  VEC(PlanKernel *) list;
  size_t compiled; /* of the list; the rest waits */
  CompileCount count; /* of those that are being compiled */
  const KernelImages *images; /* NULL: there are none */
  size_t dumped;   /* of the list, for --dump-dir */
} PlanKernels;

/* Without a device (NULL) kernels are found, but not compiled. */
int kernels_open(PlanKernels *k, Arena *a, const Plan *p, nereid_device *d);
/* Frees memory that no arena owns. */
void kernels_close(PlanKernels *k);

/* The kernel that a step takes, which may not be compiled yet.  Integers that depend on symbols
 * are run-time arguments for all values in their range; where they decide at which addresses rows
 * begin, the kernel has a variant for multiples of 16 as well, which a launch takes where it can.
 * So nothing is compiled for a run's sizes, but for constexprs that depend on symbols: these are
 * compiled for the values that symbols have now (`sizes`).  Without `sizes`, NULL in *out for such
 * a step, which is one of the plan's. */
int kernels_find(PlanKernels *k, const PlanStep *s, const Sizes *sizes, PlanKernel **out);
/* The step's kernel as a request, to be compiled by the caller: where rows begin at multiples of
 * 16. */
int kernels_request(PlanKernels *k, const PlanStep *s, const Sizes *sizes, nereid_request *out);
/* Do constexprs of the step depend on symbols? */
bool kernels_depend(const PlanStep *s);
/* Compiles and loads all that wait, on all cores; after a failure they still wait. */
int kernels_compile(PlanKernels *k);
/* The image of each kernel of the list, compiled again where the cache does not have it; each is
 * freed by the caller, also after a failure (NULL: it is not there). */
int kernels_images(PlanKernels *k, nereid_image **out);
/* Takes the images from the cache alone; false: it lacks one. */
bool kernels_cached_images(PlanKernels *k, nereid_image **out);

#endif
