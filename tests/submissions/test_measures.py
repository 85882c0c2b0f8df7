"""Claims of other measures than the EER, in texts as the scripts of the challenges print them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from harness.protocols import ranking
from harness.protocols.conditions import AnonymizerRanking
from harness.protocols.protocol import load
from harness.submissions.contents.measures import Measures
from harness.submissions.contents.naming import Names

RANK = """---- SER results ----
   dataset split       ser      UAR  ACC_sad  ACC_neu  ACC_ang  ACC_hap
                               mean     mean     mean     mean     mean
0  IEMOCAP   dev      anon  55.6146  32.9580  57.9720  64.4438  67.0860
3  IEMOCAP  test  original  71.0618  72.5706  71.6618  72.8246  67.1912

---- ASV_eval^anon results ----
   dataset split gender enrollment trial     EER
2    libri   dev      f       anon  anon  12.910

---- ASR results ----
  dataset split       asr     WER
0   libri   dev  original   1.807
5   libri  test      anon   9.994
6    ted    test      anon   9.1
---- SER by folds ----
  dataset split ser fold UAR
0 IEMOCAP test anon 1 55.2
---- SER by nothing ----
  dataset split UAR
0 IEMOCAP test 55.2
"""
SUMMARY = """ASV-libri_dev_enrolls-libri_dev_trials_f  EER: 8.665%
ASR-libri_dev_asr  %WER 3.82 [ 1518 / 39783, 185 ins, 140 del, 1193 sub ] a/decode_tglarge/wer_13
ASR-vctk_test_asr_anon  %WER 13.48 [ 11678 / 86642, 1368 ins, 1486 del ] a/decode_tglarge/wer_13
vctk_test_trials_m_common  Pitch_correlation: mean=0.6140 std=0.1691
libri_dev_trials_f  Gain of voice distinctiveness : -1.939460000444101
Weighted average pitch correlation dev: 0.608
"""
RESULTS = """ASR-libri_test_asr_anon
  %WER 6.20 [ 2174 / 35042, 235 ins, 231 del, 1708 sub ] exp/decode_libri_tgsmall/wer_13_0.0
  %WER 4.58 [ 1606 / 35042, 212 ins, 147 del, 1247 sub ] exp/decode_libri_tglarge/wer_12_0.5
ASR-libri_test_asr
  %WER 4.53 [ 1587 / 35042, 190 ins, 160 del, 1237 sub ] exp/decode_libri_tglarge/wer_11_1.0
vctk_dev_trials_f
  De-Identification : 0.9064510375506546
  Gain of voice distinctiveness : -1.3215550931156284
