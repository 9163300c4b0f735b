# A place that overflows; sizes that do may be told as well.
nereid graph place.py --emit kernels 2>&1 | head -3 1>&2
