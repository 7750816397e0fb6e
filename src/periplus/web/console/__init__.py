"""What the operator sees, presses and takes away."""
