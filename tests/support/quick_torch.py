"""PyTorch without work that no test looks at; a driver imports this right after PyTorch.

For each function that it compiles, TorchDynamo empties the processor's cache to time the guards
(28 ms of a core), and writes the text of each stage for a trace, which nothing reads where logging
is off.  The collector goes through the modules of PyTorch again and again, all of which stay."""
import gc, logging

import torch._dynamo.guards

if hasattr(torch._dynamo.guards, "profile_guard_manager"):
    torch._dynamo.guards.profile_guard_manager = lambda *_: 0.0
logging.getLogger("torch.__trace").handlers.clear()
gc.freeze()
