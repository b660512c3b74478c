"""Makes the small models that ship. It runs from a checkout; the wheel does not have it."""
