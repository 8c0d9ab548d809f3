"""Test suites that every device, evaluator and program must pass, for authors of plug-ins.

Each is a class to subclass in a test file: `devices.DeviceConformance`,
`evaluators.EvaluatorConformance`, `programs.ProgramConformance`. They need pytest, which nothing else
in gevolve imports. `selfcheck` compares a GPU at hand with the simulator.
"""
