"""ML programs with their data: training and prediction, for `xla` devices."""
