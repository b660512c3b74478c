"""The Content-Security-Policy that deploy/nginx sends along, laid over pages that come without a proxy."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, Route

from browser.server import ROOT

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.effectiveDirective} ${e.blockedURI} ${e.sourceFile}`));
"""  # noqa: E501
# A page that a route answers counts as one from the internet, and may not open a WebSocket to this machine.
PERMISSIONS = ["local-network-access"]


def policy() -> str:
    site = (ROOT / "deploy" / "nginx" / "playground.conf").read_text(encoding="utf-8")
    (found,) = re.findall(r'add_header Content-Security-Policy "([^"]+)" always;', site)
    return found


def lay_over(context: BrowserContext) -> None:
    def answer(route: Route) -> None:
        if route.request.resource_type != "document":
            return route.fallback()
        got = route.fetch()
        return route.fulfill(response=got, headers={**got.headers, "content-security-policy": policy()})

    context.add_init_script(WATCH)
    context.route("http://**/*", answer)
