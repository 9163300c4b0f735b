/* nereid cache: the size of the cache of compiled code, its entries, and their removal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "runtime/store/cache.h"

enum { OPT_KIND = 1, OPT_OLDER };

#define KIND_CHOICE(id, name, doc) " " name
#define KIND_CHOICES CACHE_KINDS(KIND_CHOICE)

static const Option options[] = {
    {OPT_KIND, "--kind", "KIND", "of list and clear: entries of this kind only",
     .choices = &(KIND_CHOICES)[1]},
    {OPT_OLDER, "--older-than", "AGE",
     "of list and clear: entries that nothing has used for so long: 90m, 12h, 7d, 2w"},
    {0},
};

typedef struct {
  const char *verb, *value; /* NULL: none was given */
  CacheFilter filter;
} Asked;

/* ---- sizes ---- */

enum { SIZE_TEXT = 32 };

/* Without a blank: a field of a line for other programs. */
static const char *byte_size_text(char out[SIZE_TEXT], int64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double size = (double)bytes;
  size_t i = 0;
  for (; size >= 1024 && i < sizeof units / sizeof *units - 1; i++) size /= 1024;
  bool whole = size >= 10 || size == (double)(int)size;
  snprintf(out, SIZE_TEXT, "%.*f%s", whole ? 0 : 1, size, units[i]);
  return out;
}

static const char *limit_text(char out[SIZE_TEXT], int64_t bytes) {
  if (!bytes) snprintf(out, SIZE_TEXT, "none");
  return bytes ? byte_size_text(out, bytes) : out;
}

static const char *entries(int64_t n) { return n == 1 ? "entry" : "entries"; }

/* ---- nereid cache ---- */

enum { KINDS_MOST = 32 };

typedef struct {
  struct {
    char name[32];
    CacheSum sum;
  } kinds[KINDS_MOST];
  int n;
  CacheSum total;
} Kinds;

/* Kinds in the order of their first entries; of a later version there may be others than ours. */
static void add_to_kind(void *context, const CacheListed *e) {
  Kinds *k = context;
  int i = 0;
  while (i < k->n && strcmp(k->kinds[i].name, e->kind)) i++;
  if (i == KINDS_MOST) i--;
  if (i == k->n) snprintf(k->kinds[k->n++].name, sizeof k->kinds[i].name, "%s", e->kind);
  k->kinds[i].sum.count++, k->kinds[i].sum.bytes += e->size;
  k->total.count++, k->total.bytes += e->size;
}

static void print_kind_sum(const char *name, const CacheSum *sum) {
  char size[SIZE_TEXT];
  printf("%-9s %8" PRId64 " %8s\n", name, sum->count, byte_size_text(size, sum->bytes));
}

static int summarize_cache(const Asked *a) {
  char path[8192], size[SIZE_TEXT], limit[SIZE_TEXT];
  Kinds k = {.n = 0};
  CacheFacts f;
  int code = cache_path(path, sizeof path) ? cache_facts(&f) : 0;
  if (!*path) puts("off");
  if (!*path) return STATUS_OK;
  if (!code) code = cache_list(&a->filter, add_to_kind, &k);
  if (code) return args_failed(code);
  puts(path);
  printf("%-9s %8s %8s\n", "kind", "entries", "size");
  for (int i = 0; i < k.n; i++) print_kind_sum(k.kinds[i].name, &k.kinds[i].sum);
  print_kind_sum("all", &k.total);
  printf("limit %s%s, file %s\n", limit_text(limit, f.limit),
         f.limit_is_variable ? " (NEREID_CACHE_LIMIT)" : "", byte_size_text(size, f.file));
  if (f.left.count)
    printf("%" PRId64 " damaged or earlier file%s, %s: `nereid cache clear` removes %s\n",
           f.left.count, f.left.count == 1 ? "" : "s", byte_size_text(size, f.left.bytes),
           f.left.count == 1 ? "it" : "them");
  return STATUS_OK;
}

/* ---- its verbs ---- */

/* A name may be any path: no part of it ends the line or controls a terminal. */
static void print_name(const char *name) {
  for (; *name; name++) putchar((unsigned char)*name < ' ' || *name == 127 ? '?' : *name);
  putchar('\n');
}

static void print_cache_entry(void *context, const CacheListed *e) {
  char used[32], size[SIZE_TEXT];
  time_t t = (time_t)e->used;
  struct tm parts = {0};
  (void)context;
  gmtime_r(&t, &parts);
  strftime(used, sizeof used, "%Y-%m-%dT%H:%M:%SZ", &parts);
  printf("%-20s %-8s %8s %-8s ", used, e->kind, byte_size_text(size, e->size),
         *e->target ? e->target : "-");
  print_name(e->name);
}

