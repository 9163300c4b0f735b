nereid graph wrong.py --emit graph
nereid graph endless.py --emit graph
nereid graph ../../cli/commands/add.py --emit graph
nereid graph kernels.py --emit kernels
nereid graph huge.py --emit kernels
nereid graph products.py --emit kernels
