# A part that is one element, repeated: it is read without a mask.
nereid graph graph_element.py --random-inputs --device interp
nereid graph graph_element.py --emit kernels | grep -c 'tl.load(in0_ptr + 0)'
