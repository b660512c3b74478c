"""The page for teachers: plans, misconceptions, sheets to print and a quiz."""

import streamlit as st

from playground.ui import lesson, teach

here = lesson.begin(
    "teach",
    "Everything for a lecture: a plan that opens each scene, what students often say, a sheet to compute by hand, a "
    "quiz.",
    teach.SETTINGS,
)
teach.show_people()
teach.choose_part()
match st.session_state.part:
    case "plan":
        teach.plan(here)
    case "notes":
        teach.notes()
    case "print":
        teach.sheets()
    case "quiz":
        teach.quiz()
lesson.end()
