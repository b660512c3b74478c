"""The pages of the app, in the order in which they are offered."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    name: str  # of the file in pages/, and in the address
    short: str
    title: str
    icon: str

    @property
    def file(self) -> str:
        return f"pages/{self.name}.py"


MICROSCOPE = Room("microscope", "Microscope", "Microscope", ":material/center_focus_strong:")
LESSONS = (
    Room("patches", "Patches", "Patches: from pixels to tokens", ":material/grid_on:"),
    Room("shapes", "Shapes", "Shapes: where every dimension comes from", ":material/data_array:"),
    Room("scale", "Scale", "Scale: why √d_k", ":material/show_chart:"),
    Room("by_hand", "By hand", "By hand: attention without training", ":material/pan_tool_alt:"),
    Room("heads", "Heads", "Heads: what they do", ":material/apps:"),
    Room("cost", "Cost", "Cost: the quadratic wall", ":material/trending_up:"),
    Room("code", "Code", "Code: read it", ":material/code:"),
)
TRAINING = Room("training", "Training", "Training: from fog to structure", ":material/timelapse:")
ROOMS = {room.name: room for room in (MICROSCOPE, *LESSONS, TRAINING)}


def after(room: Room) -> Room:
    """Where to go on reading."""
    rooms = list(ROOMS.values())
    return rooms[(rooms.index(room) + 1) % len(rooms)]
