# SPDX-License-Identifier: MIT
#
# What stands around the compiler: wrappers and CMake's package, the same in the build tree as installed; and around the
# shell: completion and the module file.
# Both read ../lib/pkgconfig/dprof.pc.

WRAPPERS := $(addprefix dprof-,cc c++ fort mpicc mpicxx mpic++ mpifort gcc-ar gcc-nm gcc-ranlib)
CMAKE    := dprof-config.cmake dprof-config-version.cmake

things += $(WRAPPERS:%=$(B)/bin/%) $(CMAKE:%=$(B)/lib/cmake/dprof/%)

$(WRAPPERS:%=$(B)/bin/%): runtime/toolchain/wrapper
	$(Q)$(folder) && install $< $@
$(CMAKE:%=$(B)/lib/cmake/dprof/%): $(B)/lib/cmake/dprof/%: runtime/toolchain/%
	$(Q)$(folder) && install -m 644 $< $@

# Plugins of further compilers lie beside that of $(CC), in a folder each. Where the installation is the
# system's, each GCC also finds its own as -fplugin=dprof; else nothing is put outside $(PREFIX).
gcc_plugins = $(DESTDIR)$(shell $(1) -print-file-name=plugin)
for_gcc     = $(if $(filter /usr /usr/local,$(PREFIX)),install -m 644 -D $(2) $(call gcc_plugins,$(1))/dprof.so,:)
install-toolchain: now-all
	$(Q)install -d $(to)/bin $(to)/lib/dprof $(to)/lib/cmake/dprof
	$(Q)install $(WRAPPERS:%=$(B)/bin/%) $(to)/bin
	$(Q)install -m 644 $(CMAKE:%=$(B)/lib/cmake/dprof/%) $(to)/lib/cmake/dprof
	$(Q)install -m 644 -D runtime/toolchain/modulefile $(to)/share/modulefiles/dprof/$(VERSION)
	$(Q)install -m 644 -D runtime/toolchain/completion.bash $(to)/share/bash-completion/completions/dprof-analyze
	$(Q)ln -sf dprof-analyze $(to)/share/bash-completion/completions/dprof-info
	$(Q)ln -sf dprof-analyze $(to)/share/bash-completion/completions/dprof-ab
	$(Q)install -m 644 $(PLUGIN) $(MPIS:%=$(B)/lib/dprof/driver-%.so) $(to)/lib/dprof && $(call for_gcc,$(CC),$(PLUGIN))
	$(Q)$(foreach n,$(OTHER_GCCS),install -m 644 -D $(B)/plugin/$n/dprof.so $(to)/lib/dprof/$n/dprof.so && \
		$(call for_gcc,gcc-$n,$(B)/plugin/$n/dprof.so) &&) :

now-install: install-toolchain
.PHONY: install-toolchain
