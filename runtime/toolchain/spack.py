# SPDX-License-Identifier: MIT
#
# A recipe for Spack, by its documentation and not tried: put it into a repository of your own as packages/dprof/package.py,
# and say with `git =` where the source is. Spack may lack a recipe for CLIPS.

from spack.package import *


class Dprof(MakefilePackage):
    """A profiler for parallel programs on machines whose clocks disagree: every number it prints is an interval
    that contains the true value."""

    git = "dprof.git"  # where you cloned it from

    version("main", branch="main")

    variant("openmpi", default=True, description="the adapter for Open MPI")
    variant("mpich", default=False, description="the adapter for MPICH")

    # The plugin is loaded by the compiler that it is built with, which has its plugin headers.
    conflicts("%clang")
    conflicts("%gcc@:8")
    conflicts("%gcc@16:")

    depends_on("gmp")
    depends_on("mpfr")
    depends_on("elfutils")
    depends_on("libsodium")
    depends_on("zstd libs=shared,static")
    depends_on("clips")
    depends_on("sqlite")
    depends_on("zlib-api")
    depends_on("openmpi", when="+openmpi")
    depends_on("mpich", when="+mpich")
    depends_on("scdoc", type="build")
    depends_on("pkgconfig", type="build")

    # `now-` leaves out what looks for Debian's packages.
    build_targets = ["now-all"]

    @property
    def install_targets(self):
        return ["now-install", f"PREFIX={self.prefix}"]
