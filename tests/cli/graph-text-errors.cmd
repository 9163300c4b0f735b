nereid graph graph_wrong.py --emit graph
nereid graph graph_endless.py --emit graph
nereid graph add.py --emit graph
nereid graph graph_kernels.py --emit kernels
nereid graph graph_huge.py --emit kernels
nereid graph graph_products.py --emit kernels
