# SPDX-License-Identifier: MIT
# The truth harness: traces rewritten as if their hosts had other clocks (testsuite/truth/clockmap.h).

things += $(B)/test/rewrite-clocks $(B)/test/truth

$(B)/test/rewrite-clocks: $(B)/obj/testsuite/truth/rewrite-clocks.o $(B)/obj/testsuite/truth/clockmap.o
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) -o $@ $^

$(B)/test/truth: $(B)/obj/testsuite/truth/truth.o $(B)/obj/testsuite/truth/clockmap.o \
                 $(B)/lib/libdprof-analysis.a $(B)/lib/libfreezer.a
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) -o $@ $^ $(LIBS_analysis)
