/* A program around the model: reads NumPy files, runs the model, writes NumPy files. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "model.h"
#include "npy.h"

enum { STATUS_OK, STATUS_PROBLEM, STATUS_USAGE };

typedef struct {
  model_options options;
  const char *out_dir;
  int runs;
  bool time;
  const char *files[MODEL_INPUTS + 1];
  int nfiles;
  model *m;
  model_tensor inputs[MODEL_INPUTS + 1], outputs[MODEL_OUTPUTS + 1];
} Program;

/* ---- the command line ---- */

static void print_values(const char *what, const model_value *(*get)(int)) {
  const model_value *v;
  for (int i = 0; (v = get(i)) != NULL; i++)
    printf("  %s %d  %s  %s\n", what, i, v->name ? v->name : "(not used)", v->type);
}

static int help(const char *name) {
  printf("usage: %s INPUT.npy... [OPTION]...\n\n", name);
  print_values("input", model_input);
  print_values("output", model_output);
  printf(
      "\n"
      "  --out-dir DIR     writes output_0.npy ... there instead of printing\n"
      "  --weights FILE    weights.bin, if it is not beside the program\n"
      "  --skip-checksum   does not sum up the weights\n"
      "  --device N        which GPU\n"
      "  --threads N       of a CPU; all its cores if not given\n"
      "  --graphs          of a GPU: runs after the second are a CUDA graph\n"
      "  --runs N          runs N times; buffers that the model updates go on\n"
      "  --time            prints the median time of the runs (20 if not given)\n");
  return STATUS_OK;
}

static int usage(const char *format, const char *what) {
  fprintf(stderr, format, what);
  fputs("; --help says more\n", stderr);
  return STATUS_USAGE;
}

static int read_number(int *out, const char *option, const char *text) {
  char *end;
  errno = 0;
  const long v = text ? strtol(text, &end, 10) : -1;
  if (!text || end == text || *end || errno || v < 0 || v > 1000000)
    return usage("%s needs a number from 0 to 1000000", option);
  *out = (int)v;
  return STATUS_OK;
}

/* *used: words that were read. */
static int read_option(Program *p, char **words, int *used) {
  const char *option = words[0], *value = words[1];
  *used = 2;
  if (!strcmp(option, "--device")) return read_number(&p->options.device, option, value);
  if (!strcmp(option, "--threads")) return read_number(&p->options.threads, option, value);
  if (!strcmp(option, "--runs")) return read_number(&p->runs, option, value);
  const char **text = !strcmp(option, "--out-dir")   ? &p->out_dir
                      : !strcmp(option, "--weights") ? &p->options.weights
                                                     : NULL;
  if (text) {
    *text = value;
    return value ? STATUS_OK : usage("%s needs a value", option);
  }
  *used = 1;
  if (!strcmp(option, "--skip-checksum")) p->options.skip_checksum = 1;
  else if (!strcmp(option, "--graphs")) p->options.graphs = 1;
  else if (!strcmp(option, "--time")) p->time = true;
  else return usage("there is no option %s", option);
  return STATUS_OK;
}

static int read_words(Program *p, char **words) {
  int status = STATUS_OK, used;
  for (; *words && !status; words += used) {
    used = 1;
    if (!strncmp(*words, "--", 2)) status = read_option(p, words, &used);
    else if (p->nfiles == MODEL_INPUTS) status = usage("one input too many: %s", *words);
    else p->files[p->nfiles++] = *words;
  }
  if (!status && p->nfiles < MODEL_INPUTS) {
    const model_value *v = model_input(p->nfiles);
    status = usage("no file for input %s", v->name ? v->name : "(not used)");
  }
  return status;
}

/* ---- running ---- */

static int told(int code) {
  if (code) fprintf(stderr, "%s\n", model_error());
  return code ? STATUS_PROBLEM : STATUS_OK;
}

static size_t bytes_of(const model_tensor *t) {
  size_t bytes = model_dtype_bytes(t->dtype);
  for (int i = 0; i < t->ndim; i++) bytes *= (size_t)t->shape[i];
  return bytes;
}

