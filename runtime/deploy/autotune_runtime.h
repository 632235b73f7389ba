/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C API of libautotune_runtime.so: load a compiled model and run it. Needs no compiler and no LLVM.
 *
 * Objects. A *model* is a loaded artifact: code, constants and shapes; it is immutable. A *session* runs a
 * model: it owns the memory for intermediate tensors and the threads. A *profile* is one set of input shapes
 * that the model was compiled for.
 *
 * Threads. All functions on a model may be called from any number of threads at once. One session runs one
 * inference at a time: it is not reentrant, calls on it must not overlap. Several sessions over one model may
 * run at once. A session with one thread runs on the calling thread only. With more, the calling thread works
 * too, and an inference completes even if no other thread ever gets a processor.
 *
 * Ownership. What a `_create` or `_load` function returns belongs to the caller and ends with the `_free`
 * function. A model may be freed before its sessions: it lives on until the last of them is freed. Strings
 * and arrays that a function returns belong to the model and live as long as it does; the text of
 * `autotune_last_error` lives until the same thread's next failing call.
 *
 * Errors. Functions that can fail return `autotune_status`; on failure `autotune_last_error` has one line
 * that says what was found and what was expected, and output parameters are unchanged.
 *
 * Numbers. A run computes in a floating-point mode of its own, on every thread that takes part: it rounds to
 * nearest, traps nothing, and takes numbers below the least normal one for zero, in operands and results;
 * they would cost a hundred times as much on many processors. A model that was compiled with `--numerics
 * strict` keeps them, as IEEE 754 says. The caller's control register (MXCSR) is the same after a run as
 * before it.
 *
 * Memory. A session is refused (AUTOTUNE_ERROR_MEMORY) when its intermediate tensors cannot fit in what the
 * machine has, the process's control group allows, or its limit on address space leaves.
 */
#ifndef AUTOTUNE_RUNTIME_H
#define AUTOTUNE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define AUTOTUNE_API __attribute__((visibility("default")))
#else
#define AUTOTUNE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum autotune_status {
  AUTOTUNE_OK = 0,
  AUTOTUNE_ERROR_FILE = 1,     /* the file cannot be opened, read or mapped */
  AUTOTUNE_ERROR_FORMAT = 2,   /* the file is no artifact, or a damaged one */
  AUTOTUNE_ERROR_VERSION = 3,  /* an artifact for another version of this library */
  AUTOTUNE_ERROR_CPU = 4,      /* the code needs instructions that this processor lacks */
  AUTOTUNE_ERROR_ARGUMENT = 5, /* an index out of range, a null pointer, a wrong count */
  AUTOTUNE_ERROR_SHAPE = 6,    /* shapes that no profile has */
  AUTOTUNE_ERROR_MEMORY = 7,   /* out of memory, or more needed than there is */
  AUTOTUNE_ERROR_INTERNAL = 8  /* a fault of this library */
} autotune_status;

typedef enum autotune_dtype {
  AUTOTUNE_F32 = 0,
  AUTOTUNE_F64 = 1,
  AUTOTUNE_F16 = 2,
  AUTOTUNE_BF16 = 3,
  AUTOTUNE_I8 = 4,
  AUTOTUNE_UI8 = 5,
  AUTOTUNE_I16 = 6,
  AUTOTUNE_I32 = 7,
  AUTOTUNE_I64 = 8,
  AUTOTUNE_I1 = 9, /* bool: one byte, 0 or 1 */
  AUTOTUNE_UI16 = 10,
  AUTOTUNE_UI32 = 11,
  AUTOTUNE_UI64 = 12
} autotune_dtype;

typedef struct autotune_model autotune_model;
typedef struct autotune_session autotune_session;

/* An input or output of a profile. Tensors are dense, row-major. */
typedef struct autotune_tensor_info {
  const char *name;       /* as in the source model */
  const char *dtype_name; /* "f32", "ui8", "i1", … */
  autotune_dtype dtype;
  size_t rank;
  const int64_t *dims; /* `rank` extents */
  size_t bytes;        /* size of the buffer that a run needs */
} autotune_tensor_info;

/* Flags of autotune_model_load. */
#define AUTOTUNE_LOAD_DEFAULT 0u
/* Reads all constants and compares them with the checksum in the file; damage is AUTOTUNE_ERROR_FORMAT. The
 * code is compared always. */
