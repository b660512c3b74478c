from playground.ui import lesson

lesson.begin("heads", "Being built.")
lesson.end()
