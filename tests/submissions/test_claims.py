"""Claims from every kind of file that states EERs; texts are written here in the known formats."""

from __future__ import annotations

import io
import time
from decimal import Decimal
from pathlib import Path

import pytest
import small
from claim_texts import OFFICIAL_CSV, RANK, RESULTS_2022, brief
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ConfigError, SubmissionError
from harness.protocols.protocol import load
from harness.submissions.contents.claims import read_claims, read_reported
from harness.submissions.contents.description import Description
from harness.submissions.contents.layout import ClaimFile, Found, ScoreFile, find
from harness.submissions.contents.stated import MOST_CLAIMS, percent
from harness.submissions.limits import MIB
from harness.submissions.members import Member, Submission
from harness.submissions.model import Check, Claim

VPAC = load("vpac2025")
DEV_F, DEV_M, TEST_F, TEST_M = (listed.trials for listed in VPAC.lists)
PAIR = f"libri_dev_enrolls_B3-{DEV_F}_B3"


def submission(files: dict[str, str | bytes], name: str = "mail.zip") -> Submission:
    contents = {k: v.encode() if isinstance(v, str) else v for k, v in files.items()}
    members = (
        Member(path, len(data), lambda data=data: io.BytesIO(data))  # type: ignore[misc]
        for path, data in sorted(contents.items())
    )
    return Submission(name, None, tuple(members))


def read(files: dict[str, str | bytes]) -> tuple[list[Claim], list[Check]]:
    return read_claims(find(submission(files), VPAC, None), VPAC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.12909090146422386", "12.909090146422386"),
        ("0.12909090146422386\n", "12.909090146422386"),
        ("0.1290", "12.90"),
        ("\ufeff0.1291\r\n", "12.91"),
        ("\n\n  0.5  \n", "5E+1"),
        ("7.5e-05", "0.0075"),
        ("1E-3", "0.1"),
        (".25", "25"),
        ("0.", "0E+2"),
        ("12.91 %", "12.91"),
        ("12.91%", "12.91"),
        ("EER: 0.1291", "12.91"),
        ("0,1291", "12.91"),
        ("12.91", "1291"),  # in percent, where a fraction belongs
        ("+0.25", "25"),
    ],
)
def test_eer_file(text: str, expected: str) -> None:
    claims, checks = read({f"{PAIR}/EER": text})
    line = 3 if text.startswith("\n") else 1
    assert brief(claims) == [("B3", DEV_F, expected, line)]
    assert claims[0].file == f"{PAIR}/EER"
    assert claims[0].estimator == "official"
    assert checks == []


def test_eer_file_in_utf_16() -> None:
    claims, checks = read({f"{PAIR}/EER": "0.1291\r\n".encode("utf-16")})
    assert [str(one.percent) for one in claims] == ["12.91"]
    assert checks == []


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "0 lines instead of one number"),
        ("0.1\n0.2\n", None, "2 lines instead of one number"),
        ("nan", 1, "'nan' is no EER"),
        ("-0.1", 1, "'-0.1' is no EER"),
        ("inf", 1, "'inf' is no EER"),
        ("\n1_0", 2, "'1_0' is no EER"),
        ("1001", 1, "'1001' is no EER"),
        ("1e999", 1, "'1e999' is no EER"),
        ("1e-999", 1, "'1e-999' is no EER"),
        ("1e999999999999", 1, "'1e999999999999' is no EER"),
        ("0." + "1" * 99, 1, f"'0.{'1' * 58}' is no EER"),
        ("１", 1, "'１' is no EER"),
        ("1.234,5", 1, "'1.234,5' is no EER"),
        (b"0.1\xff", None, "not text in UTF-8 or UTF-16"),
        (b"0\x00", None, "not text in UTF-8 or UTF-16"),
        (b"\xff\xfe0", None, "not text in UTF-8 or UTF-16"),
        (b"0" * (MIB + 1), None, "more than 1,048,576 bytes"),
    ],
)
def test_unreadable_eer_file(content: str | bytes, line: int | None, message: str) -> None:
    claims, checks = read({f"{PAIR}/EER": content})
    assert claims == []
    assert [(c.code, c.file, c.line, c.message) for c in checks] == [
        ("claim-unreadable", f"{PAIR}/EER", line, message)
    ]


