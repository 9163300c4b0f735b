"""A quick C compiler for device cpu, where kernels run once: most of the time would go into -O2."""
import os, pathlib

# Small functions are not copied into their callers, and the library has no start of its own and no
# tables for unwinding: a fifth of the time of a kernel.
SCRIPT = r"""#!/bin/sh
for word; do
  [ "$word" != -shared ] || exec {cc} "$@" -Dalways_inline=unused \
    -fno-asynchronous-unwind-tables -nostdlib -lgcc {option}
done
exec {cc} "$@" {option}
"""


def quick_compiler(folder, option="-O0", cached=True):
    """From here on kernels are compiled with `option` in the last place.  What was compiled is kept
    in `folder`, or not at all."""
    path = pathlib.Path(folder) / "cc"
    path.write_text(SCRIPT.format(cc=os.environ.get("CC", "cc"), option=option))
    path.chmod(0o700)
    os.environ.update(CC=str(path), NEREID_CACHE_DIR=str(folder) if cached else "")
