"""Reads figure files with independent libraries."""

import re
import xml.etree.ElementTree as ET

import pypdf

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"


def read_pdf(path) -> pypdf.PdfReader:
    return pypdf.PdfReader(path)


def pdf_images(page) -> list[tuple[int, int]]:
    """(width, height) of every image that the file stores for a page."""
    objects = page["/Resources"]["/XObject"].values()
    return [(o["/Width"], o["/Height"]) for o in (x.get_object() for x in objects) if o["/Subtype"] == "/Image"]


def pdf_draw_count(page) -> int:
    """How often the page draws an image."""
    return len(re.findall(rb"/I\d+ Do", page.get_contents().get_data()))


def pdf_fonts(page) -> dict[str, bool]:
    """Font -> whether its outlines are in the file."""
    fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
    inner_fonts = [font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font for font in fonts]
    return {font["/BaseFont"]: "/FontFile2" in font["/FontDescriptor"].get_object() for font in inner_fonts}


def read_svg(path) -> ET.Element:
    return ET.parse(path).getroot()


def svg_images(root) -> list[str]:
    """The kinds of the images that the file holds."""
    return [image.get(f"{XLINK}href").partition(";")[0].removeprefix("data:") for image in root.iter(f"{SVG}image")]


def svg_uses(root) -> list[str]:
    return [use.get(f"{XLINK}href") for use in root.iter(f"{SVG}use")]


def svg_texts(root) -> list[str]:
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
