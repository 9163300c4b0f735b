#include "sema/module/stdlib.h"

#include <string.h>

#include "lang/std/std.h"

/* A top-level statement of a file, by the name that it binds. */
typedef struct {
  const char *start;
  size_t len;
  bool parsed;
} Chunk;

typedef struct {
  const EmbeddedFile *file;
  ModuleInfo *module;
  NameMap names;
  VEC(Chunk) chunks;
} StdFile;

struct StdIndex {
  StdFile *files;
  uint32_t n;
};

/* Where the text after a top-level statement starts: at the next line that begins in column 1 with
 * something other than a closing bracket. */
static const char *statement_end(const char *p) {
  bool quoted = false;
  for (;;) {
    const char *end = strchr(p, '\n');
    for (const char *q = p; (q = strstr(q, "\"\"\"")) && (!end || q < end); q += 3)
      quoted = !quoted;
    if (!end) return p + strlen(p);
    p = end + 1;
    if (!quoted && *p && !strchr(" \t\r\n)]}#", *p)) return p;
    if (!*p) return p;
  }
}

static bool starts(const char *p, const char *word) { return !strncmp(p, word, strlen(word)); }

/* The name that a chunk defines: after `def `, or before ` =` or `:`; its length in *len. */
static const char *defined_name(const char *p, const char *end, size_t *len) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  if (starts(p, "@")) {
    for (p = strstr(p, "\ndef "); p && p >= end; p = NULL) {
    }
    if (!p) return NULL;
    p++;
  }
  if (starts(p, "def ")) p += 4;
  *len = strspn(p, letters);
  return *len ? p : NULL;
}

static void parse_chunk(Program *p, ModuleInfo *m, const char *start, size_t len) {
  const char *text = arena_strndup(p->arena, start, len);
  size_t word = strcspn(text, " (:\n");
  Name name =
      arena_printf(p->arena, "%s(%u %.*s)", m->path, (unsigned)m->globals.len, (int)word, text);
  uint32_t file = diag_source(p->diags, name, text, len);
  const Module *ast = parse(p->arena, p->names, p->diags, file);
  module_index(p, m, &ast->body);
}

/* Cuts a file into chunks; imports are read at once. */
static void index_file(Program *p, StdFile *f) {
  const char *at = f->file->text;
  while (*at && strchr(" \t\r\n#", *at)) at = statement_end(at);
  while (*at) {
    const char *end = at;
    do end = statement_end(end); /* decorators belong to what follows them */
    while (starts(at, "@") && *end && (starts(end, "@") || starts(end, "def ")) &&
           !memmem(at, (size_t)(end - at), "\ndef ", 5));
    size_t len;
    const char *name = defined_name(at, end, &len);
    if (starts(at, "from ") || starts(at, "import ")) {
      parse_chunk(p, f->module, at, (size_t)(end - at));
    } else if (name) {
      Chunk c = {at, (size_t)(end - at), false};
      map_set(p->arena, &f->names, pool_namen(p->names, name, len), (uint32_t)f->chunks.len);
      vec_push(p->arena, &f->chunks, c);
    }
    at = end;
  }
}

static StdIndex *index_of(Program *p) {
  if (p->std) return p->std;
  StdIndex *x = p->std = ARENA_NEW(p->arena, StdIndex);
  while (std_files[x->n].name) x->n++;
  x->files = ARENA_ARRAY(p->arena, StdFile, x->n);
  for (uint32_t i = 0; i < x->n; i++) x->files[i].file = &std_files[i];
  return x;
}

static StdFile *std_file(Program *p, const char *file) {
  StdIndex *x = index_of(p);
  for (uint32_t i = 0; i < x->n; i++) {
    StdFile *f = &x->files[i];
    if (strcmp(f->file->name, file)) continue;
    if (f->module) return f;
    f->module = ARENA_NEW(p->arena, ModuleInfo);
    f->module->is_std = true;
    f->module->std_file = i;
    f->module->path = pool_name(p->names, arena_printf(p->arena, "lang/std/%s", file));
    index_file(p, f);
    return f;
  }
  return NULL;
}

ModuleInfo *std_module(Program *p, const char *file) {
  StdFile *f = std_file(p, file);
  return f ? f->module : NULL;
}

void std_need(Program *p, ModuleInfo *m, Name name) {
  StdFile *f = &index_of(p)->files[m->std_file];
  uint32_t i;
  if (!map_get(&f->names, name, &i) || f->chunks.data[i].parsed) return;
  f->chunks.data[i].parsed = true;
  parse_chunk(p, m, f->chunks.data[i].start, f->chunks.data[i].len);
}

bool std_get(Sema *S, const char *const *files, Name name, Value *out) {
  Span nowhere = {0};
  for (; *files; files++) {
    StdFile *f = std_file(S->p, *files);
    uint32_t i;
    if (f && map_get(&f->names, name, &i)) return module_get(S, f->module, name, nowhere, out);
  }
  return false;
}

void std_offer(Program *p, const char *file, Name name, Nearest *n) {
  StdFile *f = std_file(p, file);
  for (uint32_t i = 0; f && i < f->names.nslots; i++)
    if (f->names.slots[i].key && f->names.slots[i].key[0] != '_')
      nearest_offer(n, name, f->names.slots[i].key);
}
