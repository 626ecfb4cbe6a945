// What the probe in Java calls: tracetax.handlers.Handlers.
#include <jni.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "channel.hpp"
#include "clock.hpp"
#include "pool.hpp"

namespace {

using handlers::Channel;
using handlers::Encoding;

// Lives until the process ends: threads may log while others end it.
struct Handler {
  std::string folder;
  Encoding encoding = Encoding::kPlain;
  std::unique_ptr<handlers::Pool> pool;
  std::mutex mutex;
  std::vector<std::unique_ptr<Channel>> channels;
  bool closed = false;
};

Handler* handler = nullptr;
// Found without a call: the library is loaded into the room that every thread has for such.
__attribute__((tls_model("initial-exec"))) thread_local Channel* own = nullptr;

Channel* open_channel() {
  std::lock_guard<std::mutex> lock(handler->mutex);
  std::string path = handler->folder + "/channel-" + std::to_string(handler->channels.size()) + ".events";
  handler->channels.push_back(std::make_unique<Channel>(path, handler->encoding, handler->pool.get()));
  return own = handler->channels.back().get();
}

template <bool kCounter>
std::uint64_t now() {
  return kCounter ? handlers::counter() : handlers::monotonic_ns();
}

void JNICALL ignore(JNIEnv*, jclass, jlong) {}

template <bool kCounter>
void JNICALL write_event(JNIEnv*, jclass, jlong id) {
  Channel* channel = own ? own : open_channel();
  channel->write(now<kCounter>(), static_cast<std::uint64_t>(id));
}

template <bool kCounter>
void JNICALL put_event(JNIEnv*, jclass, jlong id) {
  Channel* channel = own ? own : open_channel();
  channel->put(now<kCounter>(), static_cast<std::uint64_t>(id));
}

std::string text_of(JNIEnv* env, jstring given) {
  const char* text = env->GetStringUTFChars(given, nullptr);
  std::string copied = text ? text : "";
  env->ReleaseStringUTFChars(given, text);
  return copied;
}

void fail(JNIEnv* env, const std::string& why) {
  env->ThrowNew(env->FindClass("java/lang/IllegalStateException"), why.c_str());
}

// Puts the handler's function in the place of Handlers.event: nothing is asked while an event is logged.
bool bind(JNIEnv* env, jclass probe, void (*function)(JNIEnv*, jclass, jlong)) {
  JNINativeMethod method{const_cast<char*>("event"), const_cast<char*>("(J)V"), reinterpret_cast<void*>(function)};
  return env->RegisterNatives(probe, &method, 1) == 0;
}

}  // namespace

extern "C" {

JNIEXPORT void JNICALL Java_tracetax_handlers_Handlers_open(JNIEnv* env, jclass probe, jstring kind, jstring folder,
                                                            jint threads) {
  std::string name = text_of(env, kind);
  bool counter = handlers::uses_counter();
  if (name == "null") {
    bind(env, probe, ignore);
    return;
  }
  handler = new Handler;
  handler->folder = text_of(env, folder);
  if (::access(handler->folder.c_str(), W_OK | X_OK) != 0) {
    fail(env, "handlers.folder " + handler->folder + " cannot be written: " + std::strerror(errno));
    return;
  }
  if (name == "unbuffered") {
    bind(env, probe, counter ? write_event<true> : write_event<false>);
    return;
  }
  if (name == "zstd") {
    handler->encoding = Encoding::kZstd;
  } else if (name == "lzo1x") {
    handler->encoding = Encoding::kLzo1x;
  } else if (name != "buffered") {
    fail(env, "handlers.kind is " + name + ", and must be null, unbuffered, buffered, zstd or lzo1x");
    return;
  }
  handler->pool = std::make_unique<handlers::Pool>(handler->encoding, threads);
  bind(env, probe, counter ? put_event<true> : put_event<false>);
}

// A line of methods.map: the number and the name of a method.
JNIEXPORT void JNICALL Java_tracetax_handlers_Handlers_name(JNIEnv* env, jclass, jint number, jstring method) {
  if (!handler) return;
  std::string path = handler->folder + "/methods.map";
  std::string line = std::to_string(number) + "=" + text_of(env, method) + "\n";
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  bool written = descriptor >= 0 && ::write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!written) fail(env, path + " cannot be written: " + std::strerror(error));
}

// What was logged before is on its way to the disk when this returns; what is logged from now on is lost.
JNIEXPORT void JNICALL Java_tracetax_handlers_Handlers_close(JNIEnv*, jclass) {
  if (!handler) return;
  std::lock_guard<std::mutex> lock(handler->mutex);
  if (handler->closed) return;
  handler->closed = true;
  for (auto& channel : handler->channels) channel->flush();
  if (handler->pool) handler->pool->end();
  for (auto& channel : handler->channels) channel->close();
}

}  // extern "C"
