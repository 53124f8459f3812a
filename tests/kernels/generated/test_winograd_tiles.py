import pytest

from gluonish.kernels.generated.winograd_tiles import Tiles


@pytest.mark.parametrize("threads", [1, 2, 3, 64])
@pytest.mark.parametrize("shape", [(1, 32, 12, 12), (3, 64, 13, 7), (32, 64, 56, 56)])
def test_every_tile_belongs_to_one_pass(shape: tuple[int, int, int, int], threads: int) -> None:
    tiles = Tiles(shape, 128, threads, fewest=64, least=16)
    assert tiles.total == shape[0] * -(-shape[2] // 2) * -(-shape[3] // 2)
    assert 1 <= tiles.threads <= threads
    seen = [
        tile
        for part in range(tiles.threads)
        for tile in range(part * tiles.share, min((part + 1) * tiles.share, tiles.total))
    ]
    assert seen == list(range(tiles.total))
    assert 1 <= tiles.chunk <= tiles.share


def test_few_tiles_are_not_shared_by_many_threads() -> None:
    assert Tiles((1, 64, 18, 18), 128, 64, fewest=64, least=16).threads == 5
    assert Tiles((1, 64, 4, 4), 128, 64, fewest=64, least=16).threads == 1


def test_a_pass_fits_the_cache_unless_it_would_be_too_short() -> None:
    few = Tiles((32, 64, 56, 56), 128, 2, fewest=64, least=16)
    assert 4 * 16 * 128 * few.chunk <= 3 << 18
    many = Tiles((32, 512, 14, 14), 1024, 2, fewest=64, least=16)
    assert many.chunk == pytest.approx(64, abs=8)
