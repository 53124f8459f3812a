"""Operators of object detectors: anchors, matching, overlap and suppression."""
