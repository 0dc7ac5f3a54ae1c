"""The papers: each a folder with everything of it."""
