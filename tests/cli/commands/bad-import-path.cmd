nereid compile add.py:add --import-path nowhere
nereid list add.py --import-path add.py
