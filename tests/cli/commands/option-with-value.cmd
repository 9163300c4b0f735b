nereid run add.py --time=3
