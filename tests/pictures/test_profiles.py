"""No colour profile takes much time or memory in LittleCMS; profiles of cameras and printers are applied."""

import io
import sys

import hostile
import pytest
from hostile.profiles import GREEDY_PROFILES, HARMLESS_PROFILES, ink_profile, matrix_profile
from made_pictures import saved
from PIL import Image, ImageCms

from playground.pictures.images import is_usable, open_image

CORE_SECONDS, MOST_MB = 5, 100
PROFILES = GREEDY_PROFILES | HARMLESS_PROFILES
REPORT = f"""
import io, json, resource, sys
from hostile.profiles import GREEDY_PROFILES, HARMLESS_PROFILES
from PIL import Image
from playground.pictures.images import open_image

def megabytes(which):
    lines = open("/proc/self/status").read().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(which)), 0) / 1024

for name, make in (GREEDY_PROFILES | HARMLESS_PROFILES).items():
    for kind in ("PNG", "JPEG", "TIFF", "WEBP"):
        profile, file = make(), io.BytesIO()
        mode = "CMYK" if profile[16:20] == b"CMYK" else "RGB"
        if kind in ("PNG", "WEBP") and mode == "CMYK" or kind == "PNG" and len(profile) > 10**6:
            continue  # no such files
        Image.new(mode, (64, 48), "teal").save(file, kind, icc_profile=profile)
        del profile
        open("/proc/self/clear_refs", "w").write("5")
        before, used = megabytes("VmRSS"), resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + 1 + {CORE_SECONDS}
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        size = open_image(file.getvalue()).size
        grew = megabytes("VmHWM") - before - 2 * len(file.getvalue()) / 2**20
        print(json.dumps({{"name": f"{{name}} in {{kind}}", "size": size, "MB": grew}}), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_a_picture_opens_within_seconds_and_in_little_memory_whatever_its_profile_asks_for():
    """Without our check, some of these profiles would take minutes of a core or hundreds of megabytes."""
    reports = hostile.reports_of_process(REPORT)
    assert len(reports) > 2 * len(PROFILES)
    assert {tuple(result["size"]) for result in reports.values()} == {(64, 48)}
    assert {name: result["MB"] for name, result in reports.items() if result["MB"] > MOST_MB} == {}


@pytest.mark.parametrize("name", GREEDY_PROFILES)
def test_a_greedy_profile_is_not_read(name):
    assert not is_usable(GREEDY_PROFILES[name]())


@pytest.mark.parametrize("name", HARMLESS_PROFILES)
def test_a_large_but_harmless_profile_is_read(name):
    assert is_usable(HARMLESS_PROFILES[name]())


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP"])
def test_a_camera_s_profile_is_followed(kind):
    picture = Image.new("RGB", (64, 48), (180, 60, 60))
    plain_pixel, profile_pixel = (
        open_image(saved(picture, kind, icc_profile=profile)).getpixel((9, 9)) for profile in (b"", matrix_profile())
    )
    assert profile_pixel[0] > plain_pixel[0] + 10  # the profile's red is more saturated than sRGB's


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
@pytest.mark.parametrize("grid", [3, 9, 17])
def test_a_printer_s_profile_is_followed(kind, grid):
    profile = ink_profile(grid)
    picture = Image.new("CMYK", (64, 48), (20, 200, 30, 40))
    our_pixel = open_image(saved(picture, kind, icc_profile=profile)).getpixel((9, 9))
    icc = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    converted_picture = ImageCms.profileToProfile(picture, icc, ImageCms.createProfile("sRGB"), outputMode="RGB")
    assert max(abs(a - b) for a, b in zip(our_pixel, converted_picture.getpixel((9, 9)), strict=True)) < 6
    plain_pixel = open_image(saved(picture, kind)).getpixel((9, 9))
    assert max(abs(a - b) for a, b in zip(our_pixel, plain_pixel, strict=True)) > 20
    assert open_image(saved(picture, kind, icc_profile=profile[:300])).getpixel((9, 9)) == plain_pixel
