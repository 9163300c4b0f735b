/* A kernel that was named on the command line, on its device.
 *
 * Functions that return an int return a status, after a message if it is not STATUS_OK. */
#ifndef NEREID_CLI_ARGUMENTS_LAUNCH_REQUEST_H
#define NEREID_CLI_ARGUMENTS_LAUNCH_REQUEST_H

#include "cli/arguments/request.h"

/* NULL: a GPU if there is one, else the CPU.  Notes are printed, and faults of kernels told. */
int launch_device(nereid_device **out, const char *name);
void launch_device_close(nereid_device *d);
/* The kernel of a completed request. */
int launch_module(nereid_module **out, const nereid_kernel_info **kernel, const Request *r);

typedef struct {
  nereid_device *device;
  nereid_image *image;
  nereid_kernel *kernel;
  nereid_launch *launch;
} Launch;

/* Compiles the kernel for the device, and loads it there. */
int launch_open(Launch *out, nereid_device *d, const nereid_request *r, const uint32_t grid[3]);
/* Copies arrays to the device, and makes them and the numbers arguments of the launch. */
int launch_upload(Launch *l, Arguments *a);
/* Copies arrays back to where the values were. */
int launch_fetch(const Launch *l, Arguments *a);
/* All but the device, and the arrays there. */
void launch_free(Launch *l, Arguments *a);

#endif
