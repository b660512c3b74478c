"""Measurements: one at a time, the next begins by itself, and only the ticket's holder stops one."""

from waiting import until

from playground.serving.people import Measurements
from playground.serving.queue import OVER, SERVED, WAITING

LONG, SHORT = (1024, 16, 7), (64, 1, 1)


def points(measurements: Measurements, case, *tickets) -> int:
    """How many there are; the tickets' holders look at them meanwhile, or they would be taken to have left."""
    for ticket in tickets:
        measurements.before(ticket)
    series = measurements.result(case)
    return len(series.points) if series else 0


def test_one_series_at_a_time_and_its_ticket_stops_it():
    measurements = Measurements()
    mine, yours = measurements.start(LONG), measurements.start(SHORT)
    until(lambda: points(measurements, LONG, mine, yours), "the first series has no point")
    assert (mine.state, measurements.before(mine)) == (SERVED, 0)
    assert (yours.state, measurements.before(yours)) == (WAITING, 1)
    series = measurements.running()
    assert measurements.result(LONG) is series
    mine.stop()
    until(lambda: measurements.before(yours) == 0 and yours.state == SERVED, "the second series did not begin")
    assert mine.state == OVER
    assert (series.running, series.stopped) == (False, True)
    assert measurements.result(LONG) is series  # what it had found is kept
    assert series._process.returncode is not None
    yours.stop()
    until(lambda: yours.state == OVER, "the second series did not stop")
    assert measurements.running() is None


def test_a_series_that_was_stopped_at_once_does_not_replace_what_there_was():
    measurements = Measurements()
    first = measurements.start(LONG)
    until(lambda: points(measurements, LONG, first), "the first series has no point")
    found = measurements.result(LONG)
    first.stop()
    until(lambda: first.state == OVER, "the first series did not stop")
    second = measurements.start(LONG)
    second.stop()
    until(lambda: second.state == OVER, "the second series did not stop")
    assert measurements.result(LONG) is found
