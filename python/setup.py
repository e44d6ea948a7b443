"""Builds the wheel, whose extension CMake compiles with the whole library inside, and the sdist, which carries the
library's sources in library/.

SAPWOOD_BUILD=FOLDER  a build folder of CMake's, configured with -DSAPWOOD_PYTHON=ON, whose objects are used
SAPWOOD_CUDA=1 or 0   demand CUDA, or leave it out; otherwise it comes in where nvcc is
CMAKE_ARGS            more options for CMake, such as -DCMAKE_CUDA_ARCHITECTURES="80;90"
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

here = Path(__file__).resolve().parent
library = here / "library" if (here / "library").exists() else here.parent

# What of the repository an sdist needs, and what of it is no source.
carried = ["CMakeLists.txt", "VERSION", "LICENSE", "include", "src", "third_party", "cli", "packaging", "python/CMakeLists.txt",
           "python/sapwood.map", "python/src"]


class BuildExtension(build_ext):
    def build_extension(self, extension: Extension) -> None:
        if shutil.which("cmake") is None:
            sys.exit("sapwood: CMake 3.25 or newer is needed to build the extension")
        given = os.environ.get("SAPWOOD_BUILD")
        folder = Path(given).resolve() if given else Path(self.build_temp).resolve() / "library"
        if not given:
            self.configure(folder)
        jobs = str(self.parallel or os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", folder, "--target", "sapwood_python", "-j", jobs], check=True)
        target = Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / "python" / "_sapwood.abi3.so", target)

    def configure(self, folder: Path) -> None:
        options = {"CMAKE_BUILD_TYPE": "Release", "SAPWOOD_PYTHON": "ON", "SAPWOOD_SHARED": "OFF", "SAPWOOD_CLI": "OFF",
                   "SAPWOOD_TESTS": "OFF", "SAPWOOD_EXAMPLES": "OFF", "SAPWOOD_BENCH": "OFF",
                   "Python_EXECUTABLE": sys.executable}
        cuda = os.environ.get("SAPWOOD_CUDA")
        if cuda is not None:
            options["SAPWOOD_CUDA"] = "ON" if cuda == "1" else "OFF"
        command = ["cmake", "-S", library, "-B", folder]
        if shutil.which("ninja") and not (folder / "CMakeCache.txt").exists():
            command += ["-G", "Ninja"]
        command += [f"-D{name}={value}" for name, value in options.items()]
        subprocess.run(command + shlex.split(os.environ.get("CMAKE_ARGS", "")), check=True)
        if cuda == "1" and not (folder / "CMakeFiles" / "sapwood_cuda.dir").exists():
            sys.exit("sapwood: SAPWOOD_CUDA=1, but CMake found no nvcc or no C++ compiler")


class SourceDistribution(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        for name, source in {"LICENSE": "LICENSE", "LICENSE.cgltf": "third_party/cgltf/LICENSE"}.items():
            licence = Path(base_dir) / name  # a link in the repository
            licence.unlink(missing_ok=True)
            shutil.copyfile(library / source, licence)
        for name in [] if library == here / "library" else carried:
            source, target = library / name, Path(base_dir) / "library" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copyfile(source, target)


if sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit("sapwood: free-threaded Python has no limited API before 3.15; use a Python with the GIL")

setup(
    version=(library / "VERSION").read_text().strip(),
    packages=["sapwood"],
    package_data={"sapwood": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("sapwood._sapwood", [], py_limited_api=True)],
    cmdclass={"build_ext": BuildExtension, "sdist": SourceDistribution},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
