/* Axes of pictures: the pixel of a value, and the values that are written beside the axis. */
#ifndef NEREID_CLI_REPORT_SCALE_H
#define NEREID_CLI_REPORT_SCALE_H

typedef enum {
  SCALE_LINEAR,
  SCALE_FROM_ZERO, /* linear, from 0 on */
  SCALE_LOG,   /* ticks at round decimal numbers */
  SCALE_BINARY /* logarithmic, ticks at powers of two */
} ScaleKind;

typedef struct {
  ScaleKind kind;
  double lo, hi;   /* values at the ends; lo < hi, and above 0 where the scale is logarithmic */
  double from, to; /* where these stand in the picture */
} Scale;

/* A scale around values from lo to hi: a linear one ends at ticks, others have some room. */
Scale scale_around(ScaleKind kind, double lo, double hi);
double scale_position(const Scale *s, double value);

typedef struct {
  double value;
  char label[16];
} Tick;

enum { TICKS_MOST = 12 };
/* At most that many ticks in out, at most TICKS_MOST; returns how many, at least 2 where the scale
 * holds two round numbers. */
int scale_ticks(Tick out[TICKS_MOST], const Scale *s, int most);

#endif
