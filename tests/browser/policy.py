"""The Content-Security-Policy that the app sends along, and a witness of what a page does against it."""

from __future__ import annotations

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.effectiveDirective} ${e.blockedURI} ${e.sourceFile}`));
"""  # noqa: E501
