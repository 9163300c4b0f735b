nereid compile add.py:ad
