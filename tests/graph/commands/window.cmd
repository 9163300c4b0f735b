# Windows over padding, read through a view that divides positions: the same as of a copy.
nereid graph window.py --random-inputs --device interp
nereid graph window.py --emit fused
