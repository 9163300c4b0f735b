nereid list add.py
