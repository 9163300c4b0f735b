#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "import/messages.h"
#include "import/pt2/pt2_read.h"

bool pt2_fail(Pt2 *r, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(r->arena, fmt, ap);
  va_end(ap);
  diag_error(r->diags, r->location, "%s: %s", r->where, text);
  diag_format(r->diags, fmt);
  diag_hint(r->diags, H_GRAPH_PT2_AGAIN);
  return false;
}

bool pt2_lack(Pt2 *r, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(r->arena, fmt, ap);
  va_end(ap);
  diag_error(r->diags, r->location, "%s: %s", r->where, text);
  diag_format(r->diags, fmt);
  r->lacking = true;
  return true;
}

/* ---- documents ---- */

bool pt2_parse(Pt2 *r, const ArchiveEntry *e, const Json **out) {
  JsonError error;
  r->where = e->name;
  if (e->size > PT2_JSON_MAX) return pt2_fail(r, E_GRAPH_PT2_JSON_SIZE, PT2_JSON_MAX >> 20);
  r->json = arena_child(r->arena);
  *out = json_read(r->json, (const char *)e->data, e->size, &error);
  if (!*out) return pt2_fail(r, E_GRAPH_PT2_JSON, error.line, error.column, error.what);
  return json_is(*out, JSON_OBJECT) || pt2_fail(r, E_GRAPH_PT2_ROOT);
}

void pt2_close(Pt2 *r) {
  arena_free(r->json);
  r->json = NULL;
}

/* ---- values ---- */

static const char *json_kind_name(const Json *v) {
  static const char *const names[] = {"null",     "false",    "true",     "an integer",
                                      "a number", "a string", "an array", "an object"};
  return v ? names[v->kind] : "missing";
}

static bool report_wrong_kind(Pt2 *r, const char *key, const Json *v, const char *wanted) {
  return pt2_fail(r, E_GRAPH_PT2_KEY, key, json_kind_name(v), wanted);
}

const Json *pt2_object(Pt2 *r, const Json *in, const char *key) {
  const Json *v = json_get(in, key);
  return json_is(v, JSON_OBJECT) ? v : (report_wrong_kind(r, key, v, "an object"), NULL);
}

const Json *pt2_array(Pt2 *r, const Json *in, const char *key) {
  const Json *v = json_get(in, key);
  return json_is(v, JSON_ARRAY) ? v : (report_wrong_kind(r, key, v, "an array"), NULL);
}

const char *pt2_string(Pt2 *r, const Json *in, const char *key) {
  const Json *v = json_get(in, key);
  return json_is(v, JSON_STRING) ? v->string : (report_wrong_kind(r, key, v, "a string"), NULL);
}

bool pt2_int(Pt2 *r, const Json *in, const char *key, int64_t *out) {
  const Json *v = json_get(in, key);
  if (!json_is(v, JSON_INTEGER)) return report_wrong_kind(r, key, v, "an integer");
  *out = v->integer;
  return true;
}

bool pt2_bool(Pt2 *r, const Json *in, const char *key, bool *out) {
  const Json *v = json_get(in, key);
  if (!json_is(v, JSON_TRUE) && !json_is(v, JSON_FALSE))
    return report_wrong_kind(r, key, v, "true or false");
  *out = v->kind == JSON_TRUE;
  return true;
}

bool pt2_has(const Json *in, const char *key) {
  const Json *v = json_get(in, key);
  return v && v->kind != JSON_NULL;
}

Name pt2_check_name(Pt2 *r, const char *key, const char *text) {
  bool ok = *text && strlen(text) <= PT2_NAME_MAX;
  for (const char *p = text; *p && ok; p++) ok = (unsigned char)*p >= ' ' && *p != 127;
  return ok ? pool_name(r->names, text) : (pt2_fail(r, E_GRAPH_PT2_NAME, key, PT2_NAME_MAX), NULL);
}

Name pt2_name(Pt2 *r, const Json *in, const char *key) {
  const char *s = pt2_string(r, in, key);
  return s ? pt2_check_name(r, key, s) : NULL;
}

const char *pt2_union(Pt2 *r, const Json *in, const Json **value) {
  if (!json_is(in, JSON_OBJECT) || in->n != 1) {
    pt2_fail(r, E_GRAPH_PT2_UNION);
    return NULL;
  }
  const JsonMember *first = json_member(in, 0);
  *value = &first->value;
  return first->key;
}

bool pt2_float(Pt2 *r, const Json *value, double *out) {
  static const struct {
    const char *text;
    double value;
  } words[] = {{"Infinity", INFINITY}, {"-Infinity", -INFINITY}, {"NaN", NAN}};
  if (json_is(value, JSON_REAL)) return *out = value->real, true;
  if (json_is(value, JSON_INTEGER)) return *out = (double)value->integer, true;
  for (size_t i = 0; i < 3 && json_is(value, JSON_STRING); i++)
    if (!strcmp(value->string, words[i].text)) return *out = words[i].value, true;
  return report_wrong_kind(r, "as_float", value,
                           "a number, \"Infinity\", \"-Infinity\" or \"NaN\"");
}
