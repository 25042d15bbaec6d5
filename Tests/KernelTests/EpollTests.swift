import Kernel
import Synchronization
import TestSupport
import Testing

@Suite struct `Descriptors that one thread waits for` {
  @Test func `are added and removed while it waits`() throws {
    let epoll = try Epoll()
    let (first, second) = (try Wakeup(), try Wakeup())
    let heard = Mutex<[UInt64]>([])
    let worker = try Worker {
      while let tag = try? epoll.next() {
        heard.withLock { $0.append(tag) }
        if tag == 1 { first.clear() } else { return }
      }
    }
    try epoll.add(first.descriptor, tag: 1)
    first.signal()
    try Deadline.wait(for: "the first") { heard.withLock { $0 } == [1] }
    epoll.remove(first.descriptor)
    first.signal()
    try epoll.add(second.descriptor, tag: .max)
    second.signal()
    worker.finish()
    #expect(heard.withLock { $0 } == [1, .max])
    #expect(throws: KernelError.self) { try epoll.add(second.descriptor, tag: 3) }
  }
}
