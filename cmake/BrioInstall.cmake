# What make install installs: libraries, the command, headers, pkg-config files, the manual page.
foreach(mpi IN LISTS BRIO_MPIS)
  install(TARGETS brio-${mpi} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS brio-server-${mpi} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS brio-explain-${mpi} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/brio")
  if(TARGET brio-bench-${mpi})
    install(TARGETS brio-bench-${mpi} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/brio")
  endif()
  # Found from where the file lies, so that any prefix at install time is right.
  file(RELATIVE_PATH prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
  configure_file(share/pkgconfig/brio.pc.in "${CMAKE_BINARY_DIR}/brio-${mpi}.pc" @ONLY)
  configure_file(share/pkgconfig/brio-module.pc.in "${CMAKE_BINARY_DIR}/brio-module-${mpi}.pc" @ONLY)
  install(FILES "${CMAKE_BINARY_DIR}/brio-${mpi}.pc" "${CMAKE_BINARY_DIR}/brio-module-${mpi}.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
install(TARGETS brio-yield LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS brio RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY include/brio DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING
        PATTERN "*.h")
install(FILES "${CMAKE_BINARY_DIR}/include/brio/module.h"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/brio")
foreach(door IN LISTS BRIO_DOORS)
  get_filename_component(room "${door}" DIRECTORY)
  install(FILES "src/${door}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/brio/doors/${room}")
endforeach()
install(DIRECTORY examples DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES doc/man/brio.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(DIRECTORY share/tune DESTINATION "${CMAKE_INSTALL_DATADIR}/brio")
install(FILES README.md LICENSE doc/hints.md doc/modules.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
