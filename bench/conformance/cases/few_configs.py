"""Let autotuned kernels try few of their configurations: CONFORMANCE_CONFIGS of them, on both sides.

Most of the time of a case whose kernels are autotuned goes into compiling configurations, dozens of
them each. Which are kept is drawn by the kernel's name alone, so that both sides try the same ones,
and other kernels other ones. Results must not depend on the configuration that wins.
"""

import os
import random

COUNT = int(os.environ["CONFORMANCE_CONFIGS"])


def kept(configs, name):
    """COUNT of the configurations, in an order that the kernel's name determines."""
    configs = list(configs)
    random.Random(name).shuffle(configs)
    return configs[:COUNT]


def shorten(tuner, method):
    """Let the method of an autotuner that gives the configurations to try give few of them."""
    whole = getattr(tuner, method)

    def few(self, *args, **kwargs):
        return kept(whole(self, *args, **kwargs), self.base_fn.__name__)

    setattr(tuner, method, few)


if os.environ["CONFORMANCE_SIDE"] == "nereid":
    from nereid.runtime.autotuner import Autotuner

    shorten(Autotuner, "_pruned")
else:
    from triton.runtime.autotuner import Autotuner

    shorten(Autotuner, "prune_configs")
