"""A script that records in `window.violations` what a page does against the app's Content-Security-Policy."""

from __future__ import annotations

WATCH_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.effectiveDirective} ${e.blockedURI} ${e.sourceFile}`));
"""  # noqa: E501
