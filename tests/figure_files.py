"""Reads figure files with independent libraries."""

import xml.etree.ElementTree as ET

import pypdf


def read_pdf(path) -> pypdf.PdfReader:
    return pypdf.PdfReader(path)


def pdf_fonts(page) -> dict[str, bool]:
    """Font -> whether its outlines are in the file."""
    fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
    inner_fonts = [font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font for font in fonts]
    return {font["/BaseFont"]: "/FontFile2" in font["/FontDescriptor"].get_object() for font in inner_fonts}


def read_svg(path) -> ET.Element:
    return ET.parse(path).getroot()
