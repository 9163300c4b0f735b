"""Times of training steps and their peaks of memory, for stacks.py and parallel.py."""

import time


def took(step, device, steps, synchronize):
    """Milliseconds of each of `steps` calls of step(i), and the peak of memory in MB above what was
    held; synchronize() waits until all is done."""
    import torch

    synchronize()
    held = 0
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
    times = []
    for i in range(steps):
        begin = time.perf_counter()
        step(i)
        synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    peak = torch.cuda.max_memory_allocated() - held if device == "cuda" else 0
    return times, peak / 2**20
