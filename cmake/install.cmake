# make install: program, headers, both libraries, pkg-config file, CMake package, manual pages,
# completion.
include(CMakePackageConfigHelpers)

if(TARGET margin_program)
    install(TARGETS margin_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/margin DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
set_target_properties(margin_static PROPERTIES EXPORT_NAME static)
set_target_properties(margin_shared PROPERTIES EXPORT_NAME margin)
install(TARGETS margin_static margin_shared EXPORT margin_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# find_package(margin) gives margin::margin (shared) and margin::static
set(margin_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/margin)
install(EXPORT margin_targets NAMESPACE margin:: FILE marginTargets.cmake
        DESTINATION ${margin_package_dir})
configure_package_config_file(cmake/marginConfig.cmake.in ${CMAKE_BINARY_DIR}/marginConfig.cmake
                              INSTALL_DESTINATION ${margin_package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/marginConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/marginConfig.cmake ${CMAKE_BINARY_DIR}/marginConfigVersion.cmake
        DESTINATION ${margin_package_dir})

# the pkg-config file finds its prefix from its own place, so that the folder may be moved
file(RELATIVE_PATH MARGIN_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/margin.pc.in margin.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/margin.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# `margin learners NAME` names pages in docs/
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
if(MARGIN_LAPACK_COPYRIGHT)
    install(FILES ${MARGIN_LAPACK_COPYRIGHT} DESTINATION ${CMAKE_INSTALL_DOCDIR}
            RENAME LICENSE.lapack)
endif()

# the program writes its own manual page and completion, from the tables it works by
if(TARGET margin_program AND NOT CMAKE_CROSSCOMPILING)
    set(margin_share ${CMAKE_BINARY_DIR}/share)
    file(MAKE_DIRECTORY ${margin_share})
    foreach(pair man:margin.1 bash:margin.bash zsh:_margin)
        string(REGEX MATCH "^(.*):(.*)$" whole ${pair})
        set(kind ${CMAKE_MATCH_1})
        set(page ${margin_share}/${CMAKE_MATCH_2})
        add_custom_command(OUTPUT ${page}
            COMMAND margin_program generate --${kind} > ${page}.new
            COMMAND ${CMAKE_COMMAND} -E rename ${page}.new ${page}
            DEPENDS margin_program COMMENT "Writing share/${CMAKE_MATCH_2}" VERBATIM)
        list(APPEND margin_pages ${page})
    endforeach()
    set(margin_all ALL)
    if(MARGIN_SANITIZE) # nobody installs those
        set(margin_all "")
    endif()
    add_custom_target(margin_manual ${margin_all} DEPENDS ${margin_pages})
    add_dependencies(product margin_manual)
    install(FILES ${margin_share}/margin.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${margin_share}/margin.bash RENAME margin
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${margin_share}/_margin DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
