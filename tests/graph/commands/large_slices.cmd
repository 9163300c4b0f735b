# Kernels that read slices of tensors of 2^31 elements and more have indices of 64 bits, and no others.
NEREID_CPU=cpu:8 nereid graph large_slices.py --emit kernels --device cpu | grep -E "^def k|int64|index ="
