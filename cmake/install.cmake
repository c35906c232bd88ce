# Installs what Meson installs, but for the tool and rootdk.pc.
include(GNUInstallDirs)

install(TARGETS rootdk_static rootdk_shared
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES include/rootdk/rootdk.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/rootdk")

# As meson.build fills them: the way from the libraries to the header, or its absolute place.
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(INCLUDEDIR "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  file(RELATIVE_PATH way "/${CMAKE_INSTALL_LIBDIR}" "/${CMAKE_INSTALL_INCLUDEDIR}")
  set(INCLUDEDIR "\${rootdk_libdir}/${way}")
endif()
set(VERSION ${PROJECT_VERSION})
set(SOVERSION ${soversion})
math(EXPR POINTER_BITS "8 * ${CMAKE_SIZEOF_VOID_P}")
foreach(name rootdkConfig rootdkConfigVersion)
  configure_file(cmake/${name}.cmake.in ${name}.cmake @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.cmake" DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/rootdk")
endforeach()
