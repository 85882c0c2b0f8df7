"""The stages of dvc.yaml: they join corpora, anonymizers, attackers, reports and tracking."""
