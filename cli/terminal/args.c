#include "cli/terminal/args.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/messages.h"
#include "cli/terminal/diagnostics.h"
#include "lang/messages.h"
#include "runtime/messages.h"

/* ---- messages ---- */

int args_error(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  message_vprint("error", fmt, ap);
  va_end(ap);
  return STATUS_USAGE;
}

int args_verb(int *row, const char *verb, const void *rows, size_t size, int n,
              const char *message) {
  enum { MOST = 16 };
  const char *names[MOST];
  char hint[96];
  for (int i = 0; i < n && i < MOST; i++) {
    memcpy(&names[i], (const char *)rows + (size_t)i * size, sizeof names[i]);
    *row = i;
    if (!strcmp(names[i], verb)) return STATUS_OK;
  }
  error_suggest(hint, sizeof hint, verb, names, (size_t)n);
  return args_error(message, verb, hint);
}

int args_status(int code) {
  if (code == NEREID_E_INTERNAL) return STATUS_INTERNAL;
  return code == NEREID_E_USAGE ? STATUS_USAGE : STATUS_PROBLEM;
}

int args_failed(int code) {
  message_show("error", nereid_error_message(), error_id);
  return args_status(code);
}

int args_out_of_memory(void) {
  args_error(E_LANG_OUT_OF_MEMORY);
  return STATUS_PROBLEM;
}

void args_on_message(void *context, const char *text) {
  (void)context;
  message_show("note", text, error_told_id);
}

/* ---- options ---- */

const Option args_common[] = {
    {COMMON_HELP, "--help", NULL, "prints this text", .alias = "-h"},
    {COMMON_VERBOSE, "--verbose", NULL,
     "logs compiles, cache hits, choices and launches; NEREID_LOG has more", .alias = "-v"},
    {COMMON_COLOR, "--color", "WHEN", "colour in messages: auto (the default), always, never",
     .choices = "auto always never"},
    {COMMON_DIAGNOSTICS, "--diagnostics", "FORM",
     "messages as text, as ids: text with ids, or as json: an object a line on standard error",
     .choices = "text ids json"},
    {0},
};

static int unknown_option(const Args *a, const char *name) {
  const char *names[2 * OPTIONS_MOST];
  size_t n = 0;
  char hint[96];
  for (const Option *o = a->options; o->id && n < OPTIONS_MOST; o++) names[n++] = o->name;
  for (const Option *o = args_common; o->id; o++) names[n++] = o->name;
  if (!a->quiet)
    args_error(E_CLI_UNKNOWN_OPTION, name, error_suggest(hint, sizeof hint, name, names, n));
  return ARGS_ERROR;
}

static bool is_option_name(const char *option, const char *name, size_t len) {
  return strlen(option) == len && !memcmp(option, name, len);
}

static const Option *find_option_in(const Option *options, const char *name, size_t len) {
  for (const Option *o = options; o->id; o++)
    if (is_option_name(o->name, name, len) || (o->alias && is_option_name(o->alias, name, len)))
      return o;
  return NULL;
}

static const Option *find_option(const Args *a, const char *name, size_t len) {
  const Option *o = find_option_in(a->options, name, len);
  return o ? o : find_option_in(args_common, name, len);
}

static bool is_common(const Option *o) { return o->id >= COMMON_HELP; }

const char *args_option_name(const Option *options, int id) {
  while (options->id != id) options++;
  return options->name;
}

/* An option that would replace the value it had is no repetition that someone meant. */
static bool is_second(Args *a, const Option *o) {
  if (is_common(o) || !o->value || o->repeats) return false;
  bool *seen = &a->seen[o - a->options];
  bool second = *seen;
  *seen = true;
  return second;
}

