"""What heads do, what a weight carries, what the scale does and what attention costs."""
