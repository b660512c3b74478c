"""Where temporary files may lie, also where no file system can be written and where a user has no home."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from pathlib import Path

IN_MEMORY = "/dev/shm"  # a folder that is memory, in every container
NOWHERE = (
    "No folder for temporary files can be written, so that no figure can be drawn. Name one by TMPDIR, or mount a "
    "tmpfs at /tmp."
)

log = logging.getLogger("playground")


def find_a_folder() -> bool:
    """False where there is none: matplotlib wants one before it draws."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        if not os.access(IN_MEMORY, os.W_OK):
            log.warning(NOWHERE)
            return False
        tempfile.tempdir = IN_MEMORY
    return True


def find_a_home() -> None:
    """Makes a home where the machine does not know the user and HOME is not set: Streamlit would end. The folder is
    new, so nobody else can have put anything into it."""
    try:
        Path.home()
    except RuntimeError:
        if not find_a_folder():
            os.environ["HOME"] = "/"
            return
        os.environ["HOME"] = home = tempfile.mkdtemp(prefix="playground-home-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
