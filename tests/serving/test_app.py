"""A server's state is its App's: two servers in one process share none of it."""

from starlette.testclient import TestClient

from playground.serving.app import App
from playground.ui.server import server_of
from serving.visits import ANNA, photograph


def test_two_servers_in_one_process_share_no_pictures_no_people_and_no_counts(monkeypatch):
    monkeypatch.setenv("PLAYGROUND_WORKBENCH", "no")  # Streamlit is one in a process
    first, second = (
        TestClient(server_of(App()), base_url="http://localhost", client=("127.0.0.1", 5)) for _ in range(2)
    )
    brought = first.post("/api/pictures", content=photograph(), headers=ANNA).json()
    address = f"/api/pictures/{brought['id']}.jpg"
    assert [http.get(address, headers=ANNA).status_code for http in (first, second)] == [200, 404]
    assert first.post("/api/classes", json={"root": "http://localhost/"}, headers=ANNA).status_code == 200
    bytes_held = [http.get("/metrics").text.split("\nplayground_own_pictures_bytes ")[1] for http in (first, second)]
    assert [float(text.split()[0]) > 0 for text in bytes_held] == [True, False]