"""


def rules(name: str) -> AnonymizerRanking:
    found = ranking.load(name)
    assert isinstance(found, AnonymizerRanking)
    return found


def reader(name: str) -> Measures:
    return Measures(Names(load(name)), rules(name))


def stated(measures: Measures) -> list[tuple[object, ...]]:
    return [(one.system, one.measure, *one.place, str(one.value)) for one in measures.claims]


def test_the_tables_of_2024() -> None:
    measures = reader("vpc2024")
    measures.read(RANK, "result_for_rank", "T10")
    assert stated(measures) == [
        ("T10", "UAR", "IEMOCAP", "dev", None, "55.6146"),
        ("orig", "UAR", "IEMOCAP", "test", None, "71.0618"),
        ("orig", "WER", "libri", "dev", None, "1.807"),
        ("T10", "WER", "libri", "test", None, "9.994"),
    ]
    assert [one.line for one in measures.claims] == [4, 5, 13, 14]
    assert measures.checks == []


def test_the_summary_of_2022() -> None:
    measures = reader("vpc2022")
    measures.read(SUMMARY, "results_summary.txt", None)
    assert stated(measures) == [
        ("orig", "WER", "libri", "dev", None, "3.82"),
        (None, "WER", "vctk", "test", None, "13.48"),
        (None, "pitch-correlation", "vctk_common", "test", "m", "0.6140"),
        (None, "GVD", "libri", "dev", "f", "-1.939460000444101"),
    ]


def test_of_two_language_models_the_large_one_counts() -> None:
    measures = reader("vpc2022")
    # Of the attacker and recognizer that were trained on anonymized speech.
    measures.read(RESULTS, "results.txt", "A", anonymized_only=True)
    assert stated(measures) == [
        ("A", "WER", "libri", "test", None, "4.58"),
        ("A", "GVD", "vctk_different", "dev", "f", "-1.3215550931156284"),
    ]


def test_of_recognizers_trained_on_original_speech_only_that_counts() -> None:
    measures = reader("vpc2022")
    measures.read(RESULTS, "results.txt", "A", original_only=True)
    assert stated(measures) == [("orig", "WER", "libri", "test", None, "4.53")]


def test_the_same_in_two_files_is_one_claim_and_another_value_is_one_more() -> None:
    measures = reader("vpc2022")
    for value in ("4.58", "4.58", "4.6"):
        measures.read(f"ASR-libri_test_asr_anon  %WER {value} [ 1 ]\n", "x", "A")
    assert [one.value for one in measures.claims] == [Decimal("4.58"), Decimal("4.6")]


@pytest.mark.parametrize("value", ["nan", "1e3", "9,994", "9999999", "-"])
def test_what_is_no_number_is_told(value: str) -> None:
    measures = reader("vpc2024")
    measures.read(f"dataset split asr WER\nlibri test anon {value}\n", "r", "A")
    assert measures.claims == []
    (check,) = measures.checks
    assert (check.code, check.file, check.line) == ("claim-unreadable", "r", 2)
    assert f"{value!r} is no WER" in check.message


@pytest.mark.parametrize("header", ["asr WER WER", "asr wer WER", "asr asr WER"])
def test_a_column_that_stands_twice_is_no_claim(header: str) -> None:
    measures = reader("vpc2024")
    measures.read(f"dataset split {header}\nlibri test anon 9.1 2.1\n", "r", "A")
    assert measures.claims == []
    (check,) = measures.checks
    assert (check.code, check.file, check.line) == ("claim-unreadable", "r", 1)
    assert check.message.startswith("two columns of one meaning: ")


def test_a_value_may_have_its_unit() -> None:
    measures = reader("vpc2024")
    measures.read("dataset split asr WER\nlibri test anon 9.99%\n", "r", "A")
    assert stated(measures) == [("A", "WER", "libri", "test", None, "9.99")]
    assert measures.checks == []


def test_what_ranks_nobody_is_a_note() -> None:
    measures = reader("vpc2022")
    name = "libri_dev_trials_f"
    text = f"{name}  Pitch_correlation: mean=nan std=nan\n"
    text += f"{name}  Gain of voice distinctiveness : -inf\n"
    measures.read(f"{text}ASR-libri_test_asr_anon  %WER nan [ 1 ]\n", "r", "A")
    assert measures.claims == []
    assert [(one.code, one.line, one.count, one.message) for one in measures.checks] == [
        ("claim-unreadable", 3, 1, "'nan' is no WER"),
        ("measure-unchecked", 1, 2, "'nan' is no pitch-correlation"),
    ]


def test_a_long_line_takes_no_time_of_its_own() -> None:
    # A second would be enough for a thousand such files; without end it would never be one.
    for line in ("ASR-" + "a" * 10**6, "ASR-" + "a_" * 10**6, "x" * 10**6, "x" + " " * 10**6):
        measures = reader("vpc2022")
        measures.read(line, "r", "A")
        assert measures.claims == []


def test_every_measure_says_what_it_takes() -> None:
    for name in ("vpc2022", "vpc2024", "vpc2026"):
        for measure in rules(name).measures:
            assert bool(measure.needs) == (measure.name != "EER")
