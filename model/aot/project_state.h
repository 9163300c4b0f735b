/* A project in the making: shared by project*.c. */
#ifndef NEREID_MODEL_AOT_PROJECT_STATE_H
#define NEREID_MODEL_AOT_PROJECT_STATE_H

#include <stdio.h>

#include "lang/base/embedded.h"
#include "model/aot/project.h"
#include "planner/compile/plan_kernels.h"
#include "runtime/image/image.h"
#include "runtime/support/error.h"

enum { PROJECT_TARGETS_MAX = 8, PROJECT_FILES_MAX = 512 };

/* ---- project_folder.c: a folder that appears when it is complete ---- */

typedef struct {
  Arena *arena;
  const char *dir, *temporary;
  int lock; /* of the temporary folder, while there is one */
  const char *names[PROJECT_FILES_MAX];
  uint32_t n;
} ProjectFolder;

int project_folder_open(ProjectFolder *f, Arena *a, const char *dir);
/* A new file; the caller closes it by project_file_close. */
int project_file_open(FILE **out, ProjectFolder *f, const char *name);
int project_file_close(ProjectFolder *f, FILE *file);
int project_file_write(ProjectFolder *f, const char *name, const char *text, size_t len);
/* Puts the folder into its place.  `products` are what its Makefile makes, ended by NULL. */
int project_folder_commit(ProjectFolder *f, const char *const *products);
/* Removes the written files; after a commit it does nothing. */
void project_folder_abandon(ProjectFolder *f);

/* ---- the project ---- */

/* The files that are the same for all projects (PROJECT_FILES in the Makefile). */
extern const EmbeddedFile project_files[];

/* A symbol of sizes, and the axis of an input that decides it.  An input that is a number has one
 * axis, of that size. */
typedef struct {
  Dim symbol;
  const char *name; /* in C */
  int64_t least, most;
  uint32_t input, axis;
} ProjectSymbol;

typedef struct {
  bool used, written;
  bool kept;  /* used by steps that run more than once, returned by the plan, or updated in place */
  int64_t at; /* of a weight: its offset in weights.bin; of a constant: among all of them */
  int64_t state;    /* of a weight that is written: where its copy is */
  const char *name; /* in C */
  const Weight *weight;
} ProjectBuffer;

/* A kernel, compiled once for each target. */
typedef struct {
  nereid_request request;
  const char *name;
  PlanKernel *of;
} ProjectKernel;

/* The kernel of a step, and the one that it takes where arguments are multiples of 16. */
typedef struct {
  uint32_t general, aligned; /* numbers; equal if there is one only */
} ProjectChoice;

/* A kernel's code. */
typedef struct {
  nereid_image *image; /* NULL: there is no such code */
  char *cubin;         /* NULL: none */
  size_t cubin_size;
} ProjectCode;

typedef struct {
  const char *name;           /* "sm_90a" */
  ProjectCode *codes, *plain; /* by kernel; `plain` of those that have tensor maps: without them */
} ProjectTarget;

struct Project {
  Arena *arena;
  Plan *plan;
  const Weights *weights;
  const ProjectOptions *options;
  ProjectFolder folder;
  bool gpu;
  ProjectTarget targets[PROJECT_TARGETS_MAX];
  uint32_t ntargets;
  PlanKernels found;
  VEC(ProjectKernel) kernels;
  ProjectChoice *of_step;
  ProjectBuffer *buffers; /* by number in the plan */
  VEC(ProjectSymbol) symbols;
  VEC(SizeRelation) relations; /* of nodes, those that inputs decide */
  uint32_t ninputs;
  const PlanBuffer **inputs; /* by number; NULL: not used */
  int64_t weights_bytes, state_bytes, constant_bytes, record_bytes;
  uint32_t nchecks;     /* of indices */
  int64_t weights_kept; /* after it are those that the constant part alone reads */
  uint64_t weights_sum;
  const char *kernel_files; /* "kernels.o kernels_1.o", for the Makefile */
};

/* ---- project_names.c ---- */

/* Fails unless it may be the prefix of exported names. */
int project_check_name(const char *name);
/* The name of the header, the library and the program. */
const char *project_name(const Project *p);
/* C with the names that the options want; everywhere: in its comments and strings too. */
const char *project_rename(Project *p, const char *text, bool everywhere);
/* The prefix of exported names, without its _. */
static inline const char *project_prefix(const Project *p) {
  return p->options->name ? p->options->name : "model";
}

/* ---- project_sizes.c ---- */

/* The plan's symbols, where inputs decide them. */
int project_find_symbols(Project *p);
/* Limits that keep all sizes within 64 bits: the grids of steps are among them. */
int project_limit_symbols(Project *p);
/* x as a C expression over the symbols' names. */
const char *project_size(Project *p, Dim x);
/* Declares the names that n expressions use; `from` is the array of symbols. */
void project_declare_symbols(Project *p, Text *out, const char *from, const Dim *x, uint32_t n);

/* ---- project_kernels.c ---- */

int project_compile(Project *p);
int project_write_kernels(Project *p);
void project_free_kernels(Project *p);
/* The target as a part of names: "cpu8". */
const char *project_cpu_tag(Arena *a, const char *target);
/* The C compiler's options for a CPU whose kernels may be beside those of others; NULL: it is none
 * of these. */
const char *project_cpu_options(const char *target);
/* The first target's image of a kernel. */
const nereid_image *project_image(const Project *p, uint32_t kernel);
/* How many arguments of its own the kernel takes, before its tensor maps. */
int project_arguments(const ImageVariant *v);

typedef VEC(Dim) DimList;

/* ---- project_plan.c ---- */

/* Bytes of a buffer of a fixed size. */
int64_t project_bytes(const Project *p, uint32_t buffer);
/* The text as a comment: it contains neither the end of one nor a newline. */
const char *project_comment(Arena *a, const char *text);
/* "f32[s0, 64]" */
const char *project_type(Project *p, const PlanBuffer *b);
int project_write_plan(Project *p);

#endif
