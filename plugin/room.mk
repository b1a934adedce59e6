# SPDX-License-Identifier: MIT
# The GCC plugin. Built against the headers of the compiler that will load it.

PLUGIN     := $(B)/plugin/dprof.so
PLUGIN_OBJ := $(patsubst plugin/%.cc,%.o,$(wildcard plugin/*.cc))
# GCC's headers are no model of tidiness: they are system headers here. No sanitizers: cc1 has none. Of all of GCC's types, debug
# information takes longer than all else: lines and functions are enough for a backtrace.
PLUGIN_CXXFLAGS := -std=gnu++17 -O2 -g1 -fPIC -fno-rtti -fno-exceptions -fvisibility=hidden \
                   -Wall -Wextra -Wno-literal-suffix -I.

# What GCC gives is weak, so that other compilers can load the plugin, too, and it says which one it needs (foreign.cc).

# GCC's headers are read once, and then as they were precompiled with those of ours.

# One for $(CC), and one for each other GCC whose plugin headers are here: $(call a_plugin,SO,GCC,G++,OBJ).
define a_plugin
things += $(1)
$(1): $(PLUGIN_OBJ:%=$(4)/%)
	$$(call say,LINK)
	$$(Q)$$(folder) && $(3) -r -nostdlib -o $(4)/weak.o $$^ && objcopy --weaken $(4)/weak.o && \
		$(3) -shared -o $$@ $(4)/weak.o
$(4)/%.o: plugin/%.cc $(4)/plugin/parts.h.gch
	$$(call say,CXX)
	$$(Q)$$(folder) && $(3) -I$(4) $(PLUGIN_CXXFLAGS) -isystem $(shell $(2) -print-file-name=plugin 2>/dev/null)/include \
		$$(DEPS) -c $$< -o $$@
$(4)/plugin/parts.h.gch: plugin/parts.h
	$$(call say,CXX)
	$$(Q)$$(folder) && $(3) $(PLUGIN_CXXFLAGS) -isystem $(shell $(2) -print-file-name=plugin 2>/dev/null)/include \
		$$(DEPS) -x c++-header $$< -o $$@
endef

OTHER_GCCS := $(foreach n,$(filter-out $(GCC_MAJOR),9 10 11 12 13 14 15),$(if \
	$(wildcard $(shell gcc-$n -print-file-name=plugin 2>/dev/null)/include/gcc-plugin.h),$n))
$(eval $(call a_plugin,$(PLUGIN),$(CC),$(CXX),$(B)/obj/plugin))
$(foreach n,$(OTHER_GCCS),$(eval $(call a_plugin,$(B)/plugin/$n/dprof.so,gcc-$n,g++-$n,$(B)/obj/plugin-$n)))

units  += $(B)/test/plugin_sites

# This test is an annotated program itself.
CFLAGS_testsuite_unit_plugin_sites := -fplugin=$(PLUGIN)
$(B)/obj/testsuite/unit/plugin_sites.o: $(PLUGIN)
$(B)/test/plugin_sites: $(B)/obj/testsuite/fixtures/plugin/recorder.o
