# A part that is one element, repeated: it is read without a mask.
nereid graph element.py --random-inputs --device interp
nereid graph element.py --emit kernels | grep -c 'tl.load(in0_ptr + 0)'
