nereid compile add.py --target
