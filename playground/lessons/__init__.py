"""The lessons: their settings, steps, questions and numbers."""