/* The option's id; its value is the text attached to its name, or else the next argument. */
static int take_option(Args *a, const Option *o, char *attached, const char **value) {
  *value = attached;
  if (o->value && !*value && a->at < a->argc) *value = a->argv[a->at++];
  bool second = is_second(a, o);
  if (!o->value == !*value && !second) return o->id;
  if (a->quiet) return ARGS_ERROR;
  if (second) args_error(E_CLI_OPTION_TWICE, o->name);
  else if (o->value) args_error(E_CLI_OPTION_VALUE, o->name, o->name, o->value);
  else args_error(E_CLI_OPTION_NO_VALUE, o->name);
  return ARGS_ERROR;
}

/* -D NAME=1 and -DNAME=1 */
static int short_option(Args *a, char *arg, const char **value) {
  const Option *o = find_option(a, arg, 2);
  if (!o || (!o->value && arg[2])) return unknown_option(a, arg);
  return take_option(a, o, arg[2] ? arg + 2 : NULL, value);
}

/* --target cpu and --target=cpu */
static int long_option(Args *a, char *arg, const char **value) {
  size_t len = strcspn(arg, "=");
  const Option *o = find_option(a, arg, len);
  if (o) return take_option(a, o, arg[len] ? arg + len + 1 : NULL, value);
  char name[96];
  snprintf(name, sizeof name, "%.*s", (int)len, arg);
  return unknown_option(a, name);
}

int args_next_common(Args *a, const char **value) {
  *value = NULL;
  while (a->at < a->argc) {
    char *arg = a->argv[a->at++];
    if (a->only_positional || arg[0] != '-' || !arg[1] || arg[1] == ':') { /* - and -:KERNEL */
      *value = arg;
      return ARGS_POSITIONAL;
    }
    if (strcmp(arg, "--"))
      return arg[1] == '-' ? long_option(a, arg, value) : short_option(a, arg, value);
    a->only_positional = true;
  }
  return ARGS_END;
}

int args_next(Args *a, const char **value) {
  int id = args_next_common(a, value);
  while (id >= COMMON_HELP) id = args_next_common(a, value);
  return id;
}

/* ---- values ---- */

bool strings_add(Strings *s, const char *text, size_t len) {
  char **data = realloc(s->data, sizeof(char *) * (size_t)(s->len + 1));
  if (data) s->data = data;
  char *copy = data ? strndup(text, len) : NULL;
  if (!copy) {
    args_out_of_memory();
    return false;
  }
  s->data[s->len++] = copy;
  return true;
}

void strings_free(Strings *s) {
  for (int i = 0; i < s->len; i++) free(s->data[i]);
  free(s->data);
  *s = (Strings){0};
}

int strings_add_folder(Strings *s, const char *path) {
  struct stat st;
  if (stat(path, &st) || !S_ISDIR(st.st_mode)) return args_error(E_CLI_FOLDER, path);
  return strings_add(s, path, strlen(path)) ? STATUS_OK : STATUS_PROBLEM;
}

int settings_add(Settings *s, const char *pair, const char *what) {
  nereid_setting *data = realloc(s->data, sizeof *data * (size_t)(s->len + 1));
  if (data) s->data = data;
  char *copy = data ? strdup(pair) : NULL;
  if (!copy) return args_out_of_memory();
  const char *value = args_value(copy, what);
  if (value) data[s->len++] = (nereid_setting){copy, value};
  else free(copy);
  return value ? STATUS_OK : STATUS_USAGE;
}

static int add_value_setting(void *s, const char *pair) { return settings_add(s, pair, "VALUE"); }

int settings_add_value(Settings *s, const char *pair) {
  return args_each_item(pair, add_value_setting, s);
}

void settings_free(Settings *s) {
  for (int i = 0; i < s->len; i++) free((char *)(uintptr_t)s->data[i].name);
  free(s->data);
  *s = (Settings){0};
}

/* The closing quote of a string that begins here; the pointer itself if none does. */
static const char *after_string(const char *p) {
  const char *end = *p == '"' || *p == '\'' ? strchr(p + 1, *p) : NULL;
  return end ? end : p;
}

