/* Doubts about measured times: a machine that does other things as well may give one that is
 * far off. */
#ifndef NEREID_RUNTIME_RECORDS_DOUBT_H
#define NEREID_RUNTIME_RECORDS_DOUBT_H

#include <stdbool.h>
#include <stddef.h>

/* Runs after which the distance of the quartiles means something. */
enum { DOUBT_RUNS = 5 };

typedef struct {
  double median_us, spread_us;
  int runs;
  double predicted_us; /* by the model; 0: unknown */
} TimeTaken;

typedef enum {
  DOUBT_NONE,
  DOUBT_FEW,    /* too few runs for a spread */
  DOUBT_SPREAD, /* the quartiles are more than half of the median apart, and a microsecond */
  DOUBT_FAR     /* 15 times and 2 us off the prediction, and not confirmed by further runs */
} Doubt;

Doubt doubt_of(const TimeTaken *t);
/* Further runs that may end the doubt. */
int doubt_runs(const TimeTaken *t);
/* Prints a line; "" for a time without doubt. */
void doubt_print(char *out, size_t size, const TimeTaken *t);

#endif
