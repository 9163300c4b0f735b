# Integers that a dtype does not have.
nereid graph graph_numbers.py --device interp
nereid graph graph_numbers_large.py --device interp
