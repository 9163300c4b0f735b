nereid compile add.py -O
