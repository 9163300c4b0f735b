#include "runtime/store/tool_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/store/cache.h"

enum { WORDS_MAX = 32, OUTPUT_MAX = 4096 };

/* A tool that was replaced is another one. */
static CacheId version_id(const char *path, const char *options) {
  struct stat st = {0};
  stat(path, &st);
  KeyMaker *k = cache_key_start();
  cache_key_text(k, "version");
  cache_key_text(k, path);
  cache_key_text(k, options);
  cache_key_add(k, &st.st_size, sizeof st.st_size);
  cache_key_add(k, &st.st_mtim, sizeof st.st_mtim);
  return (CacheId){.key = cache_key_end(k), .kind = CACHE_TOOL, .name = path};
}

static bool ask_tool_version(char *output, const char *path, const char *options) {
  char words[TOOL_PATH], *rest = NULL;
  const char *argv[WORDS_MAX];
  int n = 0;
  argv[n++] = path;
  snprintf(words, sizeof words, "%s", options);
  for (char *w = strtok_r(words, " ", &rest); w && n < WORDS_MAX - 2;
       w = strtok_r(NULL, " ", &rest))
    argv[n++] = w;
  argv[n++] = "--version";
  argv[n] = NULL;
  return tool_run(argv, output, OUTPUT_MAX) == 0;
}

static void take_line(char out[TOOL_VERSION], const char *text, const char *mark) {
  const char *at = mark ? strstr(text, mark) : NULL, *line = at ? at : text;
  while (line > text && line[-1] != '\n') line--;
  snprintf(out, TOOL_VERSION, "%.*s", (int)strcspn(line, "\r\n"), line);
}

void tool_version(char out[TOOL_VERSION], const char *path, const char *options, const char *mark) {
  char output[OUTPUT_MAX] = "", *kept;
  size_t size;
  CacheId id = version_id(path, options);
  Cache *cache = cache_open(NULL, NULL);
  if (cache_get(cache, &id, &kept, &size)) {
    snprintf(output, sizeof output, "%.*s", (int)size, kept);
    free(kept);
  } else if (ask_tool_version(output, path, options)) {
    cache_put(cache, &id, output, strlen(output));
  } else {
    output[0] = 0;
  }
  cache_close(cache);
  take_line(out, output, mark);
}
