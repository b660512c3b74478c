"""The one version number, for the package, the command line, the page and every file that is written."""

__version__ = "0.1.0"
