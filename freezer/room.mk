# SPDX-License-Identifier: MIT
#
# freezer: libfreezer-measure.a reads clocks and exchanges packets (links with -lsodium, not with GMP);
# libfreezer.a reads the packets and solves for bounds (links with -lgmp).

FREEZER_MEASURE := clock regular synclog burst stop packet exchange topology cores host host_here
FREEZER_SOLVE   := regular clock synclog host wide hull polygon bound segment block sweep envelope pairs wander \
                   solved solution network solve

$(B)/lib/libfreezer-measure.a: $(FREEZER_MEASURE:%=$(B)/obj/freezer/%.o)
$(B)/lib/libfreezer.a: $(FREEZER_SOLVE:%=$(B)/obj/freezer/%.o)
$(B)/lib/libfreezer-measure.a $(B)/lib/libfreezer.a:
	$(call say,AR)
	$(Q)$(folder) && rm -f $@ && $(AR) rcs $@ $^

FREEZER_COMMAND := main serve measure result plot cores

$(B)/bin/freezer: $(FREEZER_COMMAND:%=$(B)/obj/freezer/command/%.o) $(B)/lib/libfreezer-measure.a $(B)/lib/libfreezer.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^ $(LIBS_freezer)

things += $(B)/lib/libfreezer-measure.a $(B)/lib/libfreezer.a $(B)/bin/freezer

FREEZER_UNITS := clock synclog exchange keep topology cores
FREEZER_UNITS += block solve network wander
units += $(FREEZER_UNITS:%=$(B)/test/freezer_%)
$(FREEZER_UNITS:%=$(B)/test/freezer_%): $(B)/lib/libfreezer-measure.a $(B)/lib/libfreezer.a
$(B)/test/freezer_solve $(B)/test/freezer_network $(B)/test/freezer_wander: $(B)/obj/testsuite/truth/clockmap.o
LIBS_freezer := -lsodium -lgmp -lm
