/* Forms of values that several commands describe in their help. */
#ifndef NEREID_CLI_ARGUMENTS_VALUES_H
#define NEREID_CLI_ARGUMENTS_VALUES_H

#include "lower/target/machine_table.h"

#define OPERAND_KERNEL                                                                      \
  {                                                                                         \
    "FILE[:KERNEL]",                                                                        \
        "a Python file, text of --emit, or - (standard input); KERNEL: NAME, Class.NAME or " \
        "NAME@LINE"                                                                         \
  }

#define OPERAND_MODEL \
  {"MODEL", "a .pt2 file of torch.export.save, an .onnx file, a graph or plan as text, or - for "  \
            "standard input"}

/* The values of a kernel's argument. */
#define OPERAND_VALUES                                                                       \
  {"NAME=VALUE", "an argument: a number, true, 1e-6:fp64, (A,B), or an array:"},             \
      {"  @x.npy", "of a file"}, {"  &OTHER", "the array of argument OTHER again"},          \
      {"  zeros:f32[128,64]", "ones:, empty:, rand:, randn:bf16[512]:SEED"}, {               \
    "  randint:i32[64]:LO:HI", "integers from LO to HI - 1; :SEED may follow"                \
  },                                                                                         \
  {                                                                                          \
    "  tensordesc<f32[16,32]>:ARRAY", "a tensor descriptor with blocks of that shape"          \
  }

#define CHOICES_DEVICE "cuda cpu nest interp"
#define TARGET_NAME(name, ...) name " "
#define CHOICES_TARGET MACHINES(TARGET_NAME) "cpu"

#endif
