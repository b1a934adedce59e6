# SPDX-License-Identifier: MIT
#
# freezer: libfreezer-measure.a reads clocks and exchanges packets (links with -lsodium, not with GMP).

FREEZER_MEASURE := clock synclog burst exchange

$(B)/lib/libfreezer-measure.a: $(FREEZER_MEASURE:%=$(B)/obj/freezer/%.o)
	$(say) AR
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

things += $(B)/lib/libfreezer-measure.a

FREEZER_UNITS := clock synclog exchange
units += $(FREEZER_UNITS:%=$(B)/test/freezer_%)
$(FREEZER_UNITS:%=$(B)/test/freezer_%): $(B)/lib/libfreezer-measure.a
LIBS_freezer := -lsodium -lgmp -lm
