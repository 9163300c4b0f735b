nereid compile sema_several_kernels.py:thrid
