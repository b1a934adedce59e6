# SPDX-License-Identifier: MIT
#
# The version that dprof.pc states. One with the same number before the point serves.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../pkgconfig/dprof.pc" PACKAGE_VERSION REGEX "^Version: ")
string(REGEX REPLACE "^Version: " "" PACKAGE_VERSION "${PACKAGE_VERSION}")
string(REGEX MATCH "^[0-9]+" _dprof_major "${PACKAGE_VERSION}")
if(PACKAGE_FIND_VERSION_MAJOR EQUAL _dprof_major AND NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
	set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
	set(PACKAGE_VERSION_EXACT TRUE)
endif()
