"""Endless drawn pictures, with labels and masks."""
