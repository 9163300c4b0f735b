# Integers that a dtype does not have.
nereid graph literals.py --random-inputs --device interp
nereid graph numbers_large.py --random-inputs --device interp
