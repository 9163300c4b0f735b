#include "runtime/tuner.h"

int tuner_run(Search *s) {
  Memory memory;
  Rates rates;
  tuner_recall(s, &memory);
  tuner_predict(s, &rates, false);
  int code = search_run(s);
  tuner_remember(s, &memory);
  tuner_forget(&memory);
  return code;
}
