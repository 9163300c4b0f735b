# Layers of one structure are one function, which says what it computes in each of them.
nereid graph layers.py --emit kernels --device interp | sed -n '/^# File/,$p' | grep -v '^    '
nereid graph layers.py --emit plan --device interp | grep ^step
nereid graph layers.py --random-inputs --device interp --time | grep kernels
