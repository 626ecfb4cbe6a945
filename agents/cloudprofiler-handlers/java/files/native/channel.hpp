// A channel is the events of one thread, and the file that they go to.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace handlers {

constexpr std::size_t kBlockEvents = 4096;
constexpr std::size_t kBlocks = 16;

enum class Encoding : std::uint8_t { kPlain = 0, kZstd = 1, kLzo1x = 2 };

// An execution begins, with twice its method's number as the id, or ends, with one more.
struct Event {
  std::uint64_t time;
  std::uint64_t id;
};

class Pool;
class Channel;

// What is handed over at once.
struct Block {
  Channel* channel;
  std::uint64_t number;
  std::size_t events;
  Event data[kBlockEvents];
};

// A file that begins with a header and ends with what is appended. Whoever cannot write ends the program.
class File {
 public:
  File(const std::string& path, Encoding encoding);
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void append(const void* data, std::size_t size);
  // Writes into the header when the clock was read last, and closes the file.
  void close();

 private:
  std::string path_;
  int descriptor_;
};

class Channel {
 public:
  // With a pool its events are handed over in blocks, without one each is written by itself.
  Channel(const std::string& path, Encoding encoding, Pool* pool);

  void write(std::uint64_t time, std::uint64_t id) {
    Event event{time, id};
    file_.append(&event, sizeof event);
  }

  void put(std::uint64_t time, std::uint64_t id) {
    next_->time = time;
    next_->id = id;
    if (++next_ == end_) hand_over();
  }

  // Hands over what there is. No event is put any more.
  void flush();
  void close() { file_.close(); }

  // What a thread of the pool has made of a block: it is written when all blocks before it are.
  void append_in_turn(Block* block, const void* data, std::size_t size);

 private:
  void hand_over();
  void begin_block();

  File file_;
  Pool* pool_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::condition_variable spare_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Block*> free_;
  std::uint64_t handed_over_ = 0;
  std::uint64_t written_ = 0;
  Block* block_ = nullptr;
  Event* next_ = nullptr;
  Event* end_ = nullptr;
};

}  // namespace handlers
