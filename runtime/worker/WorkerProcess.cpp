// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/WorkerProcess.h"

#include "schedule/Errors.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace autotune::worker {

namespace {

constexpr size_t kKeptOutput = 4096; // the end of what a worker printed, per request
constexpr auto kSendLimit = std::chrono::seconds(10);

llvm::Error systemError(const char *call) { return makeError("{0}: {1}", call, std::strerror(errno)); }

void closeIfOpen(int &descriptor) {
  if (descriptor >= 0)
    close(descriptor);
  descriptor = -1;
}

int millisecondsUntil(Clock::time_point time) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
}

/// Owns what posix_spawn wants prepared.
struct SpawnSetup {
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

/// Appends what can be read without waiting; false at the end of the stream.
bool drain(int descriptor, std::string &target) {
  char chunk[16384];
  while (true) {
    ssize_t got = read(descriptor, chunk, sizeof(chunk));
    if (got > 0)
      target.append(chunk, static_cast<size_t>(got));
    else if (got == 0)
      return false;
    else if (errno != EINTR)
      return errno == EAGAIN;
  }
}

std::string describeStatus(int status) {
  if (WIFSIGNALED(status))
    return "killed by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  return "exited with code " + std::to_string(WEXITSTATUS(status));
}

} // namespace

WorkerProcess::WorkerProcess(std::vector<std::string> command, WorkerOptions options)
    : command(std::move(command)), options(options) {}

WorkerProcess::~WorkerProcess() { kill(); }

llvm::Error WorkerProcess::spawn() {
  int sockets[2], pipes[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return systemError("socketpair");
  if (pipe2(pipes, O_CLOEXEC) != 0) {
    close(sockets[0]);
    close(sockets[1]);
    return systemError("pipe2");
  }
  options.parentPid = getpid();
  std::vector<std::string> words = command;
  for (std::string &word : options.arguments())
    words.push_back(std::move(word));
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);

  SpawnSetup setup;
  posix_spawn_file_actions_adddup2(&setup.actions, sockets[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&setup.actions, sockets[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&setup.actions, pipes[1], STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&setup.attributes, &none);
  posix_spawnattr_setflags(&setup.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  int result =
      posix_spawn(&child, arguments[0], &setup.actions, &setup.attributes, arguments.data(), environ);
  close(sockets[1]);
  close(pipes[1]);
  if (result != 0) {
    child = -1;
    close(sockets[0]);
    close(pipes[0]);
    return makeError("cannot start the worker process {0}: {1}", command[0], std::strerror(result));
  }
  channel = sockets[0];
  errors = pipes[0];
  fcntl(channel, F_SETFL, O_NONBLOCK);
  fcntl(errors, F_SETFL, O_NONBLOCK);
  ++starts;
  hungUp = false;
  return llvm::Error::success();
}

llvm::Error WorkerProcess::ensureRunning() {
  // A worker that died while idle (killed from outside) shows here; nobody's candidate is lost.
  if (child >= 0) {
    readAvailable();
    if (hungUp)
      kill();
  }
  return child < 0 ? spawn() : llvm::Error::success();
}

llvm::Error WorkerProcess::start(const Request &request, Clock::duration timeLimit, std::string description) {
  if (llvm::Error error = ensureRunning())
    return error;
  received.clear();
  printed.clear();
  what = std::move(description);
  limit = timeLimit;
  if (llvm::Error error = sendLine(encode(request) + "\n")) {
    kill(); // half a request may be on its way
    return error;
  }
  deadline = Clock::now() + limit;
  return llvm::Error::success();
}

llvm::Error WorkerProcess::sendLine(const std::string &line) {
  Clock::time_point end = Clock::now() + kSendLimit;
  for (size_t at = 0; at < line.size();) {
    ssize_t sent = send(channel, line.data() + at, line.size() - at, MSG_NOSIGNAL);
    if (sent > 0) {
      at += static_cast<size_t>(sent);
      continue;
    }
    if (sent < 0 && errno == EPIPE)
      return llvm::Error::success(); // it is dead: `poll` says how
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
      return systemError("send to the worker");
    pollfd ready{channel, POLLOUT, 0};
    if (::poll(&ready, 1, millisecondsUntil(end)) == 0 && Clock::now() >= end)
      return makeError("the worker process does not read its request");
  }
  return llvm::Error::success();
}

void WorkerProcess::readAvailable() {
  drain(errors, printed);
  if (printed.size() > kKeptOutput)
    printed.erase(0, printed.size() - kKeptOutput);
  if (!drain(channel, received))
    hungUp = true;
}

void WorkerProcess::waitAny(std::span<WorkerProcess *const> workers) {
  std::vector<pollfd> descriptors;
  Clock::time_point end = Clock::now() + std::chrono::seconds(60);
  for (WorkerProcess *worker : workers)
    if (worker->busy()) {
      descriptors.push_back({worker->channel, POLLIN, 0});
      descriptors.push_back({worker->errors, POLLIN, 0});
      end = std::min(end, *worker->deadline);
    }
  if (!descriptors.empty())
    ::poll(descriptors.data(), descriptors.size(), millisecondsUntil(end));
}

std::optional<Reply> WorkerProcess::poll() {
  if (!busy())
    return std::nullopt;
  readAvailable();
  size_t end = received.find('\n');
  if (end != std::string::npos) {
    deadline.reset();
    llvm::Expected<Reply> reply = decodeReply(llvm::StringRef(received).take_front(end));
    if (reply)
      return std::move(*reply);
    std::string fault = llvm::toString(reply.takeError());
    kill();
    return WorkerFailure{"worker", what + ": " + fault};
  }
  if (hungUp) {
    std::string how = reap();
    return describeDeath("crash", how);
  }
  if (Clock::now() >= *deadline) {
    auto seconds = std::chrono::duration<double>(limit).count();
    char text[64];
    std::snprintf(text, sizeof(text), "no answer within %.1f s", seconds);
    kill();
    return describeDeath("timeout", text);
  }
  return std::nullopt;
}

WorkerFailure WorkerProcess::describeDeath(const char *stage, const std::string &how) {
  deadline.reset();
  std::string reason = what + ": " + how;
  llvm::StringRef output = llvm::StringRef(printed).trim();
  if (!output.empty())
    reason += "; it printed: " + output.str();
  return {stage, reason};
}

std::string WorkerProcess::reap() {
  int status = 0;
  // It closed its channel: either it is dead, or it is good for nothing.
  ::kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  drain(errors, printed);
  if (printed.size() > kKeptOutput)
    printed.erase(0, printed.size() - kKeptOutput);
  child = -1;
  closeIfOpen(channel);
  closeIfOpen(errors);
  return describeStatus(status);
}

void WorkerProcess::kill() {
  if (child >= 0)
    reap();
  deadline.reset();
}

} // namespace autotune::worker
