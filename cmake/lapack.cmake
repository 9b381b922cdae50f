# LAPACK, chosen so that it is safe from many threads, starts none of its own and cannot be replaced
# by whatever else is installed: the routines margin needs are taken out of the reference LAPACK's
# static archives, joined into one object file and renamed to mg_ref_*; every other symbol in it is
# made local. It has no writable data (a test checks that) and needs no Fortran runtime. What takes the
# time, products of matrices, is our own (MARGIN_LAPACK_REPLACED).
#
# Sets MARGIN_LAPACK_OBJECT (a file to add to the library) or, where the archives are missing,
# MARGIN_LAPACK_LIBRARIES (the system's LAPACK, about which nothing is known).

# Fortran routines that src/math/products/lapack.c calls.
set(MARGIN_LAPACK_ROUTINES
    dgeqp3 dormqr dpstrf dsyevd dtpqrt)
# Those that they call in src/math/products/blas.c and blas_vectors.c, in place of the reference ones.
set(MARGIN_LAPACK_REPLACED
    dgemm dgemv dger dlamch dsymv dsyrk dsyr2k dtrmm)

# Debian keeps the reference builds in their own folders, whatever its alternatives point at.
set(margin_multiarch ${CMAKE_LIBRARY_ARCHITECTURE})
find_file(MARGIN_REFERENCE_LAPACK liblapack.a NO_DEFAULT_PATH
          PATHS /usr/lib/${margin_multiarch}/lapack DOC "Static archive of the reference LAPACK")
find_file(MARGIN_REFERENCE_BLAS libblas.a NO_DEFAULT_PATH
          PATHS /usr/lib/${margin_multiarch}/blas DOC "Static archive of the reference BLAS")
find_file(MARGIN_LAPACK_COPYRIGHT copyright NO_DEFAULT_PATH
          PATHS /usr/share/doc/liblapack-dev DOC "LAPACK's licence, installed beside ours")
mark_as_advanced(MARGIN_REFERENCE_LAPACK MARGIN_REFERENCE_BLAS MARGIN_LAPACK_COPYRIGHT)

if(MARGIN_REFERENCE_LAPACK AND MARGIN_REFERENCE_BLAS AND CMAKE_OBJCOPY)
    set(margin_lapack_dir ${PROJECT_BINARY_DIR}/lapack)
    set(MARGIN_LAPACK_OBJECT ${margin_lapack_dir}/lapack.o)
    set(margin_lapack_wanted "")
    set(margin_lapack_rename "")
    set(margin_lapack_keep "")
    foreach(routine IN LISTS MARGIN_LAPACK_ROUTINES)
        list(APPEND margin_lapack_wanted -u ${routine}_)
        string(APPEND margin_lapack_rename "${routine}_ mg_ref_${routine}\n")
        string(APPEND margin_lapack_keep "mg_ref_${routine}\n")
    endforeach()
    foreach(routine IN LISTS MARGIN_LAPACK_REPLACED)
        list(APPEND margin_lapack_wanted --wrap=${routine}_)
        string(APPEND margin_lapack_rename "__wrap_${routine}_ mg_blas_${routine}\n")
    endforeach()
    file(CONFIGURE OUTPUT ${margin_lapack_dir}/rename.txt CONTENT "${margin_lapack_rename}")
    file(CONFIGURE OUTPUT ${margin_lapack_dir}/keep.txt CONTENT "${margin_lapack_keep}")

    # The shim comes first on the line, so that its error handler is taken and the archives' one,
    # which prints and stops the program, is not.
    add_library(margin_lapack_shim OBJECT ${PROJECT_SOURCE_DIR}/src/math/products/lapack_shim.c)
    set_target_properties(margin_lapack_shim PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(margin_lapack_shim PRIVATE -Wall -Wextra -Wconversion -O2)
    add_custom_command(
        OUTPUT ${MARGIN_LAPACK_OBJECT}
        COMMAND ${CMAKE_LINKER} -r -o joined.o ${margin_lapack_wanted}
                $<TARGET_OBJECTS:margin_lapack_shim>
                ${MARGIN_REFERENCE_LAPACK} ${MARGIN_REFERENCE_BLAS}
        COMMAND ${CMAKE_OBJCOPY} --redefine-syms=rename.txt joined.o renamed.o
        COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=keep.txt --strip-debug renamed.o lapack.o
        DEPENDS margin_lapack_shim $<TARGET_OBJECTS:margin_lapack_shim>
                ${margin_lapack_dir}/rename.txt ${margin_lapack_dir}/keep.txt
                ${MARGIN_REFERENCE_LAPACK} ${MARGIN_REFERENCE_BLAS}
        WORKING_DIRECTORY ${margin_lapack_dir}
        COMMENT "Joining the reference LAPACK routines"
        COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(margin_lapack_object DEPENDS ${MARGIN_LAPACK_OBJECT})
    set_source_files_properties(${MARGIN_LAPACK_OBJECT} PROPERTIES
        EXTERNAL_OBJECT ON GENERATED ON)
    message(STATUS "LAPACK: reference routines from ${MARGIN_REFERENCE_LAPACK}, linked in")
else()
    find_package(LAPACK REQUIRED)
    set(MARGIN_LAPACK_LIBRARIES LAPACK::LAPACK)
    message(WARNING "The reference LAPACK's static archives were not found; using the system's "
                    "LAPACK. Whether it is safe from several threads is not known: run test_lapack.")
endif()
