# SPDX-License-Identifier: MIT
#
# find_package(dprof): targets to link with, in C, C++ and Fortran, as built by GCC.
#
#   dprof::dprof   instruments whoever links with it, and records
#   dprof::mpi     the same for a program that calls OpenMPI, wherever libmpi stands among its libraries
#
# Law: what the targets add stands in dprof.pc, and nowhere else.

get_filename_component(_dprof_pc "${CMAKE_CURRENT_LIST_DIR}/../../pkgconfig/dprof.pc" REALPATH)
foreach(_dprof_variable plugin includedir libdir)
	file(STRINGS "${_dprof_pc}" _dprof_${_dprof_variable} REGEX "^${_dprof_variable}=")
	string(REGEX REPLACE "^[a-z]*=" "" _dprof_${_dprof_variable} "${_dprof_${_dprof_variable}}")
endforeach()
file(STRINGS "${_dprof_pc}" _dprof_libs REGEX "^Libs: ")
string(REGEX REPLACE "^Libs: " "" _dprof_libs "${_dprof_libs}")
string(REPLACE "\${libdir}" "${_dprof_libdir}" _dprof_libs "${_dprof_libs}")

# A compiler of another version needs the plugin that was built for it.
function(_dprof_plugin language result)
	set(plugin "${_dprof_plugin}")
	string(REGEX MATCH "^[0-9]+" major "${CMAKE_${language}_COMPILER_VERSION}")
	get_filename_component(directory "${plugin}" DIRECTORY)
	if(EXISTS "${directory}/${major}/dprof.so")
		set(plugin "${directory}/${major}/dprof.so")
	endif()
	set(${result} "${plugin}" PARENT_SCOPE)
endfunction()

if(NOT TARGET dprof::dprof)
	add_library(dprof::dprof INTERFACE IMPORTED)
	foreach(_dprof_language C CXX Fortran)
		_dprof_plugin(${_dprof_language} _dprof_one)
		set_property(TARGET dprof::dprof APPEND PROPERTY INTERFACE_COMPILE_OPTIONS
			"$<$<COMPILE_LANG_AND_ID:${_dprof_language},GNU>:-fplugin=${_dprof_one}>")
	endforeach()
	set_target_properties(dprof::dprof PROPERTIES
		INTERFACE_INCLUDE_DIRECTORIES "${_dprof_includedir}"
		INTERFACE_LINK_LIBRARIES "${_dprof_libs}")

	# An option, because options stand before all libraries: the adapter must come before libmpi.
	add_library(dprof::mpi INTERFACE IMPORTED)
	set_target_properties(dprof::mpi PROPERTIES
		INTERFACE_LINK_LIBRARIES dprof::dprof
		INTERFACE_LINK_OPTIONS "SHELL:-L${_dprof_libdir} -Wl,--push-state,--no-as-needed -ldprof-openmpi -Wl,--pop-state")
endif()
