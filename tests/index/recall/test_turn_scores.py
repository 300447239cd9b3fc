"""What stands around a text counts in part, before it more than behind it, and a session that fits raises its texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from index.recall.turn_scores import SESSION_SHARE, Around, Counted, raised, scores

NOTHING = Counted({}, 10)
HERON = Counted({"heron": 1}, 10)
WEIGHTS = {"heron": 2.0}


def test_own_words_count_most_then_those_before_then_those_behind() -> None:
    own, before, behind, none = scores(
        [HERON, NOTHING, NOTHING, NOTHING],
        [
            Around((NOTHING,), (NOTHING,)),
            Around((HERON,), (NOTHING,)),
            Around((NOTHING,), (HERON,)),
            Around((NOTHING,), (NOTHING,)),
        ],
        WEIGHTS,
    )
    assert own > before > behind > none == 0


def test_of_equal_texts_the_one_of_the_session_that_fits_is_raised() -> None:
    alone, fits, beside = raised([1.0, 1.0, 0.5], [7, 8, 8])
    assert fits == 1.0
    assert 1 - SESSION_SHARE < alone < 1.0
    assert beside == 0.5


@given(st.lists(st.tuples(st.floats(0, 100, allow_subnormal=False), st.integers(0, 3)), max_size=30))
def test_within_a_session_the_order_stays_and_nothing_is_made_of_nothing(told: list[tuple[float, int]]) -> None:
    before = [score for score, _ in told]
    after = raised(before, [session for _, session in told])
    assert [score == 0 for score in after] == [score == 0 for score in before]
    for (one, session), one_after in zip(told, after, strict=True):
        assert (1 - SESSION_SHARE) * one * 0.999 <= one_after <= one * 1.001
        for (other, same), other_after in zip(told, after, strict=True):
            assert session != same or one <= other or one_after >= other_after
