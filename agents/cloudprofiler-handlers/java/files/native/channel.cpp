#include "channel.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "clock.hpp"
#include "pool.hpp"

namespace handlers {
namespace {

// All numbers are little-endian, as are those of the machines that this is built for.
struct Header {
  char magic[4];
  std::uint8_t encoding;
  std::uint8_t clock;
  std::uint8_t reserved[2];
  Reading opened;
  Reading closed;
};
static_assert(sizeof(Header) == 40);

// A program whose tracer has promised every event and cannot keep them must not go on as if it were traced.
[[noreturn]] void give_up(const std::string& path, int error) {
  std::fprintf(stderr, "handlers: %s could not be written: %s. The program ends, for its events would be lost.\n",
               path.c_str(), std::strerror(error));
  std::fflush(stderr);
  _exit(1);
}

}  // namespace

File::File(const std::string& path, Encoding encoding)
    : path_(path), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) give_up(path_, errno);
  Header header{};
  std::memcpy(header.magic, "TTH1", 4);
  header.encoding = static_cast<std::uint8_t>(encoding);
  header.clock = uses_counter() ? 1 : 0;
  header.opened = reading();
  append(&header, sizeof header);
}

void File::append(const void* data, std::size_t size) {
  const char* from = static_cast<const char*>(data);
  while (size > 0) {
    ssize_t written = ::write(descriptor_, from, size);
    if (written < 0 && errno != EINTR) give_up(path_, errno);
    if (written > 0) {
      from += written;
      size -= static_cast<std::size_t>(written);
    }
  }
}

void File::close() {
  Reading last = reading();
  if (::pwrite(descriptor_, &last, sizeof last, offsetof(Header, closed)) < 0 || ::close(descriptor_) < 0) {
    give_up(path_, errno);
  }
}

Channel::Channel(const std::string& path, Encoding encoding, Pool* pool) : file_(path, encoding), pool_(pool) {
  if (pool_) begin_block();
}

void Channel::begin_block() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (free_.empty() && blocks_.size() < kBlocks) {
    blocks_.push_back(std::make_unique<Block>());
    free_.push_back(blocks_.back().get());
  }
  spare_.wait(lock, [this] { return !free_.empty(); });  // the thread waits: nothing is dropped
  block_ = free_.back();
  free_.pop_back();
  next_ = block_->data;
  end_ = next_ + kBlockEvents;
}

void Channel::hand_over() {
  block_->channel = this;
  block_->number = handed_over_++;
  block_->events = static_cast<std::size_t>(next_ - block_->data);
  pool_->take(block_);
  begin_block();
}

void Channel::flush() {
  if (pool_ && next_ != block_->data) hand_over();
}

void Channel::append_in_turn(Block* block, const void* data, std::size_t size) {
  std::unique_lock<std::mutex> lock(mutex_);
  turn_.wait(lock, [&] { return written_ == block->number; });
  lock.unlock();
  file_.append(data, size);
  lock.lock();
  ++written_;
  free_.push_back(block);
  turn_.notify_all();
  spare_.notify_one();
}

}  // namespace handlers
