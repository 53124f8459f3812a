"""Rules by family of ONNX operators; each module ends with its table, `RULES`."""
