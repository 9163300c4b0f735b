nereid graph window_norm.py --device cpu --emit fused
