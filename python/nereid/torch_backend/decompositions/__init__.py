"""What operators become before a graph is partitioned."""
