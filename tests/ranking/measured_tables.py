"""Tables of measured values for tests: published ones of the challenges, and made-up ones."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

HEADER = "team,system,measure,dataset,split,gender,value"

# VoicePrivacy 2022, `baseline/results/RESULTS_summary_mcadams` (B2) and
# `RESULTS_summary_tts_joint_nsf_hifigan` (B1.b) of the challenge's repository, lines of the
# anonymized and (for WER and EER) the original speech. By measure and data set: dev f, dev m,
# test f, test m; of WER dev, test.
B2_2022 = {
    ("EER", "libri"): "11.36 1.398 7.117 1.114",
    ("EER", "vctk_different"): "6.682 6.352 16.92 7.692",
    ("EER", "vctk_common"): "5.814 8.832 10.98 4.802",
    ("WER", "libri"): "4.32 4.58",
    ("WER", "vctk"): "11.76 13.48",
    ("pitch-correlation", "libri"): "0.6374 0.5291 0.6089 0.5419",
    ("pitch-correlation", "vctk_different"): "0.6954 0.5916 0.6836 0.6637",
    ("pitch-correlation", "vctk_common"): "0.6437 0.5439 0.6511 0.6140",
    ("GVD", "libri"): (
        "-1.939460000444101 -1.6493264384897122 -1.7054074286432193 -1.7374127228641643"
    ),
    ("GVD", "vctk_different"): (
        "-1.3215550931156284 -2.1815677494861125 -1.562397882310541 -1.5615648713693606"
    ),
    ("GVD", "vctk_common"): (
        "-1.1415902930439583 -1.3246512454922792 -1.5905810649339058 -1.3635334649585955"
    ),
}
B1B_2022 = {
    ("EER", "libri"): "19.03 5.59 9.489 7.795",
    ("EER", "vctk_different"): "8.254 6.005 10.91 7.52",
    ("EER", "vctk_common"): "9.012 9.402 15.32 8.192",
    ("WER", "libri"): "4.19 4.43",
    ("WER", "vctk"): "10.98 10.69",
    ("pitch-correlation", "libri"): "0.8389 0.7645 0.8517 0.7228",
    ("pitch-correlation", "vctk_different"): "0.8653 0.7615 0.8694 0.7746",
    ("pitch-correlation", "vctk_common"): "0.8423 0.7193 0.8489 0.7133",
}
ORIG_2022 = {
    ("EER", "libri"): "8.665 1.242 7.664 1.114",
    ("EER", "vctk_different"): "2.864 1.439 4.887 2.067",
    ("EER", "vctk_common"): "2.616 1.425 2.89 1.13",
    ("WER", "libri"): "3.82 4.15",
    ("WER", "vctk"): "10.79 12.82",
}
# VoicePrivacy 2024, `results/result_for_rank_mcadams` of 28 March 2024 and
# `results/result_for_rank_sttts` of 17 March 2024 of the challenge's repository.
B2_2024 = {
    ("EER", "libri"): "12.910 2.045 7.483 1.557",
    ("WER", "libri"): "10.482 9.994",
    ("UAR", "IEMOCAP"): "55.6146 53.4914",
}
B3_2024 = {
    ("EER", "libri"): "27.840 22.204 28.101 26.088",
    ("WER", "libri"): "4.240 4.326",
    ("UAR", "IEMOCAP"): "38.5264 36.2878",
}
ORIG_2024 = {
    ("EER", "libri"): "10.511 0.931 8.761 0.418",
    ("WER", "libri"): "1.807 1.844",
    ("UAR", "IEMOCAP"): "69.0796 71.0618",
}

Results = dict[tuple[str, str], str]


def rows(team: str, system: str, results: Results) -> list[str]:
    """The lines of a table. Four values are dev f, dev m, test f, test m; two are dev, test."""
    lines = []
    for (measure, dataset), text in results.items():
        values = text.split()
        genders = ["f", "m"] if len(values) == 4 else [""]
        places = [(split, gender) for split in ("dev", "test") for gender in genders]
        for (split, gender), value in zip(places, values, strict=True):
            lines.append(f"{team},{system},{measure},{dataset},{split},{gender},{value}")
    return lines


def rows_2024(team: str, system: str, eer: str, wer: str, uar: str) -> list[str]:
    """A made-up system: its values on test, the same EER for both genders."""
    return [
        f"{team},{system},EER,libri,test,f,{eer}",
        f"{team},{system},EER,libri,test,m,{eer}",
        f"{team},{system},WER,libri,test,,{wer}",
        f"{team},{system},UAR,IEMOCAP,test,,{uar}",
    ]


def rows_2022(team: str, system: str, eer: str, wer: str) -> list[str]:
    """A made-up system: its values on test, the same on all sets."""
    return [
        *(
            f"{team},{system},EER,{dataset},test,{gender},{eer}"
            for dataset in ("libri", "vctk_different", "vctk_common")
            for gender in "fm"
        ),
        *(f"{team},{system},WER,{dataset},test,,{wer}" for dataset in ("libri", "vctk")),
    ]


def write(folder: Path, lines: Iterable[str], name: str = "results.csv") -> Path:
    """A table of these lines, with its header."""
    path = folder / name
    path.write_text("\n".join([HEADER, *lines, ""]), encoding="utf-8")
    return path
