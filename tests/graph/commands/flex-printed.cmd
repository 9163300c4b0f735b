nereid graph flex-printed.py --emit graph
nereid graph flex-printed.py --emit fused
