from playground.ui import lesson

lesson.begin("cost", "Being built.")
lesson.end()
