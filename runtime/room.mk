# SPDX-License-Identifier: MIT
#
# runtime: libdprof (the recorder, knows no programming model), the adapters libdprof-pthread,
# libdprof-gomp and libdprof-openmpi, dprof.pc.
#
# All of it is loaded into programs that know nothing of us: so it is compiled apart (obj/guest),
# names are hidden unless a header exports them, and sanitizers stay out (the user's program may
# have none). $(GENERAL) runs with the user's vector registers live and must leave them alone: the
# compiler may use general registers only, and may not make calls to memset and memcpy out of
# loops.

GUEST_FLAGS := -D_GNU_SOURCE= -fvisibility=hidden -ftls-model=initial-exec -fno-sanitize=all \
               -fno-omit-frame-pointer
GENERAL     := slow chunk helper
CORE        := settings process modules thread $(GENERAL) adapter instance fortran
ADAPTER     := calls fortran messages requests completions communicators groups hosts wishes endpoint \
               measure background
guest        = $(1:%=$(B)/obj/guest/%.o)

$(call guest,$(GENERAL:%=runtime/%)): \
	GUEST_FLAGS += -mgeneral-regs-only -fno-tree-loop-distribute-patterns

$(B)/obj/guest/%.o: %.c
	$(call say,CC)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(GUEST_FLAGS) -MMD -MP -c $< -o $@
$(B)/obj/guest/%.o: %.S
	$(call say,AS)
	$(Q)mkdir -p $(@D) && $(CC) -c $< -o $@

$(B)/lib/libdprof.so: $(call guest,$(CORE:%=runtime/%) runtime/entry freezer/clock)
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(CC) -shared -pthread -Wl,-soname,$(@F) \
		-Wl,-z,defs,-z,nodelete,-z,now -o $@ $^
$(B)/lib/libdprof.a: $(call guest,$(CORE:%=runtime/%) runtime/entry freezer/clock)
	$(call say,AR)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

# Adapters that stand before the library whose functions they record.
PTHREAD := threads locks waits barriers table
GOMP    := gomp locks
things  += $(B)/lib/libdprof-pthread.so $(B)/lib/libdprof-gomp.so

$(B)/lib/libdprof-pthread.so: $(call guest,$(PTHREAD:%=runtime/pthread/%)) $(B)/lib/libdprof.so
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(CC) -shared -Wl,-soname,$(@F) -Wl,-z,defs,-z,nodelete,-z,now \
		-Wl,-rpath,'$$ORIGIN' -o $@ $^
$(GOMP:%=$(B)/obj/guest/runtime/gomp/%.o): GUEST_FLAGS += -fopenmp
$(B)/lib/libdprof-gomp.so: $(call guest,$(GOMP:%=runtime/gomp/%)) $(B)/lib/libdprof.so
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(CC) -shared -fopenmp -Wl,-soname,$(@F) -Wl,-z,defs,-z,nodelete,-z,now \
		-Wl,-rpath,'$$ORIGIN' -o $@ $^

HAVE_MPI := $(shell command -v $(MPICC))
things   += $(B)/lib/libdprof.so $(B)/lib/libdprof.a $(if $(HAVE_MPI),$(B)/lib/libdprof-openmpi.so)

$(ADAPTER:%=$(B)/obj/guest/runtime/openmpi/%.o): CC := $(MPICC)
$(B)/lib/libdprof-openmpi.so: $(call guest,$(ADAPTER:%=runtime/openmpi/%)) \
		$(call guest,$(FREEZER_MEASURE:%=freezer/%)) $(B)/lib/libdprof.so
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(MPICC) -shared -pthread -Wl,-soname,$(@F) -Wl,-z,defs,-z,nodelete \
		-Wl,-rpath,'$$ORIGIN' -o $@ $^ -lsodium

# One template for the build tree and for installing: $(call dprof_pc,PLUGIN,INCLUDEDIR,LIBDIR)
dprof_pc  = sed -e 's|@PLUGIN@|$(1)|' -e 's|@INCLUDEDIR@|$(2)|' -e 's|@LIBDIR@|$(3)|' \
                -e 's|@VERSION@|0.1|' -e 's|@ADAPTER@|$(if $(HAVE_MPI),-ldprof-openmpi)|' \
                runtime/dprof.pc.in

HERE := $(abspath $(B))
$(B)/lib/pkgconfig/dprof.pc: runtime/dprof.pc.in $(B)/lib/libdprof-pthread.so $(B)/lib/libdprof-gomp.so \
		$(if $(HAVE_MPI),$(B)/lib/libdprof-openmpi.so)
	$(Q)mkdir -p $(@D)
	$(Q)$(call dprof_pc,$(HERE)/plugin/dprof.so,$(CURDIR)/pragmas,$(HERE)/lib) >$@

things += $(B)/lib/pkgconfig/dprof.pc

units += $(B)/test/runtime_trace
$(B)/test/runtime_trace: $(B)/test/runtime_trace-scenarios
$(B)/test/runtime_trace-scenarios: $(call guest,testsuite/fixtures/runtime/scenarios) \
		$(B)/lib/libdprof.a
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(CC) -pthread -o $@ $^
