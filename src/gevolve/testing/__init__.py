"""The conformance suites that every device and every evaluator must pass, for plug-in authors."""
