"""Places for work that coroutines wait for."""

import asyncio

from playground.serving.places import Places


def served(*networks: str, count: int = 2) -> list[str]:
    """In which order they are served who come in this one, all before the first has ended."""
    order = []

    async def work(places: Places, network: str) -> None:
        async with places.one(network):
            order.append(network)
            await asyncio.sleep(0)

    async def everybody() -> None:
        places = Places(count)
        await asyncio.gather(*(work(places, network) for network in networks))

    asyncio.run(everybody())
    return order


def test_a_stranger_is_next_however_many_others_of_one_network_wait():
    assert served(*["mine"] * 9, "stranger") == ["mine", "mine", "stranger", *["mine"] * 7]


def test_networks_take_turns_and_who_came_first_is_served_first():
    assert served("a", "a", "a", "b", "b", "c", count=1) == ["a", "b", "c", "a", "b", "a"]
    assert served("a", "a", "a", "b", "b", "c", count=2) == ["a", "a", "b", "c", "a", "b"]


def test_no_more_are_at_work_than_there_are_places_and_who_gives_up_takes_none():
    async def everybody() -> tuple[int, int]:
        places, at_work, most, done = Places(3), 0, 0, 0

        async def work() -> None:
            nonlocal at_work, most, done
            async with places.one("a"):
                at_work += 1
                most = max(most, at_work)
                await asyncio.sleep(0)
                at_work -= 1
                done += 1

        tasks = [asyncio.ensure_future(work()) for _ in range(20)]
        await asyncio.sleep(0)
        for task in tasks[10:15]:  # they wait
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return most, done

    assert asyncio.run(everybody()) == (3, 15)
