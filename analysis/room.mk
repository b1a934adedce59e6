# SPDX-License-Identifier: MIT
#
# analysis: libdprof-analysis.a is everything but main; dprof-analyze is its command.

ANALYSIS_OBJECTS  := $(patsubst %.c,$(B)/obj/%.o,$(filter-out \
                       analysis/commands/main.c analysis/info/main.c analysis/driver/peers_mpi.c,$(wildcard analysis/*/*.c)))
ANALYSIS_ARCHIVES := $(B)/lib/libdprof-analysis.a $(B)/lib/libfreezer.a

# What is also there as an archive is taken from that: to bring ten shared libraries together takes longer than most of what
# the command is asked.
LIBRARY_FOLDERS   := $(subst :, ,$(shell $(CC) -print-search-dirs | sed -n 's/^libraries: =//p'))
archived           = $(if $(wildcard $(LIBRARY_FOLDERS:%=%/lib$(1).a)),-l:lib$(1).a,-l$(1))
LIBS_analysis     := $(foreach lib,mpfr gmp clips elf sqlite3 otf2 jansson zstd z,$(call archived,$(lib))) -lm

# Bounds on savings are sums that round upwards.
CFLAGS_analysis_coz_savings := -frounding-math -ftree-vectorize -fvect-cost-model=dynamic

# Columns are widened and narrowed by loops over numbers of one size.
CFLAGS_analysis_trace_store   := -ftree-vectorize -fvect-cost-model=dynamic
CFLAGS_analysis_trace_columns := -ftree-vectorize -fvect-cost-model=dynamic

things += $(B)/lib/libdprof-analysis.a $(B)/bin/dprof-analyze

$(B)/lib/libdprof-analysis.a: $(ANALYSIS_OBJECTS)
	$(call say,AR)
	$(Q)$(folder) && rm -f $@ && $(AR) rcs $@ $^

# Rules of diagnose are beside the program as they will be installed.
RULES  := $(patsubst analysis/diagnose/rules/%,$(B)/share/dprof/rules/%, \
            $(wildcard analysis/diagnose/rules/*.clp analysis/diagnose/rules/*.events))
things += $(RULES)
$(RULES): $(B)/share/dprof/rules/%: analysis/diagnose/rules/%
	$(call say,COPY)
	$(Q)install -D -m 644 $< $@

$(B)/bin/dprof-analyze: $(B)/obj/analysis/commands/main.o $(ANALYSIS_ARCHIVES) | $(RULES)
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^ $(LIBS_analysis)

things += $(B)/bin/dprof-info
$(B)/bin/dprof-info: $(B)/obj/analysis/info/main.o $(ANALYSIS_ARCHIVES) $(B)/lib/libfreezer-measure.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $^ $(LIBS_analysis) -lsodium

# The parts of the page are in the object itself.
$(B)/obj/analysis/html/page.o: $(filter-out %.c %.h,$(wildcard analysis/html/*.* analysis/html/uplot/*))

# Beside dprof-analyze, which it runs.
things += $(B)/bin/dprof-ab
$(B)/bin/dprof-ab: analysis/dprof-ab
	$(Q)$(folder) && install $< $@

# What the processes of a job tell each other by (analysis/driver/peers.h): for the ABI of each MPI, from the same source.
DRIVERS = $(MPIS:%=$(B)/lib/dprof/driver-%.so)
things += $(DRIVERS)
define driver_rules
$(B)/lib/dprof/driver-$(1).so: analysis/driver/peers_mpi.c analysis/driver/peers.h analysis/trace/pipe.h
	$$(call say,LINK)
	$$(Q)$$(folder) && $(CC_$(1)) $$(CFLAGS) -fvisibility=hidden -shared -o $$@ $$<
endef
$(foreach mpi,$(MPIS),$(eval $(call driver_rules,$(mpi))))

# With a sanitizer that notices data races, for testsuite/e2e/analysis-races.sh. Functions of which the loader chooses one
# (target_clones) would be called before the sanitizer is there.
RACES_CFLAGS   := -std=gnu17 -O0 -frounding-math -fsanitize=thread -pthread -I. '-Dtarget_clones(...)=unused'
RACES_OBJECTS  := $(patsubst $(B)/obj/%,$(B)/obj/races/%,$(ANALYSIS_OBJECTS)) \
                  $(patsubst %.c,$(B)/obj/races/%.o,$(wildcard freezer/*.c))
RACES_PROGRAMS := $(B)/races/bin/dprof-analyze $(B)/races/bin/analysis_pool
units += $(if $(SAN),,$(RACES_PROGRAMS))
$(B)/obj/races/%.o: %.c
	$(call say,CC)
	$(Q)$(folder) && $(CC) $(RACES_CFLAGS) $(DEPS) -c $< -o $@
$(B)/races/bin/dprof-analyze: $(B)/obj/races/analysis/commands/main.o
$(B)/races/bin/analysis_pool: $(B)/obj/races/testsuite/unit/analysis_pool.o
$(B)/races/all.a: $(RACES_OBJECTS)
	$(call say,AR)
	$(Q)$(folder) && rm -f $@ && $(AR) rcs $@ $^
$(RACES_PROGRAMS): $(B)/races/all.a | $(RULES)
	$(call say,LINK)
	$(Q)$(folder) && ln -sfn ../share $(B)/races/share # where the rules are found
	$(Q)$(CC) -fsanitize=thread -pthread -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS_analysis) $$(pkg-config --libs check)

ANALYSIS_UNITS := $(patsubst testsuite/unit/%.c,$(B)/test/%,$(wildcard testsuite/unit/analysis_*.c))
units += $(ANALYSIS_UNITS)
$(ANALYSIS_UNITS): $(ANALYSIS_ARCHIVES)
$(B)/test/analysis_packed $(B)/test/analysis_changes: $(B)/lib/libdprof.a
$(B)/test/analysis_operation: $(B)/lib/libdprof-pthread.so $(B)/lib/libdprof-gomp.so $(MPI_LIBS)
