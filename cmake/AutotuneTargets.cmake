# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One library per folder: every target of the project is made by a function of this file.

function(_autotune_defaults name)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter -Werror=return-type)
endfunction()

# LLVM's headers are system headers for us: their warnings are not ours to fix.
function(_autotune_use_llvm name)
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${name} PUBLIC ${AUTOTUNE_LLVM_DEFINITIONS})
  target_link_libraries(${name} PUBLIC LLVM)
endfunction()

# autotune_add_library(NAME SOURCES … [LINK …] [LLVM] [MLIR])
#   LLVM: uses LLVM Support. MLIR: uses MLIR too and shares the precompiled header.
function(autotune_add_library name)
  cmake_parse_arguments(ARG "LLVM;MLIR" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  _autotune_defaults(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_LLVM OR ARG_MLIR)
    _autotune_use_llvm(${name})
  endif()
  if(ARG_MLIR)
    target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS})
    target_link_libraries(${name} PUBLIC MLIR)
    target_precompile_headers(${name} REUSE_FROM autotune_mlir_pch)
  endif()
endfunction()

# A program may reuse the libraries' precompiled header only when it is compiled as they are: -fPIC, not -fPIE.
function(_autotune_reuse_pch name)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} REUSE_FROM autotune_mlir_pch)
endfunction()

# autotune_add_program(NAME SOURCES … [LINK …] [MLIR])
function(autotune_add_program name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _autotune_defaults(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(ARG_MLIR)
    _autotune_reuse_pch(${name})
  endif()
endfunction()

# autotune_add_test(NAME SOURCES … [LINK …] [MLIR]): one GoogleTest program, each TEST a ctest test.
function(autotune_add_test name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _autotune_defaults(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main)
  if(ARG_MLIR)
    _autotune_reuse_pch(${name})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/bin)
  set_property(GLOBAL APPEND PROPERTY AUTOTUNE_TEST_PROGRAMS ${name})
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
endfunction()

if(AUTOTUNE_WITH_MLIR)
  # One precompiled header for every MLIR library: a unit compiles in about a second instead of eleven.
  add_library(autotune_mlir_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/mlir_pch.cpp)
  _autotune_defaults(autotune_mlir_pch)
  _autotune_use_llvm(autotune_mlir_pch)
  target_include_directories(autotune_mlir_pch SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS})
  target_precompile_headers(autotune_mlir_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/mlir_pch.h)
endif()
