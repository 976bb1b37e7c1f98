"""``python -m metricpact``."""

from metricpact.cli import main

if __name__ == "__main__":
    main()
