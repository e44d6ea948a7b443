#!/usr/bin/env python3
"""What must be true of a wheel and an sdist: check_package.py WHEEL SDIST TOP."""

import email
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

wheel_path, sdist_path, top = map(Path, sys.argv[1:])
version = (top / "VERSION").read_text().strip()


def require(holds: bool, sentence: str) -> None:
    if not holds:
        sys.exit(f"{wheel_path.name}: {sentence}")


with zipfile.ZipFile(wheel_path) as wheel, tempfile.TemporaryDirectory() as folder:
    names = set(wheel.namelist())
    info = f"sapwood-{version}.dist-info"
    metadata = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
    require(metadata["Version"] == version, f"version {metadata['Version']}, but VERSION says {version}")
    require(metadata["Description-Content-Type"] == "text/markdown", "no README")
    for licence in ("LICENSE", "LICENSE.cgltf"):
        require(any(name.startswith(info) and name.endswith(licence) for name in names), f"no {licence}")
    require({"sapwood/py.typed", "sapwood/_sapwood.abi3.so"} <= names, "no py.typed or no extension")
    for source in (top / "python" / "sapwood").glob("*.py*"):
        require(f"sapwood/{source.name}" in names, f"{source.name} is missing")
    extension = wheel.extract("sapwood/_sapwood.abi3.so", folder)
    exported = subprocess.run(["nm", "-D", "--defined-only", extension], check=True, capture_output=True, text=True).stdout
    symbols = [line.split()[-1] for line in exported.splitlines()]
    require(symbols == ["PyInit__sapwood"], f"exports {' '.join(symbols[:5])}, not PyInit__sapwood alone")
    needed = subprocess.run(["objdump", "-p", extension], check=True, capture_output=True, text=True).stdout
    libraries = [line.split()[1] for line in needed.splitlines() if line.strip().startswith("NEEDED")]
    # What manylinux lets wheels count on (PEP 599); with CUDA, CUB needs C++'s library.
    foreign = [name for name in libraries if not name.startswith(("libc.", "libm.", "libdl.", "libpthread.", "librt.",
                                                                  "libz.", "libstdc++.", "libgcc_s.", "ld-linux"))]
    require(not foreign, f"needs {' '.join(foreign)}")

# The sdist must hold whatever of the repository the library is built from.
with tarfile.open(sdist_path) as sdist:
    inside = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
stray = sorted(name for name in inside if "_cache" in name or name.endswith((".so", ".pyc")))
if stray:
    sys.exit(f"{sdist_path.name}: {stray[0]} does not belong there")
for folder_name in ("include", "src", "cli", "packaging", "python/src"):
    for path in (top / folder_name).rglob("*"):
        name = f"library/{path.relative_to(top)}"
        if path.is_file() and name not in inside:
            sys.exit(f"{sdist_path.name}: {name} is missing")
print(f"{wheel_path.name}: {wheel_path.stat().st_size / 1e6:.1f} MB, {len(names)} files, needs {' '.join(libraries)}; "
      f"{sdist_path.name}: {sdist_path.stat().st_size / 1e6:.1f} MB, {len(inside)} files")
