"""What *Train two now* runs, and what reads the time-lapse: recipes, losses, loop, evaluation."""
