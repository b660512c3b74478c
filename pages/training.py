from playground.ui import lesson

lesson.begin("training", "Being built.")
lesson.end()
