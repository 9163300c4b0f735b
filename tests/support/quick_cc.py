"""A quick C compiler for device cpu, where kernels run once: most of the time would go into -O2."""
import os, pathlib


def quick_compiler(folder, option="-O0", cached=True):
    """From here on kernels are compiled with `option` in the last place.  What was compiled is kept
    in `folder`, or not at all."""
    path = pathlib.Path(folder) / "cc"
    path.write_text(f'#!/bin/sh\nexec {os.environ.get("CC", "cc")} "$@" {option}\n')
    path.chmod(0o700)
    os.environ.update(CC=str(path), NEREID_CACHE_DIR=str(folder) if cached else "")
