"""Rules by family of ONNX operators; each module has a table, `RULES`."""
