"""Loads models by name, from files and from the hub, and builds each as a VisionTransformer."""
