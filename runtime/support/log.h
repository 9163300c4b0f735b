/* The log: actions of the program and the library, as lines on standard error: `nereid: TOPIC:
 * text`, or objects of JSON where diagnostics are.
 *
 *  * NEREID_LOG names levels and topics with commas between: `debug`, `cache,tune`, `info,-launch`.
 * Objects (a compilation, a device, a cache) read it when they are made and keep the set of topics,
 * so that a test of a bit is all that a log costs where it is off, and no state is shared. */
#ifndef NEREID_RUNTIME_SUPPORT_LOG_H
#define NEREID_RUNTIME_SUPPORT_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Topics: their names, the first level that has them, their contents. */
#define LOG_TOPICS(X)                                                                          \
  X(LOG_COMPILE, "compile", "info", "kernels that are compiled, and the time of each stage")    \
  X(LOG_TUNE, "tune", "info", "the configuration of a kernel, and the reason")                  \
  X(LOG_LAUNCH, "launch", "info", "launches whose grid or arguments are new: grid, variant")    \
  X(LOG_GRAPH, "graph", "info", "stages of compiling a model, with their times")                \
  X(LOG_CACHE, "cache", "info", "entries of the cache that are found, missed, put and evicted") \
  X(LOG_TOOL, "tool", "debug", "C compilers and assemblers: command lines and times")           \
  X(LOG_PASS, "pass", "debug", "passes on kernels: times, and which of them changed something")

#define LOG_TOPIC(id, name, level, doc) id,
typedef enum { LOG_TOPICS(LOG_TOPIC) LOG_TOPIC_COUNT } LogTopic;
#undef LOG_TOPIC

/* A set of topics. */
typedef unsigned Log;

/* The set that NEREID_LOG names.  A word that is no level and no topic is told, once in a process,
 * as a warning. */
Log log_read(void);
/* The set that a text names, and the text without the words that name nothing, in `valid`.  False:
 * there are such words; `unknown` is the first one, with a suggestion: " (did you mean cache?)". */
bool log_parse(Log *out, const char *text, char *valid, size_t size, char *unknown,
               size_t unknown_size);

static inline bool log_has(Log log, LogTopic topic) { return log >> topic & 1; }
/* Prints a line if the set has the topic. */
#define LOG(log, topic, ...) (log_has(log, topic) ? log_print(topic, __VA_ARGS__) : (void)0)
void log_print(LogTopic topic, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Are messages objects of JSON (NEREID_DIAGNOSTICS, docs/diagnostics.md)? */
bool message_is_json(void);

#endif
