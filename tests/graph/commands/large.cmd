# Tensors of 2^31 elements and more have indices of 64 bits; where sizes are open they must say so.
nereid graph large.py --emit kernels --device cpu | grep index
nereid graph large.py --emit kernels --device cpu --range s0=1073741825..2000000000 | grep index
nereid graph large.py n=1100000000 --random-inputs --device cpu
