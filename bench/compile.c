/* Times in-process compilation, from a kernel file's text to PTX, stage by stage.
 *
 *     compile [--target T] [--tabs] [NAME...]
 *
 * Cases are the lines of bench/compile_cases.txt.  A stage's time is the median over many
 * compilations, in processor time; `total` is that of whole compilations, with the making and
 * freeing of their arenas.  --tabs prints names and totals for bench/compile.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/compile/compilation.h"

enum { CASES_MAX = 64, ARGS_MAX = 32, STAGES_MAX = 24, RUNS_MIN = 20, RUNS_MAX = 400 };

typedef struct {
  const char *name;
  nereid_source source;
  nereid_request request;
  nereid_arg args[ARGS_MAX];
} Case;

typedef struct {
  const char *names[STAGES_MAX];
  double us[STAGES_MAX]; /* of the last compilation */
  int n;
} Stages;

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

/* ---- cases ---- */

static char *read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  if (!f) fail(path, "can't be read");
  fseek(f, 0, SEEK_END);
  long n = ftell(f);
  rewind(f);
  char *text = malloc((size_t)n + 1);
  if (!text || fread(text, 1, (size_t)n, f) != (size_t)n) fail(path, "can't be read");
  fclose(f);
  text[n] = 0;
  *size = (size_t)n;
  return text;
}

/* NAME=TYPE or NAME:=VALUE */
static void read_arg(Case *c, char *word) {
  char *eq = strchr(word, '=');
  if (!eq || c->request.nargs == ARGS_MAX) fail(c->name, "a malformed argument, or too many");
  bool constant = eq > word && eq[-1] == ':';
  *(constant ? eq - 1 : eq) = 0;
  nereid_arg *arg = &c->args[c->request.nargs++];
  *arg = (nereid_arg){.name = word};
  *(constant ? &arg->value : &arg->type) = eq + 1;
}

static void read_case(Case *c, char *line, const char *target) {
  char *rest = NULL, path[4096];
  const char *words[5];
  for (int i = 0; i < 5; i++) words[i] = strtok_r(i ? NULL : line, " ", &rest);
  if (!words[4]) fail(line, "a case of fewer than 5 words");
  *c = (Case){.name = words[0]};
  snprintf(path, sizeof path, "examples/kernels/%s", words[1]);
  c->source.text = read_file(path, &c->source.size);
  c->source.path = words[1];
  c->request.kernel = words[2];
  c->request.num_warps = atoi(words[3]);
  c->request.num_stages = atoi(words[4]);
  c->request.target = target;
  for (char *w; (w = strtok_r(NULL, " ", &rest));) read_arg(c, w);
  c->request.args = c->args;
}

static int read_cases(Case *cases, const char *path, const char *target) {
  size_t size;
  char *rest = NULL;
  int n = 0;
  for (char *line = strtok_r(read_file(path, &size), "\n", &rest); line;
       line = strtok_r(NULL, "\n", &rest)) {
    if (*line == '#') continue;
    if (n == CASES_MAX) fail(path, "too many cases");
    read_case(&cases[n++], line, target);
  }
  return n;
}

/* ---- one compilation ---- */

/* Adds the time since *start to a stage, and starts anew. */
static void stage_ends(Stages *s, const char *name, double *start) {
  double end = now_us();
  int i = 0;
  while (i < s->n && strcmp(s->names[i], name)) i++;
  if (i == s->n) {
    if (i == STAGES_MAX) fail(name, "too many stages");
    s->names[s->n++] = name;
  }
  s->us[i] += end - *start;
  *start = now_us();
}

typedef struct {
  Unit *unit;
  Stages *stages;
  double *start;
} Passes;

/* What lower_run does, with the clock between. */
static int run_passes(void *arg) {
  Passes *p = arg;
  PassList list = lower_passes();
  for (int i = 0; i < list.n; i++) {
    const Pass *pass = &list.rows[i];
    if (!pass_included(pass, p->unit->machine->has) || pass->takes != lower_level(p->unit))
      continue;
    if (!pass->run.on_unit(p->unit)) return NEREID_E_KERNEL;
    stage_ends(p->stages, pass->name, p->start);
  }
  return 0;
}

