/* The files of projects that are the same for all models: graph/aot/runtime/. */
#ifndef NEREID_GRAPH_AOT_PROJECT_FILES_H
#define NEREID_GRAPH_AOT_PROJECT_FILES_H

#include "lang/base/embedded.h"

extern const EmbeddedFile project_files[];

const char *project_file_text(const char *name);

#endif
