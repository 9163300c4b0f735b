#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "graph/pt2_read.h"
#include "lang/messages.h"

bool pt2_fail(Pt2 *r, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(r->arena, fmt, ap);
  va_end(ap);
  diag_error(r->diags, r->place, "%s: %s", r->where, text);
  diag_hint(r->diags, H_GRAPH_PT2_AGAIN);
  return false;
}

bool pt2_lack(Pt2 *r, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(r->arena, fmt, ap);
  va_end(ap);
  diag_error(r->diags, r->place, "%s: %s", r->where, text);
  r->lacking = true;
  return true;
}

/* ---- documents ---- */

bool pt2_parse(Pt2 *r, const ArchiveEntry *e, json_t **out) {
  json_error_t error;
  r->where = e->name;
  if (e->size > PT2_JSON_MAX) return pt2_fail(r, E_GRAPH_PT2_JSON_SIZE, PT2_JSON_MAX >> 20);
  *out = r->json = json_loadb((const char *)e->data, e->size, JSON_REJECT_DUPLICATES, &error);
  if (!r->json && error.line < 1) arena_out_of_memory(r->arena);
  if (!r->json) return pt2_fail(r, E_GRAPH_PT2_JSON, error.line, error.column, error.text);
  if (!json_is_object(r->json)) return pt2_fail(r, E_GRAPH_PT2_ROOT);
  return true;
}

void pt2_close(Pt2 *r) {
  json_decref(r->json);
  r->json = NULL;
}

/* ---- values ---- */

static const char *kind_name(const json_t *v) {
  static const char *const names[] = {"an object", "an array", "a string", "an integer",
                                      "a number",  "true",     "false",    "null"};
  return v ? names[json_typeof(v)] : "missing";
}

static bool wrong(Pt2 *r, const char *key, const json_t *v, const char *wanted) {
  return pt2_fail(r, E_GRAPH_PT2_KEY, key, kind_name(v), wanted);
}

json_t *pt2_object(Pt2 *r, const json_t *in, const char *key) {
  json_t *v = json_object_get(in, key);
  return json_is_object(v) ? v : (wrong(r, key, v, "an object"), NULL);
}

json_t *pt2_array(Pt2 *r, const json_t *in, const char *key) {
  json_t *v = json_object_get(in, key);
  return json_is_array(v) ? v : (wrong(r, key, v, "an array"), NULL);
}

const char *pt2_string(Pt2 *r, const json_t *in, const char *key) {
  json_t *v = json_object_get(in, key);
  return json_is_string(v) ? json_string_value(v) : (wrong(r, key, v, "a string"), NULL);
}

bool pt2_int(Pt2 *r, const json_t *in, const char *key, int64_t *out) {
  json_t *v = json_object_get(in, key);
  if (!json_is_integer(v)) return wrong(r, key, v, "an integer");
  *out = json_integer_value(v);
  return true;
}

bool pt2_bool(Pt2 *r, const json_t *in, const char *key, bool *out) {
  json_t *v = json_object_get(in, key);
  if (!json_is_boolean(v)) return wrong(r, key, v, "true or false");
  *out = json_boolean_value(v);
  return true;
}

bool pt2_has(const json_t *in, const char *key) {
  const json_t *v = json_object_get(in, key);
  return v && !json_is_null(v);
}

Name pt2_check_name(Pt2 *r, const char *key, const char *text) {
  bool ok = *text && strlen(text) <= PT2_NAME_MAX;
  for (const char *p = text; *p && ok; p++) ok = (unsigned char)*p >= ' ' && *p != 127;
  return ok ? pool_name(r->names, text) : (pt2_fail(r, E_GRAPH_PT2_NAME, key, PT2_NAME_MAX), NULL);
}

Name pt2_name(Pt2 *r, const json_t *in, const char *key) {
  const char *s = pt2_string(r, in, key);
  return s ? pt2_check_name(r, key, s) : NULL;
}

const char *pt2_union(Pt2 *r, const json_t *in, json_t **value) {
  if (!json_is_object(in) || json_object_size(in) != 1) {
    pt2_fail(r, E_GRAPH_PT2_UNION);
    return NULL;
  }
  void *first = json_object_iter((json_t *)in);
  *value = json_object_iter_value(first);
  return json_object_iter_key(first);
}

bool pt2_float(Pt2 *r, const json_t *value, double *out) {
  static const struct {
    const char *text;
    double value;
  } words[] = {{"Infinity", INFINITY}, {"-Infinity", -INFINITY}, {"NaN", NAN}};
  if (json_is_number(value)) return *out = json_number_value(value), true;
  for (size_t i = 0; i < 3 && json_is_string(value); i++)
    if (!strcmp(json_string_value(value), words[i].text)) return *out = words[i].value, true;
  return wrong(r, "as_float", value, "a number, \"Infinity\", \"-Infinity\" or \"NaN\"");
}
