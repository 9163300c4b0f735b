"""What `triton.backends.nvidia` has."""
