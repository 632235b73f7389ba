// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C border: exceptions end here and become status codes.
#include "runtime/deploy/RuntimeError.h"
#include "runtime/deploy/Session.h"
#include "runtime/deploy/autotune_runtime.h"

#include <memory>
#include <new>
#include <string>

using autotune::deploy::Model;
using autotune::deploy::ProfileSpec;
using autotune::deploy::RuntimeError;
using autotune::deploy::Session;
using autotune::deploy::TensorSpec;

struct autotune_model {
  std::shared_ptr<const Model> model;
};

struct autotune_session {
  Session session;
};

namespace {

thread_local std::string lastError;

autotune_status fail(autotune_status status, const char *text) noexcept {
  try {
    lastError = text;
  } catch (...) {
    lastError.clear(); // no memory for the text: the status still tells
  }
  return status;
}

template <typename Body> autotune_status guarded(Body &&body) noexcept {
  try {
    body();
    return AUTOTUNE_OK;
  } catch (const RuntimeError &error) {
    return fail(error.status(), error.what());
  } catch (const std::bad_alloc &) {
    return fail(AUTOTUNE_ERROR_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return fail(AUTOTUNE_ERROR_INTERNAL, error.what());
  } catch (...) {
    return fail(AUTOTUNE_ERROR_INTERNAL, "unknown exception");
  }
}

template <typename Pointer> void require(Pointer pointer, const char *name) {
  if (!pointer)
    throw RuntimeError(AUTOTUNE_ERROR_ARGUMENT, std::string("'") + name + "' is a null pointer");
}

/// Null if out of range.
const ProfileSpec *findProfile(const autotune_model *model, size_t profile) {
  if (!model || profile >= model->model->manifest().profiles.size())
    return nullptr;
  return &model->model->manifest().profiles[profile];
}

void describe(const std::vector<TensorSpec> &tensors, const char *what, size_t index,
              autotune_tensor_info *info) {
  require(info, "info");
  if (index >= tensors.size())
    throw RuntimeError(AUTOTUNE_ERROR_ARGUMENT, std::string(what) + " " + std::to_string(index) +
                                                    ", expected below " + std::to_string(tensors.size()));
  const TensorSpec &tensor = tensors[index];
  *info = {tensor.name.c_str(), tensor.dtypeName.c_str(), tensor.dtype,
           tensor.shape.size(), tensor.shape.data(),      tensor.bytes};
}

void runSession(autotune_session *session, size_t profile, const void *const *inputs, size_t inputCount,
                void *const *outputs, size_t outputCount, std::span<int64_t> stepNs) {
  require(session, "session");
  if (inputCount)
    require(inputs, "inputs");
  if (outputCount)
    require(outputs, "outputs");
  session->session.run(profile, {inputs, inputCount}, {outputs, outputCount}, stepNs);
}

} // namespace

extern "C" {

const char *autotune_runtime_version(void) { return AUTOTUNE_VERSION; }

const char *autotune_last_error(void) { return lastError.c_str(); }

autotune_status autotune_model_load(const char *path, uint32_t flags, autotune_model **model) {
  return guarded([&] {
    require(path, "path");
    require(model, "model");
    if (flags & ~AUTOTUNE_LOAD_VERIFY)
      throw RuntimeError(AUTOTUNE_ERROR_ARGUMENT, "unknown bits in flags " + std::to_string(flags));
    *model = new autotune_model{std::make_shared<const Model>(path, flags & AUTOTUNE_LOAD_VERIFY)};
  });
}

void autotune_model_free(autotune_model *model) { delete model; }

const char *autotune_model_metadata(const autotune_model *model) {
  return model ? model->model->manifestText() : "";
}

int autotune_model_threads(const autotune_model *model) {
  return model ? model->model->manifest().threads : 0;
}

size_t autotune_model_profile_count(const autotune_model *model) {
  return model ? model->model->manifest().profiles.size() : 0;
}

size_t autotune_model_input_count(const autotune_model *model, size_t profile) {
  const ProfileSpec *spec = findProfile(model, profile);
  return spec ? spec->inputs.size() : 0;
}

size_t autotune_model_output_count(const autotune_model *model, size_t profile) {
  const ProfileSpec *spec = findProfile(model, profile);
  return spec ? spec->outputs.size() : 0;
}

size_t autotune_model_step_count(const autotune_model *model, size_t profile) {
  const ProfileSpec *spec = findProfile(model, profile);
  return spec ? spec->steps.size() : 0;
}

size_t autotune_model_arena_bytes(const autotune_model *model, size_t profile) {
  const ProfileSpec *spec = findProfile(model, profile);
  return spec ? spec->arenaBytes : 0;
}

size_t autotune_model_constant_bytes(const autotune_model *model) {
  return model ? model->model->manifest().constantsBytes : 0;
}

autotune_status autotune_model_input(const autotune_model *model, size_t profile, size_t index,
                                     autotune_tensor_info *info) {
  return guarded([&] {
    require(model, "model");
    describe(model->model->profile(profile).inputs, "input", index, info);
  });
}

autotune_status autotune_model_output(const autotune_model *model, size_t profile, size_t index,
                                      autotune_tensor_info *info) {
  return guarded([&] {
    require(model, "model");
    describe(model->model->profile(profile).outputs, "output", index, info);
  });
}

const char *autotune_model_step_label(const autotune_model *model, size_t profile, size_t step) {
  const ProfileSpec *spec = findProfile(model, profile);
  return spec && step < spec->steps.size() ? spec->steps[step].label.c_str() : nullptr;
}

autotune_status autotune_model_find_profile(const autotune_model *model, const int64_t *const *dims,
                                            const size_t *ranks, size_t input_count, size_t *profile) {
  return guarded([&] {
    require(model, "model");
    require(profile, "profile");
    if (input_count) {
      require(dims, "dims");
      require(ranks, "ranks");
    }
    std::vector<std::vector<int64_t>> shapes;
    for (size_t i = 0; i < input_count; ++i) {
      if (ranks[i])
        require(dims[i], "dims[i]");
      shapes.emplace_back(dims[i], dims[i] + ranks[i]);
    }
    *profile = model->model->findProfile(shapes);
  });
}

autotune_status autotune_session_create(autotune_model *model, int threads, autotune_session **session) {
  return guarded([&] {
    require(model, "model");
    require(session, "session");
    *session = new autotune_session{Session(model->model, threads)};
  });
}

void autotune_session_free(autotune_session *session) { delete session; }

int autotune_session_threads(const autotune_session *session) {
  return session ? session->session.threads() : 0;
}

autotune_status autotune_session_run(autotune_session *session, size_t profile, const void *const *inputs,
                                     size_t input_count, void *const *outputs, size_t output_count) {
  return guarded([&] { runSession(session, profile, inputs, input_count, outputs, output_count, {}); });
}

autotune_status autotune_session_run_timed(autotune_session *session, size_t profile,
                                           const void *const *inputs, size_t input_count,
                                           void *const *outputs, size_t output_count, int64_t *step_ns,
                                           size_t step_count) {
  return guarded([&] {
    if (step_count)
      require(step_ns, "step_ns");
    require(session, "session");
    size_t expected = session->session.model().profile(profile).steps.size();
    if (step_count != expected)
      throw RuntimeError(AUTOTUNE_ERROR_ARGUMENT, "room for the times of " + std::to_string(step_count) +
                                                      " steps, expected " + std::to_string(expected));
    runSession(session, profile, inputs, input_count, outputs, output_count, {step_ns, step_count});
  });
}

} // extern "C"
