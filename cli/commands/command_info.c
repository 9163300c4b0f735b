/* nereid info: devices, targets, tools, cache and records. */
#include <stdio.h>

#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "runtime/nereid_tune.h"

static const Option options[] = {{0}};

static void print_device_info(const char *name) {
  nereid_device *d;
  nereid_device_info info;
  if (nereid_device_open(&d, name)) {
    printf("  %-8s none: %s\n", name, nereid_error_message());
    return;
  }
  nereid_device_get_info(&info, d);
  printf("  %-8s %s", info.name, info.description);
  if (info.memory) printf(", %lld MiB", (long long)info.memory >> 20);
  if (info.driver_version)
    printf(", driver for CUDA %d.%d", info.driver_version / 1000, info.driver_version % 1000 / 10);
  if (info.target[0]) printf(", target %s", info.target);
  putchar('\n');
  nereid_device_close(d);
}

static void print_gpus(void) {
  int n = nereid_device_count("cuda");
  if (n == 0) print_device_info("cuda");
  for (int i = 0; i < n; i++) {
    char name[32];
    snprintf(name, sizeof name, "cuda:%d", i);
    print_device_info(name);
  }
}

static void print_tool(const char *tool) {
  char path[4096];
  nereid_find_tool(path, sizeof path, tool);
  printf("  %-8s %s\n", tool, path[0] ? path : "not found");
}

static int run_info(int argc, char **argv) {
  if (argc) return args_error(E_CLI_EXTRA_FILE, argv[0], "");
  char folder[8192];
  printf("nereid %s (%s)\ndevices\n", nereid_version(), nereid_build_id());
  print_gpus();
  print_device_info("cpu");
  print_device_info("nest");
  print_device_info("interp");
  fputs("targets\n ", stdout);
  for (int i = 0; nereid_target(i); i++) printf(" %s", nereid_target(i));
  fputs("\ntools\n", stdout);
  print_tool("cc");
  print_tool("ptxas");
  nereid_cache_describe(folder, sizeof folder);
  printf("cache\n  %s\n", folder);
  nereid_records_describe(folder, sizeof folder);
  printf("records\n  %s\n", folder);
  return STATUS_OK;
}

const Command command_info = {"info", "",
                              "Lists devices, targets, tools found, the cache and the records.",
                              options, run_info};
