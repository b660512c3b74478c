"""The wall of moments: pictures of rows of attention in the samples."""

from playground.ui.components import app_component
from playground.ui.navigation import arrive

arrive("moments")
app_component("wall")(key="wall", data={})
