nereid list --configs ../../codegen/vector_add.tile
