internal import Foundation

/// A descriptor that is in no process's table: on its way in a socket pair of the app's own (`SCM_RIGHTS`, unix(7)).
struct Sending {
  private let sender: Int32
  private let receiver: Int32

  init() throws {
    var pair: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    (sender, receiver) = (pair[0], pair[1])
  }

  /// Length, level, type, and one descriptor, in words of four bytes.
  private static func control(_ descriptor: Int32) -> [Int32] { [20, 0, SOL_SOCKET, 1, descriptor, 0] }

  func send(_ descriptor: Int32) -> Int32 {
    unsafe exchange(Self.control(descriptor)) { message, _ in unsafe Int32(sendmsg(sender, &message, 0)) }
  }

  /// - Returns: the descriptor that was on its way; -1 if there is none.
  func receive() -> Int32 {
    unsafe exchange(Self.control(-1)) { message, control in
      guard unsafe recvmsg(receiver, &message, Int32(MSG_DONTWAIT)) >= 0 else { return -1 }
      return unsafe control[4]
    }
  }

  func end() {
    close(sender)
    close(receiver)
  }

  private func exchange(
    _ words: [Int32], _ body: (inout msghdr, UnsafeMutableBufferPointer<Int32>) -> Int32
  ) -> Int32 {
    var words = words
    var byte: UInt8 = 1
    return unsafe words.withUnsafeMutableBufferPointer { control in
      unsafe withUnsafeMutablePointer(to: &byte) { byte in
        var part = unsafe iovec(iov_base: byte, iov_len: 1)
        return unsafe withUnsafeMutablePointer(to: &part) { part in
          var message = unsafe msghdr()
          unsafe message.msg_iov = part
          unsafe message.msg_iovlen = 1
          unsafe message.msg_control = UnsafeMutableRawPointer(control.baseAddress)
          unsafe message.msg_controllen = control.count * MemoryLayout<Int32>.size
          return unsafe body(&message, control)
        }
      }
    }
  }
}
