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
configure_package_config_file(cmake/marginConfig.cmake.in ${PROJECT_BINARY_DIR}/marginConfig.cmake
                              INSTALL_DESTINATION ${margin_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/marginConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/marginConfig.cmake ${PROJECT_BINARY_DIR}/marginConfigVersion.cmake
        DESTINATION ${margin_package_dir})

# The pkg-config file holds the prefix, which may be chosen as late as cmake --install --prefix. A
# folder that was moved since is found with pkg-config --define-prefix.
set(margin_pc ${PROJECT_BINARY_DIR}/margin.pc)
foreach(folder LIBDIR INCLUDEDIR)
    set(MARGIN_PC_${folder} ${CMAKE_INSTALL_${folder}})
    if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
        set(MARGIN_PC_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
    endif()
endforeach()
set(MARGIN_PC_PREFIX "@CMAKE_INSTALL_PREFIX@")
configure_file(cmake/margin.pc.in ${margin_pc}.in @ONLY)
install(CODE "configure_file([[${margin_pc}.in]] [[${margin_pc}]] @ONLY)")
install(FILES ${margin_pc} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# README and `margin learners NAME` name files in docs/ and examples/
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES bench/RESULTS.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS
        PATTERN CMakeLists.txt EXCLUDE)

# The licences of what is linked in or has to be beside the library: each must go with copies of it.
foreach(part LAPACK JANSSON ZLIB)
    if(MARGIN_${part}_COPYRIGHT)
        string(TOLOWER ${part} name)
        install(FILES ${MARGIN_${part}_COPYRIGHT} DESTINATION ${CMAKE_INSTALL_DOCDIR}
                RENAME LICENSE.${name})
    elseif(DEFINED MARGIN_${part}_COPYRIGHT)
        message(STATUS "The licence of ${part} is not where Debian has it: set "
                       "MARGIN_${part}_COPYRIGHT to its file, or it is not installed")
    endif()
endforeach()

# the program writes its own manual page and completion, from the tables it works by
if(TARGET margin_program AND NOT CMAKE_CROSSCOMPILING)
    set(margin_share ${PROJECT_BINARY_DIR}/share)
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
