/* The kernel templates, graph/templates/NAME.py, as text made at build time. */
#ifndef NEREID_GRAPH_TEMPLATES_H
#define NEREID_GRAPH_TEMPLATES_H

typedef struct {
  const char *name, *text;
} GraphTemplate;

extern const GraphTemplate graph_templates[]; /* ends in a NULL name */

#endif
