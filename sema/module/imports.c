/* The files of a program, and what imports name. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lang/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

/* ---- files ---- */

/* The text of a file; NULL with errno set. */
static char *read_source_file(Arena *a, const char *path, size_t *len) {
  struct stat st;
  if (stat(path, &st)) return NULL;
  if (!S_ISREG(st.st_mode)) {
    errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    return NULL;
  }
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  size_t size = (size_t)st.st_size;
  char *text = arena_alloc(a, size + 1);
  *len = fread(text, 1, size, f);
  bool bad = ferror(f);
  fclose(f);
  if (bad) errno = EIO;
  return bad ? NULL : text;
}

static bool is_file(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* The folder of a path: "." for a bare name, "/" for the root. */
static const char *folder_of(Arena *a, const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return ".";
  return slash == path ? "/" : arena_strndup(a, path, (size_t)(slash - path));
}

/* The parent of a folder.  The parent of "." and of paths that end in ".." adds one "..". */
static const char *parent_of(Arena *a, const char *folder) {
  size_t n = strlen(folder);
  if (!strcmp(folder, ".")) return "..";
  if (n >= 2 && !strcmp(folder + n - 2, "..")) return arena_printf(a, "%s/..", folder);
  return folder_of(a, folder);
}

static const char *join_path(Arena *a, const char *folder, const char *rest) {
  if (!strcmp(folder, ".")) return arena_printf(a, "%s", rest);
  return arena_printf(a, "%s/%s", strcmp(folder, "/") ? folder : "", rest);
}

/* ---- modules ---- */

ModuleInfo *program_add_text(Program *p, const SourceText *s, bool is_kernel) {
  ModuleInfo *m = ARENA_NEW(p->arena, ModuleInfo);
  m->path = pool_name(p->names, s->path);
  const char *base = strrchr(s->path, '/');
  m->is_package = !strcmp(base ? base + 1 : s->path, "__init__.py");
  uint32_t file = diag_part(p->diags, m->path, s->text, s->len, s->line, s->column);
  m->ast = (is_kernel ? parse_kernel : parse)(p->arena, p->names, p->diags, file);
  vec_push(p->arena, &p->modules, m);
  module_index(p, m, &m->ast->body);
  return m;
}

/* The module of a file, read and parsed once.  NULL if there is no such file. */
static ModuleInfo *program_load(Program *p, const char *path) {
  Name name = pool_name(p->names, path);
  for (size_t i = 0; i < p->modules.len; i++)
    if (p->modules.data[i]->path == name) return p->modules.data[i];
  if (!is_file(path)) return NULL;
  size_t len;
  char *text = read_source_file(p->arena, path, &len);
  SourceText source = {.path = path, .text = text, .len = len, .line = 1};
  return text ? program_add_text(p, &source, false) : NULL;
}

/* a/b.py or a/b/__init__.py under `folder`, for the dotted path a.b; "" is the folder itself. */
static ModuleInfo *load_under(Program *p, const char *folder, const char *dotted) {
  char *rest = arena_strndup(p->arena, dotted, strlen(dotted));
  for (char *c = rest; *c; c++)
    if (*c == '.') *c = '/';
  if (*rest) {
    const char *stem = join_path(p->arena, folder, rest);
    ModuleInfo *m = program_load(p, arena_printf(p->arena, "%s.py", stem));
    if (m) return m;
    return program_load(p, arena_printf(p->arena, "%s/__init__.py", stem));
  }
  return program_load(p, join_path(p->arena, folder, "__init__.py"));
}

/* The folder that holds the outermost package around a file. */
static const char *package_root(Program *p, const char *folder) {
  enum { LEVELS_MAX = 32 };
  for (int i = 0; i < LEVELS_MAX; i++) {
    if (!is_file(join_path(p->arena, folder, "__init__.py"))) break;
    folder = parent_of(p->arena, folder);
  }
  return folder;
}

ModuleInfo *program_import(Program *p, const ModuleInfo *from, uint32_t dots, Name path) {
  if (from->is_std) return NULL;
  const char *folder = folder_of(p->arena, from->path);
  if (dots) {
    for (uint32_t i = 1; i < dots; i++) folder = parent_of(p->arena, folder);
    return load_under(p, folder, path);
  }
  for (int i = 0; i < p->nimport; i++) {
    ModuleInfo *m = load_under(p, p->import_path[i], path);
    if (m) return m;
  }
  ModuleInfo *m = load_under(p, folder_of(p->arena, p->main->path), path);
  return m ? m : load_under(p, package_root(p, folder), path);
}

/* ---- programs ---- */

static Program *program_new(Arena *a, Pool *names, Diags *d, const char *const *import_path,
                            int n) {
  Program *p = ARENA_NEW(a, Program);
  p->arena = a;
  p->names = names;
  p->diags = d;
  const char **paths = ARENA_ARRAY(a, const char *, (size_t)n);
  for (int i = 0; i < n; i++) paths[i] = arena_strndup(a, import_path[i], strlen(import_path[i]));
  p->import_path = paths;
  p->nimport = n;
  p->signatures = ARENA_ARRAY(a, const void *, builtin_count);
  for (uint32_t i = 0; i < builtin_count; i++)
    if (builtin_table[i].where[0])
      map_set(a, &p->builtins, pool_name(names, builtin_table[i].name), i);
  return p;
}

Program *program_from_text(Arena *a, Pool *names, Diags *d, const SourceText *text,
                           NameLookup lookup, void *context, const char *const *import_path,
                           int n) {
  Program *p = program_new(a, names, d, import_path, n);
  outside_open(p, lookup, context);
  p->main = outside_module(p, text, lookup != NULL);
  return p;
}
