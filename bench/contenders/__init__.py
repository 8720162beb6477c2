"""Who is measured. Each is a script: `PORT PAGES` in, one line of JSON out (pages, seconds, CPU seconds)."""
