"""Bytes become an upright RGB picture; what is risky is decoded in a process that can be killed."""