def test_a_fault_of_the_archive_keeps_its_code() -> None:
    def refuse() -> io.BytesIO:
        raise SubmissionError("cut short", code="archive-unreadable", where="x")

    file = ClaimFile("EER", "B3", VPAC.lists[0], Member("a/EER", 1, refuse))
    claims, checks = read_claims(Found((), (file,), None, ()), VPAC)
    assert (claims, checks) == ([], [Check("archive-unreadable", "cut short", "a/EER")])


def test_official_csv() -> None:
    claims, checks = read({"exp/results_sttts.csv": OFFICIAL_CSV})
    assert brief(claims) == [
        ("orig", DEV_F, "10.511", 2),
        ("B3", DEV_F, "12.910", 4),
        ("B3", TEST_M, "1.557", 5),
        ("B3", "average test", "4.52", 6),
    ]
    assert checks == []


def test_original_speech_is_claimed_only_with_its_scores() -> None:
    files: dict[str, str | bytes] = {"results_sttts.csv": OFFICIAL_CSV, f"{PAIR}/scores": ""}
    assert {one.system for one in read(files)[0]} == {"B3"}
    files[f"exp/asv_orig/libri_dev_enrolls-{DEV_F}/scores"] = ""
    assert {one.system for one in read(files)[0]} == {"orig", "B3"}


def test_results_of_an_attacker_trained_on_original_speech() -> None:
    for text, claim in (
        (OFFICIAL_CSV, ("orig", DEV_F, "10.511", 2)),
        (RESULTS_2022.replace("ROCCH-EER", "ROCCH"), ("orig", DEV_F, "8.665", 2)),
    ):
        claims, checks = read({"exp/asv_orig/results_sttts.csv": text})
        assert brief(claims) == [claim]
        assert checks == []


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_rank_table(ends: str, encoding: str) -> None:
    claims, checks = read(
        {"results/result_for_rank_nac": RANK.replace("\n", ends).encode(encoding)}
    )
    assert brief(claims) == [
        ("B4", DEV_F, "12.910", 3),
        ("B4", TEST_M, "1.557", 4),
        ("orig", DEV_F, "10.511", 15),
    ]
    assert checks == []


def test_rank_table_without_row_numbers() -> None:
    text = "dataset split gender enrollment trial EER\nlibri test f anon anon 31.5\n"
    assert brief(read({"T8-5/result_for_rank": text})[0]) == [("T8-5", TEST_F, "31.5", 2)]


def test_results_of_2022() -> None:
    pair = f"ASV-libri_dev_enrolls_anon-{DEV_F}_anon"
    claims, checks = read({"B3/exp/results-1/results.txt": RESULTS_2022, f"B3/{pair}/scores": ""})
    assert [(one.system, one.list, str(one.percent), one.estimator) for one in claims] == [
        ("B3", DEV_F, "17.76", "official"),
        ("B3", DEV_F, "17.312", "rocch"),
    ]
    assert [one.line for one in claims] == [9, 11]
    assert checks == []
    claims, _ = read({"results.txt": RESULTS_2022})
    assert [(one.system, str(one.percent)) for one in claims] == [
        ("orig", "8.665"),
        ("orig", "8.600"),
        (None, "17.76"),
        (None, "17.312"),
    ]


