"""One file for each family of cases: `FAMILY` names its folder of data, `run(folder)` returns a Verdict."""
