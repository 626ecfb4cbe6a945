// Threads that encode blocks and write them.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "channel.hpp"

namespace handlers {

class Pool {
 public:
  Pool(Encoding encoding, int threads);

  void take(Block* block);
  // Returns when everything that was taken is written.
  void end();

 private:
  void work();

  Encoding encoding_;
  std::mutex mutex_;
  std::condition_variable waiting_;
  std::deque<Block*> queue_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace handlers
