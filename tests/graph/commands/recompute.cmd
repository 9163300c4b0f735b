# Values that are cheap to compute again are not stored for other kernels.
nereid graph recompute.py --emit fused
nereid graph recompute.py --random-inputs --device interp
nereid graph recompute.py --random-inputs --device interp --mode eager
# The gradient of a maximum over windows reads each window's where it is, in one kernel.
nereid graph max_pool_gradient.py --emit fused
nereid graph max_pool_gradient.py --random-inputs --device interp
# The logits of a loss are read where they are: their difference from the largest is a value inside of a kernel.
nereid graph cross_entropy.py --emit fused
nereid graph cross_entropy.py --random-inputs --device interp
nereid graph cross_entropy.py --random-inputs --device interp --mode eager
# The gradient of a token is zeros but for that one: each kernel reads the token where it is.
nereid graph token_gradient.py --emit fused
nereid graph token_gradient.py --random-inputs --device interp
nereid graph token_gradient.py --random-inputs --device interp --mode eager
# A decoder's layer for one token: what thousands of sums read is computed once, where it costs more than a load.
nereid graph decode_layer.py --emit fused
