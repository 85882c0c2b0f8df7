"""EERs as the official scripts and those of 2022 write them, with numbers of our own; and claims
in brief."""

from __future__ import annotations

from harness.submissions.model import Claim

OFFICIAL_CSV = """,dataset,split,gender,enrollment,trial,EER
0,libri,dev,f,original,original,10.511
1,libri,dev,f,original,anon,27.4
2,libri,dev,f,anon,anon,12.910
3,libri,test,m,anon,anon,1.557
4,libri,test,average,anon,anon,4.52
5,vctk,test,m,anon,anon,5.5
"""
RANK = """---- ASV_eval^anon results ----
   dataset split gender enrollment trial     EER
2    libri   dev      f       anon  anon  12.910
11   libri  test      m       anon  anon   1.557

---- ASR_eval results ----
  dataset split   asr    WER
0   libri   dev  anon  2.605
1   libri  test  anon  2.704
---- SER_eval results ----
  dataset split fold    UAR
0 iemocap  test    1 55.202
---- ASV_eval^orig results ----
   dataset split gender enrollment trial     EER
0    libri   dev      f   original  original 10.511
2    libri   dev      f       anon  anon  33.000
"""
RESULTS_2022 = """ASV-libri_dev_enrolls-libri_dev_trials_f
  EER: 8.665%
  Cllr (min/act): 0.304/42.857
  ROCCH-EER: 8.600%
ASV-libri_dev_enrolls-libri_dev_trials_f_anon
  EER: 50.01%
  ROCCH-EER: 49.9%
ASV-libri_dev_enrolls_anon-libri_dev_trials_f_anon
  EER: 17.76%
  Cllr (min/act): 0.529/17.571
  ROCCH-EER: 17.312%
  linkability: 0.801426
  Population: 0.492 bit
  Individual: 3.829 (C)
ASV-vctk_dev_enrolls_anon-vctk_dev_trials_f_anon
  EER: 11.11%
ASR-libri_dev_asr_anon
  %WER 3.82 [ 1518 / 39783, 185 ins, 140 del, 1193 sub ]
"""


def brief(claims: list[Claim]) -> list[tuple[str | None, str, str, int | None]]:
    return [(one.system, one.list, str(one.percent), one.line) for one in claims]
