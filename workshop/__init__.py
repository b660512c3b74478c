"""Trains the small models that ship with the playground. This package is part of the checkout, not of the wheel."""
