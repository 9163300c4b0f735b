/* What became of a configuration, as words. */
#ifndef NEREID_RUNTIME_RECORDS_TUNE_STATUS_H
#define NEREID_RUNTIME_RECORDS_TUNE_STATUS_H

#include <stdbool.h>

#include "runtime/nereid_tune.h"

/* What nereid_tune_status_name() gives; false if it is none of these words. */
bool tune_status_read(nereid_tune_status *out, const char *word);

#endif
