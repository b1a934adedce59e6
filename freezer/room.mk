# SPDX-License-Identifier: MIT
#
# freezer: libfreezer-measure.a reads clocks and exchanges packets (links with -lsodium, not with GMP).

FREEZER_MEASURE := clock

$(B)/lib/libfreezer-measure.a: $(FREEZER_MEASURE:%=$(B)/obj/freezer/%.o)
	$(say) AR
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

things += $(B)/lib/libfreezer-measure.a

units += $(B)/test/freezer_clock
$(B)/test/freezer_clock: $(B)/lib/libfreezer-measure.a
LIBS_freezer := -lsodium -lgmp -lm
