nereid graph flex-backward.py --emit graph
nereid graph flex-backward.py --emit fused
