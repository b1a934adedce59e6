# SPDX-License-Identifier: MIT
# The truth harness: traces rewritten as if their hosts had other clocks (testsuite/truth/clockmap.h).

TRUTH_OBJECTS := $(patsubst %,$(B)/obj/testsuite/truth/%.o,clockmap clocks delays random program \
                 program_run program_tasks program_teams program_clocks world trials)

$(B)/lib/libtruth.a: $(TRUTH_OBJECTS)
	$(call say,AR)
	$(Q)$(folder) && rm -f $@ && $(AR) rcs $@ $^

things += $(B)/test/rewrite-clocks $(B)/test/truth $(B)/test/truth-clocks $(B)/test/synthesize $(B)/test/topologies

$(B)/test/rewrite-clocks: $(B)/obj/testsuite/truth/rewrite-clocks.o $(B)/lib/libtruth.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^ -lgmp -lm

$(B)/test/truth-clocks $(B)/test/synthesize $(B)/test/topologies: $(B)/test/%: $(B)/obj/testsuite/truth/%.o $(B)/lib/libtruth.a \
                                               $(B)/lib/libfreezer.a $(B)/lib/libfreezer-measure.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^ -lgmp -lm

$(B)/test/truth: $(B)/obj/testsuite/truth/truth.o $(B)/lib/libtruth.a \
                 $(B)/lib/libdprof-analysis.a $(B)/lib/libfreezer.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^ $(LIBS_truth)

TRUTH_UNITS := $(patsubst testsuite/unit/%.c,$(B)/test/%,$(wildcard testsuite/unit/truth_*.c))
units += $(TRUTH_UNITS)
$(TRUTH_UNITS): $(B)/lib/libtruth.a $(B)/lib/libdprof-analysis.a $(B)/lib/libfreezer.a
LIBS_truth := -lmpfr -lgmp -lzstd -lm

# make truth [N=conversions] [SEED=first] [KIND=word] [MODEL=affine|drift] [BROKEN=runs]
now-truth: $(B)/test/truth-clocks
	$(Q)$< $(if $(N),-n $(N) -b $(or $(BROKEN),0)) $(if $(BROKEN),-b $(BROKEN)) $(if $(SEED),-s $(SEED)) \
		$(if $(KIND),-k $(KIND)) $(if $(MODEL),-m $(MODEL))

# make sabotage [MODULE=name] [ROW=pattern]: testsuite/sabotage/run says what it does.
now-sabotage: now-all
	$(Q)B=$(B) testsuite/sabotage/run '$(MODULE)' '$(ROW)'

# make suite [SEEDS=20] [SEED=first]: testsuite/suite/run says what it does.
now-suite: now-all
	$(Q)B=$(B) SEEDS=$(or $(SEEDS),20) SEED=$(or $(SEED),1) testsuite/suite/run

# make whatif [CASES=pattern] [PROGRAMS=10] [SEED=first] [MPI=openmpi|mpich] [HOSTS=2]: testsuite/whatif/run says what it does.
now-whatif: now-all
	$(Q)B=$(B) CASES='$(CASES)' PROGRAMS=$(or $(PROGRAMS),10) SEED=$(or $(SEED),1) MPI=$(or $(MPI),openmpi) HOSTS=$(or $(HOSTS),1) \
		testsuite/whatif/run

# Real programs: testsuite/real/run says what they are. Their packages, and what tells the time beside dprof.
REAL_PACKAGES := libscalapack-openmpi-dev libblas-dev liblapack-dev python3
$(B)/test/clocked.so: testsuite/real/clocked.c
	$(call say,CC)
	$(Q)$(folder) && $(CC) $(CFLAGS) -shared -o $@ $<
now-real: now-all $(B)/test/clocked.so
	$(Q)testsuite/packages $(REAL_PACKAGES)
	$(Q)B=$(B) testsuite/real/run $(REAL)
