"""What gevolve asks of the operating system: processes that end, confinement, text safe to print."""
