# nereid: --sig x=*fp32 -D LARGE=448 --target sm_80 --run-passes ''
# Values of a module that ask for the machine are those of the target; the environment is empty.
import os

import torch
import triton
import triton.language as tl


def is_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"


def largest():
    if torch.version.hip:
        return 240.0
    return torch.finfo(torch.float8_e4m3fn).max


IS_HIP = torch.version.hip is not None
IS_HOPPER = is_cuda() and torch.cuda.get_device_capability()[0] >= 9
SCALE = float(os.getenv("SCALE", "1.5"))
LARGEST = largest()
if IS_HOPPER:
    WAYS = 4
else:
    WAYS = 2


@triton.jit
def kernel(x, LARGE: tl.constexpr):
    tl.static_assert(not IS_HIP and not IS_HOPPER and LARGEST == LARGE)
    tl.store(x, SCALE * WAYS)
