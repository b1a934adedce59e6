# SPDX-License-Identifier: MIT
#
# dprof: make help lists the targets. Each room says in its room.mk what it builds and tests.

B       ?= $(if $(SAN),build/san,build)
CC      := gcc
CXX     := g++
MPICC   := mpicc
OPT     ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
SANFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-omit-frame-pointer)
comma   := ,
CFLAGS  := -std=gnu17 $(OPT) $(WARN) $(SANFLAGS) -I. -fPIC -pthread
LDFLAGS := $(SANFLAGS) -pthread
PREFIX  ?= /usr/local

Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-6s %s\n' '$(1)' '$(patsubst $(B)/%,%,$@)')

all: # the default; rooms add to `things`
things :=
units  :=

include $(wildcard pragmas/room.mk plugin/room.mk freezer/room.mk runtime/room.mk analysis/room.mk \
                   examples/room.mk testsuite/room.mk bench/room.mk docs/room.mk)

all: $(things)

$(B)/obj/%.o: %.c
	$(say) CC
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(CFLAGS_$(subst /,_,$*)) -MMD -MP -c $< -o $@

# Unit tests: testsuite/unit/ROOM_NAME.c becomes build/test/ROOM_NAME; a room lists the objects or
# archives that its tests link in UNIT_ROOM and the libraries in LIBS_ROOM.
$(B)/test/%: $(B)/obj/testsuite/unit/%.o
	$(say) LINK
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS_$(firstword $(subst _, ,$*))) $$(pkg-config --libs check)

units: $(units)

clean:
	rm -rf build

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)

.DELETE_ON_ERROR:
.PHONY: all units clean
