from tracetax.words import are, plural, share, was


def test_one_has_no_s_and_its_own_verb() -> None:
    assert [plural(n, "trial") for n in (0, 1, 2, 1000)] == ["0 trials", "1 trial", "2 trials", "1,000 trials"]
    assert plural(2, "match", "matches") == "2 matches"
    assert f"{share(1, 79, 'trial')} {was(1)}" == "1 of 79 trials was"
    assert (share(1, 1, "block"), are(0)) == ("1 of 1 block", "are")
