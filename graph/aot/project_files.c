#include "graph/aot/project_files.h"

#include <string.h>

#include "lang/base/diag.h"

const char *project_file_text(const char *name) {
  for (const EmbeddedFile *f = project_files; f->name; f++)
    if (!strcmp(f->name, name)) return f->text;
  BUG("no file %s", name);
}
