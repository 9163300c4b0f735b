# What is made of no elements, and what has none.
nereid graph graph_empty.py --random-inputs --device interp
nereid graph graph_empty.py --random-inputs --device interp --mode eager
