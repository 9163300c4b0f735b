/* Files of records: what is read is printed, read again as the same, and merges with itself. */
#include <string.h>

#include "runtime/records/records.h"
#include "tests/fuzz/common/fuzz.h"

static const char *const corpus[] = {"tests/runtime/records/*", NULL};
static const char *const words[] = {"nereid records 1\n",
                                    "nereid records 2\n",
                                    " shape \"n=1\" predicted 1.5",
                                    "problem kernel \"k\" signature \"*f32\" sizes \"n=1\"",
                                    " device \"d\" driver \"1\"\n",
                                    "config \"B=1\"",
                                    "config \"B=2\" ok median 1.5 spread 0.5 runs 2",
                                    " taken \"2026-01-01T00:00:00Z\"",
                                    " taken \"9999-12-31T23:59:59Z\"",
                                    " ir \"000102030405060708090a0b0c0d0e0f\"",
                                    " version \"1\"",
                                    " code \"00000000000000000000000000000000\"",
                                    " reason \"\\x01\\n\"",
                                    "ok",
                                    "compile",
                                    "wrong",
                                    "0.0",
                                    "1e308",
                                    "1e-320",
                                    "0x1p-1074",
                                    "2147483647",
                                    "# comment\n",
                                    NULL};

const FuzzTarget fuzz_target = {"records", corpus, words, 6000, 4000};

static bool read_text(Arena *a, const char *text, size_t len, RecordList *out) {
  Diags *d = diags_new(a);
  uint32_t file = diag_source(d, "x.records", text, len);
  bool good = records_read(a, pool_new(a), d, file, out);
  Text messages = text_new(a);
  diag_print(d, &messages);
  if (good != (messages.len == 0)) fuzz_fail("a failure without a message, or the reverse");
  return good;
}

static const char *print(Arena *a, const RecordList *l) {
  Text out = text_new(a);
  records_print(&out, l);
  return out.data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *a = arena_new();
  RecordList list = {0}, again = {0};
  if (read_text(a, arena_strndup(a, (const char *)data, size), size, &list)) {
    records_sort(&list);
    const char *text = print(a, &list);
    if (!read_text(a, text, strlen(text), &again) || again.len != list.len)
      fuzz_fail("what was printed is not read:\n%s", text);
    for (size_t i = 0; i < list.len; i++) vec_push(a, &again, list.data[i]);
    records_sort(&again);
    if (strcmp(print(a, &again), text)) fuzz_fail("merged with itself it changes:\n%s", text);
    Text summary = text_new(a);
    records_summarize(&summary, &list);
  }
  arena_free(a);
  return 0;
}
