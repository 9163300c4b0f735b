nereid graph slides.py --device cpu --emit fused && nereid graph slides.py --device cpu --emit kernels | sed -n '/^def k0/,/tiles):/p'
