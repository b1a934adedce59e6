# SPDX-License-Identifier: MIT
# The examples, built as a user builds a program: with the plugin and what pkg-config says. Beside them,
# in plain/, the same sources without the plugin. And the real points and graphs that they work on.

MPI_EXAMPLES := kmeans pagerank cc bfs master_worker pipeline wavefront divide_conquer ring waits_mpi
EXAMPLES     := $(MPI_EXAMPLES) coz_two_threads waits_threads waits_openmp
things       += $(addprefix $(B)/examples/,$(EXAMPLES)) $(addprefix $(B)/examples/plain/,$(EXAMPLES))

EXAMPLE_PARTS := $(B)/obj/examples/common.a
$(EXAMPLE_PARTS): $(patsubst %.c,$(B)/obj/%.o,$(wildcard examples/common/*.c))
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/obj/examples/%: CC := $(MPICC)
$(B)/obj/examples/%: CFLAGS += -fopenmp
$(EXAMPLES:%=$(B)/obj/examples/%.o): CFLAGS += -Wno-unknown-pragmas
EXAMPLE_LINK = $(if $(filter $(MPI_EXAMPLES),$(notdir $@)),$(MPICC) -fopenmp,$(CC) $(if $(findstring openmp,$@),-fopenmp)) $(LDFLAGS)

DPROF_PC := PKG_CONFIG_PATH=$(B)/lib/pkgconfig pkg-config

$(EXAMPLES:%=$(B)/obj/examples/dprof/%.o): $(B)/obj/examples/dprof/%.o: examples/%.c \
		$(B)/plugin/dprof.so $(B)/lib/pkgconfig/dprof.pc
	$(call say,DPROF)
	$(Q)$(folder) && $(CC) $(CFLAGS) $$($(DPROF_PC) --cflags dprof) $(DEPS) -c $< -o $@

$(EXAMPLES:%=$(B)/examples/%): $(B)/examples/%: $(B)/obj/examples/dprof/%.o \
		$(EXAMPLE_PARTS) $(B)/lib/libdprof.so
	$(call say,LINK)
	$(Q)$(folder) && $(EXAMPLE_LINK) -o $@ $(filter %.o %.a,$^) $$($(DPROF_PC) --libs dprof) -lz -lm

$(EXAMPLES:%=$(B)/examples/plain/%): $(B)/examples/plain/%: $(B)/obj/examples/%.o $(EXAMPLE_PARTS)
	$(call say,LINK)
	$(Q)$(folder) && $(EXAMPLE_LINK) -o $@ $^ -lz -lm

# Graphs of any size.
things += $(B)/examples/rmat
$(B)/examples/rmat: $(B)/obj/examples/rmat.o $(EXAMPLE_PARTS)
	$(call say,LINK)
	$(Q)$(folder) && $(EXAMPLE_LINK) -o $@ $^

# Who works on real points and graphs needs them; where they cannot be had, examples/data/fetch says so.
DATA := $(B)/data/cities.csv.gz $(B)/data/debian.txt.gz
$(DATA) &: examples/data/fetch examples/data/cities.js examples/data/packages.awk
	$(call say,FETCH)
	$(Q)examples/data/fetch $(@D)

now-demo now-check now-repeat now-bench: $(DATA)

units += $(B)/test/examples_common
$(B)/test/examples_common: $(EXAMPLE_PARTS)
LIBS_examples := -lz -lm
