"""What a wheel holds and weighs: `python contents.py WHEEL`. Ends non-zero where something is amiss."""

import collections
import sys
import zipfile

LARGEST = 30_000_000  # bytes, packed
REPLAYS = 3_000_000  # bytes of the gallery's snapshots, unpacked
NEEDED = (
    "rnnviz/.streamlit/config.toml",
    "rnnviz/locale/zh/LC_MESSAGES/rnnviz.po",
    "rnnviz/models/timemachine-gru.safetensors",
    "rnnviz/models/timemachine-6gram.safetensors",
    "rnnviz/py.typed",
    "rnnviz/ui/browser/static/link.js",
    "rnnviz/ui/script/main.py",
)
REFUSED = ("tests/", "docs/", ".ci/", "__pycache__", "node_modules", ".d.ts")


def kind(name: str) -> str:
    """What a file counts as."""
    if not name.startswith("rnnviz/models/"):
        return "code, pages, words"
    return "snapshots" if name.endswith(".snapshots.safetensors") else "models"


def main(wheel: str) -> str:
    """Says what there is; returns what is wrong, "" if nothing is."""
    packed: collections.Counter[str] = collections.Counter()
    unpacked: collections.Counter[str] = collections.Counter()
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            packed[kind(member.filename)] += member.compress_size
            unpacked[kind(member.filename)] += member.file_size
        names = archive.namelist()
    for what, size in packed.most_common():
        print(f"{what:20} {size / 1e6:6.1f} MB packed, {unpacked[what] / 1e6:6.1f} MB unpacked")
    print(f"{'the wheel':20} {packed.total() / 1e6:6.1f} MB of at most {LARGEST / 1e6:.0f}")
    missing = [name for name in NEEDED if name not in names]
    strange = [name for name in names if any(part in name for part in REFUSED)]
    wrong = [f"{name} is missing" for name in missing] + [f"{name} doesn't belong there" for name in strange]
    if packed.total() > LARGEST:
        wrong.append(f"{packed.total():,} bytes are more than {LARGEST:,}")
    if unpacked["snapshots"] > REPLAYS:
        wrong.append(f"snapshots of {unpacked['snapshots']:,} bytes are more than {REPLAYS:,}")
    return "\n".join(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) or None)
