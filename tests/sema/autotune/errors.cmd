nereid list --configs errors.py
