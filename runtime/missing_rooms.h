/* Temporary: lets the program link while rooms to the left are incomplete. */
#ifndef NEREID_RUNTIME_MISSING_ROOMS_H
#define NEREID_RUNTIME_MISSING_ROOMS_H
#pragma weak parse
#pragma weak ast_print
#pragma weak program_from_text
#pragma weak program_module
#pragma weak sema_kernels
#pragma weak sema_find
#pragma weak sema_compile
#pragma weak tile_print
#pragma weak tile_parse
#pragma weak tile_interp
#pragma weak nest_interp
#pragma weak nest_parse
#pragma weak machine_find
#pragma weak machine_list
#pragma weak lower_run
#pragma weak lower_run_named
#pragma weak lower_stage
#pragma weak lower_print
#pragma weak lower_parse
#pragma weak lower_find_pass
#pragma weak lower_passes
#pragma weak lower_written
#pragma weak ptx_print
#pragma weak c_print
#pragma weak memory_new
#pragma weak memory_add
#pragma weak memory_was_written
#pragma weak memory_findings
#endif
