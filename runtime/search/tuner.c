#include "runtime/search/tuner.h"

int tuner_run(Search *s) {
  Memory memory;
  Memo memo;
  DevicePeaks peaks;
  tuner_look_up(s, &memo);
  tuner_recall(s, &memory);
  tuner_predict(s, &peaks, false);
  tuner_keep(s, &memo);
  int code = search_run(s);
  tuner_remember(s, &memory);
  tuner_forget(&memory);
  return code;
}
