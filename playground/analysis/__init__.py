"""Measurements of attention: habits of heads, contributions, the effect of the scale, ablation and cost."""
