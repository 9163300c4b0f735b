/* Names of values and nodes. */
#include <string.h>

#include "graph/ir/python_words.h"
#include "import/messages.h"
#include "import/pt2/pt2_read.h"

static bool is_python_word(const char *s) {
  size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  return n && !s[n] && (*s < '0' || *s > '9');
}

bool pt2_identifier(const char *s) { return is_python_word(s) && !python_is_keyword(s); }

bool pt2_name_node(Pt2 *r, Node *n, Name name) {
  if (!is_python_word(name)) return pt2_fail(r, E_GRAPH_PT2_IDENTIFIER, name);
  graph_fresh_name(r->graph, n,
                   python_is_reserved(name) ? arena_printf(r->arena, "%s_1", name) : name);
  return true;
}

bool pt2_define(Pt2 *r, Name name, Node *n) {
  void **slot = namemap_put(r->arena, &r->scope.values, name);
  if (*slot) return pt2_fail(r, E_GRAPH_PT2_TWICE, name);
  *slot = n;
  return true;
}

Node *pt2_value(Pt2 *r, Name name) {
  Node *n = namemap_get(&r->scope.values, name);
  if (!n) pt2_fail(r, E_GRAPH_UNDEFINED, name);
  return n;
}
