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
# Places and masks of a grid are worth computing again together, where none is by itself: one kernel.  With border
# padding that kernel would be too long, and they are stored.
nereid graph grid_sample.py --emit fused --device cuda
nereid graph grid_sample.py --random-inputs --device interp
nereid graph grid_sample.py --random-inputs --device interp --mode eager
nereid graph grid_sample.py --emit kernels --device cuda | grep -E "(minimum|load)\("  # clamped places are not wrapped
nereid graph grid_sample_border.py --emit fused --device cuda
nereid graph grid_sample_border.py --random-inputs --device interp
nereid graph grid_sample_border.py --random-inputs --device interp --mode eager
