/* A C compiler for kernels that run once: REAL with OPTION in the last place.  What it compiled is
 * kept in the folder KEPT, by text and options, for all that compile the same (quick_cc.py).
 *
 * Libraries of kernels are told by -Bsymbolic.  Their small functions are not copied into their
 * callers, and they have no start of their own and no tables for unwinding, which would take a
 * fifth of the time.  Nor are they linked with libm, which the linker takes longer to read than the
 * rest: the program that loads them has it. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS = 512, NAME = 512 };

typedef struct {
  char *words[ARGUMENTS];
  int n;
} Command;

static void add(Command *c, char *word) {
  if (c->n == ARGUMENTS - 1) exit(2);
  c->words[c->n++] = word;
  c->words[c->n] = NULL;
}

static void add_words(Command *c, char *text) {
  char *rest = NULL;
  for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
    add(c, word);
}

/* FNV-1a of 128 bits. */
static unsigned __int128 hash;

static void mix(const void *bytes, size_t n) {
  const unsigned __int128 prime = ((unsigned __int128)1 << 88) + 0x13b;
  for (size_t i = 0; i < n; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * prime;
}

static void mix_file(FILE *f) {
  char part[1 << 16];
  for (size_t n; f && (n = fread(part, 1, sizeof part, f)) > 0;) mix(part, n);
}

/* The status of a command, which ends with this process. */
static int run(const Command *c) {
  pid_t parent = getpid(), child = fork();
  if (!child) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent) execvp(c->words[0], c->words);
    _exit(127);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) < 0) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Copies a file under another name first: its reader finds all of it, or nothing. */
static bool copy(const char *from, const char *to, bool at_once) {
  char part[1 << 16], name[NAME + 32];
  snprintf(name, sizeof name, at_once ? "%s" : "%s.%d", to, (int)getpid());
  int in = open(from, O_RDONLY), out = -1;
  struct stat st;
  bool ok = in >= 0 && !fstat(in, &st) && (out = open(name, O_WRONLY | O_CREAT | O_TRUNC,
                                                      st.st_mode & 0777)) >= 0;
  for (ssize_t n; ok && (n = read(in, part, sizeof part)) != 0;)
    ok = n > 0 && write(out, part, (size_t)n) == n;
  if (in >= 0) close(in);
  if (out >= 0) ok = !close(out) && ok;
  return ok && (at_once || !rename(name, to));
}

/* What is preprocessed, since it may include others. */
static void mix_preprocessed(const Command *c, const char *out) {
  Command before = *c;
  char name[NAME + 32];
  snprintf(name, sizeof name, "%s.i", out);
  for (int i = 1; i < before.n; i++)
    if (!strcmp(before.words[i - 1], "-o")) before.words[i] = name;
  add(&before, "-E");
  add(&before, "-P");
  int status = run(&before);
  FILE *f = status ? NULL : fopen(name, "r");
  mix_file(f);
  if (f) fclose(f);
  unlink(name);
  if (status) exit(status);
}

int main(int argc, char **argv) {
  static char real[] = REAL, option[] = OPTION;
  static char kernel[] = "-Dalways_inline=unused -fno-asynchronous-unwind-tables -nostdlib -lgcc";
  Command c = {0};
  const char *out = NULL, *source = NULL;
  int sources = 0;
  bool is_kernel = false, is_object = false;
  mix(real, sizeof real);
  mix(option, sizeof option);
  add_words(&c, real);
  for (int i = 1; i < argc; i++) {
    size_t n = strlen(argv[i]);
    bool is_out = !strcmp(argv[i - 1], "-o"), is_source = n > 2 && !strcmp(argv[i] + n - 2, ".c");
    if (is_out) out = argv[i];
    else if (is_source) source = argv[i], sources++;
    else mix(argv[i], n + 1);
    is_kernel |= !strcmp(argv[i], "-Wl,-Bsymbolic");
    is_object |= !strcmp(argv[i], "-c");
    if (!is_kernel || strcmp(argv[i], "-lm") != 0) add(&c, argv[i]);
  }
  if (is_kernel) add_words(&c, kernel);
  add_words(&c, option);
  if (sources != 1 || !out || strlen(out) > NAME || !(is_kernel || is_object)) {
    execvp(c.words[0], c.words);
    return 127;
  }
  FILE *f = is_kernel ? fopen(source, "r") : NULL;
  mix_file(f);
  if (f) fclose(f);
  if (is_object) mix_preprocessed(&c, out);
  char kept[NAME];
  snprintf(kept, sizeof kept, "%s/%016llx%016llx", KEPT, (unsigned long long)(hash >> 64),
           (unsigned long long)hash);
  if (copy(kept, out, true)) return 0;
  int status = run(&c);
  if (!status) copy(out, kept, false);
  return status;
}
