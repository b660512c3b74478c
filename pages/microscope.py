"""The microscope: point at a patch, see whom it listens to."""

from playground.ui.components import stage
from playground.ui.navigation import arrive

arrive("microscope")
stage()
