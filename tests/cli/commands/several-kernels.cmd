nereid compile add.py
