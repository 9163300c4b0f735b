"""A quick C compiler for device cpu, where kernels run once: most of the time would go into -O2."""
import os, pathlib

# Small functions of kernels (-Bsymbolic) are not copied into their callers, and their library has
# no start of its own and no tables for unwinding: a fifth of the time of a kernel.  Objects, of
# which the projects of models share most, are kept by their text and the options.
SCRIPT = r"""#!/bin/sh
to= last=
for word; do
  [ "$word" != -Wl,-Bsymbolic ] || exec {cc} "$@" -Dalways_inline=unused \
    -fno-asynchronous-unwind-tables -nostdlib -lgcc {option}
  [ "$last" != -o ] || to=$word
  last=$word
done
case " $* $to" in *" -c "*.o) ;; *) exec {cc} "$@" {option} ;; esac
{cc} "$@" {option} -E -P || exit
kept={folder}/$({{ echo "$*"; cat "$to"; }} | sha256sum | cut -c1-40).o
if [ ! -e "$kept" ]; then
  {cc} "$@" {option} || exit
  cp "$to" "$kept.$$" && mv "$kept.$$" "$kept"
else
  cp "$kept" "$to"
fi
"""


def write(folder, option="-O0"):
    """The path of a compiler in `folder`, which puts `option` in the last place."""
    path = pathlib.Path(folder) / "cc"
    path.write_text(SCRIPT.format(cc=os.environ.get("CC", "cc"), option=option, folder=folder))
    path.chmod(0o700)
    return str(path)


def quick_compiler(folder, option="-O0", cached=True):
    """From here on kernels are compiled by it.  What was compiled is kept in `folder`, or not at
    all."""
    os.environ.update(CC=write(folder, option), NEREID_CACHE_DIR=str(folder) if cached else "")
