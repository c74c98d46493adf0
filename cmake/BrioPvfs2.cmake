# Finds OrangeFS: pvfs2.h, and libpvfs2 for the place where it is looked for last at run time. Asked
# are PVFS2_DIR (a prefix, as a variable or in the environment), pvfs2-config, and the usual places.
find_program(BRIO_PVFS2_CONFIG pvfs2-config HINTS "${PVFS2_DIR}" "$ENV{PVFS2_DIR}" PATH_SUFFIXES bin)
mark_as_advanced(BRIO_PVFS2_CONFIG)
set(prefix)
if(BRIO_PVFS2_CONFIG)
  execute_process(COMMAND "${BRIO_PVFS2_CONFIG}" --prefix OUTPUT_VARIABLE prefix ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(places "${PVFS2_DIR}" "$ENV{PVFS2_DIR}" "${prefix}")
find_path(BRIO_PVFS2_INCLUDE pvfs2.h HINTS ${places} PATHS /opt/orangefs PATH_SUFFIXES include)
find_library(BRIO_PVFS2_LIB pvfs2 HINTS ${places} PATHS /opt/orangefs PATH_SUFFIXES lib lib64)
mark_as_advanced(BRIO_PVFS2_INCLUDE BRIO_PVFS2_LIB)
