# What is made of no elements, and what has none.
nereid graph empty.py --random-inputs --device interp
nereid graph empty.py --random-inputs --device interp --mode eager
