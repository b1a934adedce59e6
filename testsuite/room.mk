# SPDX-License-Identifier: MIT
# The truth harness: traces rewritten as if their hosts had other clocks (testsuite/truth/clockmap.h).

TRUTH := $(B)/test/rewrite-clocks
things += $(TRUTH)

$(B)/test/rewrite-clocks: $(B)/obj/testsuite/truth/rewrite-clocks.o $(B)/obj/testsuite/truth/clockmap.o
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) -o $@ $^
