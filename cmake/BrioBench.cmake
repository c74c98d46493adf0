# bench/*.c: plain MPI programs, not linked with Brio, so that the same binary runs with and
# without it by preloading.
option(BRIO_BENCH "build the benchmarks" ON)
if(BRIO_BENCH)
  file(GLOB programs CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/bench/*.c")
  foreach(source IN LISTS programs)
    get_filename_component(program "${source}" NAME_WE)
    foreach(mpi IN LISTS BRIO_MPIS)
      add_executable(bench-${program}-${mpi} "${source}")
      set_target_properties(bench-${program}-${mpi} PROPERTIES OUTPUT_NAME "${program}-${mpi}"
                            RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
      target_link_libraries(bench-${program}-${mpi} PRIVATE brio_options brio_mpi_${mpi} m)
      add_dependencies(programs bench-${program}-${mpi})
    endforeach()
  endforeach()
endif()
