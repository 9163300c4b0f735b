nereid compil add.py
