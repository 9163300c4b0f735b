#include "runtime/compile/language.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/messages.h"

enum { FOLDERS_MAX = 32, PROJECT_BYTES_MAX = 1 << 20 };

/* ---- requirements: strings as "triton>=3.9", "triton == 3.9.*; sys_platform == 'linux'" ---- */

/* Is the version of a specifier, as "==3.9.1" or ">= 4", at least 3.9? */
static bool starts_at_3_9(const char *s) {
  s += strspn(s, "=>~");
  s += strspn(s, " ");
  char *end;
  long major = strtol(s, &end, 10), minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
  return major > 3 || (major == 3 && minor >= 9);
}

/* Does the text of a requirement, after the name, allow no version before 3.9? */
static bool requires_3_9(const char *s, const char *end) {
  for (; s < end; s++) {
    bool lower = (*s == '>' || *s == '~') || (*s == '=' && s[1] == '=');
    if (*s == ';') return false;
    if (!lower) continue;
    if (starts_at_3_9(s)) return true;
    while (s < end && *s != ',') s++;
  }
  return false;
}

/* Reads one string of the file, without its quotes. */
static void read_requirement(const char *s, const char *end, bool *any, bool *all) {
  static const char name[] = "triton";
  size_t n = sizeof name - 1;
  if ((size_t)(end - s) < n || memcmp(s, name, n)) return;
  s += n;
  if (s < end && (isalnum((unsigned char)*s) || *s == '-' || *s == '_' || *s == '.')) return;
  *any = true;
  *all = *all && requires_3_9(s, end);
}

static bool project_requires_3_9(const char *text) {
  bool any = false, all = true;
  for (const char *s = text; *s; s++) {
    if (*s == '#') s += strcspn(s, "\n") - 1;
    if (*s != '"' && *s != '\'') continue;
    const char *end = s + 1 + strcspn(s + 1, *s == '"' ? "\"\n" : "'\n");
    read_requirement(s + 1, end, &any, &all);
    if (!*end) break;
    s = end;
  }
  return any && all;
}

/* ---- the project of a file ---- */

/* The text of FOLDER/pyproject.toml, to be freed; NULL if there is none. */
static char *read_project(const char *folder, size_t len) {
  char path[4096];
  int n = snprintf(path, sizeof path, "%.*spyproject.toml", (int)len, folder);
  FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "rb") : NULL;
  if (!f) return NULL;
  char *text = malloc(PROJECT_BYTES_MAX + 1);
  if (text) text[fread(text, 1, PROJECT_BYTES_MAX, f)] = 0;
  fclose(f);
  return text;
}

static bool package_requires_3_9(const char *path) {
  char *whole = realpath(path, NULL);
  bool yes = false;
  for (int i = 0; whole && i < FOLDERS_MAX; i++) {
    char *slash = strrchr(whole, '/');
    if (!slash) break;
    char *text = read_project(whole, (size_t)(slash - whole) + 1);
    if (text) {
      yes = project_requires_3_9(text);
      free(text);
      break;
    }
    *slash = 0;
  }
  free(whole);
  return yes;
}

int language_of_request(Language *out, const nereid_request *r) {
  *out = LANGUAGE_3_6;
  if (!r->language) {
    bool file = r->source.path && !r->source.text;
    if (file && package_requires_3_9(r->source.path)) *out = LANGUAGE_3_9;
    return 0;
  }
  if (!strcmp(r->language, "3.9")) *out = LANGUAGE_3_9;
  else if (strcmp(r->language, "3.6"))
    return error_set(NEREID_E_USAGE, E_RUN_LANGUAGE, r->language);
  return 0;
}
