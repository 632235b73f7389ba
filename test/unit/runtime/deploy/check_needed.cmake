# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Fails if LIBRARY depends on LLVM or MLIR, directly or not.
file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${LIBRARY} RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing)
foreach(name IN LISTS found missing)
  if(name MATCHES "LLVM|MLIR|clang|lld")
    message(FATAL_ERROR "${LIBRARY} needs ${name}, expected neither LLVM nor MLIR")
  endif()
endforeach()
if(NOT found MATCHES "tbb")
  message(FATAL_ERROR "${LIBRARY} does not need oneTBB: the list of dependencies cannot be right: ${found}")
endif()
