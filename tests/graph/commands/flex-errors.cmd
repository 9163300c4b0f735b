nereid graph flex-tile.py --emit kernels
nereid graph flex-block.py --emit kernels
nereid graph flex-moved.py --emit kernels
nereid graph flex-read.py --emit kernels
