internal import CLinux
internal import SystemPackage

extension UnixSocket {
  /// What one read of a socket gave.
  package enum Received {
    /// `count` bytes now stand at the beginning of the buffer. The descriptors came with the last of them: the kernel
    /// ends a read after the bytes that carried descriptors, and puts nothing that was sent later behind them.
    case bytes(count: Int, descriptors: [Descriptor])
    /// There is nothing to read now.
    case nothing
    /// The peer will send no more, or has gone with something of ours unread.
    case end
    /// Descriptors were lost, because this process can open no more of them, or other control data came. Those
    /// descriptors that did arrive are closed again, and the bytes are gone: the stream is of no more use.
    case truncated
  }

  /// Sends bytes from `offset` on; descriptors travel with the first of them.
  ///
  /// - Parameter wait: false: send what fits now.
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

  /// Reads what is there into a buffer, and takes the descriptors that came with it.
  package static func receive(
    into buffer: inout [UInt8], from socket: Descriptor, wait: Bool
  ) throws(KernelError) -> Received {
    precondition(!buffer.isEmpty, "there is room to receive")
    var count: Int32 = 0
    var passengers: [Descriptor] = []
    let received: Int
    do throws(KernelError) {
      received = try unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: maximumDescriptors) {
        numbers throws(KernelError) in
        let size = try KernelError.checkNegative("recvmsg") {
          unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe ambit_socket_receive(
              socket.rawValue, bytes.baseAddress, bytes.count, numbers.baseAddress, &count, wait ? 1 : 0)
          }
        }
        // Ownership is taken here, before anything else can throw.
        passengers = (0..<Int(count)).map { unsafe Descriptor(owning: numbers[$0]) }
        return size
      }
    } catch {
      switch error.errno {
      case .wouldBlock where !wait: return .nothing
      case .connectionReset: return .end
      case .messageTooLong: return .truncated
      default: throw error
      }
    }
    return received == 0 ? .end : .bytes(count: received, descriptors: passengers)
  }
}

extension KernelError {
  /// The call failed because nobody is at the other end any more.
  package var isPeerGone: Bool { errno == .brokenPipe || errno == .connectionReset }

  /// The number in `errno(3)`, for those who do not import swift-system.
  package var errnoCode: Int32 { errno.rawValue }
}
