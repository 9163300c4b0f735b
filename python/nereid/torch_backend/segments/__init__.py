"""Partition of a graph into segments, their texts and executables, and programs that call them."""
