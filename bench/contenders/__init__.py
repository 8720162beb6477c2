"""The measured programs. Most are scripts: arguments `PORT PAGES`, output one line of JSON (pages, rates, CPU time)."""
