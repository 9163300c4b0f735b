nereid compile --emit tile
