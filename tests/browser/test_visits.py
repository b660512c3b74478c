"""The requests of a visit: what a reload fetches again, and which data the page sends to which host."""

from browser.visitor import Visitor

MOST_RELOAD_KB = 20  # most kilobytes that a reload may fetch


class NetworkMeter:
    """`received` maps each address, or "WebSocket", to the bytes that a page received over the network, not from a
    cache."""

    def __init__(self, visitor):
        self.received: dict[str, int] = {}
        self._urls: dict[str, str] = {}
        self._page = visitor.page
        session = visitor.context.new_cdp_session(visitor.page)
        session.on("Network.requestWillBeSent", lambda e: self._urls.__setitem__(e["requestId"], e["request"]["url"]))
        session.on("Network.loadingFinished", self._loaded)
        session.on("Network.webSocketFrameReceived", self._frame_received)
        session.send("Network.enable")

    def _loaded(self, event: dict) -> None:
        url = self._urls.get(event["requestId"], "?")
        self.received[url] = self.received.get(url, 0) + event["encodedDataLength"]

    def _frame_received(self, event: dict) -> None:
        response = event["response"]
        size = len(response["payloadData"]) * 3 // 4 if response["opcode"] == 2 else len(response["payloadData"])
        self.received["WebSocket"] = self.received.get("WebSocket", 0) + size

    def wait_for_answers(self, part: str, count: int) -> None:
        """Waits until answers have come from `count` addresses that contain `part`."""
        while sum(part in url for url in self.received) < count:
            self._page.evaluate("() => new Promise(requestAnimationFrame)")
        self.received.clear()

    @property
    def kilobytes(self) -> float:
        return sum(self.received.values()) / 1000

    def report(self) -> str:
        largest_answers = sorted(self.received.items(), key=lambda one: -one[1])[:20]
        return "\n".join([f"{self.kilobytes:.1f} KB", *(f"{size:8} {url}" for url, size in largest_answers)])


def wait_for_everything(visitor) -> None:
    visitor.until("r => r.waits === ''")
    visitor.rest()


def test_a_reload_fetches_nearly_nothing(arrive, server):
    visitor = arrive(Visitor, server.url)
    meter = NetworkMeter(visitor)
    visitor.open("model=bundled&sample=flock")
    wait_for_everything(visitor)
    meter.wait_for_answers("/names?", 6)
    visitor.page.reload()
    wait_for_everything(visitor)
    print(meter.report())
    assert meter.kilobytes <= MOST_RELOAD_KB, meter.report()
