"""The backend's log: Python's logger `nereid.torch_backend`.

`TORCH_LOGS="+nereid.torch_backend"` prints it as PyTorch prints its own, `NEREID_LOG=graph` as the
library prints the stages of other models.
"""

from __future__ import annotations

import logging
import os
import re
from collections import Counter

NAME = "nereid.torch_backend"
log = logging.getLogger(NAME)

_LEVELS = {"info": logging.INFO, "1": logging.INFO, "graph": logging.INFO,
           "debug": logging.DEBUG, "all": logging.DEBUG, "2": logging.DEBUG}
_FRAME = re.compile(r'File "(.*?)", line (\d+), in (\S+)(?:\n +(\S.*))?')


def level_of(text: str) -> int | None:
    """The level that a value of NEREID_LOG gives the topic `graph`; None: it is off."""
    words = [word.strip() for word in text.split(",")]
    if "-graph" in words:
        return None
    return min((_LEVELS[word] for word in words if word in _LEVELS), default=None)


def start() -> None:
    """Prints lines on standard error, if NEREID_LOG says so."""
    level = level_of(os.environ.get("NEREID_LOG", ""))
    if level is None:
        return
    handler = logging.StreamHandler()
    handler.setLevel(level)
    handler.setFormatter(logging.Formatter("nereid: graph: %(message)s"))
    log.addHandler(handler)
    if log.level == logging.NOTSET or log.level > level:
        log.setLevel(level)


def line_of(node) -> str:
    """The line of the model that a node is of: "model.py:12 in forward: y = x.relu()", or ""."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if "/torch/" not in frame[0]] or frames
    if not own:
        return ""
    path, line, function, text = own[-1]
    return f"{os.path.basename(path)}:{line} in {function}" + (f": {text}" if text else "")


def counted(reasons: dict) -> Counter:
    """How many nodes there are, by (operator, reason, line of the model)."""
    return Counter((str(node.target), reason, line_of(node)) for node, reason in reasons.items())


def tell(program) -> None:
    """A line a graph, its regions included; and one for each operator that PyTorch runs."""
    if program.region:
        return
    log.info("%s graph %d of %d nodes: %d segments, %d nodes by PyTorch, %.2f s", program.kind,
             program.number, len(program.graph.nodes), len(program.segments),
             len(program.reasons), program.seconds)
    for (target, reason, line), count in counted(program.reasons).items():
        log.info("%s graph %d: PyTorch runs %s%s: %s%s", program.kind, program.number, target,
                 f" ({count} times)" if count > 1 else "", reason, f" ({line})" if line else "")
    for (target, what, line), _ in counted(program.reads).items():
        log.info("%s graph %d: %s by %s%s", program.kind, program.number, what, target,
                 f" ({line})" if line else "")
    for i, segment in enumerate(program.segments):
        log.debug("%s graph %d, segment %d on %s:\n%s", program.kind, program.number, i,
                  segment.name, segment.source)
