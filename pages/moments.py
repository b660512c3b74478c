"""The page Moments: a wall of small pictures, each of which shows one row of attention weights on a sample."""

from playground.ui.components import app_component
from playground.ui.navigation import arrive

arrive("moments")
app_component("wall")(key="wall", data={})