/* A file, or the number itself. */
static int read_input(model_tensor *out, const char *text, const model_value *v) {
  char *end;
  errno = 0;
  const long long number = strtoll(text, &end, 10);
  if (!v->is_number || end == text || *end || errno) return npy_read(out, text, v);
  *out = (model_tensor){.data = malloc(sizeof(int64_t)), .dtype = v->dtype};
  if (!out->data) return npy_read(out, text, v);
  memcpy(out->data, &(int64_t){number}, sizeof(int64_t));
  return 0;
}

static int prepare(Program *p) {
  for (int i = 0; i < MODEL_INPUTS; i++)
    if (read_input(&p->inputs[i], p->files[i], model_input(i))) return STATUS_PROBLEM;
  int status = told(model_create(&p->m, &p->options));
  if (!status) status = told(model_describe(p->m, p->inputs, p->outputs));
  for (int i = 0; i < MODEL_OUTPUTS && !status; i++) {
    const size_t room = (bytes_of(&p->outputs[i]) / 64 + 1) * 64;
    p->outputs[i].data = aligned_alloc(64, room);
    if (!p->outputs[i].data) {
      fprintf(stderr, "out of memory: %zu bytes for an output\n", room);
      status = STATUS_PROBLEM;
    }
  }
  return status;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static int run(Program *p) {
  const int runs = p->runs ? p->runs : p->time ? 20 : 1;
  double *times = calloc((size_t)runs, sizeof *times);
  int status = times ? STATUS_OK : STATUS_PROBLEM;
  for (int i = 0; i < runs && !status; i++) {
    const double start = now();
    status = told(model_run(p->m, p->inputs, p->outputs, NULL));
    times[i] = now() - start;
  }
  if (!status && p->time) {
    model_info info;
    model_get_info(&info, p->m);
    qsort(times, (size_t)runs, sizeof *times, by_size);
    printf("time %.2f us, the best %.2f, of %d runs on %s, %d kernels, %d steps\n", times[runs / 2],
           times[0], runs, info.target, info.kernels, info.steps);
    printf("memory %lld bytes of temporaries, %lld of weights, %lld of constants, %lld of state\n",
           (long long)info.pool, (long long)info.weights, (long long)info.constants,
           (long long)info.state);
  }
  free(times);
  return status;
}

/* ---- outputs ---- */

static int write_outputs(const Program *p) {
  char path[4096];
  if (mkdir(p->out_dir, 0777) && errno != EEXIST) {
    fprintf(stderr, "can't make the folder %s: %s\n", p->out_dir, strerror(errno));
    return STATUS_PROBLEM;
  }
  for (int i = 0; i < MODEL_OUTPUTS; i++) {
    const int position = model_output(i)->place;
    const int n = snprintf(path, sizeof path, "%s/output_%d.npy", p->out_dir, position);
    if (n < 0 || (size_t)n >= sizeof path) return usage("the path is too long: %s", p->out_dir);
    if (npy_write(&p->outputs[i], path)) return STATUS_PROBLEM;
  }
  return STATUS_OK;
}

static void print_output(const Program *p, int i) {
  const model_tensor *t = &p->outputs[i];
  const bool floats = t->dtype == MODEL_F32, any = bytes_of(t) != 0;
  printf("output_%d: %s [", model_output(i)->place, model_dtype_name(t->dtype));
  for (int j = 0; j < t->ndim; j++) printf("%s%lld", j ? ", " : "", (long long)t->shape[j]);
  printf("]");
  if (floats && any) printf(" %g ...", (double)*(const float *)t->data);
  printf("\n");
}

static int show(const Program *p) {
  if (p->out_dir) return write_outputs(p);
  for (int position = 0, i = 0; position < MODEL_PLACES && !p->time; position++) {
    if (i < MODEL_OUTPUTS && model_output(i)->place == position) print_output(p, i++);
    else printf("output_%d: None\n", position);
  }
  return STATUS_OK;
}

int main(int argc, char **argv) {
  static Program p;
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], "--help")) return help(argv[0]);
  int status = read_words(&p, argv + (argc > 0));
  if (!status) status = prepare(&p);
  if (!status) status = run(&p);
  if (!status) status = show(&p);
  model_destroy(p.m);
  for (int i = 0; i < MODEL_INPUTS; i++) free(p.inputs[i].data);
  for (int i = 0; i < MODEL_OUTPUTS; i++) free(p.outputs[i].data);
  return status;
}
