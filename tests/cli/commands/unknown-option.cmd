nereid compile add.py --targt cpu
