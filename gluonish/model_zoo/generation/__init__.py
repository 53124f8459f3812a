"""Generation of text: options, processors of scores, caches of prompts, and search."""