static double compile_once(const Case *c, nereid_kind kind, Stages *s) {
  memset(s->us, 0, sizeof s->us);
  double begin = now_us(), start = begin;
  Compilation x;
  Code code;
  int failed = compile_open(&x, &c->source, false);
  stage_ends(s, "parse", &start);
  if (!failed) failed = compile_specialize(&x, &c->request);
  stage_ends(s, "sema", &start);
  Passes p = {x.unit, s, &start};
  if (!failed) failed = error_guard(x.arena, run_passes, &p);
  if (!failed) failed = compile_generate(&x, kind, &code);
  stage_ends(s, "print", &start);
  if (failed) {
    compile_report(&x, failed, NULL, NULL);
    fail(c->name, nereid_error_message());
  }
  compile_close(&x);
  return now_us() - begin;
}

/* ---- medians ---- */

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, by_size);
  return (v[n / 2] + v[(n - 1) / 2]) / 2;
}

/* Repeats for about half a second.  Leaves medians in s->us and returns the total's. */
static double measure(const Case *c, nereid_kind kind, Stages *s) {
  static double us[STAGES_MAX][RUNS_MAX], total[RUNS_MAX];
  int n = 0;
  *s = (Stages){0};
  for (int i = 0; i < 5; i++) compile_once(c, kind, s);
  double begin = now_us();
  while (n < RUNS_MIN || (n < RUNS_MAX && now_us() - begin < 5e5)) {
    total[n] = compile_once(c, kind, s);
    for (int i = 0; i < s->n; i++) us[i][n] = s->us[i];
    n++;
  }
  for (int i = 0; i < s->n; i++) s->us[i] = median(us[i], n);
  return median(total, n);
}

/* ---- the table ---- */

static void print_head(const Stages *s) {
  printf("| us | total |");
  for (int i = 0; i < s->n; i++) printf(" %s |", s->names[i]);
  printf("\n| --- | ---: |");
  for (int i = 0; i < s->n; i++) printf(" ---: |");
  printf("\n");
}

static void print_row(const char *name, double total, const Stages *s) {
  printf("| %s | %.0f |", name, total);
  for (int i = 0; i < s->n; i++) printf(" %.0f |", s->us[i]);
  printf("\n");
}

static bool wanted(const char *name, char **names, int n) {
  for (int i = 0; i < n; i++)
    if (!strcmp(names[i], name)) return true;
  return n == 0;
}

int main(int argc, char **argv) {
  const char *target = "sm_90a";
  bool tabs = false;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; at++) {
    if (!strcmp(argv[at], "--tabs")) tabs = true;
    else if (!strcmp(argv[at], "--target") && at + 1 < argc) target = argv[++at];
    else fail(argv[at], "unknown option");
  }
  static Case cases[CASES_MAX];
  int n = read_cases(cases, "bench/compile_cases.txt", target), shown = 0;
  nereid_kind kind = !strncmp(target, "cpu", 3) ? NEREID_C : NEREID_PTX;
  double totals[CASES_MAX];
  if (!tabs) printf("Nereid %s, %s, in process, medians\n\n", nereid_version(), target);
  for (int i = 0; i < n; i++) {
    if (!wanted(cases[i].name, argv + at, argc - at)) continue;
    Stages s;
    double total = measure(&cases[i], kind, &s);
    if (tabs) printf("%s\t%.1f\n", cases[i].name, total);
    else if (!shown) print_head(&s);
    if (!tabs) print_row(cases[i].name, total, &s);
    fflush(stdout);
    totals[shown++] = total;
  }
  if (!tabs && shown) printf("\nmedian over the kernels: %.0f us\n", median(totals, shown));
  return 0;
}
