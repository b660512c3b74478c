from playground.ui import lesson

lesson.begin("code", "Being built.")
lesson.end()
