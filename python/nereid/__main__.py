"""The command-line program: `python -m nereid`, and the script `nereid`."""

import os
import pathlib
import sys
from typing import NoReturn


def program() -> pathlib.Path:
    """The program's file, which needs no Python."""
    return pathlib.Path(__file__).with_name("bin") / "nereid"


def main() -> NoReturn:
    os.execv(program(), ["nereid", *sys.argv[1:]])


if __name__ == "__main__":
    main()
