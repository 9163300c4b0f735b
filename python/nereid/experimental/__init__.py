"""What Triton keeps under `experimental`: Gluon."""
