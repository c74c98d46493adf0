# bench/: plain MPI programs, not linked with Brio, so that the same binary runs with and
# without it by preloading: brio-bench-<mpi> behind `brio bench', the demonstration, and what
# has scripts of its own.
option(BRIO_BENCH "build the benchmarks" ON)
if(NOT BRIO_BENCH)
  return()
endif()
file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/bench/*.c"
     "${CMAKE_CURRENT_SOURCE_DIR}/bench/work/*.c")
# What `brio bench --slow` and bench/cache/cache.sh make a file system slow with.
add_library(bench-delay MODULE bench/cache/delay.c)
set_target_properties(bench-delay PROPERTIES PREFIX "" OUTPUT_NAME delay
                      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
target_link_libraries(bench-delay PRIVATE brio_options ${CMAKE_DL_LIBS})
add_dependencies(programs bench-delay)

find_package(PkgConfig QUIET)
foreach(mpi IN LISTS BRIO_MPIS)
  # Parallel HDF5, for FLASH I/O through it.
  set(hdf5 without)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(BRIO_HDF5_${mpi} QUIET hdf5-${mpi})
    if(BRIO_HDF5_${mpi}_FOUND)
      set(hdf5 with)
    endif()
  endif()
  add_executable(brio-bench-${mpi} ${sources} bench/work/hdf5/${hdf5}.c)
  target_include_directories(brio-bench-${mpi} PRIVATE bench)
  target_include_directories(brio-bench-${mpi} SYSTEM PRIVATE ${BRIO_HDF5_${mpi}_INCLUDE_DIRS})
  target_link_libraries(brio-bench-${mpi} PRIVATE brio_options brio_mpi_${mpi}
                        ${BRIO_HDF5_${mpi}_LINK_LIBRARIES} ${CMAKE_DL_LIBS} m)

  # Programs with scripts of their own.
  set(cache_too bench/boxes.c)
  foreach(program demo cache ceph indep)
    add_executable(bench-${program}-${mpi} bench/${program}/${program}.c ${${program}_too})
    target_include_directories(bench-${program}-${mpi} PRIVATE bench)
    set_target_properties(bench-${program}-${mpi} PROPERTIES OUTPUT_NAME "${program}-${mpi}"
                          RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
    target_link_libraries(bench-${program}-${mpi} PRIVATE brio_options brio_mpi_${mpi} m)
    add_dependencies(programs bench-${program}-${mpi})
  endforeach()
  add_dependencies(programs brio-bench-${mpi})
endforeach()
