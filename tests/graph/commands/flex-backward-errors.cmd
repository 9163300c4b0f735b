# gradients of what a function of scores reads otherwise than at an index of each axis
nereid graph flex-backward-axes.py
nereid graph flex-backward-read.py
