"""What ran on a device last."""

MEASURED = "0bb3e384"  # the commit
