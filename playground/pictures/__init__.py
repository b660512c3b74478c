"""Turns bytes into upright RGB pictures. Risky formats are decoded in a process that can be killed."""