static int list_entries(const Asked *a) {
  printf("%-20s %-8s %8s %-8s %s\n", "last used", "kind", "size", "target", "name");
  int code = cache_list(&a->filter, print_cache_entry, NULL);
  return code ? args_failed(code) : STATUS_OK;
}

static int clear_entries(const Asked *a) {
  char size[SIZE_TEXT];
  CacheSum removed;
  bool some = a->filter.kind || a->filter.before;
  int code = cache_clear(&removed, some ? &a->filter : NULL);
  if (code) return args_failed(code);
  printf("removed %" PRId64 " %s, %s\n", removed.count, entries(removed.count),
         byte_size_text(size, removed.bytes));
  return STATUS_OK;
}

static int show_limit(void) {
  char text[SIZE_TEXT];
  CacheFacts f;
  int code = cache_facts(&f);
  if (code) return args_failed(code);
  printf("%s%s\n", limit_text(text, f.limit), f.limit_is_variable ? " (NEREID_CACHE_LIMIT)" : "");
  return STATUS_OK;
}

static int show_or_set_limit(const Asked *a) {
  char text[SIZE_TEXT];
  int64_t bytes;
  CacheSum evicted;
  if (!a->value) return show_limit();
  if (!cache_read_size(&bytes, a->value)) return args_error(E_CLI_CACHE_SIZE, a->value);
  int code = cache_set_limit(&evicted, bytes);
  if (code) return args_failed(code);
  printf("limit %s", limit_text(text, bytes));
  if (evicted.count)
    printf(", removed %" PRId64 " %s, %s", evicted.count, entries(evicted.count),
           byte_size_text(text, evicted.bytes));
  putchar('\n');
  return STATUS_OK;
}

static const struct {
  const char *name;
  bool filters, takes_value;
  int (*run)(const Asked *a);
} verbs[] = {{"list", true, false, list_entries},
             {"clear", true, false, clear_entries},
             {"limit", false, true, show_or_set_limit}};
enum { VERBS = sizeof verbs / sizeof *verbs };

static int run_cache_verb(const Asked *a) {
  const char *filter = a->filter.kind ? "--kind" : a->filter.before ? "--older-than" : NULL;
  int i = 0, status = STATUS_OK;
  if (a->verb) status = args_verb(&i, a->verb, verbs, sizeof *verbs, VERBS, E_CLI_CACHE_VERB);
  if (status) return status;
  if (filter && (!a->verb || !verbs[i].filters))
    return args_error(E_CLI_NEEDS, filter, "list and clear");
  if (a->value && !verbs[i].takes_value) return args_error(E_CLI_EXTRA_FILE, a->value, "");
  return a->verb ? verbs[i].run(a) : summarize_cache(a);
}

/* ---- the command line ---- */

static int take_kind(Asked *a, const char *name) {
#define KIND_NAME(id, name, doc) name,
  static const char *const names[] = {CACHE_KINDS(KIND_NAME)};
#undef KIND_NAME
  char hint[128];
  a->filter.kind = name;
  for (int i = 0; i < CACHE_KIND_COUNT; i++)
    if (!strcmp(names[i], name)) return STATUS_OK;
  return args_error(E_CLI_CACHE_KIND, name,
                    error_suggest_or_list(hint, sizeof hint, name, names, CACHE_KIND_COUNT));
}

static int take_age(Asked *a, const char *text) {
  static const struct {
    char letter;
    int64_t seconds;
  } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
  char *end;
  long n = strtol(text, &end, 10);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (end != text && n >= 0 && n <= 1000000 && *end == units[i].letter && !end[1]) {
      a->filter.before = (int64_t)time(NULL) - n * units[i].seconds;
      return STATUS_OK;
    }
  return args_error(E_CLI_CACHE_AGE, text);
}

static int take_cache_option(Asked *a, int id, const char *value) {
  switch (id) {
    case ARGS_ERROR: return STATUS_USAGE;
    case OPT_KIND: return take_kind(a, value);
    case OPT_OLDER: return take_age(a, value);
    default: break;
  }
  if (a->verb && a->value) return args_error(E_CLI_EXTRA_FILE, value, "");
  *(a->verb ? &a->value : &a->verb) = value;
  return STATUS_OK;
}

static int run_cache(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Asked asked = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = take_cache_option(&asked, id, value);
  return status ? status : run_cache_verb(&asked);
}

static const Operand operands[] = {
    {"list", "lists the entries, the last used first: when, kind, size, target, name"},
    {"clear", "removes them, and damaged or earlier files of the cache; records stay"},
    {"limit [SIZE]", "shows or sets the total size of entries: 500M, 2G, 0 for no limit"},
    {0},
};

const Command command_cache = {
    "cache",
    "[list | clear | limit [SIZE]] [--kind KIND] [--older-than AGE]",
    "Shows, clears and limits the cache of compiled code.",
    options,
    run_cache,
    operands,
};
