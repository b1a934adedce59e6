# SPDX-License-Identifier: MIT
#
# find_package(dprof [COMPONENTS mpi]): targets to link with, in C, C++ and Fortran, as built by GCC.
#
#   dprof::dprof    instruments whoever links with it, and records; a program that links with MPI::MPI_C, MPI::MPI_CXX
#                   or MPI::MPI_Fortran gets dprof::mpi, if find_package(MPI) stands before find_package(dprof); or with
#                   a library whose name has libmpi in it
#   dprof::mpi      the same for a program that calls MPI, wherever libmpi stands among its libraries: the MPI
#                   that find_package(MPI) found before this, else the compiler's, else mpicc's
#   dprof::openmpi, dprof::mpich   the same for this one
#
# With DPROF_WRAPPER=off in the environment, as for the wrappers, all of them are empty. Otherwise each compiler of the
# project must be a GCC that dprof has a plugin for: else the package is not found, and the message says why.
#
# Law: what the targets add stands in dprof.pc, and nowhere else.

get_filename_component(_dprof_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
file(STRINGS "${_dprof_prefix}/lib/pkgconfig/dprof.pc" _dprof_lines REGEX "^[a-z]+=|^Libs: ")
foreach(_dprof_line ${_dprof_lines})
	string(REPLACE "\${prefix}" "${_dprof_prefix}" _dprof_line "${_dprof_line}")
	string(REPLACE "\${libdir}" "${_dprof_libdir}" _dprof_line "${_dprof_line}")
	if(_dprof_line MATCHES "^(plugin|includedir|libdir|gcc|Libs)(=|: )(.*)$")
		set(_dprof_${CMAKE_MATCH_1} "${CMAKE_MATCH_3}")
	endif()
endforeach()

string(TOLOWER "$ENV{DPROF_WRAPPER}" _dprof_wrapper)

# What is wrong with the compilers of this project; empty if nothing is.
function(_dprof_check_compilers result)
	get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
	get_filename_component(directory "${_dprof_plugin}" DIRECTORY)
	file(GLOB others RELATIVE "${directory}" "${directory}/[0-9]*")
	if(others)
		list(JOIN others ", " others)
		set(others " (also here: ${others})")
	endif()
	foreach(language C CXX Fortran)
		string(REGEX MATCH "^[0-9]+" major "${CMAKE_${language}_COMPILER_VERSION}")
		if(NOT language IN_LIST languages OR (CMAKE_${language}_COMPILER_ID STREQUAL "GNU" AND
				(major STREQUAL _dprof_gcc OR EXISTS "${directory}/${major}/dprof.so")))
			continue()
		endif()
		set(${result} "dprof: expected GCC ${_dprof_gcc}${others} as the ${language} compiler, found \
${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION} (${CMAKE_${language}_COMPILER}): nothing that it compiles \
would be recorded. Choose that GCC, build dprof with yours, or set DPROF_WRAPPER=off in the environment for a build without dprof"
			PARENT_SCOPE)
		return()
	endforeach()
	set(${result} "" PARENT_SCOPE)
endfunction()

# A compiler of another version needs the plugin that was built for it.
function(_dprof_plugin_for language result)
	set(plugin "${_dprof_plugin}")
	string(REGEX MATCH "^[0-9]+" major "${CMAKE_${language}_COMPILER_VERSION}")
	get_filename_component(directory "${plugin}" DIRECTORY)
	if(EXISTS "${directory}/${major}/dprof.so")
		set(plugin "${directory}/${major}/dprof.so")
	endif()
	set(${result} "${plugin}" PARENT_SCOPE)
endfunction()

# The MPI in use: by its library, which may be a link to one of another name; else by its compiler; else that of dprof.pc.
function(_dprof_which_mpi result)
	foreach(library ${MPI_C_LIBRARIES} ${MPI_CXX_LIBRARIES} ${MPI_Fortran_LIBRARIES})
		get_filename_component(file "${library}" REALPATH)
		if(file MATCHES "/libmpich|/libmpi[a-z]*\\.so\\.12")
			set(${result} mpich PARENT_SCOPE)
			return()
		elseif(file MATCHES "/libmpi")
			set(${result} openmpi PARENT_SCOPE)
			return()
		endif()
	endforeach()
	foreach(compiler "${CMAKE_C_COMPILER}" "${CMAKE_CXX_COMPILER}" "${CMAKE_Fortran_COMPILER}" mpicc)
		execute_process(COMMAND "${compiler}" -show OUTPUT_VARIABLE command ERROR_QUIET)
		execute_process(COMMAND "${compiler}" --showme:version RESULT_VARIABLE other OUTPUT_QUIET ERROR_QUIET)
		if("${command}" MATCHES "-lmpi")
			if("${other}" STREQUAL 0)
				set(${result} openmpi PARENT_SCOPE)
			else()
				set(${result} mpich PARENT_SCOPE)
			endif()
			return()
		endif()
	endforeach()
	string(REGEX REPLACE ".*-ldprof-(openmpi|mpich).*" "\\1" mpi "${_dprof_Libs}")
	set(${result} "${mpi}" PARENT_SCOPE)
endfunction()

if(_dprof_wrapper STREQUAL "off")
	set(_dprof_wrong "")
	foreach(_dprof_one dprof mpi openmpi mpich)
		if(NOT TARGET dprof::${_dprof_one})
			add_library(dprof::${_dprof_one} INTERFACE IMPORTED)
			set_target_properties(dprof::${_dprof_one} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_dprof_includedir}")
		endif()
	endforeach()
else()
	_dprof_check_compilers(_dprof_wrong)
endif()
if(_dprof_wrong)
	set(dprof_FOUND FALSE)
	set(dprof_NOT_FOUND_MESSAGE "${_dprof_wrong}")
	return()
endif()

if(NOT TARGET dprof::dprof)
	add_library(dprof::dprof INTERFACE IMPORTED)
	foreach(_dprof_language C CXX Fortran)
		_dprof_plugin_for(${_dprof_language} _dprof_one)
		set_property(TARGET dprof::dprof APPEND PROPERTY INTERFACE_COMPILE_OPTIONS
			"$<$<COMPILE_LANG_AND_ID:${_dprof_language},GNU>:-fplugin=${_dprof_one}>")
	endforeach()
	_dprof_which_mpi(_dprof_mpi)
	if(EXISTS "${_dprof_libdir}/libdprof-${_dprof_mpi}.so")
		string(REGEX REPLACE "-ldprof-(openmpi|mpich) " "-ldprof-${_dprof_mpi} " _dprof_Libs "${_dprof_Libs}")
	endif()
	set_target_properties(dprof::dprof PROPERTIES
		INTERFACE_INCLUDE_DIRECTORIES "${_dprof_includedir}"
		INTERFACE_LINK_LIBRARIES "${_dprof_Libs}")

	foreach(_dprof_one openmpi mpich)
		if(NOT EXISTS "${_dprof_libdir}/libdprof-${_dprof_one}.so")
			continue()
		endif()
		# An option, because options stand before all libraries: the adapter must come before libmpi.
		set(_dprof_adapter "-Wl,--push-state,--no-as-needed,${_dprof_libdir}/libdprof-${_dprof_one}.so,--pop-state")
		add_library(dprof::${_dprof_one} INTERFACE IMPORTED)
		set_target_properties(dprof::${_dprof_one} PROPERTIES
			INTERFACE_LINK_LIBRARIES dprof::dprof
			INTERFACE_LINK_OPTIONS "${_dprof_adapter}")
		if(_dprof_one STREQUAL _dprof_mpi)
			add_library(dprof::mpi INTERFACE IMPORTED)
			set_target_properties(dprof::mpi PROPERTIES INTERFACE_LINK_LIBRARIES dprof::${_dprof_one})
			# Whoever links with MPI, himself or by a library of his, needs it too.
			foreach(_dprof_language C CXX Fortran)
				if(TARGET MPI::MPI_${_dprof_language})
					set_property(TARGET MPI::MPI_${_dprof_language} APPEND PROPERTY COMPATIBLE_INTERFACE_BOOL DPROF_MPI)
					set_property(TARGET MPI::MPI_${_dprof_language} PROPERTY INTERFACE_DPROF_MPI ON)
				endif()
			endforeach()
			set_property(TARGET dprof::dprof PROPERTY INTERFACE_LINK_OPTIONS
				"$<$<OR:$<BOOL:$<TARGET_PROPERTY:DPROF_MPI>>,$<BOOL:$<FILTER:$<TARGET_PROPERTY:LINK_LIBRARIES>,INCLUDE,MPI::MPI_|libmpi>>>:${_dprof_adapter}>")
		endif()
	endforeach()
endif()

foreach(_dprof_component ${dprof_FIND_COMPONENTS})
	if(TARGET dprof::${_dprof_component})
		set(dprof_${_dprof_component}_FOUND TRUE)
	elseif(dprof_FIND_REQUIRED_${_dprof_component})
		set(dprof_FOUND FALSE)
		set(dprof_NOT_FOUND_MESSAGE "dprof has no target dprof::${_dprof_component}: expected mpi, openmpi or mpich, and libdprof-openmpi.so or libdprof-mpich.so in ${_dprof_libdir}")
	endif()
endforeach()
