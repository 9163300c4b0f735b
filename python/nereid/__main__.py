"""The command-line program: `python -m nereid`, and the script `nereid`.

`python -m nereid --as-triton SCRIPT ARGUMENTS` and `--as-triton -m MODULE ARGUMENTS` run a program
of Python's in which `import triton` gives Nereid.
"""

import os
import pathlib
import sys
from typing import NoReturn


def program() -> pathlib.Path:
    """The program's file, which needs no Python."""
    return pathlib.Path(__file__).with_name("bin") / "nereid"


def run_as_triton(arguments: list[str]) -> None:
    """Runs a script, or a module after -m, with its arguments as Python would."""
    from nereid.drop_in import install_as_triton

    if not arguments or arguments == ["-m"]:
        sys.exit("usage: python -m nereid --as-triton SCRIPT [ARGUMENT]...\n"
                 "       python -m nereid --as-triton -m MODULE [ARGUMENT]...")
    install_as_triton(children=True)
    import runpy

    if arguments[0] == "-m":
        sys.argv[:] = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


def main() -> NoReturn:
    if sys.argv[1:2] == ["--as-triton"]:
        run_as_triton(sys.argv[2:])
        sys.exit(0)
    os.execv(program(), ["nereid", *sys.argv[1:]])


if __name__ == "__main__":
    main()
