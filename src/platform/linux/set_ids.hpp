#pragma once

namespace heddle::platform {

// setuid() and similar functions make every kernel thread of the process do the system call. They send a signal of
// glibc's own, whose handler identifies its thread by the data at the thread pointer. On a block of own thread-local
// storage that is not the kernel thread's data. So this installs a handler that runs glibc's with the thread pointer of
// the kernel thread; nothing else interrupts it there. To be called once glibc has its handler, and again after that
// handler has been replaced.
void stand_before_set_ids() noexcept;

}  // namespace heddle::platform
