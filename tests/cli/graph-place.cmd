# A place that overflows.
nereid graph graph_place.py --emit kernels
