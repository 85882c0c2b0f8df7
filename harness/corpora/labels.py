"""Further columns of a manifest: what sets of emotional speech say of each utterance."""

from __future__ import annotations

EMOTION = "emotion"
# Of the speaker; as text, whatever it looks like.
FOLD = "fold"
