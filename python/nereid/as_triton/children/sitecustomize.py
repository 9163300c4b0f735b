"""Runs at the start of Python programs that one under `--as-triton` starts: Nereid stands in for
triton there, too.  The site's own sitecustomize runs after it."""

import importlib
import os
import sys

_folder = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != _folder]
try:
    from nereid.drop_in import install_as_triton
except ImportError:  # the package is where the program was told, not where this one looks
    sys.path.append(os.path.abspath(os.path.join(_folder, "..", "..", "..")))
    from nereid.drop_in import install_as_triton
install_as_triton()
_own = sys.modules.pop("sitecustomize")
try:
    importlib.import_module("sitecustomize")
except ModuleNotFoundError:
    sys.modules["sitecustomize"] = _own
