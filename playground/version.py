"""The one place that knows the version. The wheel takes it from here."""

__version__ = "0.1.0"
