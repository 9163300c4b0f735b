# Ranks are checked before axes change places.
nereid graph conv_tbc.py --emit plan
