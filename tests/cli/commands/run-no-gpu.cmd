NEREID_LIBCUDA=/no/libcuda.so nereid run add.py:unmasked --device cuda --grid 1
