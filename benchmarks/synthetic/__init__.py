"""Made-up runs, landscapes and noise, whose truth is known; benchmarks and tests use them."""
