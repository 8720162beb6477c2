"""Outside suites, played against the parts they are about: `python -m tests.conformance [DATA]`."""