#define AUTOTUNE_LOAD_VERIFY 1u

/* "0.1.0" */
AUTOTUNE_API const char *autotune_runtime_version(void);

/* What went wrong in this thread's last failing call; "" before the first. Never null. */
AUTOTUNE_API const char *autotune_last_error(void);

/* Loads the artifact at `path`. The file must not be changed in place while the model lives (replacing it by
 * a new file under the same name is fine). Loading runs no code of the model. */
AUTOTUNE_API autotune_status autotune_model_load(const char *path, uint32_t flags, autotune_model **model);
/* Null is allowed. */
AUTOTUNE_API void autotune_model_free(autotune_model *model);

/* The manifest, a JSON object: model, tool_version, llvm_version, device, threads, profiles with their steps.
 */
AUTOTUNE_API const char *autotune_model_metadata(const autotune_model *model);
/* The thread count that the model was compiled and tuned for. */
AUTOTUNE_API int autotune_model_threads(const autotune_model *model);
/* At least 1. */
AUTOTUNE_API size_t autotune_model_profile_count(const autotune_model *model);

/* Counts of a profile; 0 if `profile` is out of range. */
AUTOTUNE_API size_t autotune_model_input_count(const autotune_model *model, size_t profile);
AUTOTUNE_API size_t autotune_model_output_count(const autotune_model *model, size_t profile);
AUTOTUNE_API size_t autotune_model_step_count(const autotune_model *model, size_t profile);
/* Bytes of memory for intermediate tensors that one session needs for this profile. */
AUTOTUNE_API size_t autotune_model_arena_bytes(const autotune_model *model, size_t profile);
/* Bytes of the constants (weights), shared by all sessions. */
AUTOTUNE_API size_t autotune_model_constant_bytes(const autotune_model *model);

AUTOTUNE_API autotune_status autotune_model_input(const autotune_model *model, size_t profile, size_t index,
                                                  autotune_tensor_info *info);
AUTOTUNE_API autotune_status autotune_model_output(const autotune_model *model, size_t profile, size_t index,
                                                   autotune_tensor_info *info);
/* The operators that step `step` computes; null if out of range. */
AUTOTUNE_API const char *autotune_model_step_label(const autotune_model *model, size_t profile, size_t step);

/* The profile whose inputs have exactly these shapes: `dims[i]` are the `ranks[i]` extents of input i. If
 * there is none: AUTOTUNE_ERROR_SHAPE and a text that lists the profiles. */
AUTOTUNE_API autotune_status autotune_model_find_profile(const autotune_model *model,
                                                         const int64_t *const *dims, const size_t *ranks,
                                                         size_t input_count, size_t *profile);

/* `threads` 0 means autotune_model_threads. Allocates everything that runs need, for all profiles. */
AUTOTUNE_API autotune_status autotune_session_create(autotune_model *model, int threads,
                                                     autotune_session **session);
/* Null is allowed. No run may be under way. */
AUTOTUNE_API void autotune_session_free(autotune_session *session);
/* The threads that really take part: at most as many as there are processors for this process. */
AUTOTUNE_API int autotune_session_threads(const autotune_session *session);

/* One inference. `inputs[i]` and `outputs[i]` are buffers of at least `bytes` bytes of the profile's tensors,
 * aligned to their element; outputs overlap neither inputs nor each other. Inputs are only read. The buffers
 * belong to the caller and are not kept after the call. Passing the same addresses as in the run before saves
 * a little time. */
AUTOTUNE_API autotune_status autotune_session_run(autotune_session *session, size_t profile,
                                                  const void *const *inputs, size_t input_count,
                                                  void *const *outputs, size_t output_count);

/* The same, and `step_ns[s]` receives the wall time of step s in nanoseconds. `step_count` must be that of
 * the profile. The clock is read once a step, which is the only difference to autotune_session_run. */
AUTOTUNE_API autotune_status autotune_session_run_timed(autotune_session *session, size_t profile,
                                                        const void *const *inputs, size_t input_count,
                                                        void *const *outputs, size_t output_count,
                                                        int64_t *step_ns, size_t step_count);

#ifdef __cplusplus
}
#endif

#endif
