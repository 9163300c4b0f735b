/* The options of one compilation.  All that changes the output is here: the options, the IR's text
 * and the compiler's version are the key of every cache.  nereid_options.h has the table. */
#ifndef NEREID_LANG_BASE_OPTIONS_H
#define NEREID_LANG_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "lang/base/irtext.h"
#include "lang/base/nereid_options.h"

/* Versions of the kernel language: Triton's. */
typedef enum { LANGUAGE_3_6, LANGUAGE_3_9 } Language;

typedef struct {
  const char *target; /* "sm_90a", "cpu", ...: a machine's name */
  NEREID_KERNEL_OPTIONS(NEREID_OPTION_FIELD, NEREID_OPTION_FIELD)
  bool checked;       /* for an interpreter: asserts what the kernel promises by hints */
  Language language;  /* rules that the source follows; no stage after sema knows them */
} Options;

typedef enum { OPTION_INT, OPTION_FLAG, OPTION_WORD, OPTION_ALIAS } OptionKind;

enum { OPTION_IS_TUNED = 1, OPTION_IS_SCHEDULE = 2, OPTION_IS_IR = 4 };

typedef enum {
#define X(kind, name, ...) OPTION_OF_##name,
  NEREID_KERNEL_OPTIONS(X, X)
#undef X
  OPTION_COUNT,
  OPTION_TUNED = OPTION_OF_maxnreg + 1 /* so many, the first ones, are of configurations */
} OptionId;

/* A row of the table. */
typedef struct {
  const char *name;
  OptionKind kind;
  int dflt, least, most;
  unsigned uses;          /* OPTION_IS_... */
  const char *flag;       /* NULL: not on command lines */
  const char *argument, *choices, *meaning;
  size_t offset;          /* in Options */
} OptionRow;

extern const OptionRow option_rows[OPTION_COUNT];

Options options_default(void);
/* The option of a configuration that has the name; NULL if there is none. */
const OptionRow *option_tuned(const char *name);
/* The row's place in the options, where it is a number: of any but a WORD. */
int *options_number(Options *o, const OptionRow *row);

/* Is the value in the range of an INT, and among its choices, which are numbers, if it has some? */
bool option_admits(const OptionRow *row, int64_t value);

/* Warps of a program: num_warps for each of the num_ctas thread blocks that Triton would spread it
 * over, as many as one thread block can have. */
int options_warps(const Options *o);

/* Options as attributes of IR text: num_warps, and all that differ from the defaults. */
uint32_t options_to_attrs(IrAttr list[OPTION_COUNT + 1], const Options *o);
/* Takes an attribute of IR text; false if no option is called so.  Wrong values are reported. */
bool options_from_attr(IrReader *r, const IrAttr *a, Options *o);

#endif
