"""Datasets that are read in order from shards: tar archives in WebDataset's layout, and Parquet."""
