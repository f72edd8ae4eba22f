"""Of the looks that a decision rests on, those are kept that no other one answers."""

from __future__ import annotations

from pathlib import Path

from countersign.gate.probes import disk


def test_what_another_look_answers_is_not_looked_at_again(tmp_path: Path) -> None:
    folder, file, gone = str(tmp_path), str(tmp_path / "file"), str(tmp_path / "gone")
    Path(file).touch()
    with disk.record_probes() as probes:
        for path in (folder, file):
            disk.identity(path)
            disk.path_stat(path)
        for path in (gone, f"{gone}/below", f"{gone}/below/it", f"{file}/below"):
            disk.path_stat(path)

    kept = disk.without_implied(probes)

    looked_at = [probe.at for probe in kept]
    assert looked_at == [folder, file, file, gone, f"{file}/below"]
    assert disk.unchanged(kept)
    Path(gone).mkdir()
    assert not disk.unchanged(kept)
