/* Names of GPU targets, and which GPUs run their code. */
#ifndef NEREID_RUNTIME_DEVICE_GPU_TARGET_H
#define NEREID_RUNTIME_DEVICE_GPU_TARGET_H

#include <stdbool.h>

/* "sm_90a": 90, and whether it is for that architecture alone.  0: it is no GPU's. */
int gpu_target_sm(const char *target, bool *exact);
/* Can PTX for the target be assembled for a GPU of architecture `sm`? */
bool gpu_target_runs_on(const char *target, int sm);

#endif
