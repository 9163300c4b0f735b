/* The files of graph/aot/ as text made at build time. */
#ifndef NEREID_GRAPH_PROJECT_FILES_H
#define NEREID_GRAPH_PROJECT_FILES_H

typedef struct {
  const char *name, *text;
} ProjectFile;

extern const ProjectFile project_files[]; /* ends in a NULL name */

const char *project_file_text(const char *name);

#endif
