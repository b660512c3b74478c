from playground.ui import lesson

lesson.begin("patches", "Being built.")
lesson.end()
