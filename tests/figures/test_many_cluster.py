"""Workers of a cluster write the numbers of many pictures into one store."""

import os
import signal
import sys

import pytest

import playground
from figures.many_pictures import file_contents
from playground import PlaygroundError


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_no_byte(zarr, small, pictures, tmp_path):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    run = playground.trace_many(pictures, small, ("weights:1", "entropy", "relevance"), batch=1)
    store = run.write(tmp_path / "alone.zarr")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:

        class KillsOne:
            def __init__(self, **options):
                pass

            def update(self, n):
                if victims:
                    os.kill(victims.pop(), signal.SIGKILL)

            def close(self):
                pass

        victims = [next(iter(cluster.workers.values())).pid]
        run.write(tmp_path / "together.zarr", KillsOne, dask=cluster.scheduler_address)
        assert not victims
    assert file_contents(tmp_path / "together.zarr") == file_contents(store)


def test_a_missing_cluster_is_said_in_a_sentence(zarr, small, pictures, tmp_path, monkeypatch):
    from playground.figures import zarr_file

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(PlaygroundError, match=r"attention-playground\[cluster\]"):
        playground.trace_many(pictures, small).write(tmp_path / "out.zarr", dask="tcp://127.0.0.1:9")
    monkeypatch.undo()
    pytest.importorskip("distributed", reason="distributed is not installed")
    monkeypatch.setattr(zarr_file, "SCHEDULER_TIMEOUT", 0.2)
    for address in ("tcp://127.0.0.1:9", "nonsense"):
        with pytest.raises(PlaygroundError, match="No scheduler of dask answers"):
            playground.trace_many(pictures, small).write(tmp_path / "out.zarr", dask=address)
