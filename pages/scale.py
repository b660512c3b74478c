from playground.lessons.scale import LESSON
from playground.ui import host

host.show(LESSON)
