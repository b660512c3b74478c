"""Finds a Chromium for the browser tests: the system's, else Playwright's, else the distribution's package, which it
installs. Run as a script, it prints the path of the Chromium that it found or installed."""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

# The first is Chromium without windows, which needs a tenth less processor time.
PROGRAM_NAMES = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"
)  # fmt: skip
# For each window, Chromium loads two pages of suggestions, which take a fifth of the time of opening our page.
# This list replaces Playwright's list, so it repeats those of Playwright's entries that can affect a test.
DISABLED_FEATURES = (
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup",
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay",
    "MediaRouter", "OptimizationHints", "PaintHolding", "ThirdPartyStoragePartitioning",
)  # fmt: skip
FLAGS = [
    f"--disable-features={','.join(DISABLED_FEATURES)}",
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def find() -> str | None:
    for name in PROGRAM_NAMES:
        if path := shutil.which(name):
            return path
    for path in ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",):
        if Path(path).exists():
            return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
        return path if Path(path).exists() else None


def install() -> str:
    with contextlib.suppress(subprocess.TimeoutExpired):  # without a network, apt-get is tried next
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False, timeout=300)
    if path := find():
        return path
    if shutil.which("apt-get"):
        sudo = [] if os.geteuid() == 0 else ["sudo"]
        subprocess.run([*sudo, "apt-get", "update", "-q"], check=True)
        for package in ("chromium-headless-shell", "chromium"):  # Ubuntu has only the second
            if subprocess.run([*sudo, "apt-get", "install", "-yq", package], check=False).returncode == 0:
                break
    if path := find():
        return path
    sys.exit("No Chromium could be found or installed for the browser tests; install Chromium or Chrome and try again.")


if __name__ == "__main__":
    print("browser tests use", find() or install())
