nereid graph reduced_positions.py --device cpu --emit kernels | grep '^#   [a-z0-9_]*: \|tl.load'
