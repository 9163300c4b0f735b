#include "runtime/support/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/strings.h"
#include "runtime/messages.h"
#include "runtime/support/error.h"

#define NAME(id, name, level, doc) name,
#define LEVEL(id, name, level, doc) level,
static const char *const names[] = {LOG_TOPICS(NAME)};
static const char *const levels[] = {LOG_TOPICS(LEVEL)};
#undef NAME
#undef LEVEL

static const Log ALL = (1u << LOG_TOPIC_COUNT) - 1;

/* ---- which topics ---- */

static Log info_topics(void) {
  Log log = 0;
  for (int i = 0; i < LOG_TOPIC_COUNT; i++)
    if (!strcmp(levels[i], "info")) log |= 1u << i;
  return log;
}

/* A level or a topic.  False: it is neither. */
static bool find_log_word(Log *out, const char *word) {
  static const char *const none[] = {"off", "none", "0"}, *const info[] = {"info", "1"},
                           *const all[] = {"debug", "all", "2"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    if (!strcmp(word, none[i])) return *out = 0, true;
  for (size_t i = 0; i < sizeof info / sizeof *info; i++)
    if (!strcmp(word, info[i])) return *out = info_topics(), true;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(word, all[i])) return *out = ALL, true;
  for (int i = 0; i < LOG_TOPIC_COUNT; i++)
    if (!strcmp(word, names[i])) return *out = 1u << i, true;
  return false;
}

static const char *suggest(char *out, size_t size, const char *word) {
  const char *words[LOG_TOPIC_COUNT + 3] = {"off", "info", "debug"};
  memcpy(words + 3, names, sizeof names);
  return error_suggest_or_list(out, size, word, words, sizeof words / sizeof *words);
}

/* A word after a minus takes its topics away. */
static bool apply_log_word(Log *log, const char *word) {
  Log named;
  bool minus = *word == '-';
  if (!find_log_word(&named, word + minus)) return false;
  *log = minus ? *log & ~named : named ? *log | named : 0;
  return true;
}

bool log_parse(Log *out, const char *text, char *valid, size_t size, char *unknown,
               size_t unknown_size) {
  char word[64], hint[192];
  size_t n = 0;
  bool good = true;
  *out = 0;
  *valid = 0;
  for (const char *at = text; *at;) {
    size_t len = strcspn(at, ", ");
    snprintf(word, sizeof word, "%.*s", (int)len, at);
    at += len + (at[len] != 0);
    if (!len) continue;
    if (apply_log_word(out, word)) {
      int more = snprintf(valid + n, size - n, "%s%s", n ? "," : "", word);
      n = (size_t)more < size - n ? n + (size_t)more : size - 1;
      continue;
    }
    if (good) snprintf(unknown, unknown_size, "`%s`%s", word, suggest(hint, sizeof hint, word));
    good = false;
  }
  return good;
}

Log log_read(void) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  const char *text = getenv("NEREID_LOG");
  char valid[256], unknown[320];
  Log log;
  if (!text || !*text) return 0;
  bool good = log_parse(&log, text, valid, sizeof valid, unknown, sizeof unknown);
  if (!good && !atomic_flag_test_and_set(&told))
    fprintf(stderr, "nereid: warning: " W_RUN_LOG "\n", unknown);
  return log;
}

/* ---- lines ---- */

bool message_is_json(void) {
  const char *form = getenv("NEREID_DIAGNOSTICS");
  return form && !strcmp(form, "json");
}

void log_print(LogTopic topic, const char *fmt, ...) {
  char text[4096];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  flockfile(stderr);
  if (message_is_json()) {
    fprintf(stderr, "{\"severity\":\"log\",\"topic\":\"%s\",\"message\":", names[topic]);
    json_print_string(stderr, text, strlen(text));
    fputs(",\"notes\":[]}\n", stderr);
  } else {
    fprintf(stderr, "nereid: %s: %s\n", names[topic], text);
  }
  funlockfile(stderr);
}
