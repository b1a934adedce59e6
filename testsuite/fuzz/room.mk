# SPDX-License-Identifier: MIT
#
# fuzz: damaged traces, texts and questions for dprof-analyze, whose main is linked in under another name.

things += $(B)/test/fuzz

$(B)/obj/testsuite/fuzz/main.o: $(B)/obj/analysis/commands/main.o
	$(Q)$(folder) && objcopy --redefine-sym main=dprof_analyze_main $< $@

$(B)/test/fuzz: $(patsubst %,$(B)/obj/testsuite/fuzz/%.o,fuzz mutate answers main) \
                $(B)/lib/libdprof-analysis.a $(B)/lib/libfreezer.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^ $(LIBS_analysis)

$(B)/test/analysis_trace_damage $(B)/test/analysis_together: $(B)/obj/testsuite/fuzz/mutate.o

# make fuzz [SECONDS=60] [SEED=first]. Packets that a foe relays, and the files of them, have tests of their own.
now-fuzz: now-all $(B)/test/freezer_exchange $(B)/test/freezer_synclog
	$(Q)SEED=$(SEED) $(B)/test/freezer_exchange && SEED=$(SEED) $(B)/test/freezer_synclog
	$(Q)B=$(B) testsuite/fuzz/run $(if $(SEED),-s $(SEED)) -t $(or $(SECONDS),60)
