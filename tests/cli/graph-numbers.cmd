# Integers that a dtype does not have.
nereid graph graph_numbers.py --random-inputs --device interp
nereid graph graph_numbers_large.py --random-inputs --device interp
