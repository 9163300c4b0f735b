nereid list add.py more.py
