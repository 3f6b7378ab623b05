"""The share of deliberate mistakes that the tests noticed: `python noticed.py STATS.json LEAST`, of mutmut's
statistics. Ends non-zero below LEAST percent. What was not tried, or ended in another way, was not noticed.
"""

import json
import sys
from pathlib import Path


def main(stats: str, least: str) -> str:
    """Says the share; returns what is wrong, "" if nothing is."""
    found = json.loads(Path(stats).read_text("utf-8"))
    made, noticed = found["total"] - found["skipped"], found["killed"] + found["timeout"]
    if not made:
        return "no mistakes were made"
    share = 100 * noticed / made
    print(f"{made:,} mistakes, {share:.1f} % noticed; at least {least} % are wanted")
    return "" if share >= float(least) else "too few"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) or None)
