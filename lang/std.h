/* The standard library of the kernel language: the Python files of lang/std, embedded as text
 * by the build (build/lang/std_text.c).  The list ends with a row of NULLs. */
#ifndef NEREID_LANG_STD_H
#define NEREID_LANG_STD_H

typedef struct {
  const char *name, *text; /* "math.py" and all of the file */
} NereidStdFile;

extern const NereidStdFile nereid_std_files[];

#endif
