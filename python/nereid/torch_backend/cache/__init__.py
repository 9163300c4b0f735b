"""Programs in PyTorch's cache of AOTAutograd."""
