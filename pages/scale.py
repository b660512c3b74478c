from playground.ui import lesson

lesson.begin("scale", "Being built.")
lesson.end()
