"""The microscope: shows to which patches the patch under the cursor attends."""

from playground.ui.components import stage
from playground.ui.navigation import arrive

arrive("microscope")
stage()
