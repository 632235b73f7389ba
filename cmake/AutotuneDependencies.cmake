# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every outside library, found once. All come from Debian 12.

# Debian ships 19.1 config files whose version check refuses "19": ask by folder instead.
find_program(LLVM_CONFIG NAMES llvm-config-19 REQUIRED)
execute_process(COMMAND ${LLVM_CONFIG} --cmakedir OUTPUT_VARIABLE LLVM_CMAKE_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${LLVM_CONFIG} --libdir OUTPUT_VARIABLE LLVM_LIB_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${LLVM_CONFIG} --bindir OUTPUT_VARIABLE LLVM_BIN_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
set(LLVM_DIR ${LLVM_CMAKE_DIR})
set(MLIR_DIR ${LLVM_LIB_DIR}/cmake/mlir)
find_package(LLVM REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 19)
  message(FATAL_ERROR "found LLVM ${LLVM_PACKAGE_VERSION}, expected 19")
endif()
separate_arguments(AUTOTUNE_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")

find_package(yaml-cpp REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(TBB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(Threads REQUIRED)
find_package(SQLite3 REQUIRED)

if(AUTOTUNE_WITH_MLIR)
  find_package(MLIR REQUIRED CONFIG)
  find_package(Protobuf REQUIRED)
  find_library(LLD_ELF_LIBRARY lldELF HINTS ${LLVM_LIB_DIR} REQUIRED)
  find_library(LLD_COMMON_LIBRARY lldCommon HINTS ${LLVM_LIB_DIR} REQUIRED)
endif()
