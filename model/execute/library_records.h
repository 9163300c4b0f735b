/* Records of products: how long each took as a kernel of ours, with what is computed on its tiles,
 * and as a call of a library, with the kernels after it.
 *
 * They are records as all others (runtime/records/records.h), of kernel "library product": the
 * configuration "kernels" is ours, of a version of the compiler, and a library's function is one of
 * a version of the library.  A product whose record is of another version of the library is ours:
 * the library may have changed. */
#ifndef NEREID_MODEL_EXECUTE_LIBRARY_RECORDS_H
#define NEREID_MODEL_EXECUTE_LIBRARY_RECORDS_H

#include "graph/analysis/library_problem.h"
#include "runtime/device/device.h"

/* Microseconds. */
typedef struct {
  double kernels, library; /* 0: unknown */
  int runs;                /* of a measurement */
} LibraryTimes;

typedef struct LibraryRecords LibraryRecords;

/* The records for a device, in the arena; the first query opens the database. */
LibraryRecords *library_records_new(Arena *a, nereid_device *d);
void library_records_close(LibraryRecords *r); /* also for NULL */

/* What is known of a product with the library that is here and, of ours, with any version of the
 * compiler, or with this one alone. */
LibraryTimes library_records_find(LibraryRecords *r, const LibraryProblem *p, bool current);
/* Keeps a measurement: for this process, and if it can in the database. */
void library_records_put(LibraryRecords *r, const LibraryProblem *p, LibraryTimes t);

/* The library does not take that problem: it is ours from now on. */
void library_records_refuse(LibraryRecords *r, const LibraryProblem *p);

/* The library where it is faster, by records or, without them, by the times of the problems that
 * are most like it (runtime/library/library_times.h), and where it is here; its context is a
 * LibraryRecords. */
bool library_records_want(void *context, const LibraryProblem *p);

#endif
