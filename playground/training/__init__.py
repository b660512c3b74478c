"""From a recipe to weights: losses, loop, evaluation, time-lapse."""
