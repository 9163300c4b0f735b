# What is made of no elements, and what has none.
nereid graph graph_empty.py --device interp
nereid graph graph_empty.py --device interp --mode eager
