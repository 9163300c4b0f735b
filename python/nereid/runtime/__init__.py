"""Functions as kernels: their source, arguments, devices, launches and tuning."""
