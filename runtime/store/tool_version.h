/* The version of a tool that makes code: measured times depend on it. */
#ifndef NEREID_RUNTIME_STORE_TOOL_VERSION_H
#define NEREID_RUNTIME_STORE_TOOL_VERSION_H

#include "runtime/support/tool.h"

enum { TOOL_VERSION = 256 };

/* The line with the word `mark` in the output of `path options --version`, or its first line
 * (NULL); "" if it can't be run.  The answer is kept in the cache until the file changes. */
void tool_version(char out[TOOL_VERSION], const char *path, const char *options, const char *mark);

#endif
