"""Modules that are here because MXNet has one of that name; what they show stands elsewhere."""
