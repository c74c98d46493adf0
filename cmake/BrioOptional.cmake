# Modules that need a library which may be absent: their files are compiled only where its headers
# are found, and core/registry.c learns of it by a definition in BRIO_OPTIONAL. The library itself
# is loaded at run time, when the first file needs it.
set(BRIO_OPTIONAL)

find_path(BRIO_CEPH_INCLUDE cephfs/libcephfs.h)
mark_as_advanced(BRIO_CEPH_INCLUDE)
if(BRIO_CEPH_INCLUDE)
  message(STATUS "CephFS: ${BRIO_CEPH_INCLUDE}/cephfs/libcephfs.h")
  list(APPEND BRIO_OPTIONAL BRIO_HAVE_CEPH=1)
  # Its header insists, on systems with one size of offsets, too.
  set(ceph ${sources})
  list(FILTER ceph INCLUDE REGEX "/(fs|fbtl)/ceph(_[^/]*)?\\.c$")
  set_source_files_properties(${ceph} PROPERTIES COMPILE_DEFINITIONS _FILE_OFFSET_BITS=64)
else()
  message(STATUS "CephFS: no libcephfs-dev, so no modules fs/ceph, fs/cephmount and fbtl/ceph")
  list(APPEND BRIO_OPTIONAL BRIO_HAVE_CEPH=0)
  list(FILTER sources EXCLUDE REGEX "/(fs|fbtl)/ceph(_[^/]*)?\\.c$")
endif()

include(BrioPvfs2)
set(pvfs2 ${sources})
list(FILTER pvfs2 INCLUDE REGEX "/(fs|fbtl)/pvfs2[^/]*\\.c$")
if(BRIO_PVFS2_INCLUDE)
  message(STATUS "OrangeFS: ${BRIO_PVFS2_INCLUDE}/pvfs2.h")
  list(APPEND BRIO_OPTIONAL BRIO_HAVE_PVFS2=1)
  set(library libpvfs2.so)
  if(BRIO_PVFS2_LIB)
    set(library "${BRIO_PVFS2_LIB}")
  endif()
  set_source_files_properties(${pvfs2} PROPERTIES
    COMPILE_DEFINITIONS "BRIO_PVFS2_LIBRARY=\"${library}\""
    COMPILE_OPTIONS "-isystem;${BRIO_PVFS2_INCLUDE}")
else()
  message(STATUS "OrangeFS: no pvfs2.h, so no modules fs/pvfs2 and fbtl/pvfs2")
  list(APPEND BRIO_OPTIONAL BRIO_HAVE_PVFS2=0)
  list(REMOVE_ITEM sources ${pvfs2})
endif()
