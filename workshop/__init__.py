"""Trains the small models that ship with the playground. Part of the checkout, not of the wheel."""
