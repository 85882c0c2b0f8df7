"""The baseline attacker: ECAPA-TDNN in SpeechBrain."""
