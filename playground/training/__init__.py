"""Training, for *Train two now* and the time-lapse: recipes, losses, loop, evaluation."""