bool args_split(Strings *out, const char *text) {
  int depth = 0;
  const char *start = text;
  for (const char *p = text;; p++) {
    p = after_string(p);
    if (*p && strchr("[(<", *p)) depth++;
    if (*p && strchr("])>", *p)) depth--;
    if (*p && (*p != ',' || depth > 0)) continue;
    while (*start == ' ') start++;
    const char *end = p;
    while (end > start && end[-1] == ' ') end--;
    if (!strings_add(out, start, (size_t)(end - start))) return false;
    if (!*p) return true;
    start = p + 1;
  }
}

/* `NAME=(A,B)` at text `(A,B)`. */
static int each_item(const char *pair, const char *eq, const char *text, ArgsPair each,
                     void *context) {
  Strings items = {0};
  char *inside = strndup(text + 1, strlen(text) - 2);
  if (!inside) return args_out_of_memory();
  int status = args_split(&items, inside) ? STATUS_OK : STATUS_PROBLEM;
  /* (A,) is a tuple of one. */
  bool open = items.len > 1 && !*items.data[items.len - 1];
  bool empty = items.len == 1 && !*items.data[0];
  for (int i = 0; i < items.len - (open || empty) && !status; i++) {
    char *item;
    int n = asprintf(&item, "%.*s.%d=%s", (int)(eq - pair), pair, i, items.data[i]);
    status = n < 0 ? args_out_of_memory() : args_each_item(item, each, context);
    if (n >= 0) free(item);
  }
  free(inside);
  strings_free(&items);
  return status;
}

/* The depth of a name that is an item of an item ...; other functions refuse deeper text. */
static int tuple_depth(const char *pair) {
  int dots = 0;
  for (; *pair != '='; pair++) dots += *pair == '.';
  return dots;
}

/* The `(` of `(A,B)` or `Class(A,B)`; NULL if the text is none of them. */
static const char *tuple_of(const char *text) {
  size_t n = strlen(text), name = strcspn(text, "(");
  for (size_t i = 0; i < name; i++)
    if (!text_is_name_char(text[i]) && text[i] != '.') return NULL;
  if (n < name + 2 || text[n - 1] != ')' || isdigit((unsigned char)text[0])) return NULL;
  int depth = 0;
  for (size_t i = name; i + 1 < n; i++) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (!depth) return NULL;
  }
  return text + name;
}

int args_each_item(const char *pair, ArgsPair each, void *context) {
  enum { DEPTH_MAX = 8 };
  const char *eq = strchr(pair, '='), *open = eq ? tuple_of(eq + 1) : NULL;
  if (!open || tuple_depth(pair) >= DEPTH_MAX) return each(context, pair);
  int name = (int)(open - eq - 1);
  if (!name && !strcmp(open, "()")) return each(context, pair);
  int status = STATUS_OK;
  if (name) {
    char *cls;
    int n = asprintf(&cls, "%.*s=class:%.*s", (int)(eq - pair), pair, name, eq + 1);
    status = n < 0 ? args_out_of_memory() : each(context, cls);
    if (n >= 0) free(cls);
  }
  return status ? status : each_item(pair, eq, open, each, context);
}

char *args_value(char *pair, const char *what) {
  char *eq = strchr(pair, '=');
  if (!eq || eq == pair) {
    args_error(E_CLI_NAME_VALUE, pair, what);
    return NULL;
  }
  *eq = 0;
  return eq + 1;
}

char *args_kernel(char *file) {
  char *colon = strrchr(file, ':');
  /* A file whose own name has a colon is taken as it is. */
  if (!colon || access(file, F_OK) == 0) return NULL;
  *colon = 0;
  return colon + 1;
}

bool args_number(int *out, const char *option, const char *text, int lo, int hi) {
  char *end;
  errno = 0;
  long v = strtol(text, &end, 10);
  if (errno || end == text || *end || v < lo || v > hi) {
    args_error(E_CLI_NUMBER, option, lo, hi, text);
    return false;
  }
  *out = (int)v;
  return true;
}
