"""Changes of whole graphs before they are partitioned."""
