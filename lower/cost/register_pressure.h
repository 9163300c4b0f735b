/* Register pressure: an estimate of the registers of a thread, the most that are live at one
 * statement.  The assembler may do better or worse. */
#ifndef NEREID_LOWER_COST_REGISTER_PRESSURE_H
#define NEREID_LOWER_COST_REGISTER_PRESSURE_H

#include "lower/nest/nest.h"

/* Of level thread, in 32-bit registers. */
int register_pressure(Arena *a, const Nest *n);

#endif
