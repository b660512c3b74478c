"""One file for each lesson page."""
