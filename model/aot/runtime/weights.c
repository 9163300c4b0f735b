/* weights.bin: mapped from the file, or part of the program (`make EMBED=1`).
 *
 * 64 bytes of a head (a magic word, the size, the sum), then tensors at multiples of 256. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan.h"

typedef struct {
  char magic[16];
  int64_t size;
  uint64_t sum; /* of all words after the head */
  char zeros[32];
} Head;

static const char MAGIC[16] = "nereid weights\n";

/* Changed words and words in another order change it. */
static uint64_t sum_of(const char *data, size_t size) {
  uint64_t a = 1, b = 0;
  for (size_t i = 0; i + 8 <= size; i += 8) {
    uint64_t word;
    memcpy(&word, data + i, sizeof word);
    a += word;
    b += a;
  }
  return b ^ (a << 1);
}

static int check(const char *data, size_t size, const char *path, bool skip) {
  Head head;
  if (size < sizeof head || memcmp(data, MAGIC, sizeof MAGIC) != 0)
    return model_fail(MODEL_E_FILE, "%s is no file of weights", path);
  memcpy(&head, data, sizeof head);
  if (head.sum != model_plan.weights_sum || head.size != model_plan.weights_bytes)
    return model_fail(MODEL_E_FILE, "%s has the weights of another model", path);
  if (size != (size_t)head.size)
    return model_fail(MODEL_E_FILE, "%s has %zu bytes, not %lld: it was not copied in full", path,
                      size, (long long)head.size);
  if (!skip && sum_of(data + sizeof head, size - sizeof head) != head.sum)
    return model_fail(MODEL_E_FILE, "%s is damaged: its sum is wrong; copy it again", path);
  return 0;
}

#ifdef EMBED

/* The assembler puts the file between the two names. */
__asm__(
    ".section .rodata\n"
    ".balign 256\n"
    ".global model_weights_begin\n"
    ".hidden model_weights_begin\n"
    "model_weights_begin: .incbin \"weights.bin\"\n"
    ".global model_weights_end\n"
    ".hidden model_weights_end\n"
    "model_weights_end: .byte 0\n"
    ".text\n");
extern const char model_weights_begin[], model_weights_end[];

int model_weights_open(WeightsFile *w, const model_options *o) {
  w->data = model_weights_begin;
  w->size = (size_t)(model_weights_end - model_weights_begin);
  return check(w->data, w->size, "the copy of weights.bin in the program", o->skip_checksum);
}

void model_weights_close(WeightsFile *w) { *w = (WeightsFile){0}; }

#else

static char *beside_program(char *out, size_t size) {
  static const char name[] = "weights.bin";
  const ssize_t n = readlink("/proc/self/exe", out, size);
  if (n < 0 || (size_t)n + sizeof name >= size) {
    memcpy(out, name, sizeof name);
    return out;
  }
  out[n] = 0;
  char *slash = strrchr(out, '/');
  memcpy(slash ? slash + 1 : out, name, sizeof name);
  return out;
}

static int map(WeightsFile *w, const char *path, int file) {
  struct stat st;
  if (fstat(file, &st)) return model_fail(MODEL_E_FILE, "can't read %s: %s", path, strerror(errno));
  if (!S_ISREG(st.st_mode) || st.st_size == 0)
    return model_fail(MODEL_E_FILE, "%s is no file of weights", path);
  w->size = (size_t)st.st_size;
  void *p = mmap(NULL, w->size, PROT_READ, MAP_PRIVATE, file, 0);
  if (p == MAP_FAILED) return model_fail(MODEL_E_FILE, "can't map %s: %s", path, strerror(errno));
  w->mapped = p;
  w->data = p;
  return 0;
}

int model_weights_open(WeightsFile *w, const model_options *o) {
  char found[4096];
  const char *path = o->weights ? o->weights : beside_program(found, sizeof found);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return model_fail(MODEL_E_FILE, "can't open the weights, %s: %s", path, strerror(errno));
  int code = map(w, path, file);
  close(file);
  return code ? code : check(w->data, w->size, path, o->skip_checksum);
}

void model_weights_close(WeightsFile *w) {
  if (w->mapped) munmap(w->mapped, w->size);
  *w = (WeightsFile){0};
}

#endif
