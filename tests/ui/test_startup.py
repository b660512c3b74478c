"""What the server is told once."""

from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from playground.ui.startup import bound_uploads


def test_of_a_session_s_uploads_only_the_last_are_kept():
    manager = MemoryUploadedFileManager("/upload")
    bound_uploads(manager, most=2)
    for session in ("one", "another"):
        for number in range(5):
            manager.add_file(session, UploadedFileRec(str(number), f"{number}.jpg", "image/jpeg", bytes(10)))
    for session in ("one", "another"):
        assert [file.file_id for file in manager.get_files(session, list("01234"))] == ["3", "4"]
