"""Where models come from: names, borrowed and own weights, checkpoints; they become a VisionTransformer."""
