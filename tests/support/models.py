"""The models that scripts convert and run."""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("TAKT_SHARED_DIR", ROOT.parent / "shared"))


def models(names):
    """(name, path, inputs) of our own model, then of each shared one of `names` that is there."""
    fashion = ROOT / "samples/fashion"
    yield "fashion", fashion / "fashion.tflite", [fashion / "ankle_boot.raw"]
    for name in names:
        if (SHARED / "models" / f"{name}.tflite").exists():
            yield name, SHARED / "models" / f"{name}.tflite", sorted((SHARED / "golden" / name).glob("in_1_*.bin"))
        else:
            print(f"not run: {name} (not in {SHARED})")
