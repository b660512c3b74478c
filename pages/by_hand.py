from playground.ui import lesson

lesson.begin("by_hand", "Being built.")
lesson.end()
