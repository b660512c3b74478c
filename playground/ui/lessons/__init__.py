"""One file for each lesson page, named after it; what does not fit there lies beside it, as heads_atlas.py does."""