def test_results_of_2022_may_name_the_system() -> None:
    block = f"ASV-libri_dev_enrolls_nac-{DEV_F}_nac\n  EER: 30.1%\n"
    assert brief(read({"results.txt": block})[0]) == [("B4", DEV_F, "30.1", 2)]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (OFFICIAL_CSV.replace("12.910", "n/a"), 4, "'n/a' is no EER"),
        (OFFICIAL_CSV.replace("12.910", ""), 4, "'' is no EER"),
        (OFFICIAL_CSV.replace("12.910", "12,910"), 4, "more columns than names"),
        (RANK.replace("12.910", "   NaN"), 3, "'NaN' is no EER"),
        (RESULTS_2022.replace("17.76%", "none"), 9, "'none' is no EER"),
        ("system,EER\nB3,12.91\n", 1, "no column `list` or `split`"),
        ("The EER was low.\n", None, "an EER in no known form: use the columns system, list, EER"),
        ("system,list,EER\n" + "x" * 200_000, 2, "not a table (field larger than field limit"),
        # What a person reads there, and a program might pass over.
        (f"list,EER,EER (%)\n{DEV_F},9,1\n", 1, "two columns of one meaning: 'eer' and 'eer (%)'"),
        (f"list,EER,EER\n{DEV_F},1,9\n", 1, "two columns of one meaning: 'eer' and 'eer'"),
        (f"list EER EER\n{DEV_F} 1 9\n", 1, "two columns of one meaning: 'eer' and 'eer'"),
        (f"list,trials,EER\n{DEV_M},{DEV_F},9\n", 1, "two columns of one meaning: 'list' and"),
        (f"list,split,split,EER\n{DEV_M},a,b,9\n", 1, "two columns of one meaning: 'split' and"),
        (RANK.replace("12.910\n", "12.910 *\n"), 3, "other columns than its table"),
        (RANK + "The EER is 1 %\n", 17, "an EER in no known form"),
        (f"ASV-x\nlist,EER\n{DEV_F},1\n", 2, "an EER in no known form"),
        (f"{RESULTS_2022}ASV-libri_dev_x_anon\n  EER: 1%\n", 19, "'ASV-libri_dev_x_anon' names no"),
        (RESULTS_2022.replace("  EER: 17.76%", "EER: 17.76%"), 9, "an EER in no known form"),
        (f"list,scenario,EER\n{DEV_F},semi informed,9\n", 2, "'semi informed' is no scenario: use"),
    ],
)
def test_unreadable_results(text: str, line: int | None, message: str) -> None:
    checks = read({"B3/results.txt": text})[1]
    assert [(c.code, c.file, c.line) for c in checks] == [
        ("claim-unreadable", "B3/results.txt", line)
    ]
    assert checks[0].message.startswith(message)


@pytest.mark.parametrize("text", ["", "\n", ",dataset,split,WER\n0,libri,dev,2.6\n", "peer\n"])
def test_results_of_other_measures(text: str) -> None:
    assert read({"results.csv": text}) == ([], [])


def test_faults_of_a_file_are_one_check() -> None:
    rows = "".join(f"B3,{DEV_F},?{i}\n" for i in range(5000))
    claims, checks = read({"results.csv": "system,list,EER\n" + rows})
    assert claims == []
    assert [(c.line, c.count, c.message) for c in checks] == [(2, 5000, "'?0' is no EER")]


def test_claims_of_a_file_are_limited() -> None:
    rows = "".join(f"B3,{DEV_F},{i}\n" for i in range(MOST_CLAIMS + 3))
    claims, checks = read({"results.csv": "system,list,EER\n" + rows})
    assert len(claims) == MOST_CLAIMS
    assert [(c.line, c.count) for c in checks] == [(MOST_CLAIMS + 2, 3)]


