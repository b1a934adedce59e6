# SPDX-License-Identifier: MIT
#
# bench: recorders behind one harness (harness.h), each a program of its own; peers where installed.

PEERS := $(if $(wildcard /usr/include/otf2/otf2.h),otf2) $(if $(wildcard /usr/include/*/fxt/fxt.h /usr/include/fxt/fxt.h),fxt) \
         $(if $(wildcard /usr/include/*/lttng/tracepoint.h /usr/include/lttng/tracepoint.h),lttng)
BENCHES := $(addprefix $(B)/bench/record-,bare dprof hook uftrace $(PEERS)) \
           $(B)/bench/ghz $(B)/bench/word $(B)/bench/helper $(B)/bench/wake \
           $(B)/bench/threads $(B)/bench/threads-plain $(B)/bench/blocking $(B)/bench/blocking-plain \
           $(B)/bench/unmarked $(B)/bench/unmarked-plain $(B)/bench/start $(B)/bench/start-plain \
           $(if $(filter openmpi,$(MPIS)),$(B)/bench/pingpong $(B)/bench/pingpong-plain \
             $(addprefix $(B)/bench/,operations operations-plain operations-wrapped stencil stencil-plain)) \
           $(B)/bench/csp $(B)/bench/repack $(B)/bench/stored $(B)/bench/nested \
           $(addprefix $(B)/bench/clock-,methods conversion optimum width network)

CFLAGS_bench_record_otf2 := -I/usr/include/otf2
CFLAGS_bench_record_fxt  := -w
CFLAGS_bench_record_lttng := -w
LIBS_record_otf2  := -lotf2
LIBS_record_fxt   := -lfxt
LIBS_record_lttng := -llttng-ust -ldl

$(B)/obj/bench/record_dprof.o $(B)/obj/bench/word.o $(B)/obj/bench/helper.o $(B)/obj/bench/nested.o: CFLAGS += -fplugin=$(B)/plugin/dprof.so
$(B)/obj/bench/record_dprof.o $(B)/obj/bench/word.o $(B)/obj/bench/helper.o $(B)/obj/bench/nested.o: $(B)/plugin/dprof.so
LIBS_record_dprof := -L$(B)/lib -Wl,-rpath,$(B)/lib -ldprof
$(B)/bench/record-dprof: $(B)/lib/libdprof.so
$(B)/bench/word $(B)/bench/helper $(B)/bench/nested: $(B)/bench/%: $(B)/obj/bench/%.o $(B)/lib/libdprof.so
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $< $(LIBS_record_dprof)

# Two ways of GCC's own to have a function recorded; only that file is instrumented, not the harness.
$(B)/obj/bench/record_hook.o $(B)/obj/bench/record_uftrace.o: $(B)/obj/bench/record_%.o: bench/record_function.c
	$(call say,CC)
	$(Q)$(folder) && $(CC) $(CFLAGS) $(if $(filter hook,$*),-finstrument-functions,-pg) -c $< -o $@
$(B)/bench/record-hook: $(B)/obj/bench/hook.o

$(B)/bench/record-%: $(B)/obj/bench/record_%.o $(B)/obj/bench/harness.o
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS_record_$*)

$(B)/bench/wake: $(B)/obj/bench/wake.o
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^

# The same program with dprof's adapters and without.
$(B)/obj/bench/threads.o: CFLAGS += -fopenmp
$(B)/bench/threads $(B)/bench/threads-plain: $(B)/obj/bench/threads.o $(B)/lib/pkgconfig/dprof.pc
	$(call say,LINK)
	$(Q)$(folder) && $(CC) -fopenmp $(LDFLAGS) -o $@ $< \
		$(if $(filter %/threads,$@),$$(PKG_CONFIG_PATH=$(B)/lib/pkgconfig pkg-config --libs dprof))

$(B)/bench/blocking $(B)/bench/blocking-plain: $(B)/obj/bench/blocking.o $(B)/lib/pkgconfig/dprof.pc
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $< \
		$(if $(filter %/blocking,$@),$$(PKG_CONFIG_PATH=$(B)/lib/pkgconfig pkg-config --libs dprof))

$(B)/bench/unmarked $(B)/bench/unmarked-plain: bench/unmarked.c $(B)/lib/pkgconfig/dprof.pc $(B)/plugin/dprof.so
	$(call say,CC)
	$(Q)$(folder) && export PKG_CONFIG_PATH=$(B)/lib/pkgconfig && \
		$(CC) $(CFLAGS) -fopenmp $(if $(filter %/unmarked,$@),$$(pkg-config --cflags dprof)) -o $@ $< \
		$(if $(filter %/unmarked,$@),$$(pkg-config --libs dprof))

