#!/usr/bin/env python3
"""Each operator's meaning is written once: in the table of Nereid's operators and its rules, where
programs of torch.export and texts have it, too, or in Python, with a reason."""
import os, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally

try:
    import torch
    import quick_torch
except ImportError:
    torch = None


def check_forms():
    """A form in Python of an operator that the table has gives its reason; others have none."""
    from nereid import _nereid
    from nereid.torch_backend.base.nodes import name_of
    from nereid.torch_backend.decompositions import registry, table

    table.decompositions()
    for target in (*registry.own, *registry.drawing):
        known, name = _nereid.has_operator(name_of(target)), name_of(target)
        tally.check(known == (target in registry.beside),
                    f"{name}: {'a rule in C and one in Python' if known else 'a stale reason'}")
    for packet in table._WHOLE:
        known = any(_nereid.has_operator(f"{packet._qualified_op_name.replace('::', '.')}.{name}")
                    for name in packet.overloads())
        tally.check(known, f"{packet}: neither a rule in C nor one in Python")


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        check_forms()
    sys.exit(tally.report())
