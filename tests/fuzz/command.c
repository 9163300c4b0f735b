/* Command lines: a command, then an argument a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "tests/fuzz/common/fuzz.h"

static const char *const corpus[] = {"tests/fuzz/command/*", NULL};
static const char *const words[] = {"compile\n",
                                    "run\n",
                                    "list\n",
                                    "bench\n",
                                    "--x\nn=64,128\n",
                                    "--peer\n",
                                    "--bytes\n",
                                    "{n}",
                                    "[n]",
                                    "info\n",
                                    "graph\n",
                                    "\n",
                                    "--sig\n",
                                    "-D\n",
                                    "--grid\n",
                                    "--emit\n",
                                    "--target\n",
                                    "--num-warps\n",
                                    "--num-stages\n",
                                    "--dump-after\n",
                                    "--run-passes\n",
                                    "--device\n",
                                    "--time\n",
                                    "--import-path\n",
                                    "--\n",
                                    "--help\n",
                                    "x_ptr=",
                                    "n=",
                                    "BLOCK=",
                                    "out_ptr=",
                                    "zeros:f32[64]",
                                    "rand:f32[64]",
                                    "&x_ptr",
                                    "=*fp32:16",
                                    "=i32",
                                    "=none",
                                    "=tl.float16",
                                    "=fn:",
                                    "cdiv(n, BLOCK)",
                                    ",",
                                    "=",
                                    ":",
                                    "@",
                                    "*",
                                    "tile",
                                    "nest",
                                    "thread",
                                    "ptx",
                                    "c",
                                    "ast",
                                    "all",
                                    "schedule,build",
                                    "sm_80",
                                    "cpu",
                                    "interp",
                                    "8",
                                    "-1",
                                    "99999999999999999999",
                                    "examples/kernels/vector_add.py",
                                    ":add_kernel",
                                    "@3",
                                    "tests/graph/commands/layers.py\n",
                                    "tests/graph/commands/number.py\n",
                                    "tests/models/chain/model.pt2\n",
                                    "tests/models/chain/input_0.npy\n",
                                    "tests/models/dyn_mlp/model.pt2\n",
                                    "--mode\neager\n",
                                    "--mode\nmax-autotune\n",
                                    "--emit\nplan\n",
                                    "--emit\ndot\n",
                                    "--emit\nexplain\n",
                                    "--range\ns0=1..8\n",
                                    "--items\nx=2\n",
                                    "--dtype\nbf16\n",
                                    "--rewrite\n",
                                    "--weights\n",
                                    "--compare\ntests/models/chain\n",
                                    "--explain\n",
                                    "records\n",
                                    "import\n",
                                    "export\n",
                                    "merge\n",
                                    "tests/runtime/records/one.records\n",
                                    NULL};

const FuzzTarget fuzz_target = {"command", corpus, words, 1000, 600};

enum { MOST_WORDS = 64 };

/* Nothing is written, and no array is large. */
static bool is_harmless(int argc, char **argv) {
  for (int i = 0; i < argc; i++) {
    const char *a = argv[i];
    if (!strncmp(a, "-o", 2) || !strncmp(a, "--o", 3) || strstr(a, "cubin")) return false;
    if (!strncmp(a, "--tr", 4) || !strncmp(a, "--j", 3) || strstr(a, "dump-d")) return false;
    if (strstr(a, "/dev/") || strlen(a) > 200) return false;
    if (strchr(a, '[') && strspn(strchr(a, '[') + 1, "0123456789_") > 4) return false;
    if (strchr(a, '[') && strpbrk(strchr(a, '['), ",*")) return false;
  }
  return true;
}

/* A grid of hundreds of programs, and thousands of elements for each, are no fault. */
static bool is_small_grid(int argc, char **argv) {
  for (int i = 0; i < argc; i++) {
    size_t most = i && !strcmp(argv[i - 1], "--grid") ? 2 : 3;
    for (const char *p = argv[i]; *p; p++)
      if (strspn(p, "0123456789") > most && strspn(p, "0123456789") < 19) return false;
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Command *const commands[] = {&command_compile, &command_run,   &command_list,
                                            &command_info,    &command_graph, &command_bench,
                                            &command_records};
  char *text = malloc(size + 1), *words_of[MOST_WORDS + 1], *rest = NULL;
  int n = 0;
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  setenv("NEREID_CACHE_DIR", "", 1);
  /* A kernel on a CPU may write anywhere, and one on a GPU go on for ever. */
  setenv("CC", "none", 1);
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  for (char *w = strtok_r(text, "\n", &rest); w && n < MOST_WORDS; w = strtok_r(NULL, "\n", &rest))
    words_of[n++] = w;
  words_of[n] = NULL;
  for (size_t i = 0; n && i < sizeof commands / sizeof *commands; i++)
    if (!strcmp(words_of[0], commands[i]->name) && is_harmless(n, words_of) &&
        is_small_grid(n, words_of))
      commands[i]->run(n - 1, words_of + 1);
  free(text);
  return 0;
}
