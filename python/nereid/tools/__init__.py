"""Tools of the host: tensor descriptors."""
