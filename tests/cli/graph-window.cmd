# Windows over padding, read through a view that divides positions: the same as of a copy.
nereid graph graph_window.py --random-inputs --device interp
nereid graph graph_window.py --emit fused
