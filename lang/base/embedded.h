/* Text files that are part of the program: the build makes a table of them, which ends in a NULL
 * name. */
#ifndef NEREID_LANG_BASE_EMBEDDED_H
#define NEREID_LANG_BASE_EMBEDDED_H

typedef struct {
  const char *name, *text; /* "math.py", and all of the file */
} EmbeddedFile;

#endif
