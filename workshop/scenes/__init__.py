"""Draws random pictures with labels and masks, for training and measuring."""
