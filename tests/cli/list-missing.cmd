nereid list missing.py
