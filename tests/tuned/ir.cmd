nereid list --configs ../golden/vector_add.tile