$(B)/bench/start $(B)/bench/start-plain: bench/start.c $(B)/lib/pkgconfig/dprof.pc $(B)/plugin/dprof.so
	$(call say,CC)
	$(Q)$(folder) && export PKG_CONFIG_PATH=$(B)/lib/pkgconfig && \
		$(CC) $(CFLAGS) $(if $(filter %/start,$@),$$(pkg-config --cflags dprof),-Wno-unknown-pragmas) -o $@ $< \
		$(if $(filter %/start,$@),$$(pkg-config --libs dprof))

$(B)/bench/pingpong $(B)/bench/pingpong-plain: bench/pingpong.c $(B)/lib/pkgconfig/dprof-openmpi.pc \
		$(B)/plugin/dprof.so
	$(call say,MPICC)
	$(Q)$(folder) && export PKG_CONFIG_PATH=$(B)/lib/pkgconfig && $(CC_openmpi) $(CFLAGS) \
		$(if $(filter %/pingpong,$@),$$(pkg-config --cflags dprof-openmpi)) -o $@ $< \
		$(if $(filter %/pingpong,$@),$$(pkg-config --libs dprof-openmpi))

# With dprof, without, and with a wrapper that only reads the counter.
$(addprefix $(B)/bench/,operations operations-plain operations-wrapped stencil stencil-plain): $(B)/bench/%: \
		bench/operations.c bench/stencil.c bench/rdtsc_wrapper.c $(B)/lib/pkgconfig/dprof-openmpi.pc $(B)/plugin/dprof.so
	$(call say,MPICC)
	$(Q)$(folder) && export PKG_CONFIG_PATH=$(B)/lib/pkgconfig && $(CC_openmpi) $(CFLAGS) -fopenmp \
		$(if $(findstring -,$*),,$$(pkg-config --cflags dprof-openmpi)) -o $@ bench/$(firstword $(subst -, ,$*)).c \
		$(if $(filter %-wrapped,$*),bench/rdtsc_wrapper.c) \
		$(if $(findstring -,$*),,$$(pkg-config --libs dprof-openmpi))

$(B)/bench/ghz: $(B)/obj/bench/ghz.o $(B)/lib/libfreezer-measure.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^

include bench/baseline/rules

$(B)/bench/clock-%: $(B)/obj/bench/clock_%.o $(B)/bench/baseline.a \
                    $(B)/lib/libfreezer.a $(B)/lib/libfreezer-measure.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^ $(LIBS_baseline) $(LIBS_freezer)

$(B)/bench/csp: $(B)/obj/bench/csp.o $(B)/lib/libdprof-analysis.a $(B)/lib/libfreezer.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^ $(LIBS_analysis)

$(B)/bench/stored $(B)/bench/repack: $(B)/bench/%: $(B)/obj/bench/%.o $(B)/lib/libdprof-analysis.a $(B)/lib/libfreezer.a $(B)/lib/libdprof.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^ $(LIBS_analysis)

now-bench: now-all $(BENCHES)
	$(Q)B=$(B) bench/run $(BENCH)

# The paper's experiments: bench/paper/run. Each .c file there is a program, beside what they share and
# traffic, which needs MPI.
PAPER_SHARED := methods recording shared_barriers
PAPER := $(filter-out $(PAPER_SHARED) traffic,$(basename $(notdir $(wildcard bench/paper/*.c))))
PAPER := $(PAPER:%=$(B)/bench/paper/%)

$(PAPER): $(B)/bench/paper/%: $(B)/obj/bench/paper/%.o $(PAPER_SHARED:%=$(B)/obj/bench/paper/%.o) \
          $(B)/obj/testsuite/truth/clockmap.o $(B)/lib/libdprof-analysis.a $(B)/bench/baseline.a \
          $(B)/lib/libfreezer.a $(B)/lib/libfreezer-measure.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^ $(LIBS_baseline) $(LIBS_analysis) $(LIBS_freezer)

$(B)/bench/paper/traffic: bench/paper/traffic.c $(B)/lib/libfreezer-measure.a
	$(call say,MPICC)
	$(Q)$(folder) && $(MPICC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lsodium -lm

PAPER += $(addprefix $(B)/bench/,paper/traffic ghz record-bare record-dprof)

now-check now-repeat: $(PAPER)
now-paper: now-all $(PAPER) $(B)/test/rewrite-clocks
	$(Q)testsuite/packages $(PAPER_PACKAGES)
	$(Q)B=$(B) QUICK=$(QUICK) bench/paper/run
