/* JSON documents: what is read, and where and how a text is wrong. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/text/json.h"
#include "lang/base/strings.h"
#include "tests/support/tally.h"

static const Json *read(Arena *a, const char *text) {
  JsonError e;
  return json_read(a, text, strlen(text), &e);
}

/* ---- values ---- */

static void test_scalars(Arena *a) {
  check(json_is(read(a, " null "), JSON_NULL), "null");
  check(json_is(read(a, "true"), JSON_TRUE), "true");
  check(json_is(read(a, "\r\n\tfalse"), JSON_FALSE), "false");
  check(read(a, "-9223372036854775808")->integer == INT64_MIN, "the least integer");
  check(read(a, "9223372036854775807")->integer == INT64_MAX, "the largest integer");
  check(read(a, "-0")->kind == JSON_INTEGER, "-0");
  check(read(a, "0.5")->real == 0.5, "0.5");
  check(read(a, "-12E-2")->real == -0.12, "-12E-2");
  check(read(a, "1e3")->kind == JSON_REAL, "1e3 is no integer");
  check(read(a, "1e-999")->real == 0, "a number next to 0");
}

static void check_string(Arena *a, const char *text, const char *meant) {
  const Json *v = read(a, text);
  check(json_is(v, JSON_STRING) && !strcmp(v->string, meant), text);
}

static void test_strings(Arena *a) {
  check_string(a, "\"\"", "");
  check_string(a, "\"a b\xC3\xA9\"", "a b\xC3\xA9");
  check_string(a, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t.\"", "\"\\/\b\f\n\r\t.");
  check_string(a, "\"<\\u0041\\u00e9\\u20AC>\"", "<A\xC3\xA9\xE2\x82\xAC>");
  check_string(a, "\"\\uD83D\\ude00\"", "\xF0\x9F\x98\x80");
}

static void test_arrays(Arena *a) {
  const Json *v = read(a, "[1, [2, 3], [], {\"x\": [4]}, \"s\"]");
  check(json_length(v) == 5 && json_item(v, 0)->integer == 1, "an array");
  check(json_item(json_item(v, 1), 1)->integer == 3, "an array in it");
  check(json_length(json_item(v, 2)) == 0, "an empty array");
  check(json_item(json_get(json_item(v, 3), "x"), 0)->integer == 4, "an object in it");
  check(!json_item(v, 5) && !json_item(NULL, 0) && !json_length(json_item(v, 4)), "no items");
}

/* Few members, and so many that they are found by hash. */
static void test_objects(Arena *a, int n) {
  Text t = text_new(a);
  for (int i = 0; i < n; i++) text_printf(&t, "%s\"key%d\" : %d", i ? ",\n" : "{", i, i);
  text_puts(&t, n ? "}" : "{}");
  const Json *v = read(a, t.data);
  bool found = true;
  for (int i = 0; i < n; i++) {
    const Json *x = json_get(v, arena_printf(a, "key%d", i));
    found &= x && x->integer == i && json_member(v, (size_t)i)->value.integer == i;
  }
  check(json_is(v, JSON_OBJECT) && json_length(v) == (uint32_t)n && found, "members");
  check(!json_get(v, "key") && !json_member(v, (size_t)n) && !json_get(NULL, "x"), "no members");
  if (n < 2) return;
  t.data[t.len - 1] = ',';
  text_puts(&t, "\"key1\": 0}");
  JsonError e;
  bool refused = !json_read(a, t.data, t.len, &e) &&
                 !strcmp(e.what, "the object that ends here has a key twice");
  check(refused && e.line == n, "a key that stands twice");
}

/* ---- errors ---- */

static const struct {
  const char *text, *what;
  int line, column;
} wrong[] = {
    {"", "the text ends within a value", 1, 1},
    {"[1,\n", "the text ends within a value", 2, 1},
    {"\"abc", "the text ends within a value", 1, 5},
    {"\"ab\\", "invalid escape in a string", 1, 5},
    {"1 2", "the end of the text is expected after the value", 1, 3},
    {"{} }", "the end of the text is expected after the value", 1, 4},
    {"nul", "a value is expected", 1, 1},
    {"NaN", "a value is expected", 1, 1},
    {"[1,]", "a value is expected", 1, 4},
    {"{1: 2}", "a key in quotes is expected", 1, 2},
    {"{\"a\": 1,}", "a key in quotes is expected", 1, 9},
    {"{\"a\" 1}", "`:` is expected after a key", 1, 6},
    {"{\"a\": 1]", "`,` or `}` is expected after a member", 1, 8},
    {"{\"a\": 1", "`,` or `}` is expected after a member", 1, 8},
    {"[1 2]", "`,` or `]` is expected after an item", 1, 4},
    {"[1\n}", "`,` or `]` is expected after an item", 2, 1},
    {"-", "a digit is expected", 1, 2},
    {"1.", "a digit is expected", 1, 3},
    {"1e+", "a digit is expected", 1, 4},
    {"9223372036854775808", "the number is out of range", 1, 20},
    {"1e999", "the number is out of range", 1, 6},
    {"\"\t\"", "a control character in a string", 1, 2},
    {"\"\xC0\xAF\"", "invalid UTF-8", 1, 2},
    {"\"\xED\xA0\x80\"", "invalid UTF-8", 1, 2},
    {"\"\xE2\x82", "invalid UTF-8", 1, 2},
    {"\"\\n\xFF\"", "invalid UTF-8", 1, 4},
    {"\"\\x\"", "invalid escape in a string", 1, 3},
    {"\"\\u12g4\"", "invalid escape in a string", 1, 6},
    {"\"\\u0000\"", "invalid escape in a string", 1, 8},
    {"\"\\ud800x\"", "invalid escape in a string", 1, 8},
    {"\"\\udc00\"", "invalid escape in a string", 1, 8},
    {"\"\\ud800\\u0041\"", "invalid escape in a string", 1, 14},
};

static void test_errors(Arena *a) {
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    JsonError e;
    /* The copy has the size of the text, so that a sanitizer sees reads past its end. */
    size_t size = strlen(wrong[i].text);
    char *exact = malloc(size + !size);
    memcpy(exact, wrong[i].text, size);
    const Json *v = json_read(a, exact, size, &e);
    bool same = !v && !strcmp(e.what, wrong[i].what) && e.line == wrong[i].line;
    check(same && e.column == wrong[i].column, wrong[i].text);
    free(exact);
  }
}

static void test_depth(Arena *a) {
  Text t = text_new(a);
  for (int i = 0; i < JSON_DEPTH_MAX; i++) text_puts(&t, "[");
  for (int i = 0; i < JSON_DEPTH_MAX; i++) text_puts(&t, "]");
  check(read(a, t.data) != NULL, "as deep as may be");
  JsonError e;
  const char *deeper = arena_printf(a, "[%s]", t.data);
  bool refused = !json_read(a, deeper, t.len + 2, &e);
  check(refused && !strcmp(e.what, "values are nested too deep") && e.column == JSON_DEPTH_MAX + 1,
        "deeper");
}

int main(void) {
  Arena *a = arena_new();
  test_scalars(a);
  test_strings(a);
  test_arrays(a);
  int counts[] = {0, 1, 3, 8, 9, 1000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) test_objects(a, counts[i]);
  test_errors(a);
  test_depth(a);
  arena_free(a);
  return report();
}
