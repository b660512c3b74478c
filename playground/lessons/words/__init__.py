"""One file a lesson: all that it says and asks, as data."""
