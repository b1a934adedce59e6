# SPDX-License-Identifier: MIT
# The GCC plugin. Built against the headers of the compiler that will load it.

PLUGIN     := $(B)/plugin/dprof.so
PLUGIN_OBJ := $(patsubst %.cc,$(B)/obj/%.o,$(wildcard plugin/*.cc))
PLUGIN_INC := $(shell $(CC) -print-file-name=plugin)/include
# GCC's headers are no model of tidiness: they are system headers here. No sanitizers: cc1 has none.
PLUGIN_CXXFLAGS := -std=gnu++17 -O2 -g -fPIC -fno-rtti -fno-exceptions -fvisibility=hidden \
                   -Wall -Wextra -Wno-literal-suffix -I. -isystem $(PLUGIN_INC)

things += $(PLUGIN)
units  += $(B)/test/plugin_sites

$(PLUGIN_OBJ): $(B)/obj/%.o: %.cc
	$(call say,CXX)
	$(Q)mkdir -p $(@D) && $(CXX) $(PLUGIN_CXXFLAGS) -MMD -MP -c $< -o $@

$(PLUGIN): $(PLUGIN_OBJ)
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(CXX) -shared -o $@ $^

# This test is an annotated program itself.
CFLAGS_testsuite_unit_plugin_sites := -fplugin=$(PLUGIN)
$(B)/obj/testsuite/unit/plugin_sites.o: $(PLUGIN)
$(B)/test/plugin_sites: $(B)/obj/testsuite/fixtures/plugin/recorder.o
