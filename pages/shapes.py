from playground.ui import lesson

lesson.begin("shapes", "Being built.")
lesson.end()
