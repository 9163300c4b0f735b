nereid compile sema_no_kernels.py
