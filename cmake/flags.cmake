# Compiler flags of our own code, as two interface targets: margin_flags for everything that is
# compiled, margin_warnings for everything that is ours.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(margin_flags INTERFACE)
# Contracting a*b+c into one rounding is the compiler's choice and would make results depend on it.
# Kernels that want it ask for it by intrinsics or fma().
target_compile_options(margin_flags INTERFACE -ffp-contract=off -fno-math-errno)
target_compile_definitions(margin_flags INTERFACE _GNU_SOURCE=)
if(MARGIN_SANITIZE)
    target_compile_options(margin_flags INTERFACE
        -fsanitize=${MARGIN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(margin_flags INTERFACE -fsanitize=${MARGIN_SANITIZE})
endif()
if(MARGIN_COVERAGE)
    target_compile_options(margin_flags INTERFACE --coverage)
    target_link_options(margin_flags INTERFACE --coverage)
endif()

add_library(margin_warnings INTERFACE)
target_compile_options(margin_warnings INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    -Wdouble-promotion -Werror=implicit-function-declaration
    # members of public structs are int32_t and not enumerations; gcc looks for the other changes of sign
    $<$<C_COMPILER_ID:Clang>:-Wno-sign-conversion> $<$<BOOL:${MARGIN_WERROR}>:-Werror>)

# Files named *_avx2.c, *_avx512.c, *_vnni.c, *_bf16.c and *_amx.c hold kernels for one instruction set; nothing else may use it.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    set(MARGIN_X86 ON)
else()
    set(MARGIN_X86 OFF)
endif()
set(MARGIN_FLAGS_AVX2 -mavx2 -mfma -mbmi -mbmi2 -mpopcnt -mpclmul)
set(MARGIN_FLAGS_AVX512 ${MARGIN_FLAGS_AVX2} -mavx512f -mavx512bw -mavx512dq -mavx512vl)

set(MARGIN_FLAGS_AMX ${MARGIN_FLAGS_AVX512})
set(MARGIN_FLAGS_VNNI ${MARGIN_FLAGS_AVX512})
set(MARGIN_FLAGS_BF16 ${MARGIN_FLAGS_AVX512})
if(MARGIN_X86)
    include(CheckCCompilerFlag)
    check_c_compiler_flag("-mamx-tile -mamx-bf16" MARGIN_HAS_AMX)
    if(MARGIN_HAS_AMX)
        list(APPEND MARGIN_FLAGS_AMX -mamx-tile -mamx-bf16)
    endif()
    check_c_compiler_flag("-mavx512vnni" MARGIN_HAS_VNNI)
    if(MARGIN_HAS_VNNI)
        list(APPEND MARGIN_FLAGS_VNNI -mavx512vnni)
    endif()
    check_c_compiler_flag("-mavx512bf16" MARGIN_HAS_BF16)
    if(MARGIN_HAS_BF16)
        list(APPEND MARGIN_FLAGS_BF16 -mavx512bf16)
    endif()
endif()

# Gives the instruction-set files of `target` their flags. Call it after the last target_sources.
function(margin_isa_flags target)
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
        if(source MATCHES "_avx2\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${MARGIN_FLAGS_AVX2}")
        elseif(source MATCHES "_avx512\\.c$")
            set_source_files_properties(${source} PROPERTIES
                COMPILE_OPTIONS "${MARGIN_FLAGS_AVX512}")
        elseif(source MATCHES "_vnni\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${MARGIN_FLAGS_VNNI}")
        elseif(source MATCHES "_bf16\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${MARGIN_FLAGS_BF16}")
        elseif(source MATCHES "_amx\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${MARGIN_FLAGS_AMX}")
        endif()
    endforeach()
endfunction()
