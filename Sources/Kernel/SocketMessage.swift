internal import CLinux
internal import SystemPackage

extension UnixSocket {
  /// The sender of a message, by the kernel's word (`SCM_CREDENTIALS`): not by the connection's maker, nor
  /// by the sender's own words.
  package struct Sender: Sendable {
    /// As this process's pid namespace has it. Another process may have got that number since.
    package let pid: Int32
    /// Its pidfd, if the kernel sent one along (`SCM_PIDFD`): this is the sender, also when it has ended.
    package let process: Descriptor?

    package init(pid: Int32, process: Descriptor? = nil) {
      self.pid = pid
      self.process = process
    }
  }

  /// From now on a read names the sender of the bytes: on this socket, and on every connection that it accepts. Where the
  /// kernel can (Linux 6.5), pidfds come along until ``passNoProcesses(on:)``.
  package static func nameSenders(on socket: Descriptor) throws(KernelError) {
    try KernelError.checkNegative("setsockopt", "SO_PASSCRED") { ambit_socket_name_senders(socket.rawValue) }
    _ = ambit_socket_pass_processes(socket.rawValue, 1)
  }

  /// The process is known now: making a pidfd for each read would cost more than the read.
  package static func passNoProcesses(on socket: Descriptor) { _ = ambit_socket_pass_processes(socket.rawValue, 0) }

  /// The result of one read of a socket.
  package enum Received {
    /// `count` bytes now stand at the beginning of the buffer. The descriptors came with the last of them: the kernel
    /// ends a read after the bytes that carried descriptors, and puts nothing that was sent later behind them.
    ///
    /// All of them came from one sender, which is known on a socket that names senders: there the kernel ends a read
    /// where another process's bytes begin.
    case bytes(count: Int, descriptors: [Descriptor], sender: Sender?)
    /// There is nothing to read now.
    case nothing
    /// The peer will send no more.
    case end
    /// The peer has gone with something of ours unread, and its earlier bytes have been read here.
    case unread
    /// Descriptors were lost, because this process can open no more of them, or other control data came. Those
    /// descriptors that did arrive are closed again, and the bytes are gone: the stream is of no more use.
    case truncated
  }

  /// Sends bytes from `offset` on; descriptors travel with the first of them.
  ///
  /// - Parameter wait: false: send as much as fits now.
  /// - Returns: how many bytes were taken; 0 when none fits and `wait` is false. If at least one was taken, the
  ///   descriptors went with it.
  package static func send(
    _ bytes: [UInt8], from offset: Int = 0, descriptors: [Descriptor] = [], to socket: Descriptor, wait: Bool
  ) throws(KernelError) -> Int {
    precondition(offset >= 0 && offset < bytes.count, "there is something to send")
    guard descriptors.count <= maximumDescriptors else {
      throw KernelError("sendmsg", "\(descriptors.count) descriptors", errno: .invalidArgument)
    }
    // Pointers are taken once, outside the retry: the arrays live until the call is over.
    let numbers = descriptors.map(\.rawValue)
    do throws(KernelError) {
      return try KernelError.checkNegative("sendmsg") {
        unsafe bytes.withUnsafeBytes { whole in
          unsafe numbers.withUnsafeBufferPointer { passengers in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: whole[offset...])
            return unsafe ambit_socket_send(
              socket.rawValue, rest.baseAddress, rest.count, passengers.baseAddress, Int32(passengers.count),
              wait ? 1 : 0)
          }
        }
      }
    } catch {
      if !wait && error.errno == .wouldBlock { return 0 }
      throw error
    }
  }

  /// Reads the waiting bytes into a buffer, and takes the descriptors that came with them.
  package static func receive(
    into buffer: inout [UInt8], from socket: Descriptor, wait: Bool
  ) throws(KernelError) -> Received {
    precondition(!buffer.isEmpty, "there is room to receive")
    var count: Int32 = 0
    var passengers: [Descriptor] = []
    var sender = ambit_sender()
    let received: Int
    do throws(KernelError) {
      received = try unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: maximumDescriptors) {
        numbers throws(KernelError) in
        let size = try KernelError.checkNegative("recvmsg") {
          unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe ambit_socket_receive(
              socket.rawValue, bytes.baseAddress, bytes.count, numbers.baseAddress, &count, &sender, wait ? 1 : 0)
          }
        }
        // Ownership is taken here, before anything else can throw.
        passengers = (0..<Int(count)).map { unsafe Descriptor(owning: numbers[$0]) }
        return size
      }
    } catch {
      switch error.errno {
      case .wouldBlock where !wait: return .nothing
      case .connectionReset: return .unread
      case .messageTooLong: return .truncated
      default: throw error
      }
    }
    let process = sender.process < 0 ? nil : Descriptor(owning: sender.process)
    if received == 0 { return .end }
    return .bytes(
      count: received, descriptors: passengers, sender: sender.pid > 0 ? Sender(pid: sender.pid, process: process) : nil
    )
  }
}

extension KernelError {
  /// The call failed because the other end is closed.
  package var isPeerGone: Bool { errno == .brokenPipe || errno == .connectionReset }

  /// The number in `errno(3)`, for callers that do not import swift-system.
  package var errnoCode: Int32 { errno.rawValue }
}