def test_claims_of_a_submission_are_limited() -> None:
    def table(first: int) -> str:
        rows = "".join(f"{DEV_F},{first + i}\n" for i in range(MOST_CLAIMS // 2 + 1))
        return f"list,EER\n{rows}"

    claims, checks = read({"B3/results_1.csv": table(0), "B3/results_2.csv": table(5000)})
    assert len(claims) == MOST_CLAIMS
    assert [(c.file, c.count) for c in checks] == [("B3/results_2.csv", 2)]


def test_results_of_a_submission_are_limited() -> None:
    filler = "list,EER\n" + "\n" * (MIB - 9)
    files: dict[str, str | bytes] = {f"B3/results_{i}.csv": filler for i in range(4)}
    assert read(files)[1] == []
    files["B3/results_4.csv"] = f"list,EER\n{DEV_F},9\n"
    claims, checks = read(files)
    assert claims == []
    assert [(c.file, c.message) for c in checks] == [
        ("B3/results_4.csv", "results of more than 4,194,304 bytes in all")
    ]


def test_the_edition_is_named_in_any_case() -> None:
    table = f"benchmark,system,list,EER\nVPAC2025,B3,{DEV_F},9\n"
    assert brief(read({"results.csv": table})[0]) == [("B3", DEV_F, "9", 2)]


@pytest.mark.parametrize(
    "line", ["-", "1", " ", "ASV-", "1 ", '"', ",", "EER", "\n", "_", "  EER:"]
)
def test_long_lines_take_no_long_time(line: str) -> None:
    text = line * (MIB // len(line) - 60)
    start = time.process_time()
    for head in ("", "---- EER split\n", f"EER,list\n1,{DEV_F}", f"ASV-{DEV_F}\n  EER: "):
        read({"results.txt": head + text, f"{PAIR}/EER": text})
    assert time.process_time() - start < 10


def test_repeats_and_conflicts() -> None:
    table = (
        f"system,list,EER\nB3,{DEV_F},12.91\nb3,{DEV_F},12.91\nB3,{DEV_F},12.910\nB3,{DEV_F},9\n"
    )
    claims, _ = read({"results.csv": table, f"{PAIR}/EER": "0.1291"})
    assert brief(claims) == [
        ("B3", DEV_F, "12.91", 1),
        ("B3", DEV_F, "12.91", 2),
        ("B3", DEV_F, "12.910", 4),
        ("B3", DEV_F, "9", 5),
    ]


def test_the_only_system_is_meant_where_none_is_named() -> None:
    table = f"list,EER\n{DEV_F},12.91\naverage dev,13\n"
    files: dict[str, str | bytes] = {"results.csv": table, f"mine/{DEV_F}/scores": ""}
    assert [one.system for one in read(files)[0]] == ["mine", "mine"]
    files[f"exp/asv_orig/libri_dev_enrolls-{DEV_F}/scores"] = ""
    assert [one.system for one in read(files)[0]] == ["mine", "mine"]
    files[f"B4/{DEV_F}/scores"] = ""
    assert [one.system for one in read(files)[0]] == [None, None]


def test_described_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    described = Description(
        format=1, benchmark="vpac2025", team="t", description="d.pdf", systems=("B3",),
        claims={"B3": {DEV_F: "12.910", "average test": "4.52", "other": "1", DEV_M: "low"}},
        files={},
    )  # fmt: skip
    monkeypatch.setattr("harness.submissions.contents.claims.parse", lambda data, where: described)
    claims, checks = read({"submission.yaml": "", "d.pdf": ""})
    assert brief(claims) == [("B3", DEV_F, "12.910", None), ("B3", "average test", "4.52", None)]
    assert [(c.code, c.file, c.count, c.message) for c in checks] == [
        ("claim-unreadable", "submission.yaml", 2, "'other' is no list of vpac2025")
    ]


def test_a_description_that_cannot_be_read_is_told_elsewhere() -> None:
    assert read({"submission.yaml": "team: ["}) == ([], [])


def test_small_edition(tmp_path: Path) -> None:
    small.clean(tmp_path)
    files = {p.relative_to(tmp_path).as_posix(): p.read_bytes() for p in tmp_path.rglob("*/*/*/*")}
    edition = small.edition()
    claims, checks = read_claims(find(submission(dict(files)), edition, None), edition)
    assert checks == []
    found = {(one.system, one.list): float(one.percent) for one in claims}
    assert len(claims) == len(found) == 8
    expected = 100 * small.eer_of("A2", "test", "m")
    assert found["A2", "tiny_test_trials_m"] == pytest.approx(expected, rel=1e-15)


@given(st.decimals(0, 1, allow_nan=False, places=17))
def test_a_fraction_keeps_its_digits(value: Decimal) -> None:
    found = percent(f"{value:f}", fraction=True)
    assert found == 100 * value
    assert found is not None
    assert found.as_tuple().exponent == -15


WORDS = st.sampled_from(
    [*(line + "\n" for line in (OFFICIAL_CSV + RANK + RESULTS_2022).splitlines()), "EER", ",",
     ";", "\t", " ", '"', "\r", "\n", "%", "0.1", "1e9", "nan", "\ufeff", "ASV-", "  EER: ", "list"]
)  # fmt: skip
CONTENT = st.binary(max_size=60) | st.lists(WORDS, max_size=12).map(lambda w: "".join(w).encode())


@settings(max_examples=200, deadline=None)
@given(CONTENT, st.booleans())
def test_any_content(content: bytes, utf16: bool) -> None:
    if utf16:
        content = b"\xff\xfe" + content
    for kind, listed in (("EER", VPAC.lists[0]), ("results", None)):
        file = ClaimFile(kind, None, listed, Member("x", 9, lambda: io.BytesIO(content)))  # type: ignore[arg-type]
        member = Member("submission.yaml", 9, lambda: io.BytesIO(content))
        score = ScoreFile("B3", VPAC.lists[0], member)
        claims, checks = read_claims(Found((score,), (file,), member, ()), VPAC)
        assert all(0 <= one.percent <= 100_000 for one in claims)
        assert all(one.system for one in claims)
        assert {check.code for check in checks} <= {"claim-unreadable"}


@settings(max_examples=100, deadline=None)
@given(CONTENT, st.sampled_from(["r.csv", "r.yaml", "results_nac.txt"]))
def test_any_reported_content(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(content)
    try:
        claims, _ = read_reported(path, VPAC, None)
    except ConfigError:
        return
    assert claims


SUMMARY_2022 = """ASV-libri_test_enrolls-libri_test_trials_f  EER: 7.664%
ASV-libri_test_enrolls_anon-libri_test_trials_f_anon  EER: 7.117%
ASV-vctk_test_enrolls_anon-vctk_test_trials_m_common_anon  EER: 16%
ASR-libri_test_asr_anon  %WER 4.58 [ 1606 / 35042, 212 ins, 147 del, 1247 sub ] x
Weighted average EER test orig: 3.786
Weighted average EER test anon: 7.769
Average WER test anon: 9.030
"""


def test_the_summary_of_2022() -> None:
    protocol = load("vpc2022")
    folder = "exp/results-2022-07-31-10-00-00"
    pair = "ASV-libri_test_enrolls_anon-libri_test_trials_f_anon"
    files = {f"{folder}/results_summary.txt": SUMMARY_2022, f"{folder}/{pair}/scores": ""}
    claims, checks = read_claims(find(submission(files), protocol, "B2"), protocol)
    # Kaldi's four digits: 16 is 16.00.
    assert brief(claims) == [
        ("B2", "libri_test_trials_f", "7.117", 2),
        ("B2", "vctk_test_trials_m_common", "16.00", 3),
        ("B2", "average test", "7.769", 6),
    ]
    assert checks == []


def test_an_average_of_2022_is_none_of_another_edition() -> None:
    claims, checks = read({"B3/results_summary.txt": SUMMARY_2022, f"B3/{PAIR}/scores": ""})
    assert brief(claims) == [("B3", TEST_F, "7.117", 2)]
    assert checks == []


@pytest.mark.parametrize(
    ("title", "expected"),
    [("ASV_eval^anon", [("B3", DEV_F, "11.423", 3)]), ("ASV_eval", []), ("ASV_eval^orig", [])],
)
def test_a_table_of_an_attacker_trained_on_original_speech(
    title: str, expected: list[tuple[str, str, str, int]]
) -> None:
    text = f"---- {title} results ----\n dataset split gender enrollment trial EER\n"
    text += "2 libri dev f anon anon 11.423\n"
    claims, _ = read({"result_for_rank_B3": text, f"exp/asv_anon_B3/{PAIR}/scores": ""})
    assert brief(claims) == expected


def test_an_average_of_one_data_set_is_none_of_several() -> None:
    protocol = load("vpc2022")
    text = "dataset,split,gender,EER\nlibri,test,average,4.1\n,test,average,7.769\n"
    files = {"results.csv": text, "libri_test_enrolls-libri_test_trials_f/scores": ""}
    claims, _ = read_claims(find(submission(files), protocol, "B2"), protocol)
    assert brief(claims) == [("B2", "average test", "7.769", 3)]
