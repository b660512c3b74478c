"""The numbers behind each lesson."""
